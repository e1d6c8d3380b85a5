"""Several verdicts on one question made into one: the mean or median of numbers, the majority of labels.

Its own module because agreement must mean the same everywhere: 1 when all votes are equal, falling to 0 as they part.
"""

from collections import Counter
from collections.abc import Sequence
from itertools import combinations
from statistics import fmean, median
from typing import Annotated, Any, Literal, NamedTuple, TypeAlias

import msgspec

from evalsi.core.errors import MeasurementError
from evalsi.schema import ErrorKind, Fault

Average: TypeAlias = Literal["mean", "median"]


class VotingParams(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How often the judge is asked the same question, and how its verdicts are made one."""

    votes: Annotated[int, msgspec.Meta(ge=1, le=51)] = 1
    """Odd, so that yes-or-no verdicts cannot tie. A judge asked at temperature 0 gives nearly the same verdict each time."""
    average: Average = "mean"
    """Of numbers; labels and verdicts go by majority."""

    def __post_init__(self) -> None:
        if self.votes % 2 == 0:
            raise ValueError(f"votes is an odd number, not {self.votes}")


class Tally(NamedTuple):
    """The value of all votes together, and how far they agree, from 0 to 1."""

    value: Any
    agreement: float


def average_of(numbers: Sequence[float], average: Average, *, span: float = 1.0) -> Tally:
    """The mean or median of numbers.

    Agreement is 1 minus the mean absolute difference between pairs of votes, as a fraction of `span`, the length of the
    scale.
    """
    value = fmean(numbers) if average == "mean" else median(numbers)
    pairs = [abs(left - right) / span for left, right in combinations(numbers, 2)]
    return Tally(value, 1.0 - fmean(pairs) if pairs else 1.0)


def majority_of(values: Sequence[str | bool]) -> Tally:
    """The most frequent value; agreement is its share of the votes.

    Raises: MeasurementError: two values share the first place, so the judge has not decided.
    """
    ranked = Counter(values).most_common()
    (value, count), others = ranked[0], ranked[1:]
    if others and others[0][1] == count:
        tied = ", ".join(repr(name) for name, number in ranked if number == count)
        raise MeasurementError(
            f"the judge's {len(values)} votes have no majority: {tied} got {count} each",
            kind=ErrorKind.NO_SCORE,
            fault=Fault.JUDGE,
        )
    return Tally(value, count / len(values))


def words_of_votes(values: Sequence[Any], words: Sequence[str]) -> str:
    """The judge's words; of several votes each with the value it gave."""
    if len(words) == 1:
        return words[0]
    lines = [
        f"Vote {number} ({_shown(value)}): {said}"
        for number, (value, said) in enumerate(zip(values, words, strict=True), 1)
    ]
    return "\n".join(lines)


def _shown(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)
