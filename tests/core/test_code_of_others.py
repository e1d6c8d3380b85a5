"""Code of others that takes the main thread or the event loop for itself."""

import asyncio
import signal
import time
from pathlib import Path

import pytest

from evalsi.core.errors import DeadlineError, PluginError
from evalsi.core.giving_way import giving_way
from evalsi.core.python_module import load_module


@pytest.mark.parametrize("forever", ["import time; time.sleep(1e6)", "while True: pass"])
def test_an_import_that_never_ends_is_ended_and_told(forever: str, tmp_path: Path) -> None:
    (tmp_path / "stuck.py").write_text(f"try:\n    {forever}\nexcept Exception:\n    pass\n")
    started = time.perf_counter()
    with pytest.raises(PluginError, match=r"stuck\.py cannot be loaded: its import has not ended after 0\.2 s"):
        load_module("stuck.py", folder=tmp_path, deadline_s=0.2)
    assert time.perf_counter() - started < 30
    assert signal.getsignal(signal.SIGALRM) is signal.SIG_DFL


def test_awaited_code_that_holds_the_event_loop_up_is_ended_and_what_waits_beside_it_goes_on() -> None:
    async def selfish() -> None:
        await asyncio.gather(inner())

    async def inner() -> None:
        time.sleep(1e6)

    async def patient() -> str:
        await asyncio.sleep(0.05)
        return "done"

    async def both() -> tuple[object, ...]:
        waiting = asyncio.create_task(patient())
        with pytest.raises(DeadlineError, match=r"kept the event loop to itself for 0\.2 s"):
            await giving_way(selfish(), 0.4)
        return (await waiting, await giving_way(patient(), 0.4))

    assert asyncio.run(both()) == ("done", "done")
    assert signal.getsignal(signal.SIGALRM) is signal.SIG_DFL


def test_code_that_is_slow_but_gives_way_is_left_alone() -> None:
    async def slow() -> str:
        for _ in range(12):
            time.sleep(0.1)
            await asyncio.sleep(0)
        return "done"

    assert asyncio.run(giving_way(slow(), 1.0)) == "done"


def test_awaited_code_cannot_stop_the_event_loop() -> None:
    async def stopping() -> None:
        asyncio.get_running_loop().stop()
        await asyncio.sleep(1e6)

    async def run() -> str:
        with pytest.raises(RuntimeError, match="not this code's to stop"):
            await giving_way(stopping(), 5.0)
        return "still there"

    assert asyncio.run(run()) == "still there"
