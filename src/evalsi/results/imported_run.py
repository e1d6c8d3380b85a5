"""The log of another tool as a graded run: its samples as records, its scores as columns, its figures checked.

Every reader of runs works on it: reports, comparisons, exports, the store. A scorer's values become one evaluator's
columns; what the tool computed over all samples is compared with the mean of the values in the log, since a log that
disagrees with itself should not be believed in silence.
"""

import hashlib
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, Literal

import msgspec

from evalsi.core.canonical import canonical_json
from evalsi.core.clock import Clock
from evalsi.core.errors import EvalsiError, InvalidDataError, MeasurementError, UsageError
from evalsi.core.ids import run_id_of_digest
from evalsi.core.version import __version__
from evalsi.datasets.byte_source import ByteSource
from evalsi.datasets.imports import ImportedLog, ImportedSample, ReportedMetric, UnreadableSample, open_logs
from evalsi.engine.columns import ColumnsBuilder, EvaluatorColumns, pack
from evalsi.engine.summary import RECORD_ID, SummaryBuilder, SummaryPlan
from evalsi.evaluators.api import Definition, NoParams
from evalsi.evaluators.binding import BoundEvaluator, manifest_of
from evalsi.ports.run_store import RunRow, RunStore, Segment
from evalsi.results.graded_run import GradedRun
from evalsi.results.stored_rows import GradedRows, encode_records
from evalsi.results.zones import encode_zones
from evalsi.schema import (
    BoundRunEvaluator,
    DatasetManifest,
    EvaluationResult,
    MetricKind,
    MetricSpec,
    MetricSummary,
    Outcome,
    RunManifest,
    RunStatus,
    Scope,
    Score,
    ScoreType,
    SummaryOptions,
    Unpinned,
)

BATCH_ROWS = 256
_TOLERANCE = 1e-6
"""Difference between a tool's figure and ours that is rounding."""
_UNSAFE = re.compile(r"[/@\s]+")
_STORED_STATUS = {RunStatus.SUCCEEDED: "succeeded", RunStatus.ERROR: "error"}


def imported_runs(source: str, *, on_invalid: Literal["stop", "skip"] = "stop") -> list[GradedRun]:
    """Every run of the logs that `tool://path` names.

    Args:
        on_invalid: What a sample that cannot be read does: refuse the log, or be left out and counted as rejected.

    Raises:
        NotFoundError, UnknownNameError, InvalidDataError: see `open_logs`; also a sample that cannot be read.
    """
    return [_run_of(log, on_invalid) for log in open_logs(source)]


def imported_run(source: str) -> GradedRun:
    """The one run that `tool://path` or `tool://path#label` names. Raises: as `imported_runs`; UsageError: several."""
    logs = open_logs(source)
    if len(logs) > 1:
        labels = ", ".join(repr(log.label) for log in logs)
        raise UsageError(f"{source} holds {len(logs)} runs: {labels}", hint=f"name one, as {source}#{logs[0].label}")
    return _run_of(logs[0], "stop")


def keep_imported(run: GradedRun, store: RunStore, clock: Clock) -> RunRow:
    """Stores an imported run. The same log always has the same id, so a second time finds it there and changes nothing.

    Raises: StoreError: the store refuses; nothing stays behind.
    """
    manifest = run.manifest
    dataset = manifest.dataset or DatasetManifest()
    row = RunRow(
        id=manifest.run_id,
        name=manifest.name,
        status="running",
        created_at=clock.now().isoformat(timespec="milliseconds"),
        finished_at=None,
        dataset=dataset.source,
        dataset_digest=f"sha256:{dataset.sha256}",
        fingerprint=f"sha256:{manifest.settings_sha256}",
        rows=0,
        labels=dict(manifest.labels),
        headline=_headline(run.summaries),
    )
    if (there := _kept_before(row.id, store)) is not None:
        return there
    store.create(row, manifest)
    try:
        for rows in run.read_rows():
            store.append(row.id, _segment(rows))
        ended = manifest.finished_at or clock.now()
        finished = msgspec.structs.replace(
            row,
            status=_STORED_STATUS.get(manifest.status, "interrupted"),
            finished_at=ended.isoformat(timespec="milliseconds"),
        )
        store.finish(finished, manifest, run.summaries)
    except BaseException:
        with suppress(EvalsiError):
            store.delete(row.id)
        raise
    return store.find(row.id)


