"""Verdicts on numbered things, one JSON object each: claims, passages, criteria.

Its own module because the pairing is what can go wrong: a judge that skips one, invents one or judges one twice must be
noticed, or every verdict after it counts for the wrong thing.
"""

from collections.abc import Sequence
from typing import Any

from evalsi.judges.replies.json_form import Field, JsonForm, ListField, NumberField, TextField
from evalsi.judges.replies.own_words import unreadable
from evalsi.ports.chat_model import ChatReply


def numbered_form(things: str, thing: str, fields: Sequence[Field]) -> JsonForm:
    """`{"<things>": [{"<thing>": 1, ...fields}, ...]}`: what to put a verdict on is named by its number, from 1."""
    number = NumberField(thing, 1, 100_000, whole=True, about=f"number of the {thing}")
    return JsonForm((ListField(things, (number, *fields)),))


def read_numbered(
    reply: ChatReply, form: JsonForm, count: int, *, material: Sequence[str] = ()
) -> list[dict[str, Any]]:
    """The rows of things 1 to `count`, in their order, read by a `numbered_form`.

    Repeating a verdict is no fault; reasons may differ then, and the first counts.

    Raises: ReplyError: one without a verdict or with two different ones, or a verdict on none of them.
    """
    (listing,) = form.fields
    assert isinstance(listing, ListField)
    thing = listing.fields[0].name
    verdicts = [field.name for field in listing.fields[1:] if not isinstance(field, TextField)]
    wanted = f"one verdict on each {thing} from 1 to {count}"
    rows: dict[int, dict[str, Any]] = {}
    for row in form.read(reply, material=material)[listing.name]:
        before = rows.setdefault(row[thing], row)
        if any(before[name] != row[name] for name in verdicts):
            raise unreadable(reply, wanted, why=f"the judge gave two verdicts on {thing} {row[thing]}")
    missing = [number for number in range(1, count + 1) if number not in rows]
    if missing or len(rows) != count:
        odd = f"left out {thing} {missing[0]}" if missing else f"judged {thing} {max(rows)}, which does not exist"
        raise unreadable(reply, wanted, why=f"the judge {odd}")
    return [rows[number] for number in range(1, count + 1)]
