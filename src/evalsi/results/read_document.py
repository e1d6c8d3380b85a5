"""Reading a results document back as a `GradedRun`: our own line by line, anybody's else whole.

Documents of other writers of the interface are JSON of any layout, so they are decoded at once; ours are streamed.
"""

import os
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from itertools import islice
from pathlib import Path
from typing import IO, Any, TypeVar

import msgspec

from evalsi.core.errors import InvalidDataError, NotFoundError
from evalsi.core.nearest_file import nearest_file
from evalsi.engine.columns import EvaluatorColumns
from evalsi.results.graded_run import GradedRun
from evalsi.results.result_lines import RESULT, ResultLine, columns_of_lines, columns_of_results
from evalsi.results.stored_rows import GradedRows, encode_records
from evalsi.results.told_trial import ToldProvenance
from evalsi.schema import (
    DatasetManifest,
    GateResult,
    MetricSummary,
    Record,
    ResultsLayout,
    RunManifest,
    json_codec,
)

Message = TypeVar("Message", bound=msgspec.Struct)

BATCH_ROWS = 1024
_BLOCK_BYTES = 1 << 20


class _ForeignDataset(msgspec.Struct, frozen=True):
    source: str = ""
    sha256: str = ""


class _ForeignManifest(msgspec.Struct):
    """What we take over from another writer's manifest."""

    evalsi_version: str = ""
    dataset: _ForeignDataset = _ForeignDataset()


def read_document(path: Path) -> GradedRun:
    """The run in the results file at `path`.

    Raises:
        NotFoundError: there is no such file.
        InvalidDataError: it is no results document.
    """
    if not path.is_file():
        raise NotFoundError(f"there is no file {str(path)!r}", hint=nearest_file(path))
    try:
        with path.open("rb") as file:
            ours = file.readline().startswith(b'{"api_version":')
        return _ours(path) if ours else _foreign(path)
    except (msgspec.MsgspecError, UnicodeDecodeError, KeyError, TypeError, ValueError) as error:
        raise InvalidDataError(
            f"this is no results document: {error}", where=str(path), hint="write one with: evalsi eval … --output FILE"
        ) from error


def _ours(path: Path) -> GradedRun:
    header: dict[bytes, bytes] = {}
    with path.open("rb") as file:
        file.readline()
        while not (line := file.readline()).startswith(b'"records":['):
            if not line:
                raise _unfinished(path)
            key, _, value = line.rstrip(b",\n").partition(b":")
            header[key] = value
        records_at = file.tell()
        layout = json_codec.decode(header[b'"layout"'], ResultsLayout)
        if _count_lines(file) != layout.records:
            raise _unfinished(path)
        file.readline()
        file.readline()
        results_at = file.tell()
        file.seek(-3, os.SEEK_END)
        if file.read() != b"]}\n":
            raise _unfinished(path)
    width = len(layout.evaluators)
    manifest = json_codec.decode(header[b'"manifest"'], RunManifest)
    outputs = {
        evaluator.name: [spec.name for spec in evaluator.manifest.outputs]
        for evaluator in manifest.evaluators
        if evaluator.manifest is not None
    }

    def read() -> Iterator[GradedRows]:
        with path.open("rb") as records, path.open("rb") as results:
            records.seek(records_at)
            results.seek(results_at)
            for first in range(0, layout.records, BATCH_ROWS):
                rows = min(BATCH_ROWS, layout.records - first)
                batch = b"\n".join([line.rstrip(b",\n") for line in islice(records, rows)])
                lines = list(islice(results, rows * width))
                if len(lines) < rows * width or (lines and not lines[-1].startswith(b"{")):
                    raise _unfinished(path)
                yield GradedRows(first, batch, partial(_lanes, lines, width, outputs, path), str(path))

    whole: list[EvaluatorColumns] = []
    if layout.whole_results:
        with path.open("rb") as file:
            file.seek(results_at)
            rest = [RESULT.decode(line) for line in islice(_lines(file), layout.records * width, None)]
        if len(rest) != layout.whole_results:
            raise _unfinished(path)
        whole = [columns_of_results(group, outputs) for group in _by_evaluator(rest).values()]
    return GradedRun(
        source=str(path),
        manifest=manifest,
        summaries=_messages(header[b'"summaries"'], MetricSummary),
        gates=_messages(header.get(b'"gates"', b"[]"), GateResult),
        read_rows=read,
        whole=whole,
    )


def _lanes(lines: list[bytes], width: int, outputs: Mapping[str, Sequence[str]], path: Path) -> list[EvaluatorColumns]:
    try:
        return [columns_of_lines(lines[lane::width], outputs) for lane in range(width)]
    except msgspec.MsgspecError as error:
        raise InvalidDataError(f"a result cannot be read: {error}", where=str(path)) from error


