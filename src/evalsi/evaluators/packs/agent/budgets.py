"""`step-budget` and `agent-efficiency`: what did the agent take to get there, and was it within bounds?"""

from typing import Annotated

import msgspec

from evalsi.core.errors import SkipRecord
from evalsi.evaluators.api import Record, Score, evaluator, output
from evalsi.evaluators.packs.agent.trajectory_reading import calls_of, work_steps
from evalsi.schema import Usage
from evalsi.traces import total_usage

_Count = Annotated[int, msgspec.Meta(ge=0)]
_Amount = Annotated[float, msgspec.Meta(ge=0)]


class StepBudgetParams(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The bounds; without one there is no verdict."""

    max_steps: _Count | None = None
    """Model calls, tool calls, searches and hand-overs together."""
    max_tool_calls: _Count | None = None


@evaluator(
    name="step-budget",
    requires=["trajectory"],
    params=StepBudgetParams,
    outputs=[
        output("steps", low=0, higher_is_better=False, description="Model calls, tool calls, searches and hand-overs."),
        output("tool_calls", low=0, higher_is_better=False, description="Tool calls, each once."),
        output("within-budget", "passed", description="Whether both bounds were kept; absent without a bound."),
    ],
    bounded=True,
    example={
        "record": {"trajectory": {"steps": [{"type": "LLM"}, {"type": "TOOL", "name": "look"}]}},
        "params": {"max_steps": 1},
        "expected": {"steps": 2, "tool_calls": 1, "within-budget": False},
    },
)
def step_budget(record: Record, params: StepBudgetParams) -> list[Score]:
    """How many steps and tool calls were made, and whether that is within the bounds."""
    steps, calls = len(work_steps(record)), len(calls_of(record))
    scores = [Score(name="steps", number=float(steps)), Score(name="tool_calls", number=float(calls))]
    bounds = (("steps", steps, params.max_steps), ("tool calls", calls, params.max_tool_calls))
    return scores + _verdict(bounds)


class AgentEfficiencyParams(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The bounds; without one there is no verdict."""

    max_steps: _Count | None = None
    max_tokens: _Count | None = None
    """Tokens read and written together."""
    max_cost_usd: _Amount | None = None
    max_latency_s: _Amount | None = None


@evaluator(
    name="agent-efficiency",
    params=AgentEfficiencyParams,
    outputs=[
        output("within-budget", "passed", description="Whether every bound was kept; absent without a bound."),
        output(
            "agent-steps", low=0, higher_is_better=False, description="Model calls, tool calls, searches, hand-overs."
        ),
        output("agent-tokens", low=0, higher_is_better=False, description="Tokens read and written."),
        output(
            "agent-cost-usd", low=0, higher_is_better=False, description="US dollars; absent when a price is unknown."
        ),
        output("agent-latency-s", low=0, higher_is_better=False, description="Seconds from start to end."),
    ],
    bounded=True,
    example={
        "record": {
            "output": "done",
            "usage": {"input_tokens": 900, "output_tokens": 100, "cost_usd": 0.02},
            "trajectory": {"steps": [{"type": "LLM"}]},
        },
        "params": {"max_cost_usd": 0.01},
        "expected": {"within-budget": False, "agent-steps": 1, "agent-tokens": 1000, "agent-cost-usd": 0.02},
    },
)
def agent_efficiency(record: Record, params: AgentEfficiencyParams) -> list[Score]:
    """Steps, tokens, cost and latency of the record, and whether they are within the bounds.

    What was not measured has no number, and a bound on it has no verdict: an unknown cost is never within a budget. SKIPPED
    when nothing was measured.
    """
    steps = len(work_steps(record)) if record.trajectory is not None else None
    usage = record.usage or (total_usage(record.trajectory.steps) if record.trajectory is not None else None) or Usage()
    known = usage.input_tokens is not None and usage.output_tokens is not None
    tokens = (usage.input_tokens or 0) + (usage.output_tokens or 0) if known else None
    cost = usage.cost_usd if not usage.unpriced_requests else None
    measured: dict[str, float | None] = {
        "agent-steps": steps,
        "agent-tokens": tokens,
        "agent-cost-usd": cost,
        "agent-latency-s": usage.latency,
    }
    scores = [Score(name=name, number=float(value)) for name, value in measured.items() if value is not None]
    if not scores:
        raise SkipRecord("the record has neither a trajectory nor usage")
    limits = (params.max_steps, params.max_tokens, params.max_cost_usd, params.max_latency_s)
    named = zip(("steps", "tokens", "US dollars", "seconds"), measured.values(), limits, strict=True)
    return scores + _verdict([(name, value, limit) for name, value, limit in named])


def _verdict(bounds: "tuple[_Bound, ...] | list[_Bound]") -> list[Score]:
    """One verdict over the bounds that are set: failed when one is broken, none when one cannot be told."""
    asked = [bound for bound in bounds if bound[2] is not None]
    over = [
        f"{value:g} {name} of {limit:g}" for name, value, limit in asked if value is not None and value > (limit or 0)
    ]
    if over:
        return [Score(name="within-budget", passed=False, explanation=f"too many: {', '.join(over)}")]
    if not asked or any(value is None for _, value, _ in asked):
        return []
    return [Score(name="within-budget", passed=True, explanation="within every bound")]


_Bound = tuple[str, float | None, float | None]
