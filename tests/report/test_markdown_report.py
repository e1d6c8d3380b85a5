"""The comment: the same facts, and nothing in it that a renderer would take for markup of others."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from evalsi.report.markdown_report import MOST_CHARACTERS, code, fenced, write_markdown
from tests.graded_runs import HOSTILE, awkward_run, demo_evaluators, demo_run, gate, graded_run, hostile_run

OURS = re.compile(r"</?(details|summary|code|sub)>")


def tokens(text: str):
    for token in MarkdownIt("gfm-like", {"linkify": False}).parse(text):
        yield token
        yield from token.children or ()


@pytest.mark.parametrize("make", [hostile_run, demo_run, awkward_run, lambda: graded_run([], demo_evaluators("aster"))])
def test_a_renderer_finds_no_link_image_or_element_that_is_not_ours(make) -> None:
    for token in tokens(write_markdown(make())):
        assert token.type not in ("link_open", "image", "code_block"), token
        if token.type in ("html_block", "html_inline"):
            rest = re.sub(r"<summary>.*</summary>", "", token.content)
            assert re.sub(OURS, "", rest).strip() == "", token.content
            inside = "".join(re.findall(r"<code>(.*?)</code>", token.content))
            assert "<" not in inside
        if token.type == "text":
            assert "@" not in token.content
            assert "://" not in token.content
            assert "window" not in token.content


@given(st.text(max_size=200) | st.sampled_from(HOSTILE))
def test_a_code_span_holds_everything_it_was_given(text: str) -> None:
    found = list(tokens(f"| a |\n|--|\n| {code(text)} |\n"))
    assert sum(token.type == "code_inline" for token in found) == 1
    assert sum(token.type == "tr_open" for token in found) == 2
    assert not [token for token in found if token.type in ("html_inline", "link_open", "image")]


@given(
    st.text(max_size=300)
    | st.lists(st.sampled_from(["`", "~", "\n", "x", "</details>", "    "]), max_size=40).map("".join)
)
def test_a_fence_is_closed_by_its_own_end_only(text: str) -> None:
    found = [token.type for token in tokens(f"{fenced(text)}\n\nafter\n")]
    assert found == ["fence", "paragraph_open", "inline", "text", "paragraph_close"]


def test_the_comment_says_verdict_metrics_slices_and_worst_records() -> None:
    run = demo_run(gates=[gate("correctness", least=0.8, value=0.741)])
    text = write_markdown(run)
    assert text.startswith("**❌ FAIL** `correctness` mean 0.741 [0.675, 0.807]; the gate asks for ≥ 0.8.")
    assert "| `correctness` | 145 | **0.741** | [0.675, 0.807] | 0 | 15 | 91% (145/160) |" in text
    assert "▼ `difficulty` = `hard`: `correctness`" in text
    assert "<details><summary>Lowest by <code>correctness</code></summary>" in text
    assert "15 × `judge_parse` in `correctness`" in text
    assert text.count("<details>") == text.count("</details>") == 2
    assert "evalsi `0.1.0`</sub>" in text


def test_the_comment_fits_where_comments_are_posted() -> None:
    for make in (hostile_run, awkward_run, demo_run):
        assert len(write_markdown(make())) <= MOST_CHARACTERS
