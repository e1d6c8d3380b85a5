"""What happens to a request of traces or logs, whichever way it came: taken apart, admitted by project, stored, and then answered.

Its own module because HTTP and gRPC must not differ in it. What always holds: what it returns is said of what is
stored and synced; a request that fails can be sent again and changes nothing twice.
"""

import asyncio
from collections.abc import Callable, Generator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial

from evalsi.access.caller import Caller
from evalsi.access.guard import TRAFFIC_PERMISSION, Guard
from evalsi.access.traffic_project import traffic_project
from evalsi.core.clock import Clock
from evalsi.core.errors import EvalsiError, ForbiddenError, InvalidParamsError, NotFoundError, TooLargeError
from evalsi.core.size_text import size_text
from evalsi.ports.trace_store import Appended, TracePart, TraceStore, Waiting
from evalsi.schema import Feedback
from evalsi.server.otlp.body_reader import JSON_WEIGHT, BodyReader
from evalsi.server.otlp.measures import OtlpMeasures
from evalsi.server.otlp.rates import Rates
from evalsi.server.otlp.reply import Encoding, Signal, Taken
from evalsi.server.otlp.trace_sizes import TraceSizes
from evalsi.server.otlp.unpacking import SMALLER_BATCHES
from evalsi.server.otlp.waiting_bytes import WaitingBytes
from evalsi.traces.trace_parts import Rejections, SplitRequest
from evalsi.watch.feedback import MOST_AT_ONCE, accepted_feedback

_READERS = 2
"""Of what takes long: JSON, logs, and whatever is read span by span."""
_WRITERS = 8
_SMALL_BYTES = 32 << 10
"""A request of this size is read where it is: handing it to a thread would take longer."""
_REASONS = {
    "damaged": "are damaged",
    "invalid_id": "have ids that are none",
    "too_old": "ended longer ago than is taken",
    "trace_full": "are of traces that have as many as they may",
    "request_full": "are more than one request may have",
    "forbidden": "are for a project where the caller may not write",
    "no_event": "are no events of generative AI, do not say what they are about, or are too many",
}
_NOUNS: dict[Signal, str] = {"traces": "spans", "logs": "log records"}


