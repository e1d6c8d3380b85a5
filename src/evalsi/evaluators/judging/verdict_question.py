"""A question that has one answer with its reason: a score from 0 to 1, or yes or no.

Its own module because most judged metrics are this and nothing else: they say what is asked and what is shown, and here
the form of the reply is added, the judge is asked, and the answer becomes the metric's only score.
"""

from collections.abc import Mapping
from typing import Any

import msgspec

from evalsi.evaluators.api import EvalContext
from evalsi.evaluators.judging.graded_reply import GRADED_FORM
from evalsi.evaluators.judging.interview import Interview
from evalsi.evaluators.judging.question import Question, QuestionForms
from evalsi.judges.replies.json_form import FlagField, JsonForm, TextField
from evalsi.schema import Record, Score


class VerdictQuestion:
    """A question, put to the judge about one record after the other.

    Args:
        question: What is asked. Its name is that of the score; its closing ends before the form of the reply, which is
            added here.
        context: Lends the judge.
        flag: The name of the yes-or-no answer; without it the answer is a score from 0 to 1.
    """

    def __init__(self, question: Question, context: EvalContext, *, flag: str = "") -> None:
        self._name = question.name
        self._context = context
        self._answer = flag or "score"
        self._form = (
            JsonForm((TextField("reasoning", about="one or two sentences"), FlagField(flag))) if flag else GRADED_FORM
        )
        closing = question.closing + self._form.instructions
        self._forms = QuestionForms(
            msgspec.structs.replace(question, closing=closing, response_schema=self._form.schema)
        )

    @property
    def digests(self) -> dict[str, str]:
        """See `QuestionForms.digests`."""
        return self._forms.digests

    async def ask(self, record: Record, more: Mapping[str, str | Mapping[str, str]] | None = None) -> Score:
        """The judge's answer with its reason.

        Args:
            more: Values of the placeholders in the closing.

        Raises:
            SkipRecord: a field that the question cannot do without is blank.
            ReplyError, ProviderError, BudgetError: see `ports.judge.Judge.ask`.
        """
        asked = self._forms.render(record, more)
        interview = Interview(self._context)

        def read(reply: Any) -> dict[str, Any]:
            return self._form.read(reply, material=asked.material)

        verdict = await interview.ask(asked.prompt, read)
        return interview.score(self._name, verdict.value[self._answer], verdict.value["reasoning"])
