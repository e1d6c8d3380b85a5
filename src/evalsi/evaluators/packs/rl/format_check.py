"""`format-check`: the whole output has the form that training asks for."""

import re

import msgspec

from evalsi.core.content import text_of
from evalsi.evaluators.api import Record, evaluator, output
from evalsi.evaluators.matching.pattern import compile_pattern

_DEFAULT = r"\s*<think>.*?</think>\s*<answer>.*?</answer>\s*"
_TAG = re.compile(r"[A-Za-z][A-Za-z0-9_-]*\Z")


class FormatCheckParams(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The form: a pattern, or tags in order."""

    pattern: str = _DEFAULT
    """A regular expression in Python's syntax that the whole output must match; `.` also matches line ends."""
    tags: list[str] | None = None
    """Instead of a pattern: tags that must each be opened and closed once, in this order, with nothing else around
    them, e.g. [think, answer]."""


@evaluator(
    name="format-check",
    version="1.0.0",
    requires=["output"],
    params=FormatCheckParams,
    outputs=[output("format-check", "passed", description="The output has the form.")],
    bounded=True,
    example={
        "record": {"output": "<think>2 and 2 are 4</think>\n<answer>4</answer>"},
        "params": {"tags": ["think", "answer"]},
        "expected": {"format-check": True},
    },
)
class FormatCheck:
    """Whether the whole output matches a pattern, by default `<think>…</think> <answer>…</answer>`, or consists of tags.

    With `tags`, a tag that occurs twice or inside another is a miss, so an output cannot satisfy the form by repeating it.
    RE2 runs patterns in linear time; one that it cannot run is run in a process that is killed at the deadline.
    """

    def __init__(self, params: FormatCheckParams) -> None:
        self._tags = params.tags
        if params.tags is not None:
            wrong = [tag for tag in params.tags if _TAG.match(tag) is None]
            if wrong or not params.tags:
                raise ValueError(f"`tags` holds {wrong[0]!r}, which is no tag's name" if wrong else "`tags` is empty")
            if params.pattern != _DEFAULT:
                raise ValueError("`pattern` and `tags` were both given; give one")
        self._pattern = compile_pattern(f"(?s:{params.pattern})", full_match=True)
        self.bounded = params.tags is not None or self._pattern.is_linear

    def evaluate(self, record: Record) -> bool:
        text = text_of(record.output)
        return self._pattern.found_in(text) if self._tags is None else _has_tags(text, self._tags)


def _has_tags(text: str, tags: list[str]) -> bool:
    place = 0
    for tag in tags:
        opening, closing = f"<{tag}>", f"</{tag}>"
        if text.count(opening) != 1 or text.count(closing) != 1:
            return False
        start, end = text.index(opening), text.index(closing)
        if start < place or end < start or text[place:start].strip():
            return False
        place = end + len(closing)
    return not text[place:].strip()
