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
from evalsi.core.outward_words import outward_words
from evalsi.report.visible_text import one_line
from evalsi.schema import (
    Content,
    CreateRunResponse,
    DatasetUploadConfig,
    DatasetVersion,
    DatasetVersionContent,
    DatasetVersionRef,
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
    Run,
    UploadDatasetVersionRequest,
    UploadDatasetVersionResponse,
    json_codec,
)
from evalsi.server.pages.project_choice import visible_names
from evalsi.server.pages.start_run import run_request
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


async def datasets_page(visit: Visit, problem: str = "", status: int = 200) -> Page:
    """The list. `problem` is why what was uploaded was refused."""
    query = visit.query
    request = ListDatasetVersionsRequest(
        project=query.get("project"),
        name=query.get("name"),
        search=query.get("search"),
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
            "is_filtered": bool(request.project or request.name or request.search or query.get("state")),
            "uploads": "DatasetCatalogService.UploadDatasetVersion" in visit.served,
            "form": visit.form,
            "problem": problem,
        },
        status=status,
    )


async def upload_dataset(visit: Visit) -> Page | Moved:
    """Stores rows as the next version of a dataset and goes there; what cannot be read is said above the form."""
    form = visit.form
    config = DatasetUploadConfig(
        project=form.get("project"), name=form.get("name"), description=form.get("description")
    )

    async def pieces() -> AsyncGenerator[UploadDatasetVersionRequest]:
        yield UploadDatasetVersionRequest(config=config)
        yield UploadDatasetVersionRequest(chunk=form.get("rows").encode())

    try:
        answer = await visit.gather(
            "DatasetCatalogService.UploadDatasetVersion", pieces(), UploadDatasetVersionResponse
        )
    except EvalsiError as error:
        return await datasets_page(visit, outward_words(error), error.http_status)
    named = answer.reference or DatasetVersionRef()
    place = "/".join(quote(part, safe="") for part in (named.name, named.version))
    return Moved(to=f"/ui/datasets/{place}?{urlencode({'project': named.project})}")


async def dataset_page(visit: Visit, name: str, version: str, refusal: str = "", status: int = 200) -> Page:
    """One version. `refusal` is why a run of it was not started."""
    project = visit.query.get("project")
    request = GetDatasetVersionRequest(project=project, name=name, version=version, without_records=True)
    found = await visit.call("DatasetCatalogService.GetDatasetVersion", request, GetDatasetVersionResponse)
    dataset = found.dataset or DatasetVersion()
    content = dataset.content or DatasetVersionContent()
    wanted = ListDatasetVersionEventsRequest(
        project=project, name=name, version=content.version, page_token=visit.query.get("events")
    )
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
            problem = outward_words(error)
    return Page(
        template="dataset.html.jinja",
        values={
            "dataset": dataset,
            "content": content,
            "reference": found.reference,
            "events": events.events,
            "later_events": visit.query.but(events=events.next_page_token) if events.next_page_token else "",
            "versions": [one for one in others.datasets if one.content and one.content.version != content.version],
            "sample": sample,
            "shown": SHOWN_RECORDS,
            "against": against,
            "diff": diff,
            "problem": problem,
            "decisions": list(DECISIONS),
            "starts": "RunService.CreateRun" in visit.served,
            "form": visit.form,
            "refusal": refusal,
        },
        status=status,
    )


async def start_run(visit: Visit, name: str, version: str) -> Page | Moved:
    """Asks for a run on the version and goes to it; what is wrong with it is said above the form."""
    try:
        request = run_request(visit.form, name, version)
        run = (await visit.call("RunService.CreateRun", request, CreateRunResponse)).run or Run()
    except EvalsiError as error:
        return await dataset_page(visit, name, version, outward_words(error), error.http_status)
    return Moved(to=f"/ui/runs/{quote(run.id, safe='')}")


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
        return RecordSample(lines=lines, problem=outward_words(error))
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
