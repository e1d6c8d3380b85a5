"""Saving a run as a file, by its ending: `.json` whole, `.jsonl` a result a line, `.csv` and `.parquet` as one table."""

import csv
from collections.abc import Callable
from pathlib import Path

from evalsi.core.errors import UsageError
from evalsi.core.inert import inert_cell
from evalsi.results.document import result_lines_of, write_document
from evalsi.results.flat_table import flat_columns, write_parquet
from evalsi.results.graded_run import GradedRun


def save(run: GradedRun, path: Path) -> None:
    """Writes `run` to `path`; the file appears only when it is whole.

    Raises:
        UsageError: an ending we do not write.
        MissingExtraError: Parquet without pyarrow.
    """
    writer = _WRITERS.get(path.suffix.lower())
    if writer is None:
        raise UsageError(
            f"{path.name}: results are not written as {path.suffix or 'a file without an ending'}",
            hint=f"use one of {', '.join(_WRITERS)}",
        )
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_name(path.name + ".unfinished")
    writer(run, unfinished)
    unfinished.replace(path)


def _write_jsonl(run: GradedRun, path: Path) -> None:
    with path.open("wb") as file:
        for lines in result_lines_of(run):
            file.writelines(line.encode() + b"\n" for line in lines)


def _write_csv(run: GradedRun, path: Path) -> None:
    table = flat_columns(run)
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow([inert_cell(name) for name in table])
        for row in zip(*table.values(), strict=True):
            writer.writerow(["" if v is None else inert_cell(v) if isinstance(v, str) else v for v in row])


_WRITERS: dict[str, Callable[[GradedRun, Path], None]] = {
    ".json": write_document,
    ".jsonl": _write_jsonl,
    ".csv": _write_csv,
    ".parquet": write_parquet,
}
