"""Which letter of a multiple-choice question a text chooses.

Its own module because a letter is easy to find and hard to mean: the article "a", the first letter of "Answer" and the
options that a text rejects are no choice. What always holds: a choice is one of those offered, and a text that declares
none, or two, chooses nothing.
"""

import re
from collections.abc import Sequence

from evalsi.evaluators.matching.answer_anchors import boxed, declarations
from evalsi.evaluators.matching.text_normalization import compatible

_OPEN = r"[\s*_\"'“‘`(\[{$<>]{0,12}"
_CLOSE = r"[\s*_\"'”’`)\]}$.,;:!。]{0,12}"
# Every repetition here is short: two open ones side by side take quadratic time on a text of nothing but brackets.
_LETTERS = r"0-9A-Za-z_\u00c0-\u024f\u0370-\u052f"
"""What makes a word of a letter that it follows; other scripts write theirs against a Latin letter without a blank."""
_LATEX = r"(?:\\(?:text|textbf|mathrm|mathbf|mathsf)\s*\{)?"


_ADVERBS = r"(?:(?:definitely|clearly|certainly|probably|likely|most likely|simply|indeed|therefore|thus)\s+)?"
_WORD_END = rf"(?![{_LETTERS}]|['’])"
_SAYS_SOMETHING_ELSE = r"(?!\s+(?:is|isn|was|are|and|or|can|cannot|has|does|would|seems)\b)"
"""A label with a verb after it is the subject of a sentence ("(A) is wrong"), not an answer."""
_NOT_AFTER_ARTICLE = frozenset(
    "and as because but due for given if is or over rather since so than that therefore thus which with".split()
)
_NEXT_WORD = re.compile(r" ([A-Za-z]+)")
_END_OF_DECLARATION = re.compile(r"\s{0,4}(?:[.,;:!)\]*\n]|$)")


class ChoiceFinder:
    """Gives the choice that a text makes, in the spelling of `choices`, or None.

    In order: the whole text is a letter; a box; the last declaration ("Answer: B"); a last line that is a letter;
    "option B is correct", "I choose B"; the one letter that labels a line ("B) blue").
    """

    def __init__(self, choices: Sequence[str]) -> None:
        """Raises: ValueError: fewer than two choices, a blank or a repeated one."""
        labels = {choice.strip().casefold(): choice.strip() for choice in choices}
        if len(labels) < 2 or "" in labels or len(labels) != len(choices):
            raise ValueError("`choices` needs at least two different labels, none of them blank")
        self._labels = labels
        either = "|".join(re.escape(label) for label in sorted(labels.values(), key=len, reverse=True))
        one = f"({either})"
        self._alone = re.compile(rf"{_OPEN}{_LATEX}(?:(?:option|choice)\s+)?{_OPEN}{one}{_CLOSE}", re.IGNORECASE)
        self._declared = re.compile(
            rf"{_OPEN}{_LATEX}{_ADVERBS}(?:(?:(?:the|either|both)\s+)?(?:option|choice|letter|answer)\s+)?{_OPEN}"
            rf"(?P<letter>{either}|[A-Za-z]){_WORD_END}",
            re.IGNORECASE,
        )
        self._rival = re.compile(
            rf"{_CLOSE}(?:or|and|oder|und|ou|et|o|y|или|/|&|,)\s*{_OPEN}{one}{_WORD_END}", re.IGNORECASE
        )
        self._chosen = re.compile(
            rf"(?<![^\W_])I(?: would| will|['’]ll|['’]d)? (?:choose|pick|select|go with)"
            rf"(?: (?:option|choice|answer))?{_OPEN}{one}{_WORD_END}"
        )
        self._called_correct = re.compile(
            rf"(?<![^\W_])(?:option|choice|answer)?{_OPEN}{one}[*_\"'”’`)\]]{{0,4}} is (?:the )?(?:correct|right|best)\b"
        )
        self._labelling = re.compile(
            rf"^[ \t*_(\[]{{0,12}}{one}[*_]{{0,4}}[)\].:](?=[\s*_]|$){_SAYS_SOMETHING_ELSE}", re.MULTILINE
        )

    def __call__(self, text: str) -> str | None:
        text = compatible(text).strip()
        choice = self._when_alone(text)
        if choice is not None:
            return choice
        box = boxed(text)
        if box is not None:
            return self._when_alone(box)
        for position in declarations(text):
            was_declared, choice = self._declared_at(text, position)
            if was_declared:
                return choice
        return self._when_alone(text.rpartition("\n")[2]) or self._only_one_named(text)

    def _when_alone(self, text: str) -> str | None:
        """The choice when the text is nothing else."""
        found = self._alone.fullmatch(text)
        return self._labels[found[1].casefold()] if found is not None else None

    def _declared_at(self, text: str, position: int) -> tuple[bool, str | None]:
        """(whether a letter was declared here, the choice it is)."""
        found = self._declared.match(text, position)
        if found is None or _is_article(found["letter"], text, found.end()):
            return False, None
        choice = self._labels.get(found["letter"].casefold())
        if choice is None:  # a letter that was not offered is declared too, if it is no word of a sentence
            return _END_OF_DECLARATION.match(text, found.end()) is not None, None
        return True, None if self._rival.match(text, found.end()) else choice

    def _only_one_named(self, text: str) -> str | None:
        for pattern in (self._chosen, self._called_correct, self._labelling):
            letters: set[str] = set(pattern.findall(text))
            if len(letters) == 1:
                return letters.pop()
        return None


def _is_article(letter: str, text: str, end: int) -> bool:
    """Whether a one-letter word begins a phrase ("a warm lamp") instead of being an answer ("A because ...")."""
    if letter not in "aAiIoOeEyY":
        return False
    following = _NEXT_WORD.match(text, end)
    if following is None or following[1].lower() in _NOT_AFTER_ARTICLE:
        return False
    return letter.islower() or following[1].islower()