def _kept_before(run_id: str, store: RunStore) -> RunRow | None:
    """The run as an earlier import left it; one that was killed half-way is removed."""
    found = next((row for row in store.runs() if row.id == run_id), None)
    if found is not None and found.finished_at is None:
        store.delete(run_id)
        return None
    return found


def _segment(rows: GradedRows) -> Segment:
    return Segment(
        index=rows.first_row,
        first_row=rows.first_row,
        rows=rows.rows,
        records=rows.records_jsonl,
        results=pack(rows.columns),
        zones=encode_zones(rows.columns, rows.records),
    )


def _headline(summaries: Sequence[MetricSummary]) -> str:
    first = next((summary for summary in summaries if summary.mean is not None), None)
    if first is None:
        return ""
    bounds = f" [{first.ci.low:.3f}, {first.ci.high:.3f}]" if first.ci is not None else ""
    return f"{first.metric} {first.mean:.3f}{bounds}"


# ---- what the log holds


@dataclass(slots=True)
class _Output:
    """The values of one output over the whole log."""

    kinds: set[str] = field(default_factory=set[str])
    low: float = math.inf
    high: float = -math.inf
    binary: bool = True
    words: bool = True
    """Whether every number was a word of the tool's, such as a letter for correct."""

    def take(self, score: Score) -> None:
        self.kinds.add(_kind(score))
        if score.number is not None:
            self.low, self.high = min(self.low, score.number), max(self.high, score.number)
            self.binary = self.binary and score.number in (0.0, 1.0)
            self.words = self.words and isinstance(score.metadata.get("value"), str)

    def spec(self, name: str, *, fraction: bool, higher_is_better: bool) -> MetricSpec:
        """Verdicts stay verdicts; mixed with numbers they are numbers; a scorer that names things gives names.

        Fractions that are all 0 or 1 are verdicts, and other fractions have bounds, which their intervals respect.
        """
        if "structured" in self.kinds:
            kind = ScoreType.STRUCTURED
        elif "label" in self.kinds:
            kind = ScoreType.LABEL
        else:
            fraction = (fraction or self.words) and (self.low >= 0.0 and self.high <= 1.0)
            verdicts = self.kinds == {"passed"} or (fraction and self.binary and bool(self.kinds))
            kind = ScoreType.PASSED if verdicts else ScoreType.NUMBER
        low, high = (0.0, 1.0) if kind is ScoreType.NUMBER and fraction and self.kinds else (None, None)
        return MetricSpec(name=name, type=kind, min=low, max=high, higher_is_better=higher_is_better)


@dataclass(slots=True)
class _Survey:
    """What a first look at all samples finds: which scorers there are and what kind of values they give."""

    scorers: dict[str, dict[str, "_Output"]] = field(default_factory=dict[str, dict[str, "_Output"]])
    """By scorer and output."""
    samples: int = 0
    unreadable: list[UnreadableSample] = field(default_factory=list[UnreadableSample])
    cases: set[bytes] = field(default_factory=set[bytes])
    """Digest of each case: id, input and reference."""
    trials: int = 1

    def take(self, sample: ImportedSample) -> None:
        self.samples += 1
        record = sample.record
        case = canonical_json([record.id, record.input, record.reference])
        self.cases.add(hashlib.sha256(case).digest())
        run = record.provenance.run if record.provenance is not None else None
        self.trials = max(self.trials, run.trial + 1 if run is not None else 1)
        for result in sample.results:
            outputs = self.scorers.setdefault(result.evaluator, {})
            for score in result.scores:
                outputs.setdefault(score.name, _Output()).take(score)

    @property
    def dataset_sha256(self) -> str:
        """Of the cases, whatever their answers and their order: two runs over the same cases have the same."""
        return hashlib.sha256(b"".join(sorted(self.cases))).hexdigest()


def _kind(score: Score) -> str:
    if score.passed is not None:
        return "passed"
    if score.number is not None:
        return "number"
    return "label" if score.label is not None else "structured"


def _surveyed(log: ImportedLog, on_invalid: Literal["stop", "skip"]) -> _Survey:
    survey = _Survey({name: {} for name in log.scorers})
    for sample in log.read_samples():
        if isinstance(sample, ImportedSample):
            survey.take(sample)
        elif on_invalid == "stop":
            raise InvalidDataError(
                sample.reason, where=sample.place, hint="leave samples that cannot be read out with --skip-invalid"
            )
        else:
            survey.unreadable.append(sample)
    if not survey.samples:
        first = next(iter(survey.unreadable), None)
        raise InvalidDataError(
            f"no sample can be read; the first: {first.reason}" if first else "the log holds no samples",
            where=first.place if first else str(log.path),
        )
    return survey


