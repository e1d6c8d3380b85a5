"""`evalsi.log`, `evalsi.feedback` and `evalsi.flush`: live traffic goes to the server of the settings, from the background.

Its own module because they need no more of an app than a call: where to send is read from EVALSI_SERVER, EVALSI_API_KEY and
EVALSI_PROJECT, and the name of the app from OTEL_SERVICE_NAME. What always holds: they never raise for a server that is away or refuses, and never wait for one.
"""

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

from evalsi.client.traffic_log import LoggedCall, LoggedUsage, TrafficLog
from evalsi.schema import Feedback
from evalsi.settings import Settings
from evalsi.wiring.traffic_address import traffic_address


def log(
    *,
    input: Any = None,  # noqa: A002 - the word that records have for it
    output: Any = None,
    context: Sequence[str] = (),
    name: str = "answer",
    model: str = "",
    input_tokens: int | None = None,
    output_tokens: int | None = None,
    cost_usd: float | None = None,
    duration_s: float | None = None,
    error: str = "",
    session_id: str = "",
    user_id: str = "",
    key: str = "",
    labels: Mapping[str, str] | None = None,
    metadata: Mapping[str, Any] | None = None,
    service: str = "",
) -> str:
    """Logs something that the app did for somebody, and gives the id of its trace.

    Args:
        input: What was asked: text, messages, or any JSON value.
        output: What was answered, likewise.
        context: Passages that were retrieved for it.
        name: What was done.
        model: The model that answered.
        input_tokens: Tokens that it read.
        output_tokens: Tokens that it wrote.
        cost_usd: What it cost; by default worked out from the price of the model.
        duration_s: How long it took, in seconds; without it, the trace has no duration rather than one of 0.
        error: Why it failed; empty when it did not.
        session_id: The conversation that it is part of.
        user_id: Whom it was done for.
        key: Your own identifier of it, under which `feedback` finds it.
        labels: What traffic is to be told apart by.
        metadata: Anything else.
        service: Name of the app that did it; by default OTEL_SERVICE_NAME, else `app`.

    Raises: UsageError: EVALSI_SERVER is no address.
    """
    usage = LoggedUsage(model=model, input_tokens=input_tokens, output_tokens=output_tokens, cost_usd=cost_usd)
    call = LoggedCall(
        input=input,
        output=output,
        context=context,
        name=name,
        usage=usage,
        duration_s=duration_s,
        error=error,
        session_id=session_id,
        user_id=user_id,
        key=key,
        labels=labels or {},
        metadata=metadata or {},
        service=service,
    )
    return _usual_log().log(call)


def feedback(
    value: bool | float | str,
    *,
    name: str = "thumbs",
    comment: str = "",
    trace_id: str = "",
    span_id: str = "",
    session_id: str = "",
    key: str = "",
    author: str = "",
    id: str = "",  # noqa: A002 - the field's name in the schema
) -> None:
    """Says how good something was that was logged or traced, at once or days later.

    Args:
        value: Good or bad, a number from -1 (bad) to 1 (good), or one of a set of names.
        name: What was judged.
        comment: In the person's words.
        trace_id: The trace that it is about; this, `session_id` or `key` is needed.
        span_id: The span within the trace.
        session_id: The session that it is about.
        key: The identifier that was logged.
        author: Who says it.
        id: Your own identifier; the same one again replaces what it said.

    Raises: UsageError: EVALSI_SERVER is no address.
    """
    said = Feedback(
        id=id,
        trace_id=trace_id,
        span_id=span_id,
        session_id=session_id,
        key=key,
        name=name,
        comment=comment,
        author=author,
        passed=value if isinstance(value, bool) else None,
        number=float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None,
        label=value if isinstance(value, str) else None,
    )
    _usual_log().feedback(said)


def flush(timeout_s: float = 10.0) -> bool:
    """Waits until everything that was logged is sent or given up; False when that takes longer."""
    return _usual_log().flush(timeout_s)


@cache
def _usual_log() -> TrafficLog:
    settings = Settings.from_environment()
    return TrafficLog(traffic_address(settings), service=settings.service or "app")
