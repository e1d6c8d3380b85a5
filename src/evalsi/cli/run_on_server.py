"""`evalsi run` and `evalsi runs resume` where a server does the work: asked for, watched, and ended as on this machine.

Its own module because here a run outlives the command: Ctrl-C ends the watching, and the run goes on.
"""

from typing import Any

from evalsi.cli.bad_records import mishaps_of
from evalsi.cli.ci import Build
from evalsi.cli.eval import labels_of
from evalsi.cli.run_ending import Ending, tell_verdict
from evalsi.cli.run_watch import show_progress
from evalsi.cli.server_options import client_of
from evalsi.cli.slice_table import slices_of
from evalsi.cli.terminal import as_json, say
from evalsi.documents.named_outside import where_named

_NOT_SENT = {
    "replay": "--replay takes answers from the store of this machine",
    "concurrency": "--concurrency is decided by the server; spec.target.max_concurrency limits a run",
    "no_cache": "--no-cache concerns the cache of this machine",
    "retry_errors": "--retry-errors takes up a run in the store of this machine",
}


def run_on_server(document: Any, server: Any, settings: Any, flags: dict[str, Any], ending: Ending) -> int:
    """Asks the server for the run that the document describes and follows it to its end; the exit status.

    Raises: EvalsiError: what the server finds wrong with it; nothing was started then.
    """
    from evalsi.cli.run_files import check_paths
    from evalsi.schema import CreateRunRequest

    _check_flags(flags)
    metadata = document.run.metadata
    labels: dict[str, str] = {**(metadata.labels if metadata is not None else {}), **labels_of(flags["labels"])}
    named = metadata.project if metadata is not None else ""
    request = CreateRunRequest(
        name=flags["name"] or (metadata.name if metadata is not None else ""),
        project=server.project or named,
        spec=_without_files(document.spec),
        labels=labels,
        validate_only=flags["dry_run"],
        priority=flags["priority"],
    )
    check_paths(flags, ending.sinks)
    with Build(flags["ci"], settings) as build, client_of(server) as client:
        with where_named(document.where):
            run = _created(client, request)
        assert run is not None
        if flags["dry_run"]:
            say(f"the server takes it as run {run.name} of project {run.project}; start it without --dry-run")
            return 0
        if flags["no_wait"]:
            _say_in_line(run, flags)
            return 0
        say(f"run {run.id[:8]} is queued on {server.url}")
        return _to_its_end(client, run.id, server, ending, flags, build)


def _without_files(spec: Any) -> Any:
    """What a server is asked for: the files of a specification are written here, once the run has ended."""
    from msgspec.structs import replace

    return replace(spec, sinks=[sink for sink in spec.sinks if sink.name is not None])


def resume_on_server(reference: str, server: Any, settings: Any, flags: dict[str, Any]) -> int:
    """Has the server continue a run and follows it to its end; the exit status."""
    from evalsi.schema import OnInconclusive, ResumeRunRequest
    from evalsi.wiring.run_libraries import server_runs

    _check_flags(flags)
    with Build(flags["ci"], settings) as build, client_of(server) as client:
        row = server_runs(client, server.project, settings).find(reference)
        run = client.resume_run(ResumeRunRequest(id=row.id)).run
        spec = run.spec if run is not None else None
        decided = spec.on_inconclusive if spec is not None else OnInconclusive.UNSPECIFIED
        return _to_its_end(client, row.id, server, Ending(on_inconclusive=decided), flags, build)


def rerun_on_server(reference: str, server: Any, settings: Any, flags: dict[str, Any]) -> int:
    """Has the server do again what a run of its own was asked for, and follows that to its end; the exit status.

    Raises: UsageError: the run was made elsewhere, so nobody there knows what it was asked for.
    """
    from evalsi.core.errors import UsageError
    from evalsi.schema import CreateRunRequest, GetRunRequest
    from evalsi.wiring.run_libraries import server_runs

    _check_flags(flags)
    with Build(flags["ci"], settings) as build, client_of(server) as client:
        row = server_runs(client, server.project, settings).find(reference)
        before = client.get_run(GetRunRequest(id=row.id)).run
        if before is None or before.spec is None:
            raise UsageError(f"run {row.id} has no specification", hint="make it again where it was made")
        request = CreateRunRequest(
            name=flags["name"] or before.name,
            project=before.project,
            spec=before.spec,
            labels={**before.labels, **labels_of(flags["labels"])},
        )
        run = client.create_run(request).run
        assert run is not None
        say(f"run {run.id[:8]} is queued on {server.url}")
        ending = Ending(on_inconclusive=before.spec.on_inconclusive)
        return _to_its_end(client, run.id, server, ending, flags, build)


def rescore_on_server(reference: str, judge: Any, server: Any, settings: Any, flags: dict[str, Any]) -> int:
    """Has the server grade the answers of one of its runs anew and follows that to its end; the exit status.

    Raises: UsageError: an evaluator or judge of this machine was asked for.
    """
    from evalsi.core.errors import UsageError
    from evalsi.evaluators.choose import chosen_by_flags
    from evalsi.schema import EvaluatorRef, OnInconclusive, RescoreRunRequest
    from evalsi.wiring.run_libraries import server_runs

    _check_flags(flags)
    if judge.is_named:
        raise UsageError(
            "a server asks its own judges",
            where="judge",
            hint="leave the judge out for its usual one, or rescore on this machine with --server local",
        )
    chosen = chosen_by_flags(flags["evaluators"], flags["params"])
    refs = [each for each in chosen if isinstance(each, EvaluatorRef)]
    with Build(flags["ci"], settings) as build, client_of(server) as client:
        row = server_runs(client, server.project, settings).find(reference)
        request = RescoreRunRequest(
            run_id=row.id, evaluators=refs, name=flags["name"], labels=labels_of(flags["labels"])
        )
        run = client.rescore_run(request).run
        assert run is not None
        say(f"run {run.id[:8]} is queued on {server.url}")
        return _to_its_end(client, run.id, server, Ending(on_inconclusive=OnInconclusive.UNSPECIFIED), flags, build)


def _created(client: Any, request: Any) -> Any:
    """The new run. Raises: EvalsiError: the server refuses it; where it has no such file, the command that stores one is said."""
    import re
    import shlex
    from pathlib import PurePosixPath

    from evalsi.core.errors import InvalidSpecError

    try:
        return client.create_run(request).run
    except InvalidSpecError as error:
        path = request.spec.dataset.path if request.spec is not None and request.spec.dataset is not None else None
        if error.where != "spec.dataset.path" or not path:
            raise
        stem = PurePosixPath(path).name.partition(".")[0]
        name = re.sub(r"[^a-z0-9-]+", "-", stem.lower()).strip("-") or "cases"
        hint = f"'evalsi dataset put {name} {shlex.quote(path)}' stores it; then write dataset: {{catalog: {{name: {name}}}}}"
        raise InvalidSpecError(error.message, where=error.where, hint=hint) from error


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
        say(f"run {run.id[:8]} is queued; follow it with: evalsi runs watch {run.id[:8]}")


def _to_its_end(client: Any, run_id: str, server: Any, ending: Ending, flags: dict[str, Any], build: Build) -> int:
    """Follows the run, then does what the end of a run on this machine does."""
    from evalsi.client.server_runs import ServerRuns
    from evalsi.run.run_job import Executed

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
        continued=False,
        resumed_rows=0,
        recalled_answers=0,
        budget_reached=row.error or "an error" if seen.status == "error" else None,
    )
    slices = slices_of(graded, flags["output_format"])
    return tell_verdict(executed, mishaps_of(graded), ending, flags, slices, can_go_on=False)


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
