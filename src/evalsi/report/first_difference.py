"""Where an output and its reference part ways: the one thing a reader of a failed case looks for.

Its own module because "first difference" needs a rule. A reference that stands in the output word for word is marked
there. Texts that begin alike are marked where they part. Texts that differ from the start are usually a sentence and a
short answer: there the first word of the reference that the output lacks is marked.
"""

import re
from dataclasses import dataclass

_WORD = re.compile(r"\S+")
_PUNCTUATION = ".,;:!?()[]\"'"


@dataclass(frozen=True, slots=True)
class Comparison:
    """Spans (start, end) in characters to mark in output and reference, and the finding in words."""

    output: tuple[int, int]
    reference: tuple[int, int]
    says: str
    found: bool = False
    """Whether the reference stands in the output."""


def compare_texts(output: str, reference: str) -> Comparison | None:
    """The finding; None where one of the texts is empty."""
    if not output.strip() or not reference.strip():
        return None
    if output == reference:
        return Comparison((0, 0), (0, 0), "the same text", found=True)
    wanted = reference.strip()
    position = output.find(wanted)
    if position < 0:
        folded = output.casefold()
        # Casefolding may change lengths ("ß"); positions are only valid where it does not.
        position = folded.find(wanted.casefold()) if len(folded) == len(output) else -1
    if position >= 0 and len(wanted) < len(output.strip()):
        span = (position, position + len(wanted))
        return Comparison(span, (0, len(reference)), "the reference stands in the output", found=True)
    ours, theirs = list(_WORD.finditer(output)), list(_WORD.finditer(reference))
    same = 0
    while same < min(len(ours), len(theirs)) and ours[same][0] == theirs[same][0]:
        same += 1
    if same == len(ours) and same == len(theirs):
        return Comparison((0, 0), (0, 0), "they differ only in white space")
    at = ours[same].span() if same < len(ours) else (len(output), len(output))
    wanted_at = theirs[same].span() if same < len(theirs) else (len(reference), len(reference))
    if same == len(ours):
        return Comparison(at, wanted_at, "the output ends here; the reference goes on")
    if same == len(theirs):
        return Comparison(at, wanted_at, "the reference ends here; the output goes on")
    if same == 0:
        return _missing_word(output, theirs)
    ours_word, theirs_word = ours[same][0], theirs[same][0]
    shared = 0
    while shared < min(len(ours_word), len(theirs_word)) and ours_word[shared] == theirs_word[shared]:
        shared += 1
    return Comparison((at[0] + shared, at[1]), (wanted_at[0] + shared, wanted_at[1]), f"differs from word {same + 1}")


def _missing_word(output: str, wanted: list[re.Match[str]]) -> Comparison:
    folded = output.casefold()
    for word in wanted:
        if word[0].strip(_PUNCTUATION).casefold() not in folded:
            return Comparison((0, 0), word.span(), "differs from the first word")
    return Comparison((0, 0), (0, 0), "the words of the reference, in another order")
