"""Deliveries as portions of scores that a sink takes in one request, and what became of each delivery in the end.

Its own module because sinks take scores by the hundred and refuse a whole request for one of them. What always holds: a
score that is refused costs only its own delivery; once a sink takes nothing at all, it is asked no more.
"""

from collections.abc import Awaitable, Callable, Sequence
from typing import NamedTuple, TypeVar

from evalsi.ports.score_sink import TAKEN, OutgoingScore, OutgoingScores, SinkReceipt

T = TypeVar("T")

_WORST = ("trouble", "missing", "refused", "taken")


class SentScore(NamedTuple):
    """A score with what it belongs to."""

    of: OutgoingScores
    score: OutgoingScore
    is_withdrawn: bool = False
    """Whether it is not there any more; it has no value then."""


def origin_of(of: OutgoingScores) -> dict[str, str | int]:
    """Who found it, as sinks are told in attributes: a policy with the revision, or a run with the record."""
    if not of.run_id:
        return {"evalsi.project": of.project, "evalsi.policy": of.policy, "evalsi.revision": of.revision}
    found: dict[str, str | int] = {"evalsi.project": of.project, "evalsi.run": of.run_id}
    if of.record_id:
        found["evalsi.record"] = of.record_id
    if of.trial:
        found["evalsi.trial"] = of.trial
    return found


Post = Callable[[Sequence[SentScore]], Awaitable[SinkReceipt]]
"""Sends scores in one request; what became of all of them."""


async def send_in_portions(
    deliveries: Sequence[OutgoingScores],
    post: Post,
    *,
    at_once: int,
    takes: Callable[[OutgoingScore], bool] = lambda _score: True,
) -> list[SinkReceipt]:
    """What became of each delivery: the worst of what became of its scores.

    Args:
        takes: Whether the sink has a form for a score; one that it has none for is left out.
    """
    receipts = [TAKEN] * len(deliveries)
    places: list[tuple[int, SentScore]] = []
    for place, each in enumerate(deliveries):
        places += [(place, SentScore(each, score)) for score in each.scores if takes(score)]
        places += [(place, SentScore(each, score, is_withdrawn=True)) for score in each.withdrawn if takes(score)]
    for start in range(0, len(places), at_once):
        portion = places[start : start + at_once]
        found = await send_halving([sent for _, sent in portion], post)
        for (place, _), receipt in zip(portion, found, strict=True):
            receipts[place] = worse(receipts[place], receipt)
        trouble = next((each for each in found if each.state == "trouble"), None)
        if trouble is not None:
            for place, _ in places[start + at_once :]:
                receipts[place] = worse(receipts[place], trouble)
            break
    return receipts


def worse(one: SinkReceipt, other: SinkReceipt) -> SinkReceipt:
    """Of two, the one that decides what becomes of both."""
    return min(one, other, key=lambda each: _WORST.index(each.state))


async def send_halving(sent: Sequence[T], post: Callable[[Sequence[T]], Awaitable[SinkReceipt]]) -> list[SinkReceipt]:
    """What became of each, in order. Of many that are refused together, the one to blame is found; after trouble, none is sent."""
    receipt = await post(sent)
    if receipt.state not in ("refused", "missing") or len(sent) == 1:
        return [receipt] * len(sent)
    # One of them is to blame: each half by itself, until it is found.
    middle = len(sent) // 2
    first = await send_halving(sent[:middle], post)
    trouble = next((each for each in first if each.state == "trouble"), None)
    return first + ([trouble] * (len(sent) - middle) if trouble else await send_halving(sent[middle:], post))
