"""From what a policy decided about a subject to the mark that is kept of it. Pure."""

from datetime import datetime
from math import isnan

import msgspec

from evalsi.ports.policy_store import PolicyMark, Stage
from evalsi.schema import PolicyResults
from evalsi.watch.cascade import Verdict, facts_of_scores
from evalsi.watch.policy import CheckedPolicy
from evalsi.watch.sampling import SLOW, Surroundings
from evalsi.watch.traffic import Subject

MOST_LABEL_CHARACTERS = 200


def drawn(checked: CheckedPolicy, subject: Subject, around: Surroundings) -> PolicyMark:
    """How far a subject comes with a policy before anything is evaluated: seen, matched or sampled."""
    stage: Stage = "seen"
    if checked.selector is None or checked.selector.holds(subject.facts) is True:
        taken = checked.draw.takes(subject.name, subject.facts, around)
        stage = "sampled" if taken else "matched"
    slow = SLOW in checked.draw.rules and stage != "seen"
    return PolicyMark(
        policy=checked.policy.name,
        subject=subject.name,
        revision=subject.revision,
        at_ms=subject.at_ms,
        stage=stage,
        groups=_groups(subject) if stage != "seen" else {},
        cluster=subject.facts["session_id"],
        own_key=subject.own_key if stage != "seen" else "",
        asked=subject.asked if stage != "seen" else "",
        duration_ms=subject.facts["duration_ms"] if slow and not isnan(subject.facts["duration_ms"]) else None,
    )


def evaluated(mark: PolicyMark, checked: CheckedPolicy, subject: Subject, verdict: Verdict) -> PolicyMark:
    """The mark of a subject that was graded; one that a budget kept from being graded stays "sampled"."""
    over_budget = bool(verdict.cancelled)
    if over_budget and not verdict.values:
        return msgspec.structs.replace(mark, over_budget=True)
    return msgspec.structs.replace(
        mark,
        stage="evaluated",
        over_budget=over_budget,
        promoted=is_case(checked, subject, verdict),
        values=verdict.values,
        skipped=verdict.skipped,
        errors=verdict.errors,
    )


def is_case(checked: CheckedPolicy, subject: Subject, verdict: Verdict) -> bool:
    """Whether the policy makes a case of the subject. One without any score is none."""
    if checked.policy.promote is None or not verdict.values:
        return False
    condition = checked.promote
    return condition is None or condition.holds(facts_of_scores(verdict.scores, subject.facts)) is True


def results_of(checked: CheckedPolicy, subject: Subject, verdict: Verdict, now: datetime) -> PolicyResults:
    return PolicyResults(policy=checked.policy.name, results=verdict.results, revision=subject.revision, time=now)


def _groups(subject: Subject) -> dict[str, str]:
    return {field: value[:MOST_LABEL_CHARACTERS] for field, value in subject.groups.items()}
