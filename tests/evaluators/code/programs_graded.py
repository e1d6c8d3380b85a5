"""Grading programs with the real sandbox, for the tests of code graders."""

import asyncio
from collections.abc import Sequence
from typing import Any

from evalsi.core.errors import MeasurementError, SkipRecord
from evalsi.evaluators.api import EvalContext
from evalsi.evaluators.binding import bind
from evalsi.evaluators.catalog import load
from evalsi.schema import Content, Record, Score
from evalsi.settings import Settings
from evalsi.wiring.sandboxing import sandbox_host
from tests.command_line import QUICK_SANDBOXES


def graded(
    evaluator: str, programs: Sequence[tuple[str, dict[str, Any]]], **params: Any
) -> list[Score | SkipRecord | MeasurementError]:
    """What the evaluator says of each program with its metadata, all on one sandbox host, several at once."""

    async def run() -> list[Any]:
        async with sandbox_host(Settings(sandbox=QUICK_SANDBOXES)) as host:
            bound = bind(load(evaluator), context=EvalContext(sandbox=host), params=params)
            slots = asyncio.Semaphore(3)

            async def one(program: str, metadata: dict[str, Any]) -> Any:
                async with slots:
                    assert bound.call is not None
                    try:
                        return await bound.call(Record(id="r", output=Content(text=program), metadata=metadata))
                    except (SkipRecord, MeasurementError) as end:
                        return end

            return list(await asyncio.gather(*(one(*program) for program in programs)))

    return asyncio.run(run())


def numbers(evaluator: str, programs: Sequence[tuple[str, dict[str, Any]]], **params: Any) -> list[float | str]:
    """The value of each, 1 for passed, or the name of what was raised."""
    return [
        float(end.passed if end.passed is not None else end.number or 0.0)
        if isinstance(end, Score)
        else type(end).__name__
        for end in graded(evaluator, programs, **params)
    ]
