"""Which runs an analysis is about: named ones, those with a label, the newest, and results files."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from glob import glob
from pathlib import Path
from typing import NamedTuple

from evalsi.core.errors import NotFoundError
from evalsi.ports.run_store import RunRow
from evalsi.results.graded_run import GradedRun
from evalsi.results.run_library import RunLibrary

NEWEST = 50
"""Runs that are read when nobody says which."""


@dataclass(frozen=True, kw_only=True)
class RunChoice:
    """What a person chose. Nothing chosen means the newest runs of the store."""

    runs: Sequence[str] = ()
    """References: id or its beginning, name, latest, latest~1."""
    labels: Mapping[str, str] = field(default_factory=dict[str, str])
    limit: int | None = None
    """The newest so many."""
    results: Sequence[str] = ()
    """Results files; `*`, `?` and `[…]` are expanded."""

    @property
    def asks_store(self) -> bool:
        """Whether the store is read: always, but where only files were named."""
        return bool(self.runs or self.labels or self.limit is not None or not self.results)

    @property
    def is_made(self) -> bool:
        """Whether anything was chosen at all."""
        return bool(self.runs or self.labels or self.limit is not None or self.results)


class ChosenRun(NamedTuple):
    """A run to analyse; `row` is what the store says of it, None for a results file."""

    row: RunRow | None
    run: GradedRun


def choose_runs(library: RunLibrary, choice: RunChoice) -> list[RunRow]:
    """The chosen runs, oldest first.

    Raises: NotFoundError: a named run is not there, or no run has the labels.
    """
    found = {row.id: row for row in (library.find(name) for name in choice.runs)} if choice.runs else None
    limit = choice.limit if choice.limit is not None else (None if choice.runs else NEWEST)
    rows = list(found.values()) if found is not None else library.runs(labels=choice.labels, limit=limit)
    rows = [row for row in rows if choice.labels.items() <= row.labels.items()]
    rows = sorted(rows, key=lambda row: (row.created_at, row.id), reverse=True)[:limit]
    if not rows:
        labels = ", ".join(f"{key}={value}" for key, value in choice.labels.items())
        raise NotFoundError(
            f"no run is labelled {labels}" if labels else "there is no run to analyse",
            hint="'evalsi runs list' shows all",
        )
    return rows[::-1]


def results_files(patterns: Sequence[str]) -> list[Path]:
    """The files that the patterns name, each once, in order.

    Raises: NotFoundError: a pattern names none.
    """
    found: dict[Path, None] = {}
    for pattern in patterns:
        here = [pattern] if Path(pattern).is_file() else sorted(glob(pattern))  # noqa: PTH207 - absolute patterns too
        if not here:
            raise NotFoundError(f"there is no file {pattern!r}")
        found |= dict.fromkeys(Path(name) for name in here)
    return list(found)
