"""Traffic for tests of policies: traces of a support agent, stores in a folder, and a clock that is turned by hand."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from pathlib import Path
from typing import Any

from evalsi.engine.make_panel import bind_all
from evalsi.engine.panel import Panel
from evalsi.evaluators.api import EvalContext
from evalsi.infra.promoted_files import PromotedFiles
from evalsi.infra.store.open_stores import open_policy_store, open_trace_store
from evalsi.infra.store.score_outbox import SqlScoreOutbox
from evalsi.ports.policy_store import DaySpent, PolicyStore
from evalsi.ports.score_outbox import ScoreOutbox
from evalsi.ports.trace_store import TracePart, TraceStore, Waiting
from evalsi.schema import OnlineEvalPolicy
from evalsi.schema.json_codec import convert
from evalsi.traces import Span, default_tracing
from evalsi.traces.otlp_writing import encode_otlp_protobuf
from evalsi.watch.cascade import ReadyPolicy
from evalsi.watch.policy import CheckedPolicy, checked_policy
from evalsi.watch.policy_book import ArmedPolicy, PolicyBook
from evalsi.watch.watch_tools import WatchTools

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
NOON_NS = int(NOON.timestamp()) * 10**9


class TurnedClock:
    """Implements `Clock`; stands still until it is turned."""

    def __init__(self, now: datetime = NOON) -> None:
        self._now = now

    def now(self) -> datetime:
        return self._now

    def monotonic_s(self) -> float:
        return (self._now - NOON).total_seconds()

    def turn(self, seconds: float) -> None:
        self._now += timedelta(seconds=seconds)


def trace_id(number: int) -> str:
    return sha256(f"trace {number}".encode()).hexdigest()[:32]


def spans_of(
    number: int,
    *,
    answer: str | None = "Your refund is on its way.",
    question: str | None = "Where is my refund?",
    failed: bool = False,
    version: str = "1.0",
    session: str = "",
    begun_s: float = 0.0,
    lasts_ms: int = 800,
    tools: Sequence[str] = ("lookup_order",),
    attributes: Mapping[str, Any] | None = None,
) -> list[Span]:
    """An agent that asks its tools and answers."""
    begun_ns = NOON_NS + int(begun_s * 1e9)
    name, root = trace_id(number), f"{number:015x}f"
    told: dict[str, Any] = {
        "gen_ai.operation.name": "invoke_agent",
        "gen_ai.agent.name": "support",
        **(attributes or {}),
    }
    if question is not None:
        told["gen_ai.input.messages"] = [{"role": "user", "parts": [{"type": "text", "content": question}]}]
    if answer is not None:
        told["gen_ai.output.messages"] = [{"role": "assistant", "parts": [{"type": "text", "content": answer}]}]
    if session:
        told["gen_ai.conversation.id"] = session
    resource = {"service.name": "support", "service.version": version}
    found = [
        Span(
            trace_id=name,
            span_id=root,
            name="invoke_agent support",
            start_ns=begun_ns,
            end_ns=begun_ns + lasts_ms * 1_000_000,
            attributes=told,
            status_code=2 if failed else 0,
            resource=resource,
            scope_name="tests",
        )
    ]
    found += [
        Span(
            trace_id=name,
            span_id=f"{number:013x}{place + 1:02x}1",
            parent_span_id=root,
            name=f"execute_tool {tool}",
            start_ns=begun_ns + 1_000_000 * (place + 1),
            end_ns=begun_ns + 1_000_000 * (place + 2),
            attributes={"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": tool},
            resource=resource,
            scope_name="tests",
        )
        for place, tool in enumerate(tools)
    ]
    return found


def part_of(spans: Sequence[Span]) -> TracePart:
    """The spans as they would have been received together."""
    root = next((span for span in spans if not span.parent_span_id), None)
    attributes = root.attributes if root is not None else {}
    return TracePart(
        trace_id=bytes.fromhex(spans[0].trace_id),
        span_ids=b"".join(bytes.fromhex(span.span_id) for span in spans),
        body=encode_otlp_protobuf(spans),
        service="support",
        name=root.name if root is not None else "",
        start_ns=min(span.start_ns for span in spans),
        end_ns=max(span.end_ns for span in spans),
        root_failed=root is not None and root.is_error,
        root_ended=root is not None,
        session_id=str(attributes.get("gen_ai.conversation.id", "")),
    )


def policy_of(**said: Any) -> OnlineEvalPolicy:
    """A policy as REST would take it, named "answers" in the default project where nothing else is said."""
    return convert({"name": "answers", "project": "default", **said}, OnlineEvalPolicy)


def arm(
    checked: CheckedPolicy, context: EvalContext | None = None, spent: Callable[[], DaySpent] | None = None
) -> ArmedPolicy:
    """The policy with its evaluators loaded."""
    panels = [Panel(evaluators=bind_all(stage.evaluators, context or EvalContext())) for stage in checked.stages]
    ready = ReadyPolicy(checked=checked, panels=panels)
    return ArmedPolicy(ready=ready) if spent is None else ArmedPolicy(ready=ready, spent=spent)


@dataclass
class Traffic:
    """Stores with their tools."""

    tools: WatchTools
    clock: TurnedClock
    folder: Path
    outbox: ScoreOutbox
    waiting: Waiting = field(default_factory=lambda: Waiting(grace_ms=1_000, session_ms=60_000))

    @property
    def traces(self) -> TraceStore:
        return self.tools.traces

    @property
    def policies(self) -> PolicyStore:
        return self.tools.policies

    def apply(self, policy: OnlineEvalPolicy) -> None:
        checked_policy(policy)
        self.policies.apply(policy, now_ms=self.tools.now_ms)

    def arrive(self, *traces: Sequence[Span], project: str = "default") -> None:
        """Traces arrive, and the time passes after which they are complete."""
        self.traces.append(
            project, [part_of(spans) for spans in traces], now_ms=self.tools.now_ms, waiting=self.waiting
        )
        self.clock.turn(1.5)


@contextmanager
def traffic_in(
    folder: Path, arming: Callable[[CheckedPolicy], ArmedPolicy] = arm, clock: TurnedClock | None = None
) -> Iterator[Traffic]:
    """Stores in a folder. Opening them again finds what was there."""
    clock = clock or TurnedClock()
    address = str(folder / "evalsi.db")
    traces, policies = open_trace_store(address), open_policy_store(address)
    tools = WatchTools(
        traces=traces,
        policies=policies,
        book=PolicyBook(policies, arming),
        tracing=default_tracing(),
        clock=clock,
        promote=PromotedFiles(folder / "datasets").add,
        sinks_of=lambda checked: checked.policy.sinks,
    )
    try:
        yield Traffic(tools, clock, folder, SqlScoreOutbox(policies.database))
    finally:
        traces.close()
        policies.database.close()
