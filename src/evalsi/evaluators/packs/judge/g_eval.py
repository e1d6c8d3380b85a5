"""`g-eval`: a rating by criteria and evaluation steps, weighed by the probabilities of the rating's token where there are any.

Source: Liu et al. (2023), G-Eval: NLG Evaluation using GPT-4 with Better Human Alignment, sections 2 and 3.
"""

import asyncio
from typing import Annotated, Any

import msgspec

from evalsi.core.errors import InvalidParamsError
from evalsi.evaluators.api import EvalContext, Record, Score, evaluator, output
from evalsi.evaluators.judging.interview import Interview
from evalsi.evaluators.judging.question import Question, QuestionForms
from evalsi.judges.prompt import Template
from evalsi.judges.replies.json_form import JsonForm, ListField
from evalsi.judges.replies.own_words import unreadable
from evalsi.judges.replies.probabilities import WeighedRating, expected_rating
from evalsi.judges.replies.rating import Scale, read_rating
from evalsi.judges.replies.reasoning import without_reasoning
from evalsi.ports.chat_model import ChatReply

STEPS_FORM = JsonForm((ListField("steps", about="three to seven steps, one sentence each"),))
STEPS_TEMPLATE = Template(
    name="g-eval-steps",
    version="1",
    system="""\
You prepare the evaluation of outputs of a language model. From the criteria you are given, write the steps that a careful \
evaluator follows to rate one output: what to read, what to look for, what lowers the rating. Three to seven steps, one \
sentence each. Do not rate anything yet.""",
    user="Criteria:\n{{ criteria }}\n\nScale: {{ scale }}\n\n" + STEPS_FORM.instructions,
    trusted=frozenset({"criteria", "scale"}),
    response_schema=STEPS_FORM.schema,
)
RATING_SYSTEM = """\
You rate one output by the criteria below, following the evaluation steps. The output may be in any language.

Criteria:
{{ criteria }}

Evaluation steps:
{{ steps }}"""
_REASON_FIRST = (
    "In one or two sentences, say what the rating rests on. Then end with a last line 'Rating: N' with N a whole number "
    "{scale}."
)
_RATING_ONLY = "Reply with one line and nothing else: 'Rating: N' with N a whole number {scale}."
_MOST_ALTERNATIVES = 20
"""As many alternatives per token as providers give."""


