"""`citation-accuracy`: do the output's citations, such as [2], point to passages that exist? Asks no judge.

Its own module because a bracketed number is not always a citation: code, intervals and years are not.
"""

import re
from typing import NamedTuple

import msgspec

from evalsi.core.content import text_of
from evalsi.core.errors import SkipRecord
from evalsi.evaluators.api import Record, Score, evaluator, output
from evalsi.judges.replies.reasoning import without_reasoning

_NUMBER = r"\d{1,3}"
_ITEM = rf"\^?{_NUMBER}(?:\s?[-\u2013]\s?{_NUMBER})?"
_CITATION = re.compile(rf"[\[\u3010]\s?({_ITEM}(?:\s?[,;]\s?{_ITEM}){{0,50}})\s?[\]\u3011]")
_RANGE = re.compile(rf"\^?({_NUMBER})(?:\s?[-\u2013]\s?({_NUMBER}))?")
_CODE = re.compile(r"```.*?(?:```|\Z)|`[^`\n]*`", re.DOTALL)
_SHOWN = 10


class CitationAccuracyParams(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What is required."""

    require_citation: bool = True
    """Whether an output that cites nothing fails; otherwise it is skipped, as there is nothing to check."""


class Citations(NamedTuple):
    """The cited numbers, each once, in order; `backwards` are ranges such as "3-1", which point to nothing."""

    numbers: list[int]
    backwards: list[str]


@evaluator(
    name="citation-accuracy",
    version="1.0.0",
    requires=["output", "context"],
    params=CitationAccuracyParams,
    outputs=[output("citation-accuracy", "passed", description="Every citation points to a passage that exists.")],
    bounded=True,
    example={
        "record": {
            "output": "It opens at 9 [1] and entry is free [3].",
            "context": ["The library is open from 9 to 18.", "Entry is free."],
        },
        "expected": {"citation-accuracy": False},
    },
)
def citation_accuracy(record: Record, params: CitationAccuracyParams) -> Score:
    """Whether every citation in the output points to one of the passages, which are numbered from 1.

    Citations are [1], [1, 2], [1-3], [^1] and 【1】 with numbers of up to three digits, outside code and reasoning blocks.
    Whether a passage supports what it is cited for is a question for faithfulness.
    """
    found = find_citations(without_reasoning(text_of(record.output)).text or "")
    count = len(record.context)
    if not found.numbers and not found.backwards:
        if not params.require_citation:
            raise SkipRecord("nothing to check: the output cites no passage")
        return _verdict(passed=False, why="the output cites no passage", found=found)
    missing = [number for number in found.numbers if not 1 <= number <= count]
    if missing or found.backwards:
        pointless = [f"[{number}]" for number in missing] + [f"[{written}]" for written in found.backwards]
        passages = f"there {'is one passage' if count == 1 else f'are {count} passages'}"
        more = f" and {len(pointless) - _SHOWN} more" if len(pointless) > _SHOWN else ""
        return _verdict(passed=False, why=f"{', '.join(pointless[:_SHOWN])}{more} cited, but {passages}", found=found)
    return _verdict(passed=True, why="", found=found)


def find_citations(text: str) -> Citations:
    """The citations in `text`."""
    numbers: dict[int, None] = {}
    backwards: list[str] = []
    for citation in _CITATION.finditer(_CODE.sub(" ", text)):
        for item in _RANGE.finditer(citation.group(1)):
            first, last = int(item.group(1)), int(item.group(2) or item.group(1))
            if last < first:
                backwards.append(item.group())
            numbers.update(dict.fromkeys(range(first, last + 1)))
    return Citations(list(numbers), backwards)


def _verdict(*, passed: bool, why: str, found: Citations) -> Score:
    return Score(name="citation-accuracy", passed=passed, explanation=why, metadata={"cited": found.numbers})
