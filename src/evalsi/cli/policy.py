"""`evalsi policy`: policies of a server, which evaluate its live traffic; and trying one on the traces of this machine."""

from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from evalsi.cli.format_option import format_option
from evalsi.cli.server_options import client_and_project, server_here, server_options
from evalsi.cli.table import number, print_table, text, whole
from evalsi.cli.terminal import as_json, say, when
from evalsi.core.figure import counted, figure, signed

if TYPE_CHECKING:
    from evalsi.schema import (
        AlertState,
        CompareTrafficRequest,
        CompareTrafficResponse,
        MetricWindow,
        OnlineEvalPolicy,
        PolicyStats,
        TestPolicyResponse,
        TraceSummary,
        TrafficSlice,
    )

F = TypeVar("F", bound=Callable[..., Any])


def _file_of_policy(command: F) -> F:
    """Adds the file of a policy, named or with a flag, as `evalsi run` takes its own; `_read` takes both."""
    command = click.option(
        "-f", "--file", "path", type=click.Path(path_type=Path), metavar="FILE", help="The policy, in YAML or JSON."
    )(command)
    return click.argument("file", required=False, type=click.Path(path_type=Path), metavar="[FILE]")(command)


@click.group()
def policy() -> None:
    """Evaluate live traffic by policies: apply them, try them, see what they found."""


def _read(file: Path | None, path: Path | None, project: str) -> "OnlineEvalPolicy":
    """The policy in a file, in the project that it names or else in this one.

    Raises: UsageError: no file is given, or two. InvalidSpecError, with places.
    """
    import msgspec

    from evalsi.core.errors import UsageError
    from evalsi.watch.read_policy import read_policy

    given = [each for each in (file, path) if each is not None]
    if len(given) != 1:
        problem = "a policy is in one file, and two are given" if given else "no policy is given"
        raise UsageError(problem, hint="name its file, as in: evalsi policy apply policy.yaml")
    found = read_policy(given[0]).policy
    return msgspec.structs.replace(found, project=found.project or project)


@policy.command()
@_file_of_policy
@click.option("--dry-run", is_flag=True, help="Check it and change nothing.")
@server_options
def apply(file: Path | None, path: Path | None, dry_run: bool) -> None:
    """Make a policy, or replace the one of its name.

    \b
    evalsi policy apply -f policy.yaml --server http://127.0.0.1:8080
    """  # noqa: D301
    from evalsi.schema import ApplyPolicyRequest

    opened, project = client_and_project()
    wanted = _read(file, path, project)
    with opened as client:
        found = client.apply_policy(ApplyPolicyRequest(policy=wanted, validate_only=dry_run)).policy
    say(f"policy {found.name} of project {found.project} {'is valid' if dry_run else 'is applied'}")


@policy.command(name="list")
@format_option()
@server_options
def list_policies(output_format: str) -> None:
    """List policies."""
    from evalsi.schema import ListPoliciesRequest

    opened, project = client_and_project()
    with opened as client:
        found: list[OnlineEvalPolicy] = client.list_policies(ListPoliciesRequest(project=project)).policies
    if output_format == "json":
        print(as_json(found))
        return
    rows = [
        (each.project, each.name, "off" if each.disabled else "on", _evaluators(each), each.selector or "all")
        for each in found
    ]
    columns = (text("project"), text("policy"), whole("state"), text("evaluators"), text("selector"))
    print_table(columns, rows, nothing="no policies")


@policy.command()
@click.argument("name")
@server_options
def show(name: str) -> None:
    """Show the policy NAME as JSON, as 'apply' takes it."""
    from evalsi.core.errors import UnknownNameError
    from evalsi.schema import ListPoliciesRequest

    opened, project = client_and_project()
    with opened as client:
        found = client.list_policies(ListPoliciesRequest(project=project or "default")).policies
    named = {each.name: each for each in found}
    if name not in named:
        raise UnknownNameError("policy", name, named)
    print(as_json(named[name]))


