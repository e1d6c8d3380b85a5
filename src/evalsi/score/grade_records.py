"""Scoring records that somebody sends and waits for: no dataset, no store, an answer in memory.

Its own module because a server grades so, in its own process or in a worker process, and both must mean the same. What
always holds: every grade comes from `engine`, and what leaves here can be packed, so that it may cross a process.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import msgspec

from evalsi.core.errors import DuplicateIdError, UnknownNameError, UsageError
from evalsi.engine.columns import EvaluatorColumns, pack, unpack
from evalsi.engine.evaluate import Evaluation, RecordBatch
from evalsi.engine.make_panel import bind_all
from evalsi.engine.panel import Panel
from evalsi.engine.summary import SummaryBuilder, SummaryPlan
from evalsi.evaluators.api import EvalContext
from evalsi.evaluators.binding import BoundEvaluator
from evalsi.evaluators.builtin import BUILTIN
from evalsi.evaluators.catalog import load
from evalsi.schema import (
    CiMethod,
    EvaluatorRef,
    MetricSpec,
    MetricSummary,
    Record,
    RewardComponent,
    Scope,
    SummaryOptions,
)

BATCH_RECORDS = 100
"""Records graded between two looks at the event loop."""


class EvaluatorCard(msgspec.Struct, frozen=True, kw_only=True):
    """What a summary needs to know of an evaluator, without its code."""

    name: str
    own_name: str
    ref: str
    scope: Scope
    outputs: list[MetricSpec]

    @classmethod
    def of(cls, evaluator: BoundEvaluator) -> "EvaluatorCard":
        return cls(
            name=evaluator.name,
            own_name=evaluator.own_name,
            ref=evaluator.ref,
            scope=evaluator.scope,
            outputs=list(evaluator.outputs),
        )


@dataclass(frozen=True, slots=True)
class Grading:
    """What every evaluator said about a list of records."""

    cards: Sequence[EvaluatorCard]
    """The evaluators, in the order they were asked for."""
    columns: list[EvaluatorColumns]
    """The per-record results, a row for each record."""
    whole: list[EvaluatorColumns]
    """The results of dataset scope (one row each) and session scope (a row for each session)."""


class _PackedGrading(msgspec.Struct, array_like=True):
    cards: list[EvaluatorCard]
    columns: bytes
    whole: bytes


_PACKED = msgspec.msgpack.Decoder(_PackedGrading)


def packed_grading(grading: Grading) -> bytes:
    """The grading as bytes, for another process."""
    return msgspec.msgpack.encode(_PackedGrading(list(grading.cards), pack(grading.columns), pack(grading.whole)))


def unpacked_grading(data: bytes) -> Grading:
    """The inverse of `packed_grading`."""
    found = _PACKED.decode(data)
    return Grading(found.cards, unpack(found.columns), unpack(found.whole))


def check_records(records: Sequence[Record], *, most: int) -> None:
    """Raises UsageError when there are more than `most`, DuplicateIdError when two carry one id."""
    if len(records) > most:
        raise UsageError(
            f"{len(records)} records are more than the {most} that one call takes",
            where="records",
            hint="send them in several calls, or as a stream",
        )
    if len({record.id for record in records}) == len(records):
        return
    seen: dict[str, int] = {}
    for index, record in enumerate(records):
        first = seen.setdefault(record.id, index)
        if first != index:
            what = f"the id {record.id!r}" if record.id else "no id"
            raise DuplicateIdError(
                f"records[{first}] and records[{index}] both have {what}", where=f"records[{index}].id"
            )


def check_installed(evaluators: Sequence[EvaluatorRef | RewardComponent], *, where: str = "evaluators") -> None:
    """Refuses evaluators that are not installed here but lie in some file or module: a caller must not choose what code runs.

    Args:
        where: The field that names them.
    Raises: UsageError, with the place of the reference.
    """
    for index, choice in enumerate(evaluators):
        if ":" in choice.ref or choice.ref.endswith(".py"):
            raise UsageError(
                f"{choice.ref!r} is code in a file or module, and a server runs only evaluators that are installed on it",
                where=f"{where}[{index}].ref",
                hint="have it installed as a plugin, or score on your own machine",
            )


def summary_plan(options: SummaryOptions | None) -> SummaryPlan:
    """The plan that a request asks for. Raises: UsageError: a level that is no fraction between 0 and 1."""
    if options is None:
        return SummaryPlan()
    if options.confidence_level and not 0 < options.confidence_level < 1:
        raise UsageError(
            f"{options.confidence_level} is no level of confidence",
            where="summary.confidence_level",
            hint="give a fraction such as 0.95",
        )
    return SummaryPlan(
        level=options.confidence_level or 0.95,
        cluster_by=options.cluster_by or None,
        method="bootstrap" if options.ci_method is CiMethod.BOOTSTRAP else "auto",
        seed=options.seed,
    )


def is_our_own(choice: EvaluatorRef) -> bool:
    """Whether the reference names an evaluator that comes with evalsi."""
    pack_name, _, name = choice.ref.partition("@")[0].rpartition("/")
    return any(name in names and pack_name in ("", "builtin", known) for known, names in BUILTIN.items())


def judges_wanted(evaluators: Sequence[EvaluatorRef], judge: str) -> set[str]:
    """Names of the judges that the evaluators will ask; "" is the one of those that name none.

    Raises: EvalsiError: an evaluator cannot be loaded.
    """
    named = {choice.judge for choice in evaluators if choice.judge}
    if judge or any("judge" in load(choice.ref).requires for choice in evaluators if not choice.judge):
        named.add(judge)
    return named


def bind_panel(
    evaluators: Sequence[EvaluatorRef],
    judges: Mapping[str, EvalContext],
    *,
    judge: str = "",
    limits: Panel | None = None,
) -> Panel:
    """The panel of a request.

    Args:
        judges: What evaluators are lent, by the name of a judge.
        judge: The judge for those that name none; "" for the usual one, where there is one.
        limits: Deadlines and widths, by default the panel's own.
    Raises: EvalsiError: what is wrong with an evaluator, its params or its judge.
    """
    if judge and judge not in judges:
        raise UnknownNameError("judge", judge, [name for name in judges if name], where="judge")
    bound = bind_all(evaluators, judges.get(judge, EvalContext()), judges)
    return Panel(evaluators=bound) if limits is None else replace(limits, evaluators=bound)


def grades_here(panel: Panel) -> bool:
    """Whether the panel may be graded in a process that has other things to do: all of it computes, in bounded time."""
    return all(
        evaluator.bounded and not evaluator.is_async and evaluator.scope in (Scope.RECORD, Scope.SPAN)
        for evaluator in panel.evaluators
    )


def grade_records_now(panel: Panel, records: list[Record]) -> Grading:
    """Grades in this thread; only where the panel `grades_here`."""
    evaluation = Evaluation(panel)
    graded = next(iter(evaluation.grade_now([RecordBatch(0, records)])))
    return Grading([EvaluatorCard.of(one) for one in panel.evaluators], graded.columns, [])


async def grade_records(panel: Panel, records: list[Record]) -> Grading:
    """Grades with everything the engine has: workers that can be killed, and judges asked side by side."""
    evaluation = Evaluation(panel)
    batch = RecordBatch(0, records)
    columns: list[EvaluatorColumns] = []
    async for graded in evaluation.grade([batch]):
        columns = graded.columns
    return Grading([EvaluatorCard.of(one) for one in panel.evaluators], columns, await evaluation.finish())


def summarize(grading: Grading, records: Sequence[Record], plan: SummaryPlan) -> list[MetricSummary]:
    """The summaries of a grading, in the order of its evaluators."""
    builder = SummaryBuilder(grading.cards, plan)
    builder.add(0, len(records), grading.columns, lambda: records)
    return builder.finish(grading.whole)
