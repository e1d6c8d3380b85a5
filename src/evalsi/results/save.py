"""Saving a run as a file, by its ending: `.json` whole, `.jsonl` a result a line, `.csv` and `.parquet` as one table."""

import csv
import importlib.util
from collections.abc import Callable
from pathlib import Path

from evalsi.core.errors import MissingExtraError, UsageError
from evalsi.core.inert import inert_cell
from evalsi.core.whole_file import check_place, whole_file
from evalsi.results.document import result_lines_of, write_document
from evalsi.results.flat_table import column_types, flat_batches, write_parquet
from evalsi.results.graded_run import GradedRun


def save(run: GradedRun, path: Path) -> None:
    """Writes `run` to `path`; the file appears only when it is whole.

    Raises:
        UsageError: an ending we do not write, or the file is the dataset.
        MissingExtraError: Parquet without pyarrow.
    """
    check_path(path)
    dataset = run.manifest.dataset
    check_place(path, [dataset.source] if dataset is not None else ())  # results never replace what they are about
    with whole_file(path) as unfinished:
        _WRITERS[path.suffix.lower()](run, unfinished)


def check_path(path: Path, *, also: str = "") -> None:
    """Refuses, before any work, a path that `save` would refuse after it.

    Args:
        also: What else the caller writes, for the message: `.zip, which is …`.
    """
    if path.suffix.lower() not in _WRITERS:
        raise UsageError(
            f"{path.name}: results are not written as {path.suffix or 'a file without an ending'}",
            hint=f"use one of {', '.join(_WRITERS)}" + (f", or {also}" if also else ""),
        )
    if path.suffix.lower() == ".parquet" and importlib.util.find_spec("pyarrow") is None:
        raise MissingExtraError("writing Parquet", "arrow")
    check_place(path)


def _write_jsonl(run: GradedRun, path: Path) -> None:
    with path.open("wb") as file:
        for lines in result_lines_of(run):
            file.writelines(line.encode() + b"\n" for line in lines)


def _write_csv(run: GradedRun, path: Path) -> None:
    names = column_types(run)
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow([inert_cell(name) for name in names])
        for batch in flat_batches(run):
            empty = [None] * len(batch["record_id"])
            for row in zip(*(batch.get(name, empty) for name in names), strict=True):
                writer.writerow(["" if v is None else inert_cell(v) if isinstance(v, str) else v for v in row])


_WRITERS: dict[str, Callable[[GradedRun, Path], None]] = {
    ".json": write_document,
    ".jsonl": _write_jsonl,
    ".csv": _write_csv,
    ".parquet": write_parquet,
}
