"""The answer to Evaluate as JSON, written straight from the columns that the engine fills.

Its own module because it repeats, for speed, what the codec would write through a message for each result; a test holds
the two equal byte for byte. A row with anything to tell but its value goes through the message.
"""

from collections.abc import Iterator, Sequence
from functools import lru_cache

import msgspec

from evalsi.engine.columns import SCORED, EvaluatorColumns, results
from evalsi.schema import EvaluationResult, MetricSummary, Outcome, Score
from evalsi.schema.json_codec import encode_camel
from evalsi.schema.json_text import duration_text
from evalsi.score.grade_records import Grading

_ID, _NUMBER, _SECONDS = "\x00id\x00", 1.2345678901234567e-300, 98765432.123456789
"""Stand for the id, the value and the time while a line is prepared. Nothing else in it can be the same."""
_ENCODER = msgspec.json.Encoder()


def results_in_order(grading: Grading, ids: Sequence[str]) -> Iterator[EvaluationResult]:
    """Every result: record by record in the order of the evaluators, then those of whole sessions and datasets."""
    lanes = [results(columns, ids) for columns in grading.columns]
    for row in zip(*lanes, strict=True):
        yield from row
    for columns in grading.whole:
        yield from results(columns, [""] * columns.rows)


def evaluate_json(grading: Grading, ids: Sequence[str], summaries: Sequence[MetricSummary]) -> bytes:
    """The REST form of the EvaluateResponse."""
    names = [_ENCODER.encode(name) for name in ids]
    lanes = [_lines(columns, ids, names) for columns in grading.columns]
    parts = lanes[0] if len(lanes) == 1 else [line for row in zip(*lanes, strict=True) for line in row]
    for columns in grading.whole:
        parts = parts + [encode_camel(one) for one in results(columns, [""] * columns.rows)]
    ends = b",".join(map(encode_camel, summaries))
    return b'{"results":[' + b",".join(parts) + b'],"summaries":[' + ends + b"]}"


def _lines(columns: EvaluatorColumns, ids: Sequence[str], names: Sequence[bytes]) -> list[bytes]:
    """The JSON of each row's result."""
    held = list(columns.columns.values())
    if len(held) != 1 or held[0].kind not in ("passed", "number"):
        return [encode_camel(one) for one in results(columns, ids)]
    column = held[0]
    special = [row for row, code in enumerate(columns.outcomes) if code != SCORED or row in columns.notes]
    took = duration_text(columns.duration_s / columns.rows).encode() if columns.rows else b""
    if column.kind == "passed":
        ends: dict[float, tuple[bytes, bytes]] = {}
        for verdict in (0.0, 1.0):
            before, between, after = _around(columns.evaluator, columns.ref, column.output, verdict == 1.0)
            ends[verdict] = before, between + took + after
        lines = [
            pair[0] + name + pair[1] if (pair := ends.get(value)) is not None else b""
            for value, name in zip(column.values, names, strict=True)
        ]
    else:
        before, between, later, after = _around(columns.evaluator, columns.ref, column.output, None)
        end = later + took + after
        numbers = map(_ENCODER.encode, column.values)
        lines = [before + name + between + number + end for name, number in zip(names, numbers, strict=True)]
    if special:
        messages = list(results(columns, ids))
        for row in special:
            lines[row] = encode_camel(messages[row])
    return lines


@lru_cache(maxsize=4096)
def _around(evaluator: str, ref: str, output: str, passed: bool | None) -> list[bytes]:
    """What stands around the id, the value (where it is a number, so `passed` is None) and the time of a scored row."""
    number = _NUMBER if passed is None else None
    text = encode_camel(
        EvaluationResult(
            record_id=_ID,
            evaluator=evaluator,
            evaluator_ref=ref,
            outcome=Outcome.SCORED,
            scores=[Score(name=output, passed=passed, number=number)],
            duration=_SECONDS,
        )
    )
    places = [_ENCODER.encode(_ID), *([_ENCODER.encode(_NUMBER)] if passed is None else [])]
    parts: list[bytes] = []
    for place in (*places, duration_text(_SECONDS).encode()):
        part, text = text.split(place)
        parts.append(part)
    return [*parts, text]
