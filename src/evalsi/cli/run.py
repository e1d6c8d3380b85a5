"""`evalsi run`: ask a target, grade its answers, decide the gates."""

import os
import re
import sys
from pathlib import Path
from typing import Any

import click

from evalsi.cli.ci import Build, ci_option
from evalsi.cli.collector import tune_collector
from evalsi.cli.metric_table import FORMATS, print_summaries
from evalsi.cli.progress import ProgressLine, StopSwitch
from evalsi.cli.terminal import figure, say

_NUMBER = re.compile(r"\d+(\.\d*)?|\.\d+")
_CONDITION = re.compile(r"[<>=!?&|('\"]")


@click.command(name="run")
@click.option(
    "-f", "--file", "path", metavar="FILE", help="The run's specification, YAML or JSON; - reads standard input."
)
@click.option(
    "--set",
    "overrides",
    multiple=True,
    metavar="PATH=VALUE",
    help="Change the specification, e.g. spec.trials=3. Repeatable.",
)
@click.option(
    "--gate",
    "gates",
    multiple=True,
    metavar="GATE",
    help="One more gate: a condition, or METRIC:DROP for a loss against the baseline. Repeatable.",
)
@click.option(
    "--baseline", metavar="RUN", help="Compare with this run: an id, a name, a results file, latest(label=value)."
)
@click.option("--limit", type=click.IntRange(min=1), metavar="N", help="Only the first N records.")
@click.option("--where", metavar="CEL", help="Only records for which this holds.")
@click.option("--name", default="", help="What the run is called; by default the specification's name.")
@click.option("--label", "labels", multiple=True, metavar="KEY=VALUE", help="A label of the run. Repeatable.")
@click.option("--concurrency", type=click.IntRange(min=1), metavar="N", help="Questions to the target in flight.")
@click.option("--replay", metavar="RUN", help="Take the answers of RUN; nobody is asked.")
@click.option("--no-cache", is_flag=True, help="Ask judges again, even where a reply was paid for before.")
@click.option(
    "--resume/--no-resume", default=True, show_default=True, help="Continue an interrupted run of the same work."
)
@click.option("--dry-run", is_flag=True, help="Print the plan and what it may cost; ask nobody.")
@click.option("--schema", is_flag=True, help="Print the JSON Schema of specifications, for editors.")
@click.option("--output", metavar="FILE", help="Write results: .json, .jsonl, .csv or .parquet.")
@click.option("--report", "report_path", metavar="FILE", help="Write a report: .html or .md.")
@click.option(
    "--junit", "junit_path", metavar="FILE", help="Write JUnit XML: a test for each gate and each failed record."
)
@click.option("--format", "output_format", type=click.Choice(FORMATS), default="table", show_default=True)
@ci_option
@click.option("--quiet", is_flag=True, help="No progress line, no hints.")
def run(**flags: Any) -> int:
    """Ask a target, grade its answers, decide the gates.

    \b
    evalsi run -f run.yaml
    evalsi run -f run.yaml --set spec.trials=3 --label branch=main
    evalsi run -f run.yaml --dry-run

    Exit status: 0 every gate is met, 1 an error, a budget or nothing scored, 2 a mistake in the specification, 3 a gate
    is not met, 4 the data cannot decide.
    """  # noqa: D301
    if flags["schema"]:
        import json

        from evalsi.run.spec.read_run_spec import run_spec_schema

        print(json.dumps(run_spec_schema(), indent=2, ensure_ascii=False))
        return 0
    from evalsi.cli.run_files import check_paths
    from evalsi.settings import Settings

    settings = Settings.from_environment()
    with Build(flags["ci"], settings):
        check_paths(flags)
        document = _document(flags, settings)
    for warning in document.warnings:
        say(f"note: {warning}")
    if flags["dry_run"]:
        from evalsi.cli.run_plan import print_plan

        return print_plan(document, settings, _options(flags, None, None))
    return perform(document, settings, flags)


def perform(document: Any, settings: Any, flags: dict[str, Any]) -> int:
    """Runs a document to its end, writes its files, prints its verdict and gives the exit status."""
    with Build(flags["ci"], settings) as build:
        return _perform(document, settings, flags, build)


