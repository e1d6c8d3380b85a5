"""`evalsi run` and what follows it: exit statuses, changes on the command line, files, repeats, other evaluators."""

import json
import re
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from evalsi.score.request import JudgeChoice
from evalsi.settings import Settings
from evalsi.stats import wilson
from evalsi.testing.stand_in_model import Behaviour, Reply, StandInModel
from evalsi.wiring.judging import with_defaults
from tests.case_files import CASES, case
from tests.cli.run_folder import asked, write_run
from tests.command_line import Ended, evalsi_here, write_jsonl

Cli = Callable[..., Ended]


def listed(cli: Cli) -> list[dict[str, Any]]:
    return json.loads(cli("runs", "list", "--format", "json").out)


def metrics(cli: Cli, run: str = "latest") -> dict[str, Any]:
    return {each["metric"]: each for each in json.loads(cli("runs", "show", run, "--format", "json").out)}


def gate(**fields: Any) -> dict[str, Any]:
    return {"metric": "exact-match", **fields}


ENDINGS: dict[str, tuple[int, dict[str, Any], str]] = {
    "no gates": (0, {}, "kept"),
    "met": (0, {"gates": [gate(min=0.7)]}, "PASS (exit 0)"),
    "not met": (3, {"gates": [gate(min=0.9)]}, "FAIL (exit 3)"),
    "one of two not met": (3, {"gates": [gate(min=0.1), gate(max=0.1)]}, "FAIL (exit 3)"),
    "undecided": (3, {"gates": [gate(stat="CI_LOW", min=0.7)]}, "FAIL (exit 3)"),
    "undecided fails": (3, {"gates": [gate(stat="CI_LOW", min=0.7)], "on_inconclusive": "FAIL"}, "FAIL (exit 3)"),
    "undecided passes": (0, {"gates": [gate(stat="CI_LOW", min=0.7)], "on_inconclusive": "PASS"}, "PASS (exit 0)"),
    "undecided is 4": (
        4,
        {"gates": [gate(stat="CI_LOW", min=0.7)], "on_inconclusive": "EXIT4"},
        "INCONCLUSIVE (exit 4)",
    ),
    "condition": (0, {"gates": ["metric('exact-match').mean >= 0.8"]}, "PASS (exit 0)"),
    "pass at k": (0, {"trials": 2, "gates": ["metric('exact-match').passHatK(2) >= 0.8"]}, "PASS (exit 0)"),
    "budget": (1, {"budget": {"max_wall_clock": "0.000001s"}}, "stopped early: the budget of"),
    "mistake": (2, {"evaluators": ["exact-mtch"]}, "did you mean"),
    "unknown field": (2, {"trails": 3}, "did you mean"),
}


@pytest.mark.parametrize("name", ENDINGS)
def test_the_exit_status_says_how_the_run_ended(cli: Cli, folder: Path, name: str) -> None:
    status, spec, said = ENDINGS[name]
    ended = cli("run", "-f", str(write_run(folder, **spec)))
    assert ended.status == status, ended.err
    assert said in ended.err
    assert "Traceback" not in ended.err
    if status == 2:
        assert asked(folder) == []
        assert not (folder / ".evalsi").exists()


def test_nothing_scored_is_1_and_with_a_gate_3_for_there_is_no_data(cli: Cli, folder: Path) -> None:
    crashing = [{"id": f"c{n}", "input": "crash", "reference": "x"} for n in range(3)]
    ended = cli("run", "-f", str(write_run(folder, right=0, wrong=0, extra=crashing)))
    assert ended.status == 1
    assert "nothing was scored; the commonest reason: target, e.g. record c0: " in ended.err
    ended = cli("run", "-f", str(write_run(folder, right=0, wrong=0, extra=crashing, gates=[gate(min=0.0)])))
    assert ended.status == 3
    assert "no data" in ended.err.lower()


def test_an_empty_selection_is_said_and_never_passes(cli: Cli, folder: Path) -> None:
    ended = cli("run", "-f", str(write_run(folder, gates=[gate(min=0.0)])), "--where", "metadata.topic == 'none'")
    assert ended.status in (1, 2)
    assert "none of 10 rows meets the condition" in ended.err


def test_all_mistakes_are_said_at_once_each_with_its_place(cli: Cli, folder: Path) -> None:
    (folder / "run.yaml").write_text(
        "apiVersion: evals.si/v1alpha1\nkind: EvalRun\nmetadata: {name: a}\nspec:\n  trials: many\n"
        "  dataset: {path: cases.jsonl}\n  evaluatrs: [exact-match]\n  gates: [{metric: exact-match, mni: 1}]\n"
    )
    ended = cli("run", "-f", "run.yaml")
    assert ended.status == 2
    for place in ("run.yaml:5:", "run.yaml:7:3", "run.yaml:8:"):
        assert place in ended.err


K01_SAYS = {
    "tab": "4:1",
    "norway": "must be text",
    "duplicate key": "6:3",
    "typo": "did you mean evaluators",
    "percent threshold": "90",
    "unknown metric gate": "exact_match",
    "bad name": "DNS label",
    "version": "evals.si/v1alpha1",
    "kind case": "did you mean 'EvalRun'",
    "trials type": "trials",
    "trials zero": "at least 1",
    "null list": "nothing would be scored",
    "python tag": "tag",
    "alias bomb": "alias",
    "two documents": "document",
    "empty file": "empty",
    "bom": "is missing",
}


