"""Grading from Python: scripts, notebooks, threads, tests; tables in and out."""

import asyncio
import re
import subprocess
import sys
import textwrap
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import evalsi
from evalsi import EvalResult, Record, evaluator, text_of
from evalsi.core.errors import (
    EvalsiError,
    GateFailedError,
    NothingScoredError,
    UnknownNameError,
    UsageError,
)
from tests.command_line import DATA, environment


@evaluator(name="short", requires=["output"])
def short(record: Record) -> bool:
    return len(text_of(record.output)) < 4


@evaluator(name="waits")
async def waits(record: Record) -> float:
    await asyncio.sleep(0.01)
    return float(len(text_of(record.output)))


def test_a_script_gets_summaries_results_and_a_table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    result = evalsi.evaluate(DATA, ["exact-match", "strict=exact-match", short])
    assert [summary.metric for summary in result] == ["exact-match", "strict", "short"]
    assert result["exact-match"].mean == 0.5
    assert [each.record_id for each in result.results()][::3] == [row["id"] for row in DATA]
    assert [record.id for record in result.records()] == [row["id"] for row in DATA]
    assert "exact-match" in str(result)
    assert repr(result).startswith("EvalResult(exact-match=0.500")
    assert list(tmp_path.iterdir()) == []


def test_one_evaluator_need_not_be_a_list() -> None:
    def polite(record: Record) -> bool:
        return "please" in text_of(record.output)

    assert evalsi.evaluate(DATA, polite)["polite"].mean == 0
    assert evalsi.evaluate(DATA, "exact-match", params={"exact-match": {"ignore_case": True}})["exact-match"].n == 4


def test_a_loop_that_is_already_running_is_no_hindrance() -> None:
    async def notebook_cell() -> EvalResult:
        return evalsi.evaluate(DATA, [waits, short])

    assert asyncio.run(notebook_cell())["waits"].n == 4


def test_an_error_inside_a_running_loop_is_the_same_error() -> None:
    async def notebook_cell() -> None:
        evalsi.evaluate(DATA, "exact-mach")

    with pytest.raises(UnknownNameError, match="did you mean 'exact-match'"):
        asyncio.run(notebook_cell())


def test_threads_do_not_meet() -> None:
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda n: evalsi.evaluate(DATA[:n], [waits, "exact-match"])["waits"].n, [1, 2, 3, 4] * 2))
    assert found == [1, 2, 3, 4] * 2


def test_async_calls_go_on_together_and_let_others_work() -> None:
    ticks = 0

    async def main() -> list[EvalResult]:
        async def tick() -> None:
            nonlocal ticks
            while True:
                ticks += 1
                await asyncio.sleep(0.001)

        ticking = asyncio.create_task(tick())
        results = await asyncio.gather(*(evalsi.aevaluate(DATA, waits) for _ in range(3)))
        ticking.cancel()
        return list(results)

    assert [each["waits"].n for each in asyncio.run(main())] == [4, 4, 4]
    assert ticks > 3


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, pa.Table.from_pylist, iter, list])
def test_every_kind_of_table_goes_in(make: Any) -> None:
    result = evalsi.evaluate(make(DATA), "exact-match", cluster_by="topic")
    assert (result["exact-match"].n, result["exact-match"].mean) == (4, 0.5)
    assert result["exact-match"].clusters == 2


def test_every_kind_of_table_comes_out() -> None:
    result = evalsi.evaluate(DATA, ["exact-match", "token-f1", "latency"])
    arrow = result.to_arrow()
    assert arrow.column("record_id").to_pylist() == [row["id"] for row in DATA]
    assert arrow.column("exact-match").to_pylist() == [True, False, True, False]
    assert result.to_pandas()["metadata.topic"].tolist() == [row["topic"] for row in DATA]
    polars = result.to_polars()
    assert polars["exact-match"].dtype == pl.Boolean
    assert polars["token-f1"].dtype == pl.Float64
    assert polars["latency.outcome"].to_list() == ["skipped"] * 4


