"""`evalsi matrix`: several runs on one metric, over the records they share."""

from typing import Any

import click

from evalsi.cli.confidence_option import confidence_option
from evalsi.cli.format_option import format_option
from evalsi.cli.server_options import server_here, server_options
from evalsi.cli.table import number, print_table, text, whole
from evalsi.cli.terminal import as_json, console, say
from evalsi.core.figure import figure, interval_heading


@click.command()
@click.argument("runs", nargs=-1, required=True, metavar="RUN...")
@click.option("--metric", required=True, metavar="NAME", help="The metric to compare on.")
@click.option("--by", metavar="KEY", help="Metadata key: a table for each of its values too.")
@click.option(
    "--against",
    type=click.Choice(["first", "best"]),
    default="first",
    show_default=True,
    help="The run that the others are held against.",
)
@confidence_option(about="Confidence level of the intervals; tests use 1 minus it.")
@click.option("--gate", is_flag=True, help="Exit 3 when a run regressed significantly against the first.")
@click.option(
    "--gate-strict",
    is_flag=True,
    help="As --gate, and a run that is not shown to hold its score fails too: its interval may not reach below.",
)
@click.option(
    "--max-regression", type=click.FloatRange(min=0), metavar="X", help="For a gate: a drop of up to X still passes."
)
@click.option(
    "--tuned-on",
    multiple=True,
    metavar="RUN",
    help="One of the runs whose system was tuned on these records: shown, but never the best. Repeatable.",
)
@format_option(("table", "json", "csv", "md"))
@server_options
def matrix(runs: tuple[str, ...], **flags: Any) -> int:
    """Compare several runs on the records that all of them share and scored.

    \b
    evalsi matrix base small large --metric exact-match
    evalsi matrix *.json --metric correctness --by metadata.topic --format md

    Each run is held against the first: a paired difference with its interval and a test adjusted for their number. With
    costs in the records, runs that another run beats on score and cost are named.
    """  # noqa: D301
    from contextlib import ExitStack

    from evalsi.compare.matrix import MatrixPlan, check_regressions, compare_many
    from evalsi.core.errors import UnknownNameError, UsageError
    from evalsi.settings import Settings
    from evalsi.wiring.reading_runs import reading_run

    gated = flags["gate"] or flags["gate_strict"]
    if flags["max_regression"] is not None and not gated:
        raise UsageError("--max-regression says nothing without --gate", hint="add --gate")
    for name in flags["tuned_on"]:
        if name not in runs:
            raise UnknownNameError("run", name, runs, where="--tuned-on")
    if gated and flags["against"] == "best":
        raise UsageError("against the best run every other falls short", hint="gate against the first run")
    settings = Settings.from_environment()
    server = server_here(settings)
    plan = MatrixPlan(
        metric=flags["metric"],
        by=flags["by"],
        against=flags["against"],
        level=flags["confidence"],
        tuned=frozenset(place for place, name in enumerate(runs) if name in flags["tuned_on"]),
    )
    with ExitStack() as stack:
        found = compare_many(
            [stack.enter_context(reading_run(name, settings, server, need="scores")) for name in runs], plan
        )
    match flags["output_format"]:
        case "json":
            print(as_json(found))
        case "csv":
            from evalsi.cli.answer_table import print_answer

            print_answer(_COLUMNS, [[_cells(table, row) for table in found.tables for row in table.rows]], "csv")
        case "md":
            print(_markdown(found))
        case _:
            _print(found)
    return check_regressions(found, flags["max_regression"] or 0.0, strict=flags["gate_strict"]) if gated else 0


_COLUMNS = (
    "group", "run", "run_id", "n", "mean", "ci_low", "ci_high", "difference", "difference_low", "difference_high",
    "p_adjusted", "verdict", "cost_usd_per_sample", "latency_s_per_sample", "frontier", "dominated_by",
)  # fmt: skip
_HEADINGS = ("run", "n", "mean", "{level}", "difference", "{level}", "p", "verdict", "USD/sample", "s/sample", "")


def _cells(table: Any, row: Any) -> list[Any]:
    low, high = _ends(row.estimate.interval)
    change = row.difference
    changed = (None, None, None, None, None)
    if change is not None:
        changed = (change.difference, *_ends(change.interval), change.p_adjusted, change.verdict)
    usage = (row.cost_usd.mean, row.latency_s.mean)
    estimate = (row.estimate.n, row.estimate.value, low, high)
    return [table.group, row.run, row.run_id, *estimate, *changed, *usage, row.frontier, row.dominated_by]


def _ends(interval: Any) -> tuple[float | None, float | None]:
    return (None, None) if interval is None else (interval.low, interval.high)


def _texts(row: Any) -> list[str]:
    """The cells that a person reads."""
    from evalsi.core.figure import signed

    none = figure(None)
    own, change = row.estimate, row.difference
    texts = [str(own.n), figure(own.value), _between(own.interval, figure)]
    if change is None:
        texts += ["reference", none, none, none]
    else:
        texts += [
            signed(change.difference),
            _between(change.interval, signed),
            figure(change.p_adjusted),
            change.verdict,
        ]
    texts += [figure(row.cost_usd.mean), figure(row.latency_s.mean)]
    return [*texts, {True: "frontier", False: f"beaten by {row.dominated_by}", None: ""}[row.frontier]]


def _between(interval: Any, show: Any) -> str:
    return figure(None) if interval is None else f"[{show(interval.low)}, {show(interval.high)}]"


def _print(found: Any) -> None:
    from rich.text import Text

    from evalsi.core.inert import printable

    level = interval_heading([found.level])
    columns = [
        text("run"),
        number("n"),
        number("mean"),
        whole(level),
        number("difference", short="diff"),
        whole(level),
        number("p"),
        whole("verdict"),
        number("USD/sample"),
        number("s/sample"),
        text(""),
    ]
    for table in found.tables:
        if table.group is not None:
            console().print(Text(f"\n{printable(table.group, one_line=True) or figure(None)}", style="bold"))
        print_table(columns, [(row.run, *_texts(row)) for row in table.rows])
    say(f"{found.metric} over {found.tables[0].n} observations; p: {found.adjustment}")
    for warning in found.warnings:
        say(f"note: {printable(warning, one_line=True)}")


def _markdown(found: Any) -> str:
    from evalsi.core.inert import markdown_text

    lines: list[str] = []
    for table in found.tables:
        if table.group is not None:
            lines += ["", f"**{markdown_text(table.group) or '–'}**", ""]
        lines.append("| " + " | ".join(_HEADINGS).format(level=interval_heading([found.level])) + " |")
        lines.append("|---|--:|--:|:-:|--:|:-:|--:|---|--:|--:|---|")
        for row in table.rows:
            *figures, standing = _texts(row)
            lines.append("| " + " | ".join([markdown_text(row.run), *figures, markdown_text(standing)]) + " |")
    lines += ["", f"{markdown_text(found.metric)} over {found.tables[0].n} observations; p: {found.adjustment}."]
    lines += [f"\n> {markdown_text(warning)}" for warning in found.warnings]
    return "\n".join(lines)
