"""Where the variance of repeated measurements comes from: records that differ, or trials of one record that differ.

Its own module because it answers what no interval does: whether more records or more trials would make a mean surer.
What always holds: only count, mean and sum of squares of each record are needed, so trials may be counted as they come.
"""

from dataclasses import dataclass
from math import sqrt

from evalsi.stats.sample import FloatArray, IntArray


@dataclass(frozen=True, slots=True)
class VarianceComponents:
    """The one-way random-effects model: a record has a mean of its own, a trial differs from it at random."""

    records: int
    trials: int
    """Measurements in all."""
    between: float
    """Variance of the records' own means, in squared units of the metric; 0 where the estimate falls below it."""
    within: float
    """Variance of the trials of one record."""

    @property
    def intraclass_correlation(self) -> float | None:
        """The share of the variance that lies between records, ICC(1); None where nothing varies.

        Source: Shrout & Fleiss (1979), their case 1.
        """
        whole = self.between + self.within
        return self.between / whole if whole > 0 else None

    def standard_error(self, records: float, trials: float) -> float:
        """Of the mean over `records` records with `trials` trials each, drawn anew from where these came from."""
        return sqrt((self.between + self.within / trials) / records)

    def narrowing(self, *, records: float = 1.0, trials: float = 1.0) -> float | None:
        """By which share an interval of the mean narrows with that many times the records, or the trials of each.

        None where nothing varies.
        """
        per_record = self.trials / self.records
        now = self.standard_error(self.records, per_record)
        then = self.standard_error(self.records * records, per_record * trials)
        return 1.0 - then / now if now > 0 else None


def variance_components(counts: IntArray, means: FloatArray, squares: FloatArray) -> VarianceComponents | None:
    """The components from what is known of each record, by the ANOVA estimators.

    Args:
        counts: int64, shape (records,): trials of each record, at least 1.
        means: float64, shape (records,): mean of its trials.
        squares: float64, shape (records,): sum of squared deviations of its trials from that mean.
    Returns: None below two records, or where no record has two trials: nothing tells the two apart.
    Source: Searle, Casella & McCulloch (1992), section 3.6: unequal numbers of trials, the estimate of the variance
        between records cut off at 0.
    """
    records, total = int(counts.size), int(counts.sum())
    if records < 2 or total == records:
        return None
    within = float(squares.sum()) / (total - records)
    grand = float((counts * means).sum()) / total
    between_square = float((counts * (means - grand) ** 2).sum()) / (records - 1)
    effective = (total - float((counts.astype(float) ** 2).sum()) / total) / (records - 1)
    between = max(0.0, (between_square - within) / effective)
    return VarianceComponents(records=records, trials=total, between=between, within=within)
