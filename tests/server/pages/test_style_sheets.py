"""The pages are drawn with the style sheet of reports and one of their own, so a class means one thing in both."""

import re

from evalsi.server.pages.assets_of_pages import asset

_MEANT = {".bar", ".gates", ".opening"}
"""Parts that pages have in common with reports, and set a little differently."""


def classes_styled_anywhere(name: str) -> set[str]:
    """The classes that a sheet styles wherever they stand, outside of its queries about media."""
    text = re.sub(r"/\*.*?\*/", "", asset(name).decode(), flags=re.DOTALL)
    text = re.sub(r"@media[^{]*\{(?:[^{}]*\{[^{}]*\})*[^{}]*\}", "", text)
    selectors = [one.strip() for found in re.findall(r"([^{}]+)\{", text) for one in found.split(",")]
    return {one for one in selectors if re.fullmatch(r"\.[\w-]+", one)}


def test_no_class_of_the_pages_gets_the_looks_of_another_thing_of_reports() -> None:
    base, pages = classes_styled_anywhere("base.css"), classes_styled_anywhere("pages.css")
    assert len(base) > 20
    assert len(pages) > 20
    assert base & pages == _MEANT
