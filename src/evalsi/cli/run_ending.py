"""How every command that asks or regrades ends: its files, its verdict, its exit status, and the flags for them.

Its own module because `run`, `runs resume`, `runs rerun` and `rescore` must end alike.
"""

import sys
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, redirect_stdout
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import click

from evalsi.cli.bad_records import Mishaps, mishaps_of, say_errors
from evalsi.cli.ci import Build, ci_option
from evalsi.cli.format_option import format_option
from evalsi.cli.metric_table import FORMATS, print_summaries
from evalsi.cli.progress import ProgressLine, StopSwitch
from evalsi.cli.slice_table import print_slices, slices_of
from evalsi.cli.terminal import LOADED_LATER, say
from evalsi.core.collector import tune_collector

F = TypeVar("F", bound=Callable[..., Any])

_OPTIONS = (
    click.option("--concurrency", type=click.IntRange(min=1), metavar="N", help="Questions to the target in flight."),
    click.option("--output", metavar="FILE", help="Write results: .json, .jsonl, .csv or .parquet."),
    click.option("--report", "report_path", metavar="FILE", help="Write a report: .html or .md."),
    click.option(
        "--junit", "junit_path", metavar="FILE", help="Write JUnit XML: a test for each gate and each failed record."
    ),
    format_option(FORMATS),
    ci_option,
    click.option("--quiet", is_flag=True, help="No progress line, no hints."),
)


no_cache_option = click.option(
    "--no-cache", is_flag=True, help="Ask judges again, even where a reply was paid for before."
)


retry_errors_option = click.option(
    "--retry-errors",
    is_flag=True,
    help="Ask again where a provider, judge or machine had failed, or a budget left no room, also in a run that is finished.",
)


def ending_options(command: F) -> F:
    """Adds the flags that all these commands share."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


@dataclass(frozen=True, kw_only=True)
class Ending:
    """What a specification says about the end of its run."""

    on_inconclusive: Any
    sinks: Sequence[Any] = ()
    where: str = ""
    """The file that a build shows findings in; "" without one."""
    gates_at: Sequence[str] = ()
    """Where each gate stands in it."""
    gated: Sequence[str] = ()
    """Metrics that a gate compares with a baseline."""


def options_of(flags: dict[str, Any], progress: ProgressLine | None = None, switch: StopSwitch | None = None) -> Any:
    """The flags as options of a run."""
    from evalsi.cli.eval import labels_of
    from evalsi.score.manifest import redacted_argv
    from evalsi.wiring.run_options import RunOptions

    return RunOptions(
        concurrency=flags["concurrency"],
        use_cache=not flags["no_cache"],
        resume=flags.get("resume", True),
        continues=flags.get("continues", ""),
        retry_errors=flags.get("retry_errors", False),
        replay=flags.get("replay") or "",
        argv=redacted_argv(["evalsi", *click.get_current_context().obj]),
        labels=labels_of(flags.get("labels", ())),
        name=flags.get("name", ""),
        on_progress=progress.show if progress is not None and progress.is_shown else None,
        stopped=switch.is_on if switch is not None else lambda: False,
    )


def carry_out(
    opened: Callable[[Any], AbstractContextManager[Any]], ending: Ending, settings: Any, flags: dict[str, Any]
) -> int:
    """Runs a job to its end, writes its files, prints its verdict and gives the exit status.

    Args:
        opened: From options to the job, ready to run.
    """
    with Build(flags["ci"], settings) as build:
        executed, mishaps, slices = _executed(opened, ending, flags, build)
        return tell_verdict(executed, mishaps, ending, flags, slices)


def _executed(
    opened: Callable[[Any], AbstractContextManager[Any]], ending: Ending, flags: dict[str, Any], build: Build
) -> tuple[Any, Mishaps, list[Any]]:
    """How the job ended, what went wrong, and the slices."""
    from evalsi.cli.run_files import check_paths, write_files
    from evalsi.run.execute_run import execute_run_now

    check_paths(flags, ending.sinks)
    tune_collector()
    with (
        redirect_stdout(sys.stderr),  # what foreign code prints is no data
        StopSwitch() as switch,
        ProgressLine(enabled=not flags["quiet"]) as progress,
        opened(options_of(flags, progress, switch)) as job,
    ):
        executed = execute_run_now(replace(job, later=LOADED_LATER))
        progress.clear()
        comparison = _against_baseline(job, executed.run)
        write_files(executed.run, ending.sinks, flags, comparison)
        build.tell(
            executed.run, where=ending.where, gates_at=ending.gates_at, comparison=comparison, gated=ending.gated
        )
        return executed, mishaps_of(executed.run), slices_of(executed.run, flags["output_format"])


def _against_baseline(job: Any, run: Any) -> Any:
    """The run against the specification's baseline; None where there is none. That it cannot be read, a gate says."""
    reference = job.gate_plan.baseline
    if not reference:
        return None
    from evalsi.compare.compare_runs import compare_runs
    from evalsi.core.errors import EvalsiError

    try:
        return compare_runs(job.open_baseline(reference), run)
    except EvalsiError as error:
        say(f"note: the baseline cannot be read: {error}")
        return None