def _samples_of(log: ImportedLog) -> Iterator[ImportedSample]:
    return (sample for sample in log.read_samples() if isinstance(sample, ImportedSample))


# ---- the run


def _run_of(log: ImportedLog, on_invalid: Literal["stop", "skip"]) -> GradedRun:
    survey = _surveyed(log, on_invalid)
    evaluators = [_evaluator(log, name, outputs) for name, outputs in survey.scorers.items()]

    def read_rows() -> Iterator[GradedRows]:
        samples = _samples_of(log)
        first_row = 0
        while batch := list(islice(samples, BATCH_ROWS)):
            columns = [_columns(evaluator, batch) for evaluator in evaluators]
            yield GradedRows(first_row, encode_records([sample.record for sample in batch]), columns)
            first_row += len(batch)

    # Trials of one case are not independent.
    plan = SummaryPlan(cluster_by=RECORD_ID if survey.trials > 1 else None)
    summary = SummaryBuilder(evaluators, plan)
    for rows in read_rows():
        summary.add(rows.first_row, rows.rows, rows.columns, lambda rows=rows: rows.records)
    summaries = summary.finish()
    aggregates = [_aggregate(log, reported) for reported in log.reported if not _has_values(survey, reported)]
    # A scorer that only the whole has a figure for says nothing about single samples.
    spoken_for = {aggregate.evaluator for aggregate in aggregates}
    summaries = [each for each in summaries if each.n or each.errors or each.evaluator not in spoken_for]
    manifest = _manifest(log, survey, evaluators, plan)
    warnings = [*manifest.warnings, *_disagreements(log, survey, summaries)]
    return GradedRun(
        source=f"{log.tool}://{log.path}",
        manifest=msgspec.structs.replace(manifest, warnings=warnings),
        summaries=[*summaries, *aggregates],
        read_rows=read_rows,
    )


def _manifest(
    log: ImportedLog, survey: _Survey, evaluators: Sequence[BoundEvaluator], plan: SummaryPlan
) -> RunManifest:
    said = log.manifest
    identity = {"tool": log.tool, "label": log.label, "content": _digest_of_file(log)}
    settings_sha256 = hashlib.sha256(canonical_json(identity)).hexdigest()
    started_s = max(0.0, said.started_at.timestamp()) if said.started_at is not None else None
    tool = f"{log.tool} {log.tool_version}".rstrip()
    warnings = list(said.warnings)
    if survey.unreadable:
        first, count = survey.unreadable[0], len(survey.unreadable)
        warnings.append(
            f"{count} sample{'s' * (count > 1)} cannot be read and {'are' if count > 1 else 'is'} left out; "
            f"the first: {first.place}: {first.reason}"
        )
    return msgspec.structs.replace(
        said,
        run_id=run_id_of_digest(settings_sha256, started_s),
        evalsi_version=__version__,
        dataset=msgspec.structs.replace(
            said.dataset or DatasetManifest(source=str(log.path)),
            sha256=survey.dataset_sha256,
            records=survey.samples,
            rejected=len(survey.unreadable),
        ),
        evaluators=[
            BoundRunEvaluator(name=evaluator.name, manifest=manifest_of(evaluator.definition))
            for evaluator in evaluators
        ],
        settings_sha256=settings_sha256,
        summary=SummaryOptions(confidence_level=plan.level, cluster_by=plan.cluster_by or ""),
        trials=max(said.trials, survey.trials),
        unpinned=[Unpinned(what="the whole run", why=f"{tool} made it; evalsi has its log and cannot repeat it")],
        labels={**said.labels, "imported-from": log.tool},
        warnings=warnings,
    )


def _digest_of_file(log: ImportedLog) -> str:
    digest = hashlib.sha256()
    for _ in ByteSource(str(log.path), log.path).blocks(digest):
        pass
    return digest.hexdigest()


# ---- evaluators and columns


def _short(evaluator: str) -> str:
    """The scorer's name as part of a reference, `tool/name@version`."""
    return _UNSAFE.sub("-", evaluator)


