"""`tool-errors`: how many tool calls failed, and did the agent get over it?"""

from evalsi.core.errors import SkipRecord
from evalsi.evaluators.api import Record, Score, evaluator, output
from evalsi.evaluators.packs.agent.trajectory_reading import calls_of, failure_of


@evaluator(
    name="tool-errors",
    requires=["trajectory"],
    outputs=[
        output(
            "tool-errors", low=0, high=1, higher_is_better=False, description="Share of the tool calls that failed."
        ),
        output(
            "tool-recovery",
            low=0,
            high=1,
            description="Share of the failed calls after which the same tool was called with success; absent when none failed.",
        ),
    ],
    bounded=True,
    example={
        "record": {
            "trajectory": {
                "steps": [
                    {"type": "TOOL", "name": "search", "error": "timeout"},
                    {"type": "TOOL", "name": "search", "output": "found"},
                ]
            }
        },
        "expected": {"tool-errors": 0.5, "tool-recovery": 1.0},
    },
)
def tool_errors(record: Record) -> list[Score]:
    """The share of tool calls that failed, and of those the share that a later call of the same tool made good.

    A call failed when its step says so or its result is an object with an error. SKIPPED when no tool was called.
    """
    calls = calls_of(record)
    if not calls:
        raise SkipRecord("no tool was called")
    failed = [place for place, call in enumerate(calls) if failure_of(call)]
    shown = [f"{calls[place].name}: {failure_of(calls[place])[:120]}" for place in failed[:3]]
    scores = [
        Score(
            name="tool-errors",
            number=len(failed) / len(calls),
            explanation=f"{len(failed)} of {len(calls)} calls failed" + (f": {'; '.join(shown)}" if shown else ""),
        )
    ]
    if failed:
        recovered = [
            place
            for place in failed
            if any(call.name == calls[place].name and not failure_of(call) for call in calls[place + 1 :])
        ]
        scores.append(Score(name="tool-recovery", number=len(recovered) / len(failed)))
    return scores
