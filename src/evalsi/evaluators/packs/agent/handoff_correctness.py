"""`handoff-correctness`: did work that was handed over arrive, and at the right agents?"""

from typing import Any, cast

from evalsi.core.errors import SkipRecord
from evalsi.evaluators.api import Record, Score, evaluator, output
from evalsi.evaluators.packs.agent.trajectory_reading import trajectory_of
from evalsi.schema import StepType


@evaluator(
    name="handoff-correctness",
    requires=["trajectory"],
    outputs=[output("handoff-correctness", "passed", description="Whether every hand-over arrived where it should.")],
    bounded=True,
    example={
        "record": {
            "metadata": {"handoffs": ["billing"]},
            "trajectory": {
                "steps": [
                    {"type": "HANDOFF", "name": "sales"},
                    {"type": "AGENT", "name": "sales"},
                ]
            },
        },
        "expected": {"handoff-correctness": False},
    },
)
def handoff_correctness(record: Record) -> Score:
    """Passes when an agent of the name works after each hand-over, and the hand-overs are those of `metadata.handoffs`.

    `metadata.handoffs` lists the agents that should get the work, in order; without it only arrival is checked. SKIPPED when
    nothing was handed over and nothing should have been.
    """
    steps = trajectory_of(record).steps
    handed = [(place, step.name) for place, step in enumerate(steps) if step.type is StepType.HANDOFF]
    wanted: Any = record.metadata.get("handoffs")
    if not handed and wanted is None:
        raise SkipRecord("no work was handed over")
    lost = [
        name
        for place, name in handed
        if not any(step.type is StepType.AGENT and step.name == name for step in steps[place + 1 :])
    ]
    names = [name for _, name in handed]
    if lost:
        return Score(name="handoff-correctness", passed=False, explanation=f"never worked: {', '.join(lost)}")
    if isinstance(wanted, list) and names != [str(name) for name in cast("list[Any]", wanted)]:
        expected = " → ".join(str(name) for name in cast("list[Any]", wanted)) or "nobody"
        said = f"handed to {' → '.join(names) or 'nobody'}, should be {expected}"
        return Score(name="handoff-correctness", passed=False, explanation=said)
    return Score(name="handoff-correctness", passed=True, explanation=f"handed to {' → '.join(names) or 'nobody'}")
