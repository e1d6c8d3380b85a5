"""Policies: the list of them, and one with its figures over time, its alerts, what it spends and what it compares.

Its own module because a mean over traffic is shown as everywhere else, with n and interval, and beside it what moved.
"""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import partial

from markupsafe import Markup

from evalsi.core.errors import EvalsiError, NotFoundError
from evalsi.core.figure import counted
from evalsi.datasets.promoted_path import promoted_path
from evalsi.report import plot
from evalsi.report.figures import money, seconds
from evalsi.schema import (
    AlertState,
    CompareTrafficRequest,
    CompareTrafficResponse,
    ConfidenceInterval,
    GetPolicyStatsRequest,
    GetPolicyStatsResponse,
    ListPoliciesRequest,
    ListPoliciesResponse,
    ListTracesRequest,
    ListTracesResponse,
    MetricWindow,
    OnlineEvalPolicy,
    PolicyStats,
    TraceFilter,
    TrafficComparison,
    TrafficSlice,
)
from evalsi.server.pages.project_choice import visible_names
from evalsi.server.pages.score_reading import declared_outputs, score_cell
from evalsi.server.pages.trace_filter import own_project, trace_address, within
from evalsi.server.pages.trend_chart import Axis, Period, axis_of, trend_chart, trend_words
from evalsi.server.pages.visit import Page, Query, Visit
from evalsi.watch.policy import DEFAULT_WINDOW_S
from evalsi.watch.traffic_choices import groups_of, is_empty_side, nothing_with

PERIODS = {"hour": timedelta(hours=1), "day": timedelta(days=1), "week": timedelta(days=7), "month": timedelta(days=30)}
"""How far back a trend can look, by the word in the address."""
SPLITS = ("version", "service", "model")
MOST_GROUPS = 6
"""Trends of one metric that stand beside each other when it is split."""
MOST_POLICIES = 100
SAMPLE = 12
"""Traces that the page of a policy shows."""
_AT_ONCE = 8


@dataclass(frozen=True, kw_only=True)
class MetricRow:
    """A figure over the window, drawn."""

    window: MetricWindow
    plot: Markup
    reasons: str
    """Why evaluations were skipped."""


@dataclass(frozen=True, kw_only=True)
class PolicyLine:
    """A row of the list."""

    policy: OnlineEvalPolicy
    stats: PolicyStats
    address: str
    metric: MetricRow | None
    others: int
    trend: Markup
    firing: int
    spent: str
    evaluators: str
    problem: str = ""


@dataclass(frozen=True, kw_only=True)
class Trend:
    """A metric over time."""

    metric: str
    group: str
    chart: Markup
    axis: Axis
    last: MetricWindow | None
    """The latest with values: the figures above the chart are its own."""


@dataclass(frozen=True, kw_only=True)
class AlertLine:
    """An alert and how it stands."""

    state: AlertState
    rule: str
    plot: Markup
    since: datetime | None


async def policies_page(visit: Visit) -> Page:
    request = ListPoliciesRequest(project=visit.query.get("project"))
    policies = (await visit.call("MonitorService.ListPolicies", request, ListPoliciesResponse)).policies
    enough = asyncio.Semaphore(_AT_ONCE)

    async def line(policy: OnlineEvalPolicy) -> PolicyLine:
        async with enough:
            return await _line(visit, policy)

    lines = await asyncio.gather(*(line(policy) for policy in policies[:MOST_POLICIES]))
    return Page(
        template="policies.html.jinja",
        values={
            "lines": sorted(lines, key=lambda one: (-one.firing, one.policy.disabled, one.policy.name)),
            "left_out": max(0, len(policies) - MOST_POLICIES),
            "projects": await visible_names(visit),
            "shows_projects": len({policy.project for policy in policies}) > 1,
            "is_filtered": bool(request.project),
            "cli": ["evalsi policy list"],
        },
    )