@policy.command()
@click.argument("name")
@click.option("--by", default="", metavar="FIELD", help="Split figures by version, service, model or label.<key>.")
@click.option("--since", default="", metavar="TIME", help="Begin of the series in JSON: a time, or 30m, 12h, 7d.")
@format_option()
@server_options
def stats(name: str, by: str, since: str, output_format: str) -> None:
    """Show what the policy NAME did and found."""
    from evalsi.cli.trace_options import moment_ago
    from evalsi.schema import GetPolicyStatsRequest

    opened, project = client_and_project()
    request = GetPolicyStatsRequest(name=name, project=project, by=by, since=moment_ago(since, "--since"))
    with opened as client:
        found = client.get_policy_stats(request).stats
    if output_format == "json":
        print(as_json(found))
        return
    _print_stats(found)


@policy.command()
@_file_of_policy
@click.option("--lookback", default="1d", show_default=True, metavar="TIME", help="How far back to look: 30m, 12h, 7d.")
@format_option()
@server_options
def test(file: Path | None, path: Path | None, lookback: str, output_format: str) -> None:
    """Say which stored traces a policy would have matched and what that would have cost. Nothing is evaluated.

    \b
    evalsi policy test -f policy.yaml --lookback 7d
    """  # noqa: D301
    from evalsi.cli.trace_options import moment_ago
    from evalsi.core.errors import UsageError
    from evalsi.schema import TestPolicyRequest
    from evalsi.settings import Settings
    from evalsi.wiring.trace_libraries import trace_library

    begin = moment_ago(lookback, "--lookback")
    if begin is None:
        raise UsageError("--lookback is empty", hint="write e.g. --lookback 7d")
    seconds = (datetime.now(UTC) - begin).total_seconds()
    settings = Settings.from_environment()
    if server_here(settings) is None:
        from evalsi.wiring.policy_trial import try_here

        found = try_here(_read(file, path, "default"), seconds, settings)
    else:
        opened, project = client_and_project()
        with opened as client:
            found = client.test_policy(TestPolicyRequest(policy=_read(file, path, project), lookback=seconds))
    if output_format == "json":
        print(as_json(found))
        return
    shown: list[TraceSummary] = []
    if found.trace_ids:
        with trace_library(settings, server_here(settings)) as library:
            shown = [summary for trace_id in found.trace_ids if (summary := library.get(trace_id).summary) is not None]
    _print_trial(found, shown)


@policy.command()
@click.argument("name")
@click.option(
    "--since", default="", metavar="TIME", help="Traces begun since: a time, or 30m, 12h, 7d. By default all."
)
@click.option("--until", default="", metavar="TIME", help="Traces begun before: a time, or how long ago.")
@server_options
def backfill(name: str, since: str, until: str) -> None:
    """Apply the policy NAME to stored traces, or sessions, that it has not evaluated yet."""
    from evalsi.cli.trace_options import moment_ago
    from evalsi.schema import BackfillPolicyRequest, ListPoliciesRequest, PolicyScope

    opened, project = client_and_project()
    request = BackfillPolicyRequest(
        name=name, project=project, since=moment_ago(since, "--since"), until=moment_ago(until, "--until")
    )
    with opened as client:
        queued = client.backfill_policy(request).queued
        found = client.list_policies(ListPoliciesRequest(project=project or "default")).policies
    is_of_sessions = any(each.name == name and each.scope is PolicyScope.SESSION for each in found)
    noun = "session" if is_of_sessions else "trace"
    say(f"{queued:,} {noun} is queued" if queued == 1 else f"{queued:,} {noun}s are queued")


@policy.command()
@click.argument("name")
@server_options
def delete(name: str) -> None:
    """Remove the policy NAME. What it found stays."""
    from evalsi.schema import DeletePolicyRequest

    opened, project = client_and_project()
    with opened as client:
        client.delete_policy(DeletePolicyRequest(name=name, project=project))
    say(f"policy {name} is removed")


