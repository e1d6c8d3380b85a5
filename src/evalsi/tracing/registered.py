"""Finds or makes the provider of this process and adds our exporter to it, once for each server.

Its own module because it needs OpenTelemetry's SDK, which `evalsi.tracing` must not load before somebody asks for it.
"""

import atexit
import threading
import weakref

from opentelemetry import trace
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor

from evalsi.core.errors import UsageError
from evalsi.settings import Settings
from evalsi.tracing.span_exporter import SpanExporter
from evalsi.wiring.traffic_address import traffic_address

EXIT_MS = 5_000
"""How long the end of the process waits for what is left."""
_lock = threading.Lock()
_known: "weakref.WeakKeyDictionary[TracerProvider, set[tuple[str, str]]]" = weakref.WeakKeyDictionary()


def registered(*, endpoint: str, project: str, api_key: str, service: str) -> TracerProvider:
    """As `evalsi.tracing.register`."""
    address = traffic_address(Settings.from_environment(), endpoint=endpoint, project=project, api_key=api_key)
    exporter = SpanExporter(address)
    with _lock:
        provider = _provider(service)
        known = _known.setdefault(provider, set())
        if (address.url, address.project) not in known:
            known.add((address.url, address.project))
            processor = BatchSpanProcessor(exporter)
            provider.add_span_processor(processor)
            atexit.register(processor.force_flush, EXIT_MS)
    return provider


def _provider(service: str) -> TracerProvider:
    current = trace.get_tracer_provider()
    if isinstance(current, TracerProvider):
        return current
    if not isinstance(current, trace.ProxyTracerProvider):
        raise UsageError(
            f"this process has a tracer provider that takes no exporters: {type(current).__name__}",
            hint="set up OpenTelemetry's SDK first, or send to the server through a collector",
        )
    provider = TracerProvider(resource=Resource.create({"service.name": service} if service else {}))
    trace.set_tracer_provider(provider)
    return provider
