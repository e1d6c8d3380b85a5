"""The results document: one JSON file with manifest, summaries, records, results and gates.

Written a line per record and per result, so that a reader can stream it: memory stays flat at any size. Result lines
are assembled as text, since building a million messages to print them would be the slowest part of a run.
"""

import json
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec

from evalsi.engine.columns import SCORED, EvaluatorColumns, results
from evalsi.results.graded_run import GradedRun
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
    records, evaluators = 0, list[str]()
    for rows in run.read_rows():
        records += rows.rows
        evaluators = [columns.evaluator for columns in rows.columns]
    return ResultsLayout(
        records=records, evaluators=evaluators, whole_results=sum(columns.rows for columns in run.whole)
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
        ids = [_ENCODER.encode(each.id).decode() for each in rows.decoded(_IDENTIFIED)]
        lanes = [result_lines(columns, ids) for columns in rows.columns]
        yield [line for row in zip(*lanes, strict=True) for line in row]
    for columns in run.whole:
        ids = [json.dumps("")] * columns.rows
        yield result_lines(columns, ids)


class _Identified(msgspec.Struct):
    id: str = ""


_IDENTIFIED = msgspec.json.Decoder(_Identified)


def result_lines(columns: EvaluatorColumns, ids: Sequence[str]) -> list[str]:
    """One JSON object per row. `ids` are JSON texts of the record ids."""
    held = list(columns.columns.values())
    if len(held) == 1 and held[0].kind in _NUMBERS:
        lines = _plain_lines(columns, ids, held[0].output, held[0].kind, held[0].values)
        special = [row for row, code in enumerate(columns.outcomes) if code != SCORED or row in columns.notes]
    else:
        lines = [""] * columns.rows
        special = list(range(columns.rows))
    if special:
        messages = list(results(columns, [json.loads(identifier) for identifier in ids]))
        for row in special:
            lines[row] = _ENCODER.encode(result_dict(messages[row])).decode()
    return lines


def _plain_lines(
    columns: EvaluatorColumns, ids: Sequence[str], output: str, kind: str, values: Sequence[float]
) -> list[str]:
    share_ms = round(columns.duration_s * 1000 / max(1, columns.rows), 4)
    middle = (
        f',"evaluator":{json.dumps(columns.evaluator)},"evaluator_ref":{json.dumps(columns.ref)},"outcome":"scored",'
        f'"duration_ms":{share_ms},"scores":[{{"name":{json.dumps(output)},"{kind}":'
    )
    if kind == "passed":
        tails = {1.0: middle + "true}]}", 0.0: middle + "false}]}"}
        return [f'{{"record_id":{id_}{tails.get(value, "")}' for id_, value in zip(ids, values, strict=True)]
    return [f'{{"record_id":{id_}{middle}{value!r}}}]}}' for id_, value in zip(ids, values, strict=True)]
