"""Stages of evaluators over subjects: each stage grades those that the one before lets through, many at once.

Its own module because live traffic, traces that waited in line and sessions are graded so. Every grade comes from
`engine.Evaluation`. What always holds: a subject that could not be graded has a verdict that says why.
"""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec

from evalsi.engine.columns import CANCELLED, ERROR, SCORED, SKIPPED, EvaluatorColumns, result
from evalsi.engine.evaluate import Evaluation, RecordBatch
from evalsi.engine.panel import Panel
from evalsi.schema import EvaluationResult, PolicyScope, Record, StepType
from evalsi.watch.policy import CheckedPolicy
from evalsi.watch.traffic import Subject, records_of
from evalsi.watch.view import seen_through

NO_CONTENT = "no content"
"""Reason of a skip where an evaluator reads what was said and only that something was said was captured."""
BATCH_RECORDS = 256
_SPEAKING = frozenset({StepType.LLM, StepType.TOOL, StepType.RETRIEVAL})
"""Steps that say or give something by their nature: around them, chains and agents may carry nothing."""
_CONTENT_REASONS = frozenset({"the record has no input", "the record has no output"})


@dataclass(frozen=True, kw_only=True)
class ReadyPolicy:
    """A policy whose evaluators are loaded."""

    checked: CheckedPolicy
    panels: Sequence[Panel]
    """One per stage."""


class Verdict(msgspec.Struct):
    """What a policy found about one subject."""

    results: list[EvaluationResult] = []
    values: dict[str, list[float]] = {}
    """By metric."""
    skipped: dict[str, list[str]] = {}
    """Reasons by metric, one for each evaluation that was skipped."""
    errors: list[str] = []
    """Metrics whose evaluation went wrong."""
    cancelled: str = ""
    """Why something was not asked, such as a budget; empty when all was."""

    @property
    def scores(self) -> dict[str, float]:
        """The mean by metric."""
        return {metric: sum(values) / len(values) for metric, values in self.values.items()}


async def shown_to(checked: CheckedPolicy, records: Sequence[Sequence[Record]]) -> list[list[Record]]:
    """Records of subjects as the policy's view shows them; in a thread, where that may take long."""
    if not checked.view:
        return [list(some) for some in records]

    def show() -> list[list[Record]]:
        return [seen_through(checked.view, some) for some in records]

    return show() if checked.view.presidio is None else await asyncio.to_thread(show)


async def run_cascade(
    policy: ReadyPolicy, subjects: Sequence[Subject], used_up: Callable[[], str | None] = lambda: None
) -> list[Verdict]:
    """A verdict for each subject, in order.

    Args:
        used_up: Asked before each question to a judge: why there is no budget for it, or None.
    """
    verdicts = [Verdict() for _ in subjects]
    going = list(range(len(subjects)))
    checked = policy.checked
    shown = await shown_to(checked, [records_of(subject, checked.scope) for subject in subjects])
    for stage, panel in zip(checked.stages, policy.panels, strict=True):
        if stage.when is not None:
            going = [place for place in going if stage.when.holds(_facts(verdicts[place], subjects[place])) is True]
        if not going:
            break
        owners = [place for place in going for _ in shown[place]]
        records = [record for place in going for record in shown[place]]
        evaluation = Evaluation(panel, used_up=used_up)
        batches = (
            RecordBatch(start, records[start : start + BATCH_RECORDS])
            for start in range(0, len(records), BATCH_RECORDS)
        )
        async for graded in evaluation.grade(batches):
            found = [verdicts[owner] for owner in owners[graded.first_row : graded.first_row + len(graded.records)]]
            for columns in graded.columns:
                _note(found, columns, graded.records, checked.scope)
        if checked.scope is PolicyScope.SESSION and evaluation.observes:
            # One row per session, in the order in which sessions first appeared, which is that of the subjects.
            sessions = [place for place in going if shown[place]]
            for columns in await evaluation.finish():
                first = [shown[place][0] for place in sessions]
                _note([verdicts[place] for place in sessions], columns, first, checked.scope)
    return verdicts


def facts_of_scores(scores: dict[str, float], facts: Any) -> dict[str, Any]:
    """What a condition over scores reads."""
    return {"scores": scores, "labels": facts["labels"], "error": facts["error"]}


def _facts(verdict: Verdict, subject: Subject) -> dict[str, Any]:
    return facts_of_scores(verdict.scores, subject.facts)


def _note(
    verdicts: Sequence[Verdict], columns: EvaluatorColumns, records: Sequence[Record], scope: PolicyScope
) -> None:
    """Adds each row of an evaluator to its verdict."""
    numeric = [
        (columns.metric(column.output), column.values)
        for column in columns.columns.values()
        if column.kind in ("number", "passed")
    ]
    metrics = [metric for metric, _ in numeric] or [columns.evaluator]
    is_of_step = scope is PolicyScope.SPAN
    for row, (verdict, record) in enumerate(zip(verdicts, records, strict=True)):
        found = result(columns, row, record.id)
        if is_of_step and record.trajectory is not None and record.trajectory.steps:
            found = msgspec.structs.replace(found, span_id=record.trajectory.steps[0].span_id)
        code = columns.outcomes[row]
        if code == SCORED:
            for metric, values in numeric:
                value = values[row]
                if value == value:
                    verdict.values.setdefault(metric, []).append(value)
        elif code == SKIPPED:
            if found.reason in _CONTENT_REASONS and _was_not_captured(record, is_of_step=is_of_step):
                found = msgspec.structs.replace(found, reason=NO_CONTENT)
            for metric in metrics:
                verdict.skipped.setdefault(metric, []).append(found.reason)
        elif code == ERROR:
            verdict.errors += metrics
        elif code == CANCELLED:
            verdict.cancelled = verdict.cancelled or found.reason
        verdict.results.append(found)


def _was_not_captured(record: Record, *, is_of_step: bool) -> bool:
    """Whether nothing of what was said is there, and neither a failure nor the kind of the step explains it."""
    steps = record.trajectory.steps if record.trajectory is not None else []
    is_step_without_words = is_of_step and bool(steps) and steps[0].type not in _SPEAKING
    failed = any(step.error for step in steps)
    return record.input is None and record.output is None and not failed and not is_step_without_words
