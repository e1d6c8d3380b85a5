"""What a run would do and what it may cost, before anybody is asked.

Tokens and money come from the answers of past runs of the same target where there are any, else from the length of
the inputs and of the references. They are given as a range, because answers differ in length: the 10% and 90% points
of what is known, times the number of questions.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import islice

import numpy as np
import numpy.typing as npt

from evalsi.core.content import text_of
from evalsi.datasets import Dataset
from evalsi.engine.summary import cluster_key
from evalsi.evaluators.binding import BoundEvaluator
from evalsi.run.budget_watch import RunBudget
from evalsi.run.gates.condition import GateCondition
from evalsi.run.gates.figure_ask import FigureAsk, ask_of, described, described_metric, split_metric
from evalsi.schema import Gate, GateStat, MetricKind, Record, Usage
from evalsi.stats import Sensitivity, detectable_mean, detectable_paired_proportion, wilson

SAMPLED_RECORDS = 200
"""Records whose length is looked at."""
CHARACTERS_PER_TOKEN = 4
OUTPUT_GUESS = (30, 400)
"""Tokens of an answer where nothing at all is known about it."""
JUDGE_PROMPT_GUESS = (150, 800)
"""Tokens of a judge's instructions."""
FloatArray = npt.NDArray[np.float64]
Slice = tuple[tuple[str, str], ...]
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
class Asking:
    """The calls to one model and what they may take."""

    calls: int
    input_tokens: Range
    output_tokens: Range
    usd: Range | None
    """None where a price is unknown."""
    basis: str
    """What the estimate rests on."""


@dataclass(frozen=True, kw_only=True)
class RunPlan:
    """The plan of a run."""

    records: int
    trials: int
    target: Asking
    judges: dict[str, Asking]
    """By judge; evaluators that ask more than once per record are counted once: a lower bound."""
    gates: list[GateOutlook] = field(default_factory=list[GateOutlook])
    warnings: list[str] = field(default_factory=list[str])

    @property
    def usd(self) -> Range | None:
        """What the run may cost in all; None where a price is unknown."""
        known = [asking.usd for asking in (self.target, *self.judges.values()) if asking.usd is not None]
        if len(known) < 1 + len(self.judges):
            return None
        return Range(low=sum(each.low for each in known), high=sum(each.high for each in known))


@dataclass(frozen=True, kw_only=True)
class Past:
    """What an earlier run of the same target used: the usage of single answers, and for each judge that of one call."""

    answers: Sequence[Usage] = ()
    judge_calls: Mapping[str, Usage] = field(default_factory=dict[str, Usage])


def plan_run(
    dataset: Dataset,
    evaluators: Sequence[BoundEvaluator],
    gates: Sequence[Gate],
    *,
    asks_target: bool,
    trials: int,
    level: float,
    judge_of: Callable[[BoundEvaluator], str],
    price: Callable[[str, Usage], float | None],
    budget: RunBudget,
    past: Past,
) -> RunPlan:
    """The plan.

    Args:
        asks_target: Whether there is a target to ask.
        judge_of: The name of an evaluator's judge; "" for none.
        price: US dollars of one call to a judge by its name, to the target for ""; None where the price is unknown.
    """
    facts = dataset.scan()
    sample = list(islice(dataset.records(), SAMPLED_RECORDS))
    asked = facts.records * trials
    answers = _answers(sample, past.answers)
    target = _asking(asked if asks_target else 0, *answers, lambda usage: price("", usage))
    calls: dict[str, int] = {}
    for evaluator in evaluators:
        judge = judge_of(evaluator)
        if judge:
            calls[judge] = calls.get(judge, 0) + asked
    judges = {
        judge: _asking(count, *_verdicts(sample, answers, past.judge_calls.get(judge)), partial(price, judge))
        for judge, count in calls.items()
    }
    records_of = _records_of_slices(dataset, gates, facts.records)
    outlooks = [outlook for gate in gates for outlook in _outlooks(gate, records_of, evaluators, level)]
    plan = RunPlan(records=facts.records, trials=trials, target=target, judges=judges, gates=outlooks)
    warnings = [*(outlook.warning for outlook in outlooks if outlook.warning), *_over_budget(plan, budget)]
    return replace(plan, warnings=warnings)