def _perform(document: Any, settings: Any, flags: dict[str, Any], build: Build) -> int:
    from evalsi.cli.run_files import write_files
    from evalsi.core.errors import NothingScoredError
    from evalsi.run.execute_run import execute_run_now
    from evalsi.run.gates.exit_status import exit_status
    from evalsi.wiring.running import running

    tune_collector()
    with (
        StopSwitch() as switch,
        ProgressLine(enabled=not flags["quiet"]) as progress,
        running(document, settings, _options(flags, progress, switch)) as job,
    ):
        executed = execute_run_now(job)
        progress.clear()
        comparison = _against_baseline(job, executed.run)
        write_files(executed.run, document, flags, comparison)
        build.tell(
            executed.run,
            where=document.source,
            gates_at=[document.where(f"spec.gates[{row}]") for row in range(len(document.spec.gates))],
            comparison=comparison,
            gated=[gate.metric for gate in document.spec.gates if gate.max_drop is not None],
        )
    if executed.resumed_rows and not flags["quiet"]:
        say(f"continued an interrupted run: {executed.resumed_rows:,} rows were already done")
    print_summaries(executed.run.summaries, flags["output_format"])
    identifier = executed.run.manifest.run_id[:8]
    if executed.interrupted:
        say(f"stopped; continue with the same command, or: evalsi runs resume {identifier}")
        return 130
    if executed.budget_reached is not None:
        say(f"stopped early: {executed.budget_reached}; what was not asked is CANCELLED")
        return 1
    if executed.nothing_scored:
        kinds = sorted({kind for summary in executed.run.summaries for kind in summary.error_kinds})
        raise NothingScoredError("nothing was scored", hint=f"errors: {', '.join(kinds)}" if kinds else None)
    for gate in executed.run.gates:
        say(gate_line(gate))
    status = exit_status(executed.run.gates, document.spec.on_inconclusive)
    if not flags["quiet"]:
        verdicts = {0: "PASS", 3: "FAIL", 4: "INCONCLUSIVE"}
        verdict = f"{verdicts[status]} (exit {status}); " if executed.run.gates else ""
        say(f"{verdict}run {identifier} kept; next: evalsi report {identifier} -o report.html")
    return status


def _against_baseline(job: Any, run: Any) -> Any:
    """The run against the specification's baseline; None where there is none. That it cannot be read, a gate says."""
    from evalsi.compare.compare_runs import compare_runs
    from evalsi.core.errors import EvalsiError

    reference = job.gate_plan.baseline
    if not reference:
        return None
    try:
        return compare_runs(job.open_baseline(reference), run)
    except EvalsiError as error:
        say(f"note: the baseline cannot be read: {error}")
        return None


def gate_line(result: Any) -> str:
    """One gate: what was decided, by which number."""
    from evalsi.report.gate_line import gate_line as in_words

    line = in_words(result)
    interval = "" if line.ci is None else f" [{figure(line.ci.low)}, {figure(line.ci.high)}]"
    reason = f"; {line.reason}" if line.reason else ""
    return f"{line.word:<12} {line.title}: {line.value}{interval}{reason}"


def _document(flags: dict[str, Any], settings: Any) -> Any:
    import json

    from evalsi.core.errors import UsageError
    from evalsi.run.spec.read_run_spec import read_run_spec

    if flags["path"] is None:
        raise UsageError("no specification was named", hint="evalsi run -f run.yaml")
    overrides = list(flags["overrides"])
    if flags["limit"] is not None:
        overrides.append(f"spec.dataset.limit={flags['limit']}")
    if flags["where"] is not None:
        overrides.append(f"spec.dataset.where={json.dumps(flags['where'])}")
    if flags["baseline"] is not None:
        overrides.append(f"spec.baseline={json.dumps(_from_folder_of(flags['path'], flags['baseline']))}")
    overrides += [f"spec.gates[+]={json.dumps(_gate(text))}" for text in flags["gates"]]
    source: Path | str = sys.stdin.read() if flags["path"] == "-" else Path(flags["path"])
    return read_run_spec(source, overrides=overrides, environment=settings.environment)


def _from_folder_of(spec: str, baseline: str) -> str:
    """A file that was named from the working folder, as the specification must name it; anything else as it is."""
    if spec == "-" or not Path(baseline).is_file():
        return baseline
    written = os.path.relpath(Path(baseline).resolve(), Path(spec).resolve().parent)
    return os.path.join(".", written)  # noqa: PTH118 - pathlib would drop the dot, which says that it is a file


def _gate(text: str) -> Any:
    """`METRIC:DROP` as the gate it stands for; anything else is a condition."""
    metric, separator, drop = text.rpartition(":")
    if separator and _NUMBER.fullmatch(drop.strip()) and not _CONDITION.search(metric):
        return {"metric": metric.strip(), "max_drop": float(drop)}
    return {"cel": text}


def _options(flags: dict[str, Any], progress: ProgressLine | None, switch: StopSwitch | None) -> Any:
    from evalsi.cli.eval import labels_of
    from evalsi.score.manifest import redacted_argv
    from evalsi.wiring.running import RunOptions

    return RunOptions(
        concurrency=flags["concurrency"],
        use_cache=not flags["no_cache"],
        resume=flags["resume"],
        replay=flags["replay"] or "",
        argv=redacted_argv(["evalsi", *sys.argv[1:]]),
        labels=labels_of(flags["labels"]),
        name=flags["name"],
        on_progress=progress.show if progress is not None else None,
        stopped=switch.is_on if switch is not None else lambda: False,
    )