@pytest.mark.parametrize("row", json.loads((CASES / "files/K01_specs.json").read_text()), ids=lambda row: row["name"])
def test_case_k01_mistakes_in_specs_are_refused_before_any_call(cli: Cli, folder: Path, row: dict[str, str]) -> None:
    assert {each["name"] for each in case("K01")["expected"]["rows"]} == K01_SAYS.keys()
    path = folder / "spec.yaml"
    path.write_text(row["yaml"], encoding="utf-8")
    began_s = time.process_time()
    ended = cli("run", "-f", "spec.yaml")
    assert time.process_time() - began_s < 5
    assert ended.status == 2
    assert K01_SAYS[row["name"]] in ended.err
    assert "spec.yaml" in ended.err
    assert "Traceback" not in ended.err
    assert not (folder / ".evalsi").exists()


def test_a_file_that_is_not_there_and_no_file_at_all(cli: Cli, folder: Path) -> None:
    write_run(folder)
    missing = cli("run", "-f", "rnu.json")
    assert missing.status in (1, 2)
    assert "there is no file 'rnu.json'" in missing.err
    assert cli("run").status == 2


def test_the_command_line_changes_the_run_it_starts(cli: Cli, folder: Path) -> None:
    path = write_run(folder)
    ended = cli(
        *("run", "-f", str(path), "--set", "spec.trials=2", "--limit", "4", "--where", "metadata.topic == 't0'"),
        *("--label", "branch=main", "--label", "team=ops", "--name", "mine"),
    )
    assert ended.status == 0, ended.err
    assert sorted(asked(folder)) == sorted(["say 0", "say 2", "say 4", "say 6"] * 2)
    (run,) = listed(cli)
    assert (run["name"], run["labels"]) == ("mine", {"team": "ops", "branch": "main"})
    assert metrics(cli)["exact-match.pass@2"]["n"] == 4


def test_files_are_written_for_flags_and_for_sinks(cli: Cli, folder: Path) -> None:
    sinks = [{"csv": "out/rows.csv"}, {"html": "out/report.html"}, {"junit": "out/tests.xml"}]
    path = write_run(folder, sinks=sinks, gates=[gate(min=0.5)])
    ended = cli(
        *("run", "-f", str(path), "--output", "all.json", "--report", "r.md", "--junit", "junit.xml", "--quiet"),
        *("--format", "json"),
    )
    assert ended.status == 0, ended.err
    assert [each["metric"] for each in json.loads(ended.out)] == ["exact-match"]
    for name in ("out/rows.csv", "out/report.html", "out/tests.xml", "all.json", "r.md", "junit.xml"):
        assert (folder / name).stat().st_size > 100, name
    assert json.loads((folder / "all.json").read_text())["gates"][0]["passed"] is True
    refused = cli("run", "-f", str(write_run(folder, sinks=[{"csv": "rows.txt"}])))
    assert refused.status == 2
    assert "rows.txt" in refused.err


def test_a_sink_that_is_named_is_one_of_a_server(cli: Cli, folder: Path) -> None:
    refused = cli("run", "-f", str(write_run(folder, sinks=[{"name": "collector"}])))
    assert (refused.status, asked(folder)) == (2, [])
    place = r"run\.json:1:\d+: spec\.sinks\[0\]\.name: 'collector' is a sink of a server, and no server is named"
    assert re.search(place, refused.err)


def test_a_dry_run_asks_nobody_and_warns_of_gates_that_cannot_be_decided(cli: Cli, folder: Path) -> None:
    path = write_run(folder, gates=[gate(stat="CI_LOW", min=0.99)], trials=3)
    ended = cli("run", "-f", str(path), "--dry-run")
    assert ended.status == 0, ended.err
    assert "30" in ended.out
    assert "warning: the gate on exact-match" in ended.err
    assert asked(folder) == []


def test_a_plan_says_what_can_be_decided_about_each_figure_of_a_condition(cli: Cli, folder: Path) -> None:
    one = {"cel": "metric('exact-match').mean >= 0.99"}
    two = {"cel": "0.5 < metric('exact-match').mean && run.errorRate < 0.1", "name": "two"}
    ended = cli("run", "-f", str(write_run(folder, gates=[one, two], trials=3)), "--dry-run")
    assert ended.status == 0, ended.err
    lines = [" ".join(line.split()) for line in ended.out.splitlines() if line.startswith("gate")]
    assert lines[0].startswith("gate metric('exact-match').mean >= 0.99 interval about ")
    assert lines[1].startswith("gate two: mean of exact-match interval about ")
    assert "the gate on exact-match asks for 0.99" in ended.err


def test_the_schema_for_editors_is_printed(cli: Cli) -> None:
    assert "apiVersion" in cli("run", "--schema").out


def test_a_rerun_repeats_the_specification_as_it_was(cli: Cli, folder: Path) -> None:
    path = write_run(folder)
    assert cli("run", "-f", str(path), "--set", "spec.trials=2").status == 0
    path.write_text("changed since")
    ended = cli("runs", "rerun", "latest", "--label", "again=yes")
    assert ended.status == 0, ended.err
    assert "not pinned: target target.py:answer" in ended.err
    first, second = listed(cli)
    assert first["id"] != second["id"]
    assert first["labels"] == {"team": "docs", "again": "yes"}
    assert metrics(cli, "latest") == metrics(cli, "latest~1")
    assert len(asked(folder)) == 40


