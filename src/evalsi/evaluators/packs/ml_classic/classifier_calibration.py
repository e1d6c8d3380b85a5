"""`classifier-calibration`: when a classifier says 80%, does it happen in 80 of 100 cases?"""

from collections.abc import Sequence
from typing import Annotated

import msgspec
import numpy as np

from evalsi.core.errors import SkipRecord
from evalsi.evaluators.api import EvalContext, Record, Score, evaluator, output
from evalsi.evaluators.packs.ml_classic import scored_outcomes
from evalsi.evaluators.packs.ml_classic.dataset_metric import DatasetMetrics, plan_for
from evalsi.stats import Binning, ReliabilityRow, brier_score, expected_calibration_error, reliability_table


class ClassifierCalibrationParams(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    positive_label: Annotated[str, msgspec.Meta(min_length=1)]
    """The label whose probability the score is."""
    label_field: Annotated[str, msgspec.Meta(min_length=1)] = "label"
    """Key of the true label where the reference is an object or a table row."""
    score_field: Annotated[str, msgspec.Meta(min_length=1)] = "score"
    """Key of the score in the output, else in the record's metadata."""
    bins: Annotated[int, msgspec.Meta(ge=1, le=1000)] = 10
    """Bins of equal width in [0, 1] for the calibration error and the table."""


class ClassifierCalibration:
    """Do stated probabilities come true? Expected calibration error and Brier score, with the reliability table.

    ECE = sum over bins of (records in the bin / n) * |mean probability - share that was positive|; Brier = mean
    (probability - outcome)^2. A record whose score lies outside [0, 1] is counted as unreadable.
    Sources: Naeini, Cooper & Hauskrecht (2015), AAAI; Brier (1950), Monthly Weather Review 78:1-3.
    """

    def __init__(self, params: ClassifierCalibrationParams, context: EvalContext) -> None:
        self._params = params
        self._context = context

    def map(self, records: Sequence[Record]) -> scored_outcomes.State:
        params = self._params
        scores, labels, missing = scored_outcomes.read(
            records,
            label_field=params.label_field,
            score_field=params.score_field,
            positive_label=params.positive_label,
        )
        outside = sum(not 0 <= score <= 1 for score in scores)
        if outside:
            missing["the score lies outside [0, 1]"] += outside
            labels = [label for label, score in zip(labels, scores, strict=True) if 0 <= score <= 1]
            scores = [score for score in scores if 0 <= score <= 1]
        return scores, labels, missing

    def merge(self, left: scored_outcomes.State, right: scored_outcomes.State) -> scored_outcomes.State:
        return scored_outcomes.merge(left, right)

    def reduce(self, state: scored_outcomes.State) -> list[Score]:
        scores, labels, missing = np.array(state[0]), state[1], state[2]
        found = DatasetMetrics(n=scores.size, missing=missing)
        if self._params.positive_label not in set(labels):
            label = self._params.positive_label
            raise SkipRecord(f"no reference is {label!r}; labels are {', '.join(sorted(set(labels))[:8])}")
        happened = scored_outcomes.outcomes(labels, self._params.positive_label)
        plan, binning = plan_for(self._context, found.n), Binning(bins=self._params.bins)
        error = expected_calibration_error(scores, happened, plan, binning)
        table = [_row(row) for row in reliability_table(scores, happened, binning, self._context.level)]
        found.add("ece", error.value, interval=error.interval, reliability=table)
        brier = brier_score(scores, happened, plan)
        found.add("brier", brier.value, interval=brier.interval)
        return found.finished()


def _row(row: ReliabilityRow) -> dict[str, float | int | list[float] | None]:
    interval = row.accuracy_interval
    return {
        "low": row.low,
        "high": row.high,
        "n": row.n,
        "mean_score": row.mean_confidence,
        "positive_share": row.accuracy,
        "positive_share_ci": None if interval is None else [interval.low, interval.high],
    }


classifier_calibration = evaluator(
    name="classifier-calibration",
    scope="dataset",
    bounded=True,
    requires=["reference"],
    params=ClassifierCalibrationParams,
    outputs=[
        output("ece", low=0, high=1, higher_is_better=False, description="Expected calibration error."),
        output("brier", low=0, high=1, higher_is_better=False, description="Mean squared gap to what happened."),
    ],
    example={
        "records": [
            {"id": str(index), "output": {"json": {"score": score}}, "reference": {"text": label}}
            for index, (score, label) in enumerate([(0.1, "no"), (0.9, "yes"), (0.8, "yes"), (0.3, "no")])
        ],
        "params": {"positive_label": "yes"},
        "expected": {"ece": 0.175, "brier": 0.0375},
    },
)(ClassifierCalibration)
