"""The first pass over a dataset: everything that could stop a run half-way is found before any work or spending.

What stays in memory is 8 bytes per identifier, and a byte per row where a condition or a sample chooses among them.
"""

import hashlib
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

from evalsi.core.errors import DuplicateIdError, EvalsiError, InvalidDataError
from evalsi.datasets import row_ids
from evalsi.datasets.byte_source import Stamp
from evalsi.datasets.condition import Condition
from evalsi.datasets.mapping import FieldMap, UnmappedColumnError
from evalsi.datasets.options import DatasetOptions
from evalsi.datasets.record_of_row import STRUCTURED, check_row, record_of_whole_row
from evalsi.datasets.row_ids import SeenIds, made_from, made_id, text_of_id
from evalsi.datasets.rows import Chunk, Part, Problem, Row, RowError

_PROBLEMS_SHOWN = 20
_PLACES_SHOWN = 2
_DOUBLES_SHOWN = 3
_TRIAL = "\0trial "


@dataclass(frozen=True, slots=True)
class SkippedRow:
    """A row that was left out because it cannot be used."""

    line: int
    """The line it starts on; its number from 1 where the source has no lines."""
    reason: str
    where: str
    """`file:line:column`."""


@dataclass(frozen=True, kw_only=True)
class DatasetFacts:
    """What the first pass found."""

    records: int
    """Records that the second pass gives."""
    rows: int
    """Usable rows that were read to choose them from."""
    digest: str
    """`sha256:` of the decompressed content; of several files, of their digests in order."""
    columns: tuple[str, ...]
    """All columns of the rows read, in the order they first appear."""
    has_trials: bool
    """Whether `provenance.run.trial` says that rows are repetitions of others, which are then not independent."""
    ids_made: int
    """Rows without an identifier, which get one made from what was asked."""
    ids_repeated: int
    """Of those, rows with the same content as an earlier one, told apart by a suffix."""
    surrogates_escaped: int
    """Rows in which lone surrogates, which UTF-8 cannot hold, were replaced by their escapes."""
    skipped: tuple[SkippedRow, ...]
    """Rows that were left out, in order. Empty unless invalid rows are skipped."""

    def warnings(self) -> list[str]:
        """What a reader of the figures should know: which rows are in none of them."""
        if not self.skipped:
            return []
        count = len(self.skipped)
        listed = "; ".join(f"{row.where}: {row.reason}" for row in self.skipped[:_PROBLEMS_SHOWN])
        more = f"; and {count - _PROBLEMS_SHOWN:,} more" if count > _PROBLEMS_SHOWN else ""
        return [f"{count:,} {'row is' if count == 1 else 'rows are'} left out: {listed}{more}"]


@dataclass(frozen=True, kw_only=True)
class Findings:
    """What the second pass has to know."""

    facts: DatasetFacts
    skips: list[set[int]]
    """Places to leave out, per part."""
    chosen: bytearray | None
    """Per usable row 1 where it is wanted, else 0; None when the first `facts.records` are."""
    repeated: set[str]
    """Identifiers that more than one row without an own one would get."""
    taken: set[str]
    """Identifiers in the data that look like one of `repeated` with a suffix."""
    stamps: list[Stamp | None]
    """Of each part's file, what changes when the file does."""
    digests: list[str]
    """Of each part, SHA-256 of its decompressed content."""


