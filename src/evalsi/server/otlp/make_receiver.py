"""What receives traces, from the settings and the parts of a server."""

import time

from prometheus_client import CollectorRegistry

from evalsi.access.guard import Guard
from evalsi.ports.trace_store import Waiting
from evalsi.server.otlp.body_reader import BodyReader
from evalsi.server.otlp.measures import OtlpMeasures
from evalsi.server.otlp.rates import Rates
from evalsi.server.otlp.receiver import Receiver
from evalsi.server.otlp.trace_sizes import TraceSizes
from evalsi.server.otlp.waiting_bytes import WaitingBytes
from evalsi.settings.server import OtlpSettings, ProjectOtlpSettings, RedactionSettings, ServerSettings
from evalsi.traces.trace_parts import PartLimits
from evalsi.watch.redaction_rules import RedactionRules
from evalsi.wiring.trace_serving import TraceParts
from evalsi.wiring.watching import WatchParts

_AS_ALL = ProjectOtlpSettings()


def make_receiver(
    server: ServerSettings, traces: TraceParts, watch: WatchParts, guard: Guard, registry: CollectorRegistry
) -> Receiver:
    """The receiver; what it counts is put into `registry`."""
    otlp = server.otlp
    waiting = WaitingBytes(otlp.max_waiting_bytes)
    return Receiver(
        store=traces.store,
        waiting_times=waiting_times(otlp),
        clock=traces.clock,
        guard=guard,
        measures=OtlpMeasures(registry, traces.store.pending, lambda: waiting.held),
        waiting=waiting,
        rates=Rates(server.rate_limits, traces.clock),
        sizes=TraceSizes(),
        reader=BodyReader(
            limits=lambda project: _limits(otlp, project),
            rules=_rules(server.traces.redaction),
            most_spans=max([otlp.max_request_spans, *(own.max_request_spans or 0 for own in otlp.projects.values())]),
        ),
        most_bytes=max([otlp.max_request_bytes, *(own.max_request_bytes or 0 for own in otlp.projects.values())]),
        most_bytes_for=lambda project: _first(
            otlp.projects.get(project, _AS_ALL).max_request_bytes, otlp.max_request_bytes
        ),
        reconsiders=watch.reconsiders,
    )


def waiting_times(otlp: OtlpSettings) -> Waiting:
    """How long traces and sessions wait before they count as complete."""
    return Waiting(
        grace_ms=round(otlp.grace * 1000),
        limit_ms=round(otlp.limit * 1000),
        session_ms=round(otlp.session_quiet * 1000),
    )


def _limits(otlp: OtlpSettings, project: str) -> PartLimits:
    own = otlp.projects.get(project, _AS_ALL)
    max_age_s = otlp.max_age if own.max_age is None else own.max_age
    return PartLimits(
        most_spans=_first(own.max_request_spans, otlp.max_request_spans),
        most_spans_of_trace=_first(own.max_trace_spans, otlp.max_trace_spans),
        most_attributes=_first(own.max_attributes, otlp.max_attributes),
        most_attribute_bytes=_first(own.max_attribute_bytes, otlp.max_attribute_bytes),
        oldest_ns=0 if max_age_s is None else time.time_ns() - round(max_age_s * 1e9),
    )


def _first(own: int | None, usual: int) -> int:
    return usual if own is None else own


def _rules(settings: RedactionSettings) -> RedactionRules:
    if settings == RedactionSettings():
        return RedactionRules()  # without loading the detectors
    from evalsi.settings.redaction_rules import redaction_rules

    return redaction_rules(settings)
