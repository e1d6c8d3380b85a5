"""Logs of other tools as runs: the columns, the figures, the warnings, and every reader of runs on them."""

import json
import math
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec
import pytest
from click.testing import CliRunner

from evalsi.cli.app import app
from evalsi.compare.compare_runs import compare_runs
from evalsi.core.errors import InvalidDataError, UsageError
from evalsi.engine.columns import ERROR, SCORED, SKIPPED
from evalsi.infra.memory_run_store import MemoryRunStore
from evalsi.report.markdown_report import write_markdown
from evalsi.results.document import write_document
from evalsi.results.graded_run import GradedRun, stored_run
from evalsi.results.imported_run import imported_run, imported_runs, keep_imported
from evalsi.results.read_document import read_document
from evalsi.schema import ErrorKind, MetricKind, MetricSummary
from tests.case_files import CASES, case

LOGS = Path(__file__).parents[1] / "datasets" / "imports" / "logs"
WEATHER = f"inspect://{LOGS / 'weather.eval'}"


class Noon:
    def now(self) -> datetime:
        return datetime(2027, 1, 1, 12, tzinfo=UTC)

    def monotonic_s(self) -> float:
        return 0.0


def summary_of(run: GradedRun, metric: str) -> MetricSummary:
    found = run.summary(metric)
    assert found is not None, [each.metric for each in run.summaries]
    return found


@pytest.mark.parametrize("file", case("P01")["input"]["files"])
def test_p01_gives_the_accuracy_and_standard_error_of_the_log(file: str) -> None:
    expected = case("P01")["expected"]["each"]
    run = imported_run(f"inspect://{CASES / file}")
    summary = summary_of(run, "match")
    assert summary.kind is MetricKind.PROPORTION
    assert summary.mean == pytest.approx(expected["accuracy"], abs=1e-6)
    assert summary.std is not None
    assert summary.std / math.sqrt(summary.n) == pytest.approx(expected["stderr"], abs=1e-6)
    assert run.manifest.warnings == []


def test_both_forms_of_a_log_and_two_runs_over_the_same_cases_have_one_dataset() -> None:
    runs = [imported_run(f"inspect://{CASES / file}") for file in case("P01")["input"]["files"]]
    digests = {run.manifest.dataset.sha256 for run in runs if run.manifest.dataset}
    assert len(digests) == 1
    assert runs[0].manifest.run_id != runs[1].manifest.run_id


def test_errors_nan_and_absent_scores_are_no_scores() -> None:
    run = imported_run(WEATHER)
    (rows,) = run.read_rows()
    columns = {each.evaluator: each for each in rows.columns}
    ids = [record.id for record in rows.records]
    ratio = columns["ratio"]
    assert {ids[row] for row, code in enumerate(ratio.outcomes) if code == ERROR} == {"breaks", "blank"}
    assert {ratio.notes[row].error_kind for row, name in enumerate(ids) if name == "blank"} == {ErrorKind.NOT_FINITE}
    summary = summary_of(run, "ratio")
    assert (summary.n, summary.errors, summary.total) == (6, 4, 10)
    assert summary.mean == 0.25


def test_trials_are_clustered_by_their_case() -> None:
    summary = summary_of(imported_run(WEATHER), "includes")
    assert (summary.n, summary.clusters) == (8, 4)


def test_a_score_with_several_values_has_an_output_for_each() -> None:
    run = imported_run(WEATHER)
    assert summary_of(run, "manners.polite").kind is MetricKind.PROPORTION
    grade = summary_of(run, "manners.grade")
    assert (grade.kind, grade.mean) == (MetricKind.NUMBER, 0.5)


def test_a_scorer_that_names_things_keeps_its_names(tmp_path: Path) -> None:
    content = json.loads((CASES / "files" / "P01_tiny_sums.json").read_text())
    for sample, value in zip(content["samples"], ("A", "C", "A"), strict=True):
        sample["scores"]["match"]["value"] = value
    run = imported_run(f"inspect://{saved(tmp_path, content)}")
    assert summary_of(run, "match").labels == {"A": 2, "C": 1}


def test_a_figure_that_its_own_log_does_not_bear_out_is_a_warning(tmp_path: Path) -> None:
    content = json.loads((CASES / "files" / "P01_tiny_sums.json").read_text())
    content["results"]["scores"][0]["metrics"]["accuracy"]["value"] = 0.9
    (warning,) = imported_run(f"inspect://{saved(tmp_path, content)}").manifest.warnings
    assert "inspect reports 0.9" in warning
    assert "is 0.666667" in warning


def test_the_logs_at_hand_bear_out_what_their_tools_reported() -> None:
    sources = [WEATHER, f"inspect://{LOGS / 'capitals_deflate.eval'}", f"lm-eval://{LOGS / 'lm-eval'}"]
    sources += [f"openai-evals://{LOGS / 'openai_evals.jsonl'}"]
    runs = [run for source in sources for run in imported_runs(source)]
    assert [run.manifest.warnings for run in runs] == [[] for _ in runs]