def _evaluator(log: ImportedLog, name: str, outputs: Mapping[str, _Output]) -> BoundEvaluator:
    """A scorer as an evaluator that has already spoken."""
    short, version = _short(name), _UNSAFE.sub("-", log.tool_version) or "0"
    better = log.higher_is_better.get(name, True)
    specs = [
        values.spec(output or short, fraction=log.is_fraction(name), higher_is_better=better)
        for output, values in outputs.items()
    ]
    definition = Definition(
        name=short,
        version=version,
        scope=Scope.RECORD,
        requires=frozenset(),
        params=NoParams,
        outputs=tuple(specs) or (MetricSpec(name=short, type=ScoreType.NUMBER, higher_is_better=better),),
        description=f"Scorer {name} of {log.tool}, as its log has it.",
        code=_has_spoken,
        is_async=False,
        bounded=True,
        pack=log.tool,
    )
    return BoundEvaluator(
        name=name, ref=f"{log.tool}/{short}@{version}", definition=definition, params=NoParams(), call=None
    )


def _has_spoken(*_: Any) -> Any:
    raise UsageError("a scorer of another tool cannot be run here")


def _columns(evaluator: BoundEvaluator, samples: Sequence[ImportedSample]) -> EvaluatorColumns:
    builder = ColumnsBuilder(evaluator.definition, name=evaluator.name, ref=evaluator.ref, rows=len(samples))
    labelled = {spec.name for spec in evaluator.outputs if spec.type is ScoreType.LABEL}
    for row, sample in enumerate(samples):
        found = next((each for each in sample.results if each.evaluator == evaluator.name), sample.otherwise)
        _put(builder, row, found, labelled)
    return builder.result


def _put(builder: ColumnsBuilder, row: int, result: EvaluationResult, labelled: set[str]) -> None:
    if result.outcome is Outcome.SCORED:
        builder.put(row, [_named(score, builder.first, labelled) for score in result.scores])
    elif result.outcome is Outcome.ERROR:
        error = MeasurementError(result.reason or "the log says no more", kind=result.error_kind, fault=result.fault)
        builder.fail(row, error)
    else:
        builder.skip(row, result.reason)
    if result.usage is not None:
        builder.note(row).usage = result.usage


def _named(score: Score, only: str, labelled: set[str]) -> Score:
    """The score under its output's name; a word that was read as a number is a word again among words."""
    name = score.name or only
    word = score.metadata.get("value")
    if name in labelled and score.label is None and isinstance(word, str):
        return Score(name=name, label=word, explanation=score.explanation, metadata=score.metadata)
    return msgspec.structs.replace(score, name=name)


# ---- figures of the tool


def _has_values(survey: _Survey, reported: ReportedMetric) -> bool:
    """Whether samples have values of it, or would if they had not failed."""
    outputs = survey.scorers.get(reported.evaluator)
    return outputs is not None and (reported.output in outputs or not reported.output or not outputs)


def _aggregate(log: ImportedLog, reported: ReportedMetric) -> MetricSummary:
    """A figure that only the whole has."""
    name = f"{reported.evaluator}.{reported.output}" if reported.output else reported.evaluator
    return MetricSummary(
        metric=name,
        evaluator=reported.evaluator,
        evaluator_ref=f"{log.tool}/{_short(reported.evaluator)}@{_UNSAFE.sub('-', log.tool_version) or '0'}",
        kind=MetricKind.NUMBER,
        n=reported.n,
        mean=reported.mean,
        total=reported.n,
        coverage=1.0 if reported.n else None,
        higher_is_better=log.higher_is_better.get(reported.evaluator, True),
        notes=[f"as {log.tool} computed it over the whole; its log has no value per sample"],
    )


def _disagreements(log: ImportedLog, survey: _Survey, summaries: Sequence[MetricSummary]) -> Iterator[str]:
    """Where the tool's mean is not the mean of the values in its log."""
    means = {summary.metric: summary for summary in summaries}
    for reported in log.reported:
        outputs = [output for output in survey.scorers.get(reported.evaluator, {}) if output]
        qualified = reported.output and outputs != [reported.output]
        summary = means.get(f"{reported.evaluator}.{reported.output}" if qualified else reported.evaluator)
        if summary is None or summary.mean is None:
            continue
        if not math.isclose(summary.mean, reported.mean, rel_tol=_TOLERANCE, abs_tol=_TOLERANCE):
            yield (
                f"{summary.metric}: {log.tool} reports {reported.mean:.6g}, the mean of the {summary.n} values in its "
                f"log is {summary.mean:.6g}"
            )
