"""`correctness`: how right an output is, against a reference answer."""

from evalsi.evaluators.api import EvalContext, Record, Score, evaluator, output
from evalsi.evaluators.judging.question import Question
from evalsi.evaluators.judging.verdict_question import VerdictQuestion

SYSTEM = """\
You grade how correct an output is, against a reference answer that you take to be right. The output may be in another \
language than the reference.

Compare what the output says with what the reference says, fact by fact, then give a score:
1.0: says everything essential that the reference says, and contradicts none of it.
0.75: right in substance; a minor detail is missing or imprecise.
0.5: partly right: an important part is missing or wrong.
0.25: mostly wrong, with something of the reference in it.
0.0: contradicts the reference, says nothing of it, refuses, or is empty.

The same fact in other words, units or number formats is the same fact. Length, style and politeness do not count. What the \
output adds counts only where it contradicts the reference. If the output gives several answers, its final one counts; if \
it leaves open which one it means, it has not answered. A reference that lists alternatives is met by any of them."""


@evaluator(
    name="correctness",
    version="1.0.0",
    requires=["output", "reference", "judge"],
    outputs=[output("correctness", low=0, high=1, description="How much of the reference the output gets right.")],
    example={
        "record": {"input": "Who wrote Emma, and when?", "output": "Jane Austen.", "reference": "Jane Austen, in 1815"},
        "judge_reply": '{"reasoning": "The author is right; the year is missing.", "score": 0.5}',
        "expected": {"correctness": 0.5},
    },
)
class Correctness:
    """A judge's score from 0 to 1 for how far the output says what the reference says.

    Half and quarter marks are for answers that are partly right; wording, language and length do not count. An empty
    output is an answer and scores what the judge gives it; an empty reference is skipped.
    """

    def __init__(self, context: EvalContext) -> None:
        question = Question(
            name="correctness", version="1", system=SYSTEM, shows=("reference", "output"), may_show=("input",)
        )
        self._question = VerdictQuestion(question, context)
        self.prompt_digests = self._question.digests

    async def evaluate(self, record: Record) -> Score:
        return await self._question.ask(record)
