"""What `llm-judge` grades by: four built-in rubrics, or the user's own words."""

import msgspec

from evalsi.core.errors import InvalidParamsError, UnknownNameError
from evalsi.evaluators.judging.question import RecordField


class Rubric(msgspec.Struct, frozen=True, kw_only=True):
    """A rubric. `name` is "free-text" for the user's own.

    `shows` are the fields that grading by it cannot do without, `may_show` those shown where a record has them.
    """

    name: str
    version: str
    text: str
    shows: tuple[RecordField, ...] = ("output",)
    may_show: tuple[RecordField, ...] = ()


BUILTIN_RUBRICS: dict[str, Rubric] = {
    rubric.name: rubric
    for rubric in (
        Rubric(
            name="correctness",
            version="1",
            may_show=("input", "context", "reference"),
            text="""\
Is what the output says right? Measure it against the reference answer if one is shown, else against the passages, else \
against what is generally known.
1.0: everything that was asked for is there and right.
0.75: right in substance; a minor detail is missing or imprecise.
0.5: partly right; an important part is missing or wrong.
0.25: mostly wrong, with something right in it.
0.0: wrong, contradicts the reference, or does not answer.
Wording, length, style and language do not count. Additions count only where they are false.""",
        ),
        Rubric(
            name="faithfulness",
            version="1",
            shows=("context", "output"),
            may_show=("input",),
            text="""\
Does everything that the output states follow from the passages? What is true but does not stand in the passages does not \
follow from them.
1.0: every statement follows from the passages.
0.5: about half of what it states follows from them.
0.0: nothing follows from them, or it contradicts them.
Whether the output answers the input does not count.""",
        ),
        Rubric(
            name="helpfulness",
            version="1",
            shows=("input", "output"),
            text="""\
Does the output help the person who wrote the input to do or know what they wanted?
1.0: they can act on it at once: complete, clear, at the right level of detail.
0.5: it goes some of the way; they have to ask or search again.
0.0: it does not help, misleads, or refuses without need.
Length is no merit of its own.""",
        ),
        Rubric(
            name="relevance",
            version="1",
            shows=("input", "output"),
            text="""\
Does the output speak to what the input asks?
1.0: all of it does, and nothing that was asked is passed over.
0.5: part of it does, beside a good deal that does not; or part of the question is passed over.
0.0: it is about something else, or it avoids the question.
Whether the output is right does not count.""",
        ),
    )
}


def find_rubric(text: str) -> Rubric:
    """The built-in rubric called so, or the text itself as a rubric.

    A single word that is no built-in rubric is taken for a misspelt name, never for a rubric.

    Raises:
        UnknownNameError: no such rubric, with the nearest name.
        InvalidParamsError: the text is blank.
    """
    name = text.strip()
    if not name:
        raise InvalidParamsError("the rubric is empty", where="llm-judge.rubric", hint="name one or write one")
    built_in = BUILTIN_RUBRICS.get(name)
    if built_in is not None:
        return built_in
    if len(name.split()) == 1:
        raise UnknownNameError("rubric", name, BUILTIN_RUBRICS, where="llm-judge.rubric")
    return Rubric(name="free-text", version="1", text=name, may_show=("input", "context", "reference"))
