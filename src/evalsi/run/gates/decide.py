"""Whether a run passes its gates, and by which number.

A gate ends in one of four verdicts.

PASSED        the figure meets the gate.
FAILED        the figure does not meet it.
NO_DATA       there is no figure: nothing was scored, a cost is not known, a baseline cannot be read. Never a pass.
INCONCLUSIVE  the gate asks for certainty and the data give none. Two kinds of gates ask for it:
              a bound (`ci_low` with `min`, `ci_high` with `max`) whose threshold lies inside the interval, so that the
              true value may be on either side; and a comparison whose loss is larger than `max_drop` but may be chance.
              A gate on any other figure is decided by the figure alone.

What an INCONCLUSIVE gate means for the run is `on_inconclusive`. Where nothing is said, an undecided bound counts as not
met, because it asks for a proof of quality; an undecided comparison counts as met, because it asks for a proof of loss.
"""

from collections.abc import Callable, Mapping, Sequence

from evalsi.compare.compare_runs import compare_runs
from evalsi.compare.comparison import Comparison
from evalsi.compare.paired_metric import ComparePlan, PairedMetric
from evalsi.core.errors import EvalsiError
from evalsi.engine.summary import RECORD_ID, confidence_interval
from evalsi.results.graded_run import GradedRun
from evalsi.run.gates.condition import GateCondition
from evalsi.run.gates.figure_ask import FigureAsk, ask_of, described, slice_of
from evalsi.run.gates.figures import Figure, figures_of, slice_run
from evalsi.run.gates.gate_plan import GatePlan
from evalsi.schema import Gate, GateResult, GateStat, GateVerdict, OnInconclusive

__all__ = ["DEFAULT_SIGNIFICANCE", "decide_gates"]

Stat, Verdict = GateStat, GateVerdict
DEFAULT_SIGNIFICANCE = 0.05
Slice = tuple[tuple[str, str], ...]
OpenRun = Callable[[str], GradedRun]
"""From what a gate calls its baseline to the run; raises EvalsiError when there is none."""


def decide_gates(
    gates: Sequence[Gate], run: GradedRun, plan: GatePlan, *, open_baseline: OpenRun | None = None
) -> list[GateResult]:
    """A result for each gate, in order. Never raises for what the data lack: that is a verdict.

    Args:
        open_baseline: Opens what gates compare with; each baseline is opened once.
    """
    return _Decider(gates, run, plan, open_baseline).results()


