"""Gates on a comparison: which regressions stop a pipeline."""

from collections.abc import Sequence
from dataclasses import dataclass

from evalsi.compare.comparison import Comparison
from evalsi.core.errors import GateFailedError, InvalidSpecError, NothingScoredError, UnknownNameError
from evalsi.core.figure import figure, signed
from evalsi.engine.summary import confidence_interval
from evalsi.schema import Gate, GateResult, GateVerdict


@dataclass(frozen=True, kw_only=True)
class ComparisonGate:
    """Fails when `metric` regressed significantly, by more than `drop` in its own unit."""

    metric: str
    drop: float = 0.0


def gate_of(text: str) -> ComparisonGate:
    """`metric` or `metric:drop`. Raises: InvalidSpecError."""
    metric, separator, drop = text.rpartition(":")
    if not separator:
        return ComparisonGate(metric=text)
    try:
        value = float(drop)
    except ValueError:
        raise InvalidSpecError(
            f"{text!r} is no gate: {drop!r} is no number", hint="write metric:drop, e.g. exact-match:0.02"
        ) from None
    if not 0 <= value < float("inf"):
        raise InvalidSpecError(f"{text!r} is no gate: a drop is a number from 0 up")
    return ComparisonGate(metric=metric, drop=value)


def check_gates(gates: Sequence[ComparisonGate], comparison: Comparison) -> int:
    """0 when every gate holds.

    Raises:
        UnknownNameError: a gate names a metric that was not compared.
        NothingScoredError: a gate's metric has no data, which is never a pass.
        GateFailedError: a gate's metric regressed.
    """
    results = gate_results(gates, comparison)
    missing = [result.reason for result in results if result.verdict is GateVerdict.NO_DATA]
    if missing:
        raise NothingScoredError("; ".join(missing))
    failed = [result.reason for result in results if not result.passed]
    if failed:
        raise GateFailedError("; ".join(failed))
    return 0


def gate_results(gates: Sequence[ComparisonGate], comparison: Comparison) -> list[GateResult]:
    """How each gate ended, in the form that reports and CI show.

    A loss above the limit that may be chance is INCONCLUSIVE and counts as met: such a gate asks for a proof of loss.

    Raises: UnknownNameError: a gate names a metric that was not compared.
    """
    return [_decided(gate, comparison) for gate in gates]


def _decided(gate: ComparisonGate, comparison: Comparison) -> GateResult:
    metric = comparison.metric(gate.metric)
    if metric is None:
        raise UnknownNameError("metric in --gate", gate.metric, [each.metric for each in comparison.metrics])
    asked = Gate(metric=gate.metric, max_drop=gate.drop, baseline=comparison.baseline)
    if metric.difference is None or not metric.pairs:
        reason = f"the gate on {gate.metric} has no data: no record was scored in both runs"
        return GateResult(gate=asked, verdict=GateVerdict.NO_DATA, reason=reason)
    interval = metric.interval
    bounds = f" [{signed(interval.low)}, {signed(interval.high)}]" if interval is not None else ""
    loss = metric.difference if metric.higher_is_better is False else -metric.difference
    verdict, reason = GateVerdict.PASSED, f"{gate.metric} changed by {signed(metric.difference)}{bounds}"
    if metric.verdict == "REGRESSED" and abs(metric.difference) > gate.drop:
        verdict = GateVerdict.FAILED
        reason = f"{gate.metric} regressed by {figure(abs(metric.difference))}{bounds}"
    elif metric.higher_is_better is not None and loss > gate.drop:
        verdict, reason = GateVerdict.INCONCLUSIVE, f"{reason}, which may be chance"
    return GateResult(
        gate=asked,
        passed=verdict is not GateVerdict.FAILED,
        verdict=verdict,
        value=metric.candidate_mean,
        baseline_value=metric.baseline_mean,
        ci=confidence_interval(interval),
        n=metric.pairs,
        reason=reason,
    )
