"""The chance that a change is an improvement, given paired differences: a Bayesian bootstrap that starts undecided.

Its own module because it answers in a probability and not in an interval's yes or no, which is what a reader of a
verdict asks for. What always holds: two pseudo-pairs, one for each direction as strong as the bounds allow, are added,
so no data gives 1/2 and a few equal differences never give certainty.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from evalsi.stats.interval import Interval, check_bounds, check_level, interval_or_none
from evalsi.stats.sample import checked_values

_CHUNK_ELEMENTS = 2_000_000


@dataclass(frozen=True, slots=True)
class ImprovementPosterior:
    improved: float
    """P(mean difference > 0), ties split."""
    not_regressed: float
    """P(mean difference > -margin)."""
    interval: Interval | None
    """Credible interval of the mean difference."""


def improvement_posterior(
    differences: npt.ArrayLike, *, margin: float, seed: int, level: float = 0.95, draws: int = 20_000
) -> ImprovementPosterior:
    """Posterior of the mean of paired differences (after - before) of scores in [0, 1].

    The differences with one more of +1 and of -1 get Dirichlet(1, ..., 1) weights; each draw of weights gives a mean.

    Args:
        differences: shape (n,), each in [-1, 1]; n may be 0.
        margin: a loss up to this is no regression, in [0, 1].
        draws: from the posterior, by `seed`; the probabilities carry an error of at most 1 / (2 sqrt(draws)).
    Raises: ValueError: NaN, infinity, a difference or a margin out of range.
    Source: Rubin (1981), Annals of Statistics 9:130-134; for 0/1 scores the posterior mean is the centre of Bonett &
        Price (2012).
    """
    check_level(level)
    array = checked_values(differences)
    if array.size:
        check_bounds((-1.0, 1.0), float(array.min()), float(array.max()))
    if not 0.0 <= margin <= 1.0:
        raise ValueError(f"the margin lies between 0 and 1, not {margin!r}")
    distinct, counts = np.unique(np.concatenate([array, [1.0, -1.0]]), return_counts=True)
    generator = np.random.default_rng(seed)
    means = np.empty(draws)
    step = max(1, _CHUNK_ELEMENTS // distinct.size)
    for start in range(0, draws, step):
        # Weights of equal differences add up to a gamma of their number, so each distinct value is drawn once.
        weights = generator.standard_gamma(counts.astype(np.float64), size=(min(step, draws - start), distinct.size))
        means[start : start + len(weights)] = (weights @ distinct) / weights.sum(axis=1)
    tail = (1.0 - level) / 2.0
    low, high = np.quantile(means, (tail, 1.0 - tail))
    return ImprovementPosterior(
        float((means > 0.0).mean() + 0.5 * (means == 0.0).mean()),
        float((means > -margin).mean()),
        interval_or_none(float(low), float(high), level, "bayesian-bootstrap"),
    )
