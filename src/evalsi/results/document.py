"""The results document: one JSON file with manifest, summaries, records, results and gates.

Written a line per record and per result, so that a reader can stream it: memory stays flat at any size. Result lines
are assembled as text, since building a million messages to print them would be the slowest part of a run.
"""

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec

from evalsi.engine.columns import SCORED, Column, EvaluatorColumns, result
from evalsi.results.graded_run import GradedRun
from evalsi.results.slice_summaries import asked_slices, slice_summaries
from evalsi.schema import EvaluationResult, ResultsLayout, json_codec

API_VERSION = "evals.si/v1alpha1"
_ENCODER = msgspec.json.Encoder()
_NUMBERS = ("number", "passed")


def write_document(run: GradedRun, path: Path) -> None:
    """Writes the document to `path`, a piece at a time."""
    with path.open("wb") as file:
        for part in document_parts(run):
            file.write(part)


def document_parts(run: GradedRun) -> Iterator[bytes]:
    """The document in order, in pieces of about a batch."""
    yield b'{"api_version":' + _ENCODER.encode(API_VERSION) + b',\n"manifest":' + json_codec.encode_file(run.manifest)
    yield b',\n"summaries":' + _array(run.summaries)
    yield b',\n"gates":' + _array(run.gates)
    if keys := asked_slices(run):
        yield b',\n"slices":' + _array(slice_summaries(run, keys))
    yield b',\n"layout":' + json_codec.encode_file(_layout(run))
    yield b',\n"records":['
    yield from _joined(rows.records_jsonl.rstrip(b"\n").replace(b"\n", b",\n") for rows in run.read_rows())
    yield b'\n],\n"results":['
    yield from _joined(",\n".join(lines).encode() for lines in result_lines_of(run))
    yield b"\n]}\n"


def _array(messages: Sequence[msgspec.Struct]) -> bytes:
    return b"[" + b",".join(map(json_codec.encode_file, messages)) + b"]"


def _layout(run: GradedRun) -> ResultsLayout:
    """How many lines of what follow, so that a reader can walk records and results side by side."""
    first = next(iter(run.read_rows()), None)
    return ResultsLayout(
        records=run.count_records(),
        evaluators=[columns.evaluator for columns in first.columns] if first is not None else [],
        whole_results=sum(columns.rows for columns in run.whole),
    )


def result_dict(result: EvaluationResult) -> dict[str, Any]:
    """A result as files carry it: the duration in milliseconds, absent fields left out."""
    plain: dict[str, Any] = msgspec.to_builtins(result)
    duration_s = plain.pop("duration", None)
    if duration_s is not None:
        plain["duration_ms"] = round(duration_s * 1000, 4)
    return plain


def _joined(parts: Iterable[bytes]) -> Iterator[bytes]:
    first = True
    for part in parts:
        if part:
            yield (b"\n" if first else b",\n") + part
            first = False


def result_lines_of(run: GradedRun) -> Iterator[list[str]]:
    """Every result as a JSON object, in lists of about a batch: per record in the panel's order, whole scopes last."""
    for rows in run.read_rows():
        heads = _plain_heads(rows.record_lines) or [_head(each) for each in rows.decoded(_IDENTIFIED)]
        lanes = [_result_lines(columns, heads) for columns in rows.columns]
        yield [line for row in zip(*lanes, strict=True) for line in row]
    for columns in run.whole:
        yield _result_lines(columns, [_head(_Identified())] * columns.rows)


class _Run(msgspec.Struct):
    trial: int = 0


class _Origin(msgspec.Struct):
    run: _Run | None = None


class _Identified(msgspec.Struct):
    id: str = ""
    provenance: _Origin | None = None


class _Head(msgspec.Struct):
    record_id: str
    trial: int = 0


_IDENTIFIED = msgspec.json.Decoder(_Identified)
_HEAD = msgspec.json.Decoder(_Head)
_PLAIN_ID = re.compile(rb'\{"id":("[^"\\]*")')
"""What a record begins with, unless its id needs escapes."""


def _head(found: _Identified) -> str:
    """The beginning of a result line: the record's id, and the trial where it is not the first."""
    run = found.provenance.run if found.provenance is not None else None
    trial = f',"trial":{run.trial}' if run is not None and run.trial else ""
    return f'{{"record_id":{_ENCODER.encode(found.id).decode()}{trial}'


def _plain_heads(lines: Sequence[bytes]) -> list[str] | None:
    """The heads of records that need no decoding for them; None where one does, for escapes in its id or a trial."""
    heads: list[str] = []
    for line in lines:
        found = _PLAIN_ID.match(line)
        if found is None or b'"provenance"' in line or not found[1].isascii():
            return None
        heads.append(f'{{"record_id":{found[1].decode()}')
    return heads


def _result_lines(columns: EvaluatorColumns, heads: Sequence[str]) -> list[str]:
    """One JSON object per row."""
    held = list(columns.columns.values())
    if len(held) == 1 and held[0].kind in _NUMBERS:
        lines = _plain_lines(columns, heads, held[0])
        special = [row for row, code in enumerate(columns.outcomes) if code != SCORED or row in columns.notes]
    else:
        lines = [""] * columns.rows
        special = range(columns.rows)
    for row in special:
        subject = _HEAD.decode(heads[row] + "}")
        message = result(columns, row, subject.record_id, subject.trial)
        lines[row] = _ENCODER.encode(result_dict(message)).decode()
    return lines


def _plain_lines(columns: EvaluatorColumns, heads: Sequence[str], column: Column) -> list[str]:
    share_ms = round(columns.duration_s * 1000 / max(1, columns.rows), 4)
    middle = (
        f',"evaluator":{json.dumps(columns.evaluator)},"evaluator_ref":{json.dumps(columns.ref)},"outcome":"scored",'
        f'"duration_ms":{share_ms},"scores":[{{"name":{json.dumps(column.output)},"{column.kind}":'
    )
    if column.kind == "passed":
        tails = {1.0: middle + "true}]}", 0.0: middle + "false}]}"}
        return [head + tails.get(value, "") for head, value in zip(heads, column.values, strict=True)]
    return [f"{head}{middle}{value!r}}}]}}" for head, value in zip(heads, column.values, strict=True)]
