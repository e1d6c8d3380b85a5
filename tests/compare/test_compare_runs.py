"""Comparing runs: right pairs, values equal to reference libraries, verdicts that need no eye for statistics."""

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest
import scipy.stats
from hypothesis import given, settings
from hypothesis import strategies as st
from statsmodels.stats.contingency_tables import mcnemar

from evalsi.compare.compare_runs import compare_runs
from evalsi.compare.comparison import Comparison
from evalsi.compare.gates import ComparisonGate, check_gates, gate_of, gate_results
from evalsi.compare.markdown import as_markdown, margins_of
from evalsi.compare.matrix import MatrixPlan, compare_many
from evalsi.compare.paired_metric import ComparePlan, compare_values
from evalsi.core.errors import GateFailedError, InvalidSpecError, NothingScoredError, UnknownNameError
from evalsi.engine.columns import ColumnsBuilder
from evalsi.evaluators.api import Definition, evaluator, output
from evalsi.results.graded_run import GradedRun
from evalsi.results.stored_rows import GradedRows, encode_records
from evalsi.schema import (
    BoundRunEvaluator,
    Content,
    EvaluatorManifest,
    MetricSummary,
    Record,
    RunManifest,
    SummaryOptions,
    Usage,
)
from evalsi.stats import paired_permutation
from tests.command_line import Ended, write_jsonl


@evaluator(name="right", outputs=[output("right", "passed")])
def right(record: Record) -> bool:
    return True


@evaluator(name="score", outputs=[output("score", low=0, high=1)])
def score(record: Record) -> float:
    return 0.0


@evaluator(name="wait", outputs=[output("wait", higher_is_better=False)])
def wait(record: Record) -> float:
    return 0.0


@evaluator(name="length", outputs=[output("length", higher_is_better=None)], bounded=True)
def length(record: Record) -> int:
    return 0


@evaluator(name="word", outputs=[output("word", "label")])
def word(record: Record) -> str:
    return ""


DEFINITIONS: dict[str, Definition] = {each.name: each for each in (right, score, wait, length, word)}
Row = tuple[str, dict[str, Any]]


def run_of(rows: Sequence[Row], *, name: str = "run", batch: int = 3) -> GradedRun:
    """A run with these values per record id; None for a record that was skipped by that evaluator."""
    made: list[GradedRows] = []
    evaluators = list(dict.fromkeys(key for _, values in rows for key in values if key in DEFINITIONS))
    for first in range(0, len(rows), batch):
        part = rows[first : first + batch]
        records = [
            Record(id=i, input=Content(text=f"in {i}"), output=Content(text=f"{name} {i}"), metadata={"topic": v.get("topic", "t")},
                   usage=Usage(latency=v["latency"]) if "latency" in v else None)
            for i, v in part
        ]  # fmt: skip
        lanes: list[Any] = []
        for each in evaluators:
            builder = ColumnsBuilder(DEFINITIONS[each], name=each, ref=f"p/{each}@1", rows=len(part))
            for row, (_, values) in enumerate(part):
                value = values.get(each)
                if value is None:
                    builder.skip(row, "no")
                else:
                    builder.put(row, value)
            lanes.append(builder.result)
        made.append(GradedRows(first, encode_records(records), lanes))
    summaries = [
        MetricSummary(metric=each, evaluator=each, higher_is_better=DEFINITIONS[each].outputs[0].higher_is_better)
        for each in evaluators
    ]
    return GradedRun(source=name, manifest=RunManifest(name=name), summaries=summaries, read_rows=lambda: iter(made))


def pairs(metric: str, before: Sequence[Any], after: Sequence[Any], plan: ComparePlan | None = None) -> Comparison:
    names = [f"r{i}" for i in range(len(before))]
    return compare_runs(
        run_of([(i, {metric: v}) for i, v in zip(names, before, strict=True)], name="old"),
        run_of([(i, {metric: v}) for i, v in zip(names, after, strict=True)][::-1], name="new"),
        plan,
    )


