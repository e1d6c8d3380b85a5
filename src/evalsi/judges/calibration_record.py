"""A calibration as it is kept, and when a gate should not rest on it.

Its own module, without the statistics that made the figures: stores and gates read records, they never compute them. A
`CalibrationRecord` ties figures to the very judge, prompt and evaluator they were measured on, so that `gate_warnings` can
say when a gate rests on a judge that was never checked, or has changed since.
"""

from datetime import UTC, datetime
from typing import Literal, TypeAlias

import msgspec

from evalsi.core.canonical import digest
from evalsi.schema import BoundRunEvaluator

Kind: TypeAlias = Literal["label", "number", "preference"]

_ENOUGH_CASES = 50
_LOW_KAPPA = 0.4
_HIGH_FALSE_PASS = 0.2
_STALE_AFTER_DAYS = 180
_CLEAR_LENGTH_BIAS = 0.1


class Figure(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """An estimate with its interval, as it is stored. `reason` says why a value or an interval is missing."""

    value: float | None
    n: int
    low: float | None = None
    high: float | None = None
    level: float | None = None
    method: str | None = None
    reason: str | None = None


class Calibration(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What was measured. Figures that do not apply to the kind of verdict are absent."""

    kind: Kind
    cases: int
    judged: int
    """Cases with a verdict; the rest are the judge's errors."""
    errors: int
    split: int
    """Judged cases on which people are split evenly or that nobody labelled."""
    compared: int
    """Cases with a verdict and a clear label: what agreement rests on."""
    people: int
    agreement: Figure | None = None
    """Share of cases on which judge and people say the same; for numbers with a passing mark, the same side of it."""
    kappa: Figure | None = None
    """Cohen's kappa of judge and people; quadratic weights for numbers."""
    ac1: Figure | None = None
    """Gwet's AC1: as kappa, but stable when nearly all cases have one label."""
    people_alpha: Figure | None = None
    """Krippendorff's alpha of the people among themselves: the ceiling."""
    rank_correlation: Figure | None = None
    difference: Figure | None = None
    """Mean of judge minus people, for numbers: above 0 the judge is too kind."""
    false_pass: Figure | None = None
    """Share of the cases that people fail which the judge passes."""
    false_fail: Figure | None = None
    """Share of the cases that people pass which the judge fails."""
    order_consistency: Figure | None = None
    """Share of the pairs with the same preference in both orders."""
    position_bias: Figure | None = None
    """Share of pairs won by whatever is shown first minus by whatever is shown second; 0 is fair."""
    length_bias: Figure | None = None
    """Rank correlation of the judge's verdict with length among cases that people rate alike; 0 is fair."""


class CalibrationRecord(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A calibration and what it holds for.

    Args:
        evaluator: Reference of the evaluator whose verdicts were compared, e.g. "judge/correctness@1.0.0".
        evaluator_fingerprint: Digest of its reference and params.
        judge: `provider/model`.
        judge_fingerprint: `ModelJudge.fingerprint`.
        dataset_digest: Of the labelled cases.
        created_at: ISO 8601, UTC.
    """

    evaluator: str
    evaluator_fingerprint: str
    judge: str
    judge_fingerprint: str
    dataset_digest: str
    created_at: str
    calibration: Calibration


def evaluator_identity(evaluator: BoundRunEvaluator) -> str:
    """Digest of what decides an evaluator's verdicts apart from the judge: version, params and prompts."""
    version = evaluator.manifest.version if evaluator.manifest is not None else ""
    return digest({"version": version, "params": evaluator.params, "prompts": evaluator.prompt_sha256})


def gate_warnings(
    record: CalibrationRecord | None,
    *,
    evaluator: str,
    evaluator_fingerprint: str,
    judge_fingerprint: str,
    now: datetime | None = None,
) -> list[str]:
    """Why a gate on this evaluator rests on a judge that should be checked first; empty when nothing speaks against it.

    Args:
        record: The newest calibration of the evaluator, None when there is none.
        evaluator: Reference of the evaluator that the gate uses.
        evaluator_fingerprint: As it is bound now.
        judge_fingerprint: Of the judge that is used now.
        now: Aware; the present when None.
    """
    advice = "compare it with people's labels: evalsi judge calibrate"
    if record is None:
        return [f"the judge behind {evaluator} has never been calibrated; {advice}"]
    found: list[str] = []
    if record.evaluator_fingerprint != evaluator_fingerprint:
        found.append(f"{evaluator} has changed since it was calibrated (version or params); {advice}")
    if record.judge_fingerprint != judge_fingerprint:
        found.append(f"{evaluator} was calibrated with another judge or other settings ({record.judge}); {advice}")
    age_days = ((now or datetime.now(UTC)) - datetime.fromisoformat(record.created_at)).days
    if age_days > _STALE_AFTER_DAYS:
        found.append(f"the calibration of {evaluator} is {age_days} days old; providers change models; {advice}")
    return found + _weaknesses(record.calibration, evaluator)


def _weaknesses(calibration: Calibration, evaluator: str) -> list[str]:
    found: list[str] = []
    if calibration.compared < _ENOUGH_CASES:
        found.append(f"{evaluator} was calibrated on {calibration.compared} cases only; label {_ENOUGH_CASES} or more")
    kappa = calibration.kappa
    if kappa is not None and kappa.value is not None and kappa.value < _LOW_KAPPA:
        found.append(f"the judge behind {evaluator} agrees with people little beyond chance (kappa {kappa.value:.2f})")
    false_pass = calibration.false_pass
    if false_pass is not None and false_pass.value is not None and false_pass.value > _HIGH_FALSE_PASS:
        found.append(f"the judge behind {evaluator} passes {false_pass.value:.0%} of what people fail")
    bias = calibration.position_bias
    if bias is not None and bias.low is not None and bias.high is not None and not bias.low <= 0 <= bias.high:
        found.append(f"the judge behind {evaluator} favours a position ({bias.value:+.0%} for the first)")
    length = calibration.length_bias
    if length is not None and length.low is not None and length.low > _CLEAR_LENGTH_BIAS:
        found.append(f"the judge behind {evaluator} favours long outputs (correlation {length.value:+.2f})")
    return found
