"""Scores of every form, about spans that `tests.watch.live_traffic` makes, for tests of sinks."""

from typing import Any

import msgspec

from evalsi.core.address_fence import AddressFence
from evalsi.infra.sinks.endpoint import SinkEndpoint
from evalsi.ports.score_sink import WITHDRAWN, OutgoingScore, OutgoingScores
from tests.watch.live_traffic import NOON, spans_of, trace_id

AT_MS = int(NOON.timestamp() * 1000)


def endpoint(url: str, **said: Any) -> SinkEndpoint:
    """An address that an operator named."""
    return SinkEndpoint(url=url, fence=AddressFence(allow_urls=frozenset({url})), **said)


def score(trace: int, metric: str, **said: Any) -> OutgoingScore:
    usual: dict[str, Any] = {
        "id": f"{trace:04x}{metric.encode().hex():0<28}"[:32],
        "metric": metric,
        "evaluator_ref": f"builtin/{metric}@1.0.0",
        "trace_id": trace_id(trace),
        "span_id": spans_of(trace)[0].span_id,
        "is_of_trace": True,
    }
    return OutgoingScore(**{**usual, **said})


def told(number: int, revision: int = 1, value: float = 0.5) -> OutgoingScores:
    """A number, a verdict of a judge, a name, a structured value, a failure, and the number of a step."""
    step = spans_of(number)[1].span_id
    return outgoing(
        number,
        score(number, "tone", number=value, explanation="warm", response_id="resp-1", session_id=f"s{number}"),
        score(number, "polite", passed=False, is_judged=True),
        score(number, "topic", label="refunds"),
        score(number, "parts", structured={"a": [1, 2]}),
        score(number, "slow", error_type="timeout", error="the judge gave no answer in time"),
        score(number, "length", number=3.0, span_id=step, is_of_trace=False),
        revision=revision,
    )


def outgoing(number: int, *scores: OutgoingScore, revision: int = 1) -> OutgoingScores:
    return OutgoingScores(
        project="default",
        policy="answers",
        subject=trace_id(number),
        revision=revision,
        began_ms=AT_MS,
        at_ms=AT_MS + 60_000,
        first_trace_id=trace_id(number),
        scores=list(scores),
    )


def withdrawing(number: int, *names: str, revision: int = 2) -> OutgoingScores:
    """What `told` told is not there any more, but for the number and these."""
    step = spans_of(number)[1].span_id
    gone = [score(number, name, label=WITHDRAWN) for name in names if name != "length"]
    gone += [
        score(number, name, label=WITHDRAWN, span_id=step, is_of_trace=False) for name in names if name == "length"
    ]
    kept = outgoing(number, score(number, "tone", number=0.5), revision=revision)
    return msgspec.structs.replace(kept, withdrawn=gone)


def of_session(number: int, session: str) -> OutgoingScores:
    """The score of a whole session, whose first trace has that number."""
    whole = score(number, "patience", number=0.25, trace_id="", span_id="", session_id=session)
    return outgoing(number, whole)
