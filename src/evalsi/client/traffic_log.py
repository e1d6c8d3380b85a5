"""`TrafficLog`: what an app asked and answered, and what people said about it, sent to a server from the background.

Its own module because it is for apps without OpenTelemetry: a call takes microseconds, never waits and never fails. An answer
becomes a trace of one span, or of two where passages were retrieved for it.
"""

import logging
import secrets
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

import msgspec

from evalsi.client.background_sender import BackgroundSender, SendPlan
from evalsi.client.plain_post import PlainPost
from evalsi.client.server_address import ServerAddress
from evalsi.core.version import __version__
from evalsi.schema import Feedback, SubmitFeedbackRequest
from evalsi.schema.json_codec import encode_camel
from evalsi.traces import Span
from evalsi.traces.otlp_writing import encode_otlp_protobuf

logger = logging.getLogger(__name__)
_TRACES, _FEEDBACK = "/v1/traces", "/v1alpha1/feedback"


@dataclass(frozen=True, kw_only=True)
class LoggedUsage:
    """What an answer took. None stands for unknown."""

    model: str = ""
    input_tokens: int | None = None
    output_tokens: int | None = None
    cost_usd: float | None = None


@dataclass(frozen=True, kw_only=True)
class LoggedCall:
    """One thing that an app did for somebody."""

    input: Any = None
    """What was asked: text, messages with `role` and `content`, or any JSON value."""
    output: Any = None
    """What was answered, likewise."""
    context: Sequence[str] = ()
    """Passages that were retrieved for it."""
    name: str = "answer"
    usage: LoggedUsage = field(default_factory=LoggedUsage)
    duration_s: float | None = None
    error: str = ""
    """Why it failed; empty when it did not."""
    session_id: str = ""
    user_id: str = ""
    key: str = ""
    """Your own identifier of it, under which feedback may come."""
    labels: Mapping[str, str] = field(default_factory=dict[str, str])
    metadata: Mapping[str, Any] = field(default_factory=dict[str, Any])
    service: str = ""
    """Name of the app that did it, where it is not that of the log."""


class TrafficLog:
    """Sends to one server. Any thread may use it; it survives a fork.

    Args:
        address: The server, and the project where it is not that of the key.
        service: Name of the app, for calls that name none.

    Raises: UsageError: the address is none.
    """

    def __init__(self, address: ServerAddress, *, service: str = "app", plan: SendPlan | None = None) -> None:
        self._post = PlainPost(address)
        self._project = address.project
        self._resource: dict[str, Any] = {
            "service.name": service,
            "telemetry.sdk.name": "evalsi",
            "telemetry.sdk.version": __version__,
        }
        if address.project:
            self._resource["evalsi.project"] = address.project
        self._calls: BackgroundSender[Sequence[Span]] = BackgroundSender(self._send_calls, plan)
        self._said: BackgroundSender[Feedback] = BackgroundSender(self._send_feedback, plan)

    @property
    def dropped(self) -> int:
        """How many calls and pieces of feedback were not sent and will not be."""
        return self._calls.dropped + self._said.dropped

    def log(self, call: LoggedCall) -> str:
        """Sends a call; the id of its trace."""
        named = {"service.name": call.service} if call.service else {}
        spans = _spans_of(call, {**self._resource, **named})
        self._calls.add(spans)
        return spans[0].trace_id

    def feedback(self, feedback: Feedback) -> None:
        """Sends what was said. Its id and time, where it has none, are made now, so that sending it twice says it once."""
        if not (feedback.trace_id or feedback.session_id or feedback.key):
            self._said.dropped += 1
            logger.warning("feedback %r is about nothing: it needs a trace, a session or a key", feedback.name)
            return
        now = feedback.time or datetime.now(UTC)
        self._said.add(msgspec.structs.replace(feedback, id=feedback.id or uuid4().hex, time=now))

    def flush(self, timeout_s: float = 10.0) -> bool:
        """Waits until everything is sent or dropped; False when that takes longer."""
        until_s = time.monotonic() + timeout_s
        return self._calls.flush(timeout_s) and self._said.flush(max(0.0, until_s - time.monotonic()))

    def close(self, timeout_s: float = 10.0) -> bool:
        """Takes nothing more; as `flush`."""
        until_s = time.monotonic() + timeout_s
        return self._calls.close(timeout_s) and self._said.close(max(0.0, until_s - time.monotonic()))

    def _send_calls(self, calls: Sequence[Sequence[Span]]) -> None:
        body = encode_otlp_protobuf(span for spans in calls for span in spans)
        self._post.post(_TRACES, body, "application/x-protobuf")

    def _send_feedback(self, said: Sequence[Feedback]) -> None:
        request = SubmitFeedbackRequest(project=self._project, feedback=list(said))
        self._post.post(_FEEDBACK, encode_camel(request), "application/json")


def _spans_of(call: LoggedCall, resource: Mapping[str, Any]) -> list[Span]:
    trace_id, root_id = secrets.token_hex(16), secrets.token_hex(8)
    end_ns = time.time_ns()
    start_ns = end_ns - max(0, round((call.duration_s or 0) * 1e9))
    root = Span(
        trace_id=trace_id,
        span_id=root_id,
        name=call.name,
        kind=1,
        start_ns=start_ns,
        end_ns=end_ns,
        attributes=_attributes_of(call),
        status_code=2 if call.error else 0,
        status_message=call.error,
        resource=resource,
        scope_name="evalsi",
        scope_version=__version__,
    )
    if not call.context:
        return [root]
    documents = {f"retrieval.documents.{at}.document.content": text for at, text in enumerate(call.context)}
    retrieval = msgspec.structs.replace(
        root,
        span_id=secrets.token_hex(8),
        parent_span_id=root_id,
        name="retrieve",
        end_ns=start_ns,
        attributes={"openinference.span.kind": "RETRIEVER", **documents},
        status_code=0,
        status_message="",
    )
    return [root, retrieval]


def _attributes_of(call: LoggedCall) -> dict[str, Any]:
    """In the names of OpenInference, of which the server knows all."""
    usage = call.usage
    found: dict[str, Any] = {
        "openinference.span.kind": "LLM" if usage.model else "CHAIN",
        **_value("input", call.input),
        **_value("output", call.output),
    }
    told: dict[str, Any] = {
        "llm.model_name": usage.model,
        "llm.token_count.prompt": usage.input_tokens,
        "llm.token_count.completion": usage.output_tokens,
        "llm.cost.total": usage.cost_usd,
        "session.id": call.session_id,
        "user.id": call.user_id,
        "evalsi.key": call.key,
    }
    found |= {name: value for name, value in told.items() if value not in (None, "")}
    found |= {f"evalsi.label.{name}": str(value) for name, value in call.labels.items()}
    if call.metadata:
        found["metadata"] = _json(call.metadata)
    return found


def _value(side: str, value: Any) -> dict[str, Any]:
    if value is None:
        return {}
    if isinstance(value, str):
        return {f"{side}.value": value}
    return {f"{side}.value": _json(value), f"{side}.mime_type": "application/json"}


def _json(value: Any) -> str:
    """JSON of any value; what JSON has no form for is its text. It never raises, whatever an app logs."""
    try:
        return msgspec.json.encode(value, enc_hook=_plain).decode()
    except Exception:
        return msgspec.json.encode(f"a {type(value).__name__} that has no form in JSON").decode()


def _plain(value: Any) -> Any:
    """What stands for an object in JSON: what Pydantic's models, as clients of providers give them, say themselves; else text."""
    dump = getattr(value, "model_dump", None)
    return dump(mode="json") if callable(dump) and not isinstance(value, type) else str(value)
