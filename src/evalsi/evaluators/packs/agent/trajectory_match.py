"""`trajectory-match`: did the agent go the wanted way?"""

from typing import Literal

import msgspec

from evalsi.core.errors import SkipRecord
from evalsi.evaluators.api import Record, Score, evaluator, output
from evalsi.evaluators.packs.agent.expected_calls import expected_calls, pairs_of, shown
from evalsi.evaluators.packs.agent.trajectory_reading import calls_of

_MOST = 400


class TrajectoryMatchParams(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which ways count."""

    mode: Literal["strict", "unordered", "subset", "superset", "in_order"] = "strict"
    """strict: the same calls in the same order. unordered: the same calls. superset: at least the wanted ones. subset: no
    other than the wanted ones. in_order: the wanted ones in their order, others between them."""


@evaluator(
    name="trajectory-match",
    requires=["reference", "trajectory"],
    params=TrajectoryMatchParams,
    outputs=[output("trajectory-match", "passed", description="Whether the calls are those of the reference.")],
    bounded=True,
    example={
        "record": {
            "reference": ["search", "open"],
            "trajectory": {"steps": [{"type": "TOOL", "name": "search"}, {"type": "TOOL", "name": "mail"}]},
        },
        "expected": {"trajectory-match": False},
    },
)
def trajectory_match(record: Record, params: TrajectoryMatchParams) -> Score:
    """Passes when the tool calls are those of the reference, by mode; a call made twice is two calls.

    The reference is a list of names or of {"name", "arguments"}. A miss names the first call that is missing and the
    first that is extra.
    """
    wanted, made = expected_calls(record), calls_of(record)
    if max(len(wanted), len(made)) > _MOST:
        raise SkipRecord(f"more than {_MOST} tool calls")
    ordered = params.mode in ("strict", "in_order")
    pairs = pairs_of(wanted, made, in_order=ordered)
    met, used = {row for row, _ in pairs}, {column for _, column in pairs}
    missing = next((shown(call.name, call.arguments) for row, call in enumerate(wanted) if row not in met), None)
    extra = next((shown(call.name, call.arguments) for place, call in enumerate(made) if place not in used), None)
    match params.mode:
        case "strict" | "unordered":
            passed = missing is None and extra is None
        case "superset" | "in_order":
            passed = missing is None
        case "subset":
            passed = extra is None
    said = [f"first missing: {missing}"] if missing is not None else []
    said += [f"first extra: {extra}"] if extra is not None else []
    if not made:
        said.append("no tool was called")
    return Score(
        name="trajectory-match",
        passed=passed,
        explanation="; ".join(said) or "every call as wanted",
        metadata={key: value for key, value in (("missing", missing), ("extra", extra)) if value is not None},
    )
