"""`evalsi eval`: grade outputs that exist."""

import sys
from collections.abc import Sequence
from contextlib import AbstractContextManager, redirect_stdout
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from evalsi.cli.bad_records import mishaps_of, say_errors
from evalsi.cli.confidence_option import confidence_option
from evalsi.cli.format_option import format_option
from evalsi.cli.judge_options import judge_choice_of, judge_options
from evalsi.cli.map_option import map_option
from evalsi.cli.metric_table import FORMATS, print_summaries
from evalsi.cli.once import OnceCommand
from evalsi.cli.progress import ProgressLine, StopSwitch
from evalsi.cli.server_options import server_here, server_options
from evalsi.cli.terminal import LOADED_LATER, say
from evalsi.core.collector import tune_collector


@click.command(name="eval", cls=OnceCommand)
@click.option(
    "--data",
    required=True,
    metavar="SOURCE",
    help="JSONL, JSON, CSV, TSV or Parquet (also .gz, .zst), a glob, a folder, hf://…, or - for standard input.",
)
@click.option(
    "--evaluators",
    required=True,
    multiple=True,
    metavar="LIST",
    help="Comma-separated references, e.g. exact-match,rouge or strict=exact-match,./checks.py:polite. Repeatable.",
)
@map_option
@click.option(
    "--param",
    "params",
    multiple=True,
    metavar="EVALUATOR.KEY=VALUE",
    help="A param of an evaluator; VALUE is JSON where it can be read so. Repeatable.",
)
@click.option(
    "--set",
    "settings",
    multiple=True,
    metavar="KEY=VALUE",
    help="Any other option by its path, e.g. deadline_s=30 or judge.requests_per_minute=60. Repeatable.",
)
@click.option("--where", metavar="CEL", help="Only records for which this holds, e.g. 'metadata.topic == \"billing\"'.")
@click.option("--limit", type=click.IntRange(min=1), metavar="N", help="Only the first N records.")
@click.option("--sample", type=click.IntRange(min=1), metavar="N", help="Only N records, drawn at random.")
@click.option("--seed", type=int, default=0, show_default=True, help="Seed of everything random.")
@click.option("--skip-invalid", is_flag=True, help="Skip rows that cannot be read, and list them, instead of stopping.")
@click.option("--baseline", metavar="SOURCE", help="Outputs that comparative evaluators compare with, matched by id.")
@click.option(
    "--concurrency", type=click.IntRange(min=1), default=16, show_default=True, help="Judge calls in flight at once."
)
@judge_options
@click.option("--judge", "server_judge", default="", metavar="NAME", help="A judge of the server, by its name there.")
@confidence_option()
@click.option("--cluster-by", metavar="KEY", help="Metadata key that groups records which are not independent.")
@click.option(
    "--ci",
    type=click.Choice(["auto", "bootstrap"]),
    default="auto",
    show_default=True,
    help="How intervals are computed.",
)
@click.option("--name", default="", help="What the run is called in lists and reports.")
@click.option("--label", "labels", multiple=True, metavar="KEY=VALUE", help="A label of the run. Repeatable.")
@click.option(
    "--resume/--no-resume", default=True, show_default=True, help="Continue an interrupted run of the same work."
)
@click.option("--output", metavar="FILE", help="Write results: .json (everything), .jsonl, .csv or .parquet.")
@click.option("--report", "report_path", metavar="FILE", help="Write a report: .html, .md or .xml (JUnit).")
@format_option(FORMATS, about="How the summary is printed.")
@click.option("--quiet", is_flag=True, help="No progress line, no hints.")
@server_options
def evaluate(**flags: Any) -> int:
    """Grade outputs that exist.

    \b
    evalsi eval --data outputs.jsonl --evaluators exact-match,rouge
    evalsi eval --data answers.csv --map input=question --map output=answer --evaluators exact-match
    evalsi eval --data rag.jsonl --evaluators faithfulness --judge-provider anthropic --judge-model NAME

    Exit status: 0 scored, 1 an error or nothing scored, 2 a mistake in what was asked.
    """  # noqa: D301 - \b is click's
    from evalsi.cli.run_files import check_paths
    from evalsi.core.errors import NothingScoredError
    from evalsi.score.score_dataset import score_dataset_now
    from evalsi.settings import Settings

    tune_collector()
    inputs = [flags[name] for name in ("data", "baseline", "judge_recording") if flags[name]]
    check_paths(flags, inputs=inputs)
    request = _request(flags)
    settings = Settings.from_environment()
    server = server_here(settings)
    with (
        redirect_stdout(sys.stderr),  # what foreign code prints is no data
        StopSwitch() as switch,
        ProgressLine(enabled=not flags["quiet"]) as progress,
        _opened(request, settings, server, on_progress=progress.show, stopped=switch.is_on) as job,
    ):
        scored = score_dataset_now(replace(job, later=LOADED_LATER))
        progress.clear()
        _write_files(scored.run, flags)
        mishaps = mishaps_of(scored.run)
    if scored.resumed_rows and not flags["quiet"]:
        say(f"continued an interrupted run: {scored.resumed_rows:,} records were already graded")
    print_summaries(scored.run.summaries, flags["output_format"])
    for warning in scored.run.manifest.warnings:
        say(f"warning: {warning}")
    if scored.interrupted:
        say(f"stopped after {_graded(scored.run.summaries)} records; run the same command again to continue")
        return 130
    if scored.nothing_scored:
        raise NothingScoredError("nothing was scored", hint=mishaps.why_nothing)
    if not flags["quiet"]:
        say_errors(scored.run, mishaps.example)
        _say_what_next(scored.run, flags, is_sent=server is not None)
    return 0


