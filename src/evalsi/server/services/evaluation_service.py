"""EvaluationService: records in, scores out, while the caller waits.

What computes in bounded time is graded in this process, between two looks at the event loop; all else goes to a worker
process, those that ask a judge to workers of their own. What always holds: no evaluator of others runs in this process,
and what an evaluator does to its worker costs the record it was at, or at worst the call it came with.
"""

import asyncio
from collections import OrderedDict
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import msgspec

from evalsi.access.caller import Caller
from evalsi.access.gate import DEFAULT_PROJECT
from evalsi.core.errors import DuplicateIdError, EvalsiError, UsageError
from evalsi.engine.columns import EvaluatorColumns, assemble, results
from evalsi.engine.panel import Panel
from evalsi.engine.summary import SummaryBuilder
from evalsi.evaluators.catalog import load
from evalsi.ports.spent import Spent
from evalsi.ports.worker_pool import WorkerPool
from evalsi.schema import (
    EvaluateRequest,
    EvaluateResponse,
    EvaluateStreamRequest,
    EvaluateStreamResponse,
    EvaluatorRef,
    JudgeSpec,
    MetricSummaries,
    Record,
    Scope,
)
from evalsi.score.grade_records import (
    BATCH_RECORDS,
    Grading,
    bind_panel,
    check_installed,
    check_records,
    grade_records_now,
    grades_here,
    is_our_own,
    summarize,
    summary_plan,
)
from evalsi.score.grading_call import grade_call, read_grading
from evalsi.server.answer import QuickAnswer
from evalsi.server.services.evaluation_json import evaluate_json, results_in_order

LIGHT_CHARACTERS = 200_000
"""Text of a batch up to which it is graded in this process; longer text could hold up other calls."""
_OTHER_CONTENT_CHARACTERS = 2_000
_STEP_CHARACTERS = 2_000
"""What content that is no text, and a step, count for: more than they mostly have."""
_PANELS_KEPT = 256
"""Batches of one stream that are graded at once."""
_LINGER_S = 0.005
"""Seconds that records of a stream are waited for before those that are there are graded."""


@dataclass(frozen=True, kw_only=True)
class EvaluationLimits:
    """What one call may ask for."""

    most_records: int = 10_000
    most_stream_records: int = 1_000_000
    stream_batch: int = BATCH_RECORDS
    """Records of a stream that are graded at once."""
    stream_batches: int = 4
    """Batches of one stream that are graded side by side."""
    deadline_s: float = 600.0
    """Seconds a worker may take over one batch of a call."""


class AskedJudges(NamedTuple):
    """Who is asked for verdicts in a call."""

    judge: str
    """For evaluators that name none; empty for the usual one."""
    judges: Mapping[str, JudgeSpec]
    """All that may be named."""
    project: str
    """Whose call it is."""


