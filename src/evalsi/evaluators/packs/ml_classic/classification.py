"""`classification`: how well predicted labels agree with true ones, over the whole dataset."""

from collections import Counter
from collections.abc import Sequence
from typing import Annotated, Any, TypeAlias

import msgspec
import numpy as np
import numpy.typing as npt

from evalsi.evaluators.api import EvalContext, Record, Score, evaluator, output
from evalsi.evaluators.packs.ml_classic.dataset_metric import (
    DatasetMetrics,
    FloatArray,
    intervals_over_counts,
    plan_for,
)
from evalsi.evaluators.packs.ml_classic.field_reading import Missing, label_of
from evalsi.stats import wilson

State: TypeAlias = tuple[Counter[tuple[str, str]], Counter[str]]
"""How often each (true, predicted) pair came, and why records could not be read."""

_MOST_LABELS_SHOWN = 200


class ClassificationParams(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    label_field: Annotated[str, msgspec.Meta(min_length=1)] = "label"
    """Key of the label where the output or the reference is an object or a table row."""
    labels: Annotated[list[Annotated[str, msgspec.Meta(min_length=1)]], msgspec.Meta(min_length=1)] | None = None
    """Labels that the averages go over, in the order of the matrix. By default every label that occurs."""
    positive_label: str = ""
    """The label that `precision`, `recall` and `f1` are about; without it they are not reported."""
    zero_division: Annotated[float, msgspec.Meta(ge=0, le=1)] | None = None
    """What a ratio without a denominator counts. By default it counts 0 in an average, as in scikit-learn, and its label
    is named; a metric that is nothing but this ratio is not reported."""

    def __post_init__(self) -> None:
        if self.labels is not None and len(set(self.labels)) < len(self.labels):
            raise ValueError("labels names a label twice")
        if self.labels is not None and self.positive_label and self.positive_label not in self.labels:
            raise ValueError(f"positive_label {self.positive_label!r} is none of labels")


class Classification:
    """Agreement of predicted with true labels: accuracy, precision, recall, F1, balanced accuracy, MCC, kappa, matrix.

    With tp, fp and fn of a label: precision = tp / (tp + fp), recall = tp / (tp + fn), f1 = 2 tp / (2 tp + fp + fn).
    "macro" is their plain mean over labels, "weighted" their mean by true count, "micro" the ratio of summed counts.
    Balanced accuracy is the mean recall of the labels that truly occur. Labels are compared exactly.

    Accuracy and f1-micro have Wilson's interval, the rest a bootstrap over records.
    Sources: scikit-learn's definitions; MCC: Gorodkin (2004), Computational Biology and Chemistry 28:367-374; kappa:
    Cohen (1960), Educational and Psychological Measurement 20:37-46.
    """

    def __init__(self, params: ClassificationParams, context: EvalContext) -> None:
        self._params = params
        self._context = context

    def map(self, records: Sequence[Record]) -> State:
        pairs: Counter[tuple[str, str]] = Counter()
        missing: Counter[str] = Counter()
        for record in records:
            true = label_of(record.reference, self._params.label_field, what="reference")
            predicted = label_of(record.output, self._params.label_field, what="output")
            if isinstance(true, Missing):
                missing[true.reason] += 1
            elif isinstance(predicted, Missing):
                missing[predicted.reason] += 1
            else:
                pairs[true, predicted] += 1
        return pairs, missing

    def merge(self, left: State, right: State) -> State:
        return left[0] + right[0], left[1] + right[1]

    def reduce(self, state: State) -> list[Score]:
        pairs, missing = state
        found = DatasetMetrics(n=pairs.total(), missing=missing)
        occurring = sorted({label for pair in pairs for label in pair})
        labels = self._params.labels or occurring
        every = [*labels, *(label for label in occurring if label not in set(labels))]
        table = _Table(pairs, every, averaged=len(labels), params=self._params)
        values = {name: float(value[0]) for name, value in table.metrics(table.counts[None, :].astype(float)).items()}
        intervals = intervals_over_counts(table.metrics, table.counts, plan_for(self._context, found.n))
        hits = sum(count for (true, predicted), count in pairs.items() if true == predicted)
        intervals["accuracy"] = wilson(hits, found.n, self._context.level)
        if len(labels) == len(every):
            intervals["f1-micro"] = intervals["accuracy"]
        for name, value in values.items():
            found.add(name, value, interval=intervals.get(name), reason=table.reason(name))
        if not self._params.positive_label:
            for name in ("precision", "recall", "f1"):
                found.undefined[name] = "no positive_label is set"
        found.scores.append(table.matrix())
        return found.finished()


class _Table:
    """Counts of (true, predicted) pairs and the metrics of any reweighting of them."""

    def __init__(
        self, pairs: Counter[tuple[str, str]], every: Sequence[str], *, averaged: int, params: ClassificationParams
    ) -> None:
        place = {label: index for index, label in enumerate(every)}
        self.every = list(every)
        self.averaged = averaged
        self.params = params
        self.true = np.array([place[true] for true, _ in pairs], dtype=np.int64)
        self.predicted = np.array([place[predicted] for _, predicted in pairs], dtype=np.int64)
        self.counts: npt.NDArray[np.int64] = np.array(list(pairs.values()), dtype=np.int64)

    def metrics(self, weights: FloatArray) -> dict[str, FloatArray]:
        """Every metric on each row of `weights`, shape (rows, pairs)."""
        size, averaged = len(self.every), self.averaged
        true_counts = _summed(weights, self.true, size)
        predicted_counts = _summed(weights, self.predicted, size)
        right = self.true == self.predicted
        hits = _summed(weights[:, right], self.true[right], size)
        n = weights.sum(axis=1)
        substitute = self.params.zero_division or 0.0
        precision = _ratio(hits, predicted_counts)
        recall = _ratio(hits, true_counts)
        f1 = _ratio(2 * hits, true_counts + predicted_counts)
        found: dict[str, FloatArray] = {"accuracy": _ratio(hits.sum(axis=1), n)}
        support = true_counts[:, :averaged]
        for name, ratios in (("precision", precision), ("recall", recall), ("f1", f1)):
            filled = np.nan_to_num(ratios[:, :averaged], nan=substitute)
            found[f"{name}-macro"] = filled.mean(axis=1)
            found[f"{name}-weighted"] = _ratio((filled * support).sum(axis=1), support.sum(axis=1))
        inside = hits[:, :averaged].sum(axis=1)
        found["precision-micro"] = _ratio(inside, predicted_counts[:, :averaged].sum(axis=1))
        found["recall-micro"] = _ratio(inside, support.sum(axis=1))
        found["f1-micro"] = _ratio(2 * inside, predicted_counts[:, :averaged].sum(axis=1) + support.sum(axis=1))
        occurring = true_counts > 0
        found["balanced-accuracy"] = _ratio(
            np.where(occurring, np.nan_to_num(recall), 0).sum(axis=1), occurring.sum(axis=1)
        )
        found["mcc"], found["cohen-kappa"] = _chance_corrected(hits.sum(axis=1), true_counts, predicted_counts, n)
        if self.params.positive_label:
            found |= self._of_positive_label(precision, recall, f1)
        return found

    def reason(self, name: str) -> str:
        """Why `name` has no value, where it has none."""
        label = self.params.positive_label
        return {
            "precision": f"no record is predicted {label!r}",
            "recall": f"no record truly is {label!r}",
            "f1": f"no record is or is predicted {label!r}",
            "mcc": "all true or all predicted labels are the same",
            "cohen-kappa": "all labels are the same, so agreement by chance is certain",
        }.get(name, "no record bears one of the labels")

    def matrix(self) -> Score:
        """The confusion matrix, rows true and columns predicted, and each label's own figures."""
        size = len(self.every)
        counts = np.zeros((size, size), dtype=np.int64)
        counts[self.true, self.predicted] = self.counts
        hits, true_counts, predicted_counts = counts.diagonal(), counts.sum(axis=1), counts.sum(axis=0)
        per_class = {
            label: {
                "support": int(true_counts[index]),
                "predicted": int(predicted_counts[index]),
                "precision": _share(hits[index], predicted_counts[index]),
                "recall": _share(hits[index], true_counts[index]),
                "f1": _share(2 * hits[index], true_counts[index] + predicted_counts[index]),
            }
            for index, label in enumerate(self.every[:_MOST_LABELS_SHOWN])
        }
        never_predicted = [
            label for index, label in enumerate(self.every[: self.averaged]) if not predicted_counts[index]
        ]
        never_true = [label for index, label in enumerate(self.every[: self.averaged]) if not true_counts[index]]
        shown = slice(0, _MOST_LABELS_SHOWN)
        return Score(
            name="confusion-matrix",
            structured={"labels": self.every[shown], "matrix": counts[shown, shown].tolist(), "rows": "true"},
            metadata={
                "per_class": per_class,
                "precision_counted_as_zero_division": never_predicted[:_MOST_LABELS_SHOWN],
                "recall_counted_as_zero_division": never_true[:_MOST_LABELS_SHOWN],
                "labels_left_out": max(0, size - _MOST_LABELS_SHOWN),
            },
        )

    def _of_positive_label(self, precision: FloatArray, recall: FloatArray, f1: FloatArray) -> dict[str, FloatArray]:
        rows = precision.shape[0]
        label = self.params.positive_label
        index = self.every.index(label) if label in self.every else None
        found: dict[str, FloatArray] = {}
        for name, ratios in (("precision", precision), ("recall", recall), ("f1", f1)):
            values = np.full(rows, np.nan) if index is None else ratios[:, index]
            substitute = self.params.zero_division
            found[name] = values if substitute is None else np.nan_to_num(values, nan=substitute)
        return found


def _summed(weights: FloatArray, groups: npt.NDArray[np.int64], size: int) -> FloatArray:
    """Weights added up by group: shape (rows, size)."""
    belongs = np.zeros((groups.size, size))
    belongs[np.arange(groups.size), groups] = 1.0
    return weights @ belongs


def _ratio(part: Any, whole: Any) -> FloatArray:
    """The part divided by the whole, NaN where the whole is 0."""
    above, below = np.asarray(part, dtype=np.float64), np.asarray(whole, dtype=np.float64)
    return np.divide(above, below, out=np.full(above.shape, np.nan), where=below > 0)


def _share(part: Any, whole: Any) -> float | None:
    return float(part) / float(whole) if whole else None


def _chance_corrected(
    hits: FloatArray, true_counts: FloatArray, predicted_counts: FloatArray, n: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Matthews' correlation and Cohen's kappa of each row."""
    by_chance = (true_counts * predicted_counts).sum(axis=1)
    spread = (n**2 - (true_counts**2).sum(axis=1)) * (n**2 - (predicted_counts**2).sum(axis=1))
    mcc = _ratio(hits * n - by_chance, np.sqrt(spread))
    return mcc, _ratio(hits * n - by_chance, n**2 - by_chance)


classification = evaluator(
    name="classification",
    scope="dataset",
    bounded=True,
    requires=["output", "reference"],
    params=ClassificationParams,
    outputs=[
        output("accuracy", low=0, high=1, description="Share of records with the right label."),
        output("precision-macro", low=0, high=1),
        output("recall-macro", low=0, high=1),
        output("f1-macro", low=0, high=1, description="Mean F1 over labels."),
        output("f1-micro", low=0, high=1, description="F1 of summed counts; accuracy, where every label counts."),
        output("precision", low=0, high=1, description="Of the positive label."),
        output("recall", low=0, high=1, description="Of the positive label."),
        output("f1", low=0, high=1, description="Of the positive label."),
        output("precision-micro", low=0, high=1),
        output("recall-micro", low=0, high=1),
        output("precision-weighted", low=0, high=1),
        output("recall-weighted", low=0, high=1),
        output("f1-weighted", low=0, high=1),
        output("balanced-accuracy", low=0, high=1, description="Mean recall of the labels that occur."),
        output("mcc", low=-1, high=1, description="Matthews' correlation coefficient."),
        output("cohen-kappa", low=-1, high=1, description="Agreement beyond chance."),
        output("confusion-matrix", "structured", higher_is_better=None, description="Rows true, columns predicted."),
    ],
    example={
        "records": [
            {"id": "1", "output": {"text": "spam"}, "reference": {"text": "spam"}},
            {"id": "2", "output": {"text": "spam"}, "reference": {"text": "ham"}},
            {"id": "3", "output": {"text": "ham"}, "reference": {"text": "ham"}},
            {"id": "4", "output": {"text": "ham"}, "reference": {"text": "ham"}},
        ],
        "params": {"positive_label": "spam"},
        "expected": {"accuracy": 0.75, "precision": 0.5, "recall": 1.0, "balanced-accuracy": 5 / 6},
    },
)(Classification)
