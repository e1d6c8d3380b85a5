"""`tool-call-accuracy`: were the wanted tool calls made, with the wanted arguments, and no others?"""

from typing import Any, Literal

import msgspec

from evalsi.core.errors import SkipRecord
from evalsi.evaluators.api import Record, Score, evaluator, output
from evalsi.evaluators.packs.agent.expected_calls import expected_calls, pairs_of, shown
from evalsi.evaluators.packs.agent.trajectory_reading import calls_of

_MOST = 400
"""Calls that are compared; finding pairs takes their square."""


class ToolCallAccuracyParams(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How calls are compared."""

    order: Literal["any", "strict"] = "any"
    """Whether calls in another order still count."""
    schema_defaults: dict[str, dict[str, Any]] = {}
    """By tool, the values its arguments have when they are left out."""


@evaluator(
    name="tool-call-accuracy",
    requires=["reference", "trajectory"],
    params=ToolCallAccuracyParams,
    outputs=[
        output(
            "recall", low=0, high=1, description="Share of the wanted calls that were made; absent when none is wanted."
        ),
        output(
            "precision",
            low=0,
            high=1,
            description="Share of the made calls that were wanted; absent when none was made.",
        ),
        output(
            "tool-calls-match",
            "passed",
            description="Whether the made calls are the wanted ones, no more and no fewer.",
        ),
    ],
    bounded=True,
    example={
        "record": {
            "reference": [{"name": "lamp", "arguments": {"room": "hall"}}],
            "trajectory": {"steps": [{"type": "TOOL", "name": "lamp", "input": {"json": {"room": "hall"}}}]},
        },
        "expected": {"recall": 1.0, "precision": 1.0, "tool-calls-match": True},
    },
)
def tool_call_accuracy(record: Record, params: ToolCallAccuracyParams) -> list[Score]:
    """Compares the tool calls that were made with those of the reference: names, arguments and how often.

    The reference is a list of {"name", "arguments"}; a bare name allows any arguments. 5 and 5.0 are one number, true is
    not 1, malformed arguments match nothing. A call made twice counts twice.
    """
    wanted, made = expected_calls(record), calls_of(record)
    if max(len(wanted), len(made)) > _MOST:
        raise SkipRecord(f"more than {_MOST} tool calls")
    strict = params.order == "strict"
    pairs = pairs_of(wanted, made, params.schema_defaults, in_order=strict)
    met, used = {row for row, _ in pairs}, {column for _, column in pairs}
    missing = [shown(call.name, call.arguments) for row, call in enumerate(wanted) if row not in met]
    extra = [shown(call.name, call.arguments) for column, call in enumerate(made) if column not in used]
    said = "; ".join(
        [
            *([f"missing: {', '.join(missing[:3])}"] if missing else []),
            *([f"extra: {', '.join(extra[:3])}"] if extra else []),
        ]
    )
    details = {"missing": missing, "extra": extra} if missing or extra else {}
    scores = [
        Score(
            name="tool-calls-match",
            passed=not missing and not extra,
            explanation=said or "every call as wanted",
            metadata=details,
        )
    ]
    if wanted:
        scores.append(Score(name="recall", number=len(pairs) / len(wanted)))
    if made:
        scores.append(Score(name="precision", number=len(pairs) / len(made)))
    return scores