def _messages(array: bytes, kind: type[Message]) -> list[Message]:
    return [json_codec.convert(each, kind) for each in msgspec.json.decode(array, type=list[dict[str, Any]])]


def _unfinished(path: Path) -> InvalidDataError:
    return InvalidDataError("the file was not written whole", where=str(path), hint="write it again")


def _count_lines(file: IO[bytes]) -> int:
    """How many lines come before the closing bracket of the array that begins here; the file then stands at the bracket."""
    lines, before = 0, b"\n"
    while block := file.read(_BLOCK_BYTES):
        at = (before + block).find(b"\n]")
        if at >= 0:
            # `at` counts from the byte before the block, so it is also how much of the block precedes the bracket.
            file.seek(at - len(block), os.SEEK_CUR)
            return lines + block.count(b"\n", 0, at)
        lines += block.count(b"\n")
        before = block[-1:]
    return lines


def _lines(file: IO[bytes]) -> Iterator[bytes]:
    """The elements of the array that begins here, one a line, up to its closing bracket."""
    for line in file:
        if line.startswith(b"]"):
            return
        element = line.rstrip(b",\n")
        if element:
            yield element


def _foreign(path: Path) -> GradedRun:
    """A document of another writer: `records` and `results` in any order, matched by record id and trial."""
    plain = msgspec.json.decode(path.read_bytes(), type=dict[str, Any])
    if "results" not in plain:
        raise InvalidDataError("there is no `results` in it", where=str(path))
    lines = msgspec.convert(plain["results"], list[ResultLine])
    bodies = _bodies(_objects(plain, "records"))
    per_record = [line for line in lines if line.record_id]
    keys = list(dict.fromkeys((line.record_id, line.trial) for line in per_record))
    found = [bodies.get(key) or bodies.get((key[0], None)) or {} for key in keys]
    records = [json_codec.convert({**body, "id": key[0]}, Record) for key, body in zip(keys, found, strict=True)]
    rows = {key: row for row, key in enumerate(keys)}
    declared = _outputs_seen(lines)
    columns = [columns_of_results(_in_rows(group, rows), declared) for group in _by_evaluator(per_record).values()]
    without_record = [line for line in lines if not line.record_id]
    whole = [columns_of_results(group, declared) for group in _by_evaluator(without_record).values()]
    summaries = [_foreign_summary(summary) for summary in _objects(plain, "summaries")]
    manifest = msgspec.convert(plain.get("manifest") or {}, _ForeignManifest)
    return GradedRun(
        source=str(path),
        manifest=RunManifest(
            name=path.stem,
            evalsi_version=manifest.evalsi_version,
            dataset=DatasetManifest(
                source=manifest.dataset.source, sha256=manifest.dataset.sha256, records=len(records)
            ),
        ),
        summaries=summaries,
        read_rows=lambda: iter([GradedRows(0, encode_records(records), columns)] if records else []),
        whole=whole,
    )


def _bodies(records: list[dict[str, Any]]) -> dict[tuple[str, int | None], dict[str, Any]]:
    """Records by id and trial, and by id alone, for writers that give a record once whatever the number of its trials."""
    found: dict[tuple[str, int | None], dict[str, Any]] = {}
    for record in records:
        name = str(record.get("id", ""))
        told = msgspec.convert(record.get("provenance") or {}, ToldProvenance)
        found[name, None] = record
        if told.trial is not None:
            found[name, told.trial] = record
    return found


def _objects(document: dict[str, Any], key: str) -> list[dict[str, Any]]:
    return msgspec.convert(document.get(key) or [], list[dict[str, Any]])


def _foreign_summary(plain: dict[str, Any]) -> MetricSummary:
    known = {entry.name for entry in msgspec.structs.fields(MetricSummary)}
    return msgspec.convert({key: value for key, value in plain.items() if key in known}, MetricSummary, strict=False)


def _outputs_seen(lines: list[ResultLine]) -> dict[str, list[str]]:
    seen: dict[str, dict[str, None]] = {}
    for line in lines:
        seen.setdefault(line.evaluator, {}).update(dict.fromkeys(score.name for score in line.scores))
    return {evaluator: list(outputs) for evaluator, outputs in seen.items()}


def _by_evaluator(lines: list[ResultLine]) -> dict[str, list[ResultLine]]:
    groups: dict[str, list[ResultLine]] = {}
    for line in lines:
        groups.setdefault(line.evaluator, []).append(line)
    return groups


def _in_rows(lines: list[ResultLine], rows: dict[tuple[str, int], int]) -> list[ResultLine]:
    """One line for every row; a row without one was not measured."""
    first = lines[0]
    missing = ResultLine(evaluator=first.evaluator, evaluator_ref=first.evaluator_ref, outcome="cancelled")
    placed = [missing] * len(rows)
    for line in lines:
        placed[rows[line.record_id, line.trial]] = line
    return placed