async def policy_page(visit: Visit, name: str) -> Page:
    query = visit.query
    project = query.get("of")
    period = query.get("period") if query.get("period") in PERIODS else ""
    listed = ListTracesRequest(project=project, page_size=SAMPLE, filter=TraceFilter(policy=name))
    policies, stats, sample, versions = await asyncio.gather(
        visit.call("MonitorService.ListPolicies", ListPoliciesRequest(project=project), ListPoliciesResponse),
        _stats(visit, name, period or "day"),
        visit.call("TraceService.ListTraces", listed, ListTracesResponse),
        _versions(visit, name),
    )
    policy = _named(policies.policies, name, project)
    if not period:
        period = _fitting_period(stats)
        stats = stats if period == "day" else await _stats(visit, name, period)
    now = datetime.now(UTC)
    shown_period = Period(begin=now - PERIODS[period], end=now)
    comparisons, problem = await _compared(visit, policy, versions)
    shown = {one for trace in sample.traces for one in trace.scores} | {window.metric for window in stats.metrics}
    specs = await declared_outputs(visit, shown, policy.project)
    bounds = {alert.metric: [b for b in (alert.below, alert.above) if b is not None] for alert in policy.alerts}
    return Page(
        template="policy.html.jinja",
        values={
            "policy": policy,
            "stats": stats,
            "metrics": [_metric(window, stats.metrics) for window in stats.metrics],
            "trends": _trends(stats.series, bounds, shown_period),
            "shown_period": shown_period,
            "window": _window_words(policy),
            "groups": len({one.group for one in stats.series}),
            "most_groups": MOST_GROUPS,
            "alerts": [_alert(state) for state in stats.alerts],
            "funnel": _funnel(stats),
            "spent": _spent(policy, stats),
            "budget_share": _budget_share(policy, stats),
            "facts": _facts(policy),
            "sample": [
                (
                    trace,
                    trace_address(trace, Query("")),
                    [score_cell(*one, specs) for one in sorted(trace.scores.items())],
                )
                for trace in sample.traces
            ],
            "versions": versions,
            "specs": specs,
            "known_versions": partial(_with_chosen, versions),
            "comparisons": comparisons,
            "problem": problem,
            "period": period,
            "periods": list(PERIODS),
            "splits": SPLITS,
            "place": f"/ui/policies/{policy.name}",
            "of": own_project(policy.project),
            "within": within,
            "difference_plot": _difference_plot,
            "cli": [f"evalsi policy stats {policy.name}"],
        },
    )


async def _stats(visit: Visit, name: str, period: str) -> PolicyStats:
    wanted = GetPolicyStatsRequest(
        name=name, project=visit.query.get("of"), since=datetime.now(UTC) - PERIODS[period], by=visit.query.get("by")
    )
    found = await visit.call("MonitorService.GetPolicyStats", wanted, GetPolicyStatsResponse)
    return found.stats or PolicyStats(policy=name)


def _fitting_period(stats: PolicyStats) -> str:
    """The shortest period that holds all of a day's series, so that an hour of traffic is no mark at the edge of a day."""
    known = [window.start for window in stats.series if window.start is not None and window.n]
    since = min(known, default=None)
    return "hour" if since is not None and datetime.now(UTC) - since < PERIODS["hour"] else "day"


async def _versions(visit: Visit, name: str) -> Sequence[str]:
    """Versions of the service in which the policy found something in the last month, the latest first."""
    wanted = GetPolicyStatsRequest(
        name=name, project=visit.query.get("of"), since=datetime.now(UTC) - PERIODS["month"], by="version"
    )
    found = await visit.call("MonitorService.GetPolicyStats", wanted, GetPolicyStatsResponse)
    return groups_of(found.stats or PolicyStats())


async def _line(visit: Visit, policy: OnlineEvalPolicy) -> PolicyLine:
    request = GetPolicyStatsRequest(name=policy.name, project=policy.project)
    problem = ""
    try:
        found = await visit.call("MonitorService.GetPolicyStats", request, GetPolicyStatsResponse)
        stats = found.stats or PolicyStats(policy=policy.name)
    except EvalsiError as error:  # one that cannot be read hides no other
        stats, problem = PolicyStats(policy=policy.name), error.message
    first = stats.metrics[0] if stats.metrics else None
    return PolicyLine(
        policy=policy,
        stats=stats,
        address=f"/ui/policies/{policy.name}{within(policy.project)}",
        metric=_metric(first, [first]) if first is not None else None,
        others=max(0, len(stats.metrics) - 1),
        trend=_spark([one for one in stats.series if first is not None and one.metric == first.metric]),
        firing=sum(state.firing for state in stats.alerts),
        spent=_spent(policy, stats),
        evaluators=_evaluators(policy),
        problem=problem,
    )


