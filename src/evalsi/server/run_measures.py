"""Metrics of runs, and of what all work of the server has used.

Its own module because it asks the store, where the other measures are counted in this process. What always holds: labels
are projects and words of ours, never what somebody wrote into a specification.
"""

from collections.abc import Iterator

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from evalsi.core.errors import StoreError
from evalsi.wiring.accounts import Accounts
from evalsi.wiring.run_serving import RunParts


class RunMeasures(Collector):
    """The queue of runs, as all servers of the store see it."""

    def __init__(self, parts: RunParts) -> None:
        self._parts = parts

    def collect(self) -> Iterator[Metric]:
        finished = CounterMetricFamily(
            "evalsi_runs_finished", "Runs that this server has ended, by how.", labels=["status"]
        )
        for status, count in sorted(self._parts.accounts.ended().items()):
            finished.add_metric([status], count)
        yield finished
        workers = self._parts.workers
        if workers is not None:
            yield GaugeMetricFamily(
                "evalsi_run_workers", "Processes of this server that carry out runs.", workers.alive
            )
            yield CounterMetricFamily(
                "evalsi_run_worker_restarts", "Processes for runs that were lost.", workers.restarts
            )
        try:
            depth = self._parts.stores.queue.depth()
        except StoreError:
            return  # a store that cannot be asked has no depth; what is counted here is still told
        waiting, executing = depth.get("waiting", 0), depth.get("claimed", 0)
        yield GaugeMetricFamily("evalsi_runs_waiting", "Runs that nobody works on yet.", waiting)
        yield GaugeMetricFamily("evalsi_runs_executing", "Runs that are being worked on.", executing)
        yield GaugeMetricFamily("evalsi_runs_active", "Runs that are waiting or worked on.", waiting + executing)


class SpentMeasures(Collector):
    """Tokens, money and the judge cache, by project; and what watch workers tell."""

    def __init__(self, accounts: Accounts) -> None:
        self._accounts = accounts

    def collect(self) -> Iterator[Metric]:
        tokens = CounterMetricFamily(
            "evalsi_tokens", "Tokens that models read and wrote.", labels=["project", "role", "direction"]
        )
        cost = CounterMetricFamily(
            "evalsi_cost_usd", "US dollars that models cost, as far as prices are known.", labels=["project", "role"]
        )
        cache = CounterMetricFamily(
            "evalsi_judge_cache",
            "Questions to judges: hits were answered without asking.",
            labels=["project", "result"],
        )
        tried = CounterMetricFamily(
            "evalsi_webhook_attempts", "Attempts to deliver a message of a policy to its webhook.", labels=["outcome"]
        )
        for outcome, count in sorted(self._accounts.tried().items()):
            tried.add_metric([outcome], count)
        for each in self._accounts.spent():
            tokens.add_metric([each.project, each.role, "input"], each.input_tokens)
            tokens.add_metric([each.project, each.role, "output"], each.output_tokens)
            cost.add_metric([each.project, each.role], each.cost_usd)
            if each.role == "judge":
                cache.add_metric([each.project, "hit"], each.cached)
                cache.add_metric([each.project, "miss"], each.asked)
        yield from (tokens, cost, cache, tried)
        yield CounterMetricFamily(
            "evalsi_traces_damaged",
            "Traces that could not be read, or not all of them; they bear the label evalsi.damaged.",
            self._accounts.damaged(),
        )
