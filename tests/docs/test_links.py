"""Every link of every page leads somewhere: to a file that is there and a heading that it has."""

import re
from pathlib import Path

import pytest

from tests.docs.pages import ROOT, name_of, needs_of, pages, prose_of

_LINK = re.compile(r"(?<!!)\[[^\]]*\]\(([^)\s]+)\)")


def headings_of(page: Path) -> set[str]:
    """The anchors that GitHub makes of a page's headings."""
    found: set[str] = set()
    for line in prose_of(page).splitlines():
        if match := re.match(r"#{1,6}\s+(.*)", line):
            text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", match[1])
            found.add(re.sub(r"[^\w\- ]", "", text.strip().lower()).replace(" ", "-"))
    return found


@pytest.mark.parametrize("page", pages(), ids=name_of)
def test_every_link_leads_to_a_file_and_heading_that_are_there(page: Path) -> None:
    broken: list[str] = []
    for target in _LINK.findall(prose_of(page)):
        if target.startswith(("https://", "mailto:")):
            continue
        assert not target.startswith("http:"), f"{target} is not encrypted"
        path, _, anchor = target.partition("#")
        found = (page.parent / path).resolve() if path else page
        if (
            not found.exists()
            or ROOT not in (found, *found.parents)
            or (anchor and found.suffix == ".md" and anchor not in headings_of(found))
        ):
            broken.append(target)
    assert not broken


@pytest.mark.parametrize("page", [page for page in pages() if needs_of(page)], ids=name_of)
def test_a_page_says_where_the_files_are_that_its_commands_read(page: Path) -> None:
    linked = {(page.parent / target.partition("#")[0]).resolve() for target in _LINK.findall(prose_of(page))}
    read = [ROOT / need.rpartition(" ")[2] for need in needs_of(page) if need not in ("starter", "model", "server")]
    assert [str(file) for file in read if not linked & {file, file.parent}] == []


def test_every_page_of_the_docs_is_linked_from_another() -> None:
    linked: set[Path] = set()
    for page in pages():
        for target in _LINK.findall(prose_of(page)):
            if not target.startswith("http"):
                linked.add((page.parent / target.partition("#")[0]).resolve())
    lost = [name_of(page) for page in pages() if page.is_relative_to(ROOT / "docs") and page not in linked]
    assert not lost
