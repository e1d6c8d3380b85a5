"""A page of a run's results: some of them, filtered and sorted, without reading the run.

Its own module because every other reader passes over the whole run, and this one must not: it asks the zones which
segments can hold what is wanted and opens those alone.
"""

from collections.abc import Iterator
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

_Position: TypeAlias = tuple[float, int, int]
"""Where a result stands in the page's order: sort key (0 without a sort), row, place of the evaluator in its segment."""


class ResultQuery(msgspec.Struct, frozen=True, kw_only=True):
    """Which results, in which order. Empty fields ask nothing."""

    evaluator: str = ""
    outcomes: tuple[Outcome, ...] = ()
    sort: str = ""
    """A metric: results that have a value of it, by that value; "" for the order of the dataset."""
    descending: bool = False


class ResultPage(msgspec.Struct, frozen=True, kw_only=True):
    """Results in order, and the record of each; `next_token` is empty after the last page."""

    results: list[EvaluationResult]
    records: list[Record]
    """As many as `results`: a record stands once for each of its results."""
    next_token: str


def result_page(store: RunStore, run_id: str, query: ResultQuery, *, size: int, token: str = "") -> ResultPage:
    """Up to `size` results after those that led to `token`.

    Raises:
        NotFoundError: no such run.
        UnknownNameError: the run has no such evaluator or metric.
        UsageError: the token is none of this query's.
    """
    after = read_page_token(token, (run_id, query), _Position)
    segments = [each for each in store.zones(run_id) if each.index != WHOLE]
    zones = {each.index: decode_zones(each.zones) for each in segments}
    _check_names(query, zones)
    search = _Search(store, run_id, query, after)
    wanted = size + 1
    found = (_sorted if query.sort else _in_order)(search, segments, zones, wanted)
    shown = found[:size]
    return ResultPage(
        results=[each.result for each in shown],
        records=[each.record for each in shown],
        next_token=write_page_token((run_id, query), shown[-1].position) if len(found) > size else "",
    )


class _Found(msgspec.Struct, frozen=True):
    position: _Position
    result: EvaluationResult
    record: Record


class _Search:
    """What a segment holds of the query."""

    def __init__(self, store: RunStore, run_id: str, query: ResultQuery, after: _Position | None) -> None:
        self.query = query
        self.after = after
        self._store = store
        self._run_id = run_id
        self._codes = {_CODES[outcome] for outcome in query.outcomes if outcome in _CODES}
        self.sign = -1.0 if query.descending else 1.0

    def may_hold(self, segment: SegmentZones, zones: list[Zone] | None) -> bool:
        """False only where nothing in the segment can be wanted."""
        if self.after is not None and not self.query.sort and segment.first_row + segment.rows <= self.after[1]:
            return False
        if zones is None:
            return True
        return any(self._zone_may_hold(zone) for zone in zones)

    def _zone_may_hold(self, zone: Zone) -> bool:
        query = self.query
        if query.evaluator and zone.evaluator != query.evaluator:
            return False
        if self._codes and not any(zone.outcomes[code] for code in self._codes):
            return False
        return not query.sort or query.sort in zone.bounds

    def best(self, zones: list[Zone] | None) -> float:
        """A sort key that no row of the segment comes before."""
        if zones is None:
            return float("-inf")
        bounds = [zone.bounds[self.query.sort] for zone in zones if self.query.sort in zone.bounds]
        return min(min(self.sign * low, self.sign * high) for low, high in bounds)

    def places(self, columns: list[EvaluatorColumns], first_row: int) -> Iterator[_Position]:
        """Positions of the wanted rows of a segment, in no order when sorted."""
        lanes = [lane for lane, each in enumerate(columns) if self.query.evaluator in ("", each.evaluator)]
        if self.query.sort:
            for lane in lanes:
                yield from self._sorted_places(columns[lane], lane, first_row)
            return
        for row in range(columns[0].rows if columns else 0):
            for lane in lanes:
                position = (0.0, first_row + row, lane)
                if self._wants(columns[lane], row, position):
                    yield position

    def _sorted_places(self, columns: EvaluatorColumns, lane: int, first_row: int) -> Iterator[_Position]:
        for output, column in columns.columns.items():
            if columns.metric(output) != self.query.sort:
                continue
            for row, value in enumerate(column.values):
                position = (self.sign * value, first_row + row, lane)
                if value == value and self._wants(columns, row, position):
                    yield position

    def _wants(self, columns: EvaluatorColumns, row: int, position: _Position) -> bool:
        if self._codes and columns.outcomes[row] not in self._codes:
            return False
        return self.after is None or position > self.after

    def open(self, index: int, places: list[_Position]) -> list[_Found]:
        """The results and records at `places` of one segment, read with its records."""
        rows = rows_of(self._store.segment(self._run_id, index))
        found: list[_Found] = []
        for position in places:
            row = position[1] - rows.first_row
            record = RECORDS.decode(rows.record_lines[row])
            columns = rows.columns[position[2]]
            found.append(_Found(position, result(columns, row, record.id, trial_of(record)), record))
        return found

    def columns(self, index: int) -> list[EvaluatorColumns]:
        segment = self._store.segment(self._run_id, index, with_records=False)
        return rows_of(segment).columns


_Zones: TypeAlias = dict[int, list[Zone] | None]


def _in_order(search: _Search, segments: list[SegmentZones], zones: _Zones, wanted: int) -> list[_Found]:
    found: list[_Found] = []
    for segment in segments:
        if not search.may_hold(segment, zones[segment.index]):
            continue
        places: list[_Position] = []
        for position in search.places(search.columns(segment.index), segment.first_row):
            places.append(position)
            if len(found) + len(places) == wanted:
                break
        if places:
            found += search.open(segment.index, places)
        if len(found) == wanted:
            break
    return found


def _sorted(search: _Search, segments: list[SegmentZones], zones: _Zones, wanted: int) -> list[_Found]:
    """The first rows by value: segments are opened best bound first until none can hold a better row."""
    candidates = sorted(
        (search.best(zones[each.index]), each.first_row, each.index)
        for each in segments
        if search.may_hold(each, zones[each.index])
    )
    # The worst of those kept is on top: positions are turned round for the heap.
    kept: list[tuple[tuple[float, int, int], int]] = []
    for best, first_row, index in candidates:
        if len(kept) == wanted and (best, first_row) > (-kept[0][0][0], -kept[0][0][1]):
            break
        for key, row, lane in search.places(search.columns(index), first_row):
            entry = ((-key, -row, -lane), index)
            if len(kept) < wanted:
                heappush(kept, entry)
            elif entry > kept[0]:
                heappushpop(kept, entry)
    by_segment: dict[int, list[_Position]] = {}
    for (key, row, lane), index in kept:
        by_segment.setdefault(index, []).append((-key, -row, -lane))
    found = [each for index, places in by_segment.items() for each in search.open(index, places)]
    return sorted(found, key=lambda each: each.position)


def _check_names(query: ResultQuery, zones: _Zones) -> None:
    known = [zone for found in zones.values() if found is not None for zone in found]
    if not known:
        return
    evaluators = sorted({zone.evaluator for zone in known})
    if query.evaluator and query.evaluator not in evaluators:
        raise UnknownNameError("evaluator", query.evaluator, evaluators)
    metrics = sorted({metric for zone in known for metric in (zone.evaluator, *zone.bounds)})
    if query.sort and query.sort not in metrics:
        raise UnknownNameError("metric", query.sort, metrics)
