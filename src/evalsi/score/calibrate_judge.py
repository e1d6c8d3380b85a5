"""A judge's verdicts in a graded run against people's labels: from a run and a file of labels to a calibration."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from evalsi.core.content import text_of
from evalsi.core.errors import InvalidDataError, NothingScoredError, UnknownNameError, UsageError
from evalsi.datasets import Dataset
from evalsi.engine.columns import SCORED
from evalsi.judges.calibration import CalibrationCase, CalibrationPlan, Value, calibrate
from evalsi.judges.calibration_record import CalibrationRecord, Kind, evaluator_identity
from evalsi.results.graded_run import GradedRun
from evalsi.schema import BoundRunEvaluator


@dataclass(frozen=True, kw_only=True)
class LabelColumns:
    """Which columns of the labels' file hold what."""

    record: str = "record_id"
    person: str = "annotator"
    label: str = "passed"


Labels = Mapping[str, Mapping[str, Value]]
"""By record, by person."""


def read_labels(dataset: Dataset, columns: LabelColumns) -> dict[str, dict[str, Value]]:
    """The labels of a file with one row per record and person.

    Raises:
        UnknownNameError: a column is not there.
        InvalidDataError: a label is no verdict, number or text, or a person labelled a record twice.
    """
    labels: dict[str, dict[str, Value]] = {}
    for row in dataset.records():
        cells: dict[str, Any] = {"id": row.id, **row.metadata}
        for column, flag in ((columns.record, "--record-column"), (columns.label, "--label-column")):
            if column not in cells:
                unknown = UnknownNameError("column of labels", column, cells, where=dataset.name)
                near = f"{unknown.hint} " if str(unknown.hint).startswith("did you mean") else ""
                unknown.hint = f"{near}name the right one: {flag} NAME; columns: {', '.join(cells)}"
                raise unknown
        record, person = str(cells[columns.record]), str(cells.get(columns.person, ""))
        label = _label(cells[columns.label])
        if label is None:
            raise InvalidDataError(f"record {record!r}: {cells[columns.label]!r} is no label", where=dataset.name)
        if person in labels.setdefault(record, {}):
            raise InvalidDataError(
                f"{person or 'the same person'} labelled record {record!r} twice", where=dataset.name
            )
        labels[record][person] = label
    if not labels:
        raise InvalidDataError("there are no labels", where=dataset.name)
    return labels


def calibrate_judge(
    run: GradedRun, metric: str, labels: Labels, *, passing_from: float | None, level: float, now: datetime
) -> CalibrationRecord:
    """Compares the values of `metric` with the labels of the same records.

    Args:
        passing_from: From which value on a number passes; needed where people said pass or fail.

    Raises:
        UnknownNameError: the run has no such metric.
        UsageError: people gave verdicts, the judge numbers, and no passing mark was named.
        NothingScoredError: no labelled record is in the run.
    """
    kind = _kind_of(labels)
    people = sorted({person for given in labels.values() for person in given})
    cases = [
        CalibrationCase(
            id=identifier,
            judge=_verdict(value, kind, passing_from),
            people=tuple(labels[identifier].get(person) for person in people),
            length=length,
        )
        for identifier, value, length in _judged(run, metric)
        if identifier in labels
    ]
    if not cases:
        raise NothingScoredError("none of the labelled records is in the run", hint="check the column of record ids")
    plan = CalibrationPlan(
        kind=kind,
        passing=frozenset({True}) if kind == "label" and _are_verdicts(labels) else frozenset(),
        passing_from=passing_from if kind == "number" else None,
        level=level,
    )
    evaluator = evaluator_of(run, metric)
    judges = run.manifest.judges
    dataset = run.manifest.dataset
    return CalibrationRecord(
        evaluator=evaluator.name,
        evaluator_fingerprint=evaluator_identity(evaluator),
        judge=judges[0].name if judges else "",
        judge_fingerprint=judges[0].settings_sha256 if judges else "",
        dataset_digest=dataset.sha256 if dataset is not None else "",
        created_at=now.isoformat(timespec="seconds"),
        calibration=calibrate(cases, plan),
    )


def evaluator_of(run: GradedRun, metric: str) -> BoundRunEvaluator:
    """The evaluator behind a metric."""
    name = next((summary.evaluator for summary in run.summaries if summary.metric == metric), metric)
    return next((each for each in run.manifest.evaluators if each.name == name), BoundRunEvaluator(name=name))


def _judged(run: GradedRun, metric: str) -> Sequence[tuple[str, float | str | None, float]]:
    """(record id, value or None where there is none, length of the output) of every record."""
    found: list[tuple[str, float | str | None, float]] = []
    known: set[str] = set()
    for rows in run.read_rows():
        for columns in rows.columns:
            for output, column in columns.columns.items():
                known.add(columns.metric(output))
                if columns.metric(output) != metric:
                    continue
                for row, record in enumerate(rows.records):
                    held = column.objects[row] if column.objects is not None else column.values[row]
                    scored = columns.outcomes[row] == SCORED
                    found.append((record.id, held if scored else None, float(len(text_of(record.output)))))
    if metric not in known:
        raise UnknownNameError("metric", metric, known)
    return found


def _verdict(value: float | str | None, kind: Kind, passing_from: float | None) -> Value | None:
    if value is None or isinstance(value, str) or kind == "number":
        return value
    if passing_from is None and value not in (0.0, 1.0):
        raise UsageError(
            "people said pass or fail and the judge gave numbers", hint="name the mark with --passing-from"
        )
    return value >= (1.0 if passing_from is None else passing_from)


def _kind_of(labels: Labels) -> Kind:
    values = [label for given in labels.values() for label in given.values()]
    return "number" if all(isinstance(v, (int, float)) and not isinstance(v, bool) for v in values) else "label"


def _are_verdicts(labels: Labels) -> bool:
    return all(isinstance(label, bool) for given in labels.values() for label in given.values())


def _label(value: Any) -> Value | None:
    if isinstance(value, str):
        folded = value.strip().casefold()
        return {"true": True, "pass": True, "yes": True, "false": False, "fail": False, "no": False}.get(folded, value)
    return value if isinstance(value, (bool, int, float)) else None
