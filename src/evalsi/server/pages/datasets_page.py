"""Datasets: the newest version of each, the versions of one, and what one version holds or how two differ.

Its own module because records are read as a stream that is left after the first few.
"""

from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import dataclass
from typing import NamedTuple
from urllib.parse import quote, urlencode

from evalsi.core.content import text_of
from evalsi.core.errors import EvalsiError
from evalsi.report.visible_text import one_line
from evalsi.schema import (
    Content,
    DatasetVersion,
    DatasetVersionContent,
    DatasetVersionState,
    DiffDatasetVersionsRequest,
    DiffDatasetVersionsResponse,
    FetchDatasetVersionRequest,
    GetDatasetVersionRequest,
    GetDatasetVersionResponse,
    ListDatasetVersionEventsRequest,
    ListDatasetVersionEventsResponse,
    ListDatasetVersionsRequest,
    ListDatasetVersionsResponse,
    Record,
    ReviewDatasetVersionRequest,
    ReviewDatasetVersionResponse,
    json_codec,
)
from evalsi.server.pages.project_choice import visible_names
from evalsi.server.pages.visit import Moved, Page, Visit

ROWS = 100
SHOWN_RECORDS = 30
LONGEST_LINE = 1 << 20
DECISIONS = {
    "approved": DatasetVersionState.APPROVED,
    "retired": DatasetVersionState.RETIRED,
    "draft": DatasetVersionState.DRAFT,
}


class SampleLine(NamedTuple):
    """A record, and what is in it on one line each."""

    record: Record
    input: str
    output: str
    reference: str


@dataclass(frozen=True, kw_only=True)
class RecordSample:
    """The first records of a version. `problem` says why there are none."""

    lines: list[SampleLine]
    problem: str = ""


async def datasets_page(visit: Visit) -> Page:
    query = visit.query
    request = ListDatasetVersionsRequest(
        project=query.get("project"),
        name=query.get("name"),
        state=DECISIONS.get(query.get("state"), DatasetVersionState.UNSPECIFIED),
        page_size=ROWS,
        page_token=query.get("page_token"),
    )
    found = await visit.call("DatasetCatalogService.ListDatasetVersions", request, ListDatasetVersionsResponse)
    groups: dict[tuple[str, str], list[tuple[DatasetVersion, DatasetVersionContent]]] = {}
    for version in found.datasets:
        content = version.content or DatasetVersionContent()
        groups.setdefault((content.project, content.name), []).append((version, content))
    return Page(
        template="datasets.html.jinja",
        values={
            "groups": groups,
            "projects": await visible_names(visit),
            "states": list(DECISIONS),
            "next_token": found.next_page_token,
            "is_filtered": bool(request.project or request.name or query.get("state")),
        },
    )


async def dataset_page(visit: Visit, name: str, version: str) -> Page:
    project = visit.query.get("project")
    request = GetDatasetVersionRequest(project=project, name=name, version=version, without_records=True)
    found = await visit.call("DatasetCatalogService.GetDatasetVersion", request, GetDatasetVersionResponse)
    dataset = found.dataset or DatasetVersion()
    content = dataset.content or DatasetVersionContent()
    wanted = ListDatasetVersionEventsRequest(project=project, name=name, version=content.version)
    events = await visit.call(
        "DatasetCatalogService.ListDatasetVersionEvents", wanted, ListDatasetVersionEventsResponse
    )
    others = await visit.call(
        "DatasetCatalogService.ListDatasetVersions",
        ListDatasetVersionsRequest(project=content.project, name=name, page_size=ROWS),
        ListDatasetVersionsResponse,
    )
    sample = await _sample(visit, FetchDatasetVersionRequest(project=project, name=name, version=content.version))
    against = visit.query.get("against")
    diff, problem = None, ""
    if against:
        change = DiffDatasetVersionsRequest(
            project=project, name=name, before_version=against, after_version=content.version
        )
        try:
            diff = await visit.call("DatasetCatalogService.DiffDatasetVersions", change, DiffDatasetVersionsResponse)
        except EvalsiError as error:
            problem = str(error)
    return Page(
        template="dataset.html.jinja",
        values={
            "dataset": dataset,
            "content": content,
            "reference": found.reference,
            "events": events.events,
            "versions": [one for one in others.datasets if one.content and one.content.version != content.version],
            "sample": sample,
            "shown": SHOWN_RECORDS,
            "against": against,
            "diff": diff,
            "problem": problem,
            "decisions": list(DECISIONS),
        },
    )


async def review_dataset(visit: Visit, name: str, version: str) -> Moved:
    form = visit.form
    request = ReviewDatasetVersionRequest(
        project=form.get("project"),
        name=name,
        version=version,
        sha256=form.get("sha256"),
        expected_revision=form.whole("revision"),
        decision=DECISIONS.get(form.get("decision"), DatasetVersionState.UNSPECIFIED),
        note=form.get("note"),
    )
    await visit.call("DatasetCatalogService.ReviewDatasetVersion", request, ReviewDatasetVersionResponse)
    place = "/".join(quote(part, safe="") for part in (name, version))
    return Moved(to=f"/ui/datasets/{place}?{urlencode({'project': request.project})}")


async def _sample(visit: Visit, request: FetchDatasetVersionRequest) -> RecordSample:
    lines: list[SampleLine] = []
    try:
        answers = visit.stream("DatasetCatalogService.FetchDatasetVersion", request)
        async with aclosing(answers):
            async for line in _whole_lines(answers):
                record = json_codec.decode(line, Record)
                lines.append(SampleLine(record, *map(_short, (record.input, record.output, record.reference))))
                if len(lines) == SHOWN_RECORDS:
                    break
    except EvalsiError as error:
        return RecordSample(lines=lines, problem=str(error))
    return RecordSample(lines=lines)


def _short(content: Content | None) -> str:
    return one_line(text_of(content), 240)


async def _whole_lines(answers: AsyncGenerator[object]) -> AsyncGenerator[bytes]:
    """The lines of a file that comes in pieces; one that is too long to show ends it."""
    rest = b""
    async for answer in answers:
        *lines, rest = (rest + getattr(answer, "chunk", b"")).split(b"\n")
        for line in lines:
            if line.strip():
                yield line
        if len(rest) > LONGEST_LINE:
            return
    if rest.strip():
        yield rest
