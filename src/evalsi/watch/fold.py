"""What the policy store's bytes mean: tallies in buckets, memories of alerts. Implements `ports.policy_store.Folding`.

Its own module because the store must change them inside its own transaction and may not know what they are. Pure.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from typing import Any

import msgspec

from evalsi.core.canonical import digest
from evalsi.ports.policy_store import MINUTE_MS, BucketKey, Notice, PolicyMark
from evalsi.schema import Alert
from evalsi.watch.alerts import AlertMemory, Bounds, Transition, advanced, key_of
from evalsi.watch.policy import CheckedPolicy
from evalsi.watch.tally import Tally, alone

DURATION = "@duration_ms"
"""The metric under which durations of traces are counted for the rule "slow"."""
MOST_GROUPS = 24
"""Fields by which the values of one subject are counted apart."""
_TALLY = msgspec.msgpack.Decoder(Tally)
_MEMORIES = msgspec.msgpack.Decoder(dict[str, AlertMemory])


@dataclass(frozen=True)
class WatchFolding:
    """Implements `Folding` for the policies of one project."""

    project: str
    policies: Mapping[str, CheckedPolicy]
    """By name; marks of others change no alert."""

    def changes(self, added: Sequence[PolicyMark], removed: Sequence[PolicyMark]) -> Mapping[BucketKey, bytes]:
        found = _tallies(added)
        for key, gone in _tallies(removed).items():
            left = Tally()
            left.plus(found.get(key, Tally()))
            left.plus(gone, -1)
            found[key] = left
        return {key: msgspec.msgpack.encode(tally) for key, tally in found.items()}

    def merged(self, body: bytes, change: bytes) -> bytes:
        tally = _TALLY.decode(body)
        tally.plus(_TALLY.decode(change))
        return msgspec.msgpack.encode(tally)

    def alerted(
        self, policy: str, state: bytes | None, fresh: Sequence[PolicyMark]
    ) -> tuple[bytes | None, Sequence[Notice]]:
        checked = self.policies.get(policy)
        if checked is None or not checked.policy.alerts:
            return state, ()
        before = memories_of(state)
        after: dict[str, AlertMemory] = {}
        notices: list[Notice] = []
        for alert in checked.policy.alerts:
            key, bounds = key_of(alert), Bounds(*checked.bounds_of(alert.metric))
            values = [(mark.at_ms, value) for mark in fresh for value in mark.values.get(alert.metric, ())]
            after[key], changes = advanced(before.get(key, AlertMemory()), alert, bounds, values)
            notices += [self._notice(checked, alert, change) for change in changes if alert.webhook]
        return msgspec.msgpack.encode(after), notices

    def _notice(self, checked: CheckedPolicy, alert: Alert, change: Transition) -> Notice:
        name = checked.policy.name
        key = digest((self.project, name, key_of(alert), alert.webhook, change.number)).removeprefix("sha256:")[:32]
        event = "alert.fired" if change.fired else "alert.resolved"
        said = {
            "id": key,
            "type": event,
            "project": self.project,
            "policy": name,
            "metric": alert.metric,
            "firing": change.fired,
            "side": change.side,
            "mean": change.mean,
            "n": change.n,
            "below": alert.below,
            "above": alert.above,
            "at": datetime.fromtimestamp(change.at_ms / 1000, UTC).isoformat().replace("+00:00", "Z"),
        }
        return Notice(
            key=key,
            policy=name,
            event=event,
            url=alert.webhook,
            form=alert.form or "json",
            secret_env=alert.secret_env,
            body=msgspec.json.encode(_in_form(alert, said)),
        )


def memories_of(state: bytes | None) -> dict[str, AlertMemory]:
    """The memories in a state, by `alerts.key_of`."""
    return {} if state is None else _MEMORIES.decode(state)


def tally_of(body: bytes) -> Tally:
    """The tally in the body of a bucket."""
    return _TALLY.decode(body)


def sentence_of(said: Mapping[str, Any]) -> str:
    """An alert in a sentence."""
    bound = f"below {said['below']:g}" if said["side"] == "below" else f"above {said['above']:g}"
    if said["firing"]:
        return f"{said['policy']}: {said['metric']} is {bound}: mean {said['mean']:.4g} of {said['n']:,} values"
    return f"{said['policy']}: {said['metric']} is no longer {bound}: mean {said['mean']:.4g} of {said['n']:,} values"


def _in_form(alert: Alert, said: Mapping[str, Any]) -> dict[str, Any]:
    match alert.form:
        case "slack":
            return {"text": sentence_of(said)}
        case "pagerduty":
            opening = f"{said['project']}/{said['policy']}/{key_of(alert)}"
            return {
                "event_action": "trigger" if said["firing"] else "resolve",
                "dedup_key": digest(opening).removeprefix("sha256:")[:32],
                "payload": {
                    "summary": sentence_of(said),
                    "source": f"evalsi/{said['project']}/{said['policy']}",
                    "severity": "error",
                    "timestamp": said["at"],
                    "custom_details": dict(said),
                },
            }
        case _:
            return dict(said)


class _Heap:
    """Values that are counted in the same buckets, before they are counted."""

    def __init__(self) -> None:
        self.values: list[float] = []
        self.clusters: list[str] = []
        self.reasons: list[str] = []
        self.errors = 0

    def take(self, other: "_Heap") -> None:
        self.values += other.values
        self.clusters += other.clusters
        self.reasons += other.reasons
        self.errors += other.errors

    @cached_property
    def tally(self) -> Tally:
        return Tally.of(self.values, self.clusters, self.reasons, self.errors)


def _tallies(marks: Iterable[PolicyMark]) -> dict[BucketKey, Tally]:
    """What these marks add to which bucket. Most marks are counted in the same buckets, and then once for all of them: a tally
    may stand for several buckets, and is not to be changed.
    """
    heaps: defaultdict[tuple[str, str, int, tuple[tuple[str, str], ...]], _Heap] = defaultdict(_Heap)
    for mark in marks:
        start_ms = mark.at_ms - mark.at_ms % MINUTE_MS
        if mark.duration_ms is not None:
            heaps[mark.policy, DURATION, start_ms, ()].values.append(mark.duration_ms)
        if mark.stage != "evaluated":
            continue
        cluster = mark.cluster or alone(mark.subject)
        groups = tuple(mark.groups.items())[:MOST_GROUPS]
        for metric, values in mark.values.items():
            heap = heaps[mark.policy, metric, start_ms, groups]
            heap.values += values
            # Steps of one trace are not independent either.
            heap.clusters += [cluster] if len(values) == 1 else [cluster.lstrip("\0")] * len(values)
        for metric, reasons in mark.skipped.items():
            heaps[mark.policy, metric, start_ms, groups].reasons += reasons
        for metric in mark.errors:
            heaps[mark.policy, metric, start_ms, groups].errors += 1
    buckets: defaultdict[BucketKey, list[_Heap]] = defaultdict(list)
    for (policy, metric, start_ms, groups), heap in heaps.items():
        for field, value in (("", ""), *groups):
            buckets[BucketKey(policy, metric, field, value, start_ms)].append(heap)
    return {key: _one_of(some).tally for key, some in buckets.items()}


def _one_of(heaps: Sequence[_Heap]) -> _Heap:
    if len(heaps) == 1:
        return heaps[0]
    whole = _Heap()
    for heap in heaps:
        whole.take(heap)
    return whole