def tell_verdict(
    executed: Any,
    mishaps: Mishaps,
    ending: Ending,
    flags: dict[str, Any],
    slices: Sequence[Any] = (),
    *,
    can_go_on: bool = True,
) -> int:
    """Prints the metrics, the slices, the gates and the verdict of a run that ended; the exit status.

    Args:
        can_go_on: Whether a run that its budget ended can be taken up with another one.
    """
    from evalsi.core.errors import NothingScoredError
    from evalsi.run.gates.exit_status import exit_status

    if executed.continued and not flags["quiet"]:
        kept = f", and {executed.recalled_answers:,} more were answered" if executed.recalled_answers else ""
        say(f"continued run {executed.run.manifest.run_id[:8]}: {executed.resumed_rows:,} rows were already done{kept}")
    print_summaries(executed.run.summaries, flags["output_format"])
    print_slices(executed.run, slices)
    for warning in executed.run.manifest.warnings:
        say(f"warning: {warning}")
    if not flags["quiet"]:
        say_errors(executed.run, mishaps.example)
    identifier = executed.run.manifest.run_id[:8]
    named = f" ({flags['name']})" if flags.get("name") else ""
    if executed.interrupted:
        say(f"stopped; every answer is kept; continue with the same command, or: evalsi runs resume {identifier}")
        return 130
    if executed.budget_reached is not None:
        say(f"stopped early: {executed.budget_reached}; what was not asked is CANCELLED")
        if can_go_on:
            say("with a larger budget, the same command with --retry-errors asks what is left")
        return 1
    for gate in executed.run.gates:
        say(gate_line(gate))
    status = exit_status(executed.run.gates, ending.on_inconclusive)
    if executed.nothing_scored and status == 0:
        raise NothingScoredError("nothing was scored", hint=mishaps.why_nothing)
    if not flags["quiet"]:
        verdicts = {0: "PASS", 3: "FAIL", 4: "INCONCLUSIVE"}
        verdict = f"{verdicts[status]} (exit {status}); " if executed.run.gates else ""
        say(f"{verdict}run {identifier}{named} kept; next: evalsi report {identifier} -o report.html")
    return status


def gate_line(result: Any) -> str:
    """One gate: what was decided, by which number."""
    from evalsi.report.gate_line import gate_line as in_words

    line = in_words(result)
    interval = f" {line.bounds}" if line.bounds else ""
    measured = "" if line.word == "NO DATA" or line.is_condition or line.is_comparison else f"{line.value}{interval}"
    said = ", ".join(part for part in (measured, line.why) if part)
    return f"{line.word:<12} {line.title}: {said}"
