"""Letter grades after an anchor: `GRADE: C`. A letter in prose is no grade, and another word's end is no anchor."""

from collections.abc import Sequence

from evalsi.judges.replies.label import choices_in, the_one
from evalsi.judges.replies.own_words import final_text, own_lines
from evalsi.ports.chat_model import ChatReply


def read_grade(reply: ChatReply, choices: Sequence[str], *, anchor: str = "GRADE", material: Sequence[str] = ()) -> str:
    """The grade as it was offered. Two different grades are no grade: which one was meant is not ours to guess.

    Args:
        reply: What the judge said.
        choices: The grades offered, e.g. ("C", "P", "I") or ("A+", "A", "A-").
        anchor: The word at the start of the grade's line; case is ignored.
        material: What the judge was shown as data (see `own_words`).
    Raises: ReplyError: no grade, one that was not offered, several different ones, cut off, or refused.
    """
    wanted = f"a last line '{anchor}: G' with G one of {', '.join(choices)}"
    found = choices_in(own_lines(final_text(reply), material), tuple(choices), (anchor,), alone=False)
    return the_one(reply, found, wanted)
