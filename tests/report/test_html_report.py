"""The page: complete in itself, escaped everywhere, and saying the same as the run."""

import base64
import hashlib
import re
from html.parser import HTMLParser
from pathlib import Path

import pytest

from evalsi import evaluate
from evalsi.core.errors import MeasurementError
from evalsi.engine.columns import ColumnsBuilder
from evalsi.evaluators.api import EvalContext
from evalsi.evaluators.binding import bind
from evalsi.evaluators.catalog import load
from evalsi.report.case_view import case_view, score_text
from evalsi.report.error_groups import FailureTally
from evalsi.report.html_report import html_report, write_html
from evalsi.report.markdown_report import write_markdown
from evalsi.report.report_options import ReportOptions
from evalsi.report.worst_cases import Case
from evalsi.results.graded_run import GradedRun
from evalsi.results.stored_rows import encode_records
from evalsi.schema import Content, Message, Messages, Record, Score
from tests.graded_runs import (
    HOSTILE,
    awkward_run,
    demo_evaluators,
    demo_records,
    demo_run,
    gate,
    graded_run,
    hostile_run,
)

VOID = {"meta", "link", "br", "input", "img"}
ALLOWED = set(
    """
    html head meta link title style body a header span nav input button div dl dt dd kbd main section h1 h2 h3 p bdi strong ul
    li table caption thead tbody tr th td code ol svg line circle rect figure figcaption details summary mark pre b br footer script
    """.split()
)
"""Elements of our templates (`title` also inside bars); anything else came from the data."""
ATTRIBUTES = re.compile(
    r"lang|charset|http-equiv|content|name|rel|href|class|id|hidden|type|placeholder|aria-[a-z]+|autocomplete|role|dir|scope|"
    r"colspan|title|open|tabindex|x|y|x1|x2|y1|y2|cx|cy|r|width|height"
)