@policy.command()
@click.argument("name")
@click.option("--baseline", required=True, metavar="CHOICE", help="What is compared with, e.g. 'version=1.4'.")
@click.option("--candidate", required=True, metavar="CHOICE", help="What is compared, e.g. 'version=1.5,since=2d'.")
@format_option()
@server_options
def compare(name: str, baseline: str, candidate: str, output_format: str) -> None:
    """Compare what the policy NAME found in two choices of traffic.

    A choice names version, since, until and label.<key>, each with its value, with commas between.

    \b
    evalsi policy compare answers --baseline version=1.4 --candidate version=1.5
    evalsi policy compare answers --baseline since=14d,until=7d --candidate since=7d
    """  # noqa: D301
    from evalsi.schema import CompareTrafficRequest
    from evalsi.watch.traffic_choices import is_empty_side

    opened, project = client_and_project()
    request = CompareTrafficRequest(
        name=name, project=project, baseline=_slice(baseline, "--baseline"), candidate=_slice(candidate, "--candidate")
    )
    with opened as client:
        answer = client.compare_traffic(request)
        _refuse_misspelt(client, request, answer)
    found = answer.comparisons
    if output_format == "json":
        print(as_json(found))
        return
    rows = [
        (
            each.metric,
            figure(each.baseline.mean),
            figure(each.candidate.mean),
            signed(each.difference) + ("" if each.ci is None else f" [{signed(each.ci.low)}, {signed(each.ci.high)}]"),
            figure(each.p_value),
            each.verdict.upper(),
        )
        for each in found
    ]
    columns = (
        text("metric"),
        number("baseline", short="base"),
        number("candidate", short="cand"),
        whole("difference"),
        number("p"),
        whole("verdict"),
    )
    print_table(columns, rows, nothing="nothing was evaluated in either")
    if found and answer.paired_by:
        print(f"paired by {answer.paired_by}: {max(each.pairs for each in found):,} pairs")
    elif found:
        print("as independent samples: too few subjects of one have a partner in the other")
    for side, choice in (("baseline", baseline), ("candidate", candidate)):
        if rows and is_empty_side(answer, side):
            say(f"nothing was evaluated in the {side}, {choice}")


def _refuse_misspelt(client: Any, request: "CompareTrafficRequest", found: "CompareTrafficResponse") -> None:
    """Raises: NotFoundError: a side is empty because the policy never saw the version or the label that it names."""
    from evalsi.core.errors import NotFoundError
    from evalsi.schema import GetPolicyStatsRequest, TrafficSlice
    from evalsi.watch.traffic_choices import groups_of, is_empty_side, nothing_with

    for side in ("baseline", "candidate"):
        if not is_empty_side(found, side):
            continue
        choice: TrafficSlice = getattr(request, side) or TrafficSlice()
        named = [("version", choice.version)] if choice.version else []
        named += [(f"label.{key}", value) for key, _, value in (label.partition("=") for label in choice.labels)]
        for field, value in named:
            wanted = GetPolicyStatsRequest(
                name=request.name,
                project=request.project,
                by=field,
                since=choice.since or datetime.fromtimestamp(0, UTC),
            )
            known = groups_of(client.get_policy_stats(wanted).stats)
            if value not in known:
                raise NotFoundError(nothing_with(f"{field}={value}", known), where=f"--{side}")


def _slice(text: str, flag: str) -> "TrafficSlice":
    from evalsi.cli.trace_options import moment_ago
    from evalsi.core.errors import UsageError
    from evalsi.schema import TrafficSlice

    said: dict[str, Any] = {}
    labels: list[str] = []
    for each in text.split(","):
        key, equals, value = each.strip().partition("=")
        if not equals or not value:
            raise UsageError(f"{each.strip()!r} is no choice of traffic", where=flag, hint="write e.g. version=1.4")
        if key.startswith("label."):
            labels.append(f"{key.removeprefix('label.')}={value}")
        elif key in ("since", "until"):
            said[key] = moment_ago(value, flag)
        elif key == "version":
            said[key] = value
        else:
            raise UsageError(
                f"traffic is not chosen by {key!r}", where=flag, hint="write version, since, until or label.<key>"
            )
    return TrafficSlice(**said, labels=labels)