class Scan:
    """One first pass. Made for one call of `run`."""

    def __init__(
        self, parts: list[Part], options: DatasetOptions, fields: FieldMap, condition: Condition | None
    ) -> None:
        self._parts = parts
        self._options = options
        self._fields = fields
        self._condition = condition
        self._skipping = options.on_invalid == "skip"
        self._problems: list[tuple[int, Problem]] = []
        self._columns: dict[str, None] = {}
        self._inner: dict[str, None] = {}
        self._seen = SeenIds()
        self._matches = bytearray() if condition is not None else None
        self._matched = 0
        self._rows = 0
        self._ids_made = 0
        self._has_trials = False
        self._escaped = 0
        self._doubles = _Doubles()

    def run(self) -> Findings:
        """Raises: see `Dataset.scan`."""
        stamps = [part.content.stamp() if part.content else None for part in self._parts]
        digests = self._read()
        self._refuse_unknown_columns()
        suspects = self._seen.suspects()
        if suspects:
            self._find_doubles(suspects)
        if not self._skipping:
            self._refuse_problems()
        chosen, count = self._choose()
        skipped = self._skipped()
        if count == 0:
            raise self._nothing_left(skipped)
        facts = DatasetFacts(
            records=count,
            rows=self._rows,
            digest="sha256:" + (digests[0] if len(digests) == 1 else _sha256("\n".join(digests).encode())),
            columns=tuple(self._columns),
            has_trials=self._has_trials,
            ids_made=self._ids_made,
            ids_repeated=self._doubles.repeats,
            surrogates_escaped=self._escaped,
            skipped=tuple(skipped),
        )
        skips: list[set[int]] = [set() for _ in self._parts]
        for index, problem in self._problems:
            skips[index].add(problem.place)
        return Findings(
            facts=facts,
            skips=skips,
            chosen=chosen,
            repeated=self._doubles.repeated,
            taken=self._doubles.taken,
            stamps=stamps,
            digests=digests,
        )

    # ---- reading

    def _read(self) -> list[str]:
        """Reads all parts, or as many rows as `limit` needs. The digests are of whole files all the same."""
        digests: list[str] = []
        enough = False
        for index, part in enumerate(self._parts):
            digest = hashlib.sha256()
            if not enough:
                for chunk in part.chunks(digest=digest, checked=True):
                    enough = self._take(index, part, chunk)
                    if enough:
                        break
            if enough and part.content is not None:
                digest = hashlib.sha256()
                for _ in part.content.blocks(digest):
                    pass
            digests.append(digest.hexdigest())
        return digests

    def _take(self, index: int, part: Part, chunk: Chunk) -> bool:
        """Checks a chunk; True when nothing more has to be read."""
        for column in part.columns or ():
            self._columns.setdefault(column)
        if not set[str]().union(*chunk.rows) <= self._columns.keys():
            for row in chunk.rows:
                self._columns.update(dict.fromkeys(row))
        if self._fields:
            self._note_metadata(chunk.rows)
        self._escaped += chunk.escaped
        wanted = None if self._options.limit is None else self._options.limit - self._matched
        identifiers = self._plain_ids(chunk, wanted)
        last_place: int | None = None
        if identifiers is None:
            identifiers, last_place = self._check_rows(index, part, chunk, wanted)
        else:
            if wanted is not None and wanted <= len(identifiers):
                last_place = chunk.places[wanted - 1]
            self._matched += len(identifiers)
        self._rows += len(identifiers)
        self._seen.add(identifiers)
        self._problems += [
            (index, problem) for problem in chunk.problems if last_place is None or problem.place < last_place
        ]
        if not self._skipping and len(self._problems) >= _PROBLEMS_SHOWN:
            self._refuse_unknown_columns()
            self._refuse_problems()
        return last_place is not None

    def _note_metadata(self, rows: list[Row]) -> None:
        """Keeps the keys within the metadata of rows, which a mapping may name as columns."""
        for row in rows:
            if isinstance(metadata := row.get("metadata"), dict):
                self._inner.update(dict.fromkeys(cast("Row", metadata)))

    def _plain_ids(self, chunk: Chunk, wanted: int | None) -> list[str] | None:
        """The identifiers of a chunk that needs no check row by row: the usual case, and the fast one."""
        if self._fields or self._condition is not None or not STRUCTURED.isdisjoint(self._columns):
            return None
        rows = chunk.rows if wanted is None else chunk.rows[:wanted]
        identifiers = [row.get("id") for row in rows]
        if set(map(type, identifiers)) - {str} or "" in identifiers:
            return None
        return identifiers  # pyright: ignore[reportReturnType]

    def _check_rows(self, index: int, part: Part, chunk: Chunk, wanted: int | None) -> tuple[list[str], int | None]:
        identifiers: list[str] = []
        matched_before = self._matched
        for row, place in zip(chunk.rows, chunk.places, strict=True):
            try:
                identifier, made = self._check_row(row, part, place)
            except RowError as fault:
                self._problems.append((index, Problem(place, fault.reason, fault.offset)))
                continue
            identifiers.append(identifier)
            self._ids_made += made
            if wanted is not None and self._matched - matched_before >= wanted:
                return identifiers, place
        return identifiers, None

    def _check_row(self, row: Row, part: Part, place: int) -> tuple[str, bool]:
        identifier, made, mapped = identified(row, self._fields, part.columns)
        identity = identity_of(identifier, mapped)
        self._has_trials = self._has_trials or identity is not identifier
        if self._condition is None:
            check_row(mapped)
            self._matched += 1
            return identity, made
        record = record_of_whole_row(mapped, identifier)
        matches = self._condition.matches(record, row, part, place)
        assert self._matches is not None
        self._matches.append(matches)
        self._matched += matches
        return identity, made

    # ---- doubles

    def _find_doubles(self, suspects: set[int]) -> None:
        """A second look at the rows whose identifiers may be equal, with the identifiers themselves."""
        skips: list[set[int]] = [set() for _ in self._parts]
        for index, problem in self._problems:
            skips[index].add(problem.place)
        doubles = self._doubles
        for number, (index, place, row) in enumerate(self._usable_rows(skips)):
            identifier, made, mapped = identified(row, self._fields, self._parts[index].columns)
            identifier = identity_of(identifier, mapped)
            if not made and (base := made_from(identifier)) is not None and row_ids.hash_of(base) in suspects:
                doubles.taken.add(identifier)
            if row_ids.hash_of(identifier) in suspects and not doubles.is_new(
                identifier, made=made, index=index, place=place
            ):
                doubles.rows.append(number)

    def _usable_rows(self, skips: list[set[int]]) -> Iterator[tuple[int, int, Row]]:
        left = self._rows
        for index, part in enumerate(self._parts):
            for chunk in part.chunks(checked=False, skips=skips[index]):
                for row, place in zip(chunk.rows, chunk.places, strict=True):
                    if left == 0:
                        return
                    left -= 1
                    yield index, place, row

    # ---- choosing

    def _choose(self) -> tuple[bytearray | None, int]:
        """Which rows are wanted, and how many."""
        chosen = self._matches
        if self._doubles.rows:
            if chosen is None:
                chosen = bytearray(b"\1") * self._rows
            for number in self._doubles.rows:
                chosen[number] = 0
        count = self._rows if chosen is None else chosen.count(1)
        size = self._options.sample
        if size is None or size >= count:
            return chosen, count
        import numpy as np  # takes as long to load as hundreds of questions to ask

        matching = np.arange(self._rows) if chosen is None else np.flatnonzero(np.frombuffer(chosen, np.uint8))
        drawn = random.Random(self._options.seed).sample(range(count), size)
        sample = bytearray(self._rows)
        for number in matching[drawn].tolist():
            sample[number] = 1
        return sample, size

    # ---- refusing

    def _refuse_unknown_columns(self) -> None:
        columns = {**self._columns, **self._inner}
        unknown = self._fields.unknown(columns) if columns else None
        if unknown is not None:
            column, target = unknown
            raise UnmappedColumnError(target, column, columns, where=self._parts[0].name)

    def _refuse_problems(self) -> None:
        broken = [
            (self._parts[index].where(problem.place, problem.offset), problem.reason)
            for index, problem in sorted(self._problems, key=_position)[:_PROBLEMS_SHOWN]
        ]
        doubles = [
            (places[0], f"id {_shown(identifier)} is used {count} times, also at {_listed(places[1:], count - 1)}")
            for identifier, count, places in self._doubles.described(self._parts)
        ]
        if len(doubles) > _DOUBLES_SHOWN:
            where, reason = doubles[_DOUBLES_SHOWN - 1]
            reason += f"; {len(doubles) - _DOUBLES_SHOWN:,} other ids are used more than once too"
            doubles[_DOUBLES_SHOWN - 1 :] = [(where, reason)]
        shown = broken + doubles
        if not shown:
            return
        (where, reason), *others = shown
        if others:
            reason += f" (and {len(others)} more: {_by_reason(reason, others)})"
        kind = InvalidDataError if broken else DuplicateIdError
        raise kind(
            reason, where=where, hint='correct this, or leave invalid rows out (--skip-invalid; on_invalid="skip")'
        )

    def _nothing_left(self, skipped: list[SkippedRow]) -> EvalsiError:
        name = self._parts[0].name
        if self._rows and self._condition is not None:
            return InvalidDataError(
                f"none of {self._rows} rows meets the condition {self._options.where!r}", where=name
            )
        if skipped:
            return InvalidDataError(f"no row can be used; the first: {skipped[0].reason}", where=skipped[0].where)
        return InvalidDataError("there are no rows", where=name)

    def _skipped(self) -> list[SkippedRow]:
        listed = [*self._problems]
        listed += [
            (
                index,
                Problem(place, f"id {_shown(identifier)} is already used at {self._parts[first].where(first_place)}"),
            )
            for identifier, (first, first_place), later in self._doubles.all_later()
            for index, place in later
        ]
        return [
            SkippedRow(problem.place, problem.reason, self._parts[index].where(problem.place, problem.offset))
            for index, problem in sorted(listed, key=_position)
        ]