def test_the_trials_of_one_record_are_a_group_unless_another_is_named() -> None:
    rng = np.random.default_rng(4)
    before = [(f"r{n}", {"right": bool(right)}) for n, right in enumerate(rng.random(24) < 0.5) for _ in range(5)]
    changed = [bool(right) for right in rng.random(24) < 0.75]
    after = [(i, {"right": changed[int(i[1:])]}) for i, _ in before]
    (found,) = compare_runs(run_of(before, name="old"), run_of(after, name="new")).metrics
    differences = [float(new["right"]) - float(old["right"]) for (_, old), (_, new) in zip(before, after, strict=True)]
    of_records = scipy.stats.ttest_1samp(differences[::5], 0.0).confidence_interval(0.95)
    assert found.pairs == 120
    assert found.test == "paired permutation"
    assert found.interval is not None
    # All trials of a record agree here, so that the records' own interval is the right one: not one of 120 coins.
    assert (found.interval.low, found.interval.high) == pytest.approx((of_records.low, of_records.high))
    alone = run_of(before[::5], name="old"), run_of(after[::5], name="new")
    (single,) = compare_runs(*alone, ComparePlan()).metrics
    assert found.p_value == pytest.approx(
        scipy.stats.binomtest(single.better, single.better + single.worse).pvalue, abs=0.02
    )
    assert found.detectable is not None
    assert single.detectable is not None
    assert found.detectable == pytest.approx(single.detectable, rel=0.15)


def test_verdicts_are_tested_as_statsmodels_does() -> None:
    before = [True] * 30 + [False] * 20
    after = [True] * 26 + [False] * 4 + [True] * 14 + [False] * 6
    (metric,) = pairs("right", before, after).metrics
    theirs: Any = mcnemar([[26, 4], [14, 6]], exact=True)
    assert metric.p_value == pytest.approx(theirs.pvalue)
    assert (metric.better, metric.worse, metric.difference) == (14, 4, pytest.approx(0.2))
    assert metric.verdict == "IMPROVED"


def test_numbers_have_the_t_interval_and_the_permutation_test_of_scipy() -> None:
    rng = np.random.default_rng(1)
    before = rng.random(12).round(2)
    after = (before + rng.normal(0.08, 0.1, 12)).clip(0, 1).round(3)
    (metric,) = pairs("score", before.tolist(), after.tolist()).metrics
    interval = scipy.stats.ttest_1samp(after - before, 0).confidence_interval(0.95)
    assert metric.interval is not None
    assert (metric.interval.low, metric.interval.high) == pytest.approx((interval.low, interval.high))
    everything: Any = np.inf
    theirs = scipy.stats.permutation_test(
        (before, after), lambda x, y: np.mean(y - x), permutation_type="samples", n_resamples=everything
    )
    assert metric.p_value == pytest.approx(theirs.pvalue, abs=1e-9)


@pytest.mark.parametrize("shift", [0.0, 0.004, 0.008, 0.02])
def test_many_different_numbers_have_the_p_value_that_drawing_gives(shift: float) -> None:
    rng = np.random.default_rng(3)
    differences = rng.exponential(0.2, 2500) * rng.choice([-1, 1], 2500) + shift
    p = paired_permutation(np.zeros(2500), differences, seed=0)
    signs = rng.choice(np.array([-1.0, 1.0], dtype=np.float32), (6000, 2500))
    drawn = np.abs(signs @ differences.astype(np.float32)) >= abs(differences.sum())
    assert p == pytest.approx(max(drawn.mean(), 1e-4), abs=4 * np.sqrt(max(drawn.mean(), 1e-3) / 6000))


@settings(max_examples=40, deadline=None)
@given(
    st.lists(
        st.tuples(st.sampled_from([0.0, 0.25, 1.0, None]), st.sampled_from([0.0, 0.25, 1.0, None])),
        min_size=1,
        max_size=30,
    )
)
def test_swapping_the_runs_turns_every_figure_round(values: list[tuple[float | None, float | None]]) -> None:
    before, after = [a for a, _ in values], [b for _, b in values]
    there, back = pairs("score", before, after), pairs("score", after, before)
    if not there.metrics:
        assert not back.metrics
        return
    (one,), (two,) = there.metrics, back.metrics
    assert (one.pairs, one.better, one.worse) == (two.pairs, two.worse, two.better)
    assert one.p_value == pytest.approx(two.p_value)
    if one.difference is not None and two.difference is not None:
        assert one.difference == pytest.approx(-two.difference)
    opposite = {"IMPROVED": "REGRESSED", "REGRESSED": "IMPROVED"}
    assert two.verdict == opposite.get(one.verdict, one.verdict)