@pytest.mark.parametrize("evaluators", [["exact-match", short, waits], ["corpus-bleu", "rouge"]])
def test_what_was_saved_is_loaded_again(tmp_path: Path, evaluators: list[Any]) -> None:
    result = evalsi.evaluate(DATA, evaluators)
    again = EvalResult.load(result.save(tmp_path / "deep" / "r.json"))
    assert again.summaries == result.summaries
    assert again.manifest == result.manifest
    assert list(again.records()) == list(result.records())
    assert [(r.record_id, r.evaluator, r.scores) for r in again.results()] == [
        (r.record_id, r.evaluator, r.scores) for r in result.results()
    ]
    assert all(metric.difference == 0 for metric in again.compare(result).metrics)
    assert again.to_arrow().equals(result.to_arrow())


def test_a_kept_run_can_be_read_after_the_call(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    result = evalsi.evaluate(DATA, "exact-match", store=True, name="kept", labels={"k": "v"})
    assert len(list(result.results())) == 4
    assert (result.manifest.name, result.manifest.labels) == ("kept", {"k": "v"})
    assert (tmp_path / ".evalsi" / "evalsi.db").exists()


def test_a_gate_is_an_assertion() -> None:
    result = evalsi.evaluate(DATA, ["exact-match", "latency"])
    assert result.require("exact-match", min=0.5, max=0.5).n == 4
    assert result.require("exact-match", min=1, stat="coverage")
    assert result.require("exact-match", max=0, stat="error_rate")
    with pytest.raises(GateFailedError, match=r"exact-match mean is 0\.5 \[.*n 4; it must be at least 0\.9"):
        result.require("exact-match", min=0.9)
    with pytest.raises(GateFailedError):
        result.require("exact-match", min=0.5, stat="ci_low")
    with pytest.raises(NothingScoredError, match="0 of 4 scored"):
        result.require("latency", max=100)
    with pytest.raises(UnknownNameError, match="did you mean 'exact-match'"):
        result.require("exactmatch", min=0.5)
    with pytest.raises(UnknownNameError, match="statistic"):
        result.require("exact-match", min=0.5, stat="men")
    with pytest.raises(UsageError, match="needs a bound"):
        result.require("exact-match")


def test_a_key_to_cluster_by_that_no_record_carries_is_refused_before_anything_runs() -> None:
    rows = [{"id": f"{n}", "output": "x", "metadata": {"topic": n % 2} if n else {}} for n in range(4)]
    assert evalsi.evaluate(rows, "length", cluster_by="metadata.topic").summaries[0].clusters == 3
    with pytest.raises(UnknownNameError, match="did you mean 'topic'"):
        evalsi.evaluate(rows, "length", cluster_by="metadata.topik")


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({"limt": 3}, "did you mean 'limit'"),
        ({"limit": 0}, "limit must be at least 1"),
        ({"concurrency": 0}, "concurrency"),
        ({"concurrency": "many"}, "concurrency"),
        ({"confidence": 1.0}, "confidence"),
        ({"confidence": float("nan")}, "confidence"),
        ({"ci": "wilson"}, "way to compute intervals"),
        ({"judge": {"modl": "x"}}, "did you mean 'model'"),
        ({"judge": {"max_tokens": "x"}}, "judge.max_tokens"),
        ({"judge": {"provider": "openai"}}, "judge"),
        ({"params": {"exactmatch": {}}}, "did you mean 'exact-match'"),
        ({"params": {"exact-match": {"ignore_case": "maybe"}}}, "ignore_case"),
        ({"mapping": {"input": "questoin"}}, "questoin"),
        ({"cluster_by": "topik"}, "did you mean 'topic'"),
        ({"where": "((("}, "where"),
        ({"on_invalid": "ignore"}, "invalid rows"),
    ],
)
def test_a_wrong_option_is_refused_before_anything_runs(options: dict[str, Any], error: str) -> None:
    called: list[str] = []

    def counted(record: Record) -> bool:
        called.append(record.id)
        return True

    with pytest.raises(EvalsiError, match=error) as caught:
        evalsi.evaluate(DATA, ["exact-match", counted], **options)
    assert caught.value.exit_status == 2
    assert called == []


@pytest.mark.parametrize("data", [[], iter(()), [3], ["text"], 7, None, [{"id": "a"}, {"id": "a"}]])
def test_data_that_is_none_is_refused(data: Any) -> None:
    with pytest.raises(EvalsiError):
        evalsi.evaluate(data, "exact-match")


