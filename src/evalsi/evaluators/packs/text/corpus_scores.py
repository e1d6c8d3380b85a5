"""A corpus score from sufficient statistics: counts are kept per record, so that states merge and an interval can resample.

Its own module because BLEU and chrF pool counts over records in the same way, and the mean of sentence scores is another
number. What always holds: the interval belongs to the reported score (every resample recomputes it), it is a pure
function of the data and the seed, and it is left out rather than given no width.
"""

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from evalsi.core.errors import SkipRecord
from evalsi.evaluators.api import EvalContext, Record, Score
from evalsi.evaluators.packs.text.text_pairs import PairReader

Statistics: TypeAlias = npt.NDArray[np.int32]
"""Counts, shape (records, counts)."""
ScoreOf: TypeAlias = Callable[[Sequence[int]], float]
"""A corpus score, from 0 to 1, of counts summed over records."""

RESAMPLES = 1000
_LARGE = 20_000
"""Records from which on resampled sums are drawn from their normal limit instead of record by record."""


class CorpusState:
    """What `map` makes of a batch: a list of arrays, joined only once, in `reduce`."""

    __slots__ = ("parts", "reference_counts", "skipped")

    def __init__(self, parts: list[Statistics], reference_counts: set[int], skipped: int) -> None:
        self.parts = parts
        self.reference_counts = reference_counts
        self.skipped = skipped

    def merge(self, other: "CorpusState") -> "CorpusState":
        self.parts.extend(other.parts)
        self.reference_counts |= other.reference_counts
        self.skipped += other.skipped
        return self

    def rows(self) -> Statistics:
        if not self.parts:
            raise SkipRecord("no record has a reference")
        return np.concatenate(self.parts)


def map_statistics(records: Sequence[Record], pair: PairReader, metric: Any) -> CorpusState:
    """The state of a batch; a record that does not apply is left out and counted.

    Statistics are no public result of sacrebleu: `_extract_corpus_statistics` and `_compute_score_from_stats` are what
    every metric of it implements, and tests compare what comes out with its corpus score.
    """
    rows: list[Sequence[int]] = []
    reference_counts: set[int] = set()
    for record in records:
        try:
            answer, references = pair(record)
        except SkipRecord:
            continue
        rows.extend(metric._extract_corpus_statistics([answer], [[reference] for reference in references]))
        reference_counts.add(len(references))
    parts = [np.asarray(rows, dtype=np.int32)] if rows else []
    return CorpusState(parts, reference_counts, len(records) - len(rows))


def corpus_signature(metric: Any, state: CorpusState) -> str:
    """Sacrebleu's signature, with the number of references that the records have."""
    counts = state.reference_counts
    metric.num_refs = counts.copy().pop() if len(counts) == 1 else -1
    return str(metric.get_signature())


def corpus_score(
    name: str, state: CorpusState, score_of: ScoreOf, context: EvalContext, metadata: dict[str, Any]
) -> Score:
    """The score of all records with its bootstrap interval in `metadata["ci"]`."""
    rows = state.rows()
    totals = rows.sum(axis=0, dtype=np.int64)
    details: dict[str, Any] = {**metadata, "n": len(rows)}
    if state.skipped:
        details["skipped"] = state.skipped
    interval = bootstrap_interval(rows, score_of, seed=context.seed, level=context.level)
    if interval is not None:
        details["ci"] = {
            "low": interval[0],
            "high": interval[1],
            "level": context.level,
            "method": "bootstrap over records, score recomputed",
        }
    return Score(name=name, number=score_of(totals.tolist()), metadata=details)


def bootstrap_interval(
    rows: Statistics, score_of: ScoreOf, *, seed: int, level: float, resamples: int = RESAMPLES
) -> tuple[float, float] | None:
    """Percentile bootstrap interval of a corpus score.

    Args:
        rows: Counts, shape (records, counts); records are resampled whole.
        score_of: The score of summed counts.
        seed: The interval is a pure function of its arguments.
        level: Confidence, for example 0.95.
        resamples: How many corpora are drawn.

    Returns:
        (low, high), or None where there are fewer than two records or all resamples score the same.
    Source: Koehn (2004), "Statistical significance tests for machine translation evaluation"; Efron & Tibshirani
        (1993), section 13.3. From 20,000 records on, sums are drawn from the multivariate normal that they tend to.
    """
    n = len(rows)
    if n < 2:
        return None
    generator = np.random.default_rng(seed)
    sums = (_normal_sums if n >= _LARGE else _resampled_sums)(rows, generator, resamples)
    scores = np.array([score_of(total) for total in sums.tolist()])
    low, high = np.quantile(scores, [(1 - level) / 2, (1 + level) / 2])
    return (float(low), float(high)) if high > low else None


def _resampled_sums(rows: Statistics, generator: np.random.Generator, resamples: int) -> npt.NDArray[np.int64]:
    """Sums over resampled records, shape (resamples, counts)."""
    n = len(rows)
    values = rows.astype(np.float64)
    sums = np.empty((resamples, rows.shape[1]))
    block = max(1, min(resamples, 4_000_000 // n))
    for start in range(0, resamples, block):
        size = min(block, resamples - start)
        drawn = generator.integers(0, n, size=(size, n), dtype=np.int32)
        weights = np.stack([np.bincount(row, minlength=n) for row in drawn]).astype(np.float64)
        sums[start : start + size] = weights @ values
    return np.rint(sums).astype(np.int64)


def _normal_sums(rows: Statistics, generator: np.random.Generator, resamples: int) -> npt.NDArray[np.int64]:
    """Sums that n resampled records would have, by the central limit theorem; counts stay whole and not negative."""
    n = len(rows)
    mean = rows.mean(axis=0, dtype=np.float64)
    covariance = np.zeros((rows.shape[1], rows.shape[1]))
    for start in range(0, n, 65536):
        centred = rows[start : start + 65536] - mean
        covariance += centred.T @ centred
    values, vectors = np.linalg.eigh(covariance)
    draws = generator.standard_normal((resamples, rows.shape[1])) * np.sqrt(np.maximum(values, 0.0))
    return np.maximum(np.rint(n * mean + draws @ vectors.T), 0).astype(np.int64)
