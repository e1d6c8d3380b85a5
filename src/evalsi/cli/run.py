"""`evalsi run`: ask a target, grade its answers, decide the gates."""

import os
import re
import sys
from pathlib import Path
from typing import Any

import click

from evalsi.cli.ci import Build
from evalsi.cli.once import OnceCommand
from evalsi.cli.run_ending import Ending, carry_out, ending_options, no_cache_option, options_of, retry_errors_option
from evalsi.cli.server_options import server_here, server_options
from evalsi.cli.terminal import say

_NUMBER = re.compile(r"\d+(\.\d*)?|\.\d+")
_CONDITION = re.compile(r"[<>=!?&|('\"]")


@click.command(name="run", cls=OnceCommand)
@click.argument("specification", required=False, metavar="[FILE]")
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
@click.option("--replay", metavar="RUN", help="Take the answers of RUN; nobody is asked.")
@click.option(
    "--resume/--no-resume", default=True, show_default=True, help="Continue an interrupted run of the same work."
)
@retry_errors_option
@click.option("--dry-run", is_flag=True, help="Print the plan and what it may cost; ask nobody.")
@click.option("--schema", is_flag=True, help="Print the JSON Schema of specifications, for editors.")
@click.option("--no-wait", is_flag=True, help="On a server: end as soon as the run is in line there.")
@click.option(
    "--priority", type=int, default=0, show_default=True, help="On a server: runs of a higher one begin first."
)
@no_cache_option
@ending_options
@server_options
def run(**flags: Any) -> int:
    """Ask a target, grade its answers, decide the gates.

    \b
    evalsi run run.yaml
    evalsi run -f run.yaml --set spec.trials=3 --label branch=main
    evalsi run -f run.yaml --dry-run

    Exit status: 0 every gate is met, 1 an error, a budget or nothing scored, 2 a mistake in the specification, 3 a gate
    is not met, 4 the data cannot decide.
    """  # noqa: D301
    specification = flags.pop("specification")
    if specification is not None and flags["path"] is not None:
        raise click.UsageError(f"two specifications were named, {specification} and {flags['path']}; name one.")
    flags["path"] = flags["path"] or specification
    if flags["schema"]:
        import json

        from evalsi.run.spec.read_run_spec import run_spec_schema

        print(json.dumps(run_spec_schema(), indent=2, ensure_ascii=False))
        return 0
    from evalsi.cli.run_files import check_paths
    from evalsi.core.errors import UsageError
    from evalsi.settings import Settings

    settings = Settings.from_environment()
    server = server_here(settings)
    with Build(flags["ci"], settings):
        document = _document(flags, settings)
        check_paths(flags, document.spec.sinks, _inputs(document))
    for warning in document.warnings:
        say(f"note: {warning}")
    if server is not None:
        from evalsi.cli.run_on_server import run_on_server

        return run_on_server(document, server, settings, flags, ending_of(document))
    if flags["no_wait"]:
        raise UsageError("--no-wait leaves the run to a server, and none is named", hint="add --server URL")
    if flags["dry_run"]:
        from evalsi.cli.run_plan import print_plan

        return print_plan(document, settings, options_of(flags))
    return perform(document, settings, flags)


def perform(document: Any, settings: Any, flags: dict[str, Any]) -> int:
    """Runs a document to its end and tells how it ended; the exit status."""
    from evalsi.wiring.running import running

    return carry_out(lambda options: running(document, settings, options), ending_of(document), settings, flags)


def ending_of(document: Any) -> Ending:
    """What the specification says about the end of its run."""
    spec = document.spec
    is_file = Path(document.source).is_file()
    return Ending(
        where=document.source if is_file else "",
        gates_at=[document.where(f"spec.gates[{row}]") for row in range(len(spec.gates))] if is_file else [],
        gated=[gate.metric for gate in spec.gates if gate.max_drop is not None],
        sinks=spec.sinks,
        on_inconclusive=spec.on_inconclusive,
    )


def _inputs(document: Any) -> list[Path]:
    """The files that a run reads."""
    dataset = document.spec.dataset
    path = dataset.path if dataset is not None else None
    return [Path(document.source), *([document.folder / path] if path else [])]


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
