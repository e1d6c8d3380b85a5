"""Ratings on a scale: the number that is the rating, not the scale, a sub-score or a count in the explanation.

A number is a rating when it begins a line marked (`[[7]]`) or after an anchor (`Score: 7`), is marked within a line, is a
line of its own at either end of the reply, or ends a sentence in which the judge says that it rates ("I give 7."). The first
of these that is present decides; two different numbers in it are no rating. A mark within a line may be a mention of what
the candidate asks for: before a rating at the beginning of a line it says nothing, behind one it speaks against it.
"""

import re
from collections.abc import Sequence
from typing import NamedTuple

import msgspec

from evalsi.core.errors import InvalidParamsError
from evalsi.judges.replies.own_words import final_text, out_of_range, own_lines, unquoted, unreadable
from evalsi.ports.chat_model import ChatReply

_NUMBER = r"(?P<number>[-+\u2212]?\d{1,30}(?:\.\d{1,30})?)"
_OUT_OF = r"(?:\s{0,3}(?:/|out\s+of)\s{0,3}(?P<high>\d{1,6}(?:\.\d{1,6})?))?"
_POINTS = r"(?:\s+(?:points?|stars?))?"
_VALUE = rf"{_NUMBER}{_OUT_OF}{_POINTS}"
_MARKED = re.compile(rf"\[\[\s{{0,3}}{_VALUE}\s{{0,3}}\]\]")
_ANCHOR = re.compile(
    r"(?:(?:the|my|final|overall|total)\s+){0,3}(?:rating|score|grade|verdict)[\s*_]{0,8}(?:[:=]|\bis\b:?)[\s*_\"'`]{0,8}",
    re.IGNORECASE,
)
_MENTION = re.compile(
    r"(?<![\w(])(?:my |final |overall )?(?:rating|score|grade|verdict)[*_]{0,4}[:=]\s{0,8}", re.IGNORECASE
)
_ANCHORED_VALUE = re.compile(rf"\[{{0,2}}{_VALUE}\]{{0,2}}[\s*_\"'`]{{0,8}}(?:$|[.,;:!(\u2013\u2014](?!\d)|-\s)")
_ALONE = re.compile(rf"{_VALUE}[.!]?")
_STATED_SCALE = re.compile(
    r"(?:on|using|with)\s+(?:a|the|this)\s+scale\s+(?:of|from)\s+[-\u2212]?\d{1,6}\s{0,3}(?:to|-|\u2013)\s{0,3}\d{1,6},?"
    r"|\(?scale:?\s+\d{1,6}\s{0,3}(?:to|-|\u2013)\s{0,3}\d{1,6}\)?",
    re.IGNORECASE,
)
_FIRST_PERSON = re.compile(
    r"\b(?:I|we)(?:['’](?:d|ll)|\s{1,3}(?:would|will|shall|should|must|can|therefore|only|overall)){0,3}"
    r"\s{1,3}(?:rate|give|score|assign|award|grade)"
    r"(?:\s{1,3}(?:it|this|that|the|a|an|of|as|overall|answer|response|output|text|summary|rating|score|grade|candidate)){0,6}"
    rf":?\s{{1,3}}[*_]{{0,4}}{_VALUE}[*_]{{0,4}}(?=\s{{0,3}}(?:$|[.,;:!()](?!\d)))",
    re.IGNORECASE,
)


class Scale(msgspec.Struct, frozen=True):
    """The lowest and the highest rating a judge may give. Raises InvalidParamsError unless low < high."""

    low: float
    high: float

    def __post_init__(self) -> None:
        if not self.low < self.high or abs(self.low) > 1e6 or abs(self.high) > 1e6:
            raise InvalidParamsError(
                f"a scale goes from a lower to a higher number, not from {self.low:g} to {self.high:g}", where="scale"
            )

    def normalise(self, raw: float) -> float:
        """(raw - low) / (high - low): 0 for the lowest rating, 1 for the highest."""
        return (raw - self.low) / (self.high - self.low)


def read_rating(reply: ChatReply, scale: Scale, *, material: Sequence[str] = ()) -> float:
    """The rating as given, not normalised.

    Raises: ReplyError: none, several different ones, outside the scale (never clamped), cut off, or refused.
    """
    lines = own_lines(final_text(reply), material)
    wanted = f"a last line 'Rating: N' with N a number from {scale.low:g} to {scale.high:g}"
    found = _ratings(lines)
    distinct = {rating.value for rating in found}
    if len(distinct) > 1:
        raise unreadable(reply, wanted, why="the judge's reply holds several ratings")
    if not found or found[0].value is None:
        raise unreadable(reply, wanted, why="the judge's reply holds no rating")
    if any(rating.high is not None and rating.high != scale.high for rating in found):
        raise unreadable(reply, wanted, why=f"the judge rated out of {found[0].high:g}")
    value = found[0].value
    if not scale.low <= value <= scale.high:
        raise out_of_range(reply, "a rating of", value, scale.low, scale.high)
    return value


def _second_thoughts(line: str) -> "list[_Rating]":
    """Ratings inside a later line ("On reflection, score: 4"): they speak against the one before."""
    marked = _marked(line)
    if marked:
        return marked
    text = unquoted(line)
    values = (_ANCHORED_VALUE.match(text, found.end()) for found in _MENTION.finditer(text))
    return [_rating(value) for value in values if value]


class _Rating(NamedTuple):
    """`value` is None where an anchor is followed by something that is no single number."""

    value: float | None
    high: float | None


def _ratings(lines: Sequence[str]) -> list[_Rating]:
    begun: list[_Rating] = []
    for line in lines:
        anchor = _ANCHOR.match(line)
        if anchor:
            value = _ANCHORED_VALUE.match(line, anchor.end())
            begun += [_rating(value)] if value else _marked(line) or [_Rating(None, None)]
        elif _MARKED.match(line):
            begun += _marked(line)
        elif begun:
            begun += _second_thoughts(line)
    found = begun or [rating for line in lines for rating in _marked(line)]
    if found:
        return found
    edges = lines[:1] if len(lines) < 2 else [lines[0], lines[-1]]
    alone = [_rating(found) for line in edges if (found := _ALONE.fullmatch(line.strip("[]() ")))]
    if alone:
        return alone
    return [
        _rating(found) for line in lines for found in _FIRST_PERSON.finditer(_STATED_SCALE.sub(" ", unquoted(line)))
    ]


def _marked(line: str) -> list[_Rating]:
    return [_rating(found) for found in _MARKED.finditer(unquoted(line))]


def _rating(found: re.Match[str]) -> _Rating:
    high = found.group("high")
    return _Rating(float(found.group("number").replace("\u2212", "-")), float(high) if high else None)
