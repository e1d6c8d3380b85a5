"""Dataset scope: partial states folded in the order of the records, reduced once."""

from collections.abc import Sequence
from typing import Any

from evalsi.core.errors import crossing, described
from evalsi.core.python_module import ANYTHING
from evalsi.engine.columns import EvaluatorColumns
from evalsi.engine.measure import builder_for, record_failure
from evalsi.engine.requirements import unmet
from evalsi.engine.summary import MAX_REASONS
from evalsi.evaluators.binding import BoundEvaluator
from evalsi.schema import Record


class DatasetFold:
    """The running state of one dataset evaluator, and the records it could not take."""

    def __init__(self, evaluator: BoundEvaluator) -> None:
        self.evaluator = evaluator
        self.taken = 0
        self.skipped: dict[str, int] = {}
        self.failed: dict[str, int] = {}
        self._state: Any = None

    def add(self, records: Sequence[Record]) -> None:
        """Maps a batch and merges it. One record that cannot be mapped does not cost its batch."""
        reasons = unmet(self.evaluator.definition.requires, records)
        for reason in reasons.values():
            self.skipped[reason] = self.skipped.get(reason, 0) + 1
        fit = [record for row, record in enumerate(records) if row not in reasons]
        if not fit:
            return
        try:
            self._merge(self.evaluator.instance.map(fit), len(fit))
        except ANYTHING:
            for record in fit:
                try:
                    self._merge(self.evaluator.instance.map([record]), 1)
                except ANYTHING as error:
                    reason = described(error)
                    if reason not in self.failed and len(self.failed) >= MAX_REASONS:
                        reason = "other reasons"
                    self.failed[reason] = self.failed.get(reason, 0) + 1

    def reduce(self) -> EvaluatorColumns:
        """One row: the scores of the whole dataset. The counts of records stand in `details[""]`."""
        builder = builder_for(self.evaluator, 1)
        if not self.taken:
            reasons = {**self.skipped, **self.failed}
            builder.skip(0, next(iter(reasons), "there is no record"))
        else:
            try:
                with crossing(self.evaluator.name):
                    builder.put(0, self.evaluator.instance.reduce(self._state))
            except Exception as error:
                record_failure(builder, 0, error)
        builder.note(0).details[""] = {
            "n": self.taken,
            "skipped": sum(self.skipped.values()),
            "errors": sum(self.failed.values()),
            "skip_reasons": self.skipped,
            "error_reasons": self.failed,
        }
        return builder.result

    def _merge(self, state: Any, count: int) -> None:
        self._state = state if self.taken == 0 else self.evaluator.instance.merge(self._state, state)
        self.taken += count
