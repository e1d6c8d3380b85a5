"""The search for the run that a person names among those that a service lists.

Its own module because the commands and the pages of a server ask the same questions in the same order, the ones by blocking
calls, the others without. It makes no call itself: it says what to ask, and goes on with the answer.
"""

from collections.abc import Generator, Sequence
from typing import NamedTuple, TypeAlias

from evalsi.core.errors import NotFoundError
from evalsi.core.run_reference import RunIdentity, latest_labels, latest_steps, none_labelled, resolve_run
from evalsi.schema import GetRunRequest, ListRunsRequest, Run

_NEARBY = 200
"""The newest runs, among which the nearest one to a wrong name is looked for."""


class RunsAsked(NamedTuple):
    """A question: the run with an id, none where it is not there; or so many runs of a list, all where `limit` is None."""

    request: GetRunRequest | ListRunsRequest
    limit: int | None = None


RunSearch: TypeAlias = Generator[RunsAsked, Sequence[Run], Run]


def run_search(reference: str, project: str = "") -> RunSearch:
    """Asks until it knows which run is meant: `latest`, `latest~n`, `latest(label=value)`, an id, a name (the newest run that
    bears it) or the unique beginning of an id.

    Args:
        project: Whose runs; "" for those of every project that the caller may read.

    Raises:
        NotFoundError: no run is meant; names the nearest ones.
        UsageError: nothing was written, the labels cannot be read, or several ids begin so.
    """
    labels = latest_labels(reference)
    if labels is not None:
        found = yield RunsAsked(ListRunsRequest(project=project, labels=labels), 1)
        if not found:
            raise none_labelled(labels)
        return found[0]
    steps = latest_steps(reference)
    if steps is not None:
        return _resolved(reference, (yield RunsAsked(ListRunsRequest(project=project), steps + 1)))
    if reference:
        found = yield RunsAsked(GetRunRequest(id=reference))
        if found and project in ("", found[0].project):
            return found[0]
        named = yield RunsAsked(ListRunsRequest(project=project, name=reference), 1)
        if named:
            return named[0]
        similar = yield RunsAsked(ListRunsRequest(project=project, search=reference))
        beginning = [run for run in similar if run.id.startswith(reference.lower())]
        if beginning:
            return _resolved(reference, beginning)
    return _resolved(reference, (yield RunsAsked(ListRunsRequest(project=project), _NEARBY)))


def _resolved(reference: str, runs: Sequence[Run]) -> Run:
    if reference and not runs:
        raise NotFoundError(f"no run {reference!r}: there are no runs on the server yet", hint="'evalsi run' makes one")
    wanted = resolve_run(reference, [_identity(run) for run in runs])
    return next(run for run in runs if run.id == wanted)


def _identity(run: Run) -> RunIdentity:
    made = run.created_at.isoformat(timespec="milliseconds") if run.created_at is not None else ""
    return RunIdentity(run.id, run.name, made)
