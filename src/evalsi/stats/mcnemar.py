"""McNemar's test: do two configurations pass the same records equally often?

Its own module because a p-value on discordant pairs is a different question from the size of the difference
(`paired`). What always holds: only pairs that changed speak, and one of them is no evidence.
"""

from evalsi.stats.distributions import binomial_cdf, binomial_pmf


def _discordant(better: int, worse: int) -> tuple[int, int]:
    if better < 0 or worse < 0:
        raise ValueError(f"better and worse are counts, not {better} and {worse}")
    return better + worse, min(better, worse)


def mcnemar_exact(better: int, worse: int) -> float:
    """Exact two-sided p-value: under no change each discordant pair goes either way with chance 1/2.

    Args:
        better, worse: discordant pairs in each direction.
    Returns: p in (0, 1]; 1 with no discordant pair. Its false-alarm rate is at most alpha, often well below.
    Source: McNemar (1947), Psychometrika 12:153-157; exact form, Cochran (1950), Biometrika 37:256-266.
    """
    total, fewer = _discordant(better, worse)
    if total == 0:
        return 1.0
    return min(1.0, 2.0 * binomial_cdf(fewer, total, 0.5))


def mcnemar_mid_p(better: int, worse: int) -> float | None:
    """Mid-p version: counts half of the observed outcome, so it is less conservative and rarely above alpha.

    Returns: p in (0, 1]; None with no discordant pair, where there is nothing to test.
    Source: Fagerland, Lydersen & Laake (2013), BMC Medical Research Methodology 13:91.
    """
    total, fewer = _discordant(better, worse)
    if total == 0:
        return None
    if better == worse:
        return 1.0
    return min(1.0, 2.0 * binomial_cdf(fewer, total, 0.5) - binomial_pmf(fewer, total, 0.5))
