"""`pairwise-preference`: which of two outputs is better, asked in both orders so that position cannot decide.

Source of the procedure: Zheng et al. (2023), Judging LLM-as-a-Judge with MT-Bench and Chatbot Arena, section 3.4: a
preference counts only when it survives the swap.
"""

from typing import Annotated, Literal, TypeAlias

import msgspec

from evalsi.core.content import text_of
from evalsi.core.errors import SkipRecord
from evalsi.evaluators.api import EvalContext, Record, Score, evaluator, output
from evalsi.evaluators.judging.interview import Interview
from evalsi.evaluators.judging.question import Question, QuestionForms
from evalsi.judges.replies.preference import Preference, read_preference
from evalsi.judges.replies.reasoning import without_reasoning
from evalsi.ports.judge import Verdict

SYSTEM = """\
You compare two answers to the same input and say which is better.

What makes an answer better:
{{ criteria }}

The order in which the answers are shown says nothing about them, nor do their length and style unless the criteria name \
them. Say 'tie' when neither is clearly better."""
DEFAULT_CRITERIA = """\
It answers what was asked, its facts are right (the reference answer is right where one is shown), it leaves out nothing \
important, and it is clear."""
CLOSING = """\
Answer A:
{{ answer_a }}

Answer B:
{{ answer_b }}

In one to three sentences, say what decides it. Then end with a last line 'Verdict: A', 'Verdict: B' or 'Verdict: tie'."""

Side: TypeAlias = Literal["record", "baseline", "tie"]


class PairwisePreferenceParams(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What decides."""

    criteria: Annotated[str, msgspec.Meta(min_length=1, pattern=r"\S")] = DEFAULT_CRITERIA
    """What makes an answer better, in your own words."""


@evaluator(
    name="pairwise-preference",
    version="1.0.0",
    scope="comparative",
    requires=["output", "judge"],
    params=PairwisePreferenceParams,
    outputs=[
        output(
            "pairwise-preference",
            low=0,
            high=1,
            description="1 where the output is preferred to the baseline's, 0.5 for a tie, 0 where the baseline is preferred.",
        ),
        output("consistent", "passed", description="The verdict is the same in both orders."),
        msgspec.structs.replace(
            output(
                "favoured-position",
                "label",
                higher_is_better=None,
                description="The position that won in both orders: the judge followed the order, not the answers.",
            ),
            labels=["first", "second", "neither"],
        ),
    ],
    example={
        "record": {"input": "Is the shop open on Sunday?", "output": "Yes, from 10 to 4."},
        "baseline": {"input": "Is the shop open on Sunday?", "output": "Yes."},
        "judge_reply": ["A gives the hours.\nVerdict: A", "B gives the hours.\nVerdict: B"],
        "expected": {"pairwise-preference": 1.0, "consistent": True, "favoured-position": "neither"},
    },
)
class PairwisePreference:
    """Whether a judge prefers the output to the baseline's output for the same record.

    Asked twice, each output first once. A preference counts when it is the same both times; otherwise the result is a tie
    and not `consistent`. Two equal outputs are a tie without a question.
    """

    def __init__(self, params: PairwisePreferenceParams, context: EvalContext) -> None:
        self._context = context
        self._forms = QuestionForms(
            Question(
                name="pairwise-preference",
                version="1",
                system=SYSTEM,
                shows=(),
                may_show=("input", "context", "reference"),
                closing=CLOSING,
                settings={"criteria": params.criteria.strip()},
            )
        )
        self.prompt_digests = self._forms.digests

    async def evaluate(self, record: Record, baseline: Record) -> list[Score]:
        if baseline.output is None:
            raise SkipRecord("the baseline has no output")
        ours, theirs = text_of(record.output), text_of(baseline.output)
        if ours == theirs:
            return [
                Score(
                    name="pairwise-preference", number=0.5, explanation="The outputs are the same; no judge was asked."
                ),
                Score(name="consistent", passed=True),
                Score(name="favoured-position", label="neither"),
            ]
        interview = Interview(self._context)
        first = await self._compare(interview, record, ours, theirs)
        second = await self._compare(interview, record, theirs, ours)
        sides = (_side(first.value, "record", "baseline"), _side(second.value, "baseline", "record"))
        consistent = sides[0] == sides[1]
        side = sides[0] if consistent else "tie"
        explanation = f"Shown first ({_prefers(sides[0])}): {_words(first)}\nShown second ({_prefers(sides[1])}): {_words(second)}"
        return [
            interview.score(
                "pairwise-preference",
                {"record": 1.0, "tie": 0.5, "baseline": 0.0}[side],
                explanation,
                metadata={"shown_first": sides[0], "shown_second": sides[1]},
            ),
            Score(name="consistent", passed=consistent),
            Score(name="favoured-position", label=_favoured(first.value, second.value)),
        ]

    async def _compare(self, interview: Interview, record: Record, a: str, b: str) -> Verdict[Preference]:
        asked = self._forms.render(record, {"answer_a": a, "answer_b": b})
        return await interview.ask(asked.prompt, lambda reply: read_preference(reply, material=asked.material))


def _side(preference: Preference, a: Side, b: Side) -> Side:
    return a if preference == "A" else b if preference == "B" else "tie"


def _favoured(first: Preference, second: Preference) -> str:
    if first != second or first == "tie":
        return "neither"
    return "first" if first == "A" else "second"


def _prefers(side: Side) -> str:
    return {"record": "prefers it", "baseline": "prefers the baseline", "tie": "tie"}[side]


def _words(verdict: Verdict[Preference]) -> str:
    return (without_reasoning(verdict.reply).text or "").strip()
