"""Answers from a file, and a target that writes such a file: a run without a network, the same every time.

A recording is JSON Lines, one question and its answer per line:

    {"question": "sha256:...", "target": "sha256:...", "answer": {"output": {"text": "4"}, ...}, "record": "r1", "trial": 0}

`question` is the digest of what the target saw of the record, its id and the number of the repetition, so that repetitions
stay distinct answers. `target` is the digest of the target's identity without its address: a changed prompt, model or
setting finds nothing, a changed host finds the same. Failures are not recorded. Of several lines for one question the
first counts.
"""

import asyncio
from pathlib import Path
from typing import Any

import msgspec

from evalsi.core.canonical import digest
from evalsi.core.errors import InvalidDataError, NotFoundError, ProviderError
from evalsi.infra.targets.questions import visible_record
from evalsi.ports.target import CAPABILITIES, Answer, Target, TargetTask
from evalsi.schema import ErrorKind, Fault

CONNECTOR = "recorded"


class RecordedAnswer(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True):
    """One line of a recording. `record`, `trial` and `model` are for people."""

    question: str
    target: str
    answer: Answer
    record: str = ""
    trial: int = 0
    model: str = ""


def question_key(task: TargetTask) -> str:
    """Digest of what is asked, whoever is asked."""
    seen = msgspec.to_builtins(visible_record(task.record))
    return digest({"record": seen, "trial": task.trial, "seed": task.seed})


def target_key(target: Target) -> str:
    """Digest of who is asked and how, without where."""
    return digest({name: value for name, value in target.identity.items() if name != "address"})


class RecordedTarget:
    """Implements `ports.target.Target` from a recording.

    Args:
        path: The recording.
        original: The target whose answers are wanted; it is not asked. None takes whoever answered first.

    Raises:
        NotFoundError: there is no such file.
        InvalidDataError: a line is no recorded answer; names it.
    """

    def __init__(self, path: Path, original: Target | None = None) -> None:
        self._path = path
        self._original = original
        self._key = None if original is None else target_key(original)
        self._answers: dict[tuple[str, str | None], Answer] = {}
        for line in read_answers(path):
            self._answers.setdefault((line.question, line.target), line.answer)
            self._answers.setdefault((line.question, None), line.answer)

    def __len__(self) -> int:
        return sum(target is None for _, target in self._answers)

    @property
    def identity(self) -> dict[str, Any]:
        """The original's, or the content of the recording: another recording is another target."""
        if self._original is not None:
            return self._original.identity
        content = {
            question: msgspec.to_builtins(answer) for (question, key), answer in self._answers.items() if not key
        }
        return {"connector": CONNECTOR, "recording": digest(content)}

    @property
    def capabilities(self) -> frozenset[str]:
        """The original's, or all: whatever was answered is there."""
        return frozenset(CAPABILITIES) if self._original is None else self._original.capabilities

    @property
    def needs(self) -> frozenset[str]:
        """The original's, or nothing: what was asked was answered."""
        return frozenset() if self._original is None else self._original.needs

    async def check(self) -> str:
        """It was read, so it is there."""
        return ""

    async def answer(self, task: TargetTask) -> Answer:
        """See `ports.target.Target.answer`. Raises: ProviderError: this was never recorded."""
        question = question_key(task)
        found = self._answers.get((question, self._key))
        if found is not None:
            return _as_replayed(found)
        same = (question, None) in self._answers
        error = ProviderError(
            f"the recording {self._path.name} has no answer of this target to record {task.record.id!r}, "
            f"repetition {task.trial}",
            kind=ErrorKind.PROVIDER_REJECTED,
            detail=question,
        )
        error.fault = Fault.SETTINGS
        error.hint = "record again: " + (
            "the target's settings have changed" if same else "the record or the number of repetitions has changed"
        )
        raise error

    async def close(self) -> None:
        """Closes the original, which was never opened."""
        if self._original is not None:
            await self._original.close()


class RecordingTarget:
    """A target that asks another one and appends every new answer to a recording.

    Each line is on disk when the answer is handed on, so that a run that is stopped loses nothing it has paid for.
    """

    def __init__(self, target: Target, path: Path) -> None:
        self._target = target
        self._path = path
        self._key = target_key(target)
        known: list[RecordedAnswer] = []
        if path.exists():
            known = read_answers(path)
            _drop_half_line(path)
        self._known = {(line.question, line.target) for line in known}
        self._turn = asyncio.Lock()

    @property
    def identity(self) -> dict[str, Any]:
        """The one of the target that is asked."""
        return self._target.identity

    @property
    def capabilities(self) -> frozenset[str]:
        """The ones of the target that is asked."""
        return self._target.capabilities

    @property
    def needs(self) -> frozenset[str]:
        """The ones of the target that is asked."""
        return self._target.needs

    async def check(self) -> str:
        """See `ports.target.Target.check`."""
        return await self._target.check()

    async def answer(self, task: TargetTask) -> Answer:
        """See `ports.target.Target.answer`."""
        answer = await self._target.answer(task)
        question = question_key(task)
        if (question, self._key) not in self._known:
            self._known.add((question, self._key))
            line = RecordedAnswer(
                question=question,
                target=self._key,
                answer=answer,
                record=task.record.id,
                trial=task.trial,
                model=answer.model,
            )
            async with self._turn:
                await asyncio.to_thread(_append, self._path, msgspec.json.encode(line) + b"\n")
        return answer

    async def close(self) -> None:
        """Closes the target that is asked."""
        await self._target.close()


def read_answers(path: Path) -> list[RecordedAnswer]:
    """Every line of a recording. A last line that was cut off when the writer was stopped is left out.

    Raises: NotFoundError, InvalidDataError.
    """
    try:
        content = path.read_bytes()
    except OSError as error:
        raise NotFoundError(f"the recording cannot be read: {error.strerror}", where=str(path)) from error
    lines = content.split(b"\n")
    found: list[RecordedAnswer] = []
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            found.append(_LINE.decode(line))
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            if number == len(lines):
                break
            raise InvalidDataError(f"this line is no recorded answer: {error}", where=f"{path}:{number}") from error
    return found


_LINE = msgspec.json.Decoder(RecordedAnswer)


def _as_replayed(answer: Answer) -> Answer:
    """Nothing is asked and nothing spent now: the cost is what it was then."""
    usage = answer.usage
    return msgspec.structs.replace(
        answer,
        usage=msgspec.structs.replace(
            usage,
            cached=True,
            cost_usd=None if usage.cost_usd is None else 0.0,
            cached_cost_usd=usage.cost_usd if usage.cached_cost_usd is None else usage.cached_cost_usd,
            requests=0,
        ),
    )


def _drop_half_line(path: Path) -> None:
    """Removes what a writer that was stopped left behind the last complete line."""
    with path.open("rb+") as file:
        content = file.read()
        file.truncate(content.rfind(b"\n") + 1)


def _append(path: Path, line: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("ab") as file:
        file.write(line)