class EvaluationService:
    """Scores outputs that exist.

    Args:
        pools: The pools "cpu" and "judge".
        judges: The judges that a project may name.
        default_judge: The one that is asked when none is named; empty for the usual one, where there is any.
        admit: Returns when judges may be asked for a project, else raises. Called from a thread.
        account: Takes what judges used. Called from a thread.
    """

    service = "EvaluationService"

    def __init__(
        self,
        pools: Mapping[str, WorkerPool],
        limits: EvaluationLimits | None = None,
        *,
        judges: Callable[[str], Mapping[str, JudgeSpec]] = lambda _project: {},
        default_judge: str = "",
        admit: Callable[[str], None] = lambda _project: None,
        account: Callable[[Spent], None] = lambda _spent: None,
    ) -> None:
        self._pools = pools
        self._judges = judges
        self._default_judge = default_judge
        self._admit = admit
        self._account = account
        self._limits = limits or EvaluationLimits()
        self._panels: OrderedDict[bytes, Panel | None] = OrderedDict()

    async def evaluate(self, request: EvaluateRequest, caller: Caller) -> QuickAnswer:
        """Scores a batch of records.

        Raises: EvalsiError: what is wrong with the request; nothing was graded then.
        """
        del caller
        plan = summary_plan(request.summary)
        check_records(request.records, most=self._limits.most_records)
        check_installed(request.evaluators)
        asked = self._asked(request.project, request.judge)
        grading = await self.graded(request.records, request.evaluators, asked)
        summaries = summarize(grading, request.records, plan)
        ids = [record.id for record in request.records]
        return QuickAnswer(
            lambda: EvaluateResponse(results=list(results_in_order(grading, ids)), summaries=summaries),
            lambda: evaluate_json(grading, ids, summaries),
        )

    async def evaluate_stream(
        self, requests: AsyncIterator[EvaluateStreamRequest], caller: Caller
    ) -> AsyncGenerator[EvaluateStreamResponse]:
        """Scores records as they come: results as soon as there are any, the summaries last.

        Evaluators of whole sessions or datasets see the records when all are there.

        Raises: EvalsiError: what is wrong with the configuration, before any record is taken; or with a record.
        """
        del caller
        first = await anext(requests, None)
        if first is None or first.config is None:
            raise UsageError("the first message of the stream must be its configuration", where="config")
        config = first.config
        plan = summary_plan(config.summary)
        check_installed(config.evaluators)
        # Nothing is graded yet: this finds what is wrong with the configuration, and what kind each evaluator is of.
        asked = self._asked(config.project, config.judge)
        cards = (await self.graded([], config.evaluators, asked)).cards
        kinds = list(zip(config.evaluators, cards, strict=True))
        stream = _Stream(
            service=self,
            requests=requests,
            each=[choice for choice, card in kinds if card.scope not in (Scope.DATASET, Scope.SESSION)],
            whole=[choice for choice, card in kinds if card.scope in (Scope.DATASET, Scope.SESSION)],
            asked=asked,
            summary=SummaryBuilder(cards, plan),
        )
        async for answers in stream.answers():
            for answer in answers:
                yield answer
        summaries = stream.summary.finish(stream.graded_whole)
        yield EvaluateStreamResponse(summaries=MetricSummaries(summaries=summaries))

    @property
    def limits(self) -> EvaluationLimits:
        return self._limits

    def _asked(self, project: str, judge: str) -> AskedJudges:
        project = project or DEFAULT_PROJECT
        return AskedJudges(judge, self._judges(project), project)

    async def graded(self, records: list[Record], evaluators: Sequence[EvaluatorRef], asked: AskedJudges) -> Grading:
        """Grades records here or in a worker, as their evaluators need. Raises: EvalsiError."""
        panel = None if asked.judge else self._own_panel(evaluators)
        if panel is None or not _is_light(records):
            asks = bool(asked.judge) or any(map(_asks_judge, evaluators))
            pool = self._pools["judge" if asks else "cpu"]
            judge = asked.judge or (self._default_judge if asks and self._default_judge in asked.judges else "")
            if asks and records:
                await asyncio.to_thread(self._admit, asked.project)
            call = grade_call(records, evaluators, judge, asked.judges, asked.project)
            grading, spent = read_grading(await pool.call(call, deadline_s=self._limits.deadline_s))
            if spent is not None:
                await asyncio.to_thread(self._account, spent)
            return grading
        if len(records) <= BATCH_RECORDS:
            return grade_records_now(panel, records)
        parts: list[Grading] = []
        for row in range(0, len(records), BATCH_RECORDS):
            parts.append(grade_records_now(panel, records[row : row + BATCH_RECORDS]))
            await asyncio.sleep(0)
        return _joined(parts, len(records))

    def _own_panel(self, evaluators: Sequence[EvaluatorRef]) -> Panel | None:
        """The panel of evaluators that may be graded in this process, bound once; None where one may not.

        Raises: EvalsiError: one of them cannot be bound.
        """
        try:
            key = msgspec.msgpack.encode(evaluators)
        except OverflowError:
            return None  # the call to the worker says what is wrong
        if key in self._panels:
            self._panels.move_to_end(key)
            return self._panels[key]
        panel = None
        if evaluators and all(is_our_own(choice) and not _asks_judge(choice) for choice in evaluators):
            bound = bind_panel(evaluators, {})
            panel = bound if grades_here(bound) else None
        self._panels[key] = panel
        if len(self._panels) > _PANELS_KEPT:
            self._panels.popitem(last=False)
        return panel


