"""The checks of gates: one form each, a metric that some evaluator makes, a threshold that can be met.

A gate that can never fail or never pass is worse than none, because people rely on it.
"""

import re
from collections.abc import Iterable
from math import isclose

from evalsi.core.errors import EvalsiError, suggestion
from evalsi.documents.part import Part
from evalsi.documents.placed_tree import PlacedTree
from evalsi.evaluators.catalog import load
from evalsi.evaluators.metric_names import metrics_of
from evalsi.run.gates.condition import ConditionProblem, GateCondition
from evalsi.run.gates.figure_ask import RUN_STATS, SHARES, FigureAsk, ask_of, split_metric
from evalsi.run.spec.check_evaluators import CheckedEvaluators
from evalsi.run.spec.check_limits import check_baseline
from evalsi.schema import Gate, GateStat, MetricSpec, RunSpec, ScoreType
from evalsi.schema.thorough_reader import MOST_PROBLEMS

__all__ = ["check_gates"]

Stat = GateStat
_BOUNDED = frozenset({Stat.MEAN, Stat.CI_LOW, Stat.CI_HIGH})
_OF_RUN = RUN_STATS | {Stat.ERROR_RATE, Stat.COVERAGE, Stat.N}
"""Figures that need no metric."""
_TRIES = frozenset({Stat.PASS_AT_K, Stat.PASS_HAT_K})


def check_gates(tree: PlacedTree, spec: RunSpec, evaluators: CheckedEvaluators) -> None:
    """Notes what is wrong with `spec.gates`."""
    for index, gate in enumerate(spec.gates):
        if len(tree.problems) >= MOST_PROBLEMS:
            return
        part = Part(tree, f"spec.gates[{index}]")
        if gate.cel:
            _check_condition(part, gate, spec, evaluators)
        elif gate.max_drop is not None or part.gives("max_drop"):
            _check_comparison(part, gate, spec, evaluators)
        else:
            _check_figure(part, gate, spec, evaluators)


def _check_condition(part: Part, gate: Gate, spec: RunSpec, evaluators: CheckedEvaluators) -> None:
    others = [
        name for name in ("metric", "stat", "min", "max", "max_drop", "k", "slice") if part.tree.has(part.at(name))
    ]
    if others:
        part.say("cel", f"stands beside {', '.join(others)}", "a condition says everything itself")
    path = part.at("cel")
    try:
        condition = GateCondition(gate.cel)
    except EvalsiError as error:
        part.tree.add(path, f"{path}: {error.message}", hint=error.hint)
        return
    for problem in condition.problems:
        where = part.tree.inside(path, problem.line, problem.column)
        place = (
            f" (line {problem.line}, column {problem.column} of the condition)"
            if _is_vague(part, path, problem.line)
            else ""
        )
        metric = _bare_metric(gate.cel, problem, evaluators.metrics)
        hint = f"write metric({metric!r}).mean" if metric else problem.hint
        part.tree.note(where, f"{path}: {problem.message}{place}", hint)
    for reference in condition.references:
        where = part.tree.inside(path, reference.line, reference.column)
        for message, hint in _ask_problems(reference.ask, spec, evaluators):
            part.tree.note(where, f"{path}: {message}", hint)
        if reference.ask.of_baseline and not spec.baseline:
            part.tree.note(where, f"{path}: the spec names no baseline", "write baseline: latest, a run id or a file")


def _is_vague(part: Part, path: str, line: int) -> bool:
    """Whether the place of the text says nothing about the place within it."""
    spot = part.tree.spots.get(path)
    return spot is None or spot.start < 0 or line != 1


def _bare_metric(cel: str, problem: ConditionProblem, metrics: Iterable[str]) -> str:
    """The metric that is written where a name is not known; "" for none. CEL reads `exact-match` as a difference."""
    if not problem.message.startswith("unknown name"):
        return ""
    line, place = cel.splitlines()[problem.line - 1], problem.column - 1
    return next(
        (
            name
            for name in sorted(metrics, key=len, reverse=True)
            for found in re.finditer(re.escape(name), line)
            if found.start() <= place < found.end()
        ),
        "",
    )


def _check_comparison(part: Part, gate: Gate, spec: RunSpec, evaluators: CheckedEvaluators) -> None:
    if gate.stat not in (Stat.UNSPECIFIED, Stat.MEAN):
        part.say("stat", "of a comparison is the mean", "leave it out, or write a condition in cel")
    if gate.min is not None or gate.max is not None:
        part.say("max_drop", "stands beside min or max", "write two gates")
    part.at_least("max_drop", gate.max_drop, 0)
    part.fraction("significance", gate.significance)
    if gate.baseline:
        check_baseline(part, "baseline", gate.baseline)
    elif not spec.baseline and not part.gives("baseline"):
        part.say(
            "", "compares and names no baseline", "write baseline: latest, a run id or a file; or add --baseline latest"
        )
    if not gate.metric:
        part.say("", "compares and names no metric")
        return
    declared = _report_unknown(part, gate.metric, evaluators)
    low, high, words = _reach(FigureAsk(stat=Stat.MEAN, metric=gate.metric), declared)
    if low is not None and high is not None and gate.max_drop is not None and gate.max_drop >= high - low:
        hint = f"did you mean {gate.max_drop / 100:g}?" if 1 < gate.max_drop <= 100 and high - low <= 1 else None
        part.say("max_drop", f"of {gate.max_drop:g} can never be exceeded by {words}", hint)


