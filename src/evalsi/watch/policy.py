"""Whether a policy makes sense, and what follows from it: its conditions compiled, its metrics known.

Its own module because a file, a call and the server's settings all bring policies, and all must be told every mistake at
once. Evaluators are loaded and never called. What always holds: a policy without problems can be carried out.
"""

import re
from collections.abc import Collection
from dataclasses import dataclass, field

import msgspec

from evalsi.core.errors import EvalsiError, InvalidSpecError, suggestion
from evalsi.documents.document_file import listed
from evalsi.documents.json_tree import read_json
from evalsi.documents.part import Part
from evalsi.documents.placed_tree import PlacedTree
from evalsi.evaluators.api import Definition, EvalContext
from evalsi.evaluators.binding import bind
from evalsi.evaluators.catalog import load
from evalsi.evaluators.detectors.presidio import PresidioOptions
from evalsi.evaluators.metric_names import metrics_of
from evalsi.schema import Alert, EvaluatorRef, MetricSpec, OnlineEvalPolicy, PolicyScope, Scope, ScoreType
from evalsi.watch.condition import SCORE_VARIABLES, TRACE_VARIABLES, Condition
from evalsi.watch.redaction_rules import RedactionRules
from evalsi.watch.sampling import NAMED_RULES, Draw, draw_of
from evalsi.watch.view import view_rules

DEFAULT_WINDOW_S = 3600.0
DEFAULT_MIN_SAMPLES = 20
DEFAULT_FALSE_ALARM_RATE = 0.01
FORMS = ("json", "slack", "pagerduty")
MOST_RULES, MOST_STAGES, MOST_EVALUATORS, MOST_ALERTS, MOST_SINKS, MOST_PATTERNS = 50, 20, 100, 100, 20, 50
"""Of one policy: every trace of a project is asked by all of it, in a process that all projects share."""
_NAME = re.compile(r"[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\Z")
_DATASET = re.compile(r"[a-z0-9][a-z0-9._-]{0,62}\Z")
_SCOPES = {
    PolicyScope.TRACE: (Scope.RECORD, Scope.SPAN),
    PolicyScope.SPAN: (Scope.RECORD, Scope.SPAN),
    PolicyScope.SESSION: (Scope.SESSION, Scope.RECORD),
}
_LENT = frozenset({"judge", "sandbox", "reward-model"})
"""What an evaluator must be lent to be made; of those that need none of it a mistake shows when they are."""
_WORDS = {PolicyScope.TRACE: "traces", PolicyScope.SPAN: "steps", PolicyScope.SESSION: "sessions"}


@dataclass(frozen=True, kw_only=True)
class KnownNames:
    """What a policy may name; None where that is not known, and any may be named."""

    judges: Collection[str] | None = None
    sinks: Collection[str] | None = None
    presidio: PresidioOptions | None = None
    """How Presidio looks where a policy names it."""


ANY_NAMES = KnownNames()


@dataclass(frozen=True, kw_only=True)
class CheckedStage:
    """One stage of the cascade."""

    evaluators: tuple[EvaluatorRef, ...]
    definitions: tuple[Definition, ...]
    when: Condition | None


@dataclass(frozen=True, kw_only=True)
class CheckedPolicy:
    """A policy that can be carried out."""

    policy: OnlineEvalPolicy
    scope: PolicyScope
    selector: Condition | None
    draw: Draw
    stages: tuple[CheckedStage, ...]
    metrics: dict[str, MetricSpec]
    """Declared metrics; evaluators that declare none may bring others."""
    promote: Condition | None
    """When a subject becomes a case; None also where every one does, if `policy.promote` is there."""
    view: RedactionRules
    """What is taken out of what its evaluators see."""

    @property
    def is_quick(self) -> bool:
        """Whether every evaluator, and its view, computes in short, bounded time, so that it need not wait in line."""
        definitions = [each for stage in self.stages for each in stage.definitions]
        return self.view.presidio is None and all(each.bounded and not each.is_async for each in definitions)

    @property
    def asks_judge(self) -> bool:
        return any("judge" in each.requires for stage in self.stages for each in stage.definitions)

    @property
    def reads_feedback(self) -> bool:
        return reads_feedback(self.policy)

    @property
    def window_s(self) -> float:
        return self.policy.window or DEFAULT_WINDOW_S

    def bounds_of(self, metric: str) -> tuple[float | None, float | None]:
        """Between which values a metric lies, as far as that is declared."""
        spec = self.metrics.get(metric)
        if spec is None:
            return None, None
        return (0.0, 1.0) if spec.type is ScoreType.PASSED else (spec.min, spec.max)

    def range_of(self, metric: str) -> tuple[float, float] | None:
        """`bounds_of` where both are known."""
        low, high = self.bounds_of(metric)
        return (low, high) if low is not None and high is not None and low < high else None


