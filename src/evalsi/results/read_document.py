"""Reading a results document back as a `GradedRun`: our own line by line, anybody's else whole.

Documents of other writers of the interface are JSON of any layout, so they are decoded at once; ours are streamed.
"""

import os
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from math import nan
from pathlib import Path
from typing import IO, Any, TypeVar

import msgspec

from evalsi.core.errors import InvalidDataError, NotFoundError
from evalsi.engine.columns import CANCELLED, SCORED, Column, EvaluatorColumns, Note
from evalsi.results.graded_run import GradedRun
from evalsi.results.stored_rows import GradedRows, encode_records
from evalsi.schema import (
    DatasetManifest,
    ErrorKind,
    Fault,
    GateResult,
    MetricSummary,
    Record,
    ResultsLayout,
    RunManifest,
    Usage,
    json_codec,
)

Message = TypeVar("Message", bound=msgspec.Struct)

BATCH_ROWS = 1024
_CODES = {"scored": 1, "skipped": 2, "error": 3, "cancelled": 4}


class _ScoreLine(msgspec.Struct):
    name: str = ""
    number: float | None = None
    passed: bool | None = None
    label: str | None = None
    structured: Any = msgspec.UNSET
    explanation: str = ""
    confidence: float | None = None
    metadata: dict[str, Any] = {}


class _ResultLine(msgspec.Struct):
    """A result as files carry it, ours or another writer's."""

    record_id: str = ""
    evaluator: str = ""
    evaluator_ref: str = ""
    outcome: str = ""
    scores: list[_ScoreLine] = []
    reason: str = ""
    duration_ms: float | None = None
    trial: int = 0
    error_kind: ErrorKind = ErrorKind.UNSPECIFIED
    fault: Fault = Fault.UNSPECIFIED
    detail: str = ""
    raw_reply: str = ""
    usage: Usage | None = None
    span_id: str = ""
    session_id: str = ""


class _ForeignDataset(msgspec.Struct, frozen=True):
    source: str = ""
    sha256: str = ""


class _ForeignManifest(msgspec.Struct):
    """What we take over from another writer's manifest."""

    evalsi_version: str = ""
    dataset: _ForeignDataset = _ForeignDataset()


_RESULT = msgspec.json.Decoder(_ResultLine)


def read_document(path: Path) -> GradedRun:
    """The run in the results file at `path`.

    Raises:
        NotFoundError: there is no such file.
        InvalidDataError: it is no results document.
    """
    if not path.is_file():
        raise NotFoundError(f"there is no file {str(path)!r}")
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
        if sum(1 for _ in _lines(file)) != layout.records:
            raise _unfinished(path)
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
            record_lines, result_lines = _lines(records), _lines(results)
            first = 0
            while batch := list(islice(record_lines, BATCH_ROWS)):
                try:
                    found = [_RESULT.decode(line) for line in islice(result_lines, len(batch) * width)]
                except msgspec.MsgspecError as error:
                    raise InvalidDataError(f"a result cannot be read: {error}", where=str(path)) from error
                if len(found) < len(batch) * width:
                    raise _unfinished(path)
                lanes = [_columns(found[lane::width], outputs) for lane in range(width)]
                yield GradedRows(first, b"\n".join(batch), lanes, str(path))
                first += len(batch)

    whole: list[EvaluatorColumns] = []
    if layout.whole_results:
        with path.open("rb") as file:
            file.seek(results_at)
            rest = [_RESULT.decode(line) for line in islice(_lines(file), layout.records * width, None)]
        if len(rest) != layout.whole_results:
            raise _unfinished(path)
        whole = [_columns(group, outputs) for group in _by_evaluator(rest).values()]
    return GradedRun(
        source=str(path),
        manifest=manifest,
        summaries=_messages(header[b'"summaries"'], MetricSummary),
        gates=_messages(header.get(b'"gates"', b"[]"), GateResult),
        read_rows=read,
        whole=whole,
    )


def _messages(array: bytes, kind: type[Message]) -> list[Message]:
    return [json_codec.convert(each, kind) for each in msgspec.json.decode(array, type=list[dict[str, Any]])]


def _unfinished(path: Path) -> InvalidDataError:
    return InvalidDataError("the file was not written whole", where=str(path), hint="write it again")


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
    lines = msgspec.convert(plain["results"], list[_ResultLine])
    bodies = {str(body.get("id", "")): body for body in _objects(plain, "records")}
    per_record = [line for line in lines if line.record_id]
    keys = list(dict.fromkeys((line.record_id, line.trial) for line in per_record))
    records = [json_codec.convert({**bodies.get(key[0], {}), "id": key[0]}, Record) for key in keys]
    rows = {key: row for row, key in enumerate(keys)}
    declared = _outputs_seen(lines)
    columns = [_columns(_in_rows(group, rows), declared) for group in _by_evaluator(per_record).values()]
    without_record = [line for line in lines if not line.record_id]
    whole = [_columns(group, declared) for group in _by_evaluator(without_record).values()]
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


