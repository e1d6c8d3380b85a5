"""Judging in two steps: split a text into claims, then give a verdict on each.

Verdicts come back by the number of the claim, so that a skipped or invented claim is noticed: each claim needs exactly one.
"""

from collections.abc import Sequence

from evalsi.judges.replies.json_form import JsonForm, LabelField, ListField, NumberField, TextField
from evalsi.judges.replies.own_words import unreadable
from evalsi.ports.chat_model import ChatReply

CLAIMS_FORM = JsonForm((ListField("claims", about="one self-contained statement each"),))
"""What the first step must reply with; an empty list says that the text claims nothing."""


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
    fields = (
        NumberField("claim", 1, 100_000, whole=True, about="number of the claim"),
        TextField("reason", about="one sentence"),
        LabelField("verdict", tuple(labels)),
    )
    return JsonForm((ListField("verdicts", fields),))


def read_claim_verdicts(reply: ChatReply, count: int, labels: Sequence[str]) -> list[str]:
    """The label of claims 1 to `count`, in their order.

    Raises: ReplyError: a claim without a verdict or with two different ones, or a verdict on no claim.
    """
    rows = claim_verdicts_form(labels).read(reply)["verdicts"]
    wanted = f"one verdict on each of the {count} claims"
    by_claim: dict[int, str] = {}
    for row in rows:
        if by_claim.setdefault(row["claim"], row["verdict"]) != row["verdict"]:
            raise unreadable(reply, wanted, why=f"the judge gave two verdicts on claim {row['claim']}")
    missing = [number for number in range(1, count + 1) if number not in by_claim]
    if missing or len(by_claim) != count:
        odd = f"left out claim {missing[0]}" if missing else f"judged claim {max(by_claim)}, which does not exist"
        raise unreadable(reply, wanted, why=f"the judge {odd}")
    return [by_claim[number] for number in range(1, count + 1)]
