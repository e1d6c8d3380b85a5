"""From what a policy found to the scores that sinks are given. Pure.

Its own module because the id of a score rests on nothing but what is here: who found what about which step, by which
version of which evaluator. What always holds: the same finding has the same id on every worker and every try.
"""

from collections.abc import Callable, Iterable, Sequence

import msgspec

from evalsi.core.canonical import digest
from evalsi.evaluators.metric_names import metric_of
from evalsi.ports.policy_store import SESSION_PREFIX, PolicyMark
from evalsi.ports.score_sink import OutgoingScore, OutgoingScores
from evalsi.schema import EvaluationResult, Outcome, Record, Score, Step, StepType
from evalsi.traces.step_of_span import RESPONSE_ID
from evalsi.traces.trajectory import root_of
from evalsi.watch.cascade import Verdict
from evalsi.watch.policy import CheckedPolicy
from evalsi.watch.traffic import Subject

SinksOf = Callable[[CheckedPolicy], Sequence[str]]
"""Names of the sinks that the scores of a policy go to."""
LONGEST_EXPLANATION = 8_000


def no_sinks(_checked: CheckedPolicy) -> Sequence[str]:
    """Implements `SinksOf` where there are none."""
    return ()


def outgoing_to(
    sinks: Sequence[str], checked: CheckedPolicy, found: Iterable[tuple[Subject, Verdict, PolicyMark]], at_ms: int
) -> list[tuple[OutgoingScores, Sequence[str]]]:
    """What these sinks are to be told, as a settlement takes it."""
    if not sinks:
        return []
    told = [outgoing_of(checked, *each, at_ms) for each in found]
    return [(each, sinks) for each in told if each is not None]


def outgoing_of(
    checked: CheckedPolicy, subject: Subject, verdict: Verdict, mark: PolicyMark, at_ms: int
) -> OutgoingScores | None:
    """What is to be told about a subject; None when there is nothing."""
    if mark.stage != "evaluated":
        return None
    told = _Told(checked, subject)
    scores = [score for result in verdict.results for score in told.scores_of(result)]
    if not scores:
        return None
    return OutgoingScores(
        project=subject.project,
        policy=checked.policy.name,
        subject=subject.name,
        revision=subject.revision,
        began_ms=subject.at_ms,
        at_ms=at_ms,
        first_trace_id=subject.records[0].id,
        scores=scores,
    )


class _Told:
    """One subject, as its scores speak of it."""

    def __init__(self, checked: CheckedPolicy, subject: Subject) -> None:
        self._policy = checked.policy
        self._subject = subject
        self._is_session = subject.name.startswith(SESSION_PREFIX)
        self._session_id = str(subject.facts["session_id"])
        self._records = {record.id: record for record in subject.records}
        self._definitions = {
            ref.name or definition.name: definition
            for stage in checked.stages
            for ref, definition in zip(stage.evaluators, stage.definitions, strict=True)
        }

    def scores_of(self, result: EvaluationResult) -> list[OutgoingScore]:
        if result.outcome is Outcome.SCORED:
            return [self._score(result, score) for score in result.scores]
        if result.outcome is Outcome.ERROR:
            said = msgspec.structs.replace(
                self._score(result, Score()), error_type=result.error_kind.value, error=_cut(result.reason)
            )
            return [said]
        return []

    def _score(self, result: EvaluationResult, score: Score) -> OutgoingScore:
        record = self._record_of(result)
        steps = record.trajectory.steps if record is not None and record.trajectory is not None else []
        step = next((each for each in steps if each.span_id == result.span_id), None) if result.span_id else None
        root = root_of(steps)
        trace_id = record.id if record is not None else ""
        definition = self._definitions[result.evaluator]
        metric = metric_of(definition, result.evaluator, score.name)
        about = (trace_id or self._subject.name, result.record_id, result.span_id)
        key = (self._subject.project, self._policy.name, *about, result.evaluator_ref, metric)
        return OutgoingScore(
            id=digest(key).removeprefix("sha256:")[:32],
            metric=metric,
            evaluator_ref=result.evaluator_ref,
            trace_id=trace_id,
            span_id=result.span_id or (root.span_id if root is not None else ""),
            is_of_trace=not result.span_id,
            session_id=self._session_id,
            response_id=_response_id([step] if step is not None else steps),
            number=score.number,
            passed=score.passed,
            label=score.label,
            structured=None if score.structured is msgspec.UNSET else score.structured,
            explanation=_cut(score.explanation),
            is_judged="judge" in definition.requires,
        )

    def _record_of(self, result: EvaluationResult) -> Record | None:
        """The trace that a result is about; None when it is about the whole session."""
        if result.session_id and self._is_session:
            return None
        return self._records.get(result.record_id) or self._records.get(result.record_id.partition("/")[0])


def _response_id(steps: Sequence[Step]) -> str:
    """What the model called the last answer of these steps."""
    for step in reversed(steps):
        found = step.attributes.get(RESPONSE_ID)
        if step.type is StepType.LLM and isinstance(found, str):
            return found
    return ""


def _cut(text: str) -> str:
    return text if len(text) <= LONGEST_EXPLANATION else text[: LONGEST_EXPLANATION - 1] + "…"
