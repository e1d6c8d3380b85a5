"""A run as JUnit XML, the form in which CI systems show tests.

One test suite per run, with a test case for a run that did not finish, for each gate, for each metric that was compared with a baseline, and for each
verdict on a record that is not a pass: what failed, what could not be measured, what was skipped. Verdicts that pass are
counted, not listed. The file satisfies both common schemas, Jenkins' and Ant's, so it has what either demands.

What always holds: no data is an error and never a pass; the file is well-formed whatever a record holds, and what cannot
stand in XML is shown as its code; memory does not grow with the run. The counts of the suite stand in its first tag,
before the cases: room is left there and filled at the end.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC
from html import escape
from itertools import chain
from pathlib import Path
from typing import Literal, TextIO

import numpy as np

from evalsi.core.content import text_of
from evalsi.core.whole_file import whole_file
from evalsi.engine.columns import CANCELLED, ERROR, SCORED, SKIPPED, Column, EvaluatorColumns
from evalsi.report.comparison import ComparedMetric, Comparison
from evalsi.report.figures import count, number, plural, signed
from evalsi.report.gate_line import GateLine, gate_line
from evalsi.report.verdict import stopped_early
from evalsi.report.visible_text import one_line, plain, shortened
from evalsi.results.graded_run import GradedRun
from evalsi.results.stored_rows import RECORDS, GradedRows
from evalsi.results.text_table import as_text
from evalsi.schema import Record

Ending = Literal["passed", "failure", "error", "skipped"]
_ILLEGAL = re.compile("[\ufffe\uffff]")
"""What `plain` leaves and XML 1.0 forbids; control characters and lone surrogates are made visible there."""
_COUNTS_WIDTH = 96
SHOWN_CHARACTERS = 4_000
LISTED = 1_000


@dataclass(frozen=True, kw_only=True)
class _Case:
    """A test case. Every text may be of others; it is made harmless where it is written."""

    group: str
    name: str
    ending: Ending
    kind: str = ""
    message: str = ""
    body: str = ""
    duration_s: float = 0.0


def write_junit(run: GradedRun, path: Path, *, comparison: Comparison | None = None, limit: int = LISTED) -> None:
    """Writes the file; it appears only when it is whole.

    Args:
        comparison: The run against a baseline: a case per metric, which fails where the metric regressed.
        limit: The most failures, errors and skips of records that are listed, of each. All of them are counted.
    """
    with whole_file(path) as unfinished, unfinished.open("w", encoding="utf-8", newline="\n") as file:
        _Suite(run, file, limit).write(comparison)


class _Suite:
    """One suite on its way into a file."""

    def __init__(self, run: GradedRun, file: TextIO, limit: int) -> None:
        self._run = run
        self._file = file
        self._limit = limit
        self._written: Counter[Ending] = Counter()
        self._met: Counter[Ending] = Counter()
        self._direction = {summary.metric: summary.higher_is_better for summary in run.summaries}

    def write(self, comparison: Comparison | None) -> None:
        counts_at = self._open()
        compared = [_metric_case(metric) for metric in comparison.metrics] if comparison is not None else []
        stopped = stopped_early(self._run.manifest)
        unfinished = (
            [_Case(group="run", name="finished", ending="error", kind="stopped", message=stopped)] if stopped else []
        )
        for case in chain(unfinished, map(_gate_case, map(gate_line, self._run.gates)), compared):
            self._put(case)
        for ending, build in self._verdicts():
            self._met[ending] += 1
            if self._met[ending] <= self._limit:
                self._put(build())
        self._file.write(
            f"<system-out>{_text(self._closing())}</system-out>\n<system-err/>\n</testsuite>\n</testsuites>\n"
        )
        counts = " ".join(
            f'{name}="{value}"'
            for name, value in (
                ("tests", self._written.total()),
                ("failures", self._written["failure"]),
                ("errors", self._written["error"]),
                ("skipped", self._written["skipped"]),
            )
        )
        self._file.seek(counts_at)
        self._file.write(counts.ljust(_COUNTS_WIDTH))

    def _open(self) -> int:
        """Begins the suite and returns where its counts go."""
        manifest = self._run.manifest
        started, finished = manifest.started_at, manifest.finished_at
        at = finished or started
        stamp = (at.astimezone(UTC) if at.tzinfo else at).strftime("%Y-%m-%dT%H:%M:%S") if at else "1970-01-01T00:00:00"
        spent_s = max(0.0, (finished - started).total_seconds()) if started and finished else 0.0
        self._file.write(
            '<?xml version="1.0" encoding="UTF-8"?>\n<testsuites>\n'
            f'<testsuite id="0" package="evalsi" name={_name(self._run.title)} hostname="localhost" '
            f'timestamp="{stamp}" time="{spent_s:.3f}" '
        )
        counts_at = self._file.tell()
        self._file.write(" " * _COUNTS_WIDTH + ">\n<properties>\n")
        facts = {"run": manifest.run_id, "evalsi": manifest.evalsi_version}
        if manifest.dataset is not None:
            facts |= {"dataset": manifest.dataset.source, "dataset.sha256": manifest.dataset.sha256}
        facts |= {f"label.{key}": value for key, value in sorted(manifest.labels.items())}
        for name, value in facts.items():
            if value:
                self._file.write(f"<property name={_name(name)} value={_attribute(value)}/>\n")
        self._file.write("</properties>\n")
        return counts_at

    def _put(self, case: _Case) -> None:
        self._written[case.ending] += 1
        opening = (
            f"<testcase classname={_attribute(f'{self._run.title}.{case.group}')} name={_name(case.name)} "
            f'time="{max(0.0, case.duration_s):.3f}"'
        )
        if case.ending == "passed":
            self._file.write(f"{opening}/>\n")
            return
        kind = f" type={_attribute(case.kind)}" if case.ending != "skipped" else ""
        inside = _text(case.body) if case.ending != "skipped" else ""
        self._file.write(
            f"{opening}><{case.ending} message={_attribute(case.message, 1_000)}{kind}>{inside}</{case.ending}></testcase>\n"
        )

    def _verdicts(self) -> Iterator[tuple[Ending, Callable[[], _Case]]]:
        """Every verdict that is not a pass, in the order of the records, and how to make its case."""
        for rows in self._run.read_rows():
            found: list[tuple[int, int, Ending]] = [
                (row, place, ending)
                for place, columns in enumerate(rows.columns)
                for row, ending in self._not_passed(columns)
            ]
            for row, place, ending in sorted(found):
                yield (
                    ending,
                    lambda rows=rows, row=row, place=place, ending=ending: self._record_case(
                        rows, row, rows.columns[place], ending
                    ),
                )
        for columns in self._run.whole:
            for row, ending in self._not_passed(columns):
                yield (
                    ending,
                    lambda columns=columns, row=row, ending=ending: self._case_of(
                        columns, row, ending, name=_whole_name(columns, row), record=None
                    ),
                )

    def _not_passed(self, columns: EvaluatorColumns) -> Iterator[tuple[int, Ending]]:
        outcomes = np.frombuffer(columns.outcomes, dtype=np.uint8)
        failed = np.zeros(columns.rows, dtype=np.bool_)
        for _, column, bad in self._verdict_columns(columns):
            failed |= (outcomes == SCORED) & (column.array() == bad)
        for row in np.flatnonzero(failed | (outcomes != SCORED)):
            code = int(outcomes[row])
            yield int(row), "failure" if code == SCORED else "error" if code == ERROR else "skipped"

    def _verdict_columns(self, columns: EvaluatorColumns) -> Iterator[tuple[str, Column, float]]:
        """(metric, column, the value that fails) of each output that is a verdict and has a good side."""
        for output, column in columns.columns.items():
            better = self._direction.get(columns.metric(output), True)
            if column.kind == "passed" and better is not None:
                yield columns.metric(output), column, 0.0 if better else 1.0

    def _record_case(self, rows: GradedRows, row: int, columns: EvaluatorColumns, ending: Ending) -> _Case:
        record = RECORDS.decode(rows.record_lines[row])
        return self._case_of(columns, row, ending, name=_record_name(record), record=record)

    def _case_of(
        self, columns: EvaluatorColumns, row: int, ending: Ending, *, name: str, record: Record | None
    ) -> _Case:
        note = columns.notes.get(row)
        duration_s = note.duration_s if note is not None else None
        if duration_s is None:
            duration_s = columns.duration_s / columns.rows
        reason = note.reason if note is not None else ""
        code = columns.outcomes[row]
        kind, message = "verdict", reason
        if ending == "failure":
            failed = [metric for metric, column, bad in self._verdict_columns(columns) if column.values[row] == bad]
            message = ", ".join(f"{metric} did not pass" for metric in failed)
            explained = "; ".join(note.explanations.values()) if note is not None else ""
            message += f": {explained}" if explained else ""
        elif ending == "error" and note is not None:
            kind = note.error_kind.name.lower()
            message = f"{reason or 'no reason given'} (fault: {note.fault.name.lower()})"
        elif code == CANCELLED:
            message = f"cancelled: {reason}" if reason else "cancelled"
        elif code != SKIPPED:
            message = reason or "not measured"
        return _Case(
            group=columns.evaluator,
            name=name,
            ending=ending,
            kind=kind,
            message=message,
            body=_passages(record, note.detail if note is not None else "") if ending != "skipped" else "",
            duration_s=duration_s,
        )

    def _closing(self) -> str:
        words: dict[Ending, str] = {"failure": "failed verdict", "error": "error", "skipped": "skip"}
        lines = [
            f"{plural(self._met[ending], word)} of records, {count(self._limit)} of them listed"
            for ending, word in words.items()
            if self._met[ending] > self._limit
        ]
        return "\n".join([as_text(self._run.summaries), *lines])


def _gate_case(gate: GateLine) -> _Case:
    interval = f" {gate.bounds}" if gate.bounds else ""
    measured = f"{gate.measured} {gate.value}{interval}, n = {count(gate.n)}; asked for {gate.asks}"
    message = measured if gate.stat else gate.reason
    kinds: dict[str, tuple[Ending, str]] = {
        "PASS": ("passed", ""),
        "FAIL": ("failure", "gate"),
        "NO DATA": ("error", "no-data"),
        "INCONCLUSIVE": ("skipped", "") if gate.met else ("failure", "inconclusive"),
    }
    ending, kind = kinds[gate.word]
    if gate.word == "NO DATA":
        message = gate.reason or "no data"
    elif gate.word == "INCONCLUSIVE" and gate.met:
        message = f"not decided, taken as met: {message}"
    return _Case(group="gates", name=gate.title, ending=ending, kind=kind, message=message, body=gate.reason)


def _metric_case(metric: ComparedMetric) -> _Case:
    ends = f" [{signed(metric.interval.low)}, {signed(metric.interval.high)}]" if metric.interval is not None else ""
    message = (
        f"{metric.verdict}: {number(metric.baseline_mean)} → {number(metric.candidate_mean)}, "
        f"{signed(metric.difference)}{ends} over {plural(metric.pairs, 'pair')}"
    )
    if metric.verdict == "NO DATA":
        message = f"NO DATA: {metric.note or 'no record was scored in both runs'}"
    ending: Ending = (
        "passed"
        if metric.verdict in ("IMPROVED", "UNCHANGED")
        else "failure"
        if metric.verdict == "REGRESSED"
        else "skipped"
    )
    return _Case(group="baseline", name=metric.metric, ending=ending, kind="regression", message=message, body=message)


def _record_name(record: Record) -> str:
    run = record.provenance.run if record.provenance is not None else None
    return f"{record.id} (trial {run.trial})" if run is not None and run.trial else record.id or "(no id)"


def _whole_name(columns: EvaluatorColumns, row: int) -> str:
    note = columns.notes.get(row)
    return f"session {note.session_id}" if note is not None and note.session_id else "whole dataset"


def _passages(record: Record | None, detail: str) -> str:
    """What was asked, answered and wanted, as far as it is there."""
    parts: list[tuple[str, str]] = []
    if record is not None:
        parts = [(name, text_of(getattr(record, name))) for name in ("input", "output", "reference")]
    parts.append(("detail", detail))
    lines: list[str] = []
    for name, text in parts:
        head, more = shortened(text, SHOWN_CHARACTERS)
        if head:
            lines.append(f"{name}: {head}" + (f" … and {plural(more, 'more character')}" if more else ""))
    return "\n".join(lines)


def _visible(text: str) -> str:
    return _ILLEGAL.sub(lambda found: f"\\u{ord(found[0]):04x}", plain(text))


def _text(text: str) -> str:
    return escape(_visible(text), quote=False)


def _attribute(text: str, most: int = 400) -> str:
    return f'"{escape(one_line(_visible(text[: 4 * most]), most))}"'


def _name(text: str) -> str:
    """An attribute that must not be empty."""
    return _attribute(text if text.strip() else "(no name)")
