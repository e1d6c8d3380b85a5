"""The filters of a list of traces, as they stand in the address.

Its own module because the list, its live stream, its facets and the neighbours of one trace must mean the same traces.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from evalsi.access.gate import DEFAULT_PROJECT
from evalsi.core.clock import moment_of_text
from evalsi.core.errors import UsageError
from evalsi.schema import ListTracesRequest, TraceFilter, TraceSummary
from evalsi.server.pages.visit import Query

ROWS = 40
_BEGIN_OF_ID = re.compile(r"[0-9a-f]{8,32}\Z")
FIELDS = (
    "q",
    "service",
    "version",
    "model",
    "session",
    "user",
    "label",
    "error",
    "failed_step",
    "complete",
    "since",
    "until",
    "min_s",
    "max_s",
    "min_usd",
    "max_usd",
    "score",
    "policy",
    "feedback",
)
"""Names in the address. `label` and `score` may stand several times."""
FACETS = {
    "service": "service",
    "model": "model",
    "version": "version",
    "user_id": "user",
    "error": "error",
    "failed_step": "failed_step",
}
"""Fields that are counted, with their names in the address; labels are counted beside them."""
_NAMES = {"q": "words", "error": "failed:", "failed_step": "a step failed:", "complete": "complete:"}
"""How filters are shown whose names in the address read oddly."""
_YES_NO = {"yes": True, "no": False}


@dataclass(frozen=True, kw_only=True)
class Condition:
    """A filter that is set, and the address without it."""

    text: str
    without: str


def trace_filter(query: Query) -> TraceFilter:
    """What the address asks for. Raises: UsageError."""
    text = query.get("q")
    is_id = _BEGIN_OF_ID.match(text) is not None
    return TraceFilter(
        service=query.get("service"),
        text="" if is_id else text,
        trace_id_prefix=text if is_id else "",
        session_id=query.get("session"),
        user_id=query.get("user"),
        version=query.get("version"),
        model=query.get("model"),
        labels=query.all("label"),
        error=_either(query, "error"),
        failed_step=_either(query, "failed_step"),
        complete=_either(query, "complete"),
        since=_moment(query, "since"),
        until=_moment(query, "until"),
        min_duration=query.number("min_s"),
        max_duration=query.number("max_s"),
        min_cost_usd=query.number("min_usd"),
        max_cost_usd=query.number("max_usd"),
        scores=query.all("score"),
        policy=query.get("policy"),
        negative_feedback=_either(query, "feedback", {"bad": True, "other": False}),
    )


def traces_request(query: Query) -> ListTracesRequest:
    """The page of the list that the address asks for. Raises: UsageError."""
    return ListTracesRequest(
        project=query.get("project"),
        page_size=ROWS,
        page_token=query.get("page_token"),
        filter=trace_filter(query),
    )


def conditions(query: Query) -> list[Condition]:
    """The filters that are set, for a person to see and to take away one by one."""
    found: list[Condition] = []
    for name, value in query.pairs:
        if name in FIELDS and value.strip():
            shown = value if name == "score" else f"{_NAMES.get(name, name)} {value}"
            found.append(Condition(text=shown, without=query.without(name, value)))
    return found


def trace_address(trace: TraceSummary, query: Query, **more: str | None) -> str:
    """Path and query of a trace's page, which knows the list that it was opened from."""
    kept = query.but(**{"of": own_project(trace.project), "live": None, **more})
    return f"/ui/traces/{trace.trace_id}" + (f"?{kept}" if kept else "")


def own_project(project: str) -> str | None:
    """What the address of one thing says of its project: nothing for the default one.

    The field is `of`, since `project` in the same address is that of the list which is gone back to.
    """
    return project if project not in ("", DEFAULT_PROJECT) else None


def within(project: str) -> str:
    """The query of the address of one thing, with its question mark."""
    kept = Query("").but(of=own_project(project))
    return f"?{kept}" if kept else ""


def is_empty(choice: TraceFilter) -> bool:
    return choice == TraceFilter()


def shared_scores(traces: Sequence[TraceSummary], most: int) -> list[str]:
    """Names of the scores that most of the traces have."""
    amounts: dict[str, int] = {}
    for trace in traces:
        for name in trace.scores:
            amounts[name] = amounts.get(name, 0) + 1
    return sorted(sorted(amounts), key=lambda name: -amounts[name])[:most]


def _either(query: Query, name: str, words: dict[str, bool] = _YES_NO) -> bool | None:
    text = query.get(name)
    if text and text not in words:
        raise UsageError(f"{name} must be {' or '.join(words)}, not {text[:40]!r}")
    return words.get(text)


def _moment(query: Query, name: str) -> datetime | None:
    text = query.get(name)
    if not text:
        return None
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return moment_of_text(text, name)  # which says what is wrong
    return moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)