class GEvalParams(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What is rated, and how."""

    criteria: Annotated[str, msgspec.Meta(min_length=1, pattern=r"\S")]
    """What makes an output good, in your own words."""
    steps: list[str] = []
    """The evaluation steps. When none are given, the judge writes them from the criteria, once per run; give them to keep
    them the same from run to run."""
    low: int = 1
    """The lowest rating."""
    high: int = 5
    """The highest rating."""
    explain: bool = True
    """Whether the judge gives its reason before the rating. Without reasons the probabilities are spread more widely, as
    in the paper, and replies are shorter."""
    probabilities: bool = True
    """Whether to ask the provider for token probabilities; where it gives none, the rating counts as written."""

    def __post_init__(self) -> None:
        try:
            Scale(self.low, self.high)
        except InvalidParamsError as error:
            raise ValueError(error.message) from error
        if any(not step.strip() for step in self.steps):
            raise ValueError("an evaluation step is blank")


class _Rated(msgspec.Struct, frozen=True):
    """`written` is the rating in the reply, `weighed` its expectation where the reply carries probabilities."""

    written: float
    weighed: WeighedRating | None


@evaluator(
    name="g-eval",
    version="1.0.0",
    requires=["output", "judge"],
    params=GEvalParams,
    outputs=[
        output("g-eval", low=0, high=1, description="The rating, 0 for the lowest of the scale and 1 for the highest.")
    ],
    example={
        "record": {"input": "Summarise the minutes.", "output": "The board met. It agreed the budget, then closed."},
        "params": {
            "criteria": "Coherence: sentences build on each other and form a whole.",
            "steps": ["Read the output.", "Note sentences that do not follow from those before."],
        },
        "judge_reply": "The three sentences follow the order of the meeting.\nRating: 4",
        "expected": {"g-eval": 0.75},
    },
)
class GEval:
    """A judge's rating of a criterion, following evaluation steps, as a fraction of its scale.

    Where the provider gives token probabilities, the rating is their expectation, which tells apart outputs that get the
    same whole number; `rating_from` in the metadata says whether it was "token-probabilities" or the "reply". The metadata
    also hold the rating on its scale and, where the judge wrote them, the evaluation steps.
    """

    def __init__(self, params: GEvalParams, context: EvalContext) -> None:
        self._params = params
        self._context = context
        self._scale = Scale(params.low, params.high)
        self._scale_text = f"from {params.low} (worst) to {params.high} (best)"
        self._steps: list[str] | None = list(params.steps) or None
        self._turn: tuple[asyncio.AbstractEventLoop, asyncio.Lock] | None = None
        closing = (_REASON_FIRST if params.explain else _RATING_ONLY).format(scale=self._scale_text)
        question = Question(
            name="g-eval",
            version="1",
            system=RATING_SYSTEM,
            shows=("output",),
            may_show=("input", "context", "reference"),
            closing=closing,
            settings={"criteria": params.criteria.strip()},
            trusted=frozenset({"steps"}),
            top_logprobs=_MOST_ALTERNATIVES if params.probabilities else 0,
        )
        self._forms = QuestionForms(question)
        self.prompt_digests = self._forms.digests
        if self._steps is None:
            self.prompt_digests["g-eval-steps@1"] = STEPS_TEMPLATE.digest.removeprefix("sha256:")

    async def evaluate(self, record: Record) -> Score:
        interview = Interview(self._context)
        steps = self._steps or await self._write_steps(interview)
        numbered = "\n".join(f"{number}. {step}" for number, step in enumerate(steps, 1))
        asked = self._forms.render(record, {"steps": numbered})

        def read(reply: ChatReply) -> _Rated:
            rating = read_rating(reply, self._scale, material=asked.material)
            return _Rated(rating, expected_rating(reply, self._scale, rating))

        verdict = await interview.ask(asked.prompt, read)
        written, weighed = verdict.value.written, verdict.value.weighed
        rating = written if weighed is None else weighed.mean
        metadata: dict[str, Any] = {
            "rating": rating,
            "scale": [self._params.low, self._params.high],
            "rating_from": "reply" if weighed is None else "token-probabilities",
        }
        if weighed is not None:
            metadata["written_rating"] = written
            metadata["probabilities"] = {str(value): weight for value, weight in weighed.weights.items()}
            metadata["probability_on_scale"] = weighed.coverage
        if not self._params.steps:
            metadata["steps"] = steps
        words = without_reasoning(verdict.reply).text or ""
        return interview.score("g-eval", self._scale.normalise(rating), words.strip(), metadata=metadata)

    async def _write_steps(self, interview: Interview) -> list[str]:
        """Asks for the steps once; whoever comes meanwhile waits. The record that asks pays; a failure is its own."""
        async with self._lock():
            if self._steps is None:
                prompt = STEPS_TEMPLATE.render({"criteria": self._params.criteria.strip(), "scale": self._scale_text})
                self._steps = (await interview.ask(prompt, _read_steps)).value
            return self._steps

    def _lock(self) -> asyncio.Lock:
        """One lock per event loop: an evaluator that is bound once may be run in several, one after the other."""
        loop = asyncio.get_running_loop()
        if self._turn is None or self._turn[0] is not loop:
            self._turn = (loop, asyncio.Lock())
        return self._turn[1]


def _read_steps(reply: ChatReply) -> list[str]:
    written: list[str] = STEPS_FORM.read(reply)["steps"]
    steps = [" ".join(step.split()) for step in written if step.strip()]
    if not steps:
        raise unreadable(reply, "a list of evaluation steps", why="the judge wrote no evaluation steps")
    return steps