@dataclass(kw_only=True)
class _Stream:
    """One stream under way: reads, grades several batches at once, and hands out results as they are there."""

    service: EvaluationService
    requests: AsyncIterator[EvaluateStreamRequest]
    each: Sequence[EvaluatorRef]
    whole: Sequence[EvaluatorRef]
    asked: AskedJudges
    summary: SummaryBuilder

    def __post_init__(self) -> None:
        self.graded_whole: list[EvaluatorColumns] = []
        self._ids: set[str] = set()
        self._kept: list[Record] = []
        self._slots = asyncio.Semaphore(self.service.limits.stream_batches)
        self._out: asyncio.Queue[list[EvaluateStreamResponse] | Exception | None] = asyncio.Queue(
            self.service.limits.stream_batches
        )

    async def answers(self) -> AsyncGenerator[list[EvaluateStreamResponse]]:
        """The results, in the order in which they are there."""
        work = asyncio.get_running_loop().create_task(self._work())
        try:
            while (found := await self._out.get()) is not None:
                if isinstance(found, Exception):
                    raise found
                yield found
        finally:
            work.cancel()
            await asyncio.gather(work, return_exceptions=True)

    async def _work(self) -> None:
        try:
            async with asyncio.TaskGroup() as group:
                async for records in _in_batches(self.requests, self.service.limits.stream_batch):
                    row = self._take(records)
                    if self.each:
                        await self._slots.acquire()
                        group.create_task(self._grade(row, records))
            if self.whole:
                grading = await self.service.graded(self._kept, self.whole, self.asked)
                self.graded_whole = grading.whole
                for columns in grading.whole:
                    found = results(columns, [""] * columns.rows)
                    await self._out.put([EvaluateStreamResponse(result=one) for one in found])
            await self._out.put(None)
        except ExceptionGroup as several:
            await self._out.put(several.exceptions[0])
        except Exception as error:
            await self._out.put(error)

    async def _grade(self, row: int, records: list[Record]) -> None:
        try:
            grading = await self.service.graded(records, self.each, self.asked)
        finally:
            self._slots.release()
        self.summary.add(row, len(records), grading.columns, lambda: records)
        found = results_in_order(grading, [record.id for record in records])
        await self._out.put([EvaluateStreamResponse(result=one) for one in found])

    def _take(self, records: list[Record]) -> int:
        """The row of the first of the records. Raises: EvalsiError: there are too many, or an id came before."""
        row = len(self._ids)
        most = self.service.limits.most_records if self.whole else self.service.limits.most_stream_records
        if row + len(records) > most:
            raise UsageError(f"the stream has more than the {most} records that one call takes", where="record")
        for record in records:
            if record.id in self._ids:
                raise DuplicateIdError(f"two records of the stream have the id {record.id!r}", where="record.id")
            self._ids.add(record.id)
        if self.whole:
            self._kept += records
        return row


async def _in_batches(requests: AsyncIterator[EvaluateStreamRequest], most: int) -> AsyncGenerator[list[Record]]:
    """The records of a stream, as many at once as come without a pause."""
    batch: list[Record] = []
    waiting: asyncio.Task[EvaluateStreamRequest] | None = None
    try:
        while True:
            waiting = waiting or asyncio.ensure_future(_next(requests))
            done, _ = await asyncio.wait({waiting}, timeout=_LINGER_S if batch else None)
            if done:
                try:
                    request = waiting.result()
                except StopAsyncIteration:
                    break
                finally:
                    waiting = None
                if request.record is None:
                    raise UsageError("after the first message a stream has only records", where="record")
                batch.append(request.record)
            if not done or len(batch) >= most:
                yield batch
                batch = []
        if batch:
            yield batch
    finally:
        if waiting is not None:
            waiting.cancel()
            await asyncio.gather(waiting, return_exceptions=True)


async def _next(requests: AsyncIterator[EvaluateStreamRequest]) -> EvaluateStreamRequest:
    return await anext(requests)


def _joined(parts: Sequence[Grading], rows: int) -> Grading:
    """Gradings of consecutive records as one."""
    first, places = 0, list[range]()
    for part in parts:
        count = part.columns[0].rows
        places.append(range(first, first + count))
        first += count
    lanes = zip(*(part.columns for part in parts), strict=True)
    columns = [assemble(list(zip(places, lane, strict=True)), rows) for lane in lanes]
    return Grading(parts[0].cards, columns, [])


def _is_light(records: Sequence[Record]) -> bool:
    """Whether grading the records cannot take long, however they are made."""
    characters = 0
    for record in records:
        for content in (record.output, record.reference, record.input, *record.context):
            if content is not None and content.text is not None:
                characters += len(content.text)
            elif content is not None:
                characters += _OTHER_CONTENT_CHARACTERS
        if record.trajectory is not None:
            characters += _STEP_CHARACTERS * len(record.trajectory.steps)
    return characters <= LIGHT_CHARACTERS * max(1, len(records) // BATCH_RECORDS)


def _asks_judge(choice: EvaluatorRef) -> bool:
    """Whether the evaluator is one of ours that asks a judge. One of others is looked at in a worker alone."""
    if choice.judge:
        return True
    if not is_our_own(choice):
        return False
    try:
        return "judge" in load(choice.ref).requires
    except EvalsiError:
        return False  # binding says what is wrong with it