@dataclass
class _Found:
    """What is gathered while stages are checked."""

    stages: list[CheckedStage] = field(default_factory=list[CheckedStage])
    metrics: dict[str, MetricSpec] = field(default_factory=dict[str, MetricSpec])
    names: dict[str, str] = field(default_factory=dict[str, str])
    """Where each evaluator stands, by what it reports as."""
    open: bool = False
    """Whether an evaluator declares no outputs or could not be loaded, so that any metric may come."""


def reads_feedback(policy: OnlineEvalPolicy) -> bool:
    """Whether a policy may take a trace because of what somebody says about it afterwards."""
    sampling = policy.sampling
    texts = [policy.selector, *(sampling.always if sampling is not None else ())]
    return not policy.disabled and any("feedback" in text for text in texts)


def checked_policy(policy: OnlineEvalPolicy, known: KnownNames = ANY_NAMES) -> CheckedPolicy:
    """A policy that came as a message, checked.

    Raises: InvalidSpecError: `problems` holds every mistake, each with the path of its field.
    """
    tree = read_json(msgspec.json.encode(policy).decode(), "policy")
    found = check_policy(tree, policy, "", known=known)
    if found is None:
        raise listed([InvalidSpecError(each.message, hint=each.hint) for each in tree.problems], "policy")
    return found


def check_policy(
    tree: PlacedTree,
    policy: OnlineEvalPolicy,
    path: str,
    *,
    name_at: str = "",
    wrong: Collection[str] = (),
    known: KnownNames = ANY_NAMES,
) -> CheckedPolicy | None:
    """Notes what is wrong with a policy in its tree; None when something is.

    Args:
        path: Where the policy stands in the document: "spec", "policies[0]", or empty.
        name_at: Where its name stands; empty for `name` in the policy.
        wrong: Paths that the schema refused already.
    """
    part = Part(tree, path, wrong)
    if not policy.name or not _NAME.match(policy.name):
        spot = name_at or part.at("name")
        tree.add(
            spot,
            f"{spot} must be lower-case letters, digits and dashes, at most 63, not {policy.name!r}",
            hint="write for example name: answers",
        )
    if not _is_bounded(part, policy):
        return None  # what is too much is not looked at
    selector = _condition(part, "selector", policy.selector, dict(TRACE_VARIABLES), None)
    _check_sampling(part, policy)
    scope = policy.scope if policy.scope is not PolicyScope.UNSPECIFIED else PolicyScope.TRACE
    found = _check_stages(part, policy, scope, known.judges)
    metrics = None if found.open else list(found.metrics)
    if policy.judge and known.judges is not None:
        part.one_of("judge", policy.judge, known.judges)
    _check_sinks(part, policy, known.sinks)
    part.at_least("window", policy.window, 0, beyond=True)
    _check_alerts(part, policy, found)
    promote = _check_promotion(part, policy, metrics)
    if policy.budget is not None:
        budget = part.below("budget")
        budget.at_least("usd_per_day", policy.budget.usd_per_day, 0, beyond=True)
        budget.at_least("tokens_per_day", policy.budget.tokens_per_day, 0, beyond=True)
    view = RedactionRules()
    try:
        view = view_rules(policy.view, known.presidio)
    except EvalsiError as error:
        part.say("view", f"cannot be used: {error.message}", error.hint)
    if tree.problems:
        return None
    return CheckedPolicy(
        policy=policy,
        scope=scope,
        selector=selector,
        draw=draw_of(policy.sampling),
        stages=tuple(found.stages),
        metrics=found.metrics,
        view=view,
        promote=promote,
    )


