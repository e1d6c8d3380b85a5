"""`evalsi compare`: two runs, record by record."""

from collections.abc import Sequence
from typing import Any

import click

from evalsi.cli.ci import Build, ci_option
from evalsi.cli.confidence_option import confidence_option
from evalsi.cli.format_option import format_option
from evalsi.cli.server_options import server_here, server_options
from evalsi.cli.table import number, print_table, text, whole
from evalsi.cli.terminal import as_json, console, say
from evalsi.core.collector import tune_collector
from evalsi.core.figure import figure, interval_heading, signed


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
@confidence_option(about="Confidence level of the intervals; tests use 1 minus it.")
@click.option(
    "--cluster-by",
    metavar="KEY",
    help="Metadata key that groups records which are not independent; by default the one that both runs were made with, "
    "else the trials of one record are a group.",
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
@format_option(("table", "json", "md"))
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
    from evalsi.wiring.reading_runs import reading_run

    settings = Settings.from_environment()
    server = server_here(settings)
    tune_collector()
    with Build(flags["ci"], settings) as build:
        if flags["report_path"] is not None:
            from evalsi.report.write import check_report_path

            check_report_path(Path(flags["report_path"]))
        gates = [gate_of(text) for text in flags["gates"]]
        plan = ComparePlan(level=flags["confidence"], margins=margins_of(flags["margins"]))
        with (
            reading_run(baseline, settings, server, need="scores") as before,
            reading_run(candidate, settings, server, need="scores") as after,
        ):
            comparison = compare_runs(
                before,
                after,
                plan,
                metrics=flags["metrics"],
                cluster_by=flags["cluster_by"],
                max_flips=max(flags["max_flips"], 50 if flags["report_path"] else 0),
            )
            if comparison.verdict == "NO DATA":
                _print(comparison, flags)
                raise NothingScoredError("there is nothing to compare", hint="; ".join(comparison.warnings) or None)
            decided = gate_results(gates, comparison)
            _print(comparison, flags)
            if flags["output_format"] == "table":
                _say_gates(decided)
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
    from rich.text import Text

    from evalsi.compare.comparison_text import titled
    from evalsi.core.inert import printable
    from evalsi.report.figures import in_unit, signed_in_unit

    out = console()
    columns = (
        text("metric"),
        number("pairs"),
        number("baseline", short="base"),
        number("candidate", short="cand"),
        number("difference", short="diff"),
        whole(interval_heading(metric.interval.level for metric in comparison.metrics if metric.interval is not None)),
        number("p"),
        number("+/-"),
        whole("verdict"),
    )
    rows: list[tuple[str | Text, ...]] = []
    for metric in comparison.metrics:
        interval = metric.interval
        style = {"REGRESSED": "bold red", "IMPROVED": "bold green"}.get(metric.verdict, "")
        row = (
            titled(metric.metric, metric.unit),
            f"{metric.pairs:,}",
            figure(metric.baseline_mean),
            figure(metric.candidate_mean),
            signed(metric.difference),
            figure(None) if interval is None else f"[{signed(interval.low)}, {signed(interval.high)}]",
            figure(metric.p_adjusted),
            f"{metric.better}/{metric.worse}",
            Text(metric.verdict, style=style),
        )
        rows.append(row)
    names = printable(f"{comparison.candidate} against {comparison.baseline}", one_line=True)
    out.print(
        Text(comparison.verdict, style="bold").append(f"  {names}, {comparison.shared:,} shared records", "not bold")
    )
    print_table(columns, rows)
    out.print("p is adjusted for the number of metrics (Holm); +/-: records that rose and fell", style="dim")
    undirected = [metric.metric for metric in comparison.metrics if metric.verdict == "NO DIRECTION"]
    if undirected:
        names = printable(", ".join(undirected), one_line=True)
        out.print(f"no direction is declared for {names}: whether more is better is yours to say", style="dim")
    sees = [f"{metric.metric} {figure(metric.detectable)}" for metric in comparison.metrics if metric.detectable]
    if sees:
        out.print(f"smallest difference these pairs find with 80% power: {', '.join(sees)}", style="dim")
    blind = [each.metric for each in comparison.metrics if each.verdict == "INCONCLUSIVE" and not each.detectable]
    if blind:
        names = printable(", ".join(blind), one_line=True)
        out.print(f"too few records changed for a difference to be found with 80% power: {names}", style="dim")
    for usage in comparison.usage:
        interval, unit = usage.difference.interval, usage.unit
        ends = [signed_in_unit(end, unit) for end in (interval.low, interval.high)] if interval is not None else []
        before, after = in_unit(usage.baseline_mean, unit), in_unit(usage.candidate_mean, unit)
        change = signed_in_unit(usage.difference.value, unit)
        out.print(f"{usage.name}: {before} → {after}, {change}" + (f" [{', '.join(ends)}]" if ends else ""))
    for flip in comparison.flips[:max_flips]:
        _print_flip(out, flip)
    hidden = len(comparison.flips[max_flips:]) + comparison.flips_left_out
    if hidden and max_flips:
        out.print(f"and {hidden:,} more changed", style="dim")
    for warning in comparison.warnings:
        say(f"note: {warning}")


def _say_gates(decided: Sequence[Any]) -> None:
    """How each gate ended that was; one that failed is the error that ends the command."""
    for result in decided:
        if result.passed and result.verdict.value != "no_data":
            say(f"gate on {result.gate.metric} {str(result.verdict).lower()}: {result.reason}")


def _print_flip(out: Any, flip: Any) -> None:
    from rich.text import Text

    from evalsi.core.inert import printable

    out.print(
        Text(
            f"\n{printable(f'{flip.record_id}  {flip.metric}', one_line=True)} {figure(flip.before)} → {figure(flip.after)}",
            style="bold",
        )
    )
    for name, said in (
        ("input", flip.input),
        ("reference", flip.reference),
        ("baseline", flip.baseline_output),
        ("candidate", flip.candidate_output),
    ):
        shown = printable(" ".join(said.split()))[:240]
        # An answer of nothing is what went wrong; an input or a reference may just not be there.
        if shown or name in ("baseline", "candidate"):
            out.print(Text(f"  {name:<10}").append(shown or "no output", "" if shown else "dim"))
