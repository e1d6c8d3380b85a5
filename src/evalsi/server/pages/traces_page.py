"""The list of traces: what was asked and answered, what it took, what was found, with the counts of every facet beside it.

Its own module because of its columns: which scores most traces on the page share, and what of a facet can still be chosen.
"""

import asyncio
from collections.abc import AsyncGenerator, Mapping, Sequence
from dataclasses import dataclass
from time import monotonic

from evalsi.schema import (
    CountTracesRequest,
    CountTracesResponse,
    ListTracesResponse,
    MetricSpec,
    TraceFacet,
    TraceSummary,
    WatchTracesRequest,
)
from evalsi.server.pages.live_events import event, send_events
from evalsi.server.pages.project_choice import visible_names
from evalsi.server.pages.score_reading import ScoreCell, declared_outputs, score_cell
from evalsi.server.pages.trace_filter import (
    FACETS,
    conditions,
    is_empty,
    shared_scores,
    trace_address,
    trace_filter,
    traces_request,
    within,
)
from evalsi.server.pages.visit import Page, Query, Visit

SCORE_COLUMNS = 3
FACET_VALUES = 8
"""Values of a facet that are shown; further ones are found by the search."""
COUNT_S = 0.15
"""Seconds that a list waits for its counts; those of a million traces come after it."""
LOOK_S = 2.0
"""Seconds between two refreshes of a list that is followed."""
BEAT_S = 15.0
"""Seconds without anything new after which a sign of life is sent."""
_LABEL = "label."
_TITLES = {"error": "the trace failed", "failed_step": "a step failed"}
"""What facets are called that their names in the address do not explain."""


@dataclass(frozen=True, kw_only=True)
class TraceLine:
    """A row of the list."""

    trace: TraceSummary
    address: str
    scores: Sequence[ScoreCell]
    """One for each column."""


@dataclass(frozen=True, kw_only=True)
class FacetValue:
    """A value that can be chosen."""

    text: str
    count: int
    share: float
    """Of the largest count of the facet, from 0 to 1."""
    address: str
    """The query with it, or without it where it is chosen."""
    is_chosen: bool


@dataclass(frozen=True, kw_only=True)
class Facet:
    """A field with its most frequent values."""

    name: str
    values: Sequence[FacetValue]
    others: int
    """Values that are not shown."""


@dataclass(frozen=True, kw_only=True)
class TraceCount:
    """How many traces there are, and of which kinds."""

    total: int
    is_capped: bool
    looked_at: int
    """Of how many the values are, the newest ones."""
    facets: Sequence[Facet]


async def traces_page(visit: Visit) -> Page:
    request = traces_request(visit.query)
    # One after the other: a list is there at once, unless it looks for few of very many, and those need no second look.
    found = await visit.call("TraceService.ListTraces", request, ListTracesResponse)
    counts: TraceCount | None = TraceCount(total=0, is_capped=False, looked_at=0, facets=[])
    if found.traces or request.page_token:
        counts = await _counts(visit, None if visit.query.get("counts") == "yes" else COUNT_S)
    columns = shared_scores(found.traces, SCORE_COLUMNS)
    specs = await declared_outputs(visit, columns, request.project)
    choice = trace_filter(visit.query)
    return Page(
        template="traces.html.jinja",
        values={
            "lines": [_line(trace, columns, specs, visit.query) for trace in found.traces],
            "columns": [(name, specs.get(name)) for name in columns],
            "counts": counts,
            "conditions": conditions(visit.query),
            "projects": await visible_names(visit),
            "shows_projects": len({trace.project for trace in found.traces}) > 1,
            "shows_sessions": any(trace.session_id for trace in found.traces),
            "shows_feedback": any(trace.feedback is not None for trace in found.traces),
            "is_filtered": not is_empty(choice) or bool(request.project),
            "is_live": visit.query.get("live") == "yes" and not request.page_token,
            "next_token": found.next_page_token,
            "within": within,
            "cli": ["evalsi traces list"],
        },
    )