def test_equal_runs_are_no_change_and_no_certainty() -> None:
    comparison = pairs("right", [True, False] * 10, [True, False] * 10)
    (metric,) = comparison.metrics
    assert (metric.difference, metric.p_value, comparison.verdict) == (0.0, 1.0, "INCONCLUSIVE")
    assert metric.interval is not None
    assert metric.interval.low < 0 < metric.interval.high
    assert pairs("right", [True] * 200, [True] * 200, ComparePlan(margins={"right": 0.1})).verdict == "UNCHANGED"


@pytest.mark.parametrize(("before", "bounded"), [([0.5, 0.5], True), ([0.5, 7.0], False)])
def test_a_declared_range_bounds_the_difference_unless_the_baseline_left_it(before: list[float], bounded: bool) -> None:
    manifest = EvaluatorManifest(name="score", outputs=list(score.outputs))
    run = replace(
        unbounded(before),
        manifest=RunManifest(evaluators=[BoundRunEvaluator(name="score", manifest=manifest)]),
        summaries=[MetricSummary(metric="score", evaluator="score")],
    )
    assert (compare_runs(run, run).metrics[0].interval is not None) == bounded


def unbounded(values: list[float]) -> GradedRun:
    """A run whose evaluator knows no range."""

    @evaluator(name="score", outputs=[output("score")])
    def anything(record: Record) -> float:
        return 0.0

    records = [Record(id=f"r{i}", output=Content(text="")) for i in range(len(values))]
    builder = ColumnsBuilder(anything, name="score", ref="p/score@1", rows=len(values))
    for row, value in enumerate(values):
        builder.put(row, value)
    return replace(run_of([]), read_rows=lambda: iter([GradedRows(0, encode_records(records), [builder.result])]))


def test_a_metric_of_which_nobody_said_which_way_is_better_has_no_direction() -> None:
    steps = list(range(20))
    (metric,) = pairs("length", steps, [one + 3 for one in steps]).metrics
    assert (metric.verdict, metric.difference) == ("NO DIRECTION", 3.0)
    assert metric.p_value is not None
    assert metric.p_value < 0.05
    assert pairs("length", steps, steps).verdict == "NO DIRECTION"


def test_records_are_paired_by_id_and_trials_of_an_id_in_order() -> None:
    old = run_of([("a", {"score": 0.1}), ("b", {"score": 0.2}), ("a", {"score": 0.3}), ("gone", {"score": 0.0})])
    new = run_of([("new", {"score": 1.0}), ("a", {"score": 0.2}), ("b", {"score": 0.3}), ("a", {"score": 0.4})])
    comparison = compare_runs(old, new)
    assert (comparison.shared, comparison.only_baseline, comparison.only_candidate) == (3, 1, 1)
    assert comparison.metrics[0].difference == pytest.approx(0.1)
    assert comparison.metrics[0].better == 3
    assert any("only in the baseline" in warning for warning in comparison.warnings)


def test_what_either_run_did_not_score_is_in_no_figure() -> None:
    (metric,) = pairs("right", [True, None, False, True], [True, True, None, False]).metrics
    assert (metric.pairs, metric.unpaired, metric.worse) == (2, 2, 1)
    none = pairs("right", [None, True], [True, None])
    assert none.verdict == "NO DATA"
    assert none.metrics[0].interval is None


def test_runs_without_a_shared_record_cannot_be_compared() -> None:
    comparison = compare_runs(run_of([("a", {"right": True})]), run_of([("b", {"right": True})]))
    assert comparison.verdict == "NO DATA"
    assert "share no record id" in comparison.warnings[0]


def test_labels_are_not_averaged() -> None:
    comparison = pairs("word", ["a", "b"], ["b", "b"])
    assert comparison.metrics == []
    assert comparison.verdict == "NO DATA"


