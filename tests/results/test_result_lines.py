"""Lines that are cut apart at what they share say the same as lines that are decoded one by one."""

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from evalsi.engine.columns import EvaluatorColumns
from evalsi.results.result_lines import RESULT, columns_of_lines, columns_of_results

_NUMBER = st.floats(allow_nan=False, allow_infinity=False) | st.integers(-5, 5)
_DECLARED = {"e": ["a", "b", "c"]}


def _line(row: int, values: tuple[Any, bool, Any], odd: str) -> dict[str, Any]:
    a, b, c = values
    scores: list[dict[str, Any]] = [
        {"name": "a", "number": a},
        {"name": "b", "passed": b},
        {"name": "c", "number": c},
    ]
    line: dict[str, Any] = {"record_id": f"r{row}", "evaluator": "e", "evaluator_ref": "e@1", "outcome": "scored"}
    match odd:
        case "another order":
            scores[1], scores[2] = scores[2], scores[1]
        case "one less":
            del scores[1]
        case "one more":
            scores.insert(1, {"name": "d", "number": 1.0})
        case "explained":
            scores[0]["explanation"] = '},{"name":"b","passed":true'
        case "an error":
            return line | {"outcome": "error", "scores": [], "reason": "it broke"}
        case "a hostile id":
            line["record_id"] = ',"evaluator":"e","outcome":"scored"'
        case "another duration":
            return line | {"scores": scores, "duration_ms": 7.0}
        case _:
            pass
    return line | {"scores": scores, "duration_ms": 1.5}


def _shown(columns: EvaluatorColumns) -> str:
    """All of it as text, in which a NaN is like a NaN."""
    return repr((columns.outcomes, columns.columns, columns.notes, columns.evaluator, columns.primary))


_ODD = st.sampled_from(
    [
        *[""] * 8,
        "another order",
        "one less",
        "one more",
        "explained",
        "an error",
        "a hostile id",
        "another duration",
    ]
)


@given(
    st.lists(st.tuples(st.tuples(_NUMBER, st.booleans(), _NUMBER), _ODD), min_size=1, max_size=12),
    st.sampled_from([(b",\n", b"\n"), (b",\n", b",\n"), (b"\n", b"\n"), (b"", b""), (b"\n", b"")]),
)
def test_lines_cut_apart_say_what_lines_decoded_one_by_one_say(
    rows: list[tuple[tuple[Any, bool, Any], str]], ends: tuple[bytes, bytes]
) -> None:
    texts = [json.dumps(_line(row, *each), separators=(",", ":")).encode() for row, each in enumerate(rows)]
    lines = [text + (ends[1] if row == len(texts) - 1 else ends[0]) for row, text in enumerate(texts)]
    expected = columns_of_results([RESULT.decode(text) for text in texts], _DECLARED)
    assert _shown(columns_of_lines(lines, _DECLARED)) == _shown(expected)
