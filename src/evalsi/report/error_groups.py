"""What did not yield a score: errors by whose fault they are, kind, evaluator and reason; skips and cancels by reason.

Its own module because an error must never hide in a mean; here each has its count, its words and records to look at.
What is kept does not grow with the number of errors.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass, field

from evalsi.engine.columns import CANCELLED, ERROR, SKIPPED, EvaluatorColumns, Note

_MOST_GROUPS = 200
_MOST_REASONS = 8
"""Reasons that are told apart among errors of one kind; what comes after them counts with the first."""
_OF_ONE_RECORD = re.compile(r"\d+|'[^']*'|\"[^\"]*\"")
"""What may differ between errors of one cause: numbers and what is quoted."""


@dataclass(slots=True)
class FailureGroup:
    """Results of one evaluator that ended alike. For errors `kind` and `fault` are words of the schema."""

    outcome: str
    evaluator: str
    kind: str
    fault: str
    reason: str
    """Of the first one."""
    detail: str
    """Of the first one: the exception's place, or the judge's reply that could not be read."""
    count: int = 0
    record_ids: list[str] = field(default_factory=list[str])


class FailureTally:
    """Groups failures; keeps up to `examples` record ids for each group."""

    def __init__(self, examples: int) -> None:
        self._examples = examples
        self._groups: dict[tuple[str, ...], FailureGroup] = {}
        self._reasons: dict[tuple[str, ...], list[str]] = {}
        """Those of each kind of error, in the order in which they came."""

    def add(self, columns: EvaluatorColumns, identifier: Callable[[int], str]) -> None:
        """A batch of one evaluator; `identifier` gives the id of a row and is called for few."""
        outcomes = columns.outcomes
        for row, note in columns.notes.items():
            code = outcomes[row]
            if code in (ERROR, SKIPPED, CANCELLED):
                self._put(columns.evaluator, code, note, row, identifier)

    def finish(self) -> list[FailureGroup]:
        """Errors first, the most frequent first."""
        rank = {"error": 0, "cancelled": 1, "skipped": 2}
        return sorted(self._groups.values(), key=lambda group: (rank[group.outcome], -group.count, group.evaluator))

    def _put(self, evaluator: str, code: int, note: Note, row: int, identifier: Callable[[int], str]) -> None:
        if code == ERROR:
            alike = ("error", evaluator, str(note.error_kind), str(note.fault))
            reasons = self._reasons.setdefault(alike, [])
            reason = _OF_ONE_RECORD.sub("…", note.reason[:500])
            if reason not in reasons and len(reasons) < _MOST_REASONS:
                reasons.append(reason)
            key = (*alike, reason if reason in reasons else reasons[0])
        else:
            key = ("skipped" if code == SKIPPED else "cancelled", evaluator, note.reason, "")
        group = self._groups.get(key)
        if group is None:
            if len(self._groups) >= _MOST_GROUPS:
                key = (key[0], evaluator, "other reasons", "")
                group = self._groups.get(key)
            if group is None:
                kind, fault = (key[2], key[3]) if code == ERROR else ("", "")
                reason = note.reason if key[2] != "other reasons" else key[2]
                group = self._groups[key] = FailureGroup(key[0], evaluator, kind, fault, reason, note.detail)
        group.count += 1
        if len(group.record_ids) < self._examples:
            group.record_ids.append(identifier(row))