def test_less_is_better_where_the_evaluator_says_so() -> None:
    comparison = pairs("wait", [5.0, 6, 7, 8, 9, 7, 6, 8], [1.0, 2, 3, 3, 4, 2, 1, 2])
    assert comparison.metrics[0].verdict == "IMPROVED"
    assert all(flip.change < 0 for flip in comparison.flips)


def test_clusters_make_the_interval_wider_and_are_taken_from_the_baseline() -> None:
    rng = np.random.default_rng(0)
    shift = np.repeat(rng.normal(0.1, 0.2, 12), 10)
    before = rng.random(120) * 0.2 + 0.4
    rows = [(f"r{i}", {"score": float(v), "topic": f"t{i // 10}"}) for i, v in enumerate(before)]
    after = [(f"r{i}", {"score": float(v)}) for i, v in enumerate(np.clip(before + shift, 0, 1))]
    alone, grouped = (compare_runs(run_of(rows), run_of(after), cluster_by=key).metrics[0] for key in (None, "topic"))
    assert alone.interval is not None
    assert grouped.interval is not None
    assert grouped.interval.high - grouped.interval.low > 1.5 * (alone.interval.high - alone.interval.low)
    assert grouped.p_value is not None
    assert alone.p_value is not None
    assert grouped.p_value > alone.p_value


def test_runs_that_were_grouped_when_they_were_made_are_compared_so_unless_another_key_is_named() -> None:
    def made_with(rows: Sequence[Row], key: str) -> GradedRun:
        run = run_of(rows)
        manifest = msgspec.structs.replace(run.manifest, summary=SummaryOptions(cluster_by=key))
        return replace(run, manifest=manifest)

    rng = np.random.default_rng(1)
    rows = [(f"r{i}", {"score": v, "topic": f"t{i // 10}"}) for i, v in enumerate(rng.random(60).tolist())]
    after = [(i, {**values, "score": v}) for (i, values), v in zip(rows, rng.random(60).tolist(), strict=True)]
    before, now = made_with(rows, "topic"), made_with(after, "topic")
    named = compare_runs(run_of(rows), run_of(after), cluster_by="topic").metrics
    alone = compare_runs(run_of(rows), run_of(after)).metrics
    found = compare_runs(before, now)
    assert found.metrics == named != alone
    assert found.warnings == ["records are grouped by topic, as when the runs were made"]
    assert compare_runs(before, made_with(after, "")).metrics == alone
    assert compare_runs(before, now, cluster_by="record.id").warnings == []
    matrix = compare_many([before, now], MatrixPlan(metric="score", by="topic"))
    difference = matrix.tables[0].rows[1].difference
    assert difference is not None
    assert difference.interval == named[0].interval
    assert found.warnings[0] in matrix.warnings


def test_trials_that_one_run_has_more_are_not_called_records() -> None:
    rows = [(f"r{i}", {"score": 0.5}) for i in range(4)]
    comparison = compare_runs(run_of(rows), run_of([*rows, *rows]))
    assert comparison.shared == 4
    assert comparison.warnings == [
        "0 trials are only in the baseline and 4 only in the candidate, of records that both have; they are left out"
    ]
    gone = compare_runs(run_of([*rows, ("gone", {"score": 0.5})]), run_of([*rows, *rows]))
    assert "1 of these trials is of records that one run alone has" in gone.warnings[0]


def test_names_that_nothing_bears_are_refused() -> None:
    run = run_of([("a", {"right": True, "score": 0.5})])
    with pytest.raises(UnknownNameError, match="did you mean 'score'"):
        compare_runs(run, run, metrics=["scor"])
    with pytest.raises(UnknownNameError, match="did you mean 'right'"):
        compare_runs(run, run, ComparePlan(margins={"rihgt": 0.1}))
    with pytest.raises(UnknownNameError, match="did you mean 'topic'"):
        compare_runs(run, run, cluster_by="topik")
    assert [each.metric for each in compare_runs(run, run, metrics=["score"]).metrics] == ["score"]