def test_a_comparative_evaluator_meets_its_baseline_by_id() -> None:
    @evaluator(name="longer", scope="comparative")
    def longer(record: Record, baseline: Record) -> bool:
        return len(text_of(record.output)) > len(text_of(baseline.output))

    base = [{"id": row["id"], "output": ""} for row in DATA[:3]]
    result = evalsi.evaluate(DATA, longer, baseline=base)
    assert (result["longer"].n, result["longer"].mean, result["longer"].skipped) == (3, 1.0, 1)


def test_a_notebook_shows_text_of_others_as_text() -> None:
    @evaluator(name="label")
    def label(record: Record) -> str:
        return "<script>alert(1)</script>\x1b[31m"

    shown = evalsi.evaluate(DATA, label)._repr_html_()  # pyright: ignore[reportPrivateUsage]
    assert "<script>" not in shown
    assert "&lt;script&gt;" in shown
    assert "\x1b" not in shown


def test_comparing_with_a_file(tmp_path: Path) -> None:
    old = evalsi.evaluate(DATA, "exact-match")
    new = evalsi.evaluate([row | {"output": row["reference"]} for row in DATA], "exact-match")
    comparison = new.compare(old.save(tmp_path / "old.json"))
    assert comparison.metrics[0].difference == 0.5
    shown = str(comparison).splitlines()
    assert shown[0].startswith("INCONCLUSIVE")
    assert shown[2].split()[:5] == [comparison.metrics[0].metric, "4", "0.500", "1.000", "+0.500"]
    with pytest.raises(UnknownNameError):
        new.compare(old, metrics=["nothing"])


def test_importing_the_package_imports_next_to_nothing() -> None:
    code = "import sys, evalsi; print(*sorted(m for m in sys.modules if m.split('.')[0] in ('numpy','msgspec','click','rich','aiohttp','sqlite3','asyncio')))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environment())
    assert done.stdout.strip() == ""


def test_every_public_name_is_there() -> None:
    for name in evalsi.__all__:
        assert getattr(evalsi, name) is not None
    with pytest.raises(AttributeError):
        evalsi.nothing  # noqa: B018  # pyright: ignore[reportAttributeAccessIssue]


def test_a_failing_gate_fails_a_pytest(tmp_path: Path) -> None:
    (tmp_path / "test_quality.py").write_text(
        textwrap.dedent("""
            import evalsi

            ROWS = [{"id": "a", "output": "x", "reference": "x"}, {"id": "b", "output": "x", "reference": "y"}]

            def test_good_enough():
                evalsi.evaluate(ROWS, "exact-match").require("exact-match", min=0.4)

            def test_not_good_enough():
                evalsi.evaluate(ROWS, "exact-match").require("exact-match", min=0.9)
        """)
    )
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_quality.py"],
        cwd=tmp_path, env=environment(), capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 1
    assert "1 failed, 1 passed" in done.stdout
    assert "exact-match mean is 0.5" in done.stdout


def test_a_gate_on_coverage_shows_no_interval_of_the_mean() -> None:
    rows = [{"id": str(n), "output": "x", **({"reference": "x"} if n else {})} for n in range(4)]
    result = evalsi.evaluate(rows, ["exact-match"])
    with pytest.raises(GateFailedError, match=r"exact-match coverage is 0\.75, n 3 of 4; it must be at least 0\.9$"):
        result.require("exact-match", min=0.9, stat="coverage")
    with pytest.raises(GateFailedError, match=r"exact-match mean is 1 \[0\.4"):
        result.require("exact-match", max=0.9)


def test_python_prints_figures_as_the_command_does() -> None:
    rows = [{"id": str(n), "output": str(n % 2), "reference": "1"} for n in range(10)]
    other = [{**row, "output": "1"} for row in rows]
    before, after = (evalsi.evaluate(data, ["exact-match", lambda rec: 0.5]) for data in (rows, other))
    assert re.search(r"^exact-match +10 +0\.500 +\[0\.237, 0\.763\]", str(before), re.MULTILINE)
    assert re.search(r"^lambda +10 +0\.500", str(before), re.MULTILINE)
    shown = str(after.compare(before))
    assert shown.startswith(("IMPROVED", "INCONCLUSIVE"))
    assert re.search(r"^exact-match +10 +0\.500 +1\.000 +\+0\.500 +\[\+0\.\d{3}, \+0\.\d{3}\]", shown, re.MULTILINE)
    assert "text-align:right" in before._repr_html_()