@dataclass
class _Doubles:
    """Rows that share an identifier, and made identifiers that more than one row would get."""

    repeated: set[str] = field(default_factory=set[str])
    repeats: int = 0
    taken: set[str] = field(default_factory=set[str])
    rows: list[int] = field(default_factory=list[int])
    """Numbers of the usable rows whose identifier an earlier row has."""
    _first: dict[str, tuple[int, int, bool]] = field(default_factory=dict[str, tuple[int, int, bool]])
    _later: dict[str, list[tuple[int, int]]] = field(default_factory=dict[str, list[tuple[int, int]]])

    def is_new(self, identifier: str, *, made: bool, index: int, place: int) -> bool:
        """Whether the row may keep its identifier, if need be with a suffix."""
        first = self._first.setdefault(identifier, (index, place, made))
        if first == (index, place, made):
            return True
        if made and first[2]:
            self.repeated.add(identifier)
            self.repeats += 1
            return True
        self._later.setdefault(identifier, []).append((index, place))
        return False

    def described(self, parts: Sequence[Part]) -> Iterator[tuple[str, int, list[str]]]:
        """(identifier, times used, the first places) of each double."""
        for identifier, (first, first_place), later in self.all_later():
            places = [parts[first].where(first_place)]
            places += [parts[index].where(place) for index, place in later[:_PLACES_SHOWN]]
            yield identifier, len(later) + 1, places

    def all_later(self) -> Iterator[tuple[str, tuple[int, int], list[tuple[int, int]]]]:
        for identifier, later in self._later.items():
            yield identifier, self._first[identifier][:2], later


