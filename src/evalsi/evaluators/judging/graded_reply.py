"""The reply that most judges are asked for: a reason, then a score from 0 to 1."""

from collections.abc import Sequence
from typing import NamedTuple

from evalsi.judges.replies.json_form import JsonForm, NumberField, TextField
from evalsi.ports.chat_model import ChatReply

GRADED_FORM = JsonForm((TextField("reasoning", about="one or two sentences"), NumberField("score", 0, 1)))


class Graded(NamedTuple):
    """`score` is from 0 to 1, `reasoning` the judge's words."""

    score: float
    reasoning: str


def read_graded(reply: ChatReply, material: Sequence[str]) -> Graded:
    """Raises ReplyError: no such object, contradicting ones, out of range, cut off, or refused."""
    fields = GRADED_FORM.read(reply, material=material)
    return Graded(fields["score"], fields["reasoning"])
