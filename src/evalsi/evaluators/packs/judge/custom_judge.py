"""`custom-judge`: a prompt of your own, read as strictly as the built-in ones."""

from typing import Annotated, Any

import msgspec

from evalsi.core.content import text_of
from evalsi.core.errors import InvalidParamsError, UnknownNameError
from evalsi.evaluators.api import EvalContext, Record, Score, evaluator
from evalsi.evaluators.judging.interview import Interview
from evalsi.evaluators.packs.judge.reply_form import ReplyForm, ScoreReply
from evalsi.evaluators.packs.judge.votes import VotingParams, words_of_votes
from evalsi.judges.prompt import Template, check_template, text_at, values_of_record

VARIABLES = ("id", "input", "output", "reference", "context", "metadata")


class CustomJudgeParams(VotingParams, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The prompt, and the form of the reply."""

    template: Annotated[str, msgspec.Meta(min_length=1, pattern=r"\S")]
    """The question, with {{ input }}, {{ output }}, {{ reference }}, {{ context }}, {{ id }} or {{ metadata.name }} where
    the record's fields go. A record that lacks one of them is an error, never an empty place."""
    system: str = ""
    """The judge's standing instructions; without placeholders, because what comes from a record is data."""
    reply: ReplyForm = msgspec.field(default_factory=ScoreReply)
    """{"form": "score", "low", "high"}, {"form": "label", "labels": {"good": 1, "bad": 0}}, {"form": "pass-fail"}, or
    {"form": "json", "fields": [...]}."""
    ask_for_form: bool = True
    """Whether the required form is put at the end of the prompt. False only where the template asks for it itself."""
    fenced: bool = True
    """Whether the record's fields are fenced as data. False shows them bare, for models trained on a fixed prompt; then
    an output can speak to the judge."""


@evaluator(
    name="custom-judge",
    version="1.0.0",
    requires=["judge"],
    params=CustomJudgeParams,
    example={
        "record": {"input": "My parcel is lost!", "output": "I am sorry. I have sent a new one today."},
        "params": {
            "template": "A customer wrote:\n{{ input }}\n\nThe agent answered:\n{{ output }}\n\nIs the answer kind?",
            "reply": {"form": "label", "labels": {"kind": 1, "neutral": 0.5, "rude": 0}},
        },
        "judge_reply": "It apologises and acts at once.\nVerdict: kind",
        "expected": {"custom-judge": 1.0, "label": "kind"},
    },
)
class CustomJudge:
    """A judge with your own prompt template, whose reply is a rating, a label with a score, pass or fail, or JSON fields.

    The template only names fields; nothing in it is executed, and what is filled in is never read as a template. Fields of
    the record are fenced as data. Reports the main value under the evaluator's name and, for labels and JSON, the others
    beside it.
    """

    def __init__(self, params: CustomJudgeParams, context: EvalContext) -> None:
        self._params = params
        self._context = context
        self._template = _checked_template(params)
        self.prompt_digests = {"custom-judge@1": self._template.digest.removeprefix("sha256:")}

    async def evaluate(self, record: Record) -> list[Score]:
        reply_form = self._params.reply
        values = values_of_record(record)
        prompt = self._template.render(values)
        material = [text_at(values, name) for name in sorted(self._template.variables)]
        material += [text_of(passage) for passage in record.context]
        interview = Interview(self._context)
        verdicts = await interview.ask_repeatedly(
            prompt, lambda reply: reply_form.read(reply, material), self._params.votes
        )
        readings = [verdict.value for verdict in verdicts]
        combined = reply_form.combine(readings, self._params.average)
        shown = [reading.values.get("label", reading.values[""]) for reading in readings]
        metadata: dict[str, Any] = {}
        several = len(readings) > 1
        if several:
            metadata = {"votes": shown, "agreement": combined.agreement}
        main = interview.score(
            "custom-judge",
            combined.values[""],
            words_of_votes(shown, [reading.words for reading in readings]),
            confidence=combined.agreement if several else None,
            metadata=metadata,
        )
        return [main, *(_plain_score(name, value) for name, value in combined.values.items() if name)]


def _plain_score(name: str, value: Any) -> Score:
    if isinstance(value, bool):
        return Score(name=name, passed=value)
    return Score(name=name, label=value) if isinstance(value, str) else Score(name=name, number=float(value))


def _checked_template(params: CustomJudgeParams) -> Template:
    """Raises UnknownNameError, InvalidSpecError, InvalidParamsError: a placeholder that no record has, or more than one."""
    where = "custom-judge.template"
    check_template(params.template, where=where)
    check_template(params.system, where="custom-judge.system")
    user = f"{params.template}\n\n{params.reply.instructions}" if params.ask_for_form else params.template
    template = Template(
        name="custom-judge",
        version="1",
        system=params.system,
        user=user,
        fenced=params.fenced,
        response_schema=params.reply.schema,
    )
    if Template(name="system", version="1", user=params.system).variables:
        raise InvalidParamsError(
            "the system message holds a placeholder",
            where="custom-judge.system",
            hint="name the record's fields in the template, where they are fenced as data",
        )
    names = sorted(template.variables)
    for name in names:
        first, _, rest = name.partition(".")
        if first not in VARIABLES:
            raise UnknownNameError("template variable", name, [*VARIABLES, f"metadata.{name}"], where=where)
        if rest and first not in ("metadata", "input", "output", "reference"):
            raise UnknownNameError("template variable", name, VARIABLES, where=where)
    if not set(names) - {"id"}:
        raise InvalidParamsError(
            "the template shows nothing of the record", where=where, hint="name a field, for example {{ output }}"
        )
    return template