def _opened(request: Any, settings: Any, server: Any, **watching: Any) -> AbstractContextManager[Any]:
    """The job, ready to run: here, or with the evaluators of a server."""
    if server is None:
        from evalsi.core.errors import UsageError
        from evalsi.wiring.scoring import scoring

        if request.judge.name:
            raise UsageError("--judge names a judge of a server", hint="add --server URL, or say --judge-provider")
        return scoring(request, settings, **watching)
    from evalsi.wiring.server_scoring import scoring_on_server

    return scoring_on_server(request, settings, server, **watching)


def _write_files(run: Any, flags: dict[str, Any]) -> None:
    from evalsi.results.save import save

    try:
        if flags["output"] is not None:
            save(run, Path(flags["output"]))
        if flags["report_path"] is not None:
            from evalsi.report.write import write_report

            write_report(run, Path(flags["report_path"]))
    except OSError:
        say(f"run {run.manifest.run_id[:8]} is kept; its results: evalsi runs export {run.manifest.run_id[:8]} FILE")
        raise


def _request(flags: dict[str, Any]) -> Any:
    from evalsi.core.errors import UsageError
    from evalsi.datasets import DatasetOptions, mapping_of_flags
    from evalsi.engine.summary import SummaryPlan
    from evalsi.evaluators.choose import chosen_by_flags
    from evalsi.score.manifest import redacted_argv
    from evalsi.score.request import ScoreRequest, with_settings

    for name in ("seed", "limit", "sample"):
        if flags[name] is not None and abs(flags[name]) >= 1 << 63:
            raise UsageError(f"--{name} is a number of {len(str(flags[name]))} digits", hint="the most is 2^63 - 1")
    request = ScoreRequest(
        data=flags["data"],
        evaluators=chosen_by_flags(",".join(flags["evaluators"]), flags["params"]),
        dataset=DatasetOptions(
            mapping=mapping_of_flags(flags["mappings"]),
            where=flags["where"],
            limit=flags["limit"],
            sample=flags["sample"],
            seed=flags["seed"],
            on_invalid="skip" if flags["skip_invalid"] else "stop",
        ),
        baseline=flags["baseline"],
        judge=replace(judge_choice_of(flags), name=flags["server_judge"]),
        use_cache=not flags["no_cache"],
        concurrency=flags["concurrency"],
        plan=SummaryPlan(
            level=flags["confidence"], cluster_by=flags["cluster_by"], method=flags["ci"], seed=flags["seed"]
        ),
        name=flags["name"],
        labels=labels_of(flags["labels"]),
        resume=flags["resume"],
        argv=redacted_argv(["evalsi", *click.get_current_context().obj]),
    )
    return with_settings(request, flags["settings"])


def labels_of(flags: Sequence[str]) -> dict[str, str]:
    """`key=value` flags as labels."""
    from evalsi.core.errors import InvalidSpecError

    labels: dict[str, str] = {}
    for flag in flags:
        key, separator, value = flag.partition("=")
        if not separator or not key:
            raise InvalidSpecError(f"{flag!r} is no label", hint="write key=value")
        labels[key] = value
    return labels


def _graded(summaries: Sequence[Any]) -> str:
    return f"{max((summary.total for summary in summaries), default=0):,}"


def _say_what_next(run: Any, flags: dict[str, Any], *, is_sent: bool) -> None:
    short = run.manifest.run_id[:8]
    named = f" ({flags['name']})" if flags["name"] else ""
    # The server keeps nothing of it, and may be where the next command would look.
    where, here = (" on this machine", " --server local") if is_sent else ("", "")
    if flags["report_path"] is None:
        say(f"run {short}{named} kept{where}; next: evalsi report {short} -o report.html{here}")
    else:
        say(
            f"run {short}{named} kept{where}; report: {flags['report_path']}; next: evalsi compare BASELINE {short}{here}"
        )
