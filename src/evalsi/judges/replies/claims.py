"""Judging in two steps: split a text into claims, then give a verdict on each.

Verdicts come back by the number of the claim, so that a skipped or invented claim is noticed: each claim needs exactly one.
"""

from collections.abc import Sequence
from typing import NamedTuple

from evalsi.judges.replies.json_form import JsonForm, LabelField, ListField, TextField
from evalsi.judges.replies.numbered import numbered_form, read_numbered
from evalsi.judges.replies.own_words import unreadable
from evalsi.ports.chat_model import ChatReply

CLAIMS_FORM = JsonForm((ListField("claims", about="one self-contained statement each"),))
"""What the first step must reply with; an empty list says that the text claims nothing."""


class ClaimVerdict(NamedTuple):
    """The label that the judge gave a claim, and why."""

    label: str
    reason: str


def read_claims(reply: ChatReply, *, most: int = 200) -> list[str]:
    """The claims in order, blank ones and repetitions left out.

    Raises: ReplyError: no list of texts, or more than `most` (a runaway reply).
    """
    # No material here: claims are meant to repeat it.
    claims: list[str] = CLAIMS_FORM.read(reply)["claims"]
    distinct = list(dict.fromkeys(claim.strip() for claim in claims if claim.strip()))
    if len(distinct) > most:
        raise unreadable(reply, f"at most {most} claims", why=f"the judge listed {len(distinct)} claims")
    return distinct


def claim_verdicts_form(labels: Sequence[str]) -> JsonForm:
    """What the second step must reply with: a numbered verdict on each claim, the reason before it."""
    return numbered_form(
        "verdicts", "claim", (TextField("reason", about="one sentence"), LabelField("verdict", tuple(labels)))
    )


def read_claim_verdicts(
    reply: ChatReply, count: int, labels: Sequence[str], *, material: Sequence[str] = ()
) -> list[ClaimVerdict]:
    """The verdicts on claims 1 to `count`, in their order.

    Raises: ReplyError: a claim without a verdict or with two different ones, or a verdict on no claim.
    """
    rows = read_numbered(reply, claim_verdicts_form(labels), count, material=material)
    return [ClaimVerdict(row["verdict"], row["reason"]) for row in rows]
