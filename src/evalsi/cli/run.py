"""`evalsi run`: ask a target, grade its answers, decide the gates."""

import os
import re
import sys
from pathlib import Path
from typing import Any

import click

from evalsi.cli.ci import Build
from evalsi.cli.judge_options import judge_options
from evalsi.cli.once import OnceCommand
from evalsi.cli.run_ending import Ending, carry_out, ending_options, options_of, retry_errors_option
from evalsi.cli.server_options import server_here, server_options
from evalsi.cli.terminal import say

_JUDGE = "command-line"
"""What a judge is called that flags name."""
_JUDGE_FIELDS = ("provider", "model", "base_url", "api_key_env", "effort", "max_tokens", "recording", "max_usd")
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
@click.option("--replay", metavar="RUN", help="Use the answers of RUN instead of calling the target.")
@click.option(
    "--resume/--no-resume", default=True, show_default=True, help="Continue an interrupted run of the same work."
)
@retry_errors_option
@click.option("--dry-run", is_flag=True, help="Print the plan and what it may cost; call nothing.")
@click.option("--schema", is_flag=True, help="Print the JSON Schema of specifications, for editors.")
@click.option("--no-wait", is_flag=True, help="On a server: return as soon as the run is queued.")
@click.option(
    "--priority", type=int, default=0, show_default=True, help="On a server: runs with a higher one start first."
)
@judge_options
@ending_options
@server_options
def run(**flags: Any) -> int:
    """Ask a target, grade its answers, decide the gates.

    \b
    evalsi run run.yaml
    evalsi run -f run.yaml --set spec.trials=3 --label branch=main
    evalsi run -f run.yaml --dry-run

    A judge that flags name judges in place of the specification's. The target is asked anew each time; --replay takes the
    answers of an earlier run, an interrupted run is continued.

    Exit status: 0 every gate is met, 1 an error, a budget or (without gates) nothing scored, 2 a mistake in the
    specification, 3 a gate is not met or has no data, 4 the data cannot decide.
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
    from evalsi.core.errors import InvalidSpecError, UsageError
    from evalsi.settings import Settings

    settings = Settings.from_environment()
    server = server_here(settings)
    with Build(flags["ci"], settings):
        document = _document(flags, settings)
        check_paths(flags, document.spec.sinks, _inputs(document), where=document.where)
    for warning in document.warnings:
        say(f"note: {warning}")
    if server is not None:
        from evalsi.cli.run_on_server import run_on_server

        return run_on_server(document, server, settings, flags, ending_of(document))
    for place, sink in enumerate(document.spec.sinks):
        if sink.name is not None:
            path = f"spec.sinks[{place}].name"
            raise InvalidSpecError(
                f"{path}: {sink.name!r} is a sink of a server, and no server is named",
                where=document.where(path),
                hint="add --server URL",
            )
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
    overrides += _judge_overrides(flags, settings)
    source: Path | str = sys.stdin.read() if flags["path"] == "-" else Path(flags["path"])
    return read_run_spec(source, overrides=overrides, environment=settings.environment)


def _judge_overrides(flags: dict[str, Any], settings: Any) -> list[str]:
    """A judge that flags name takes the place of the specification's `judge`; evaluators with one of their own keep it."""
    from evalsi.core.errors import UsageError

    given = {field: flags[f"judge_{field}"] for field in _JUDGE_FIELDS if flags[f"judge_{field}"] is not None}
    if not given:
        return []
    usual = {"provider": settings.judge.provider, "model": settings.judge.model}
    if given.get("provider") in (None, settings.judge.provider):
        given = {field: value for field, value in usual.items() if value} | given
    lacking = next((field for field in _needed_for(given.get("provider")) if field not in given), None)
    if lacking is not None:
        raise UsageError("the flags name no whole judge", hint=f"add --judge-{lacking}")
    if "recording" in given:
        given["recording"] = _from_folder_of(flags["path"], given["recording"])
    changes = [f"spec.judges.{_JUDGE}.{field}={value}" for field, value in given.items()]
    return [f"spec.judge={_JUDGE}", *changes]


def _needed_for(provider: str | None) -> tuple[str, ...]:
    """What names a judge of the provider."""
    return ("provider", "recording" if provider == "recorded" else "model")


def _from_folder_of(spec: str, named: str) -> str:
    """A file that was named from the working folder, as the specification must name it; anything else as it is."""
    if spec == "-" or not Path(named).is_file():
        return named
    written = os.path.relpath(Path(named).resolve(), Path(spec).resolve().parent)
    return os.path.join(".", written)  # noqa: PTH118 - pathlib would drop the dot, which says that it is a file


def _gate(text: str) -> Any:
    """`METRIC:DROP` as the gate it stands for; anything else is a condition."""
    metric, separator, drop = text.rpartition(":")
    if separator and _NUMBER.fullmatch(drop.strip()) and not _CONDITION.search(metric):
        return {"metric": metric.strip(), "max_drop": float(drop)}
    return {"cel": text}