def test_a_rerun_says_what_has_changed_since(cli: Cli, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as then:
        then.setattr("evalsi.wiring.running.__version__", "0.0.1")
        assert cli("run", "-f", str(write_run(folder))).status == 0
    assert "note: evalsi was 0.0.1 and is now" in cli("runs", "rerun", "latest").err


def test_what_had_no_specification_is_repeated_by_its_command(cli: Cli) -> None:
    assert cli("eval", "--data", "data.jsonl", "--evaluators", "exact-match").status == 0
    for word in ("resume", "rerun"):
        ended = cli("runs", word, "latest")
        assert ended.status == 2
        assert "evalsi eval --data data.jsonl --evaluators exact-match" in ended.err


def test_a_run_is_continued_by_its_id_from_another_folder(
    cli: Cli, folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    inner = folder / "inner"
    inner.mkdir()
    extra = [{"id": f"more{n}", "input": f"say more{n}", "reference": f"more{n}"} for n in range(300)]
    write_run(inner, extra=extra)
    stop_after(monkeypatch, 40)
    ended = cli("run", "-f", "inner/run.json", "--concurrency", "4")
    assert ended.status == 130, ended.err
    assert "evalsi runs resume" in ended.err
    monkeypatch.undo()
    monkeypatch.chdir(inner)
    monkeypatch.setenv("EVALSI_DIR", str(folder / ".evalsi"))
    again = evalsi_here(capsys, "runs", "resume", "latest")
    assert again.status == 0, again.err
    questions = [*asked(folder), *asked(inner)]
    assert len(questions) == len(set(questions)) == 310


def test_a_run_whose_data_changed_is_not_continued(cli: Cli, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    extra = [{"id": f"more{n}", "input": f"say more{n}", "reference": f"more{n}"} for n in range(300)]
    write_run(folder, extra=extra)
    stop_after(monkeypatch, 40)
    assert cli("run", "-f", "run.json", "--concurrency", "4").status == 130
    monkeypatch.undo()
    monkeypatch.chdir(folder)
    write_run(folder, right=9, extra=extra)
    ended = cli("runs", "resume", "latest")
    assert ended.status == 2
    assert "cannot be continued" in ended.err
    assert "evalsi runs rerun" in ended.err


def stop_after(monkeypatch: pytest.MonkeyPatch, times: int) -> None:
    """Throws the switch that Ctrl-C throws, after it was looked at so many times."""
    looked = 0

    def is_on(_: object) -> bool:
        nonlocal looked
        looked += 1
        return looked > times

    monkeypatch.setattr("evalsi.cli.progress.StopSwitch.is_on", is_on)


def test_a_list_counts_the_answers_that_a_stopped_run_has_kept(
    cli: Cli, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    extra = [{"id": f"more{n}", "input": f"say more{n}", "reference": f"more{n}"} for n in range(100)]
    path = write_run(folder, extra=extra)
    with monkeypatch.context() as stopped:
        stop_after(stopped, 20)
        assert cli("run", "-f", str(path), "--concurrency", "4").status == 130
    done = len(asked(folder))
    assert 0 < done < 110
    (row,) = listed(cli)
    assert (row["status"], row["rows"], row["total"]) == ("interrupted", done, 110)
    assert f" {done}/110 " in cli("runs", "list").out
    assert f"{done}/110" in cli("runs", "watch").err
    assert cli("runs", "resume", "latest").status == 0
    assert " 110 " in cli("runs", "list").out


def test_other_evaluators_grade_the_same_answers_and_nobody_is_asked(cli: Cli, folder: Path) -> None:
    crash = [{"id": "c", "input": "crash", "reference": "x"}]
    assert cli("run", "-f", str(write_run(folder, extra=crash, trials=2))).status == 0
    before = asked(folder)
    ended = cli(
        "rescore", "latest", "--evaluators", "contains,strict=exact-match", "--param", "strict.ignore_case=true"
    )
    assert ended.status == 0, ended.err
    assert asked(folder) == before
    first, second = listed(cli)
    assert first["labels"]["evals.si/rescored-from"] == second["id"]
    assert first["name"] == "nightly-rescored"
    found = metrics(cli)
    assert (found["strict"]["n"], found["strict"]["mean"], found["strict"]["errors"]) == (20, 0.8, 2)
    assert found["strict"]["error_kinds"] == {"target": 2}
    assert found["strict.pass^2"]["mean"] == 0.8
    named = cli("rescore", "nightly", "--evaluators", "exact-match", "--name", "third")
    assert named.status == 0
    assert listed(cli)[0]["name"] == "third"


def test_rescoring_names_what_it_cannot_find(cli: Cli, folder: Path) -> None:
    assert cli("run", "-f", str(write_run(folder))).status == 0
    assert cli("rescore", "nowhere", "--evaluators", "exact-match").status in (1, 2)
    wrong = cli("rescore", "latest", "--evaluators", "exact-mtch")
    assert wrong.status == 2
    assert "did you mean" in wrong.err


def test_a_replay_takes_every_answer_from_the_other_run(cli: Cli, folder: Path) -> None:
    assert cli("run", "-f", str(write_run(folder))).status == 0
    before = asked(folder)
    write_run(folder, evaluators=["exact-match", "contains"])
    ended = cli("run", "-f", "run.json", "--replay", "latest")
    assert ended.status == 0, ended.err
    assert asked(folder) == before
    assert metrics(cli)["exact-match"] == metrics(cli, "latest~1")["exact-match"]
    assert cli("runs", "rerun", "latest").status == 0
    assert asked(folder) == before, "a replay is repeated as a replay"


def test_an_evaluator_of_steps_is_refused_where_answers_have_none(cli: Cli, folder: Path) -> None:
    (folder / "steps.py").write_text(
        "import evalsi\n\n"
        '@evalsi.evaluator(name="steps", requires=["trajectory"])\n'
        "def steps(record):\n"
        "    return len(record.trajectory.steps)\n"
    )
    target = {"command": {"argv": ["/bin/cat"]}}
    path = write_run(folder, target=target, evaluators=["steps.py:steps"])
    ended = cli("run", "-f", str(path))
    assert ended.status == 2, ended.err
    assert "steps needs the steps that led to an answer, and this target's answers have none" in ended.err
    assert "run.json:1:" in ended.err


def test_what_a_target_prints_is_no_data(cli: Cli, folder: Path) -> None:
    path = write_run(folder)
    (folder / "target.py").write_text(
        "print('loading')\n\n\ndef answer(text):\n    print('thinking')\n    return text\n"
    )
    ended = cli("run", "-f", str(path), "--format", "json", "--quiet")
    assert json.loads(ended.out)[0]["metric"] == "exact-match"
    assert "loading" in ended.err
    assert "thinking" in ended.err


def test_a_run_replaces_neither_its_dataset_nor_its_specification(cli: Cli, folder: Path) -> None:
    path = write_run(folder)
    before = (folder / "cases.jsonl").read_bytes()
    for file in ("cases.jsonl", "run.json"):
        ended = cli("run", "-f", str(path), "--output", str(folder / file))
        assert ended.status == 2, ended.err
        assert "would be replaced" in ended.err
    assert (folder / "cases.jsonl").read_bytes() == before
    assert not (folder / "asked.txt").exists()


def test_an_option_of_a_run_that_is_given_twice_is_refused(cli: Cli, folder: Path) -> None:
    path = str(write_run(folder))
    assert cli("run", "-f", path, "-f", path).status == 2


def test_why_nothing_was_scored_is_said_in_the_words_of_a_record(cli: Cli, folder: Path) -> None:
    path = write_run(folder)
    (folder / "target.py").write_text("def answer(text):\n    raise RuntimeError('the index is empty')\n")
    ended = cli("run", "-f", str(path))
    assert ended.status == 1
    assert "the index is empty" in ended.err


MODEL = {"connector": "openai-compatible", "base_url": "http://127.0.0.1:9/v1", "model": "m"}
AGENT = {"agent": {"http": {"url": "http://127.0.0.1:9/ask"}}}
PYTHON = {"python": "target.py:answer"}
PROGRAM = {"command": {"argv": ["sh", "-c", "echo called >> asked.txt; cat"]}}
ECHO = {"command": {"argv": ["sh", "-c", "echo called >> asked.txt", "{{ input }}"], "stdin": "none"}}


@pytest.mark.parametrize("flags", [(), ("--dry-run",)])
@pytest.mark.parametrize(
    ("target", "field"),
    [(PYTHON, "reference"), *((each, "input") for each in (PYTHON, PROGRAM, ECHO, MODEL, AGENT))],
)
def test_a_field_that_no_record_has_is_refused_before_anybody_is_asked(
    cli: Cli, folder: Path, flags: tuple[str, ...], target: dict[str, Any], field: str
) -> None:
    other = {"input": "question", "reference": "expected"}[field]
    path = write_run(folder, evaluators=["contains"], target=target)
    cases = folder / "cases.jsonl"
    cases.write_text(cases.read_text().replace(f'"{field}"', f'"{other}"'))
    ended = cli("run", "-f", str(path), *flags)
    assert ended.status == 2
    assert f"none of the 10 records has a{'n' if field == 'input' else ''} {field}" in ended.err
    assert f"other columns are {other}, topic; write mapping: {{{field}: {other}}} under spec.dataset" in ended.err
    assert asked(folder) == []


def test_a_column_that_a_template_names_and_no_record_has_is_refused_with_the_nearest(cli: Cli, folder: Path) -> None:
    target = PYTHON | {"messages": [{"role": "user", "content": "{{ metadata.topik }}: {{ input }}"}]}
    (folder / "as_text.py").write_text("def answer(messages):\n    return 'x'\n")
    path = write_run(folder, target=target | {"python": "as_text.py:answer"})
    ended = cli("run", "-f", str(path))
    assert ended.status == 2
    assert "none of the 10 records has metadata.topik, which the target must have" in ended.err
    assert "write mapping: {metadata.topik: topic}" in ended.err
    assert cli("run", "-f", str(path), "--set", "spec.dataset.mapping={'metadata.topik': topic}").status == 0


@pytest.mark.parametrize(
    ("flags", "said"),
    [
        (("--gate", "exact-match > 0.5"), "--gate: spec.gates[0].cel: unknown name 'exact' (line 1"),
        (("--gate", "exact-match > 0.5"), "write metric('exact-match').mean"),
        (
            ("--gate", "contains >= 0.5"),
            "unknown name 'contains' (line 1, column 1 of the condition); write metric('contains')",
        ),
        (("--gate", "contains:0.05"), "error: --gate: spec.gates[0] compares and names no baseline; "),
        (("--gate", "contains:0.05"), "or add --baseline latest"),
        (("--where", "id =="), "--where: "),
    ],
)
def test_a_mistake_in_a_flag_is_called_by_the_flag_and_says_what_to_write(
    cli: Cli, folder: Path, flags: tuple[str, ...], said: str
) -> None:
    ended = cli("run", "-f", str(write_run(folder, evaluators=["contains", "exact-match"])), *flags)
    assert (ended.status, asked(folder)) == (2, [])
    assert said in ended.err
    assert "--set" not in ended.err


@pytest.mark.parametrize(
    ("baseline", "said"),
    [
        ("base.json", "the baseline 'base.json' cannot be read: there is no file"),
        ("7f3a", "the baseline '7f3a' cannot be read: no run"),
    ],
)
def test_a_baseline_that_is_not_there_is_told_before_anybody_is_asked(
    cli: Cli, folder: Path, baseline: str, said: str
) -> None:
    gate = {"metric": "exact-match", "max_drop": 0.02, "baseline": baseline}
    ended = cli("run", "-f", str(write_run(folder, gates=[gate])))
    assert (ended.status, asked(folder)) == (2, [])
    assert said in ended.err
    assert "run.json:" in ended.err


def test_the_first_run_of_all_may_name_the_latest_as_its_baseline_and_has_no_data(cli: Cli, folder: Path) -> None:
    gate = {"metric": "exact-match", "max_drop": 0.02, "baseline": "latest"}
    path = write_run(folder, gates=[gate])
    first = cli("run", "-f", str(path))
    assert (first.status, "NO DATA" in first.err + first.out) == (3, True)


def test_what_can_be_answered_without_an_input_is_asked(cli: Cli, folder: Path) -> None:
    write_run(folder)
    cases = folder / "cases.jsonl"
    cases.write_text(cases.read_text().replace('"input"', '"question"'))
    (folder / "of_record.py").write_text("def answer(record):\n    return record.metadata['question'].split()[-1]\n")
    program = {"argv": ["sh", "-c", "cat > /dev/null; echo 7"], "stdin": "json"}
    for target in ({"python": "of_record.py:answer"}, {"command": program}):
        path = folder / "other.json"
        run = json.loads((folder / "run.json").read_text())
        run["spec"]["target"] = target
        path.write_text(json.dumps(run))
        ended = cli("run", "-f", str(path))
        assert ended.status == 0, ended.err


@pytest.mark.parametrize("target", [None, {"connector": "none"}])
def test_answers_that_nobody_gives_must_be_in_the_dataset(
    cli: Cli, folder: Path, target: dict[str, Any] | None
) -> None:
    path = write_run(folder)
    run = json.loads(path.read_text())
    del run["spec"]["target"]
    path.write_text(json.dumps(run | {"spec": run["spec"] | ({"target": target} if target else {})}))
    ended = cli("run", "-f", str(path))
    assert ended.status == 2
    assert "none of the 10 records has an output, which" in ended.err


def test_rows_that_are_partly_without_a_field_are_skipped(cli: Cli, folder: Path) -> None:
    path = write_run(folder, right=1, wrong=0, extra=[{"id": "x", "input": "say x"}])
    ended = cli("run", "-f", str(path), "--format", "json")
    assert ended.status == 0
    assert len(asked(folder)) == 2
    assert cli("run", "-f", str(path), "--where", "id == 'x'").status == 1


@pytest.mark.parametrize(
    ("spec", "flags", "said"),
    [
        ({}, (), "correctness asks a judge and none was named"),
        (
            {"judge": "house"},
            (),
            "spec.judge: there is no judge called 'house'; under spec, write judge: PROVIDER/MODEL",
        ),
        ({"judge": {"provider": "anthropic"}}, (), "judges: {house: {provider: openai-compatible"),
        ({}, ("--judge-base-url", "http://127.0.0.1:9/v1"), "the flags name no whole judge; add --judge-provider"),
        ({}, ("--judge-provider", "anthropic"), "the flags name no whole judge; add --judge-model"),
    ],
)
def test_a_judge_that_is_not_whole_is_refused_with_what_to_write(
    cli: Cli, folder: Path, spec: dict[str, Any], flags: tuple[str, ...], said: str
) -> None:
    ended = cli("run", "-f", str(write_run(folder, evaluators=["correctness"], **spec)), *flags)
    assert ended.status == 2
    assert said in ended.err
    assert "command-line" not in ended.err
    assert asked(folder) == []


@pytest.mark.parametrize("judges", [{}, {"house": {"provider": "openai-compatible", "model": "m"}}])
@pytest.mark.parametrize("place", ["spec.judge", "spec.evaluators[0].judge"])
def test_a_judge_that_is_nowhere_is_refused_also_where_the_environment_has_one(
    cli: Cli, folder: Path, judges: dict[str, Any], place: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in (("PROVIDER", "openai-compatible"), ("MODEL", "usual"), ("BASE_URL", "http://127.0.0.1:9/v1")):
        monkeypatch.setenv(f"EVALSI_JUDGE_{name}", value)
    own = {"judge": "huose"} if place == "spec.evaluators[0].judge" else {}
    main = {} if own else {"judge": "huose"}
    spec = {**main, **({"judges": judges} if judges else {}), "evaluators": [{"ref": "correctness", **own}]}
    path = write_run(folder, **spec)
    ended = cli("run", "-f", str(path))
    assert ended.status == 2
    column = path.read_text().index('"huose"') + 1
    assert f"run.json:1:{column}: {place}" in ended.err
    assert ("did you mean 'house'?" if judges else "write judge: PROVIDER/MODEL") in ended.err
    assert asked(folder) == []


def test_the_judge_of_the_environment_says_nothing_about_one_of_another_provider(
    cli: Cli, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    usual = {"PROVIDER": "openai-compatible", "MODEL": "usual", "BASE_URL": "http://127.0.0.1:9/v1", "EFFORT": "low"}
    for name, value in usual.items():
        monkeypatch.setenv(f"EVALSI_JUDGE_{name}", value)
    monkeypatch.setenv("ANTHROPIC_API_KEY", "not-a-key")
    other = JudgeChoice(provider="anthropic", model="other")
    settings = Settings.from_environment()
    assert with_defaults(other, settings) == other
    assert with_defaults(JudgeChoice(model="mine"), settings).base_url == usual["BASE_URL"]
    path = write_run(folder, evaluators=["correctness"])
    ended = cli("run", "-f", str(path), "--judge-provider", "anthropic")
    assert (ended.status, asked(folder)) == (2, [])
    assert "the flags name no whole judge; add --judge-model" in ended.err


def test_a_run_whose_gate_had_no_data_is_listed_as_failed(cli: Cli, folder: Path) -> None:
    path = write_run(
        folder, right=0, wrong=0, extra=[{"id": "c", "input": "say crash", "reference": "x"}], gates=[gate(min=0.1)]
    )
    assert cli("run", "-f", str(path)).status == 3
    (row,) = json.loads(cli("runs", "list", "--format", "json").out)
    assert row["verdict"] == "failed"
    assert "NO DATA" in cli("runs", "show", "latest").err


def test_a_warning_is_said_once(cli: Cli, folder: Path) -> None:
    path = write_run(folder, gates=[gate(min=0.1)], dataset={"path": "cases.jsonl", "skip_invalid": True})
    with (folder / "cases.jsonl").open("a") as file:
        file.write("no json\n")
    said = [line for line in cli("run", "-f", str(path)).err.splitlines() if line.startswith("warning: ")]
    assert said
    assert len(said) == len(set(said))


def test_the_slices_that_a_specification_asks_for_are_printed_written_and_reported(cli: Cli, folder: Path) -> None:
    path = write_run(folder, trials=2, slices=["metadata.topic", "nowhere"])
    ended = cli("run", "-f", str(path), "--output", "r.json", "--report", "r.md")
    assert ended.status == 0, ended.err
    assert "metadata.topic = t0  exact-match  10  0.800" in ended.out
    assert "no record has nowhere" in ended.err
    written = json.loads((folder / "r.json").read_text())["slices"]
    assert [(one["key"], one["value"], one["records"]) for one in written] == [
        ("metadata.topic", "t0", 5),
        ("metadata.topic", "t1", 5),
    ]
    assert [summary["metric"] for summary in written[0]["summaries"]] == [
        "exact-match",
        "exact-match.pass@2",
        "exact-match.pass^2",
    ]
    assert written[0]["summaries"][0]["ci"]["method"] == "clustered-t"
    assert "| `metadata.topic` = `t0` | 10 | 0.800 |" in (folder / "r.md").read_text()
    assert "metadata.topic = t0" in cli("runs", "show", "r.json").out
    assert cli("compare", "r.json", "r.json").status == 0


def test_a_key_with_more_values_than_are_summed_up_is_said(cli: Cli, folder: Path) -> None:
    extra = [{"id": f"m{n}", "input": f"say {n}", "reference": str(n), "topic": f"m{n}"} for n in range(250)]
    path = write_run(folder, extra=extra, slices=["metadata.topic"])
    ended = cli("run", "-f", str(path))
    assert "metadata.topic may have more values than the first 200 that are summed up" in ended.err


def test_a_plan_counts_the_records_of_a_slice_and_says_what_judges_cost(cli: Cli, folder: Path) -> None:
    gates = [
        gate(min=0.5),
        gate(min=0.5, slice={"metadata.topic": "t0"}),
        gate(min=0.5, slice={"metadata.topic": "none"}),
        {"metric": "exact-match.pass@2", "min": 0.5},
        gate(stat="CI_LOW", min=0.95),
    ]
    judge = {"provider": "openai-compatible", "model": "gpt-4o", "base_url": "http://127.0.0.1:9/v1"}
    spec = write_run(
        folder,
        gates=gates,
        trials=2,
        evaluators=["exact-match", "correctness"],
        judges={"main": judge},
        judge="main",
        budget={"max_judge_tokens": 10},
    )
    ended = cli("run", "-f", str(spec), "--dry-run")
    assert ended.status == 0, ended.err
    lines = [" ".join(line.split()) for line in ended.out.splitlines()]
    whole = wilson(5, 10)
    half = wilson(round(2.5), 5)
    assert whole is not None
    assert half is not None
    assert f"gate exact-match interval about {whole.width:.3f} wide" in " | ".join(lines)
    assert f"gate exact-match where metadata.topic = t0 interval about {half.width:.3f} wide" in lines
    assert any(line.startswith("gate exact-match.pass@2 interval about") for line in lines)
    assert any(line.startswith("cost of the judge main $") for line in lines)
    assert "no record is in the slice of the gate on exact-match where metadata.topic = none" in ended.err
    assert (
        "cannot be met: it asks for a lower bound of 0.95, and with 10 records that all pass the bound is" in ended.err
    )
    assert "the budget of 10 judge tokens will not do" in ended.err


def test_a_plan_takes_the_lengths_of_an_earlier_run_of_the_same_target_only(cli: Cli, folder: Path) -> None:
    with StandInModel(
        Behaviour(replies=[Reply(text="4", usage={"prompt_tokens": 70, "completion_tokens": 30})])
    ) as model:
        target = {"connector": "openai-compatible", "model": "one", "base_url": model.base_url}
        path = write_run(folder, target=target)
        assert cli("run", "-f", str(path)).status == 0
        plans = [
            cli("run", "-f", str(path), "--dry-run", *more).out for more in ((), ("--set", "spec.target.model=two"))
        ]
    assert "10 answers of an earlier run" in plans[0]
    assert "700" in plans[0]
    assert "earlier run" not in plans[1]


def test_commands_for_runs_are_found_without_their_group(cli: Cli, folder: Path) -> None:
    assert cli("run", "-f", str(write_run(folder))).status == 0
    assert cli("rerun", "latest").status == 0
    assert len(listed(cli)) == 2
    ended = cli("resume", "latest")
    assert (ended.status, "it is: evalsi runs resume" in ended.err) == (2, True)


def test_a_list_of_runs_tells_ids_apart_that_begin_alike(
    cli: Cli, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ids = iter(["1m8mg47aaaaaaaaaaaaa", "1m8mg47abbbbbbbbbbbb", "2m8mg47acccccccccccc"])
    monkeypatch.setattr("evalsi.results.recorder.new_run_id", lambda _: next(ids))
    for name in ("a", "b", "c"):
        assert cli("run", "-f", str(write_run(folder)), "--name", name).status == 0
    shown = [line.split()[0] for line in cli("runs", "list").out.splitlines()[1:]]
    assert shown == ["2m8mg47ac", "1m8mg47ab", "1m8mg47aa"]
    assert all(cli("runs", "show", each).status == 0 for each in shown)


def test_a_comparison_says_that_records_or_code_are_not_the_same(cli: Cli, folder: Path) -> None:
    own = "from evalsi import evaluator\n\n@evaluator(name='own')\ndef own(record):\n    return {}\n"
    (folder / "own.py").write_text(own.format("True"))
    path = write_run(folder, evaluators=["exact-match", "./own.py:own"])
    assert cli("run", "-f", str(path), "--name", "one").status == 0
    rows = [json.loads(line) for line in (folder / "cases.jsonl").read_text().splitlines()]
    rows[3]["reference"] = "something else"
    write_jsonl(folder / "cases.jsonl", [*rows, {"id": "new", "input": "say 1", "reference": "1"}])
    (folder / "own.py").write_text(own.format("1 == 1"))
    assert cli("run", "-f", str(path), "--name", "two").status == 0
    said = cli("compare", "one", "two").err
    assert (
        "the datasets are not the same: 1 of 10 shared records have another input or reference (such as 'r3')" in said
    )
    assert "the code of own is not the same" in said
    assert "did not finish" not in said
    assert "not the same" not in cli("compare", "two", "two").err


def test_trials_give_no_interval_that_takes_them_for_independent(cli: Cli, folder: Path) -> None:
    gates = [gate(stat="ERROR_RATE", max=0.5), {"stat": "LATENCY_P50", "max": 30}]
    for trials in (1, 3):
        path = write_run(folder, gates=gates, trials=trials)
        assert cli("run", "-f", str(path), "--output", "r.json", "--name", f"x{trials}").status == 0
        decided = json.loads((folder / "r.json").read_text())["gates"]
        assert [each.get("ci") is None for each in decided] == [trials > 1] * 2
    line = next(line for line in cli("runs", "show", "x1").err.splitlines() if "median latency" in line)
    value, _, ends = line.partition(": ")[2].partition(" [")
    assert value.endswith(("s", "ms"))
    assert ends.partition(",")[0].endswith("s"), "the ends of an interval have the unit of the value"


def test_each_evaluator_is_written_down_with_the_judge_that_it_asks(cli: Cli, folder: Path) -> None:
    with StandInModel(Behaviour()) as model:
        judges = {
            name: {"provider": "openai-compatible", "model": f"judge-{name}", "base_url": model.base_url}
            for name in ("main", "other")
        }
        evaluators = ["correctness", {"ref": "correctness", "name": "second", "judge": "other"}]
        path = write_run(folder, right=3, wrong=0, evaluators=evaluators, judges=judges, judge="main")
        plan = cli("run", "-f", str(path), "--dry-run").out
        assert cli("run", "-f", str(path), "--output", "r.json").status == 0
    told = json.loads((folder / "r.json").read_text())["manifest"]["evaluators"]
    assert [each["judge"] for each in told] == ["openai-compatible/judge-main", "openai-compatible/judge-other"]
    assert told[0]["judge_settings_sha256"] != told[1]["judge_settings_sha256"]
    calls = [" ".join(line.split()) for line in plan.splitlines() if line.startswith("judge ")]
    assert calls == ["judge main calls at least 3", "judge other calls at least 3"]


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"python": "target.py:answr"}, "run.json:1:147: spec.target.python: target.py has no callable 'answr'"),
        (
            {"connector": "openai-compatible", "model": "m", "api": "responses", "seed": 3},
            "spec.target.seed: the responses",
        ),
        ({"connector": "openai-compatible", "model": "m", "api_key_env": "NO_SUCH_KEY"}, "NO_SUCH_KEY is not set"),
    ],
)
def test_a_target_that_cannot_be_made_is_said_with_its_place(
    cli: Cli, folder: Path, changes: dict[str, Any], said: str
) -> None:
    ended = cli("run", "-f", str(write_run(folder, target=changes)))
    assert ended.status == 2
    assert said in ended.err
    assert re.search(r"run\.json:1:\d+: ", ended.err)


@pytest.mark.parametrize(
    ("named", "said"),
    [
        ({"target": "python: target.py:answr"}, "6:13: spec.target.python: target.py has no callable 'answr'; did you"),
        ({"target": "python: targt.py:answer"}, "6:13: spec.target.python: unknown file 'targt.py'; did you mean 'tar"),
        ({"target": "python: no_such_module:answer"}, "6:13: spec.target.python: unknown module 'no_such_module'"),
        ({"target": "python: broken.py:answer"}, "6:13: spec.target.python: broken.py cannot be loaded: SyntaxError"),
        ({"target": "command: {argv: [no-such-program]}"}, "6:22: spec.target.command.argv[0]: there is no program"),
        ({"target": "command: {argv: [cat], workdir: nowhere}"}, "6:37: spec.target.command.workdir: there is no fold"),
        ({"target": "command: {argv: [cat], env_from: {A: NO_SUCH}}"}, "6:42: spec.target.command.env_from.A: the env"),
        ({"target": "{connector: recorded, recording: no.jsonl}"}, "spec.target.recording: no.jsonl: the recording"),
        (
            {"target": "{connector: openai-compatible, model: m, apiKeyEnv: NO_SUCH}"},
            "spec.target.api_key_env: the environment variable NO_SUCH is not set",
        ),
        (
            {"target": "agent: {http: {url: 'http://127.0.0.1:9', headers_env: {X: NO_SUCH}}}"},
            "spec.target.agent.http.headers_env.X: the environment variable NO_SUCH",
        ),
        ({"dataset": "path: csaes.jsonl"}, "8:11: spec.dataset.path: csaes.jsonl: there is no such file; did you mean"),
        ({"dataset": "path: no/*.jsonl"}, "8:11: spec.dataset.path: no/*.jsonl: no dataset matches the pattern"),
        ({"dataset": "uri: otlp://no.json"}, "8:10: spec.dataset.uri: no.json: there is no such file"),
        ({"dataset": "run: {run_id: nope}"}, "8:19: spec.dataset.run.run_id: no run 'nope'"),
        ({"dataset": "catalog: {name: cases}"}, "8:14: spec.dataset.catalog: this kind of dataset needs a server"),
        (
            {"dataset": "{path: cases.jsonl, mapping: {notes: nots}}"},
            "spec.dataset.mapping.notes: cases.jsonl: unknown",
        ),
        ({"evaluators": "[{ref: no.py:length}]"}, "9:22: spec.evaluators[0].ref: unknown file 'no.py'"),
        ({"judge": "anthropic/m"}, "10:10: spec.judge: the environment variable ANTHROPIC_API_KEY is not set"),
        (
            {"judges": "{j: {provider: recorded, recording: no.jsonl}}"},
            "10:47: spec.judges.j.recording: no.jsonl: the recording cannot be read",
        ),
        (
            {"judges": "{j: {provider: anthropic, model: m, api_key_env: NO_SUCH}}"},
            "spec.judges.j.api_key_env: the environment variable NO_SUCH is not set",
        ),
        ({"baseline": "no.json"}, "10:13: spec.baseline: the baseline 'no.json' cannot be read: there is no file"),
        ({"sinks": "[{name: far}]"}, "10:18: spec.sinks[0].name: 'far' is a sink of a server"),
        (
            {"sinks": "[{json: r.json}, {csv: r.txt}]"},
            "10:33: spec.sinks[1].csv: r.txt: results are not written as .txt",
        ),
    ],
)
def test_what_a_spec_names_and_is_not_there_is_told_where_it_is_named(
    cli: Cli, folder: Path, named: dict[str, str], said: str
) -> None:
    write_run(folder)
    (folder / "broken.py").write_text("def answer(\n")
    parts = {
        "target": "python: target.py:answer",
        "dataset": "path: cases.jsonl",
        "evaluators": "[exact-match]",
    } | named
    body = "".join(
        f"  {key}:\n    {value}\n" if key in ("target", "dataset") else f"  {key}: {value}\n"
        for key, value in parts.items()
    )
    (folder / "run.yaml").write_text(
        f"apiVersion: evals.si/v1alpha1\nkind: EvalRun\nmetadata: {{name: x}}\nspec:\n{body}"
    )
    ended = cli("run", "run.yaml")
    assert (ended.status, asked(folder)) == (2, []), ended.err
    assert re.match(r"error: run\.yaml:\d+:\d+: spec\.", ended.err)
    assert said in ended.err


def test_a_target_that_cannot_be_reached_is_no_mistake_and_is_told_where_it_is_named(cli: Cli, folder: Path) -> None:
    target = {"connector": "openai-compatible", "model": "m", "base_url": "http://127.0.0.1:9/v1", "max_retries": 0}
    ended = cli("run", "-f", str(write_run(folder, target=target)))
    assert ended.status == 1
    assert re.search(r"run\.json:1:\d+: spec\.target: 127\.0\.0\.1:9 cannot be reached", ended.err)


def test_a_recording_is_found_beside_the_spec_and_one_of_a_flag_where_the_command_runs(cli: Cli, folder: Path) -> None:
    inner = folder / "specs"
    inner.mkdir()
    judges = {"j": {"provider": "recorded", "recording": "replies.jsonl"}}
    path = write_run(inner, judges=judges, evaluators=["correctness"])
    (inner / "replies.jsonl").write_text("")
    assert cli("run", "-f", str(path), "--dry-run").status == 0
    (inner / "replies.jsonl").rename(folder / "replies.jsonl")
    missing = cli("run", "-f", str(path), "--dry-run")
    assert (missing.status, "spec.judges.j.recording" in missing.err) == (2, True)
    flags = ("--judge-provider", "recorded", "--judge-recording", "replies.jsonl")
    path = write_run(inner, evaluators=["correctness"])
    assert cli("run", "-f", str(path), "--dry-run", *flags).status == 0


def test_results_that_are_errors_are_listed_with_their_trial(cli: Cli, folder: Path) -> None:
    extra = [{"id": "c", "input": "say crash", "reference": "x"}]
    assert cli("run", "-f", str(write_run(folder, right=1, wrong=0, extra=extra, trials=2))).status == 0
    lines = cli("runs", "show", "latest", "--errors").out.splitlines()[1:]
    assert [line.partition("  ")[0] for line in lines] == ["c (trial 0)", "c (trial 1)"]