def _is_bounded(part: Part, policy: OnlineEvalPolicy) -> bool:
    rules = len(policy.sampling.always) if policy.sampling is not None else 0
    counts = (
        ("sampling.always", "rules", rules, MOST_RULES),
        ("stages", "stages", len(policy.stages), MOST_STAGES),
        ("stages", "evaluators", sum(len(stage.evaluators) for stage in policy.stages), MOST_EVALUATORS),
        ("alerts", "alerts", len(policy.alerts), MOST_ALERTS),
        ("sinks", "sinks", len(policy.sinks), MOST_SINKS),
        ("view.patterns", "patterns", len(policy.view.patterns) if policy.view is not None else 0, MOST_PATTERNS),
    )
    beyond = [each for each in counts if each[2] > each[3]]
    for name, what, count, most in beyond:
        part.say(name, f"names {count:,} {what}, where {most} may be", "make a second policy of it")
    return not beyond


def _condition(
    part: Part, name: str, text: str, variables: dict[str, str], metrics: Collection[str] | None
) -> Condition | None:
    if not text.strip():
        return None
    condition = Condition(text, variables, None if metrics is None else list(metrics))
    path = part.at(name)
    for problem in condition.problems:
        part.tree.note(part.tree.inside(path, problem.line, problem.column), f"{path}: {problem.message}", problem.hint)
    return condition


def _check_sampling(part: Part, policy: OnlineEvalPolicy) -> None:
    sampling = policy.sampling
    if sampling is None:
        return
    here = part.below("sampling")
    here.fraction("rate", sampling.rate, open_ended=False)
    if sampling.always and sampling.rate is None:
        here.say("always", "changes nothing while all traces are taken", "add a rate, for example rate: 0.05")
    for place, rule in enumerate(sampling.always):
        if rule in NAMED_RULES:
            continue
        if re.fullmatch(r"[a-z_]+", rule):
            here.below("always").below(place).one_of("", rule, NAMED_RULES)
        else:
            _condition(here.below("always").below(place), "", rule, dict(TRACE_VARIABLES), None)


def _check_stages(part: Part, policy: OnlineEvalPolicy, scope: PolicyScope, judges: Collection[str] | None) -> _Found:
    found = _Found()
    if not policy.stages and "stages" not in {each.rpartition(".")[2] for each in part.wrong}:
        part.say(
            "stages", "names no evaluator, so nothing would be scored", "write stages: [{evaluators: [tool-errors]}]"
        )
        found.open = True
    for place, stage in enumerate(policy.stages):
        here = part.below("stages").below(place)
        when = _condition(here, "when", stage.when, dict(SCORE_VARIABLES), None if found.open else found.metrics)
        if stage.when and place == 0:
            here.say("when", "stands in the first stage, where there are no scores yet", "use the selector")
        if not stage.evaluators:
            here.say("evaluators", "names no evaluator")
        definitions: list[Definition] = []
        for index, ref in enumerate(stage.evaluators):
            definition = _check_evaluator(here.below("evaluators").below(index), ref, scope, found, judges)
            if definition is not None:
                definitions.append(definition)
        found.stages.append(CheckedStage(evaluators=tuple(stage.evaluators), definitions=tuple(definitions), when=when))
    return found


def _check_evaluator(
    part: Part, ref: EvaluatorRef, scope: PolicyScope, found: _Found, judges: Collection[str] | None
) -> Definition | None:
    if not ref.ref:
        part.say("", "names no evaluator", "write ref: tool-errors; see: evalsi catalog")
        found.open = True
        return None
    try:
        definition = load(ref.ref)
    except EvalsiError as error:
        part.tree.add(part.at("ref"), f"{part.at('ref')}: {error.message}", hint=error.hint)
        found.open = True
        return None
    try:
        if _LENT & definition.requires:
            definition.make_params(ref.params)
        else:
            bind(definition, context=EvalContext(), params=ref.params)
    except EvalsiError as error:
        part.tree.add(part.at("params"), f"{part.at('params')}: {error.message}", hint=error.hint)
    if definition.scope not in _SCOPES[scope]:
        other = "session" if definition.scope is Scope.SESSION else ""
        part.say(
            "ref",
            f"is {ref.ref!r}, which measures {definition.scope.value}s and not {_WORDS[scope]}",
            f"write scope: {other}" if other else "see: evalsi catalog",
        )
    if ref.judge and judges is not None:
        part.one_of("judge", ref.judge, judges)
    name = ref.name or definition.name
    if name in found.names:
        part.say("", f"reports as {name!r}, as {found.names[name]} does", "give one of them a name")
    found.names.setdefault(name, part.path)
    declared = metrics_of(definition, name)
    found.metrics |= declared
    found.open = found.open or not declared
    return definition


