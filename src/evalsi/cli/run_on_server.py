"""`evalsi run` and `evalsi runs resume` where a server does the work: asked for, watched, and ended as on this machine.

Its own module because here a run outlives the command: Ctrl-C ends the watching, and the run goes on.
"""

from typing import Any

from evalsi.cli.ci import Build
from evalsi.cli.eval import labels_of
from evalsi.cli.run_ending import Ending, tell_verdict
from evalsi.cli.run_watch import show_progress
from evalsi.cli.terminal import as_json, say

_NOT_SENT = {
    "replay": "--replay takes answers from the store of this machine",
    "concurrency": "--concurrency is decided by the server; spec.target.max_concurrency limits a run",
    "no_cache": "--no-cache concerns the cache of this machine",
}


def run_on_server(document: Any, server: Any, settings: Any, flags: dict[str, Any], ending: Ending) -> int:
    """Asks the server for the run that the document describes and follows it to its end; the exit status.

    Raises: EvalsiError: what the server finds wrong with it; nothing was started then.
    """
    from evalsi.cli.run_files import check_paths
    from evalsi.client.client import Client
    from evalsi.schema import CreateRunRequest

    _check_flags(flags)
    metadata = document.run.metadata
    labels: dict[str, str] = {**(metadata.labels if metadata is not None else {}), **labels_of(flags["labels"])}
    named = metadata.project if metadata is not None else ""
    request = CreateRunRequest(
        name=flags["name"] or (metadata.name if metadata is not None else ""),
        project=server.project or named,
        spec=document.spec,
        labels=labels,
        validate_only=flags["dry_run"],
        priority=flags["priority"],
    )
    check_paths(flags, ending.sinks)
    with (
        Build(flags["ci"], settings) as build,
        Client(server.url, api_key=server.api_key, proxy=server.proxy) as client,
    ):
        run = client.create_run(request).run
        assert run is not None
        if flags["dry_run"]:
            say(f"the server takes it as run {run.name} of project {run.project}; start it without --dry-run")
            return 0
        if flags["no_wait"]:
            _say_in_line(run, flags)
            return 0
        say(f"run {run.id[:8]} is in line on {server.url}")
        return _to_its_end(client, run.id, server, ending, flags, build)


def resume_on_server(reference: str, server: Any, settings: Any, flags: dict[str, Any]) -> int:
    """Has the server continue a run and follows it to its end; the exit status."""
    from evalsi.client.client import Client
    from evalsi.client.server_runs import ServerRuns
    from evalsi.schema import OnInconclusive, ResumeRunRequest

    _check_flags(flags)
    with (
        Build(flags["ci"], settings) as build,
        Client(server.url, api_key=server.api_key, proxy=server.proxy) as client,
    ):
        row = ServerRuns(client, server.project).find(reference)
        run = client.resume_run(ResumeRunRequest(id=row.id)).run
        spec = run.spec if run is not None else None
        decided = spec.on_inconclusive if spec is not None else OnInconclusive.UNSPECIFIED
        return _to_its_end(client, row.id, server, Ending(on_inconclusive=decided), flags, build)


def _check_flags(flags: dict[str, Any]) -> None:
    from evalsi.core.errors import UsageError

    for flag, why in _NOT_SENT.items():
        if flags.get(flag):
            raise UsageError(why, hint="leave it out, or run on this machine with --server local")


def _say_in_line(run: Any, flags: dict[str, Any]) -> None:
    if flags["output_format"] == "json":
        print(as_json(run))
    else:
        print(run.id)
    if not flags["quiet"]:
        say(f"run {run.id[:8]} is in line; follow it with: evalsi runs watch {run.id[:8]}")


def _to_its_end(client: Any, run_id: str, server: Any, ending: Ending, flags: dict[str, Any], build: Build) -> int:
    """Follows the run, then does what the end of a run on this machine does."""
    from evalsi.client.server_runs import ServerRuns
    from evalsi.results.nothing_scored import why_nothing_scored
    from evalsi.run.execute_run import Executed

    library = ServerRuns(client, server.project)
    try:
        looks = library.follow(run_id, interval_s=1.0)
        seen = show_progress(looks) if not flags["quiet"] else list(looks)[-1]
    except KeyboardInterrupt:
        short = run_id[:8]
        say(f"the run goes on; follow it with: evalsi runs watch {short}; stop it with: evalsi runs cancel {short}")
        return 130
    row, graded = library.find(run_id), library.open(run_id)
    if seen.status == "error":
        say(f"run {run_id[:8]} stopped early: {row.error or 'the server does not say why'}")
    comparison = _against_baseline(library, graded)
    _write(graded, ending, flags, comparison)
    build.tell(graded, where=ending.where, gates_at=ending.gates_at, comparison=comparison, gated=ending.gated)
    executed = Executed(
        run=graded,
        interrupted=seen.status == "interrupted",
        resumed_rows=0,
        budget_reached=row.error or "an error" if seen.status == "error" else None,
    )
    return tell_verdict(executed, why_nothing_scored(graded) if executed.nothing_scored else "", ending, flags)


def _against_baseline(library: Any, run: Any) -> Any:
    """The run against the baseline of its specification; None where there is none. That it cannot be read, a gate says."""
    from evalsi.compare.compare_runs import compare_runs
    from evalsi.core.errors import EvalsiError

    spec = run.manifest.spec
    if spec is None or not spec.baseline:
        return None
    try:
        return compare_runs(library.open(library.find(spec.baseline).id), run)
    except EvalsiError as error:
        say(f"note: the baseline cannot be read: {error}")
        return None


def _write(run: Any, ending: Ending, flags: dict[str, Any], comparison: Any) -> None:
    from evalsi.cli.run_files import write_files

    write_files(run, ending.sinks, flags, comparison)
