"""What the Reward door counts, for `/metrics`.

Its own module because the names are those of the published interface, which dashboards know. What always holds: nothing of
a call becomes a label.
"""

from prometheus_client import CollectorRegistry, Counter, Gauge

from evalsi.schema import Reward


class RewardMeasures:
    """Counters of one server. `registry` is shown by `/metrics`."""

    def __init__(self, registry: CollectorRegistry) -> None:
        def counter(name: str, words: str) -> Counter:
            return Counter(f"evalsi_reward_{name}", words, registry=registry)

        self._requests = counter("requests", "Batches of rollouts that were asked for.")
        self._failures = counter("failures", "Batches that ended in an error.")
        self._rollouts = counter("rollouts", "Rollouts that were scored.")
        self._hits = counter("cache_hits", "Rollouts of which every part was known already.")
        self._misses = counter("cache_misses", "Rollouts of which a part was measured.")
        self._waited = counter("wait_seconds", "Time that batches waited until they were taken up.")
        self._scored = counter("score_seconds", "Time that was spent on batches.")
        self._inflight = Gauge(
            "evalsi_reward_inflight_rollouts", "Rollouts that are scored or wait for it.", registry=registry
        )

    def taken(self, rollouts: int) -> None:
        self._requests.inc()
        self._inflight.inc(rollouts)

    def refused(self) -> None:
        self._requests.inc()
        self._failures.inc()

    def left(self, rollouts: int) -> None:
        self._inflight.dec(rollouts)

    def failed(self) -> None:
        self._failures.inc()

    def scored(self, rewards: list[Reward], *, waited_s: float, took_s: float) -> None:
        known = sum(_is_known(reward) for reward in rewards)
        self._rollouts.inc(len(rewards))
        self._hits.inc(known)
        self._misses.inc(len(rewards) - known)
        self._waited.inc(max(0.0, waited_s))
        self._scored.inc(took_s)


def _is_known(reward: Reward) -> bool:
    values = [part for part in reward.components.values() if part.value is not None]
    return bool(values) and all(part.cached for part in values)
