"""How far a judge can be trusted: its verdicts against people's labels on the same cases.

Pure: verdicts and labels in, a `Calibration` out. What always holds: the judge's errors leave every figure and are counted;
cases on which the people themselves are split are counted apart, because no verdict on them is wrong; every figure comes
with its number of cases and an interval, or with the reason why there is none. People's agreement with each other is given
beside the judge's with them: no judge can be expected to beat it.

What is kept of it, and what speaks against a gate, is `calibration_record`.
"""

from collections import Counter
from collections.abc import Sequence
from typing import Any, TypeAlias

import msgspec

from evalsi.core.errors import InvalidDataError, InvalidParamsError
from evalsi.judges.calibration_record import Calibration, Figure, Kind
from evalsi.stats.interval import Estimate

Value: TypeAlias = bool | float | str

_WIDEST_SCALE = 100
_NO_SPREAD = 1e-7
"""Standard deviations of ranks (between 0 and 0.3) below this are rounding."""


class CalibrationCase(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One case: what the judge said, what people said.

    Args:
        judge: The judge's verdict; None when it gave none (an error).
        people: One label per person, always in the same order of persons; None where one did not label this case.
        swapped: For preferences: the judge's verdict with the answers shown in the other order, in terms of the
            original names ("A" is the same answer in both).
        length: Length of the judged output, e.g. in characters; for length bias.
    """

    id: str = ""
    judge: Value | None = None
    people: tuple[Value | None, ...] = ()
    swapped: str | None = None
    length: float | None = None


class CalibrationPlan(msgspec.Struct, frozen=True, kw_only=True):
    """How to calibrate.

    Args:
        kind: What verdicts are: labels, numbers, or preferences ("A", "B", "tie").
        passing: Labels that pass; for numbers, leave it empty and set `passing_from`.
        passing_from: The lowest number that passes.
        level: Confidence level of every interval.
        seed: The intervals that resample are a pure function of the data and it.
    """

    kind: Kind
    passing: frozenset[Value] = frozenset()
    passing_from: float | None = None
    level: float = 0.95
    seed: int = 0
    resamples: int = 2_000


def calibrate(cases: Sequence[CalibrationCase], plan: CalibrationPlan) -> Calibration:
    """Everything that can be said about the judge from these cases.

    Raises:
        InvalidDataError: a verdict or label is of another kind, or cases have different numbers of people.
        InvalidParamsError: a passing mark that does not fit the kind.
    """
    _check(cases, plan)
    judged = [case for case in cases if case.judge is not None]
    pairs = [(case, clear) for case in judged if (clear := _consensus(case, plan.kind)) is not None]
    found: dict[str, Figure | None] = {"people_alpha": _people_alpha(cases, plan)}
    found |= _agreement(pairs, plan)
    found |= _passing(pairs, plan)
    if plan.kind == "preference":
        found |= _order(judged, plan)
    found["length_bias"] = _length_bias(pairs, plan)
    return Calibration(
        kind=plan.kind,
        cases=len(cases),
        judged=len(judged),
        errors=len(cases) - len(judged),
        split=len(judged) - len(pairs),
        compared=len(pairs),
        people=max((len(case.people) for case in cases), default=0),
        **found,
    )


def _check(cases: Sequence[CalibrationCase], plan: CalibrationPlan) -> None:
    if plan.passing and plan.passing_from is not None:
        raise InvalidParamsError("give passing labels or a passing mark, not both", where="passing")
    if plan.passing_from is not None and plan.kind != "number":
        raise InvalidParamsError("a passing mark needs numbers", where="passing_from")
    widths = {len(case.people) for case in cases}
    if len(widths) > 1:
        raise InvalidDataError(f"cases have labels of different numbers of people: {sorted(widths)}")
    for case in cases:
        for value in (case.judge, *case.people):
            is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
            if value is None or (plan.kind == "number") == is_number:
                continue
            raise InvalidDataError(f"case {case.id!r} has {value!r}, which is no {plan.kind}")


def _consensus(case: CalibrationCase, kind: Kind) -> Value | None:
    """The label of most people, the mean of numbers; None when nobody labelled or the most frequent labels tie."""
    given = [value for value in case.people if value is not None]
    if not given:
        return None
    if kind == "number":
        numbers = [value for value in given if not isinstance(value, str)]
        return sum(numbers) / len(numbers)
    ranked = Counter(given).most_common(2)
    return None if len(ranked) == 2 and ranked[0][1] == ranked[1][1] else ranked[0][0]


def _agreement(pairs: list[tuple[CalibrationCase, Value]], plan: CalibrationPlan) -> dict[str, Figure | None]:
    from evalsi.stats import agreement

    if plan.kind == "number":
        return _number_agreement(pairs, plan)
    judge, people = [case.judge for case, _ in pairs], [label for _, label in pairs]
    return {
        "agreement": _figure(agreement.observed_agreement(judge, people, plan.level)),
        "kappa": _figure(agreement.cohen_kappa(judge, people, plan.level)),
        "ac1": _figure(agreement.gwet_ac1(judge, people, plan.level)),
    }


def _number_agreement(pairs: list[tuple[CalibrationCase, Value]], plan: CalibrationPlan) -> dict[str, Figure | None]:
    from evalsi.stats import agreement
    from evalsi.stats.correlation import spearman
    from evalsi.stats.mean import mean_estimate

    judge, people = [_number(case.judge) for case, _ in pairs], [_number(label) for _, label in pairs]
    found: dict[str, Figure | None] = {
        "rank_correlation": _figure(spearman(judge, people, plan.level)),
        "difference": _figure(mean_estimate([a - b for a, b in zip(judge, people, strict=True)], plan.level)),
    }
    ratings = [*judge, *people]
    if ratings and all(rating.is_integer() for rating in ratings) and max(ratings) - min(ratings) <= _WIDEST_SCALE:
        # Every point of the scale is a category, also one that nobody gave: distances count points, not labels.
        points = [float(point) for point in range(int(min(ratings)), int(max(ratings)) + 1)]
        kappa = agreement.cohen_kappa(judge, people, plan.level, weights="quadratic", categories=points)
        found["kappa"] = _figure(kappa)
    if plan.passing_from is not None:
        sides = [[value >= plan.passing_from for value in values] for values in (judge, people)]
        found["agreement"] = _figure(agreement.observed_agreement(sides[0], sides[1], plan.level))
        found["ac1"] = _figure(agreement.gwet_ac1(sides[0], sides[1], plan.level, categories=[False, True]))
    return found


def _passing(pairs: list[tuple[CalibrationCase, Value]], plan: CalibrationPlan) -> dict[str, Figure | None]:
    """False passes and false fails, when it is known what passing is."""
    from evalsi.stats.proportion import proportion_estimate

    labels = {label for _, label in pairs} | {case.judge for case, _ in pairs}
    mark = plan.passing_from
    if mark is not None:

        def passes(value: Value | None) -> bool:
            return _number(value) >= mark

    elif plan.passing or labels <= {True, False}:
        passing: frozenset[Any] = plan.passing or frozenset({True})

        def passes(value: Value | None) -> bool:
            return value in passing

    else:
        return {}
    failed = [case for case, label in pairs if not passes(label)]
    passed = [case for case, label in pairs if passes(label)]
    wrongly_passed = sum(passes(case.judge) for case in failed)
    wrongly_failed = sum(not passes(case.judge) for case in passed)
    return {
        "false_pass": _figure(proportion_estimate(wrongly_passed, len(failed), plan.level)),
        "false_fail": _figure(proportion_estimate(wrongly_failed, len(passed), plan.level)),
    }


def _people_alpha(cases: Sequence[CalibrationCase], plan: CalibrationPlan) -> Figure | None:
    from evalsi.stats.bootstrap import Resampling
    from evalsi.stats.krippendorff_alpha import krippendorff_alpha

    width = max((len(case.people) for case in cases), default=0)
    if width < 2:
        return None
    ratings = [[case.people[person] for case in cases] for person in range(width)]
    resampling = Resampling(seed=plan.seed, resamples=plan.resamples, level=plan.level)
    scale = "interval" if plan.kind == "number" else "nominal"
    return _figure(krippendorff_alpha(ratings, scale, resampling))


def _order(judged: list[CalibrationCase], plan: CalibrationPlan) -> dict[str, Figure | None]:
    """What the order of two answers does to the preference between them.

    "A" is shown first in the first order and second in the swapped one. A judge that prefers the first place says A, then
    B; one that prefers the second place says B, then A.
    """
    from evalsi.stats.paired import paired_proportions
    from evalsi.stats.proportion import proportion_estimate

    both = [(case.judge, case.swapped) for case in judged if case.swapped is not None]
    if not both:
        return {}
    same = sum(first == second for first, second in both)
    to_first = sum(pair in (("A", "B"), ("A", "tie"), ("tie", "B")) for pair in both)
    to_second = sum(pair in (("B", "A"), ("B", "tie"), ("tie", "A")) for pair in both)
    return {
        "order_consistency": _figure(proportion_estimate(same, len(both), plan.level)),
        "position_bias": _figure(paired_proportions(to_first, to_second, len(both), plan.level)),
    }


def _length_bias(pairs: list[tuple[CalibrationCase, Value]], plan: CalibrationPlan) -> Figure | None:
    """Partial rank correlation of verdict and length, given the people's label; interval by bootstrap.

    Source: Kendall (1942), Partial rank correlation, Biometrika 32:277-283, on mid-ranks as Spearman's.
    """
    known = [(case, label, case.length) for case, label in pairs if case.length is not None]
    if not known:
        return None
    verdicts = [_ordered(case.judge, plan) for case, _, _ in known]
    labels = [_ordered(label, plan) for _, label, _ in known]
    if any(value is None for value in (*verdicts, *labels)):
        return None

    import numpy as np

    from evalsi.stats.bootstrap import Resampling, bootstrap_statistic

    columns = [_mid_ranks(values) for values in (verdicts, [length for _, _, length in known], labels)]
    data = np.stack(columns, axis=1)
    products = np.concatenate([data, np.einsum("ij,ik->ijk", data, data).reshape(len(known), 9)], axis=1)

    def partial(weights: Any) -> Any:
        sums = (weights @ products) / weights.sum(axis=1, keepdims=True)
        means, squares = sums[:, :3], sums[:, 3:].reshape(-1, 3, 3)
        covariance = squares - means[:, :, None] * means[:, None, :]
        spread = np.sqrt(np.einsum("rii->ri", covariance).clip(min=0))
        with np.errstate(invalid="ignore", divide="ignore"):
            r = covariance / (spread[:, :, None] * spread[:, None, :])
            # People who all say the same cannot explain anything: the plain correlation is then the partial one.
            with_label = np.where((spread[:, 2] > _NO_SPREAD)[:, None], np.stack([r[:, 0, 2], r[:, 1, 2]], axis=1), 0.0)
            left = np.sqrt(((1 - with_label**2).clip(min=0)).prod(axis=1))
            answer = (r[:, 0, 1] - with_label[:, 0] * with_label[:, 1]) / left
        return np.where((left > _NO_SPREAD) & (spread[:, :2] > _NO_SPREAD).all(axis=1), answer.clip(-1, 1), np.nan)

    at_once = float(partial(np.ones((1, len(known)), dtype=np.int64))[0])
    if len(known) < 4 or not -2 < at_once < 2:
        reason = "needs four cases" if len(known) < 4 else "verdicts, lengths or what people leave open do not vary"
        return Figure(value=None, n=len(known), reason=reason)
    resampling = Resampling(seed=plan.seed, resamples=plan.resamples, level=plan.level)
    return _figure(bootstrap_statistic(partial, len(known), resampling))


def _ordered(value: Value | None, plan: CalibrationPlan) -> float | None:
    """A verdict as a number that is higher for better; None when labels have no known order."""
    if plan.kind == "number":
        return _number(value)
    if plan.kind == "preference" or value is None:
        return None
    if plan.passing:
        return float(value in plan.passing)
    return float(value) if isinstance(value, bool) else None


def _mid_ranks(values: Sequence[float | None]) -> Any:
    """Ranks around 0, scaled to a width of 1; ties share the mean of theirs."""
    import numpy as np

    array = np.asarray(values, dtype=np.float64)
    _, place, counts = np.unique(array, return_inverse=True, return_counts=True)
    ranks = (np.cumsum(counts) - (counts - 1) / 2)[place] / len(array)
    return ranks - ranks.mean()


def _number(value: Value | None) -> float:
    assert value is not None
    assert not isinstance(value, str)
    return float(value)


def _figure(estimate: Estimate) -> Figure:
    interval = estimate.interval
    if interval is None:
        return Figure(value=estimate.value, n=estimate.n, reason=estimate.reason)
    return Figure(
        value=estimate.value,
        n=estimate.n,
        low=interval.low,
        high=interval.high,
        level=interval.level,
        method=interval.method,
        reason=estimate.reason,
    )
