"""Scores of the positive class beside what was true: the reading that `roc-auc` and `classifier-calibration` share."""

from collections import Counter
from collections.abc import Sequence
from typing import TypeAlias

import numpy as np

from evalsi.core.errors import SkipRecord
from evalsi.evaluators.api import Record
from evalsi.evaluators.packs.ml_classic.dataset_metric import FloatArray
from evalsi.evaluators.packs.ml_classic.field_reading import Missing, label_of, score_of

State: TypeAlias = tuple[list[float], list[str], Counter[str]]
"""Scores, true labels, and why records could not be read."""

_POSITIVE_BY_CONVENTION = frozenset({"1", "true"})
_NEGATIVE_BY_CONVENTION = frozenset({"0", "-1", "false"})


def read(records: Sequence[Record], *, label_field: str, score_field: str, positive_label: str) -> State:
    """The score and the true label of each record that has both."""
    scores, labels, missing = list[float](), list[str](), Counter[str]()
    for record in records:
        label = label_of(record.reference, label_field, what="reference")
        score = score_of(record.output, record.metadata, score_field, positive_label or "1")
        if isinstance(label, Missing):
            missing[label.reason] += 1
        elif isinstance(score, Missing):
            missing[score.reason] += 1
        else:
            labels.append(label)
            scores.append(score)
    return scores, labels, missing


def merge(left: State, right: State) -> State:
    """Both states, left before right."""
    left[0].extend(right[0])
    left[1].extend(right[1])
    return left[0], left[1], left[2] + right[2]


def outcomes(labels: Sequence[str], positive_label: str) -> FloatArray:
    """1.0 where the label is the positive one, else 0.0.

    Raises:
        SkipRecord: no positive label is named and the labels are not 0 and 1 or false and true.
    """
    if positive_label:
        return np.array([label == positive_label for label in labels], dtype=np.float64)
    unknown = sorted(set(labels) - _POSITIVE_BY_CONVENTION - _NEGATIVE_BY_CONVENTION)
    if unknown:
        raise SkipRecord(
            f"which label is positive? set positive_label; labels are {', '.join(sorted(set(labels))[:8])}"
        )
    return np.array([label in _POSITIVE_BY_CONVENTION for label in labels], dtype=np.float64)
