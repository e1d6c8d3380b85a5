"""Metrics of the audit log's way to sinks, as the store has them. Its own module because labels are sinks that the operator named."""

from collections.abc import Iterator

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from evalsi.core.errors import StoreError
from evalsi.ports.audit_outbox import AuditOutbox


class AuditMeasures(Collector):
    """Entries that each sink has, has refused, and has not yet."""

    def __init__(self, outbox: AuditOutbox) -> None:
        self._outbox = outbox

    def collect(self) -> Iterator[Metric]:
        deliveries = CounterMetricFamily(
            "evalsi_audit_deliveries",
            "Entries of the audit log that were to be taken to a sink.",
            labels=["sink", "outcome"],
        )
        waiting = GaugeMetricFamily("evalsi_audit_waiting", "Entries that the sink has not yet.", labels=["sink"])
        try:
            standings = self._outbox.audit_standings()
        except StoreError:
            return  # a store that cannot be asked says nothing
        for sink, still, delivered, given_up in standings:
            deliveries.add_metric([sink, "delivered"], delivered)
            deliveries.add_metric([sink, "given_up"], given_up)
            waiting.add_metric([sink], still)
        yield from (deliveries, waiting)
