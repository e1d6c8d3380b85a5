"""What a run would do and what it may cost, before anybody is asked.

Tokens and money come from the answers of past runs of the same target where there are any, else from the length of
the inputs and of the references. They are given as a range, because answers differ in length: the 10% and 90% points
of what is known, times the number of questions.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import islice

import numpy as np

from evalsi.core.content import text_of
from evalsi.datasets import Dataset
from evalsi.evaluators.binding import BoundEvaluator
from evalsi.run.gates.condition import GateCondition
from evalsi.run.gates.figure_ask import described
from evalsi.schema import Gate, GateStat, MetricKind, Record, Usage
from evalsi.stats import Sensitivity, detectable_mean, detectable_paired_proportion, wilson

SAMPLED_RECORDS = 200
"""Records whose length is looked at."""
CHARACTERS_PER_TOKEN = 4
OUTPUT_GUESS = (30, 400)
"""Tokens of an answer where nothing at all is known about it."""
_WITH_INTERVAL = (GateStat.MEAN, GateStat.CI_LOW, GateStat.CI_HIGH, GateStat.PASS_AT_K, GateStat.PASS_HAT_K)


@dataclass(frozen=True, kw_only=True)
class Range:
    """From and to, both likely; a single number when they are equal."""

    low: float
    high: float

    def times(self, factor: float) -> "Range":
        return Range(low=self.low * factor, high=self.high * factor)


@dataclass(frozen=True, kw_only=True)
class GateOutlook:
    """What this many records can decide about a gate, or about one figure of a gate that is a condition."""

    subject: str
    """The gate's name, else its metric; for a condition its text, and the figure if it reads several."""
    width: float | None
    """Expected full width of the metric's interval, for a verdict at the gate's threshold."""
    detectable: float | None
    """Smallest difference from a baseline that would be found with 80% power."""
    warning: str = ""


@dataclass(frozen=True, kw_only=True)
class RunPlan:
    """The plan of a run."""

    records: int
    trials: int
    target_calls: int
    judge_calls: dict[str, int]
    """By judge; evaluators that ask more than once per record are counted once: a lower bound."""
    input_tokens: Range
    output_tokens: Range
    usd: Range | None
    """None where a price is unknown."""
    basis: str
    """What the estimate rests on."""
    gates: list[GateOutlook] = field(default_factory=list[GateOutlook])
    warnings: list[str] = field(default_factory=list[str])


def plan_run(
    dataset: Dataset,
    evaluators: Sequence[BoundEvaluator],
    gates: Sequence[Gate],
    *,
    asks_target: bool,
    trials: int,
    level: float,
    judge_of: Callable[[BoundEvaluator], str],
    price: Callable[[Usage], float | None],
    past: Sequence[Usage] = (),
) -> RunPlan:
    """The plan.

    Args:
        asks_target: Whether there is a target to ask.
        judge_of: The name of an evaluator's judge; "" for none.
        price: US dollars of one answer, None where the price is unknown.
        past: Usage of earlier answers of the same target, if there are any.
    """
    facts = dataset.scan()
    sample = list(islice(dataset.records(), SAMPLED_RECORDS))
    calls = facts.records * trials if asks_target else 0
    one_input, one_output, basis = _one_answer(sample, past)
    judge_calls: dict[str, int] = {}
    for evaluator in evaluators:
        judge = judge_of(evaluator)
        if judge:
            judge_calls[judge] = judge_calls.get(judge, 0) + facts.records * trials
    costs = [
        price(Usage(input_tokens=round(tokens_in), output_tokens=round(tokens_out)))
        for tokens_in, tokens_out in ((one_input.low, one_output.low), (one_input.high, one_output.high))
    ]
    usd = None if None in costs else Range(low=(costs[0] or 0.0) * calls, high=(costs[1] or 0.0) * calls)
    outlooks = [outlook for gate in gates for outlook in _outlooks(gate, facts.records, evaluators, level)]
    return RunPlan(
        records=facts.records,
        trials=trials,
        target_calls=calls,
        judge_calls=judge_calls,
        input_tokens=one_input.times(calls),
        output_tokens=one_output.times(calls),
        usd=usd if calls else Range(low=0.0, high=0.0),
        basis=basis,
        gates=outlooks,
        warnings=[outlook.warning for outlook in outlooks if outlook.warning],
    )


