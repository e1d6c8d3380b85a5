"""Gates on a comparison: which regressions stop a pipeline."""

from collections.abc import Sequence
from dataclasses import dataclass

from evalsi.compare.compare_runs import Comparison
from evalsi.core.errors import GateFailedError, InvalidSpecError, NothingScoredError, UnknownNameError


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
    failed: list[str] = []
    for gate in gates:
        metric = comparison.metric(gate.metric)
        if metric is None:
            raise UnknownNameError("metric in --gate", gate.metric, [each.metric for each in comparison.metrics])
        if metric.difference is None or not metric.pairs:
            raise NothingScoredError(f"the gate on {gate.metric} has no data: no record was scored in both runs")
        if metric.verdict == "REGRESSED" and abs(metric.difference) > gate.drop:
            interval = metric.interval
            bounds = f" [{interval.low:+.3f}, {interval.high:+.3f}]" if interval is not None else ""
            failed.append(f"{gate.metric} regressed by {abs(metric.difference):.3f}{bounds}")
    if failed:
        raise GateFailedError("; ".join(failed))
    return 0