def _objects(document: dict[str, Any], key: str) -> list[dict[str, Any]]:
    return msgspec.convert(document.get(key) or [], list[dict[str, Any]])


def _foreign_summary(plain: dict[str, Any]) -> MetricSummary:
    known = {entry.name for entry in msgspec.structs.fields(MetricSummary)}
    return msgspec.convert({key: value for key, value in plain.items() if key in known}, MetricSummary, strict=False)


def _outputs_seen(lines: list[_ResultLine]) -> dict[str, list[str]]:
    seen: dict[str, dict[str, None]] = {}
    for line in lines:
        seen.setdefault(line.evaluator, {}).update(dict.fromkeys(score.name for score in line.scores))
    return {evaluator: list(outputs) for evaluator, outputs in seen.items()}


def _by_evaluator(lines: list[_ResultLine]) -> dict[str, list[_ResultLine]]:
    groups: dict[str, list[_ResultLine]] = {}
    for line in lines:
        groups.setdefault(line.evaluator, []).append(line)
    return groups


def _in_rows(lines: list[_ResultLine], rows: dict[tuple[str, int], int]) -> list[_ResultLine]:
    """One line for every row; a row without one was not measured."""
    first = lines[0]
    missing = _ResultLine(evaluator=first.evaluator, evaluator_ref=first.evaluator_ref, outcome="cancelled")
    placed = [missing] * len(rows)
    for line in lines:
        placed[rows[line.record_id, line.trial]] = line
    return placed


def _columns(lines: list[_ResultLine], declared: Mapping[str, Sequence[str]]) -> EvaluatorColumns:
    """The columns of one evaluator, one row a line.

    Args:
        declared: The outputs of an evaluator, by its name, as far as they are known; they tell which is the primary one.
    """
    first = lines[0]
    name = first.evaluator_ref.rpartition("/")[2].partition("@")[0] or first.evaluator
    outputs = declared.get(first.evaluator) or [name]
    primary = name if name in outputs else (outputs[0] if len(outputs) == 1 else "")
    columns = EvaluatorColumns(
        evaluator=first.evaluator, ref=first.evaluator_ref, primary=primary, outcomes=bytearray(len(lines))
    )
    durations_s = [(line.duration_ms or 0.0) / 1000 for line in lines]
    timed_together = len(set(durations_s)) == 1
    columns.duration_s = sum(durations_s) if timed_together else 0.0
    for row, line in enumerate(lines):
        columns.outcomes[row] = _CODES.get(line.outcome.lower().removeprefix("outcome_"), CANCELLED)
        for score in line.scores:
            _put(columns, row, score)
        _note(columns, row, line, None if timed_together else durations_s[row])
    held = columns.columns
    columns.columns = {output: held[output] for output in dict.fromkeys((*outputs, *held)) if output in held}
    return columns


def _put(columns: EvaluatorColumns, row: int, score: _ScoreLine) -> None:
    if score.number is not None:
        kind, value, held = "number", score.number, None
    elif score.passed is not None:
        kind, value, held = "passed", float(score.passed), None
    elif score.label is not None:
        kind, value, held = "label", nan, score.label
    elif score.structured is not msgspec.UNSET:
        kind, value, held = "structured", nan, score.structured
    else:
        return
    column = columns.columns.get(score.name)
    if column is None:
        objects = [None] * columns.rows if held is not None else None
        column = columns.columns[score.name] = Column(score.name, kind, [nan] * columns.rows, objects)
    if column.kind == "passed" and kind == "number":
        column.kind = "number"
    column.values[row] = value
    if column.objects is not None:
        column.objects[row] = held


def _note(columns: EvaluatorColumns, row: int, line: _ResultLine, duration_s: float | None) -> None:
    explanations = {score.name: score.explanation for score in line.scores if score.explanation}
    details = {score.name: score.metadata for score in line.scores if score.metadata}
    confidences = {score.name: score.confidence for score in line.scores if score.confidence is not None}
    said = (line.reason, line.detail, line.raw_reply, line.usage, line.span_id, line.session_id)
    if columns.outcomes[row] != SCORED or explanations or details or confidences or duration_s is not None or any(said):
        columns.notes[row] = Note(
            reason=line.reason,
            error_kind=line.error_kind,
            fault=line.fault,
            detail=line.detail or line.raw_reply,
            usage=line.usage,
            duration_s=duration_s,
            span_id=line.span_id,
            session_id=line.session_id,
            explanations=explanations,
            details=details,
            confidences=confidences,
        )