def _asking(
    calls: int, one_input: Range, one_output: Range, basis: str, price: Callable[[Usage], float | None]
) -> Asking:
    costs = [
        price(Usage(input_tokens=round(tokens_in), output_tokens=round(tokens_out)))
        for tokens_in, tokens_out in ((one_input.low, one_output.low), (one_input.high, one_output.high))
    ]
    usd = None if None in costs and calls else Range(low=costs[0] or 0.0, high=costs[1] or 0.0).times(calls)
    return Asking(
        calls=calls,
        input_tokens=one_input.times(calls),
        output_tokens=one_output.times(calls),
        usd=usd,
        basis=basis,
    )


def _answers(sample: Sequence[Record], past: Sequence[Usage]) -> tuple[Range, Range, str]:
    """Tokens read and written for one answer of the target."""
    counted = [(usage.input_tokens, usage.output_tokens) for usage in past]
    known = [(i, o) for i, o in counted if i is not None and o is not None]
    if known:
        inputs, outputs = np.array(known, dtype=float).T
        return _spread(inputs), _spread(outputs), f"{len(known):,} answers of an earlier run"
    lengths = _tokens_of(sample, "input")
    if any(record.reference is not None for record in sample):
        expected = _tokens_of([record for record in sample if record.reference is not None], "reference")
        outputs = Range(
            low=max(1.0, float(np.quantile(expected, 0.1))), high=4 * float(np.quantile(expected, 0.9)) + 50
        )
        return _spread(lengths), outputs, "the lengths of inputs and references; a small trial run tells more"
    guess = Range(low=OUTPUT_GUESS[0], high=OUTPUT_GUESS[1])
    return _spread(lengths), guess, "the lengths of inputs and a guess for answers; a small trial run tells more"


def _verdicts(
    sample: Sequence[Record], answers: tuple[Range, Range, str], past: Usage | None
) -> tuple[Range, Range, str]:
    """Tokens read and written for one verdict of a judge, which reads the question, the answer and its instructions."""
    if past is not None and past.input_tokens is not None and past.output_tokens is not None:
        one = (float(past.input_tokens), float(past.output_tokens))
        return Range(low=one[0], high=one[0]), Range(low=one[1], high=one[1]), "an earlier run"
    question, reference = _spread(_tokens_of(sample, "input")), _spread(_tokens_of(sample, "reference"))
    given = _spread(_tokens_of(sample, "output")) if any(record.output is not None for record in sample) else answers[1]
    low, high = JUDGE_PROMPT_GUESS
    read = Range(low=question.low + given.low + low, high=question.high + given.high + reference.high + high)
    return read, Range(low=OUTPUT_GUESS[0], high=OUTPUT_GUESS[1]), "the lengths of texts and a guess for its prompts"


def _tokens_of(sample: Sequence[Record], part: str) -> FloatArray:
    texts = [text_of(getattr(record, part)) for record in sample if getattr(record, part) is not None]
    return np.array([len(text) for text in texts] or [0]) / CHARACTERS_PER_TOKEN


def _over_budget(plan: RunPlan, budget: RunBudget) -> list[str]:
    """Limits that even the low end of the estimate goes beyond."""
    judged = sum(each.input_tokens.low + each.output_tokens.low for each in plan.judges.values())
    expected = (
        ("target tokens", budget.target_tokens, plan.target.input_tokens.low + plan.target.output_tokens.low),
        ("judge tokens", budget.judge_tokens, judged),
        ("US dollars", budget.usd, plan.usd.low if plan.usd is not None else 0.0),
    )
    return [
        f"the budget of {limit:,} {what} will not do: the run needs {needed:,.4g} or more, and stops where it is used up"
        for what, limit, needed in expected
        if limit is not None and needed > limit
    ]


def _spread(values: FloatArray) -> Range:
    return Range(low=float(np.quantile(values, 0.1)), high=float(np.quantile(values, 0.9)))


def _records_of_slices(dataset: Dataset, gates: Sequence[Gate], records: int) -> Mapping[Slice, int]:
    """How many records each slice that a gate names has; the dataset is read only where one does."""
    asks = [ask for gate in gates for ask in (GateCondition(gate.cel).asks if gate.cel else [ask_of(gate)])]
    found: dict[Slice, int] = {ask.slice: 0 for ask in asks if ask.slice}
    if found:
        for record in dataset.records():
            for where in found:
                found[where] += all(cluster_key(record, path) == value for path, value in where)
    return {**found, (): records}


