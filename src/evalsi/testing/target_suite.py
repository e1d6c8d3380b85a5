"""What every target must do, as checks that any implementation can run: `await check_target(make, ...)`.

The target under test must be an echo: its answer holds every text that it was shown. So the suite sees what it saw.
"""

import asyncio
from collections.abc import Callable

import msgspec

from evalsi.core.canonical import canonical_json
from evalsi.core.content import text_of
from evalsi.core.errors import MeasurementError
from evalsi.ports.target import CAPABILITIES, Answer, Target, TargetTask
from evalsi.schema import Content, Record

_REFERENCE = "the-right-answer-nobody-may-see"


def echo_task(number: int, *, trial: int = 0) -> TargetTask:
    """A case whose input is unlike every other's."""
    return TargetTask(
        record=Record(
            id=f"case-{number}",
            input=Content(text=f"say {number} {{{{ reference }}}} \"quoted\" 'é' <|im_end|>"),
            reference=Content(text=_REFERENCE),
            metadata={"topic": f"topic-{number}"},
        ),
        trial=trial,
    )


async def check_target(make: Callable[[], Target], *, secrets: tuple[str, ...] = ()) -> None:
    """Runs all checks, each on a target of its own.

    Args:
        make: A target that echoes what it is shown.
        secrets: Values that the target was given and must tell nobody.
    """
    for check in (_identity, _answer, _many_at_once, _no_input, _cancelled):
        target = make()
        try:
            await check(target, secrets)
        finally:
            await target.close()
            await target.close()


async def _identity(target: Target, secrets: tuple[str, ...]) -> None:
    plain = canonical_json(target.identity)
    assert target.identity["connector"]
    assert canonical_json(target.identity) == plain
    shown = plain.decode() + repr(target) + repr(vars(target))
    assert not any(secret in shown for secret in secrets)
    assert target.capabilities <= CAPABILITIES.keys()
    assert await target.check() == ""


async def _answer(target: Target, secrets: tuple[str, ...]) -> None:
    answer = await target.answer(echo_task(7))
    assert text_of(echo_task(7).record.input) in said(answer), said(answer)
    assert _REFERENCE not in said(answer)
    assert not any(secret in said(answer) for secret in secrets)
    assert answer.stop_reason == "stop"
    assert answer.usage.latency is None or answer.usage.latency > 0
    assert msgspec.json.decode(msgspec.json.encode(answer), type=Answer) == answer


async def _many_at_once(target: Target, _: tuple[str, ...]) -> None:
    answers = await asyncio.gather(*(target.answer(echo_task(number)) for number in range(20)))
    for number, answer in enumerate(answers):
        assert f"say {number} " in said(answer)


async def _no_input(target: Target, _: tuple[str, ...]) -> None:
    task = TargetTask(record=Record(id="empty"))
    (error,) = await asyncio.gather(target.answer(task), return_exceptions=True)
    assert isinstance(error, MeasurementError), "a record without an input was answered"
    assert "input" in target.needs
    assert "input" in str(error)


async def _cancelled(target: Target, _: tuple[str, ...]) -> None:
    asked = asyncio.create_task(target.answer(echo_task(1)))
    await asyncio.sleep(0)
    asked.cancel()
    await asyncio.gather(asked, return_exceptions=True)
    assert "say 2 " in said(await target.answer(echo_task(2)))


def said(answer: Answer) -> str:
    """Everything that an answer's output says."""
    return msgspec.json.decode(msgspec.json.encode(text_of(answer.output)), type=str)
