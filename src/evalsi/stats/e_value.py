"""Evidence that may be watched: the e-value of paired binary data.

Its own module because a p-value is spoiled by peeking and an e-value is not: under no change its expectation is 1 at
every moment, so stopping when it reaches 20 raises a false alarm at most one time in twenty, whenever one looks. What
always holds: only discordant pairs move it, and their order does not matter.
"""

from math import exp, inf, lgamma, log
from typing import Literal

from evalsi.stats.distributions import beta_cdf

_LARGEST_EXPONENT = 700.0


def paired_binary_log_e_value(better: int, worse: int, direction: Literal["any", "better", "worse"] = "any") -> float:
    """Natural logarithm of the e-value against "a discordant pair goes either way with chance 1/2".

    The likelihood of the discordant pairs under a Beta(1/2, 1/2) prior on their direction, over that under 1/2:
    B(1/2 + better, 1/2 + worse) / B(1/2, 1/2) * 2^(better + worse). A one-sided direction keeps the half of the prior
    on its side, doubled.

    Args:
        better, worse: discordant pairs so far, in each direction.
    Returns: 0 without discordant pairs; log 20 = 2.996 is the threshold at alpha .05.
    Raises: ValueError: negative counts.
    Source: Ville (1939); mixture of Robbins (1970), Annals of Mathematical Statistics 41:1397-1409; Grunwald, de Heide
        & Koolen (2024), Journal of the Royal Statistical Society B 86:1091-1128.
    """
    if better < 0 or worse < 0:
        raise ValueError(f"better and worse are counts, not {better} and {worse}")
    a, b, total = 0.5 + better, 0.5 + worse, better + worse
    log_e = lgamma(a) + lgamma(b) - lgamma(total + 1.0) - 2.0 * lgamma(0.5) + total * log(2.0)
    if direction == "any":
        return log_e
    side = beta_cdf(0.5, b, a) if direction == "better" else beta_cdf(0.5, a, b)
    return log_e + log(2.0 * side) if side > 0.0 else -inf


def paired_binary_e_value(better: int, worse: int, direction: Literal["any", "better", "worse"] = "any") -> float:
    """The e-value itself, at most e^700 so that it stays finite. Args, Raises, Source: `paired_binary_log_e_value`."""
    return exp(min(_LARGEST_EXPONENT, paired_binary_log_e_value(better, worse, direction)))


def anytime_p_value(largest_e_value: float) -> float:
    """A p-value valid under peeking: 1 / (the largest e-value seen so far), at most 1.

    Source: Ville's inequality; Ramdas et al. (2023), Statistical Science 38:576-601.
    """
    if largest_e_value < 0.0:
        raise ValueError(f"an e-value is not negative, not {largest_e_value!r}")
    return min(1.0, 1.0 / largest_e_value) if largest_e_value > 0.0 else 1.0
