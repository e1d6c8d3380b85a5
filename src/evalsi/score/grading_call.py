"""A call for grades as it crosses from a server to a worker process, and the answer back.

Its own module because both ends must agree and neither may know the other. Errors of the tree cross as `CarriedError`, so
the server answers with the same sentence as if it had graded itself.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import msgspec

from evalsi.core.carried_error import CarriedError
from evalsi.core.errors import EvalsiError, UsageError
from evalsi.core.own_traces import span, traceparent
from evalsi.engine.panel import Panel
from evalsi.evaluators.api import EvalContext
from evalsi.evaluators.binding import manifest_of
from evalsi.evaluators.catalog import every_definition
from evalsi.ports.closable import Closable
from evalsi.ports.spent import Spent
from evalsi.schema import EvaluatorManifest, EvaluatorRef, JudgeSpec, Record
from evalsi.score.grade_records import (
    Grading,
    bind_panel,
    grade_records,
    judges_wanted,
    packed_grading,
    unpacked_grading,
)


class GradeCall(msgspec.Struct, tag="grade", array_like=True):
    """Records to grade, and by whom."""

    records: list[Record]
    evaluators: list[EvaluatorRef]
    judge: str = ""
    judges: dict[str, JudgeSpec] = {}
    """The judges that the caller may name."""
    project: str = ""
    """Whose judges' use it is."""
    traceparent: str = ""
    """The span in which it was asked for."""


class CatalogCall(msgspec.Struct, tag="catalog", array_like=True):
    """Asks what is installed, plugins included."""


class GradeAnswer(msgspec.Struct, tag="grades", array_like=True):
    packed: bytes
    spent: Spent | None = None
    """What judges used for it."""


class CatalogAnswer(msgspec.Struct, tag="catalog", array_like=True):
    manifests: list[EvaluatorManifest]
    broken: dict[str, str]
    """What is wrong with each plugin that cannot be loaded, by its name."""


_CALLS = msgspec.msgpack.Decoder(GradeCall | CatalogCall)
_ANSWERS = msgspec.msgpack.Decoder(GradeAnswer | CatalogAnswer | CarriedError)


@dataclass(frozen=True, kw_only=True)
class GradingTools:
    """What a worker grades with. It is made once and serves every call, on one event loop."""

    lend: Callable[[set[str], Mapping[str, JudgeSpec]], Mapping[str, EvalContext]] = lambda _names, _judges: {}
    """What evaluators are lent, by the name of the judge in it, for the names that there are judges for; "" is what those
    are lent that name none, also where there is no judge.

    Raises: EvalsiError: a judge is not set up right.
    """
    spent: Callable[[str], Spent] = lambda project: Spent(project=project, role="judge")
    """What the judges have used since this was asked last, as a project's."""
    limits: Panel = field(default_factory=lambda: Panel(evaluators=()))
    lent: Sequence[Closable] = ()
    """What is to be closed at the end."""

    async def close(self) -> None:
        for each in self.lent:
            await each.close()


def grade_call(
    records: list[Record],
    evaluators: Sequence[EvaluatorRef],
    judge: str = "",
    judges: Mapping[str, JudgeSpec] | None = None,
    project: str = "",
) -> bytes:
    """The bytes a worker takes for a `GradeCall`. Raises: UsageError: a number in it has more than 64 bits."""
    try:
        return msgspec.msgpack.encode(
            GradeCall(records, list(evaluators), judge, dict(judges or {}), project, traceparent())
        )
    except OverflowError:
        raise UsageError(
            "a whole number in the records or params has more than 64 bits", hint="send it as text"
        ) from None


def catalog_call() -> bytes:
    return msgspec.msgpack.encode(CatalogCall())


async def answer_call(body: bytes, tools: GradingTools) -> bytes:
    """What a worker answers. Errors of the tree become answers; all others end the process, which the server sees."""
    call = _CALLS.decode(body)
    try:
        if isinstance(call, CatalogCall):
            return msgspec.msgpack.encode(_catalog())
        with span("grade", {"evalsi.records": len(call.records)}, parent=call.traceparent):
            judges = tools.lend(judges_wanted(call.evaluators, call.judge), call.judges)
            panel = bind_panel(call.evaluators, judges, judge=call.judge, limits=tools.limits)
            grading = await grade_records(panel, call.records)
            return msgspec.msgpack.encode(GradeAnswer(packed_grading(grading), tools.spent(call.project) or None))
    except EvalsiError as error:
        return msgspec.msgpack.encode(CarriedError.of(error))


def read_grading(answer: bytes) -> tuple[Grading, Spent | None]:
    """The grading in an answer, and what judges used for it. Raises: EvalsiError: what the worker found wrong."""
    found = _ANSWERS.decode(answer)
    if isinstance(found, CarriedError):
        raise found.as_error()
    assert isinstance(found, GradeAnswer)
    return unpacked_grading(found.packed), found.spent


def read_catalog(answer: bytes) -> CatalogAnswer:
    """The catalog in an answer. Raises: EvalsiError: what the worker found wrong."""
    found = _ANSWERS.decode(answer)
    if isinstance(found, CarriedError):
        raise found.as_error()
    assert isinstance(found, CatalogAnswer)
    return found


def _catalog() -> CatalogAnswer:
    manifests: list[EvaluatorManifest] = []
    broken: dict[str, str] = {}
    for name, definition in every_definition():
        if isinstance(definition, EvalsiError):
            broken[name] = str(definition)
        else:
            manifests.append(manifest_of(definition))
    return CatalogAnswer(manifests, broken)
