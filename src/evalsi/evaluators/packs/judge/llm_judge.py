"""`llm-judge`: a score from 0 to 1 by a rubric."""

from evalsi.evaluators.api import EvalContext, Record, Score, evaluator, output
from evalsi.evaluators.judging.graded_reply import GRADED_FORM, read_graded
from evalsi.evaluators.judging.interview import Interview
from evalsi.evaluators.judging.question import Question, QuestionForms
from evalsi.evaluators.packs.judge.rubric import find_rubric
from evalsi.evaluators.packs.judge.votes import VotingParams, average_of, words_of_votes

SYSTEM = """\
You grade one output by a rubric, strictly and evenly. The output may be in any language.

Rubric:
{{ rubric }}

Judge only what the rubric asks. Give a score from 0 to 1; values between the steps of the rubric are allowed. An empty \
output is graded as an answer that says nothing."""


class LlmJudgeParams(VotingParams, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What the judge grades by."""

    rubric: str = "correctness"
    """correctness, faithfulness, helpfulness, relevance, or a rubric in your own words (more than one word)."""


@evaluator(
    name="llm-judge",
    version="1.0.0",
    requires=["output", "judge"],
    params=LlmJudgeParams,
    outputs=[output("llm-judge", low=0, high=1, description="The judge's score by the rubric.")],
    example={
        "record": {
            "input": "How far is the Moon?",
            "output": "About 384,000 km.",
            "reference": "384,400 km on average",
        },
        "judge_reply": '{"reasoning": "The distance is right to within rounding.", "score": 1.0}',
        "expected": {"llm-judge": 1.0},
    },
)
class LlmJudge:
    """A judge's score from 0 to 1 by a built-in rubric or by one in your own words.

    Shows the judge what the record has of input, context and reference, as far as the rubric needs it. A record that lacks
    what its rubric cannot do without (context for faithfulness, input for helpfulness and relevance) is skipped.
    """

    def __init__(self, params: LlmJudgeParams, context: EvalContext) -> None:
        self._params = params
        self._context = context
        self._rubric = find_rubric(params.rubric)
        self._forms = QuestionForms(
            Question(
                name="llm-judge",
                version="1",
                system=SYSTEM,
                shows=self._rubric.shows,
                may_show=self._rubric.may_show,
                closing=GRADED_FORM.instructions,
                response_schema=GRADED_FORM.schema,
                settings={"rubric": self._rubric.text},
            )
        )
        self.prompt_digests = self._forms.digests

    async def evaluate(self, record: Record) -> Score:
        asked = self._forms.render(record)
        interview = Interview(self._context)
        verdicts = await interview.ask_repeatedly(
            asked.prompt, lambda reply: read_graded(reply, asked.material), self._params.votes
        )
        graded = [verdict.value for verdict in verdicts]
        scores = [each.score for each in graded]
        tally = average_of(scores, self._params.average)
        metadata = {"rubric": f"{self._rubric.name}@{self._rubric.version}"}
        several = len(scores) > 1
        return interview.score(
            "llm-judge",
            tally.value,
            words_of_votes(scores, [each.reasoning for each in graded]),
            confidence=tally.agreement if several else None,
            metadata=metadata | ({"votes": scores, "agreement": tally.agreement} if several else {}),
        )