def _named(policies: Sequence[OnlineEvalPolicy], name: str, project: str) -> OnlineEvalPolicy:
    same = [policy for policy in policies if policy.name == name]
    found = next((policy for policy in same if policy.project == (project or "default")), same[0] if same else None)
    if found is None:
        raise NotFoundError(f"there is no policy {name[:80]!r}")
    return found


def _evaluators(policy: OnlineEvalPolicy) -> str:
    return ", ".join(evaluator.name or evaluator.ref for stage in policy.stages for evaluator in stage.evaluators)


def _metric(window: MetricWindow, all_of_them: Sequence[MetricWindow]) -> MetricRow:
    axis = axis_of([one for one in all_of_them if one.metric == window.metric])
    ends = (axis.place(window.ci.low), axis.place(window.ci.high)) if window.ci is not None else None
    drawn = plot.interval_plot(axis.place(window.mean) if window.mean is not None else None, ends)
    reasons = sorted(window.skip_reasons.items(), key=lambda item: -item[1])
    return MetricRow(window=window, plot=drawn, reasons="; ".join(f"{count:,} × {why}" for why, count in reasons[:4]))


def _spark(windows: Sequence[MetricWindow]) -> Markup:
    means = [one.mean for one in windows]
    known = [mean for mean in means if mean is not None]
    if len(known) < 2:
        return Markup("")
    low, high = min(known), max(known)
    span = high - low
    return plot.sparkline([None if mean is None else (mean - low) / span if span else 0.5 for mean in means])


def _trends(series: Sequence[MetricWindow], bounds: Mapping[str, Sequence[float]], period: Period) -> list[Trend]:
    """A trend for each metric and group, the groups of a metric on one axis, the largest ones first."""
    by_name: dict[str, dict[str, list[MetricWindow]]] = {}
    for window in series:
        by_name.setdefault(window.metric, {}).setdefault(window.group, []).append(window)
    trends: list[Trend] = []
    for metric, groups in by_name.items():
        axis = axis_of([one for windows in groups.values() for one in windows], bounds.get(metric, ()))
        largest = sorted(groups.items(), key=lambda item: -sum(one.n for one in item[1]))[:MOST_GROUPS]
        for group, windows in largest:
            chart = trend_chart(windows, axis, period, bounds=bounds.get(metric, ()), label=trend_words(windows))
            last = next((one for one in reversed(windows) if one.mean is not None), None)
            trends.append(Trend(metric=metric, group=group, chart=chart, axis=axis, last=last))
    return trends


def _alert(state: AlertState) -> AlertLine:
    alert = state.alert
    bounds = [b for b in (alert.below, alert.above) if b is not None] if alert is not None else []
    window = MetricWindow(mean=state.mean, ci=state.ci)
    axis = axis_of([window], bounds)
    ends = (axis.place(state.ci.low), axis.place(state.ci.high)) if state.ci is not None else None
    drawn = plot.interval_plot(axis.place(state.mean) if state.mean is not None else None, ends)
    marks = "".join(
        f'<line class="bound" x1="{2 + 96 * axis.place(bound):.2f}%" x2="{2 + 96 * axis.place(bound):.2f}%" y1="0" y2="100%"/>'
        for bound in bounds
    )
    rule = ""
    if alert is not None:
        told = [("below", alert.below), ("above", alert.above)]
        rule = " or ".join(f"{word} {bound:g}" for word, bound in told if bound is not None)
    return AlertLine(
        state=state,
        rule=rule,
        plot=Markup(f"{drawn.removesuffix('</svg>')}{marks}</svg>"),  # noqa: S704 - only numbers
        since=state.since if state.firing else None,
    )


def _funnel(stats: PolicyStats) -> list[tuple[str, int]]:
    """From every trace that was seen to those that became cases."""
    return [
        ("seen", stats.traces_seen),
        ("matched", stats.traces_matched),
        ("sampled", stats.traces_sampled),
        ("evaluated", stats.traces_evaluated),
        ("promoted", stats.traces_promoted),
    ]


