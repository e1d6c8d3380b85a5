"""`answer-relevance`: does the output speak to what was asked?"""

from evalsi.evaluators.api import EvalContext, Record, Score, evaluator, output
from evalsi.evaluators.judging.question import Question
from evalsi.evaluators.judging.verdict_question import VerdictQuestion

SYSTEM = """\
You grade whether an output answers the question that its input asks, whatever the truth of the answer. The output may be \
in any language.

1.0: it answers the question, all of it, and says little else.
0.75: it answers the question, with a good deal beside it or a small part of the question passed over.
0.5: it answers part of the question.
0.25: it stays near the subject without answering.
0.0: it is about something else, is empty, or avoids the question.

Whether the answer is right does not count: a wrong answer to the question is relevant. Saying that the answer is not known \
is an answer only when that is what the question asks for. Values between the steps are allowed."""


@evaluator(
    name="answer-relevance",
    version="1.0.0",
    requires=["input", "output", "judge"],
    outputs=[output("answer-relevance", low=0, high=1, description="How far the output answers what was asked.")],
    example={
        "record": {"input": "How much is a day ticket?", "output": "Our trams run every ten minutes."},
        "judge_reply": '{"reasoning": "It is about trams but names no price.", "score": 0.25}',
        "expected": {"answer-relevance": 0.25},
    },
)
class AnswerRelevance:
    """A judge's score from 0 to 1 for how far the output answers the question that was asked, right or wrong."""

    def __init__(self, context: EvalContext) -> None:
        question = Question(name="answer-relevance", version="1", system=SYSTEM, shows=("input", "output"))
        self._question = VerdictQuestion(question, context)
        self.prompt_digests = self._question.digests

    async def evaluate(self, record: Record) -> Score:
        return await self._question.ask(record)
