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
    found = _stated(lines) or [mark for line in lines if (mark := _mark_at_end(unquoted(line)))]
    found = found or _named(lines, alone=True)
    choice = the_one(reply, found, "a last line 'Verdict: A', 'Verdict: B' or 'Verdict: tie'")
    return "A" if choice == "A" else "B" if choice == "B" else "tie"


def _stated(lines: Sequence[str]) -> list[str | None]:
    """What lines say that begin with an anchor or are a mark and nothing else, and marks in lines after them.

    A mark at the end of an earlier line may be a mention: "Answer A ends with [[A]]".
    """
    stated: list[str | None] = []
    for line in lines:
        mark = _mark_at_end(unquoted(line))
        named = _named([line], alone=False)
        if named:
            stated.append(mark or named[-1])
        elif mark and (stated or len(line.strip(" .!*_")) == len("[[A]]")):
            stated.append(mark)
    # Anchors inside later lines speak against the one before; whoever says nothing that was offered says it last.
    return [name for name in _named(lines, alone=False) if name is not None] + stated if stated else []


def _named(lines: Sequence[str], *, alone: bool) -> list[str | None]:
    names = choices_in(lines, tuple(_MEANINGS), _ANCHORS, alone=alone)
    return [None if name is None else _MEANINGS[name] for name in names]


def _mark_at_end(line: str) -> Preference | None:
    """`[[A]]` and its like count at the end of a line: in mid-sentence they may be mentioned only."""
    return _MARKED.get(line.rstrip(" .!*_")[-5:].upper())
