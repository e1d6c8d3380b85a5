"""Modules that are needed later, loaded while a job waits for others to answer.

Its own module because numpy and what draws tables take longer to load than many a model to answer, and whoever asked is
idle then. It happens on the thread of the event loop, a module at a time: beside it, it would take the interpreter from
whoever reads the answers.
"""

import asyncio
import sys
from collections.abc import Iterable
from importlib import import_module
from time import perf_counter

LOOK_S = 0.004
LOOKS = 50
"""How often is looked whether the event loop has nothing to do, at most; who is never idle loads all the same."""


async def load_meanwhile(modules: Iterable[str]) -> None:
    """Loads the modules, each once the event loop is idle, as it is when all questions are out."""
    looks = LOOKS
    for name in modules:
        while looks and name not in sys.modules:
            looks -= 1
            begun_s = perf_counter()
            await asyncio.sleep(LOOK_S)
            if perf_counter() - begun_s < 1.5 * LOOK_S:
                break
        import_module(name)
        await asyncio.sleep(0)