def _one_answer(sample: Sequence[Record], past: Sequence[Usage]) -> tuple[Range, Range, str]:
    counted = [(usage.input_tokens, usage.output_tokens) for usage in past]
    known = [(i, o) for i, o in counted if i is not None and o is not None]
    if known:
        inputs, outputs = np.array(known, dtype=float).T
        return _spread(inputs), _spread(outputs), f"{len(known):,} answers of an earlier run"
    lengths = np.array([len(text_of(record.input)) for record in sample] or [0]) / CHARACTERS_PER_TOKEN
    references = [len(text_of(record.reference)) for record in sample if record.reference is not None]
    if references:
        expected = np.array(references) / CHARACTERS_PER_TOKEN
        outputs = Range(
            low=max(1.0, float(np.quantile(expected, 0.1))), high=4 * float(np.quantile(expected, 0.9)) + 50
        )
        return _spread(lengths), outputs, "the lengths of inputs and references; a small trial run tells more"
    guess = Range(low=OUTPUT_GUESS[0], high=OUTPUT_GUESS[1])
    return _spread(lengths), guess, "the lengths of inputs and a guess for answers; a small trial run tells more"


def _spread(values: np.ndarray[tuple[int], np.dtype[np.float64]]) -> Range:
    return Range(low=float(np.quantile(values, 0.1)), high=float(np.quantile(values, 0.9)))


def _outlooks(gate: Gate, records: int, evaluators: Sequence[BoundEvaluator], level: float) -> list[GateOutlook]:
    if not gate.cel:
        return [_outlook(gate, gate.name or gate.metric, records, evaluators, level)]
    subject = gate.name or gate.cel
    condition = GateCondition(gate.cel)
    # How many records a slice has is not known before the run, and a baseline's figures are there already.
    open_asks = [ask for ask in condition.asks if ask.metric and not ask.slice and not ask.of_baseline]
    found = [
        _outlook(
            Gate(metric=ask.metric, min=condition.thresholds.get(ask)),
            subject if len(condition.asks) == 1 else f"{subject}: {described(ask)}",
            records,
            evaluators,
            level,
        )
        for ask in open_asks
        if ask.stat in _WITH_INTERVAL
    ]
    return found or [GateOutlook(subject=subject, width=None, detectable=None)]


def _outlook(gate: Gate, subject: str, records: int, evaluators: Sequence[BoundEvaluator], level: float) -> GateOutlook:
    kind = _kind_of(gate.metric, evaluators)
    if records < 2 or kind is not MetricKind.PROPORTION:
        detectable = (
            None if gate.max_drop is None or records < 2 else detectable_mean(records, 0.3, _sensitivity(level))
        )
        return GateOutlook(subject=subject, width=None, detectable=detectable)
    threshold = gate.min if gate.min is not None else gate.max if gate.max is not None else 0.5
    share = min(max(threshold, 0.0), 1.0)
    interval = wilson(round(share * records), records, level)
    width = interval.width if interval is not None else None
    detectable = detectable_paired_proportion(records, 0.2, _sensitivity(level))
    warning = _warning(gate, records, width, detectable)
    return GateOutlook(subject=subject, width=width, detectable=detectable, warning=warning)


def _warning(gate: Gate, records: int, width: float | None, detectable: float | None) -> str:
    if gate.max_drop is not None and (detectable is None or detectable > gate.max_drop):
        seen = "none at all" if detectable is None else f"{detectable:.3f}"
        return (
            f"the gate on {gate.metric} cannot see a drop of {gate.max_drop:g} with {records:,} records: the smallest "
            f"difference it finds is {seen}"
        )
    if gate.min is not None and width is not None and gate.min + width / 2 > 1:
        return (
            f"the gate on {gate.metric} asks for {gate.min:g}, and with {records:,} records the interval there is "
            f"{width:.3f} wide: only a nearly perfect result can be told from it"
        )
    return ""


def _kind_of(metric: str, evaluators: Sequence[BoundEvaluator]) -> MetricKind:
    for evaluator in evaluators:
        for spec in evaluator.outputs:
            if metric in (evaluator.name, f"{evaluator.name}.{spec.name}") and str(spec.type) == "passed":
                return MetricKind.PROPORTION
    return MetricKind.NUMBER


def _sensitivity(level: float) -> Sensitivity:
    return Sensitivity(alpha=1 - level)