def test_a_metric_of_the_whole_alone_is_shown_without_an_interval() -> None:
    run = imported_run(f"lm-eval://{LOGS / 'lm-eval'}#capitals")
    summary = summary_of(run, "bleu.strict")
    assert (summary.mean, summary.n, summary.ci) == (0.0, 3, None)
    assert "as lm-eval computed it" in summary.notes[0]
    assert summary_of(run, "exact_match.strict").kind is MetricKind.PROPORTION


def test_an_assertion_that_other_tests_lack_is_skipped_there() -> None:
    run = imported_run(f"promptfoo://{LOGS / 'promptfoo.json'}#parrot")
    (rows,) = run.read_rows()
    (length,) = (columns for columns in rows.columns if columns.evaluator == "length")
    assert sorted(length.outcomes) == sorted([SCORED, SKIPPED, SKIPPED])


def test_two_configurations_of_one_file_are_compared_case_by_case() -> None:
    parrot, atlas = (imported_run(f"promptfoo://{LOGS / 'promptfoo.json'}#{name}") for name in ("parrot", "atlas"))
    comparison = compare_runs(parrot, atlas)
    assert comparison.shared == 3
    success = comparison.metric("success")
    assert success is not None
    assert success.pairs == 2, "the failure of the provider is no pair"


def test_a_source_of_several_runs_says_which_there_are() -> None:
    with pytest.raises(UsageError, match=r"holds 2 runs: 'atlas', 'parrot'; name one, as promptfoo://.*#atlas"):
        imported_run(f"promptfoo://{LOGS / 'promptfoo.json'}")


@pytest.mark.parametrize(
    "source",
    [
        WEATHER,
        f"lm-eval://{LOGS / 'lm-eval'}#choices",
        f"promptfoo://{LOGS / 'promptfoo.json'}#atlas",
        f"deepeval://{LOGS / 'deepeval.json'}",
        f"openai-evals://{LOGS / 'openai_evals.jsonl'}",
    ],
)
def test_a_stored_and_a_written_log_read_as_the_log_does(source: str, tmp_path: Path) -> None:
    run = imported_run(source)
    store = MemoryRunStore()
    row = keep_imported(run, store, Noon())
    assert (row.id, row.rows) == (run.manifest.run_id, sum(rows.rows for rows in run.read_rows()))
    path = tmp_path / "run.json"
    write_document(run, path)
    for other in (stored_run(store, row.id), read_document(path)):
        assert [msgspec.to_builtins(each) for each in other.summaries] == [
            msgspec.to_builtins(each) for each in run.summaries
        ]
        assert facts_of(other) == facts_of(run)
    assert write_markdown(run)


def facts_of(run: GradedRun) -> list[Any]:
    return [
        (
            [record.id for record in rows.records],
            [(each.evaluator, each.primary, bytes(each.outcomes), list(each.columns)) for each in rows.columns],
        )
        for rows in run.read_rows()
    ]


def test_storing_a_log_twice_changes_nothing() -> None:
    store = MemoryRunStore()
    first = keep_imported(imported_run(WEATHER), store, Noon())
    second = keep_imported(imported_run(WEATHER), store, Noon())
    assert first == second
    assert len(store.runs()) == 1


def test_an_unreadable_sample_stops_the_import_or_is_left_out_and_counted(tmp_path: Path) -> None:
    content = json.loads((CASES / "files" / "P01_tiny_sums.json").read_text())
    del content["samples"][1]["id"]
    source = f"inspect://{saved(tmp_path, content)}"
    with pytest.raises(
        InvalidDataError, match=r"log\.json: samples\[1\]: the sample has no id; leave .* --skip-invalid"
    ):
        imported_runs(source)
    (run,) = imported_runs(source, on_invalid="skip")
    assert run.manifest.dataset is not None
    assert (run.manifest.dataset.records, run.manifest.dataset.rejected) == (2, 1)
    assert "1 sample cannot be read" in run.manifest.warnings[0]


def test_the_command_stores_shows_and_compares(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EVALSI_DIR", str(tmp_path / "store"))
    cli = CliRunner()
    both = f"promptfoo://{LOGS / 'promptfoo.json'}"
    done = cli.invoke(app, ["runs", "import", WEATHER, both, "--label", "team=qa", "--format", "json"])
    assert done.exit_code == 0, done.output
    rows = json.loads(done.stdout)
    assert [row["name"] for row in rows] == ["weather", "capitals · atlas", "capitals · parrot"]
    assert rows[0]["labels"] == {"model": "mockllm/model", "imported-from": "inspect", "team": "qa"}
    shown = cli.invoke(app, ["runs", "show", "weather", "--format", "json"])
    assert shown.exit_code == 0, shown.output
    compared = cli.invoke(app, ["compare", f"{both}#parrot", f"{both}#atlas"])
    assert compared.exit_code == 0, compared.output
    assert "3 shared records" in compared.output


def test_the_command_refuses_what_is_no_log_without_storing_anything(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EVALSI_DIR", str(tmp_path / "store"))
    done = CliRunner().invoke(app, ["runs", "import", WEATHER, "inspect://nowhere.eval"])
    assert done.exit_code != 0
    assert not (tmp_path / "store").exists()


def saved(tmp_path: Path, content: Any) -> Path:
    path = tmp_path / "log.json"
    path.write_text(json.dumps(content))
    return path
