"""When a trace is complete: a state machine over spans that arrive in any order, with a clock that is handed in.

Pure: it holds no spans and reads no time, so that a server may keep it beside its store and rebuild it from there. Per
trace it knows the ids of spans, whether a root has ended and when something last arrived. A trace is complete when its root
has ended and nothing has arrived for the grace period, or at the hard limit after its first span, root or not. A span
that arrives after completion makes the trace complete once more after the same grace period, with a higher revision, so
that it is scored again exactly once and the new scores replace the old.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Literal

from evalsi.traces.span import Span


@dataclass(frozen=True, kw_only=True)
class AssemblyRules:
    """How long is waited, in seconds, and how much is taken."""

    grace_s: float = 10.0
    """Quiet time after which a trace whose root has ended is complete."""
    limit_s: float = 600.0
    """Time after the first span at which a trace is complete whatever it lacks."""
    forget_s: float = 3600.0
    """Time after completion for which late spans are still recognised as such."""
    max_spans: int = 10_000
    """Spans of one trace; further ones are counted and not taken."""

    def __post_init__(self) -> None:
        if not 0 <= self.grace_s <= self.limit_s or self.forget_s < 0 or self.max_spans < 1:
            raise ValueError("grace_s is between 0 and limit_s, forget_s is not negative, max_spans is at least 1")


@dataclass(frozen=True, kw_only=True)
class CompleteTrace:
    """A trace that is to be scored now."""

    trace_id: str
    revision: int
    """1 at first; higher when late spans came. Scores of a lower revision are replaced."""
    spans: int
    """How many different spans it has."""
    reason: Literal["root ended", "limit", "late"]
    """"limit": no root has ended; what stands may be incomplete."""
    orphans: int
    """Spans whose parent has not arrived."""


Arrival = Literal["new", "duplicate", "late", "dropped"]


@dataclass(slots=True)
class _Pending:
    first_s: float
    last_s: float
    spans: set[str] = field(default_factory=set[str])
    parents: set[str] = field(default_factory=set[str])
    root_ended: bool = False
    revision: int = 0
    completed_s: float | None = None
    dirty: bool = True
    """Whether something arrived that no revision has yet."""


class Assembly:
    """The traces that are not complete yet, and the ids of those that were lately."""

    def __init__(self, rules: AssemblyRules) -> None:
        self._rules = rules
        self._traces: dict[str, _Pending] = {}

    def __len__(self) -> int:
        """Traces that are known, complete ones that are not forgotten included."""
        return len(self._traces)

    @property
    def pending(self) -> int:
        """Traces that wait to be complete."""
        return sum(trace.dirty for trace in self._traces.values())

    def add(self, span: Span, now_s: float) -> Arrival:
        """Takes note of a span.

        Args:
            span: A span that is stored already.
            now_s: Seconds of a clock that never runs backwards, not less than at any call before.

        Returns: "new"; "duplicate" when its id is known, which changes nothing, not even how long is waited; "late" when
        the trace was complete; "dropped" when the trace has as many spans as it may.
        """
        trace = self._traces.get(span.trace_id)
        if trace is None:
            trace = self._traces[span.trace_id] = _Pending(first_s=now_s, last_s=now_s)
        if span.span_id in trace.spans:
            return "duplicate"
        if len(trace.spans) >= self._rules.max_spans:
            return "dropped"
        was_complete = trace.completed_s is not None and not trace.dirty
        trace.spans.add(span.span_id)
        trace.last_s = now_s
        if was_complete:
            trace.first_s = now_s
        trace.dirty = True
        if not span.parent_span_id or span.parent_span_id == span.span_id:
            trace.root_ended = trace.root_ended or span.end_ns > 0
        else:
            trace.parents.add(span.parent_span_id)
        return "late" if trace.completed_s is not None else "new"

    def due_s(self) -> float | None:
        """When `complete` will next give something, if nothing arrives till then; None when nothing waits."""
        return min((self._due(trace) for trace in self._traces.values() if trace.dirty), default=None)

    def complete(self, now_s: float) -> list[CompleteTrace]:
        """The traces that are complete by now, each once per revision; forgets what was complete long ago."""
        found: list[CompleteTrace] = []
        forgotten: list[str] = []
        for trace_id, trace in self._traces.items():
            if not trace.dirty:
                assert trace.completed_s is not None
                if now_s - trace.completed_s >= self._rules.forget_s:
                    forgotten.append(trace_id)
                continue
            if now_s < self._due(trace):
                continue
            late = trace.revision > 0
            trace.revision += 1
            trace.dirty = False
            trace.completed_s = now_s
            found.append(
                CompleteTrace(
                    trace_id=trace_id,
                    revision=trace.revision,
                    spans=len(trace.spans),
                    reason="late" if late else "root ended" if trace.root_ended else "limit",
                    orphans=len(trace.parents - trace.spans),
                )
            )
        for trace_id in forgotten:
            del self._traces[trace_id]
        return found

    def restore(self, spans: Iterable[Span], now_s: float, *, revision: int) -> None:
        """Takes up a trace that is stored, after a restart: as it was after `revision` completions, quiet since now.

        Args:
            spans: Every span of one trace.
            now_s: As in `add`.
            revision: How often it was complete; 0 when it waits for its first time.
        """
        for span in spans:
            self.add(span, now_s)
            trace = self._traces[span.trace_id]
            trace.revision = revision
            if revision:
                trace.completed_s = now_s
                trace.dirty = False

    def _due(self, trace: _Pending) -> float:
        limit_s = trace.first_s + self._rules.limit_s
        quiet_s = trace.last_s + self._rules.grace_s
        # What comes late is complete once it is quiet: its root has been seen, or was waited for in vain.
        return min(limit_s, quiet_s) if trace.root_ended or trace.revision else limit_s