def _spent(policy: OnlineEvalPolicy, stats: PolicyStats) -> str:
    limit = policy.budget.usd_per_day if policy.budget is not None else None
    if stats.usd_today is None:
        return f"{stats.tokens_today:,} tokens" if stats.tokens_today else ""
    return f"{money(stats.usd_today)} of {money(limit)}" if limit is not None else money(stats.usd_today)


def _budget_share(policy: OnlineEvalPolicy, stats: PolicyStats) -> float | None:
    """How much of the day's budget is used, from 0 to 1; None without one."""
    budget = policy.budget
    shares: list[float] = []
    if budget is not None and budget.usd_per_day and stats.usd_today is not None:
        shares.append(stats.usd_today / budget.usd_per_day)
    if budget is not None and budget.tokens_per_day:
        shares.append(stats.tokens_today / budget.tokens_per_day)
    return min(1.0, max(shares)) if shares else None


def _facts(policy: OnlineEvalPolicy) -> list[tuple[str, str]]:
    rate = policy.sampling.rate if policy.sampling is not None else None
    always = policy.sampling.always if policy.sampling is not None else []
    facts = [
        ("applies to", policy.selector or "every trace"),
        ("samples", _share(rate)),
        ("always", ", ".join(always)),
        ("looks at", "" if str(policy.scope) in ("unspecified", "trace") else f"each {policy.scope}"),
        ("judge", policy.judge),
        ("scores go to", ", ".join(policy.sinks)),
        ("window", _window_words(policy)),
        (
            "promotes to",
            f"{policy.promote.dataset} when {policy.promote.when}" if policy.promote is not None else "",
        ),
    ]
    if policy.promote is not None:
        # No version of a dataset, which never changes: a file that grows, and is named in a run as it is.
        path = promoted_path(policy.project, policy.promote.dataset)
        facts.append(("cases are in", f"{path} below the root of datasets; a run reads them with dataset.path: {path}"))
    facts += [
        (
            f"stage {place}",
            ", ".join(one.name or one.ref for one in stage.evaluators) + (f" when {stage.when}" if stage.when else ""),
        )
        for place, stage in enumerate(policy.stages, 1)
    ]
    return [(name, value) for name, value in facts if value]


def _window_words(policy: OnlineEvalPolicy) -> str:
    """How far back the figures of now look."""
    minutes, rest = divmod(policy.window or DEFAULT_WINDOW_S, 60)
    for length, noun in ((1440, "day"), (60, "hour"), (1, "minute")):
        if not rest and minutes and not minutes % length:
            return counted(int(minutes // length), noun)
    return seconds(policy.window)


def _with_chosen(versions: Sequence[str], chosen: str) -> list[str]:
    """What can be chosen, and what was, though it was never seen."""
    return [*versions, *({chosen} - {"", *versions})]


def _share(rate: float | None) -> str:
    """A rate of sampling in words."""
    if rate is None or rate >= 1:
        return "all of them"
    return f"{100 * rate:.4g}% of them" if rate > 0 else "none of them at random"


async def _compared(
    visit: Visit, policy: OnlineEvalPolicy, versions: Sequence[str]
) -> tuple[Sequence[TrafficComparison], str]:
    """What a comparison that the address asks for shows, or why it cannot be made."""
    before, after = visit.query.get("baseline"), visit.query.get("candidate")
    if not before or not after:
        return (), ""
    request = CompareTrafficRequest(
        name=policy.name,
        project=policy.project,
        baseline=TrafficSlice(version=before),
        candidate=TrafficSlice(version=after),
    )
    try:
        answer = await visit.call("MonitorService.CompareTraffic", request, CompareTrafficResponse)
    except EvalsiError as error:
        return (), str(error)
    for name, side in (("baseline", before), ("candidate", after)):
        if is_empty_side(answer, name):
            return (), nothing_with(f"version {side}", versions)
    return answer.comparisons, ""


def _difference_plot(value: float | None, interval: ConfidenceInterval | None) -> Markup:
    ends = (interval.low, interval.high) if interval is not None else None
    reach = max((abs(one) for one in (*(ends or ()), value or 0.0)), default=0.0)
    return plot.difference_plot(value, ends, reach * 1.15 or 1.0)