class _Decider:
    """The figures that all gates need, computed once, and the verdicts from them."""

    def __init__(self, gates: Sequence[Gate], run: GradedRun, plan: GatePlan, open_baseline: OpenRun | None) -> None:
        self._gates = gates
        self._run = run
        self._plan = plan
        self._open = open_baseline
        self._baselines: dict[str, GradedRun | str] = {}
        self._comparisons: dict[tuple[str, Slice], Comparison | str] = {}
        self._conditions = {gate.cel: GateCondition(gate.cel) for gate in gates if gate.cel}

    def results(self) -> list[GateResult]:
        asks = [ask_of(gate) for gate in self._gates if not gate.cel and gate.max_drop is None]
        for condition in self._conditions.values():
            asks += condition.asks
        figures = figures_of(self._run, [ask for ask in asks if not ask.of_baseline], level=self._plan.level)
        figures |= self._baseline_figures([ask for ask in asks if ask.of_baseline])
        return [self._decide(gate, figures) for gate in self._gates]

    def _decide(self, gate: Gate, figures: Mapping[FigureAsk, Figure]) -> GateResult:
        if gate.cel:
            return _decide_condition(gate, self._conditions[gate.cel], figures)
        if gate.max_drop is not None:
            return self._decide_drop(gate)
        ask = ask_of(gate)
        return _decide_figure(gate, ask, figures[ask], self._plan)

    def _baseline_figures(self, asks: list[FigureAsk]) -> dict[FigureAsk, Figure]:
        if not asks:
            return {}
        baseline = self._baseline("")
        if isinstance(baseline, str):
            return {ask: Figure(why=baseline) for ask in asks}
        own = {ask: FigureAsk(stat=ask.stat, metric=ask.metric, k=ask.k, slice=ask.slice) for ask in asks}
        found = figures_of(baseline, own.values(), level=self._plan.level)
        return {ask: found[same] for ask, same in own.items()}

    def _baseline(self, named: str) -> GradedRun | str:
        """The baseline, or why there is none."""
        name = named or self._plan.baseline
        if name not in self._baselines:
            self._baselines[name] = self._opened(name)
        return self._baselines[name]

    def _opened(self, name: str) -> GradedRun | str:
        if not name:
            return "no baseline is named"
        if self._open is None:
            return f"the baseline {name!r} cannot be opened here"
        try:
            return self._open(name)
        except EvalsiError as error:
            return f"the baseline {name!r} cannot be read: {error}"

    def _decide_drop(self, gate: Gate) -> GateResult:
        baseline = self._baseline(gate.baseline)
        if isinstance(baseline, str):
            return _no_data(gate, baseline)
        where = slice_of(gate.slice)
        key = (gate.baseline, where)
        if key not in self._comparisons:
            self._comparisons[key] = self._compared(baseline, where)
        comparison = self._comparisons[key]
        if isinstance(comparison, str):
            return _no_data(gate, comparison)
        metric = comparison.metric(gate.metric)
        if metric is None or metric.difference is None:
            return _no_data(gate, f"no record of both runs was scored by {gate.metric}")
        return _decide_difference(gate, metric, self._plan)

    def _compared(self, baseline: GradedRun, where: Slice) -> Comparison | str:
        """The comparison on all metrics that gates ask for, so that their tests are adjusted for their number."""
        asked = sorted({each.metric for each in self._gates if each.max_drop is not None})
        known = {summary.metric for run in (baseline, self._run) for summary in run.summaries}
        present = [metric for metric in asked if metric in known]
        if not present:
            return f"neither run has a metric {asked[0]!r}"
        try:
            return compare_runs(
                slice_run(baseline, where),
                slice_run(self._run, where),
                ComparePlan(level=self._plan.level),
                metrics=present,
                cluster_by=self._plan.cluster_by or (RECORD_ID if self._plan.trials > 1 else None),
                max_flips=0,
            )
        except EvalsiError as error:
            return f"the runs cannot be compared: {error}"


def _decide_figure(gate: Gate, ask: FigureAsk, figure: Figure, plan: GatePlan) -> GateResult:
    subject = described(ask)
    if figure.value is None:
        if figure.n and ask.stat in (Stat.CI_LOW, Stat.CI_HIGH):
            return _result(
                gate, figure, Verdict.INCONCLUSIVE, f"the {subject} is not known: {figure.why}, n = {figure.n}", plan
            )
        return _no_data(gate, f"{subject}: {figure.why}")
    said = f"{subject} is {_number(figure.value, figure.unit)}{_interval(figure)}, n = {figure.n}"
    asked = _asked(gate)
    if _meets(gate, figure.value):
        return _result(gate, figure, Verdict.PASSED, f"{said}; {asked}", plan)
    if _straddles(gate, ask, figure):
        return _result(gate, figure, Verdict.INCONCLUSIVE, f"{said}; {asked}, and the interval holds both sides", plan)
    return _result(gate, figure, Verdict.FAILED, f"{said}; {asked}", plan)


def _straddles(gate: Gate, ask: FigureAsk, figure: Figure) -> bool:
    """Whether a bound is not met only because the interval reaches over the threshold.

    A point above the threshold with a lower bound below it, or the reverse, is what more data could still turn.
    """
    interval = figure.ci
    if interval is None:
        return False
    if ask.stat is Stat.CI_LOW and gate.min is not None and gate.max is None:
        return interval.low < gate.min <= interval.high
    if ask.stat is Stat.CI_HIGH and gate.max is not None and gate.min is None:
        return interval.low <= gate.max < interval.high
    return False