def _outlooks(
    gate: Gate, records_of: Mapping[Slice, int], evaluators: Sequence[BoundEvaluator], level: float
) -> list[GateOutlook]:
    if not gate.cel:
        ask = ask_of(gate)
        subject = gate.name or described_metric(ask)
        return [_outlook(gate, ask, subject, records_of[ask.slice], evaluators, level)]
    subject = gate.name or gate.cel
    condition = GateCondition(gate.cel)
    # A baseline's figures are there already.
    open_asks = [ask for ask in condition.asks if ask.metric and not ask.of_baseline]
    found = [
        _outlook(
            Gate(metric=ask.metric, min=condition.thresholds.get(ask)),
            ask,
            subject if len(condition.asks) == 1 else f"{subject}: {described(ask)}",
            records_of[ask.slice],
            evaluators,
            level,
        )
        for ask in open_asks
        if ask.stat in _WITH_INTERVAL
    ]
    return found or [GateOutlook(subject=subject, width=None, detectable=None)]


def _outlook(
    gate: Gate, ask: FigureAsk, subject: str, records: int, evaluators: Sequence[BoundEvaluator], level: float
) -> GateOutlook:
    if ask.slice and not records:
        return GateOutlook(
            subject=subject, width=None, detectable=None, warning=f"no record is in the slice of the gate on {subject}"
        )
    is_share = ask.stat in _WITH_INTERVAL and _kind_of(ask.metric, evaluators) is MetricKind.PROPORTION
    if records < 2 or not is_share:
        detectable = (
            None if gate.max_drop is None or records < 2 else detectable_mean(records, 0.3, _sensitivity(level))
        )
        return GateOutlook(subject=subject, width=None, detectable=detectable)
    threshold = gate.min if gate.min is not None else gate.max if gate.max is not None else 0.5
    share = min(max(threshold, 0.0), 1.0)
    interval = wilson(round(share * records), records, level)
    width = interval.width if interval is not None else None
    detectable = detectable_paired_proportion(records, 0.2, _sensitivity(level))
    warning = _warning(gate, ask, records, width, detectable, level)
    return GateOutlook(subject=subject, width=width, detectable=detectable, warning=warning)


def _warning(
    gate: Gate, ask: FigureAsk, records: int, width: float | None, detectable: float | None, level: float
) -> str:
    if gate.max_drop is not None and (detectable is None or detectable > gate.max_drop):
        seen = "none at all" if detectable is None else f"{detectable:.3f}"
        return (
            f"the gate on {gate.metric} cannot see a drop of {gate.max_drop:g} with {records:,} records: the smallest "
            f"difference it finds is {seen}"
        )
    best, worst = wilson(records, records, level), wilson(0, records, level)
    if ask.stat is GateStat.CI_LOW and gate.min is not None and best is not None and best.low < gate.min:
        return (
            f"the gate on {gate.metric} cannot be met: it asks for a lower bound of {gate.min:g}, and with {records:,} "
            f"records that all pass the bound is about {best.low:.3f}"
        )
    if ask.stat is GateStat.CI_HIGH and gate.max is not None and worst is not None and worst.high > gate.max:
        return (
            f"the gate on {gate.metric} cannot be met: it asks for an upper bound of {gate.max:g}, and with {records:,} "
            f"records of which none passes the bound is about {worst.high:.3f}"
        )
    if gate.min is not None and width is not None and gate.min + width / 2 > 1:
        return (
            f"the gate on {gate.metric} asks for {gate.min:g}, and with {records:,} records the interval there is "
            f"{width:.3f} wide: only a nearly perfect result can be told from it"
        )
    return ""


def _kind_of(metric: str, evaluators: Sequence[BoundEvaluator]) -> MetricKind:
    metric, _, _ = split_metric(metric)
    for evaluator in evaluators:
        for spec in evaluator.outputs:
            if metric in (evaluator.name, f"{evaluator.name}.{spec.name}") and str(spec.type) == "passed":
                return MetricKind.PROPORTION
    return MetricKind.NUMBER


def _sensitivity(level: float) -> Sensitivity:
    return Sensitivity(alpha=1 - level)
