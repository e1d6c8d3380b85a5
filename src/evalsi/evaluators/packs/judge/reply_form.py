"""The forms in which a prompt of your own can ask for the verdict: a rating, a label, pass or fail, or JSON fields.

Each form says how to ask for it, how to read it, and how several votes become one value. What always holds: the form is
appended to the prompt by us, so that what is asked for and what is read cannot differ.
"""

from collections.abc import Callable, Sequence
from typing import Annotated, Any, NamedTuple, TypeAlias

import msgspec

from evalsi.core.errors import InvalidParamsError, UnknownNameError
from evalsi.evaluators.packs.judge.votes import Average, average_of, majority_of
from evalsi.judges.replies.json_form import FlagField, JsonForm, LabelField, NumberField, TextField
from evalsi.judges.replies.label import check_labels, read_label
from evalsi.judges.replies.rating import Scale, read_rating
from evalsi.judges.replies.reasoning import without_reasoning
from evalsi.ports.chat_model import ChatReply

PASS, FAIL = "PASS", "FAIL"
_REASON_FIRST = "Give the reason first, in one or two sentences. Then end with a last line "


class Reading(NamedTuple):
    """One reply, read: `values` by output name, "" for the main one, and the judge's words."""

    values: dict[str, Any]
    words: str


class Combined(NamedTuple):
    """All votes as one: `values` by output name, "" for the main one, and how far the votes agree on the main one."""

    values: dict[str, Any]
    agreement: float


class ScoreReply(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, tag_field="form", tag="score"):
    """A number from `low` to `high`, reported as a fraction of that scale."""

    low: float = 0.0
    high: float = 1.0

    def __post_init__(self) -> None:
        _as_value_error(lambda: Scale(self.low, self.high))

    @property
    def instructions(self) -> str:
        return f"{_REASON_FIRST}'Rating: N' with N a number from {self.low:g} to {self.high:g}."

    @property
    def schema(self) -> None:
        return None

    def read(self, reply: ChatReply, material: Sequence[str]) -> Reading:
        scale = Scale(self.low, self.high)
        return Reading({"": scale.normalise(read_rating(reply, scale, material=material))}, own_words(reply))

    def combine(self, readings: Sequence[Reading], average: Average) -> Combined:
        tally = average_of([reading.values[""] for reading in readings], average)
        return Combined({"": tally.value}, tally.agreement)


class LabelReply(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, tag_field="form", tag="label"):
    """One of some labels, each with its score from 0 to 1. Reports the score and, as output `label`, the label."""

    labels: dict[str, Annotated[float, msgspec.Meta(ge=0, le=1)]]

    def __post_init__(self) -> None:
        _as_value_error(lambda: check_labels(list(self.labels)))

    @property
    def instructions(self) -> str:
        return f"{_REASON_FIRST}'Verdict: LABEL' with LABEL one of: {', '.join(self.labels)}."

    @property
    def schema(self) -> None:
        return None

    def read(self, reply: ChatReply, material: Sequence[str]) -> Reading:
        label = read_label(reply, list(self.labels), material=material)
        return Reading({"": self.labels[label], "label": label}, own_words(reply))

    def combine(self, readings: Sequence[Reading], average: Average) -> Combined:  # noqa: ARG002 - labels have no mean
        tally = majority_of([reading.values["label"] for reading in readings])
        return Combined({"": self.labels[tally.value], "label": tally.value}, tally.agreement)


class PassFailReply(
    msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, tag_field="form", tag="pass-fail"
):
    """PASS or FAIL."""

    @property
    def instructions(self) -> str:
        return f"{_REASON_FIRST}'Verdict: {PASS}' or 'Verdict: {FAIL}'."

    @property
    def schema(self) -> None:
        return None

    def read(self, reply: ChatReply, material: Sequence[str]) -> Reading:
        return Reading({"": read_label(reply, (PASS, FAIL), material=material) == PASS}, own_words(reply))

    def combine(self, readings: Sequence[Reading], average: Average) -> Combined:  # noqa: ARG002 - verdicts have no mean
        tally = majority_of([reading.values[""] for reading in readings])
        return Combined({"": tally.value}, tally.agreement)


ScoredField: TypeAlias = NumberField | LabelField | FlagField | TextField


class JsonReply(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, tag_field="form", tag="json"):
    """A JSON object with named fields. Each is an output of its own, as it stands; texts are the explanation."""

    fields: list[ScoredField]
    """{"type": "number", "name", "low", "high"}, {"type": "label", "name", "labels"}, {"type": "flag", "name"} or
    {"type": "text", "name"}, in the order in which the judge is to write them: reasons go first."""
    main: str = ""
    """The field that bears the evaluator's name; by default the last that is no text."""

    def __post_init__(self) -> None:
        _as_value_error(lambda: JsonForm(tuple(self.fields)))
        scored = [field.name for field in self.fields if not isinstance(field, TextField)]
        if not scored:
            raise ValueError("a JSON reply needs a field that is no text")
        if self.main and self.main not in scored:
            raise ValueError(UnknownNameError("field", self.main, scored, where="reply.main"))

    @property
    def form(self) -> JsonForm:
        return JsonForm(tuple(self.fields))

    @property
    def main_field(self) -> str:
        return self.main or [field.name for field in self.fields if not isinstance(field, TextField)][-1]

    @property
    def instructions(self) -> str:
        return self.form.instructions

    @property
    def schema(self) -> dict[str, Any]:
        return self.form.schema

    def read(self, reply: ChatReply, material: Sequence[str]) -> Reading:
        found = self.form.read(reply, material=material)
        texts = [found.pop(field.name) for field in self.fields if isinstance(field, TextField)]
        main = found.pop(self.main_field)
        return Reading({"": main, **found}, " ".join(text for text in texts if text))

    def combine(self, readings: Sequence[Reading], average: Average) -> Combined:
        values: dict[str, Any] = {}
        agreement = 1.0
        for field in self.fields:
            if isinstance(field, TextField):
                continue
            name = "" if field.name == self.main_field else field.name
            votes = [reading.values[name] for reading in readings]
            if isinstance(field, NumberField):
                tally = average_of(votes, average, span=field.high - field.low)
            else:
                tally = majority_of(votes)
            values[name] = tally.value
            if name == "":
                agreement = tally.agreement
        return Combined(values, agreement)


ReplyForm: TypeAlias = ScoreReply | LabelReply | PassFailReply | JsonReply


def own_words(reply: ChatReply) -> str:
    """The reply without its reasoning block."""
    return (without_reasoning(reply.text).text or "").strip()


def _as_value_error(check: Callable[[], object]) -> None:
    """Params refuse a value with ValueError, which then names the evaluator and the param."""
    try:
        check()
    except InvalidParamsError as error:
        raise ValueError(error.message) from error
