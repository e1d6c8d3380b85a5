"""A page of a run's results: some of its rows, filtered and sorted, without reading the run.

Its own module because every other reader passes over the whole run, and this one must not: it asks the zones which
segments can hold what is wanted and opens those alone.
"""

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from heapq import heappush, heappushpop
from typing import TypeAlias

import msgspec

from evalsi.core.errors import UnknownNameError
from evalsi.core.page_token import read_page_token, write_page_token
from evalsi.engine.columns import CANCELLED, ERROR, SCORED, SKIPPED, EvaluatorColumns, result
from evalsi.ports.run_store import RunStore, SegmentZones
from evalsi.results.stored_rows import RECORDS, WHOLE, rows_of
from evalsi.results.trial_tally import trial_of
from evalsi.results.zones import Zone, decode_zones
from evalsi.schema import EvaluationResult, Outcome, Record

_CODES = {Outcome.SCORED: SCORED, Outcome.SKIPPED: SKIPPED, Outcome.ERROR: ERROR, Outcome.CANCELLED: CANCELLED}

_Position: TypeAlias = tuple[float, int]
"""Where a row stands in the page's order: sort key (0 without a sort), number of the row."""
_Zones: TypeAlias = dict[int, list[Zone] | None]


class ResultQuery(msgspec.Struct, frozen=True, kw_only=True):
    """Which rows, in which order, and which of their results. Empty fields ask nothing."""

    evaluator: str = ""
    outcome: Outcome = Outcome.UNSPECIFIED
    sort: str = ""
    """A metric: rows that have a value of it, by that value; "" for the order of the dataset."""
    descending: bool = False
    metric: str = ""
    """What `lowest` and `highest` are about."""
    lowest: float | None = None
    highest: float | None = None
    search: str = ""
    """Rows whose record holds this text anywhere, in any case."""
    trial: int | None = None

    @property
    def asks_zones(self) -> bool:
        """Whether what the zones tell decides which rows are wanted."""
        return bool(self.evaluator or self.sort or self.metric) or self.outcome in _CODES

    @property
    def reads_records(self) -> bool:
        return bool(self.search) or self.trial is not None


class ResultRow(msgspec.Struct, frozen=True, kw_only=True):
    """A record in one trial with the results that were asked for."""

    record: Record
    trial: int
    results: list[EvaluationResult]


class ResultPage(msgspec.Struct, frozen=True, kw_only=True):
    """Rows in order; `next_token` is empty after the last page."""

    rows: list[ResultRow]
    next_token: str
    matching: int | None
    """Rows on all pages together, where that is known without reading them."""


class RowChoice:
    """Some rows of a run, by their numbers."""

    def __init__(self, rows: Iterable[int]) -> None:
        self._rows = sorted(rows)
        self._chosen = frozenset(self._rows)

    def __contains__(self, row: int) -> bool:
        return row in self._chosen

    def has_any(self, rows: range) -> bool:
        """Whether one of consecutive rows is chosen."""
        place = bisect_left(self._rows, rows.start)
        return place < len(self._rows) and self._rows[place] < rows.stop


def result_page(
    store: RunStore, run_id: str, query: ResultQuery, *, size: int, token: str = "", keep: RowChoice | None = None
) -> ResultPage:
    """Up to `size` rows after those that led to `token`.

    Args:
        keep: Rows beside which none is wanted.

    Raises:
        NotFoundError: no such run.
        UnknownNameError: the run has no such evaluator or metric.
        UsageError: the token is none of this query's.
    """
    after = read_page_token(token, (run_id, query), _Position)
    segments = [each for each in _segments(store, run_id, query) if each.index != WHOLE]
    zones = {each.index: decode_zones(each.zones) for each in segments}
    _check_names(query, zones)
    search = _Search(store, run_id, query, after, keep)
    found = (_sorted if query.sort else _in_order)(search, segments, zones, size + 1)
    shown = found[:size]
    last = shown[-1][0] if shown else None
    return ResultPage(
        rows=[row for _, row in shown],
        next_token=write_page_token((run_id, query), last) if len(found) > size else "",
        matching=None if keep is not None else _matching(query, segments, zones),
    )


