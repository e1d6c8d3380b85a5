"""A question about a record: standing instructions, then the record's fields one by one, each fenced as data.

Its own module because records differ in what they carry. A field that a record lacks is not shown at all, not shown
empty; so there is one template for each set of fields, all made and digested when the evaluator is bound.
"""

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Any, Literal, NamedTuple, TypeAlias

import msgspec

from evalsi.core.canonical import digest
from evalsi.core.content import has_text, text_of
from evalsi.core.errors import SkipRecord
from evalsi.judges.prompt import Template, values_of_record
from evalsi.ports.judge import JudgePrompt
from evalsi.schema import Record

RecordField: TypeAlias = Literal["input", "context", "reference", "output"]

_ORDER: tuple[RecordField, ...] = ("input", "context", "reference", "output")
_HEADINGS: dict[RecordField, str] = {
    "input": "The input that was given:",
    "context": "The passages, numbered:",
    "reference": "The reference answer:",
    "output": "The output to judge:",
}


class Question(msgspec.Struct, frozen=True, kw_only=True):
    """What to ask, before any record is known.

    Args:
        name, version: Of the prompt; the version is raised when the wording changes.
        system: The judge's task.
        shows: Fields that the question cannot do without; a record in which one is blank is SKIPPED. Only the output may
            be blank: an empty answer is an answer.
        may_show: Fields shown where the record has them.
        closing: The end of the user message: the form of the reply.
        response_schema: The form, for providers that can enforce it.
        settings: Values for placeholders of `system`, such as a rubric: the user's words, never a record's.
        top_logprobs: See `Template.top_logprobs`.
        trusted: Placeholders of `closing` that are the evaluator's own words; all others in it are fenced as data.
    """

    name: str
    version: str
    system: str
    shows: tuple[RecordField, ...]
    may_show: tuple[RecordField, ...] = ()
    closing: str = ""
    response_schema: dict[str, Any] | None = None
    settings: dict[str, str] = {}
    top_logprobs: int = 0
    trusted: frozenset[str] = frozenset()


class Asked(NamedTuple):
    """A rendered question. `material` is everything in it that is data, for the readers of replies."""

    prompt: JudgePrompt
    material: list[str]


class QuestionForms:
    """A question made ready: a template for each set of fields that a record may have."""

    def __init__(self, question: Question) -> None:
        self._question = question
        optional = question.may_show
        extras = [extra for size in range(len(optional) + 1) for extra in combinations(optional, size)]
        shown = [_in_order({*question.shows, *extra}) for extra in extras]
        self._templates = {fields: _template(question, fields) for fields in shown}

    @property
    def digests(self) -> dict[str, str]:
        """SHA-256 in hexadecimal: of each template by `name@version (fields shown)`, of each setting by its name."""
        question = self._question
        label = f"{question.name}@{question.version}"
        templates = {f"{label} ({', '.join(fields)})": _bare(each.digest) for fields, each in self._templates.items()}
        settings = {f"{label} {name}": _bare(digest(text)) for name, text in question.settings.items()}
        return templates | settings

    def render(self, record: Record, more: Mapping[str, str | Mapping[str, str]] | None = None) -> Asked:
        """The question about `record`.

        Args:
            more: Values of the placeholders in `Question.closing`.
        Raises: SkipRecord: a field that it cannot do without is blank.
        """
        fields = self._fields(record)
        own = more or {}
        prompt = self._templates[fields].render({**values_of_record(record), **self._question.settings, **own})
        material = [text for field in fields for text in _texts(record, field)]
        for name, value in own.items():
            if name not in self._question.trusted:
                material += [value] if isinstance(value, str) else value.values()
        return Asked(prompt, material)

    def _fields(self, record: Record) -> tuple[RecordField, ...]:
        question = self._question
        for field in question.shows:
            if field != "output":
                require_text(record, field)
        return _in_order({*question.shows, *(field for field in question.may_show if _is_there(record, field))})


def require_text(record: Record, field: RecordField) -> None:
    """Raises SkipRecord when there is nothing to read in `field`."""
    if not _is_there(record, field):
        absent = getattr(record, field) is None or (field == "context" and not record.context)
        raise SkipRecord(f"the record has no {field}" if absent else f"the {field} is empty")


def _bare(digest_text: str) -> str:
    return digest_text.removeprefix("sha256:")


def _in_order(fields: set[RecordField]) -> tuple[RecordField, ...]:
    return tuple(field for field in _ORDER if field in fields)


def _template(question: Question, fields: Sequence[RecordField]) -> Template:
    sections = [f"{_HEADINGS[field]}\n{{{{ {field} }}}}" for field in fields]
    return Template(
        name=question.name,
        version=question.version,
        system=question.system,
        user="\n\n".join([*sections, question.closing]),
        trusted=question.trusted,
        response_schema=question.response_schema,
        top_logprobs=question.top_logprobs,
    )


def _is_there(record: Record, field: RecordField) -> bool:
    if field == "context":
        return any(has_text(passage) for passage in record.context)
    return has_text(getattr(record, field))


def _texts(record: Record, field: RecordField) -> list[str]:
    if field == "context":
        return [text_of(passage) for passage in record.context]
    return [text_of(getattr(record, field))]
