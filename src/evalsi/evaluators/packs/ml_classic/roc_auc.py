"""`roc-auc`: does a classifier's score rank the positive records above the others, and is it a good probability?"""

from collections.abc import Sequence
from typing import Annotated

import msgspec
import numpy as np

from evalsi.evaluators.api import EvalContext, Record, Score, evaluator, output
from evalsi.evaluators.packs.ml_classic import scored_outcomes
from evalsi.evaluators.packs.ml_classic.dataset_metric import (
    DatasetMetrics,
    FloatArray,
    intervals_over_records,
    plan_for,
)


class RocAucParams(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    label_field: Annotated[str, msgspec.Meta(min_length=1)] = "label"
    """Key of the true label where the reference is an object or a table row."""
    score_field: Annotated[str, msgspec.Meta(min_length=1)] = "score"
    """Key of the score in the output, else in the record's metadata."""
    positive_label: str = ""
    """The label that the score is about. May be left out where labels are 0 and 1, or false and true."""
    eps: Annotated[float, msgspec.Meta(gt=0, lt=0.5)] = 1e-15
    """Log loss takes probabilities no nearer to 0 and 1 than this."""


class RocAuc:
    """Ranking quality of a score: area under the ROC curve, average precision, and log loss.

    ROC AUC is the chance that a positive record scores above a negative one, ties counting half. PR AUC is the average
    precision sum (R_k - R_(k-1)) P_k over thresholds. Log loss = -mean log of the probability given to what was true;
    it is left out where a score lies outside [0, 1]. All need both classes. Intervals: bootstrap over records.
    Sources: Hanley & McNeil (1982), Radiology 143:29-36; scikit-learn's average_precision_score and log_loss.
    """

    def __init__(self, params: RocAucParams, context: EvalContext) -> None:
        self._params = params
        self._context = context

    def map(self, records: Sequence[Record]) -> scored_outcomes.State:
        params = self._params
        return scored_outcomes.read(
            records,
            label_field=params.label_field,
            score_field=params.score_field,
            positive_label=params.positive_label,
        )

    def merge(self, left: scored_outcomes.State, right: scored_outcomes.State) -> scored_outcomes.State:
        return scored_outcomes.merge(left, right)

    def reduce(self, state: scored_outcomes.State) -> list[Score]:
        scores, labels, missing = state
        found = DatasetMetrics(n=len(scores), missing=missing)
        happened = scored_outcomes.outcomes(labels, self._params.positive_label)
        curves = _Curves(np.array(scores), happened, self._params.eps)
        values = curves(np.ones((1, found.n)))
        intervals = intervals_over_records(curves, found.n, plan_for(self._context, found.n))
        one_class = "all records are of one class"
        reasons = {"roc-auc": one_class, "pr-auc": "no record is positive", "log-loss": "a score lies outside [0, 1]"}
        for name, value in values.items():
            found.add(
                name, float(value[0]), interval=intervals.get(name), reason=reasons[name], positive=int(happened.sum())
            )
        return found.finished()


class _Curves:
    """The metrics of any reweighting of the records, which are sorted by score once, highest first.

    Weights are those of the sorted records. Resampling draws every record alike, so their order does not matter to it.
    """

    def __init__(self, scores: FloatArray, happened: FloatArray, eps: float) -> None:
        order = np.argsort(-scores, kind="stable")
        ordered = scores[order]
        starts = np.flatnonzero(np.concatenate([[True], ordered[1:] != ordered[:-1]]))
        self._starts = None if starts.size == scores.size else starts
        self._positive = happened[order]
        self._losses: FloatArray | None = None
        if ((scores >= 0) & (scores <= 1)).all():
            given = np.clip(np.where(self._positive == 1, ordered, 1 - ordered), eps, 1 - eps)
            self._losses = -np.log(given)

    def __call__(self, weights: FloatArray) -> dict[str, FloatArray]:
        positive, every = self._by_score(weights * self._positive), self._by_score(weights)
        positives_so_far, so_far = positive.cumsum(axis=1), every.cumsum(axis=1)
        positives, n = positives_so_far[:, -1].copy(), so_far[:, -1].copy()
        both = positives * (n - positives)
        # Pairs with the positive above the negative: (all of a score - positives) * (positives above + half of the tied).
        above = (
            np.einsum("ij,ij->i", every, positives_so_far)
            - np.einsum("ij,ij->i", positive, positives_so_far)
            - np.einsum("ij,ij->i", every, positive) / 2
            + np.einsum("ij,ij->i", positive, positive) / 2
        )
        precision = np.divide(positives_so_far, np.maximum(so_far, 1, out=so_far), out=positives_so_far)
        summed = np.einsum("ij,ij->i", positive, precision)
        undefined = np.full(n.shape, np.nan)
        return {
            "roc-auc": np.divide(above, both, out=undefined.copy(), where=both > 0),
            "pr-auc": np.divide(summed, positives, out=undefined.copy(), where=positives > 0),
            "log-loss": undefined if self._losses is None else weights @ self._losses / n,
        }

    def _by_score(self, weights: FloatArray) -> FloatArray:
        """Weights added up over equal scores."""
        return weights if self._starts is None else np.add.reduceat(weights, self._starts, axis=1)


roc_auc = evaluator(
    name="roc-auc",
    scope="dataset",
    bounded=True,
    requires=["reference"],
    params=RocAucParams,
    outputs=[
        output("roc-auc", low=0, high=1, description="Chance that a positive record scores above a negative one."),
        output("pr-auc", low=0, high=1, description="Average precision."),
        output("log-loss", low=0, higher_is_better=False, description="Mean negative log likelihood, in nats."),
    ],
    example={
        "records": [
            {"id": str(index), "output": {"json": {"score": score}}, "reference": {"text": label}}
            for index, (score, label) in enumerate([(0.1, "0"), (0.4, "0"), (0.35, "1"), (0.8, "1")])
        ],
        "expected": {"roc-auc": 0.75, "pr-auc": 5 / 6},
    },
)(RocAuc)