def identified(row: Row, fields: FieldMap, columns: Sequence[str] | None) -> tuple[str, bool, Row]:
    """The identifier of a row, whether it was made, and the row as the mapping wants it.

    Raises:
        RowError: the row lacks a mapped column, or its identifier is no text and no number.
    """
    mapped = fields.apply(row, columns) if fields else row
    given = text_of_id(mapped.get("id"))
    return (given, False, mapped) if given else (made_id(mapped, row), True, mapped)


def identity_of(identifier: str, row: Row) -> str:
    """What must be unique: the identifier, and the trial where `provenance.run.trial` says that a row is a repetition."""
    value: Any = row.get("provenance")
    for name in ("run", "trial"):
        value = cast("Row", value).get(name) if isinstance(value, dict) else None
    return f"{identifier}{_TRIAL}{value}" if type(value) is int and value > 0 else identifier


def _listed(places: Sequence[str], count: int) -> str:
    """The first of `count` places, and how many more there are."""
    more = count - len(places)
    return ", ".join(places) + (f" and {more:,} more {'place' if more == 1 else 'places'}" if more else "")


def _by_reason(first: str, problems: Sequence[tuple[str, str]]) -> str:
    """Every reason once, with the places it is the reason for; `first` was said already."""
    places: dict[str, list[str]] = {}
    for place, reason in problems:
        places.setdefault(reason, []).append(place)
    return "; ".join(
        f"the same at {_listed(at[:_PLACES_SHOWN], len(at))}"
        if reason == first
        else f"{_listed(at[:_PLACES_SHOWN], len(at))}: {reason}"
        for reason, at in places.items()
    )


def _shown(identity: str) -> str:
    identifier, _, trial = identity.partition(_TRIAL)
    return f"{identifier!r} of trial {trial}" if trial else repr(identifier)


def _position(found: tuple[int, Problem]) -> tuple[int, int]:
    return found[0], found[1].place


def _sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
