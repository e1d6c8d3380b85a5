"""`evalsi compare`: two runs, record by record."""

from typing import Any

import click

from evalsi.cli.ci import Build, ci_option
from evalsi.cli.server_options import server_here, server_options
from evalsi.cli.terminal import as_json, console, figure, say


@click.command()
@click.argument("baseline")
@click.argument("candidate")
@click.option("--metric", "metrics", multiple=True, metavar="NAME", help="Only this metric. Repeatable.")
@click.option(
    "--margin",
    "margins",
    multiple=True,
    metavar="METRIC=DIFFERENCE",
    help="The difference that would still be no change. Repeatable.",
)
@click.option(
    "--gate",
    "gates",
    multiple=True,
    metavar="METRIC[:DROP]",
    help="Exit 3 when the metric regressed (significantly, by more than DROP). Repeatable.",
)
@click.option(
    "--confidence",
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    default=0.95,
    show_default=True,
    help="Level of the intervals; tests use what is left.",
)
@click.option(
    "--cluster-by",
    metavar="KEY",
    help="Metadata key that groups records which are not independent; by default the trials of one record are a group.",
)
@click.option(
    "--flips", "max_flips", type=click.IntRange(min=0), default=5, show_default=True, help="Changed records to show."
)
@click.option(
    "--report",
    "report_path",
    metavar="FILE",
    help="Write a report of CANDIDATE with the comparison: .html, .md or .xml (JUnit).",
)
@ci_option
@click.option(
    "--format", "output_format", type=click.Choice(["table", "json", "md"]), default="table", show_default=True
)
@server_options
def compare(baseline: str, candidate: str, **flags: Any) -> int:
    """Compare CANDIDATE with BASELINE: run ids, names, latest, latest~1 or results files.

    \b
    evalsi compare latest~1 latest
    evalsi compare aster.json birch.json --gate exact-match:0.02

    Records are paired by id; differences come with an interval, a test adjusted for the number of metrics, and the
    smallest difference that this many pairs could have shown. Exit status: 0, or 3 when a --gate regressed.
    """  # noqa: D301
    from dataclasses import replace
    from pathlib import Path

    from evalsi.compare.compare_runs import compare_runs
    from evalsi.compare.gates import check_gates, gate_of, gate_results
    from evalsi.compare.markdown import margins_of
    from evalsi.compare.paired_metric import ComparePlan
    from evalsi.core.errors import NothingScoredError
    from evalsi.settings import Settings
    from evalsi.wiring import reading_run

    settings = Settings.from_environment()
    server = server_here(settings)
    with Build(flags["ci"], settings) as build:
        if flags["report_path"] is not None:
            from evalsi.report.write import check_report_path

            check_report_path(Path(flags["report_path"]))
        gates = [gate_of(text) for text in flags["gates"]]
        plan = ComparePlan(level=flags["confidence"], margins=margins_of(flags["margins"]))
        with (
            reading_run(baseline, settings, server) as before,
            reading_run(candidate, settings, server) as after,
        ):
            comparison = compare_runs(
                before,
                after,
                plan,
                metrics=flags["metrics"],
                cluster_by=flags["cluster_by"],
                max_flips=max(flags["max_flips"], 50 if flags["report_path"] else 0),
            )
            _print(comparison, flags)
            if comparison.verdict == "NO DATA":
                raise NothingScoredError("there is nothing to compare", hint="; ".join(comparison.warnings) or None)
            decided = gate_results(gates, comparison)
            if flags["report_path"] is not None:
                from evalsi.report.report_options import ReportOptions
                from evalsi.report.write import write_report

                judged = replace(after, gates=[*after.gates, *decided])
                write_report(judged, Path(flags["report_path"]), ReportOptions(comparison=comparison))
            build.tell(
                replace(after, gates=decided),
                where=candidate,
                comparison=comparison,
                gated=[gate.metric for gate in gates],
            )
        return check_gates(gates, comparison)