class Page(HTMLParser):
    """What a browser would build: elements, attributes, text, and whether tags are balanced."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.words: list[str] = []
        self.open: list[str] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open[-1] == tag, (self.open[-4:], tag, self.getpos())
        self.open.pop()

    def handle_data(self, data: str) -> None:
        self.words.append(data)

    @property
    def text(self) -> str:
        return re.sub(r"\s+", " ", "".join(self.words))


def section(page: str, name: str) -> str:
    found = re.search(rf'<section id="{name}".*?</section>', page, re.DOTALL)
    assert found is not None, name
    return re.sub(r"\s+", " ", Page(found[0]).text)


@pytest.mark.parametrize(
    "run",
    [
        pytest.param(lambda: graded_run([], demo_evaluators("aster")), id="no records"),
        pytest.param(lambda: demo_run(limit=1), id="1 record"),
        pytest.param(lambda: demo_run(limit=12), id="12 records"),
        pytest.param(demo_run, id="the demonstration"),
        pytest.param(hostile_run, id="hostile"),
        pytest.param(awkward_run, id="awkward"),
    ],
)
def test_every_page_is_balanced_and_made_of_our_elements_only(run) -> None:
    page = Page(html_report(run()))
    assert page.open == []
    for tag, attributes in page.elements:
        assert tag in ALLOWED, tag
        for name in attributes:
            assert ATTRIBUTES.fullmatch(name), (tag, name)


def test_the_page_asks_the_network_for_nothing() -> None:
    page = Page(html_report(hostile_run()))
    addresses = [
        value for _, attributes in page.elements for name, value in attributes.items() if name in ("href", "src")
    ]
    assert addresses
    assert all(value and (value.startswith("#") or value == "data:,") for value in addresses)


def test_the_security_policy_names_exactly_our_style_and_script() -> None:
    text = html_report(hostile_run())
    policy = next(a["content"] for t, a in Page(text).elements if t == "meta" and "http-equiv" in a)
    assert policy is not None
    assert policy.startswith("default-src 'none';")
    assert "unsafe" not in policy
    for kind in ("style", "script"):
        blocks = re.findall(rf"<{kind}>(.*?)</{kind}>", text, re.DOTALL)
        assert len(blocks) == 1
        digest = base64.b64encode(hashlib.sha256(blocks[0].encode()).digest()).decode()
        assert f"{kind}-src 'sha256-{digest}'" in policy
    assert " style=" not in re.sub(r"<style>.*?</style>", "", text, flags=re.DOTALL)


def test_hostile_text_is_shown_as_it_is_and_hidden_characters_are_named() -> None:
    text = html_report(hostile_run())
    shown = Page(text).text
    for one in HOSTILE:
        if one.isprintable() and one.isascii():
            assert one in shown, one
    for hidden in ("\u202e", "\x1b", "\x00", "\u2028", "\u200b"):
        assert hidden not in text
    for code in ("U+202E", "U+001B", "U+0000", "U+2028", "U+200B"):
        assert code in shown


def test_a_run_without_records_says_nothing_was_scored() -> None:
    page = Page(html_report(graded_run([], demo_evaluators("aster"))))
    assert "NOTHING SCORED" in page.text
    assert "The run holds no record" in page.text
    assert "nan" not in page.text.lower().split()


def test_metrics_stand_with_interval_and_everything_that_did_not_count() -> None:
    run = demo_run()
    page = html_report(run)
    metrics = section(page, "metrics")
    for summary in run.summaries:
        assert summary.metric in metrics
        if summary.ci is not None:
            assert f"[{summary.ci.low:.3f}, {summary.ci.high:.3f}]" in metrics or summary.metric == "words"
    correctness = run.summary("correctness")
    assert correctness is not None
    assert correctness.errors
    assert f"{correctness.n}/{correctness.total}" in metrics
    assert f"scored {correctness.n} of {correctness.total}" in Page(page).text


def test_worst_records_come_with_the_judge_s_words_and_what_was_wanted() -> None:
    worst = section(html_report(demo_run()), "worst")
    assert "Lowest by correctness" in worst
    assert "tariffs-01" in worst
    assert "Gives 24.1p, the price until 30 September 2026" in worst
    assert "25.4p per kWh" in worst
    assert '"id": "tariffs-01"' in worst


def test_examples_limit_the_worst_records_and_none_of_them_is_shown_twice() -> None:
    for examples in (0, 1, 3):
        page = html_report(demo_run(), ReportOptions(examples=examples))
        cases = [a["id"] for t, a in Page(page).elements if t == "details" and a.get("class") == "case"]
        assert len(cases) == 3 * examples
    ids = re.findall(r'title="record (\d+) of the dataset"', html_report(demo_run()))
    assert len(ids) == len(set(ids)) == 15


def test_unreadable_replies_are_grouped_and_kept_to_look_at() -> None:
    failures = section(html_report(demo_run()), "failures")
    assert "judge_parse" in failures
    assert "the judge's reply holds no verdict" in failures
    assert "the answer makes no claim" in failures


def test_usage_shows_medians_and_p95_of_answers_and_judge_calls() -> None:
    usage = section(html_report(demo_run()), "usage")
    assert "the answers" in usage
    assert "judge calls of correctness" in usage
    assert "607 ms" in usage


def test_the_manifest_says_what_could_not_be_held_fast_and_how_to_run_it_again() -> None:
    manifest = section(html_report(demo_run()), "manifest")
    assert "the provider may change what answers to this name" in manifest
    assert "evalsi eval --data aster.jsonl --evaluators correctness,token-overlap" in manifest
    assert "evalsi report 0m3k8x2p7q4rabcdefgh -o report.html" in manifest
    assert "9f2e" * 16 in manifest


def test_the_version_of_evalsi_stands_once_in_the_manifest() -> None:
    run = demo_run(about={"packages": {"evalsi": "1.0.0", "numpy": "2.3.1"}})
    software = section(html_report(run), "manifest").partition("Software")[2]
    assert (software.count("evalsi"), "numpy2.3.1" in software) == (1, True)


def test_a_failed_gate_opens_the_page_with_the_number_that_decided() -> None:
    run = demo_run(gates=[gate("holds-reference", least=0.1, value=0.256), gate("correctness", least=0.8, value=0.741)])
    text = Page(html_report(run)).text
    assert "FAIL correctness mean 0.741 [0.675, 0.807]; the gate asks for ≥ 0.8. 1 of 2 gates met." in text


def test_conversations_read_as_conversations() -> None:
    worst = section(html_report(awkward_run()), "worst")
    for words in (
        "get_balance",
        '{"account": "LK00012345"}',
        "What do I owe, and when is it due?",
        "timed out after 30 s",
    ):
        assert words in worst


def test_what_was_asked_is_shown_once_where_the_output_is_the_whole_conversation() -> None:
    asked = [Message(role="user", content="What do I owe?")]
    said = [*asked, Message(role="assistant", content="£42.10")]
    for before in (asked, [Message(role="user", content="Hello")], []):
        record = Record(
            id="1", input=Content(messages=Messages(messages=before)), output=Content(messages=Messages(messages=said))
        )
        view = case_view(Case(row=1, line=encode_records([record]), verdicts=[]), {}, metric="", anchor="a")
        assert [one.text for one in view.passages].count("What do I owe?") == 1
        assert view.passages[-1].text == "£42.10"


def test_only_what_is_better_high_passes_or_fails() -> None:
    records = [
        Record(id=str(n), output=Content(text=text)) for n, text in enumerate(("I cannot help with that.", "Sure."))
    ]
    run = evaluate(records, evaluators=["refusal"]).run
    for made in (html_report(run), write_markdown(run)):
        text = re.sub(r"<style.*?</style>|<script.*?</script>", "", made, flags=re.DOTALL)
        assert not re.search(r"[✓✕] (pass|fail)", text)
    assert "refusal 50% yes" in section(html_report(run), "distributions")
    said = {True: "yes", False: "no"}
    for value, word in said.items():
        assert score_text(Score(passed=value), better=None) == word
    assert score_text(Score(passed=True), better=False) == "✕ yes"
    assert score_text(Score(passed=False), better=True) == "✕ fail"


def test_the_file_appears_whole_or_not_at_all(tmp_path: Path) -> None:
    def fails():
        raise RuntimeError("the store went away")

    run = demo_run(limit=3)
    broken = GradedRun(source="x", manifest=run.manifest, summaries=run.summaries, read_rows=fails)
    target = tmp_path / "report.html"
    with pytest.raises(RuntimeError):
        write_html(broken, target)
    assert list(tmp_path.iterdir()) == []
    write_html(run, target)
    assert [path.name for path in tmp_path.iterdir()] == ["report.html"]
    assert target.read_text("utf-8") == html_report(run)


def test_the_same_run_gives_the_same_page() -> None:
    assert html_report(demo_run()) == html_report(demo_run())


def test_the_page_of_a_demonstration_run_stays_small() -> None:
    assert len(demo_records("birch")) == 160
    assert len(html_report(demo_run("birch"))) < 300_000


def test_errors_of_one_kind_are_told_apart_by_their_reason_and_not_by_its_numbers() -> None:
    tally = FailureTally(2)
    builder = ColumnsBuilder(bind(load("exact-match"), context=EvalContext()).definition, name="m", ref="m", rows=40)
    for row in range(40):
        reason = f"127.0.0.1:{row} answered 500" if row % 2 else f"broke off its answer to {f'r{row}'!r}"
        builder.fail(row, MeasurementError(f"reason {chr(65 + row)}" if row < 14 else reason))
    tally.add(builder.result, lambda row: f"r{row}")
    found = tally.finish()
    assert len(found) == 8
    assert sum(group.count for group in found) == 40
    tally = FailureTally(2)
    builder = ColumnsBuilder(bind(load("exact-match"), context=EvalContext()).definition, name="m", ref="m", rows=10)
    for row in range(10):
        builder.fail(row, MeasurementError(f"127.0.0.1:{row} answered 500" if row % 5 else f"broke off {f'r{row}'!r}"))
    tally.add(builder.result, lambda row: f"r{row}")
    assert [(group.count, group.reason) for group in tally.finish()] == [
        (8, "127.0.0.1:1 answered 500"),
        (2, "broke off 'r0'"),
    ]
