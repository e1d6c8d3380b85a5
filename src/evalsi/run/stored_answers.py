"""A target that asks nobody: it gives the answers of an earlier run, so that new evaluators cost no call."""

from typing import Any

import msgspec

from evalsi.core.errors import MeasurementError
from evalsi.engine.columns import ERROR
from evalsi.ports.target import Answer, TargetTask
from evalsi.results.graded_run import GradedRun
from evalsi.results.trial_tally import trial_of
from evalsi.schema import Content, ErrorKind, Fault, Record, Usage


class StoredAnswers:
    """Implements `ports.target.Target` from the records of `run`.

    A row that failed there fails here the same way. Answers cost nothing and are marked as cached; tokens and latency
    are those of the first time.
    """

    capabilities = frozenset({"usage", "messages", "trajectory"})
    needs = frozenset[str]()

    def __init__(self, run: GradedRun) -> None:
        self._source = run.manifest.run_id or run.source
        self._answers: dict[tuple[str, int], Answer | MeasurementError] = {}
        self.records: list[Record] = []
        """The records without their answers, once each, in order."""
        for rows in run.read_rows():
            for row, record in enumerate(rows.records):
                trial = trial_of(record)
                self._answers[record.id, trial] = _answer_of(record, rows.columns, row)
                if trial == 0:
                    self.records.append(_question(record))

    def outputs(self, trial: int = 0) -> list[Record]:
        """The records with the answers of one trial, for grading them as a dataset."""
        found: list[Record] = []
        for record in self.records:
            outcome = self._answers.get((record.id, trial))
            if isinstance(outcome, Answer):
                found.append(msgspec.structs.replace(record, output=outcome.output, usage=outcome.usage))
            else:
                found.append(record)
        return found

    @property
    def identity(self) -> dict[str, Any]:
        return {"connector": "stored", "run": self._source}

    async def check(self) -> str:
        return ""

    async def answer(self, task: TargetTask) -> Answer:
        """The answer of that record and trial. Raises: MeasurementError: it failed there, or was never asked."""
        outcome = self._answers.get((task.record.id, task.trial))
        if outcome is None:
            raise MeasurementError(
                f"run {self._source} has no answer to {task.record.id!r} in trial {task.trial}",
                kind=ErrorKind.TARGET,
                fault=Fault.DATASET,
            )
        if isinstance(outcome, MeasurementError):
            raise outcome
        return outcome

    async def close(self) -> None:
        return


def _answer_of(record: Record, columns: list[Any], row: int) -> Answer | MeasurementError:
    if record.output is None:
        notes = [each.notes[row] for each in columns if each.outcomes[row] == ERROR and row in each.notes]
        if notes:
            note = notes[0]
            return MeasurementError(note.reason, kind=note.error_kind, fault=note.fault, detail=note.detail or None)
        reasons = [each.notes[row].reason for each in columns if row in each.notes]
        why = f": {reasons[0]}" if reasons else ""
        return MeasurementError(f"the run has no answer{why}", kind=ErrorKind.TARGET, fault=Fault.DATASET)
    usage = record.usage or Usage()
    return Answer(
        output=record.output or Content(text=""),
        usage=Usage(
            input_tokens=usage.input_tokens,
            output_tokens=usage.output_tokens,
            latency=usage.latency,
            time_to_first_token=usage.time_to_first_token,
            cost_usd=0.0,
            cached=True,
            cached_cost_usd=usage.cost_usd,
        ),
        stop_reason=record.stop_reason or "stop",
        trajectory=record.trajectory,
        notes=tuple(record.notes),
    )


def _question(record: Record) -> Record:
    return msgspec.structs.replace(
        record, output=None, usage=None, trajectory=None, provenance=None, notes=[], stop_reason=""
    )