@dataclass(frozen=True, kw_only=True)
class Receiver:
    """Takes requests. One for the whole server."""

    store: TraceStore
    """It writes what several threads hand over at once in one transaction."""
    waiting_times: Waiting
    clock: Clock
    guard: Guard
    measures: OtlpMeasures
    waiting: WaitingBytes
    rates: Rates
    sizes: TraceSizes
    reader: BodyReader
    most_bytes: int
    """Largest request that any project may send, unpacked."""
    most_bytes_for: Callable[[str], int]
    """Largest request for a project; of no name, for what names none."""
    reconsiders: Callable[[str], bool]
    """Whether policies of a project look at what is said about traffic. Raises: StoreError."""
    _reading: ThreadPoolExecutor = field(
        default_factory=lambda: ThreadPoolExecutor(_READERS, thread_name_prefix="otlp-read"), init=False
    )
    _reading_quickly: ThreadPoolExecutor = field(
        default_factory=lambda: ThreadPoolExecutor(1, thread_name_prefix="otlp-read"), init=False
    )
    """One thread: two would only take Python's lock from each other, and 64 MiB take it a quarter of a second."""
    _writing: ThreadPoolExecutor = field(
        default_factory=lambda: ThreadPoolExecutor(_WRITERS, thread_name_prefix="otlp-write"), init=False
    )

    def most_bytes_of(self, encoding: Encoding, signal: Signal, caller: Caller) -> int:
        """How large a request may be, by the project of whoever sends it: which others it names is known once it is read."""
        return self._most_bytes(_own_project(caller), encoding, signal)

    def _most_bytes(self, project: str, encoding: Encoding, signal: Signal) -> int:
        """JSON and logs may be a part of what is taken, since they are larger in memory."""
        most = self.most_bytes_for(project)
        return most // JSON_WEIGHT if encoding == "json" or signal == "logs" else most

    def admit(self, caller: Caller) -> None:
        """To be asked before a request is read. Raises: RateLimitError: it comes too soon."""
        self.rates.admit(caller.principal, _own_project(caller))

    async def receive(self, body: bytes, encoding: Encoding, caller: Caller, signal: Signal = "traces") -> Taken:
        """Returns when the spans of a request, or the events in its log records, are stored.

        Raises:
            InvalidDataError: the body is no OTLP.
            ForbiddenError, NotFoundError, InvalidParamsError: of all spans: the caller may not write to the project they
                name, it is not there, or its name is none. Where other spans can be taken, these are rejected ones.
            RateLimitError: it comes too soon for a project that it names; nothing was stored.
            TooLargeError: it is larger than a request for a project that it names may be; nothing was stored.
            StoreError: nothing was stored; the same request may be sent again.
        """
        self.rates.spend(caller.principal, _own_project(caller), len(body))
        if not body:
            return Taken()
        if len(body) > _SMALL_BYTES and self.reader.weight_of(encoding, signal) == 1:
            split, begun = await asyncio.get_running_loop().run_in_executor(
                self._reading_quickly, self._read_and_begin, body, caller, self._open_project(caller)
            )
        else:
            split, begun = await self._split(body, encoding, caller, signal), []
        others = self._others(split, caller)
        self._check_size(others, len(body), encoding, signal)
        for project in others:
            self.rates.charge(caller.principal, project, len(body) // len(others))
        rejections = split.rejections
        for write in begun:
            await asyncio.wrap_future(write)
        stored = 0
        refusal: EvalsiError | None = None
        for group in split.resources:
            try:
                project = group.project or traffic_project(caller, TRAFFIC_PERMISSION)
                await self.guard.admit_traffic(caller, project)
            except (ForbiddenError, NotFoundError, InvalidParamsError) as error:
                refusal = error
                self._reject(group.parts, "forbidden", str(error), rejections)
                if not group.parts:
                    rejections.add("forbidden", str(error), len(group.judged))
                continue
            parts = self._fitting(project, group.parts, rejections)
            if parts:
                await asyncio.get_running_loop().run_in_executor(self._writing, self._append, project, parts)
            if group.judged:
                await asyncio.get_running_loop().run_in_executor(self._writing, self._judge, project, group.judged)
            stored += len(parts) + len(group.judged)
        self.measures.dropped(rejections.counts, signal)
        if refusal is not None and not stored:
            raise refusal
        self.measures.received(len(body))
        return Taken(rejected=rejections.counts.total(), message=_told(rejections, _NOUNS[signal]))

    def _open_project(self, caller: Caller) -> str:
        """The project of what names none, where the caller is known to be let in; else empty."""
        project = _own_project(caller)
        return project if self.guard.lets_traffic_in(caller, project) else ""

    def _read_and_begin(
        self, body: bytes, caller: Caller, project: str
    ) -> "tuple[SplitRequest, list[Future[Appended]]]":
        """A request that is quick to read. Where all of it is for `project`, it is handed on to be stored at once, since each
        thread that a request goes through has to wait for Python's lock.
        """
        split = self.reader.read(body, "protobuf", "traces", _own_project(caller), caller.labels)
        if not project or any(group.judged or group.project not in ("", project) for group in split.resources):
            return split, []
        begun: list[Future[Appended]] = []
        now_ms = round(self.clock.now().timestamp() * 1000)
        for group in split.resources:
            parts = self._fitting(project, group.parts, split.rejections)
            if parts:
                with self._taking_back(project, parts):
                    write = self.store.begin_append(project, parts, now_ms=now_ms, waiting=self.waiting_times)
                write.add_done_callback(partial(self._settle, project, _sizes(parts)))
                begun.append(write)
        return SplitRequest(resources=[], rejections=split.rejections), begun

    def _settle(self, project: str, sizes: Sequence[tuple[bytes, int]], write: "Future[Appended]") -> None:
        if not write.cancelled() and write.exception() is None:
            self.measures.appended(write.result())
        else:
            self._take_back(project, sizes)

    @contextmanager
    def _taking_back(self, project: str, parts: Sequence[TracePart]) -> Generator[None]:
        """Traces do not grow by what could not be stored, else they were full after some tries."""
        try:
            yield
        except BaseException:
            self._take_back(project, _sizes(parts))
            raise

    def _take_back(self, project: str, sizes: Sequence[tuple[bytes, int]]) -> None:
        for trace_id, spans in sizes:
            self.sizes.take_back((project, trace_id), spans)

    def _others(self, split: SplitRequest, caller: Caller) -> list[str]:
        """The projects that a request names beside the caller's own, and that the caller may write to: until it is read, nobody
        knows which. It counts at them, too.
        """
        named = {group.project for group in split.resources} - {"", _own_project(caller)}
        return [project for project in sorted(named) if caller.has(TRAFFIC_PERMISSION, project)]

    def _check_size(self, projects: list[str], size_bytes: int, encoding: Encoding, signal: Signal) -> None:
        """Raises: TooLargeError: a request of that size is more than one for one of these projects may have."""
        for project in projects:
            most_bytes = self._most_bytes(project, encoding, signal)
            if size_bytes > most_bytes:
                raise TooLargeError(
                    f"the request is larger than the {size_text(most_bytes)} that are taken for the project {project!r}",
                    hint=SMALLER_BATCHES,
                )

    def close(self) -> None:
        """Begins nothing more. What was handed to the store is stored, or refused, when that is closed."""
        for threads in (self._reading_quickly, self._reading, self._writing):
            threads.shutdown(wait=False, cancel_futures=True)

    def _append(self, project: str, parts: list[TracePart]) -> None:
        now_ms = round(self.clock.now().timestamp() * 1000)
        with self._taking_back(project, parts):
            self.measures.appended(self.store.append(project, parts, now_ms=now_ms, waiting=self.waiting_times))

    def _judge(self, project: str, judged: Sequence[Feedback]) -> None:
        now = self.clock.now()
        reconsider = self.reconsiders(project)
        for start in range(0, len(judged), MOST_AT_ONCE):
            said = accepted_feedback(judged[start : start + MOST_AT_ONCE], now)
            self.store.add_feedback(project, said, now_ms=round(now.timestamp() * 1000), reconsider=reconsider)

    async def _split(self, body: bytes, encoding: Encoding, caller: Caller, signal: Signal) -> SplitRequest:
        read = partial(self.reader.read, body, encoding, signal, _own_project(caller), caller.labels)
        if len(body) <= _SMALL_BYTES:
            return read()
        return await asyncio.get_running_loop().run_in_executor(self._reading, read)

    def _fitting(self, project: str, parts: list[TracePart], rejections: Rejections) -> list[TracePart]:
        """The parts whose traces may have so many spans."""
        most = self.reader.limits(project).most_spans_of_trace
        over = [part for part in parts if not self.sizes.add((project, part.trace_id), _spans(part), most)]
        if not over:
            return parts
        self._reject(over, "trace_full", "a trace has as many spans as it may", rejections)
        left = {id(part) for part in over}
        return [part for part in parts if id(part) not in left]

    def _reject(self, parts: list[TracePart], reason: str, example: str, rejections: Rejections) -> None:
        rejections.add(reason, example, sum(map(_spans, parts)))
        self.measures.dropped_traces(len(parts))


def _spans(part: TracePart) -> int:
    return len(part.span_ids) // 8


def _sizes(parts: Sequence[TracePart]) -> list[tuple[bytes, int]]:
    """Traces and how many spans of each. What waits to be stored keeps them, and not the parts, which are large."""
    return [(part.trace_id, _spans(part)) for part in parts]


def _own_project(caller: Caller) -> str:
    try:
        return traffic_project(caller, TRAFFIC_PERMISSION)
    except ForbiddenError:
        return ""


def _told(rejections: Rejections, noun: str) -> str:
    if not rejections.counts:
        return ""
    reasons = ", ".join(f"{count:,} {_REASONS[reason]}" for reason, count in sorted(rejections.counts.items()))
    first = f"; the first: {rejections.example}" if rejections.example else ""
    return f"{noun} that were not taken: {reasons}{first}"
