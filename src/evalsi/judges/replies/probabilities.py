"""A rating weighed by the probabilities of its token, as G-Eval does: finer than the number that was written.

Only a rating that is one token is weighed. Where a tokeniser splits 10 into "1" and "0", the probability of "1" belongs to
two ratings; then nothing is weighed and the caller keeps the rating as written.

Source: Liu et al. (2023), G-Eval: NLG Evaluation using GPT-4 with Better Human Alignment, section 3.
"""

import math
from collections.abc import Sequence

import msgspec

from evalsi.judges.replies.rating import Scale
from evalsi.ports.chat_model import ChatReply, TokenAlternatives

_TRIVIAL = 0.01
_EDGES = " \t\n*_[]\"'`"


class WeighedRating(msgspec.Struct, frozen=True, kw_only=True):
    """`mean` is the expected rating over `weights` (rating to probability, summing to 1); `coverage` is how much of the
    token's probability lay on ratings of the scale before that.
    """

    mean: float
    weights: dict[int, float]
    coverage: float


def expected_rating(reply: ChatReply, scale: Scale, rating: float) -> WeighedRating | None:
    """The expectation of a whole-number rating over the alternatives of its token.

    Args:
        reply: With probabilities, if the provider gave any.
        scale: The scale that was asked for.
        rating: What `read_rating` read in the same reply.
    Returns: None when the reply has no probabilities, the rating is not one token, or a prefix cannot be told from it.
    """
    position = _position(reply.logprobs, rating)
    if position is None:
        return None
    token = reply.logprobs[position]
    alternatives = {token.token: token.logprob, **token.top}
    masses: dict[int, float] = {}
    for text, logprob in alternatives.items():
        value = _whole(text)
        if value is not None and scale.low <= value <= scale.high and not math.isnan(logprob):
            masses[value] = masses.get(value, 0.0) + math.exp(min(logprob, 0.0))
    longer = [value for value in range(10, int(scale.high) + 1) if value not in masses]
    if any(_is_prefix(short, value) and masses[short] > _TRIVIAL for short in masses for value in longer):
        return None
    total = math.fsum(masses.values())
    if total <= 0:
        return None
    weights = {value: mass / total for value, mass in sorted(masses.items())}
    return WeighedRating(
        mean=math.fsum(value * weight for value, weight in weights.items()), weights=weights, coverage=min(total, 1.0)
    )


def _position(tokens: Sequence[TokenAlternatives], rating: float) -> int | None:
    """Index of the token that is the rating: the only one, or the one after an anchor's colon, else None."""
    if rating != int(rating):
        return None
    same = [number for number, token in enumerate(tokens) if _whole(token.token) == int(rating)]
    if len(same) > 1:
        same = [number for number in same if _follows_anchor(tokens, number)]
    if len(same) != 1 or _continues(tokens, same[0]):
        return None
    return same[0]


def _follows_anchor(tokens: Sequence[TokenAlternatives], number: int) -> bool:
    before = "".join(token.token for token in tokens[max(0, number - 6) : number]).rstrip(_EDGES)
    return before.endswith((":", "="))


def _continues(tokens: Sequence[TokenAlternatives], number: int) -> bool:
    """Whether the number goes on in its neighbours: "1" "0", "7" ".5"."""
    before = tokens[number - 1].token if number else ""
    after = "".join(token.token for token in tokens[number + 1 : number + 3])
    own = tokens[number].token
    if not own[:1].isspace() and before[-1:].isdigit():
        return True
    return after[:1].isdigit() or (after[:1] == "." and after[1:2].isdigit())


def _whole(token: str) -> int | None:
    text = token.strip(_EDGES)
    return int(text) if text.isascii() and text.isdigit() and len(text) <= 4 else None


def _is_prefix(short: int, value: int) -> bool:
    return str(value).startswith(str(short)) and value != short
