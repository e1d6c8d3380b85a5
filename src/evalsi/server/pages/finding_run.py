"""The run that a person names in a form, by whatever the command line takes for a run of the server.

Its own module because a form takes a name and pages show the run itself.
"""

import msgspec

from evalsi.core.errors import NotFoundError
from evalsi.core.run_search import RunsAsked, run_search
from evalsi.schema import GetRunResponse, ListRunsRequest, ListRunsResponse, Run
from evalsi.server.pages.visit import Visit

_AT_ONCE = 1000


async def find_run(visit: Visit, reference: str) -> Run:
    """By an id or its beginning, a name, `latest`, `latest~2` or `latest(label=value)`, as `core.run_search` says.

    Raises: NotFoundError, UsageError: no run or more than one is meant. ForbiddenError: the visitor may not read it.
    """
    search = run_search(reference)
    try:
        asked = next(search)
        while True:
            asked = search.send(await _answer(visit, asked))
    except StopIteration as found:
        return found.value


async def _answer(visit: Visit, asked: RunsAsked) -> list[Run]:
    request = asked.request
    if isinstance(request, ListRunsRequest):
        return await _listed(visit, request, asked.limit)
    try:
        found = await visit.call("RunService.GetRun", request, GetRunResponse)
    except NotFoundError:
        return []
    return [found.run] if found.run is not None else []


async def _listed(visit: Visit, request: ListRunsRequest, limit: int | None) -> list[Run]:
    found: list[Run] = []
    token = ""
    while limit is None or len(found) < limit:
        size = _AT_ONCE if limit is None else min(_AT_ONCE, limit - len(found))
        asked = msgspec.structs.replace(request, page_size=size, page_token=token)
        page = await visit.call("RunService.ListRuns", asked, ListRunsResponse)
        found += page.runs
        token = page.next_page_token
        if not token:
            break
    return found
