"""Prometheus metrics of the server: latencies as histograms per method, queues and workers.

Its own module because names and labels are a contract with dashboards. What always holds: labels come from the schema,
never from what a caller sends, so their number is bounded.
"""

from collections.abc import Callable, Iterable, Iterator
from functools import cache

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from evalsi.core.errors import CredentialDeniedError, UnauthenticatedError
from evalsi.core.version import __version__
from evalsi.ports.worker_pool import PoolState

_BUCKETS = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300)


class Measures:
    """What `/metrics` shows. `registry` takes collectors of other parts too.

    Args:
        pools: How the pools of workers are doing.
        audit_failures: How many entries of the audit log could not be written.
    """

    def __init__(self, pools: Callable[[], Iterable[PoolState]], audit_failures: Callable[[], int] = lambda: 0) -> None:
        self.registry = CollectorRegistry(auto_describe=True)
        self._seconds = Histogram(
            "evalsi_call_seconds",
            "Time a call took, from its arrival to its last byte.",
            ("method", "protocol", "code"),
            buckets=_BUCKETS,
            registry=self.registry,
        )
        self.in_flight = Gauge("evalsi_calls_in_flight", "Calls that are under way.", registry=self.registry)
        about = Gauge(
            "evalsi_build_info", "Always 1; the label says the version.", ("version",), registry=self.registry
        )
        about.labels(__version__).set(1)
        self._unauthenticated = Counter(
            "evalsi_unauthenticated", "Calls without a credential that is accepted.", registry=self.registry
        )
        self._denied = Counter(
            "evalsi_credential_denied",
            "Calls that named a credential which their project was not granted.",
            registry=self.registry,
        )
        self.registry.register(_Pools(pools))
        self.registry.register(_Audit(audit_failures))
        self._child = cache(self._seconds.labels)

    def count(self, method: str, protocol: str, code: str, seconds: float) -> None:
        """Counts a call that ended. `code` is "ok" or a code of the error tree."""
        self._child(method, protocol, code).observe(seconds)
        if code == UnauthenticatedError.code:
            self._unauthenticated.inc()
        elif code == CredentialDeniedError.code:
            self._denied.inc()

    def text(self) -> bytes:
        return generate_latest(self.registry)


class _Audit(Collector):
    def __init__(self, failures: Callable[[], int]) -> None:
        self._failures = failures

    def collect(self) -> Iterator[Metric]:
        yield CounterMetricFamily(
            "evalsi_audit_write_failures",
            "Entries of the audit log that could not be written; their calls were not made.",
            self._failures(),
        )


class _Pools(Collector):
    def __init__(self, pools: Callable[[], Iterable[PoolState]]) -> None:
        self._pools = pools

    def collect(self) -> Iterator[Metric]:
        workers = GaugeMetricFamily("evalsi_workers", "Worker processes that are alive.", labels=["pool"])
        busy = GaugeMetricFamily("evalsi_workers_busy", "Worker processes at work.", labels=["pool"])
        waiting = GaugeMetricFamily("evalsi_queue_depth", "Calls that wait for a worker.", labels=["pool"])
        restarts = CounterMetricFamily(
            "evalsi_worker_restarts", "Worker processes that were lost or killed.", labels=["pool"]
        )
        for pool in self._pools():
            workers.add_metric([pool.name], pool.workers)
            busy.add_metric([pool.name], pool.busy)
            waiting.add_metric([pool.name], pool.waiting)
            restarts.add_metric([pool.name], pool.restarts)
        yield from (workers, busy, waiting, restarts)
