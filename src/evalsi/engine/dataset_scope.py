"""Dataset scope: partial states folded in the order of the records, reduced once."""

from collections.abc import Callable, Sequence
from typing import Any

from evalsi.core.errors import MeasurementError, crossing, described
from evalsi.core.python_module import ANYTHING
from evalsi.engine.columns import EvaluatorColumns
from evalsi.engine.measure import builder_for, record_failure
from evalsi.engine.requirements import unmet
from evalsi.engine.summary import MAX_REASONS
from evalsi.evaluators.binding import BoundEvaluator
from evalsi.schema import Record


class DatasetFold:
    """The running state of one dataset evaluator, and the records it could not take.

    Args:
        rows_at_once: The most records that one call of `map` is given; by default a whole batch.
        progressed: Called after each call of `map`.
    """

    def __init__(
        self,
        evaluator: BoundEvaluator,
        *,
        rows_at_once: int | None = None,
        progressed: Callable[[], None] = lambda: None,
    ) -> None:
        self.evaluator = evaluator
        self.skipped: dict[str, int] = {}
        self.failed: dict[str, int] = {}
        self._rows_at_once = rows_at_once
        self._progressed = progressed
        self._whole = _PartialState(evaluator.instance)

    def add(self, records: Sequence[Record]) -> None:
        """Maps a batch and merges it. One record that cannot be mapped does not cost its batch."""
        reasons = unmet(self.evaluator.definition.requires, records)
        for reason in reasons.values():
            self.skipped[reason] = self.skipped.get(reason, 0) + 1
        fit = [record for row, record in enumerate(records) if row not in reasons]
        if not fit:
            return
        # The batch becomes one state first: the running one may be large, and is merged with once per batch.
        part = _PartialState(self.evaluator.instance)
        step = self._rows_at_once or len(fit)
        for first in range(0, len(fit), step):
            self._map(fit[first : first + step], part)
        if part.taken:
            try:
                self._whole.merge(part.state, part.taken)
            except ANYTHING as error:
                self._fail(error, part.taken)

    def _map(self, records: Sequence[Record], part: "_PartialState") -> None:
        try:
            part.merge(self.evaluator.instance.map(records), len(records))
        except ANYTHING:
            for record in records:
                try:
                    part.merge(self.evaluator.instance.map([record]), 1)
                except ANYTHING as error:
                    self._fail(error, 1)
                self._progressed()
        self._progressed()

    def _fail(self, error: BaseException, count: int) -> None:
        reason = described(error)
        if reason not in self.failed and len(self.failed) >= MAX_REASONS:
            reason = "other reasons"
        self.failed[reason] = self.failed.get(reason, 0) + count

    def reduce(self) -> EvaluatorColumns:
        """One row: the scores of the whole dataset. The counts of records stand in `details[""]`."""
        builder = builder_for(self.evaluator, 1)
        if self.failed and not self._whole.taken:
            builder.fail(0, MeasurementError(next(iter(self.failed))))
        elif not self._whole.taken:
            builder.skip(0, next(iter(self.skipped), "there is no record"))
        else:
            try:
                with crossing(self.evaluator.name):
                    builder.put(0, self.evaluator.instance.reduce(self._whole.state))
            except Exception as error:
                record_failure(builder, 0, error)
        builder.note(0).details[""] = {
            "n": self._whole.taken,
            "skipped": sum(self.skipped.values()),
            "errors": sum(self.failed.values()),
            "skip_reasons": self.skipped,
            "error_reasons": self.failed,
        }
        return builder.result


class _PartialState:
    """A state of the evaluator's own making, and the records in it."""

    def __init__(self, instance: Any) -> None:
        self._instance = instance
        self.taken = 0
        self.state: Any = None

    def merge(self, state: Any, count: int) -> None:
        self.state = state if self.taken == 0 else self._instance.merge(self.state, state)
        self.taken += count