def _check_alerts(part: Part, policy: OnlineEvalPolicy, found: _Found) -> None:
    for place, alert in enumerate(policy.alerts):
        here = part.below("alerts").below(place)
        here.one_of("form", alert.form, FORMS)
        here.at_least("min_samples", alert.min_samples or None, 1)
        here.fraction("false_alarm_rate", alert.false_alarm_rate or None)
        here.web_address("webhook", alert.webhook)
        here.variable_name("secret_env", alert.secret_env)
        if alert.form == "pagerduty" and not alert.secret_env:
            here.say("secret_env", "is missing; PagerDuty wants the routing key of a service")
        if alert.below is None and alert.above is None:
            here.say("", "says neither below nor above, so it never fires", "write for example below: 0.8")
        if not alert.metric:
            here.say("metric", "is missing", f"known: {', '.join(found.metrics)}" if found.metrics else None)
        elif alert.metric not in found.metrics and not found.open:
            here.one_of("metric", alert.metric, found.metrics)
        elif alert.metric not in found.metrics and (hint := suggestion(alert.metric, found.metrics)):
            # Even where an evaluator declares nothing: an alert needs a range, and only what is declared has one.
            here.say(
                "metric", f"{alert.metric!r} is declared by none of the evaluators, and an alert needs a range", hint
            )
        else:
            _check_threshold(here, alert, found.metrics.get(alert.metric))


def _check_threshold(part: Part, alert: Alert, spec: MetricSpec | None) -> None:
    """A mean can only be called surely below a threshold where single values cannot be arbitrarily large."""
    low, high = (None, None) if spec is None else (0.0, 1.0) if spec.type is ScoreType.PASSED else (spec.min, spec.max)
    if alert.below is not None and high is None:
        part.say(
            "below",
            f"needs a metric with a known upper bound, and {alert.metric!r} has none",
            "alert on a verdict or a score with a range",
        )
    if alert.above is not None and low is None:
        part.say("above", f"needs a metric with a known lower bound, and {alert.metric!r} has none")
    for name, value in (("below", alert.below), ("above", alert.above)):
        if value is not None and not (low is None or value >= low):
            part.say(name, f"is {value:g}, and {alert.metric!r} is never less than {low:g}")
        if value is not None and not (high is None or value <= high):
            part.say(name, f"is {value:g}, and {alert.metric!r} is never more than {high:g}")


def _check_sinks(part: Part, policy: OnlineEvalPolicy, sinks: Collection[str] | None) -> None:
    for place, name in enumerate(policy.sinks):
        here = part.below("sinks").below(place)
        if name in policy.sinks[:place]:
            here.say("", f"is {name!r} once more")
        elif sinks is not None and not sinks:
            here.say(
                "", f"is {name!r}, and the operator has named no sinks for this project", "see: sinks in evalsi.yaml"
            )
        elif sinks is not None:
            here.one_of("", name, sinks)


def _check_promotion(part: Part, policy: OnlineEvalPolicy, metrics: Collection[str] | None) -> Condition | None:
    promotion = policy.promote
    if promotion is None:
        return None
    here = part.below("promote")
    if not _DATASET.match(promotion.dataset):
        here.say(
            "dataset",
            f"must be lower-case letters, digits, dots, dashes and underscores, at most 63, not {promotion.dataset!r}",
        )
    return _condition(here, "when", promotion.when, dict(SCORE_VARIABLES), metrics)
