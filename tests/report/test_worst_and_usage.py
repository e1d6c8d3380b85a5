"""Worst records, distributions, first differences and figures."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evalsi.core.errors import SkipRecord
from evalsi.evaluators.api import evaluator, output
from evalsi.report import figures
from evalsi.report.distribution import Histogram, ThinnedValues, histogram_between
from evalsi.report.findings import gather
from evalsi.report.first_difference import compare_texts
from evalsi.report.report_options import ReportOptions
from evalsi.schema import Content, Record, Usage
from tests.graded_runs import graded_run


@evaluator(name="main", bounded=True, outputs=[output("main", low=0, high=1)])
def main(record: Record) -> float:
    if record.metadata["main"] is None:
        raise SkipRecord("nothing to measure")
    return record.metadata["main"]


@evaluator(name="delay", bounded=True, outputs=[output("delay", low=0, higher_is_better=False)])
def delay(record: Record) -> float:
    return record.metadata["delay"]


def worst_of(pairs, examples: int) -> list[tuple[str, list[int]]]:
    records = [Record(id=f"r{row}", metadata={"main": a, "delay": b}) for row, (a, b) in enumerate(pairs)]
    found = gather(graded_run(records, [main, delay]), ReportOptions(examples=examples, slices=[]))
    return [(one.metric.name, [case.row - 1 for case in one.cases]) for one in found.worst]


@settings(max_examples=60, deadline=None)
@given(
    st.lists(
        st.tuples(st.sampled_from([0.0, 0.25, 0.5, 1.0, None]), st.integers(0, 9).map(float)), min_size=1, max_size=3000
    ),
    st.integers(1, 4),
)
def test_the_worst_are_those_that_sorting_everything_finds(pairs, examples) -> None:
    top = max(delay for _, delay in pairs) or 1.0
    delay_good = [1 - b / top if max(b for _, b in pairs) > 0 else 1.0 for _, b in pairs]
    scored = [row for row, (a, _) in enumerate(pairs) if a is not None]

    def overall(row: int) -> float:
        known = [delay_good[row]] + ([pairs[row][0]] if pairs[row][0] is not None else [])
        return sum(known) / len(known)

    ranked = sorted(scored, key=lambda row: (pairs[row][0], round(overall(row), 9), row))
    best = max((pairs[row][0] for row in scored), default=0)
    wanted = [row for row in ranked if pairs[row][0] < best or pairs[row][0] == 0.0][:examples]
    found = dict(worst_of(pairs, examples))
    assert found.get("main", []) == wanted
    assert not set(found.get("delay", [])) & set(wanted)


def test_records_that_no_record_beats_are_not_called_worst() -> None:
    assert worst_of([(1.0, 3.0)] * 5, 3) == []
    assert worst_of([(0.0, 3.0)] * 3, 2) == [("main", [0, 1])]


def test_where_lower_is_better_the_highest_are_the_worst() -> None:
    assert worst_of([(1.0, 1.0), (1.0, 9.0), (1.0, 4.0)], 1) == [("delay", [1])]


def test_usage_is_summed_over_what_was_measured_only() -> None:
    records = [
        Record(id="a", metadata={"main": 1.0, "delay": 0.0}, usage=Usage(latency=1.0, cost_usd=0.5)),
        Record(id="b", metadata={"main": 1.0, "delay": 0.0}, usage=Usage(latency=3.0, unpriced_requests=2)),
        Record(id="c", metadata={"main": 1.0, "delay": 0.0}),
    ]
    usage = gather(graded_run(records, [main]), ReportOptions()).usage
    assert {(one.measure, one.n, one.total) for one in usage.figures} == {("latency", 2, 4.0), ("cost_usd", 1, 0.5)}
    assert usage.unpriced_requests == 2


@given(st.lists(st.floats(-5, 5), max_size=200))
def test_a_histogram_counts_every_value_once(values) -> None:
    made = Histogram(-1.0, 1.0)
    made.add(np.array(values, dtype=float))
    assert made.n == len(values)
    inside = sum(-1 <= value < -0.9 for value in values) + sum(value < -1 for value in values)
    assert abs(int(made.counts[0]) - inside) <= sum(abs(value + 0.9) < 1e-9 for value in values)


def test_thinned_values_keep_n_and_total_and_nearly_the_quantiles() -> None:
    values = np.random.default_rng(3).lognormal(0, 1, 400_000)
    kept = ThinnedValues()
    for part in np.array_split(values, 391):
        kept.add(part.tolist())
    assert kept.n == values.size
    assert kept.total == pytest.approx(values.sum())
    assert kept.step > 1
    assert kept.values().size <= 2 * 65_536 + 1024
    assert kept.quantile(0.95).value == pytest.approx(np.quantile(values, 0.95), rel=0.02)


@pytest.mark.parametrize(
    ("output_text", "reference", "says", "marked"),
    [
        ("The fee is £60 in total.", "£60", "the reference stands in the output", ("£60", "£60")),
        ("It costs 24.1p per kWh", "It costs 25.4p per kWh", "differs from word 3", ("4.1p", "5.4p")),
        ("51.2p a day.", "54.8p a day", "differs from the first word", ("", "54.8p")),
        ("a b", "a b c", "the output ends here; the reference goes on", ("", "c")),
        ("a  b", "a b", "they differ only in white space", ("", "")),
        ("same", "same", "the same text", ("", "")),
        ("b a", "a b", "the words of the reference, in another order", ("", "")),
        ("STRASSE ist GUT", "gut", "the reference stands in the output", ("GUT", "gut")),
    ],
)
def test_the_first_difference_is_where_a_reader_would_point(output_text, reference, says, marked) -> None:
    found = compare_texts(output_text, reference)
    assert found is not None
    assert found.says == says
    assert (output_text[slice(*found.output)], reference[slice(*found.reference)]) == marked


@given(st.text(max_size=40), st.text(max_size=40))
def test_spans_lie_inside_their_texts(output_text, reference) -> None:
    found = compare_texts(output_text, reference)
    if found is None:
        assert not output_text.strip() or not reference.strip()
        return
    for text, (start, end) in ((output_text, found.output), (reference, found.reference)):
        assert 0 <= start <= end <= len(text)


def test_figures_never_round_a_part_to_the_whole() -> None:
    assert figures.percent(99_999, 100_000) == ">99.9%"
    assert figures.percent(1, 100_000) == "<0.1%"
    assert figures.percent(0, 7) == "0%"
    assert figures.percent(7, 7) == "100%"
    assert figures.percent(0, 0) == "–"
    assert figures.percent(995, 1000) == "99.5%"


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (0.74137, "0.741"),
        (0.0, "0.000"),
        (-0.05, "−0.050"),
        (12.0, "12"),
        (12.345, "12.35"),
        (81669.4, "81,669"),
        (0.0001, "1.0e-04"),
        (None, "–"),
    ],
)
def test_numbers_are_short_and_keep_what_matters(value, shown) -> None:
    assert figures.number(value) == shown


def test_money_and_time_come_in_the_unit_that_fits() -> None:
    assert [figures.money(one) for one in (None, 0, 0.00017, 0.025, 3.456, 12345.6)] == [
        "–",
        "$0",
        "$0.00017",
        "$0.025",
        "$3.46",
        "$12,345.60",
    ]
    assert [figures.seconds(one) for one in (0.0000031, 0.25, 2.5, 42, 129, 7260)] == [
        "3 µs",
        "250 ms",
        "2.50 s",
        "42.0 s",
        "2 min 09 s",
        "2 h 01 min",
    ]


def test_long_texts_are_cut_and_say_by_how_much() -> None:
    from evalsi.report.html_report import html_report

    record = Record(id="long", output=Content(text="x" * 50_000), metadata={"main": 0.0, "delay": 1.0})
    page = html_report(graded_run([record], [main]))
    assert "38,000 more characters" in page
    assert len(page) < 200_000


@given(st.integers(-50, 50), st.integers(2, 3000))
def test_bins_between_whole_numbers_hold_equally_many_of_them(low, span) -> None:
    made = histogram_between(float(low), float(low + span))
    made.add(np.arange(low, low + span + 1, dtype=float))
    assert made.n == span + 1
    assert len(set(made.counts[:-1].tolist())) <= 1
    assert made.counts.size <= 2 * 20