def test_flips_come_with_both_answers_losses_first_and_their_number_is_said() -> None:
    comparison = pairs("score", [0.5] * 8, [0.5, 0.9, 0.1, 0.4, 0.6, 0.5, 1.0, 0.2])
    shown = compare_runs(
        run_of([(f"r{i}", {"score": 0.5}) for i in range(4)], name="old"),
        run_of([(f"r{i}", {"score": v}) for i, v in enumerate([0.9, 0.1, 0.4, 0.5])], name="new"),
        max_flips=2,
    )
    assert [flip.record_id for flip in comparison.flips] == ["r2", "r7", "r3", "r6", "r1", "r4"]
    assert [(flip.record_id, flip.baseline_output, flip.candidate_output) for flip in shown.flips] == [
        ("r1", "old r1", "new r1"), ("r2", "old r2", "new r2"),
    ]  # fmt: skip
    assert shown.flips_left_out == 1


@given(
    st.lists(
        st.tuples(st.booleans(), st.booleans(), st.sampled_from([0.0, 0.1, 0.5, 0.9]), st.floats(0, 1)), max_size=30
    ),
    st.integers(0, 8),
)
@settings(max_examples=60, deadline=None)
def test_the_flips_that_are_shown_are_the_first_of_all(rows: list[tuple[bool, bool, float, float]], most: int) -> None:
    old = run_of([("x", {"right": True, "score": 0.0}), *[(f"r{i}", {"right": a, "score": c}) for i, (a, _, c, _) in enumerate(rows)]])  # fmt: skip
    new = run_of([("x", {"right": True, "score": 0.0}), *[(f"r{i}", {"right": b, "score": d}) for i, (_, b, _, d) in enumerate(rows)]])  # fmt: skip
    every, some = compare_runs(old, new, max_flips=1000), compare_runs(old, new, max_flips=most)
    order = [(flip.metric == "score", flip.change > 0, -abs(flip.change)) for flip in every.flips]
    assert order == sorted(order)
    assert some.flips == every.flips[:most]
    assert len(some.flips) + some.flips_left_out == len(every.flips)


def test_latency_is_compared_beside_the_metrics() -> None:
    old = run_of([(f"r{i}", {"right": True, "latency": 1.0 + i}) for i in range(4)])
    new = run_of([(f"r{i}", {"right": True, "latency": 2.0 + i}) for i in range(4)])
    (latency,) = compare_runs(old, new).usage
    assert (latency.name, latency.baseline_mean, latency.difference.value) == ("latency", 2.5, 1.0)


def test_tests_are_adjusted_for_their_number() -> None:
    rows = [(f"r{i}", {"right": i % 3 > 0, "score": 0.5}) for i in range(40)]
    better = [(i, {"right": True, "score": 0.5}) for i, _ in rows]
    comparison = compare_runs(run_of(rows), run_of(better))
    metric = comparison.metric("right")
    assert metric is not None
    assert metric.p_value is not None
    assert metric.p_adjusted == pytest.approx(min(1, 2 * metric.p_value))


def test_a_gate_fails_only_on_a_regression_that_is_certain_and_large_enough() -> None:
    worse = pairs("right", [True] * 40, [True] * 28 + [False] * 12)
    with pytest.raises(GateFailedError, match=r"right regressed by 0\.300"):
        check_gates([ComparisonGate(metric="right")], worse)
    assert check_gates([ComparisonGate(metric="right", drop=0.4)], worse) == 0
    assert check_gates([ComparisonGate(metric="right")], pairs("right", [True] * 4, [True] * 3 + [False])) == 0
    with pytest.raises(UnknownNameError):
        check_gates([ComparisonGate(metric="rigth")], worse)
    with pytest.raises(NothingScoredError):
        check_gates([ComparisonGate(metric="right")], pairs("right", [None, True], [True, None]))


@given(st.text(max_size=12))
def test_gates_and_margins_of_flags_are_read_or_refused(text: str) -> None:
    for read in (gate_of, lambda flag: margins_of([flag])):
        try:
            read(text)
        except InvalidSpecError as error:
            assert repr(text) in str(error)


def test_markdown_runs_nothing_that_an_output_says() -> None:
    comparison = pairs("right", [True], [False])
    text = "<img src=x onerror=alert(1)> @team [x](http://y) | `a`"
    hostile = replace(comparison.flips[0], candidate_output=text, input=f"asked {text}")
    text = as_markdown(replace(comparison, flips=[hostile]))
    assert "- input: asked " in text
    assert "<img" not in text
    assert "@team" not in text
    assert "[x](" not in text