async def trace_facets(visit: Visit) -> Page:
    """The counts alone, for a list that did not wait for them."""
    return Page(template="trace_facets.html.jinja", values={"counts": await _counts(visit, None)})


async def trace_events(visit: Visit) -> None:
    """`changed` when a trace of the list has become complete, at most every `LOOK_S` seconds."""
    request = WatchTracesRequest(project=visit.query.get("project"), filter=trace_filter(visit.query))

    async def events() -> AsyncGenerator[bytes]:
        arrived = asyncio.Event()
        watching = asyncio.create_task(_watch(visit, request, arrived))
        yield b": here\n\n"
        try:
            while not watching.done():
                told = asyncio.create_task(arrived.wait())
                await asyncio.wait({told, watching}, timeout=BEAT_S, return_when=asyncio.FIRST_COMPLETED)
                told.cancel()
                if not arrived.is_set():
                    yield b": still here\n\n"
                    continue
                begun_s = monotonic()
                arrived.clear()
                yield event("changed", {})
                await asyncio.sleep(LOOK_S - (monotonic() - begun_s))
            watching.result()
        finally:
            watching.cancel()

    await send_events(visit, events())


async def _counts(visit: Visit, deadline_s: float | None) -> TraceCount | None:
    """The counts; None where they take longer than that."""
    request = CountTracesRequest(project=visit.query.get("project"), filter=trace_filter(visit.query))
    try:
        async with asyncio.timeout(deadline_s):
            found = await visit.call("TraceService.CountTraces", request, CountTracesResponse)
    except TimeoutError:
        return None
    facets = [_facet(facet, visit.query) for facet in sorted(found.facets, key=_place) if facet.counts]
    # Each trace failed or did not.
    looked_at = sum(sum(facet.counts.values()) for facet in found.facets if facet.field == "error")
    return TraceCount(total=found.total, is_capped=found.capped, looked_at=looked_at, facets=facets)


async def _watch(visit: Visit, request: WatchTracesRequest, arrived: asyncio.Event) -> None:
    async for _ in visit.stream("TraceService.WatchTraces", request):
        arrived.set()


def _line(trace: TraceSummary, columns: Sequence[str], specs: Mapping[str, MetricSpec], query: Query) -> TraceLine:
    scores = [score_cell(name, trace.scores.get(name), specs) for name in columns]
    return TraceLine(trace=trace, address=trace_address(trace, query), scores=scores)


def _facet(facet: TraceFacet, query: Query) -> Facet:
    label = facet.field.removeprefix(_LABEL) if facet.field.startswith(_LABEL) else ""
    ordered = sorted(facet.counts.items(), key=lambda item: (-item[1], item[0]))
    largest = max(1, ordered[0][1])
    values: list[FacetValue] = []
    for text, count in ordered[:FACET_VALUES]:
        name = "label" if label else FACETS.get(facet.field, facet.field)
        value = f"{label}={text}" if label else _word(facet.field, text)
        chosen = value in query.all(name)
        address = query.without(name, value) if chosen else _with(query, name, value)
        values.append(
            FacetValue(
                text=_word(facet.field, text) or "–",
                count=count,
                share=count / largest,
                address=address,
                is_chosen=chosen,
            )
        )
    return Facet(
        name=label or _TITLES.get(facet.field) or FACETS.get(facet.field, facet.field),
        values=values,
        others=max(0, len(ordered) - FACET_VALUES),
    )


def _place(facet: TraceFacet) -> tuple[int, str]:
    """Where a facet stands: our own fields in their order, labels before the long list of users."""
    order = ("error", "failed_step", "service", "version", "model", _LABEL, "user_id")
    name = _LABEL if facet.field.startswith(_LABEL) else facet.field
    return order.index(name) if name in order else len(order), facet.field


def _with(query: Query, name: str, value: str) -> str:
    return query.plus(name, value) if name == "label" else query.but(**{name: value, "page_token": None})


def _word(field: str, text: str) -> str:
    return {"true": "yes", "false": "no"}.get(text.lower(), text) if field in _TITLES else text
