"""Metrics of policies, as the store has them. Its own module because labels are what people named: policies and metrics.

What always holds: their number is bounded by the policies that were applied, whatever traffic brings.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from evalsi.core.errors import EvalsiError
from evalsi.ports.policy_store import STAGES
from evalsi.ports.score_sink import RUN_PREFIX
from evalsi.wiring.watching import WatchParts

if TYPE_CHECKING:
    from evalsi.watch.policy import CheckedPolicy


class PolicyMeasures(Collector):
    """Subjects by stage, means of the window, alerts that fire, deliveries to sinks."""

    def __init__(self, parts: WatchParts) -> None:
        self._parts = parts

    def collect(self) -> Iterator[Metric]:
        names = ["project", "policy"]
        traces = CounterMetricFamily(
            "evalsi_policy_traces", "Traces and sessions by how far they came with a policy.", labels=[*names, "stage"]
        )
        mean = GaugeMetricFamily(
            "evalsi_policy_metric_mean", "Mean over the policy's window.", labels=[*names, "metric"]
        )
        samples = GaugeMetricFamily(
            "evalsi_policy_metric_samples", "Values in the policy's window.", labels=[*names, "metric"]
        )
        firing = GaugeMetricFamily(
            "evalsi_policy_alert_firing", "1 while an alert on the metric fires.", labels=[*names, "metric"]
        )
        waiting = GaugeMetricFamily("evalsi_policy_waiting", "Traces and sessions that wait in line.", labels=names)
        try:
            if policies := self._parts.policies.policies():
                from evalsi.watch.policy import checked_policy

                for policy in policies:
                    self._add(checked_policy(policy), (traces, mean, samples, firing, waiting))
            found = self._sinks()
        except EvalsiError:
            return  # a store that cannot be asked says nothing
        yield from (traces, mean, samples, firing, waiting, *found)

    def _sinks(self) -> list[Metric]:
        names = ["project", "policy", "sink"]
        deliveries = CounterMetricFamily(
            "evalsi_sink_deliveries",
            "Traces, sessions and records of runs (without a policy) whose scores were to be taken to a sink.",
            labels=[*names, "outcome"],
        )
        waiting = GaugeMetricFamily("evalsi_sink_waiting", "Those that wait to be taken there.", labels=names)
        counts: dict[tuple[str, str, str], list[int]] = {}
        for each in self._parts.outbox.sink_standings():
            # Runs come and go: all of a project are one, under no policy.
            policy = "" if each.policy.startswith(RUN_PREFIX) else each.policy
            count = counts.setdefault((each.project, policy, each.sink), [0, 0, 0])
            for place, more in enumerate((each.delivered, each.given_up, each.waiting)):
                count[place] += more
        for labels, (delivered, given_up, still) in counts.items():
            deliveries.add_metric([*labels, "delivered"], delivered)
            deliveries.add_metric([*labels, "given_up"], given_up)
            waiting.add_metric(labels, still)
        return [deliveries, waiting]

    def _add(
        self,
        checked: "CheckedPolicy",
        families: tuple[
            CounterMetricFamily, GaugeMetricFamily, GaugeMetricFamily, GaugeMetricFamily, GaugeMetricFamily
        ],
    ) -> None:
        from evalsi.watch.alerts import AlertMemory, key_of
        from evalsi.watch.figures import period_of
        from evalsi.watch.fold import memories_of

        traces, mean, samples, firing, waiting = families
        store, policy = self._parts.policies, checked.policy
        labels = [policy.project, policy.name]
        counts = store.counts(policy.project, policy.name)
        for stage in (*STAGES, "promoted", "over_budget"):
            traces.add_metric([*labels, stage], counts.get(stage, 0))
        now_ms = int(self._parts.clock.now().timestamp() * 1000)
        start_ms = now_ms - int(checked.window_s * 1000)
        buckets = store.buckets(policy.project, policy.name, since_ms=start_ms, until_ms=now_ms + 1)
        for (metric, _), tally in sorted(period_of(buckets, start_ms, now_ms + 1).tallies.items()):
            samples.add_metric([*labels, metric], tally.n)
            if tally.mean is not None:
                mean.add_metric([*labels, metric], tally.mean)
        memories = memories_of(store.alert_state(policy.project, policy.name))
        fires: dict[str, bool] = {}
        for alert in policy.alerts:
            fires[alert.metric] = fires.get(alert.metric, False) or bool(
                memories.get(key_of(alert), AlertMemory()).side
            )
        for metric, is_firing in sorted(fires.items()):
            firing.add_metric([*labels, metric], float(is_firing))
        waiting.add_metric(labels, store.waiting(policy.project, policy.name))