def test_a_small_number_is_never_written_as_zero() -> None:
    small = [0.00015 + 1e-6 * i for i in range(40)]
    comparison = pairs("score", small, [value + 0.0002 for value in small])
    row = next(line for line in as_markdown(comparison).splitlines() if line.startswith("| score"))
    assert "0.000 " not in row
    assert "| 1.7e-04 | 3.7e-04 | +2.0e-04 |" in row
    (result,) = gate_results([gate_of("score")], comparison)
    assert "score changed by +2.0e-04" in result.reason


def test_values_that_do_not_exist_are_not_compared() -> None:
    nothing = compare_values(
        "m", np.array([np.nan]), np.array([1.0]), binary=False, higher_is_better=True, bounds=None, plan=ComparePlan()
    )
    assert (nothing.verdict, nothing.pairs, nothing.p_value) == ("NO DATA", 0, None)


@pytest.fixture
def two(cli: Callable[..., Ended], folder: Path) -> Callable[..., Ended]:
    rows = [{"id": f"r{i}", "output": "x", "reference": "x", "metadata": {"topic": i % 3}} for i in range(30)]
    write_jsonl(folder / "a.jsonl", rows)
    write_jsonl(folder / "b.jsonl", [row | {"output": "y" if i % 2 else "x"} for i, row in enumerate(rows)])
    for name in ("a", "b"):
        flags = ("--name", name, "--output", f"{name}.json", "--quiet")
        assert cli("eval", "--data", f"{name}.jsonl", "--evaluators", "exact-match,token-f1", *flags).status == 0
    return cli


def test_runs_are_named_in_every_way(two: Callable[..., Ended]) -> None:
    ids = [run["id"] for run in json.loads(two("runs", "list", "--format", "json").out)]
    said = {
        two("compare", *names, "--format", "json").out
        for names in (("a", "b"), ("latest~1", "latest"), ("a.json", "b.json"), (ids[1], ids[0]), ("a", "b.json"))
    }
    assert len(said) == 1
    found = json.loads(said.pop())
    assert (found["verdict"], found["shared"]) == ("REGRESSED", 30)
    assert found["metrics"][0]["interval"]["high"] < 0


def test_comparing_a_run_with_itself_prints_every_bound(two: Callable[..., Ended]) -> None:
    ended = two("compare", "a", "a", "--format", "json")
    assert ended.status == 0
    for metric in json.loads(ended.out)["metrics"]:
        assert metric["difference"] == 0
        assert {"low", "high"} <= metric["interval"].keys()
    assert two("compare", "a", "a").status == 0


@pytest.mark.parametrize("form", ["table", "md"])
@pytest.mark.parametrize("words", [("compare",), ("matrix", "--metric", "exact-match")])
def test_the_level_of_the_intervals_stands_over_them(
    two: Callable[..., Ended], words: tuple[str, ...], form: str
) -> None:
    assert "95% CI" in two(*words, "a", "b", "--format", form).out
    other = two(*words, "a", "b", "--format", form, "--confidence", "0.9").out
    assert "90% CI" in other
    assert "95%" not in other


@pytest.mark.parametrize(
    ("flags", "status"),
    [
        ((), 0),
        (("--gate", "exact-match"), 3),
        (("--gate", "exact-match:0.9"), 0),
        (("--gate", "exact-mtch"), 2),
        (("--gate", "exact-match:lots"), 2),
        (("--metric", "exact-mtch"), 2),
        (("--margin", "exact-match"), 2),
        (("--margin", "exact-mtch=0.1"), 2),
        (("--cluster-by", "topik"), 2),
        (("--cluster-by", "topic"), 0),
        (("--confidence", "2"), 2),
        (("--report", "r.html"), 0),
        (("--flips", "0"), 0),
    ],
)
def test_the_exit_status_of_a_comparison_says_what_a_pipeline_needs(
    two: Callable[..., Ended], flags: tuple[str, ...], status: int
) -> None:
    ended = two("compare", "a", "b", *flags)
    assert ended.status == status, ended.err
    assert status != 3 or "exact-match regressed by 0.500" in ended.err
    assert (ended.out == "") == (status == 2), "a mistake is said before anything is shown"
