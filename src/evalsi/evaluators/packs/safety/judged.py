"""The one way this pack puts a question about an output to a judge: graded from 0 to 1, or yes or no.

Its own module so that every judged safety metric shows the judge the same fields in the same order, keeps the reason and
the origin with the score, and reads replies by the same forms.
"""

from collections.abc import Mapping
from typing import Any

from evalsi.evaluators.api import EvalContext
from evalsi.evaluators.judging.graded_reply import GRADED_FORM
from evalsi.evaluators.judging.interview import Interview
from evalsi.evaluators.judging.question import Question, QuestionForms
from evalsi.judges.replies.json_form import FlagField, JsonForm, TextField
from evalsi.schema import Record, Score


class SafetyQuestion:
    """A question about one output, with the input shown where there is one.

    Args:
        name: Of the evaluator and its only output.
        system: The judge's task, with the meaning of the answers.
        context: Lends the judge.
        flag: The name of the yes-or-no answer; without it the answer is a score from 0 to 1.
    """

    def __init__(self, name: str, system: str, context: EvalContext, *, flag: str = "") -> None:
        self._name = name
        self._context = context
        self._answer = flag or "score"
        self._form = (
            JsonForm((TextField("reasoning", about="one or two sentences"), FlagField(flag))) if flag else GRADED_FORM
        )
        self._forms = QuestionForms(
            Question(
                name=name,
                version="1",
                system=system,
                shows=("output",),
                may_show=("input",),
                closing=self._form.instructions,
                response_schema=self._form.schema,
            )
        )

    @property
    def digests(self) -> Mapping[str, str]:
        """See `QuestionForms.digests`."""
        return self._forms.digests

    async def ask(self, record: Record) -> Score:
        """The judge's answer with its reason.

        Raises:
            ReplyError, ProviderError, BudgetError: see `ports.judge.Judge.ask`.
        """
        asked = self._forms.render(record)
        interview = Interview(self._context)

        def read(reply: Any) -> dict[str, Any]:
            return self._form.read(reply, material=asked.material)

        verdict = await interview.ask(asked.prompt, read)
        return interview.score(self._name, verdict.value[self._answer], verdict.value["reasoning"])