def _decide_difference(gate: Gate, metric: PairedMetric, plan: GatePlan) -> GateResult:
    assert metric.difference is not None
    assert gate.max_drop is not None
    direction = -1.0 if metric.higher_is_better is False else 1.0
    loss = abs(metric.difference) if metric.higher_is_better is None else -direction * metric.difference
    significance = gate.significance or DEFAULT_SIGNIFICANCE
    figure = Figure(value=metric.candidate_mean, ci=confidence_interval(metric.interval), n=metric.pairs)
    certain = metric.p_adjusted is not None and metric.p_adjusted <= significance
    p_value = "" if metric.p_adjusted is None else f", p = {metric.p_adjusted:.3g}"
    said = (
        f"{gate.metric} went from {_number(metric.baseline_mean or 0.0)} to {_number(metric.candidate_mean or 0.0)}"
        f" ({metric.difference:+.4g}{_interval(figure)}{p_value}, {metric.pairs} pairs)"
    )
    asked = f"a loss of at most {gate.max_drop:g} was allowed"
    # A difference of floats that are equal on paper is not a loss.
    if loss <= gate.max_drop + 1e-12:
        verdict, text = Verdict.PASSED, f"{said}; {asked}"
    elif certain:
        verdict, text = Verdict.FAILED, f"{said}; {asked}"
    else:
        verdict, text = Verdict.INCONCLUSIVE, f"{said}; {asked}, and the difference may be chance"
    return _result(gate, figure, verdict, text, plan, baseline_value=metric.baseline_mean)


def _decide_condition(gate: Gate, condition: GateCondition, figures: Mapping[FigureAsk, Figure]) -> GateResult:
    if condition.problems:
        return _no_data(gate, condition.problems[0].message)
    asks = condition.asks
    answer = condition.decide({ask: figures[ask].value for ask in asks})
    said = ", ".join(
        f"{described(ask)} is "
        + (
            f"not known ({figures[ask].why})"
            if (value := figures[ask].value) is None
            else _number(value, figures[ask].unit)
        )
        for ask in asks
    )
    if isinstance(answer, str):
        missing = [f"{described(ask)}: {figures[ask].why}" for ask in asks if figures[ask].value is None]
        return _no_data(gate, "; ".join(missing) if missing else f"the condition has no answer: {answer}; {said}")
    only = figures[asks[0]] if len(asks) == 1 else None
    return GateResult(
        gate=gate,
        passed=answer,
        value=only.value if only is not None else None,
        ci=only.ci if only is not None else None,
        n=min((figures[ask].n for ask in asks if figures[ask].value is not None), default=0),
        verdict=Verdict.PASSED if answer else Verdict.FAILED,
        reason=said,
    )


def _no_data(gate: Gate, why: str) -> GateResult:
    return GateResult(gate=gate, passed=False, verdict=Verdict.NO_DATA, reason=f"no data: {why}")


def _result(
    gate: Gate,
    figure: Figure,
    verdict: GateVerdict,
    reason: str,
    plan: GatePlan,
    *,
    baseline_value: float | None = None,
) -> GateResult:
    undecided = verdict is Verdict.INCONCLUSIVE
    lenient = plan.on_inconclusive is OnInconclusive.PASS or (
        plan.on_inconclusive is OnInconclusive.UNSPECIFIED and gate.max_drop is not None
    )
    return GateResult(
        gate=gate,
        passed=verdict is Verdict.PASSED or (undecided and lenient),
        value=figure.value,
        ci=figure.ci,
        n=figure.n,
        baseline_value=baseline_value,
        verdict=verdict,
        reason=f"inconclusive: {reason}" if undecided else reason,
    )


def _meets(gate: Gate, value: float) -> bool:
    return (gate.min is None or value >= gate.min) and (gate.max is None or value <= gate.max)


def _asked(gate: Gate) -> str:
    if gate.min is not None and gate.max is not None:
        return f"between {gate.min:g} and {gate.max:g} was asked"
    return f"at least {gate.min:g} was asked" if gate.min is not None else f"at most {gate.max:g} was asked"


def _number(value: float, unit: str = "") -> str:
    if unit == "usd":
        return f"${value:.4g}"
    return f"{value:.4g} s" if unit == "s" else f"{value:.4g}"


def _interval(figure: Figure) -> str:
    return "" if figure.ci is None else f" [{figure.ci.low:.4g}, {figure.ci.high:.4g}]"
