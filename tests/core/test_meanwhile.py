"""What is needed later is loaded while a job waits, and not before its questions are out."""

import asyncio
import sys
from pathlib import Path
from time import perf_counter

import pytest

from evalsi.core.meanwhile import LOOK_S, load_meanwhile


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    (tmp_path / "needed_later.py").write_text("")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "needed_later", raising=False)
    return "needed_later"


def test_a_busy_event_loop_goes_on_before_anything_is_loaded(module: str) -> None:
    async def work() -> bool:
        loading = asyncio.create_task(load_meanwhile([module]))
        for _ in range(5):
            await asyncio.sleep(0)
            until_s = perf_counter() + 4 * LOOK_S
            while perf_counter() < until_s:
                """Busy, as a loop is that opens connections."""
        was_loaded = module in sys.modules
        await loading
        return was_loaded

    assert asyncio.run(work()) is False
    assert module in sys.modules


def test_loading_that_is_not_needed_any_more_ends_with_the_job(module: str) -> None:
    async def work() -> None:
        loading = asyncio.create_task(load_meanwhile([module]))
        await asyncio.sleep(0)
        loading.cancel()
        await asyncio.gather(loading, return_exceptions=True)

    asyncio.run(work())
    assert module not in sys.modules