def _print(comparison: Any, flags: dict[str, Any]) -> None:
    match flags["output_format"]:
        case "json":
            print(as_json({"verdict": comparison.verdict, **vars(comparison)}))
        case "md":
            from evalsi.compare.markdown import as_markdown

            print(as_markdown(comparison, max_flips=flags["max_flips"]))
        case _:
            print_comparison(comparison, max_flips=flags["max_flips"])


def print_comparison(comparison: Any, *, max_flips: int) -> None:
    """The verdict, the table of metrics, usage, flips and warnings."""
    from rich.table import Table
    from rich.text import Text

    from evalsi.core.inert import printable

    out = console()
    table = Table(box=None, pad_edge=False, padding=(0, 1, 0, 0))
    table.add_column("metric", no_wrap=True, overflow="ellipsis", max_width=24)
    for column in ("pairs", "baseline", "candidate", "difference"):
        table.add_column(column, justify="right", no_wrap=True)
    table.add_column("interval", no_wrap=True)
    for column in ("p", "+/-"):
        table.add_column(column, justify="right", no_wrap=True)
    table.add_column("verdict", no_wrap=True)
    for metric in comparison.metrics:
        interval = metric.interval
        table.add_row(
            Text(printable(metric.metric, one_line=True)),
            f"{metric.pairs:,}",
            figure(metric.baseline_mean),
            figure(metric.candidate_mean),
            signed(metric.difference),
            figure(None) if interval is None else f"[{signed(interval.low)}, {signed(interval.high)}]",
            figure(metric.p_adjusted),
            f"{metric.better}/{metric.worse}",
            Text(metric.verdict, style={"REGRESSED": "bold red", "IMPROVED": "bold green"}.get(metric.verdict, "")),
        )
    names = printable(f"{comparison.candidate} against {comparison.baseline}", one_line=True)
    out.print(
        Text(comparison.verdict, style="bold").append(f"  {names}, {comparison.shared:,} shared records", "not bold")
    )
    out.print(table)
    out.print("p is adjusted for the number of metrics (Holm); +/-: records that rose and fell", style="dim")
    sees = [f"{metric.metric} {figure(metric.detectable)}" for metric in comparison.metrics if metric.detectable]
    if sees:
        out.print(f"smallest difference these pairs find with 80% power: {', '.join(sees)}", style="dim")
    for usage in comparison.usage:
        interval = usage.difference.interval
        shown = "" if interval is None else f" [{signed(interval.low)}, {signed(interval.high)}]"
        out.print(
            f"{usage.name}: {figure(usage.baseline_mean)} → {figure(usage.candidate_mean)} {usage.unit}, {signed(usage.difference.value)}{shown}"
        )
    for flip in comparison.flips[:max_flips]:
        _print_flip(out, flip)
    hidden = len(comparison.flips[max_flips:]) + comparison.flips_left_out
    if hidden and max_flips:
        out.print(f"and {hidden:,} more changed", style="dim")
    for warning in comparison.warnings:
        say(f"note: {warning}")


def _print_flip(out: Any, flip: Any) -> None:
    from rich.text import Text

    from evalsi.core.inert import printable

    out.print(
        Text(
            f"\n{printable(f'{flip.record_id}  {flip.metric}', one_line=True)} {figure(flip.before)} → {figure(flip.after)}",
            style="bold",
        )
    )
    for name, text in (
        ("input", flip.input),
        ("reference", flip.reference),
        ("baseline", flip.baseline_output),
        ("candidate", flip.candidate_output),
    ):
        if text:
            out.print(Text(f"  {name:<10}{printable(' '.join(text.split()))[:240]}"))


def signed(value: float | None) -> str:
    """A difference with its sign; zero has none."""
    if value is None or value == 0:
        return figure(value)
    return ("+" if value > 0 else "") + figure(value)
