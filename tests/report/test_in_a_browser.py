"""The page in Chromium: hostile text does nothing, nothing is asked for, keys work, nothing overflows."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from evalsi.report.html_report import write_html
from evalsi.results.graded_run import GradedRun
from tests.browser import CHROMIUM, Tab, chromium
from tests.graded_runs import awkward_run, demo_run, graded_run, hostile_run

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(CHROMIUM is None, reason="needs Chromium (Debian package: chromium)"),
]


def visit(
    folder: Path,
    run: GradedRun,
    look: Callable[[Tab, Path], Awaitable[None]],
    change: Callable[[str], str] = str,
) -> None:
    page = folder / "report.html"
    write_html(run, page)
    page.write_text(change(page.read_text("utf-8")), "utf-8")

    async def go() -> None:
        async with asyncio.timeout(90), chromium(folder / "profile") as tab:
            await look(tab, page)

    asyncio.run(go())


def test_hostile_text_never_runs_and_nothing_is_asked_for(tmp_path: Path) -> None:
    async def look(tab: Tab, page: Path) -> None:
        await tab.open(page)
        await tab.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
        await tab.evaluate(
            "document.querySelectorAll('body *').forEach((one) => {"
            " for (const kind of ['mouseover', 'focus', 'click']) one.dispatchEvent(new MouseEvent(kind, {bubbles: true})); })"
        )
        await asyncio.sleep(0.3)
        assert await tab.evaluate("typeof window.hit") == "undefined"
        assert await tab.evaluate("document.querySelectorAll('script').length") == 1
        assert await tab.evaluate("document.querySelectorAll('img, iframe, object, embed, form, base').length") == 0
        assert [one for one in tab.requests if not one.startswith(("file:", "data:,"))] == []

    visit(tmp_path, hostile_run(), look)


def test_a_script_that_slipped_in_would_be_stopped_by_the_policy(tmp_path: Path) -> None:
    async def look(tab: Tab, page: Path) -> None:
        await tab.open(page)
        await asyncio.sleep(0.2)
        assert await tab.evaluate("typeof window.hit") == "undefined"
        assert await tab.evaluate("document.querySelector('.tools').hidden") is False  # our own script does run

    smuggled = "<main><script>window.hit=1</script><img src='x' onerror='window.hit=1'>"
    visit(tmp_path, demo_run(limit=5), look, lambda text: text.replace("<main>", smuggled))


@pytest.mark.parametrize("make", [demo_run, hostile_run, awkward_run, lambda: graded_run([], [])])
def test_nothing_overflows_on_a_telephone(tmp_path: Path, make: Callable[[], GradedRun]) -> None:
    async def look(tab: Tab, page: Path) -> None:
        for width in (390, 1400):
            await tab.open(page, width=width, height=844, scheme="dark")
            await tab.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
            assert await tab.evaluate("document.documentElement.scrollWidth") == width

    visit(tmp_path, make(), look)


def test_keys_move_between_records_open_their_json_and_filter(tmp_path: Path) -> None:
    async def look(tab: Tab, page: Path) -> None:
        await tab.open(page)
        focused = "document.activeElement.closest('details.case')?.id"
        await tab.press("j")
        assert await tab.evaluate(focused) == "case-0-0"
        await tab.press("j")
        assert await tab.evaluate(focused) == "case-0-1"
        await tab.press("k")
        assert await tab.evaluate(focused) == "case-0-0"
        await tab.press("r")
        assert await tab.evaluate("document.querySelector('#case-0-0 details.raw').open") is True
        await tab.press("?")
        assert await tab.evaluate("document.getElementById('keys').hidden") is False
        await tab.press("/")
        assert await tab.evaluate("document.activeElement.id") == "filter"
        for letter in "tariffs-06":
            await tab.press(letter)
        shown = "[...document.querySelectorAll('details.case')].filter((one) => !one.hidden).length"
        assert await tab.evaluate(shown) == 1

    visit(tmp_path, demo_run(), look)
