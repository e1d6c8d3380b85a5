"""`regression`: how far predicted numbers lie from true ones, over the whole dataset."""

from collections import Counter
from collections.abc import Sequence
from typing import Annotated, TypeAlias

import msgspec
import numpy as np

from evalsi.evaluators.api import EvalContext, Record, Score, evaluator, output
from evalsi.evaluators.packs.ml_classic.dataset_metric import (
    DatasetMetrics,
    FloatArray,
    intervals_over_records,
    plan_for,
)
from evalsi.evaluators.packs.ml_classic.field_reading import Missing, number_of
from evalsi.stats import pearson, spearman

State: TypeAlias = tuple[list[float], list[float], Counter[str]]
"""True numbers, predicted numbers, and why records could not be read."""


class RegressionParams(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    value_field: Annotated[str, msgspec.Meta(min_length=1)] = "value"
    """Key of the number where the output or the reference is an object or a table row."""


class Regression:
    """Errors of predicted numbers, with e = predicted - true: MAE, MSE, RMSE, R2, MAPE, and two correlations.

    MAE = mean |e|, MSE = mean e^2, RMSE its root, R2 = 1 - sum e^2 / sum (true - mean true)^2, MAPE = mean |e / true|, a
    fraction. MAPE is undefined where a true number is 0 and R2 where all true numbers are equal; both are then left out
    with the reason. The correlations have Fisher intervals, the rest a bootstrap over records.
    Sources: scikit-learn's definitions; Hyndman & Koehler (2006), International Journal of Forecasting 22:679-688.
    """

    def __init__(self, params: RegressionParams, context: EvalContext) -> None:
        self._field = params.value_field
        self._context = context

    def map(self, records: Sequence[Record]) -> State:
        true, predicted, missing = list[float](), list[float](), Counter[str]()
        for record in records:
            wanted = number_of(record.reference, self._field, what="reference")
            given = number_of(record.output, self._field, what="output")
            if isinstance(wanted, Missing):
                missing[wanted.reason] += 1
            elif isinstance(given, Missing):
                missing[given.reason] += 1
            else:
                true.append(wanted)
                predicted.append(given)
        return true, predicted, missing

    def merge(self, left: State, right: State) -> State:
        left[0].extend(right[0])
        left[1].extend(right[1])
        return left[0], left[1], left[2] + right[2]

    def reduce(self, state: State) -> list[Score]:
        true, predicted, missing = np.array(state[0]), np.array(state[1]), state[2]
        found = DatasetMetrics(n=true.size, missing=missing)
        metrics = _ErrorSums(true, predicted)
        values = metrics(np.ones((1, found.n)))
        intervals = intervals_over_records(metrics, found.n, plan_for(self._context, found.n))
        zeros = int((true == 0).sum())
        reasons = {"mape": f"{zeros} true numbers are 0", "r2": "all true numbers are equal"}
        for name, value in values.items():
            found.add(name, float(value[0]), interval=intervals.get(name), reason=reasons.get(name, "it is too large"))
        for name, correlate in (("pearson", pearson), ("spearman", spearman)):
            with np.errstate(over="ignore", invalid="ignore"):
                estimate = correlate(true, predicted, self._context.level)
            found.add(name, estimate.value, interval=estimate.interval, reason=estimate.reason or "")
        return found.finished()


class _ErrorSums:
    """The metrics from weighted sums over records, on true numbers moved to their mean so that sums stay exact."""

    def __init__(self, true: FloatArray, predicted: FloatArray) -> None:
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            error = predicted - true
            centred = true - true.mean()
            relative = np.abs(error / true)
            self._columns = np.stack([np.abs(error), error**2, centred, centred**2], axis=1)
        self._relative = relative if (true != 0).all() else None

    def __call__(self, weights: FloatArray) -> dict[str, FloatArray]:
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            n = weights.sum(axis=1)
            absolute, squared, centred, centred_squared = (weights @ self._columns).T
            spread = centred_squared - centred**2 / n
            spread = np.where(spread > 1e-12 * np.maximum(centred_squared, 1e-300), spread, np.nan)
            mape = np.full(n.shape, np.nan) if self._relative is None else weights @ self._relative / n
            mse = squared / n
            return {"mae": absolute / n, "mse": mse, "rmse": np.sqrt(mse), "r2": 1 - squared / spread, "mape": mape}


regression = evaluator(
    name="regression",
    scope="dataset",
    bounded=True,
    requires=["output", "reference"],
    params=RegressionParams,
    outputs=[
        output("mae", low=0, higher_is_better=False, description="Mean absolute error."),
        output("mse", low=0, higher_is_better=False, description="Mean squared error."),
        output("rmse", low=0, higher_is_better=False, description="Root of the mean squared error."),
        output("r2", high=1, description="Share of the variance that is explained."),
        output("mape", low=0, higher_is_better=False, description="Mean absolute error as a fraction of the truth."),
        output("pearson", low=-1, high=1, description="Linear correlation."),
        output("spearman", low=-1, high=1, description="Rank correlation."),
    ],
    example={
        "records": [
            {"id": "1", "output": {"text": "2.5"}, "reference": {"text": "3"}},
            {"id": "2", "output": {"text": "0.0"}, "reference": {"text": "-0.5"}},
            {"id": "3", "output": {"text": "2"}, "reference": {"text": "2"}},
            {"id": "4", "output": {"text": "8"}, "reference": {"text": "7"}},
        ],
        "expected": {"mae": 0.5, "mse": 0.375},
    },
)(Regression)