def _segments(store: RunStore, run_id: str, query: ResultQuery) -> list[SegmentZones]:
    """The segments of a run, with their zones only where these can decide something: a run may have thousands."""
    if query.asks_zones:
        return store.zones(run_id)
    return [
        SegmentZones(index=index, first_row=first_row, rows=rows, zones=b"")
        for index, first_row, rows in store.segment_rows(run_id)
    ]


class _Search:
    """What a segment holds of the query."""

    def __init__(
        self, store: RunStore, run_id: str, query: ResultQuery, after: _Position | None, keep: RowChoice | None
    ) -> None:
        self.query = query
        self._after = after
        self._store = store
        self._run_id = run_id
        self._keep = keep
        self._code = _CODES.get(query.outcome)
        self._text = query.search.lower()
        self._sign = -1.0 if query.descending else 1.0

    def may_hold(self, segment: SegmentZones, zones: list[Zone] | None) -> bool:
        """False only where nothing in the segment can be wanted."""
        if self._after is not None and not self.query.sort and segment.first_row + segment.rows <= self._after[1] + 1:
            return False
        if self._keep is not None and not self._keep.has_any(_rows_of(segment)):
            return False
        return zones is None or any(map(self._zone_may_hold, zones))

    def _zone_may_hold(self, zone: Zone) -> bool:
        query = self.query
        if query.evaluator and zone.evaluator != query.evaluator:
            return False
        if self._code is not None and not zone.outcomes[self._code]:
            return False
        if query.sort and query.sort not in zone.bounds:
            return False
        if query.metric:
            low, high = zone.bounds.get(query.metric, (1.0, 0.0))
            return low <= high and not (
                (query.lowest is not None and high < query.lowest)
                or (query.highest is not None and low > query.highest)
            )
        return True

    def best(self, zones: list[Zone] | None) -> float:
        """A sort key that no row of the segment comes before."""
        if zones is None:
            return float("-inf")
        bounds = [zone.bounds[self.query.sort] for zone in zones if self.query.sort in zone.bounds]
        return min(min(self._sign * low, self._sign * high) for low, high in bounds)

    def places(self, segment: SegmentZones) -> Iterator[_Position]:
        """Positions of the wanted rows of a segment, in order of row."""
        read, keep = self.query.reads_records, self._keep
        rows = rows_of(self._store.segment(self._run_id, segment.index, with_records=read))
        wanted = self._holding(rows.records_jsonl, segment.rows) if self._text else range(segment.rows)
        if not wanted:
            return
        columns = rows.columns
        keys = _values(columns, self.query.sort)
        asks_rows = bool(self.query.metric) or self._code is not None
        if not asks_rows and not self._lanes(columns, 0):
            return
        for row in wanted:
            number = segment.first_row + row
            if keep is not None and number not in keep:
                continue
            key = 0.0 if keys is None else self._sign * keys[row]
            position = (key, number)
            if key != key or (self._after is not None and position <= self._after):
                continue
            if asks_rows and not self._lanes(columns, row):
                continue
            if self.query.trial is not None and trial_of(rows.record(row)) != self.query.trial:
                continue
            yield position

    def _holding(self, lines: bytes, count: int) -> Sequence[int]:
        """The rows of a segment whose record holds the text that is looked for."""
        if b"\\u" in lines:
            # Somebody else wrote them, and may have written any character so: what they say is looked at.
            texts = [msgspec.json.encode(RECORDS.decode(line)).decode().lower() for line in lines.splitlines()]
            return [row for row in range(count) if self._text in texts[row]]
        whole = lines.decode().lower()
        if self._text not in whole:
            return ()
        return [row for row, line in enumerate(whole.split("\n", count)) if self._text in line]

    def _lanes(self, columns: list[EvaluatorColumns], row: int) -> list[EvaluatorColumns]:
        """The evaluators whose results of the row are wanted; empty where the row is not."""
        query = self.query
        if query.metric:
            values = _values(columns, query.metric)
            value = values[row] if values is not None else float("nan")
            if value != value or (query.lowest is not None and value < query.lowest):
                return []
            if query.highest is not None and value > query.highest:
                return []
        return [
            each
            for each in columns
            if query.evaluator in ("", each.evaluator) and self._code in (None, each.outcomes[row])
        ]

    def open(self, index: int, places: list[_Position]) -> list[tuple[_Position, ResultRow]]:
        """The rows at `places` of one segment, read with its records."""
        rows = rows_of(self._store.segment(self._run_id, index))
        found: list[tuple[_Position, ResultRow]] = []
        for position in places:
            row = position[1] - rows.first_row
            record = RECORDS.decode(rows.record_lines[row])
            trial = trial_of(record)
            results = [result(each, row, record.id, trial) for each in self._lanes(rows.columns, row)]
            found.append((position, ResultRow(record=record, trial=trial, results=results)))
        return found


