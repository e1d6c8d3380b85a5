"""A report against a baseline: the comparison opens it, changes stand against a zero line, changed records side by side."""

import re
from pathlib import Path

import pytest
from test_html_report import ALLOWED, Page, section
from test_markdown_report import tokens

from evalsi.compare.compare_runs import compare_runs
from evalsi.compare.comparison import Comparison
from evalsi.core.errors import UsageError
from evalsi.evaluators.api import evaluator, output
from evalsi.report.findings import gather
from evalsi.report.html_report import html_report
from evalsi.report.markdown_report import write_markdown
from evalsi.report.report_options import ReportOptions
from evalsi.report.verdict import opening
from evalsi.report.write import check_report_path, write_report
from evalsi.results.graded_run import GradedRun
from evalsi.schema import Content, Record
from tests.graded_runs import HOSTILE, demo_run, graded_run, hostile_run


@evaluator(name="right", bounded=True, outputs=[output("right", "passed")])
def right(record: Record) -> bool:
    return record.metadata["right"]


def run_with(rights: list[bool], said: str = "It costs 24p.") -> GradedRun:
    return graded_run(
        [
            Record(id=f"r{row}", output=Content(text=said if found else "It costs 25p."), metadata={"right": found})
            for row, found in enumerate(rights)
        ],
        [right],
    )


def compared(before: GradedRun, after: GradedRun) -> ReportOptions:
    return ReportOptions(comparison=compare_runs(before, after))


@pytest.mark.parametrize(
    ("before", "after", "word"),
    [
        ([True] * 60, [True] * 30 + [False] * 30, "REGRESSED"),
        ([False] * 60, [True] * 30 + [False] * 30, "IMPROVED"),
        ([True, False] * 30, [True] * 2 + [False] * 2 + [True, False] * 28, "INCONCLUSIVE"),
    ],
)
def test_the_comparison_is_the_first_word_with_the_difference_that_decided(before, after, word) -> None:
    run = run_with(after)
    options = compared(run_with(before), run)
    said = opening(gather(run, options))
    assert (said.word, said.metric) == (word, "right")
    assert options.comparison is not None
    (metric,) = options.comparison.metrics
    assert metric.interval is not None
    assert "over 60 shared records" in said.sentence
    for text in (Page(html_report(run, options)).text, write_markdown(run, options=options)):
        assert word in text[:200]
        assert f"{abs(metric.interval.low):.3f}" in text


def test_changed_records_show_both_answers_and_where_they_part() -> None:
    run = run_with([True] * 20)
    page = html_report(run, compared(run_with([False] + [True] * 19), run))
    words = section(page, "comparison")
    assert "0.000 → 1.000" in words
    assert '<mark class="differs">4p.</mark>' in page
    assert '<mark class="differs">5p.</mark>' in page
    assert words.index("before It costs 25p.") < words.index("now It costs 24p.")


def test_cost_and_latency_changes_come_in_their_units() -> None:
    run = demo_run("birch")
    words = section(html_report(run, compared(demo_run("aster"), run)), "comparison")
    assert re.search(r"latency 160 808 ms 1\.4\d s \+597 ms \[\+84 ms, \+1\.11 s\]", words)
    assert re.search(r"cost 160 \$0\.00016 \$0\.00019 \+\$0\.000034", words)


def test_a_hostile_baseline_stays_text() -> None:
    options = compared(hostile_run(), hostile_run())
    assert isinstance(options.comparison, Comparison)
    page = Page(html_report(hostile_run(), options))
    assert {tag for tag, _ in page.elements} <= ALLOWED
    assert HOSTILE[0] in page.text
    for token in tokens(write_markdown(hostile_run(), options=options)):
        assert token.type not in ("link_open", "image")


def test_the_ending_of_the_path_says_what_is_written(tmp_path: Path) -> None:
    run = demo_run(limit=2)
    write_report(run, tmp_path / "a.html")
    write_report(run, tmp_path / "a.md")
    assert (tmp_path / "a.html").read_text("utf-8").startswith("<!doctype html>")
    assert (tmp_path / "a.md").read_text("utf-8").startswith("**🔵 SCORED**")
    for wrong in ("a.pdf", "a", ""):
        with pytest.raises(UsageError):
            check_report_path(tmp_path / wrong)
