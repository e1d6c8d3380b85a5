"""The one door through which data enters this package: checked arrays and cluster codes.

Its own module so that no formula meets NaN, infinity, a wrong shape or clusters that do not match. What always holds:
what comes out is finite float64 of shape (n,), and labels that are equal in Python get equal codes (1, 1.0 and True
are one label, "1" is another).
"""

from collections.abc import Hashable, Iterable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]
Labels = Sequence[Hashable] | npt.NDArray[Any]


def checked_values(values: npt.ArrayLike) -> FloatArray:
    """Values as finite float64, shape (n,).

    Raises: ValueError: more than one dimension, NaN or infinity. A failed score is left out by the caller, not passed.
    """
    array = np.asarray(values, dtype=np.float64)
    if array.ndim != 1:
        raise ValueError(f"values need one dimension, not shape {array.shape}")
    if not np.isfinite(array).all():
        position = int(np.flatnonzero(~np.isfinite(array))[0])
        raise ValueError(f"value {position} is {array[position]}; leave failed scores out before asking for statistics")
    return array


def checked_pair(first: npt.ArrayLike, second: npt.ArrayLike) -> tuple[FloatArray, FloatArray]:
    """Two samples over the same records, in the same order. Raises ValueError when their lengths differ."""
    a, b = checked_values(first), checked_values(second)
    if a.size != b.size:
        raise ValueError(f"paired samples need equal lengths, not {a.size} and {b.size}")
    return a, b


def label_codes(labels: Labels | Iterable[Hashable]) -> tuple[IntArray, list[Hashable]]:
    """Codes 0..k-1 of shape (n,) in order of first appearance, and the k distinct labels."""
    items: list[Hashable] = list(labels.tolist()) if isinstance(labels, np.ndarray) else list(labels)
    code_of: dict[Hashable, int] = {}
    codes = np.empty(len(items), dtype=np.int64)
    for position, label in enumerate(items):
        codes[position] = code_of.setdefault(label, len(code_of))
    return codes, list(code_of)
