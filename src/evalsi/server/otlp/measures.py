"""What was received, what was dropped and why, as Prometheus counters.

Its own module because names are a contract with dashboards. What always holds: every span that was sent and is not stored is
counted under a reason, unless its whole request was refused, which is counted too.
"""

from collections.abc import Callable, Iterator, Mapping

from prometheus_client import CollectorRegistry, Counter
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from evalsi.core.errors import StoreError
from evalsi.ports.trace_store import Appended
from evalsi.server.otlp.reply import Signal


class OtlpMeasures:
    """Counters in a registry.

    Args:
        pending: Traces that are not complete; asked when metrics are read.
        held: Bytes of requests in memory.
    """

    def __init__(self, registry: CollectorRegistry, pending: Callable[[], int], held: Callable[[], int]) -> None:
        self._traces = Counter("evalsi_traces_ingested", "Traces of which a first span was stored.", registry=registry)
        self._spans = Counter("evalsi_spans_ingested", "Spans that were stored.", registry=registry)
        self._bytes = Counter(
            "evalsi_ingested_bytes", "Bytes of requests, unpacked, that were stored.", registry=registry
        )
        self._spans_dropped = Counter(
            "evalsi_spans_dropped", "Spans that were sent and not stored, by reason.", ("reason",), registry=registry
        )
        self._logs_dropped = Counter(
            "evalsi_log_records_dropped",
            "Log records that were sent and not kept, by reason: most are no events of generative AI.",
            ("reason",),
            registry=registry,
        )
        self._traces_dropped = Counter(
            "evalsi_traces_dropped", "Traces of which a request brought spans and none was stored.", registry=registry
        )
        self._refused = Counter(
            "evalsi_otlp_requests_refused",
            "Requests that were refused as a whole, by reason.",
            ("reason",),
            registry=registry,
        )
        registry.register(_Now(pending, held))

    def appended(self, new: Appended) -> None:
        """Counts what a transaction stored. Any thread may call it."""
        self._traces.inc(new.traces)
        self._spans.inc(new.spans)

    def received(self, size: int) -> None:
        self._bytes.inc(size)

    def dropped(self, counts: Mapping[str, int], signal: Signal) -> None:
        counter = self._spans_dropped if signal == "traces" else self._logs_dropped
        for reason, count in counts.items():
            counter.labels(reason).inc(count)

    def dropped_traces(self, count: int) -> None:
        self._traces_dropped.inc(count)

    def refused(self, reason: str) -> None:
        self._refused.labels(reason).inc()


class _Now(Collector):
    def __init__(self, pending: Callable[[], int], held: Callable[[], int]) -> None:
        self._pending = pending
        self._held = held

    def collect(self) -> Iterator[Metric]:
        yield GaugeMetricFamily("evalsi_otlp_waiting_bytes", "Bytes of requests that are not stored yet.", self._held())
        try:
            pending = self._pending()
        except StoreError:
            return
        yield GaugeMetricFamily("evalsi_traces_pending", "Traces that are not complete.", pending)