def _evaluators(found: "OnlineEvalPolicy") -> str:
    return ", ".join(ref.name or ref.ref for stage in found.stages for ref in stage.evaluators)


def _print_stats(found: "PolicyStats") -> None:
    say(
        f"{found.traces_seen:,} seen, {found.traces_matched:,} matched, {found.traces_sampled:,} drawn, "
        f"{found.traces_evaluated:,} evaluated, {found.traces_waiting:,} waiting, {found.traces_promoted:,} promoted"
    )
    if found.tokens_today:
        spent = "an unknown cost" if found.usd_today is None else f"${found.usd_today:.4f}"
        say(f"today {found.tokens_today:,} tokens of judges, {spent}")
    groups = any(each.group for each in found.metrics)
    rows = [_row(each, has_group=groups) for each in found.metrics]
    columns = (
        text("metric"),
        *([text("group")] if groups else []),
        whole("mean"),
        *(number(each) for each in ("n", "skipped", "errors", "p05", "p50", "p95")),
    )
    print_table(columns, rows, nothing="no figures in the window")
    for state in found.alerts:
        say(alert_line(state))
    for sink in found.sinks:
        counts = f"{sink.delivered:,} delivered, {sink.waiting:,} waiting, {sink.given_up:,} given up"
        error = f"; last error {when(sink.last_error_time)}: {sink.last_error}" if sink.last_error else ""
        say(f"sink {sink.sink}: {counts}{error}")
    for drift in found.drift:
        if drift.moved:
            say(f"{drift.metric} has moved: stability index {figure(drift.psi)}, p {figure(drift.p_value)}")
    for warning in found.warnings:
        say(f"warning: {warning}")


def alert_line(state: "AlertState") -> str:
    """How an alert stands, with the mean that it looks at and the bounds of that which hold at all times together."""
    from evalsi.schema import Alert

    alert = state.alert or Alert()
    bounds = (("below", alert.below), ("above", alert.above))
    bound = " or ".join(f"{word} {value:g}" for word, value in bounds if value is not None)
    standing = f"fires since {when(state.since)}" if state.firing else "is quiet"
    since = f" since {when(state.since)}" if state.since else ""
    mean = _with_interval(state.mean, state.ci)
    return f"alert on {alert.metric} {bound} {standing}: mean {mean} of {counted(state.n, 'value')}{since}"


def _row(window: "MetricWindow", *, has_group: bool) -> tuple[str, ...]:
    return (
        window.metric,
        *([window.group or "-"] if has_group else []),
        _with_interval(window.mean, window.ci),
        f"{window.n:,}",
        f"{window.skipped:,}",
        f"{window.errors:,}",
        figure(window.p05),
        figure(window.p50),
        figure(window.p95),
    )


def _with_interval(value: float | None, interval: Any) -> str:
    if interval is None:
        return figure(value)
    return f"{figure(value)} [{figure(interval.low)}, {figure(interval.high)}]"


def _print_trial(found: "TestPolicyResponse", traces: "Sequence[TraceSummary]") -> None:
    from evalsi.cli.trace_text import print_traces
    from evalsi.report.figures import money

    cost = "an unknown sum, since a price is not known"
    if found.cost_usd is not None:
        cost = f"about {money(found.cost_usd)}" if found.cost_usd else "nothing"
    say(
        f"of {found.seen:,} traces it would have matched {found.matched:,} and evaluated {found.sampled:,}, "
        f"which would have cost {cost}"
    )
    if traces:
        print_traces(traces)
    for warning in found.warnings:
        say(f"warning: {warning}")
