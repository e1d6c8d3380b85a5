"""`context-precision` and `context-relevance`: which of the retrieved passages are of use for the question?

One module because both put the same question and differ only in what they make of the verdicts; with a cache, naming both
asks once.
"""

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from evalsi.core.content import text_of
from evalsi.evaluators.api import EvalContext, Record, Score, evaluator, output
from evalsi.evaluators.judging.interview import Interview
from evalsi.evaluators.judging.question import Question, QuestionForms, require_text
from evalsi.judges.replies.json_form import FlagField, TextField
from evalsi.judges.replies.numbered import numbered_form, read_numbered

PASSAGES_FORM = numbered_form("passages", "passage", (TextField("reason", about="one sentence"), FlagField("relevant")))
SYSTEM = """\
You judge which passages are of use for answering a question. A passage is relevant when it holds something that the answer \
needs, if only a part of it; the reference answer, where one is shown, says what is needed. A passage on the same subject \
that adds nothing to the answer is not relevant. Judge each passage by itself. Each stands between tags of its own, which \
bear its number: <passages-1-CODE> is passage 1; numbers inside a passage are part of its text."""
_VERSION = "1"


@lru_cache(maxsize=256)
def _forms(count: int) -> QuestionForms:
    """The question for a number of passages. Each is fenced by itself, so that none can pose as two."""
    passages = "\n\n".join(f"{{{{ passages.{number} }}}}" for number in range(1, count + 1))
    return QuestionForms(
        Question(
            name="passage-relevance",
            version=_VERSION,
            system=SYSTEM,
            shows=("input",),
            may_show=("reference",),
            closing=f"The passages:\n{passages}\n\nGive a verdict on every passage.\n{PASSAGES_FORM.instructions}",
            response_schema=PASSAGES_FORM.schema,
        )
    )


class _PassageRelevance:
    """Asks which passages are relevant."""

    def __init__(self, context: EvalContext) -> None:
        self._context = context
        # The template repeats one line per passage; its digest for one passage stands for all.
        self.prompt_digests = {f"{name}, one passage": value for name, value in _forms(1).digests.items()}

    async def judge_passages(self, record: Record) -> tuple[Interview, list[dict[str, Any]]]:
        """The verdicts in the order of retrieval. Raises: SkipRecord: there is no text in the passages."""
        require_text(record, "context")
        texts = [text_of(passage) for passage in record.context]
        values = {str(number): text for number, text in enumerate(texts, 1)}
        asked = _forms(len(texts)).render(record, {"passages": values})
        interview = Interview(self._context)
        verdict = await interview.ask(
            asked.prompt, lambda reply: read_numbered(reply, PASSAGES_FORM, len(texts), material=asked.material)
        )
        return interview, verdict.value


@evaluator(
    name="context-precision",
    version="1.0.0",
    requires=["input", "context", "judge"],
    outputs=[
        output(
            "context-precision", low=0, high=1, description="Average precision of the passages in order of retrieval."
        )
    ],
    example={
        "record": {
            "input": "When is the library open?",
            "context": ["The library has 40,000 books.", "The library is open from 9 to 18."],
        },
        "judge_reply": '{"passages": [{"passage": 1, "reason": "It says nothing of hours.", "relevant": false}, '
        '{"passage": 2, "reason": "It gives the hours.", "relevant": true}]}',
        "expected": {"context-precision": 0.5},
    },
)
class ContextPrecision(_PassageRelevance):
    """Whether retrieval put the relevant passages first: their average precision by rank.

    1 when every relevant passage stands before every other one, 0 when none is relevant. The judge decides which are, by
    the input and, where there is one, the reference.
    """

    async def evaluate(self, record: Record) -> Score:
        interview, rows = await self.judge_passages(record)
        relevant = [row["relevant"] for row in rows]
        return interview.score(
            "context-precision", average_precision(relevant), _explained(rows), metadata={"relevant": relevant}
        )


@evaluator(
    name="context-relevance",
    version="1.0.0",
    requires=["input", "context", "judge"],
    outputs=[output("context-relevance", low=0, high=1, description="Share of the passages that are relevant.")],
    example={
        "record": {
            "input": "When is the library open?",
            "context": ["The library has 40,000 books.", "The library is open from 9 to 18."],
        },
        "judge_reply": '{"passages": [{"passage": 1, "reason": "It says nothing of hours.", "relevant": false}, '
        '{"passage": 2, "reason": "It gives the hours.", "relevant": true}]}',
        "expected": {"context-relevance": 0.5},
    },
)
class ContextRelevance(_PassageRelevance):
    """Share of the retrieved passages that are relevant, wherever they stand: how much of the context is noise.

    Puts the same question as context-precision.
    """

    async def evaluate(self, record: Record) -> Score:
        interview, rows = await self.judge_passages(record)
        relevant = [row["relevant"] for row in rows]
        return interview.score(
            "context-relevance", sum(relevant) / len(relevant), _explained(rows), metadata={"relevant": relevant}
        )


def average_precision(relevant: Sequence[bool]) -> float:
    """Mean, over the relevant ranks k, of the share of relevant items among the first k; 0 when none is relevant.

    Args:
        relevant: By rank, best first.
    Source: Manning, Raghavan & Schütze (2008), Introduction to Information Retrieval, section 8.4, with the retrieved
        relevant items as all relevant ones: what was not retrieved is a matter of recall.
    """
    found = 0
    total = 0.0
    for rank, hit in enumerate(relevant, 1):
        if hit:
            found += 1
            total += found / rank
    return total / found if found else 0.0


def _explained(rows: Sequence[dict[str, Any]]) -> str:
    lines = [
        f"[{row['passage']}] {'relevant' if row['relevant'] else 'not relevant'}"
        + (f": {row['reason']}" if row["reason"] else "")
        for row in rows
    ]
    return "\n".join(lines)
