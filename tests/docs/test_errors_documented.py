"""Every error code has a page, every page an error, and each says what it means and what to do."""

from pathlib import Path

import pytest

from evalsi.core.errors import EvalsiError, MeasurementError, every_error
from tests.docs.pages import ROOT, prose_of

PAGES = ROOT / "docs" / "errors"
ERRORS = every_error()


def page_of(kind: type[EvalsiError]) -> Path:
    return PAGES / f"{kind.code}.md"


def test_every_error_has_a_code_of_its_own_and_a_page() -> None:
    codes = [kind.code for kind in ERRORS]
    assert len(set(codes)) == len(codes)
    assert {path.stem for path in PAGES.glob("*.md")} == set(codes)


@pytest.mark.parametrize("kind", ERRORS, ids=lambda kind: kind.code)
def test_the_page_of_an_error_says_what_it_means_and_what_to_do(kind: type[EvalsiError]) -> None:
    text = page_of(kind).read_text(encoding="utf-8")
    assert text.startswith(f"# {kind.code}\n\n")
    assert kind is EvalsiError or "## What to do" in text


@pytest.mark.parametrize(
    "kind",
    [k for k in ERRORS if not issubclass(k, MeasurementError) and k is not EvalsiError],
    ids=lambda kind: kind.code,
)
def test_the_page_states_the_exit_status_of_the_error(kind: type[EvalsiError]) -> None:
    assert f"Exit status {kind.exit_status}." in prose_of(page_of(kind))


@pytest.mark.parametrize("kind", [k for k in ERRORS if issubclass(k, MeasurementError)], ids=lambda kind: kind.code)
def test_the_page_states_the_kind_of_a_measurement_error(kind: type[MeasurementError]) -> None:
    assert f"`{kind.kind}`" in prose_of(page_of(kind))
