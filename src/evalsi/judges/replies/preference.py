"""Which of two answers a judge prefers: `Verdict: A`, `[[B]]`, `tie`."""

from collections.abc import Sequence
from typing import Literal, TypeAlias

from evalsi.judges.replies.label import ANCHORS, choices_in, the_one
from evalsi.judges.replies.own_words import final_text, own_lines, unquoted
from evalsi.ports.chat_model import ChatReply

Preference: TypeAlias = Literal["A", "B", "tie"]

_ANCHORS = (*ANCHORS, "winner", "preference", "preferred", "better", "better answer", "choice")
_MEANINGS: dict[str, Preference] = {
    "A": "A",
    "B": "B",
    "answer A": "A",
    "answer B": "B",
    "response A": "A",
    "response B": "B",
    "assistant A": "A",
    "assistant B": "B",
    "tie": "tie",
    "draw": "tie",
    "equal": "tie",
    "neither": "tie",
}
_MARKED: dict[str, Preference] = {"[[A]]": "A", "[[B]]": "B", "[[C]]": "tie"}


def read_preference(reply: ChatReply, *, material: Sequence[str] = ()) -> Preference:
    """The preference as shown to the judge; whoever swapped the order swaps it back.

    `[[C]]`, a tie in a common prompt format, is read as one.
    Raises: ReplyError: none, or contradicting ones, cut off, or refused.
    """
    lines = own_lines(final_text(reply), material)
    found: list[str | None] = [mark for line in lines if (mark := _mark_at_end(unquoted(line)))]
    if not found:
        names = choices_in(lines, tuple(_MEANINGS), _ANCHORS, alone=True)
        found = [None if name is None else _MEANINGS[name] for name in names]
    choice = the_one(reply, found, "a last line 'Verdict: A', 'Verdict: B' or 'Verdict: tie'")
    return "A" if choice == "A" else "B" if choice == "B" else "tie"


def _mark_at_end(line: str) -> Preference | None:
    """`[[A]]` and its like count at the end of a line: in mid-sentence they may be mentioned only."""
    return _MARKED.get(line.rstrip(" .!*_")[-5:].upper())
