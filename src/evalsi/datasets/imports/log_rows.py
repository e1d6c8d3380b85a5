"""A log as a part of a dataset: one row per sample, its scores left aside.

Every sample is written as one line of JSON and read back, as all sources of objects are, so that rows of logs obey the
rules of all rows.
"""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice

import msgspec

from evalsi.datasets.byte_source import ByteSource
from evalsi.datasets.imports.imported_log import ImportedLog, UnreadableSample
from evalsi.datasets.json_rows import decode_rows
from evalsi.datasets.object_rows import line_of
from evalsi.datasets.rows import Chunk, Digest, Problem, RowError, row_place

_ROWS_PER_CHUNK = 64
"""Samples of agents are long."""


@dataclass
class LogRows:
    """The samples of one log.

    Args:
        log: What is read.
        prefix: What identifiers begin with, where a dataset is made of several logs.
    """

    log: ImportedLog
    prefix: str = ""
    _places: list[str] = field(default_factory=list[str], init=False, repr=False)

    @property
    def name(self) -> str:
        return str(self.log.path)

    @property
    def content(self) -> ByteSource:
        return ByteSource(self.name, self.log.path)

    @property
    def columns(self) -> Sequence[str] | None:
        return None

    def chunks(self, *, digest: Digest | None = None, checked: bool, skips: Collection[int] = ()) -> Iterator[Chunk]:
        if digest is not None:
            for _ in self.content.blocks(digest):
                pass
        samples = iter(self.log.read_samples())
        start = 1
        self._places.clear()
        while batch := list(islice(samples, _ROWS_PER_CHUNK)):
            raw: list[bytes] = []
            places: list[int] = []
            problems: list[Problem] = []
            self._places += [sample.place for sample in batch]
            for place, sample in enumerate(batch, start):
                if place in skips:
                    continue
                if isinstance(sample, UnreadableSample):
                    problems.append(Problem(place, sample.reason))
                    continue
                try:
                    raw.append(line_of(msgspec.structs.replace(sample.record, id=self.prefix + sample.record.id)))
                    places.append(place)
                except RowError as fault:
                    problems.append(Problem(place, fault.reason))
            chunk = decode_rows(raw, places, checked=checked, blanks_count=True)
            chunk.problems = sorted(chunk.problems + problems, key=lambda problem: problem.place)
            yield chunk
            start += len(batch)

    def where(self, place: int, offset: int | None = None) -> str:  # noqa: ARG002
        return self._places[place - 1] if place <= len(self._places) else row_place(self.name, place)
