"""Spans of our own work as OpenTelemetry has them, sent to an OTLP receiver over HTTP.

Implements `core.own_traces.Tracer`. The SDK gathers and sends in a thread of its own, so no work waits for a receiver, and
one that is gone costs spans and nothing else. What always holds: a failure is told by its code, never by its text.
"""

import logging
from collections.abc import Generator, Mapping
from contextlib import contextmanager, suppress
from contextvars import ContextVar

from opentelemetry import trace
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

from evalsi.core.errors import EvalsiError
from evalsi.core.own_traces import Attribute
from evalsi.core.version import __version__

_EXPORT_DELAY_MS = 1000
_CURRENT: ContextVar[trace.Span | None] = ContextVar("evalsi_span", default=None)
_PROPAGATOR = TraceContextTextMapPropagator()


class _Span:
    """Implements `core.own_traces.Span`."""

    def __init__(self, inner: trace.Span) -> None:
        self._inner = inner

    def set(self, name: str, value: Attribute) -> None:
        self._inner.set_attribute(name, value)

    def fail(self, code: str) -> None:
        self._inner.set_attribute("error.type", code)
        self._inner.set_status(trace.StatusCode.ERROR)


class OpenTelemetry:
    """Implements `Tracer`.

    Args:
        endpoint: Address of the receiver, such as http://127.0.0.1:4318/v1/traces.
        part: Which of our processes this is.
    """

    def __init__(self, endpoint: str, part: str) -> None:
        # What the SDK has to say of a receiver that is gone goes where our log goes, or nowhere.
        logging.getLogger("opentelemetry").addHandler(logging.NullHandler())
        resource = Resource.create(
            {"service.name": "evalsi", "service.version": __version__, "service.instance.part": part}
        )
        self._provider = TracerProvider(resource=resource)
        exporter = OTLPSpanExporter(endpoint=endpoint)
        self._provider.add_span_processor(BatchSpanProcessor(exporter, schedule_delay_millis=_EXPORT_DELAY_MS))
        self._tracer = self._provider.get_tracer("evalsi", __version__)

    @contextmanager
    def span(self, name: str, attributes: Mapping[str, Attribute], parent: str, *, is_call: bool) -> Generator[_Span]:
        around = _CURRENT.get()
        context = (
            _PROPAGATOR.extract({"traceparent": parent})
            if parent
            else trace.set_span_in_context(around if around is not None else trace.INVALID_SPAN)
        )
        kind = trace.SpanKind.SERVER if is_call else trace.SpanKind.INTERNAL
        inner = self._tracer.start_span(name, context, kind, attributes=attributes)
        token = _CURRENT.set(inner)
        span = _Span(inner)
        try:
            yield span
        except Exception as error:
            span.fail(error.code if isinstance(error, EvalsiError) else type(error).__name__)
            raise
        finally:
            with suppress(ValueError):  # a stream may end in another task than it began in
                _CURRENT.reset(token)
            inner.end()

    def traceparent(self) -> str:
        around = _CURRENT.get()
        if around is None:
            return ""
        carrier: dict[str, str] = {}
        _PROPAGATOR.inject(carrier, trace.set_span_in_context(around))
        return carrier.get("traceparent", "")
