"""The answer to Evaluate as JSON, written straight from the columns that the engine fills.

Its own module because it repeats, for speed, what the codec would write through a message for each result; a test holds
the two equal byte for byte. A row with anything to tell but its value goes through the message.
"""

from collections.abc import Iterator, Sequence

import msgspec

from evalsi.engine.columns import SCORED, EvaluatorColumns, results
from evalsi.schema import EvaluationResult, MetricSummary, Outcome, Score
from evalsi.schema.json_codec import encode_camel
from evalsi.score.grade_records import Grading

_HERE = "\x00evalsi\x00"
"""Stands for a record's id while a line is prepared. No text of ours holds it."""
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
    if len(lanes) == 1:
        parts = lanes[0]
    else:
        parts = [line for row in zip(*lanes, strict=True) for line in row]
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
    share_s = columns.duration_s / columns.rows if columns.rows else 0.0
    if column.kind == "passed":
        verdicts = {value: _around(columns, share_s, passed=value == 1.0) for value in (0.0, 1.0)}
        pairs = [verdicts.get(value) for value in column.values]
        lines = [pair[0] + name + pair[1] if pair else b"" for pair, name in zip(pairs, names, strict=True)]
    else:
        before, between, after = _around_number(columns, share_s)
        numbers = map(_ENCODER.encode, column.values)
        lines = [before + name + between + number + after for name, number in zip(names, numbers, strict=True)]
    if special:
        messages = list(results(columns, ids))
        for row in special:
            lines[row] = encode_camel(messages[row])
    return lines


def _around(columns: EvaluatorColumns, share_s: float, *, passed: bool) -> tuple[bytes, bytes]:
    """What stands before and after the record's id."""
    score = Score(name=next(iter(columns.columns)), passed=passed)
    before, after = _prepared(columns, share_s, score).split(_ENCODER.encode(_HERE))
    return before, after


def _around_number(columns: EvaluatorColumns, share_s: float) -> tuple[bytes, bytes, bytes]:
    """What stands before the record's id, between it and the number, and after that."""
    score = Score(name=next(iter(columns.columns)), number=_SENTINEL)
    before, rest = _prepared(columns, share_s, score).split(_ENCODER.encode(_HERE))
    between, after = rest.split(_ENCODER.encode(_SENTINEL))
    return before, between, after


_SENTINEL = 1.2345678901234567e-300
"""A number that no name, time or other field can hold by chance."""


def _prepared(columns: EvaluatorColumns, share_s: float, score: Score) -> bytes:
    return encode_camel(
        EvaluationResult(
            record_id=_HERE,
            evaluator=columns.evaluator,
            evaluator_ref=columns.ref,
            outcome=Outcome.SCORED,
            scores=[score],
            duration=share_s,
        )
    )