def _check_figure(part: Part, gate: Gate, spec: RunSpec, evaluators: CheckedEvaluators) -> None:
    for name in ("baseline", "significance"):
        if part.gives(name):
            part.say(name, "belongs to a comparison", "write max_drop: 0.02, the largest loss that passes")
    if gate.min is None and gate.max is None:
        if not (part.tree.has(part.at("min")) or part.tree.has(part.at("max"))):
            part.say("", "has no threshold", "write min, max, max_drop or cel")
    elif gate.min is not None and gate.max is not None and gate.min > gate.max:
        part.say("min", f"is above max: {gate.min:g} > {gate.max:g}")
    if gate.k and gate.stat not in _TRIES:
        part.say("k", "belongs to pass_at_k and pass_hat_k")
    ask = ask_of(gate)
    if ask.stat in RUN_STATS and gate.metric:
        part.say("metric", f"has no {ask.stat.value}", "leave the metric out: it is a figure of the whole run")
        return
    for message, hint in _ask_problems(ask, spec, evaluators):
        field = "metric" if gate.metric else ""
        part.tree.add(part.at(field), f"{part.at(field)}: {message}", hint=hint)
    _check_reach(part, gate, ask, evaluators)


def _ask_problems(ask: FigureAsk, spec: RunSpec, evaluators: CheckedEvaluators) -> list[tuple[str, str | None]]:
    """What is wrong with the figure itself, as (sentence, hint)."""
    if not ask.metric:
        if ask.stat in _OF_RUN:
            return []
        return [("names no metric", f"known: {', '.join(sorted(evaluators.metrics))}" if evaluators.metrics else None)]
    if not _is_known(ask.metric, evaluators):
        return [_unknown(ask.metric, evaluators)]
    found: list[tuple[str, str | None]] = []
    base, kind, tries = split_metric(ask.metric)
    k = ask.k or tries
    trials = max(1, spec.trials)
    if ask.stat in _TRIES or kind:
        declared = evaluators.metrics.get(base)
        if declared is not None and declared.type not in (ScoreType.PASSED, ScoreType.UNSPECIFIED):
            found.append((f"{base} gives a {declared.type.value}, and only a verdict passes or fails", None))
        if k > trials:
            found.append((f"pass over {k} tries needs {k} trials, and the spec has {trials}", f"write trials: {k}"))
    else:
        declared = evaluators.metrics.get(ask.metric)
        if declared is not None and declared.type in (ScoreType.LABEL, ScoreType.STRUCTURED) and ask.stat in _BOUNDED:
            found.append((f"{ask.metric} gives a {declared.type.value}, which has no mean", None))
    return found


def _check_reach(part: Part, gate: Gate, ask: FigureAsk, evaluators: CheckedEvaluators) -> None:
    """Thresholds outside of what the figure can be."""
    declared = _declared(ask.metric, evaluators)
    low, high, words = _reach(ask, declared)
    percent = high is not None and isclose(high, 1.0)

    def say(name: str, value: float, result: str) -> None:
        hint = f"did you mean {value / 100:g}?" if percent and 1 < value <= 100 else None
        part.tree.add(part.at(name), f"{part.path}: {name} {value:g} can never {result} for {words}", hint=hint)

    if gate.min is not None and high is not None and gate.min > high:
        say("min", gate.min, "pass")
    elif gate.min is not None and gate.max is None and low is not None and gate.min < low:
        say("min", gate.min, "fail")
    if gate.max is not None and low is not None and gate.max < low:
        say("max", gate.max, "pass")
    elif gate.max is not None and gate.min is None and high is not None and gate.max > high:
        say("max", gate.max, "fail")


def _reach(ask: FigureAsk, declared: MetricSpec | None) -> tuple[float | None, float | None, str]:
    """Smallest and largest value a figure can take, and how to say so."""
    if ask.stat in SHARES or split_metric(ask.metric)[1]:
        return 0.0, 1.0, f"a {ask.stat.value.replace('_', ' ')}, which lies between 0 and 1"
    if ask.stat is Stat.N or ask.stat in RUN_STATS:
        return 0.0, None, f"a {ask.stat.value.replace('_', ' ')}, which is never below 0"
    if declared is None or ask.stat not in _BOUNDED:
        return None, None, ""
    if declared.type is ScoreType.PASSED:
        return 0.0, 1.0, "a 0..1 metric (the share that passes)"
    low, high = declared.min, declared.max
    if low is not None and high is not None:
        return low, high, f"a {low:g}..{high:g} metric"
    return low, high, f"a metric from {low:g} up" if low is not None else f"a metric up to {high}"


def _declared(metric: str, evaluators: CheckedEvaluators) -> MetricSpec | None:
    """What is declared of a metric; for one that the spec does not make, what the catalog says of its name."""
    found = evaluators.metrics.get(metric)
    if found is not None or not metric or evaluators.metrics or evaluators.complete:
        return found
    try:
        definition = load(metric.partition(".")[0]) if ":" not in metric else None
    except EvalsiError:
        return None
    return metrics_of(definition, definition.name).get(metric) if definition is not None else None


def _is_known(metric: str, evaluators: CheckedEvaluators) -> bool:
    return not evaluators.complete or evaluators.knows(metric) or evaluators.knows(split_metric(metric)[0])


def _unknown(metric: str, evaluators: CheckedEvaluators) -> tuple[str, str | None]:
    known = [*evaluators.metrics, *evaluators.open_names]
    hint = suggestion(metric, known)
    return f"no evaluator makes the metric {metric!r}", hint or f"known: {', '.join(known[:12])}"


def _report_unknown(part: Part, metric: str, evaluators: CheckedEvaluators) -> MetricSpec | None:
    if not _is_known(metric, evaluators):
        message, hint = _unknown(metric, evaluators)
        part.tree.add(part.at("metric"), f"{part.at('metric')}: {message}", hint=hint)
    return _declared(metric, evaluators)
