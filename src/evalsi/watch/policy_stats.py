"""What a policy did and found, for people: its counts, figures, alerts, spending, and what somebody should know."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from evalsi.core.errors import UsageError
from evalsi.ports.judge_tokens import JudgeTokenQuota
from evalsi.ports.policy_store import MINUTE_MS, Bucket, DaySpent, PolicyStore
from evalsi.schema import AlertState, MetricDrift, MetricWindow, PolicyStats
from evalsi.watch.alerts import AlertMemory, Bounds, interval_of, key_of
from evalsi.watch.cascade import NO_CONTENT
from evalsi.watch.day_meter import day_of, why_used_up
from evalsi.watch.figures import drift_of, interval_message, moment, period_of, series_of, windows_of
from evalsi.watch.fold import memories_of, tally_of
from evalsi.watch.policy import CheckedPolicy

MOST_GROUPS = 100
"""Values of the field that figures are split by: as many of those with the most results, and of those seen last."""
FIELDS = ("version", "service", "model")
_LABEL = "label."


@dataclass(frozen=True, kw_only=True)
class StatsAsked:
    """Which figures."""

    since: datetime | None = None
    """From when the series begins; None for the window."""
    step_s: float | None = None
    by: str = ""


def policy_stats(
    store: PolicyStore,
    checked: CheckedPolicy,
    now: datetime,
    asked: StatsAsked,
    quota: JudgeTokenQuota | None = None,
) -> PolicyStats:
    """Raises: UsageError: figures cannot be split by what was asked. StoreError."""
    if asked.by and asked.by not in FIELDS and not asked.by.startswith(_LABEL):
        raise UsageError(
            f"figures cannot be split by {asked.by!r}", where="by", hint=f"one of {', '.join(FIELDS)}, label.<key>"
        )
    project, name = checked.policy.project, checked.policy.name
    now_ms = int(now.timestamp() * 1000)
    window_ms = int(checked.window_s * 1000)
    # A bucket is a whole minute: the window begins with the minute in which it begins.
    start_ms = _minute(now_ms - window_ms)
    since_ms = start_ms if asked.since is None else _minute(int(asked.since.timestamp() * 1000))
    first_ms = min(since_ms, start_ms)
    buckets = store.buckets(project, name, since_ms=first_ms, until_ms=now_ms + 1, field=asked.by)
    buckets, left_out = _largest_groups(buckets, asked.by)
    window = period_of(buckets, start_ms, now_ms + 1)
    step_ms = None if asked.step_s is None else int(asked.step_s * 1000)
    series = series_of([each for each in buckets if each.key.start_ms >= since_ms], since_ms, now_ms + 1, step_ms)
    counts = store.counts(project, name)
    today = store.add_spent(project, name, day_of(now), DaySpent(0.0, 0, 0))
    metrics = windows_of(window, checked)
    over = _quota_used_up(checked, quota) or why_used_up(checked.policy.budget, today)
    return PolicyStats(
        policy=name,
        traces_seen=counts.get("seen", 0),
        traces_matched=counts.get("matched", 0),
        traces_sampled=counts.get("sampled", 0),
        traces_evaluated=counts.get("evaluated", 0),
        traces_promoted=counts.get("promoted", 0),
        evaluation_errors=counts.get("errors", 0),
        metrics=metrics,
        alerts=_alerts(store, checked),
        series=[each for period in series for each in windows_of(period, checked)],
        traces_waiting=store.waiting(project, name),
        usd_today=None if today.unpriced else today.usd,
        tokens_today=today.tokens,
        budget_reached=over is not None,
        traces_over_budget=counts.get("over_budget", 0),
        warnings=[*_warnings(metrics, over), *left_out],
        drift=_drift(store, checked, start_ms, now_ms) if not asked.by else [],
    )


def _largest_groups(buckets: Sequence[Bucket], by: str) -> tuple[Sequence[Bucket], list[str]]:
    """The buckets of the values that are shown, and what to say of the others: a label may have a value for each trace."""
    begun: dict[str, int] = {}
    for bucket in buckets:
        begun[bucket.key.value] = max(bucket.key.start_ms, begun.get(bucket.key.value, 0))
    if len(begun) <= MOST_GROUPS:
        return buckets, []
    results = Counter[str]()
    for bucket in buckets:
        tally = tally_of(bucket.body)
        results[bucket.key.value] += tally.n + tally.skipped + tally.errors
    # Of values that are equal in this, the first by name: the same figures each time.
    largest = sorted(begun, key=lambda value: (-results[value], value))[:MOST_GROUPS]
    latest = sorted(begun, key=lambda value: (-begun[value], value))[:MOST_GROUPS]
    shown = {*largest, *latest}
    if len(shown) == len(begun):
        return buckets, []
    said = f"{len(shown):,} of {len(begun):,} values of {by} are shown: those with the most results and those seen last"
    return [bucket for bucket in buckets if bucket.key.value in shown], [said]


def _quota_used_up(checked: CheckedPolicy, quota: JudgeTokenQuota | None) -> str | None:
    if quota is None or not checked.asks_judge:
        return None
    left = quota.left(checked.policy.project)
    return left.used_up if left.tokens is not None and left.tokens <= 0 else None


def _alerts(store: PolicyStore, checked: CheckedPolicy) -> list[AlertState]:
    memories = memories_of(store.alert_state(checked.policy.project, checked.policy.name))
    found: list[AlertState] = []
    for alert in checked.policy.alerts:
        memory = memories.get(key_of(alert), AlertMemory())
        bounds = Bounds(*checked.bounds_of(alert.metric))
        found.append(
            AlertState(
                alert=alert,
                firing=bool(memory.side),
                since=moment(memory.since_ms) if memory.changes else None,
                n=memory.n,
                mean=memory.mean,
                ci=interval_message(interval_of(memory, alert, bounds)),
            )
        )
    return found


def _drift(store: PolicyStore, checked: CheckedPolicy, start_ms: int, now_ms: int) -> list[MetricDrift]:
    """From the window before this one to this one."""
    length_ms = now_ms - start_ms
    project, name = checked.policy.project, checked.policy.name
    buckets = store.buckets(project, name, since_ms=start_ms - length_ms, until_ms=now_ms + 1)
    before = period_of(buckets, start_ms - length_ms, start_ms).tallies
    now = period_of(buckets, start_ms, now_ms + 1).tallies
    return [
        drift_of(metric, before[metric, ""], now[metric, ""], checked.range_of(metric))
        for metric, _ in sorted(before.keys() & now.keys())
    ]


def _warnings(metrics: Sequence[MetricWindow], over: str | None) -> list[str]:
    found = [over] if over is not None else []
    for window in metrics:
        without = window.skip_reasons.get(NO_CONTENT, 0)
        if without:
            found.append(
                f"skipped: {NO_CONTENT}: {window.metric} on {without:,} of {window.n + window.skipped + window.errors:,}; "
                "have the instrumentation capture messages"
            )
    return found


def _minute(ms: int) -> int:
    return ms - ms % MINUTE_MS