def _in_order(
    search: _Search, segments: list[SegmentZones], zones: _Zones, wanted: int
) -> list[tuple[_Position, ResultRow]]:
    found: list[tuple[_Position, ResultRow]] = []
    for segment in segments:
        if not search.may_hold(segment, zones[segment.index]):
            continue
        places: list[_Position] = []
        for position in search.places(segment):
            places.append(position)
            if len(found) + len(places) == wanted:
                break
        if places:
            found += search.open(segment.index, places)
        if len(found) == wanted:
            break
    return found


def _sorted(
    search: _Search, segments: list[SegmentZones], zones: _Zones, wanted: int
) -> list[tuple[_Position, ResultRow]]:
    """The first rows by value: segments are opened best bound first until none can hold a better row."""
    candidates = sorted(
        (search.best(zones[each.index]), each.first_row, each.index, each)
        for each in segments
        if search.may_hold(each, zones[each.index])
    )
    # The worst of those kept is on top: positions are turned round for the heap.
    kept: list[tuple[_Position, int]] = []
    for best, first_row, _, segment in candidates:
        if len(kept) == wanted and (best, first_row) > (-kept[0][0][0], -kept[0][0][1]):
            break
        for key, row in search.places(segment):
            entry = ((-key, -row), segment.index)
            if len(kept) < wanted:
                heappush(kept, entry)
            elif entry > kept[0]:
                heappushpop(kept, entry)
    by_segment: dict[int, list[_Position]] = {}
    for (key, row), index in kept:
        by_segment.setdefault(index, []).append((-key, -row))
    found = [each for index, places in by_segment.items() for each in search.open(index, places)]
    return sorted(found, key=lambda each: each[0])


def _rows_of(segment: SegmentZones) -> range:
    return range(segment.first_row, segment.first_row + segment.rows)


def _values(columns: list[EvaluatorColumns], metric: str) -> list[float] | None:
    """The values of a metric over a segment, NaN where a row has none; None where the segment has none at all."""
    for each in columns:
        for output, column in each.columns.items():
            if metric and each.metric(output) == metric:
                return column.values
    return [float("nan")] * len(columns[0].outcomes) if metric and columns else None


def _matching(query: ResultQuery, segments: list[SegmentZones], zones: _Zones) -> int | None:
    if query.sort or query.metric or query.reads_records:
        return None
    code = _CODES.get(query.outcome)
    if code is None:
        return sum(each.rows for each in segments)
    if not query.evaluator:
        return None
    known = [zone for found in zones.values() for zone in found or () if zone.evaluator == query.evaluator]
    return sum(zone.outcomes[code] for zone in known) if None not in zones.values() else None


def _check_names(query: ResultQuery, zones: _Zones) -> None:
    known = [zone for found in zones.values() if found is not None for zone in found]
    if not known:
        return
    evaluators = sorted({zone.evaluator for zone in known})
    if query.evaluator and query.evaluator not in evaluators:
        raise UnknownNameError("evaluator", query.evaluator, evaluators)
    metrics = sorted({metric for zone in known for metric in (zone.evaluator, *zone.bounds)})
    for metric in (query.sort, query.metric):
        if metric and metric not in metrics:
            raise UnknownNameError("metric", metric, metrics)
