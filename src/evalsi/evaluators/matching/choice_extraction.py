"""Which letter of a multiple-choice question a text chooses.

Its own module because a letter is easy to find and hard to mean: the article "a", the first letter of "Answer" and the
options that a text rejects are no choice. What always holds: a choice is one of those offered, and a text that declares
none, or two, chooses nothing.
"""

import re
from collections.abc import Callable, Sequence

from evalsi.evaluators.matching.answer_anchors import boxed, declarations
from evalsi.evaluators.matching.text_normalization import compatible

_OPEN = r"[\s*_\"'“‘`(\[{$<>]{0,12}"
_CLOSE = r"[\s*_\"'”’`)\]}$.,;:!。]{0,12}"
# Every repetition here is short: two open ones side by side take quadratic time on a text of nothing but brackets.
_LETTERS = r"0-9A-Za-z_\u00c0-\u024f\u0370-\u052f"
"""What makes a word of a letter that it follows; other scripts write theirs against a Latin letter without a blank."""
_LATEX = r"(?:\\(?:text|textbf|mathrm|mathbf|mathsf)\s*\{)?"


def choice_finder(choices: Sequence[str]) -> Callable[[str], str | None]:
    """A function that gives the choice a text makes, in the spelling of `choices`, or None.

    In order: the whole text is a letter; a box; the last declaration ("Answer: B"); a last line that is a letter;
    "option B is correct", "I choose B"; the one letter that labels a line ("B) blue").

    Raises: ValueError: fewer than two choices, a blank or a repeated one.
    """
    labels = {choice.strip().casefold(): choice.strip() for choice in choices}
    if len(labels) < 2 or "" in labels or len(labels) != len(choices):
        raise ValueError("`choices` needs at least two different labels, none of them blank")
    one = "(" + "|".join(re.escape(label) for label in sorted(labels.values(), key=len, reverse=True)) + ")"
    exact = {label: label for label in labels.values()}
    alone = re.compile(rf"{_OPEN}{_LATEX}(?:(?:option|choice)\s+)?{_OPEN}{one}{_CLOSE}", re.IGNORECASE)
    declared = re.compile(
        rf"{_OPEN}{_LATEX}(?:(?:(?:the|either|both)\s+)?(?:option|choice|letter|answer)\s+)?{_OPEN}"
        rf"(?P<letter>{one[1:-1]}|[A-Za-z])(?![{_LETTERS}]|['’])",
        re.IGNORECASE,
    )
    rival = re.compile(
        rf"{_CLOSE}(?:or|and|oder|und|ou|et|o|y|или|/|&|,)\s*{_OPEN}{one}(?![{_LETTERS}]|['’])", re.IGNORECASE
    )
    spoken = re.compile(
        rf"(?<![^\W_])(?:I(?: would| will|['’]ll)? (?:choose|pick|select|go with) (?:option|choice)?"
        rf"{_OPEN}{one}(?![{_LETTERS}]|['’])|(?:option|choice)?{_OPEN}{one}[*_\"'”’`)\]]{{0,4}} is (?:the )?(?:correct|right|best)\b)",
    )
    labelled = re.compile(rf"^[ \t*_(\[]{{0,12}}{one}[*_]{{0,4}}[)\].:](?=[\s*_]|$)", re.MULTILINE)

    def is_article(letter: str, text: str, end: int) -> bool:
        if letter not in "aAiIoOeEyY" or end >= len(text):
            return False
        following = text[end : end + 2]
        return following[:1] == " " and following[1:].isalpha() and (letter.islower() or following[1:].islower())

    def after(text: str, position: int) -> tuple[bool, str | None]:
        """(whether something was declared here, the choice)."""
        found = declared.match(text, position)
        if found is None:
            return False, None
        letter = found["letter"]
        label = exact.get(letter) or labels.get(letter.casefold())
        if is_article(letter, text, found.end()):
            return False, None
        if label is None:  # a letter that is not offered is a declaration too, if it is no word of a sentence
            return re.match(r"\s*(?:[.,;:!)\]*\n]|$)", text[found.end() : found.end() + 9]) is not None, None
        return True, None if rival.match(text, found.end()) else label

    def find(text: str) -> str | None:
        if not text.isascii():
            text = compatible(text)
        text = text.strip()
        whole = alone.fullmatch(text)
        if whole is not None:
            return labels[whole[1].casefold()]
        box = boxed(text)
        if box is not None:
            whole = alone.fullmatch(box)
            return labels[whole[1].casefold()] if whole is not None else None
        for position in declarations(text):
            was_declared, choice = after(text, position)
            if was_declared:
                return choice
        last_line = text.rpartition("\n")[2]
        whole = alone.fullmatch(last_line) if last_line else None
        if whole is not None:
            return labels[whole[1].casefold()]
        for pattern in (spoken, labelled):
            letters = {
                group for found in pattern.findall(text) for group in ([found] if isinstance(found, str) else found)
            }
            letters.discard("")
            if len(letters) == 1:
                return exact[letters.pop()]
        return None

    return find
