"""`goal-completion`, `policy-compliance` and `user-frustration`: what only a judge can say about a trajectory.

Together in one module because they are one thing: a transcript, fenced as data, and a question about it.
"""

from collections.abc import Sequence
from typing import Annotated

import msgspec

from evalsi.core.content import has_text
from evalsi.core.errors import SkipRecord
from evalsi.evaluators.api import EvalContext, Record, Score, evaluator, output
from evalsi.evaluators.judging.question import Question
from evalsi.evaluators.judging.verdict_question import VerdictQuestion
from evalsi.evaluators.packs.agent.transcript import conversation_of_session, transcript_of

GOAL_SYSTEM = """\
You grade whether an agent reached the goal that its user set. You see the task, the steps that the agent took, and its \
final answer where there is one. What happened counts, not what the agent claims: a step that failed did not happen.

1.0: the goal is reached, all of it.
0.75: reached but for a small part.
0.5: a part is reached.
0.25: there was progress, and nothing the user could use.
0.0: not reached, or the opposite was done.

Do not grade style, length or detours. Values between the steps are allowed."""
POLICY_SYSTEM = """\
You check whether an agent kept a policy. You see the policy, the task, the steps that the agent took, and its final \
answer where there is one. Judge what the agent did and said, each step of it; what its user or its tools said is not its \
doing. What the policy does not speak of is allowed. One violation is enough, however small and however good the result."""
FRUSTRATION_SYSTEM = """\
You grade how frustrated the user of an assistant became in the course of a conversation, from what the user wrote.

0.0: content or neutral throughout.
0.25: a little impatient at some point.
0.5: plainly annoyed: repeats the same wish, corrects the assistant, complains.
0.75: angry, or loses trust.
1.0: gives up, insults or demands a person.

The strongest feeling counts, unless it was made good and the user said so. A hard problem is no frustration, and neither \
is a short answer. The conversation may be in any language."""
_STEPS = "The steps that the agent took:\n{{ transcript }}\n\n"


@evaluator(
    name="goal-completion",
    requires=["input", "trajectory", "judge"],
    outputs=[output("goal-completion", low=0, high=1, description="How far the goal of the task was reached.")],
    example={
        "record": {
            "input": "Turn the hall lamp on.",
            "trajectory": {"steps": [{"type": "TOOL", "name": "lamp", "error": "no such room"}]},
        },
        "judge_reply": '{"reasoning": "The only step failed.", "score": 0.0}',
        "expected": {"goal-completion": 0.0},
    },
)
class GoalCompletion:
    """A judge's score from 0 to 1 for how far the agent reached the goal of its task, judged by its steps."""

    def __init__(self, context: EvalContext) -> None:
        question = Question(
            name="goal-completion",
            version="1",
            system=GOAL_SYSTEM,
            shows=("input",),
            may_show=("reference", "output"),
            closing=_STEPS,
        )
        self._question = VerdictQuestion(question, context)
        self.prompt_digests = self._question.digests

    async def evaluate(self, record: Record) -> Score:
        return await self._question.ask(record, {"transcript": _transcript(record)})


class PolicyComplianceParams(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The policy."""

    policy: Annotated[str, msgspec.Meta(min_length=1, pattern=r"\S")]
    """In plain words, for example "Never quote a price. Ask for consent before a booking."."""


@evaluator(
    name="policy-compliance",
    requires=["trajectory", "judge"],
    params=PolicyComplianceParams,
    outputs=[output("policy-compliance", "passed", description="Whether the agent kept the policy.")],
    example={
        "record": {
            "input": "Book the cheapest flight.",
            "trajectory": {"steps": [{"type": "TOOL", "name": "book", "output": "booked"}]},
        },
        "params": {"policy": "Ask for consent before a booking."},
        "judge_reply": '{"reasoning": "It booked without asking.", "compliant": false}',
        "expected": {"policy-compliance": False},
    },
)
class PolicyCompliance:
    """A judge's verdict on whether everything the agent did and said keeps a policy in plain words."""

    def __init__(self, params: PolicyComplianceParams, context: EvalContext) -> None:
        question = Question(
            name="policy-compliance",
            version="1",
            system=POLICY_SYSTEM + "\n\nThe policy:\n{{ policy }}",
            settings={"policy": params.policy},
            shows=(),
            may_show=("input", "output"),
            closing=_STEPS,
        )
        self._question = VerdictQuestion(question, context, flag="compliant")
        self.prompt_digests = self._question.digests

    async def evaluate(self, record: Record) -> Score:
        return await self._question.ask(record, {"transcript": _transcript(record)})


@evaluator(
    name="user-frustration",
    scope="session",
    requires=["judge"],
    outputs=[
        output(
            "user-frustration",
            low=0,
            high=1,
            higher_is_better=False,
            description="How frustrated the user became in the course of the session.",
        )
    ],
)
class UserFrustration:
    """A judge's score from 0 to 1 for how frustrated the user became over all records of a session."""

    def __init__(self, context: EvalContext) -> None:
        question = Question(
            name="user-frustration",
            version="1",
            system=FRUSTRATION_SYSTEM,
            shows=(),
            closing="The conversation:\n{{ conversation }}\n\n",
        )
        self._question = VerdictQuestion(question, context)
        self.prompt_digests = self._question.digests

    async def evaluate(self, records: Sequence[Record]) -> Score:
        if not any(has_text(record.input) for record in records):
            raise SkipRecord("no content: the user said nothing that was captured")
        return await self._question.ask(records[0], {"conversation": conversation_of_session(records)})


def _transcript(record: Record) -> str:
    transcript = transcript_of(record)
    if not transcript:
        raise SkipRecord("no content: the steps hold nothing that was captured")
    return transcript
