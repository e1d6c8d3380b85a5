r"""Which part of a long answer is the mathematical result.

Its own module because a reward reads whole completions: the result is in the last closed `\boxed{}`, after a declaration
("the answer is", "####", `<answer>`), or it is the whole of a short answer, the last formula between dollar signs, or the
last number, in this order. The text after a declaration ends with its line.
"""

import re
from typing import Literal, TypeAlias

from evalsi.evaluators.matching.answer_anchors import boxed, declarations

Fallback: TypeAlias = Literal["last-number", "whole", "none"]
_SHORT = 120
"""Characters up to which a text of one line may itself be the result."""
_FORMULA = re.compile(r"\$\$(.+?)\$\$|\$(?!\s)([^$\n]{1,400})\$|\\\((.{1,400}?)\\\)|\\\[(.{1,400}?)\\\]", re.DOTALL)
_SENTENCE = re.compile(r"[A-Za-z][^$\\\n]*\s(\$(?!\s)[^$\n]*[^$\s]\$|\\\(.*\\\))[.!]?")
"""Words and then one formula: "It is $x+1$."."""
_NUMBER = re.compile(r"(?<![\w.])-?(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?(?:/\d+)?\\?%?(?![\w])")
_ENDS = re.compile(r"</answer>|\n|(?<=[^\d.])\.(?=\s|$)|\.(?=\s+[A-Z]|\s*$)", re.IGNORECASE)
_PROSE = re.compile(r"[A-Za-z]{4,}.*\s.*[A-Za-z]{4,}")


def stated_answer(text: str, fallback: Fallback = "last-number") -> str | None:
    """The result that `text` states, as written; None where it states none.

    Args:
        fallback: What counts where nothing marks the result: the last number, the whole text, or nothing.
    """
    found = boxed(text)
    if found is not None:
        return found
    for place in declarations(text):
        declared = _ENDS.split(text[place : place + 400].lstrip(" *:\n"), maxsplit=1)[0].strip(" *")
        if declared:
            return _last_formula(declared) or declared
    stripped = text.strip()
    is_short = len(stripped) <= _SHORT and "\n" not in stripped
    if is_short and _PROSE.search(stripped) is None and _SENTENCE.fullmatch(stripped) is None:
        return stripped or None
    formula = _last_formula(text[-4000:])
    if formula is not None:
        return formula
    if fallback == "whole":
        return stripped
    if fallback == "none":
        return None
    numbers = _NUMBER.findall(text)
    return numbers[-1] if numbers else None


def _last_formula(text: str) -> str | None:
    if "$" not in text and "\\(" not in text and "\\[" not in text:
        return None
    formulas = _FORMULA.findall(text)
    return next((part for part in formulas[-1] if part), None) if formulas else None
