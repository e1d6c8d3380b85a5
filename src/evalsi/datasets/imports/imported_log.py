"""The log of another tool, in our terms: what the run was, and its samples with what the tool's scorers said.

A log holds one configuration's run. A source may hold several logs (a folder, or a file in which several models were
tried); each is a run of its own, since only then can two of them be compared. Readers of every format make these, and
everything after them, datasets and runs alike, knows nothing of formats.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from evalsi.schema import EvaluationResult, Outcome, Record, RunManifest

NOT_SCORED = EvaluationResult(outcome=Outcome.SKIPPED, reason="the log has no score of this scorer")


@dataclass(frozen=True, slots=True)
class ImportedSample:
    """One sample at its place."""

    place: str
    """Of the sample within the source: an entry, a line, a field path."""
    record: Record
    """`provenance.run.trial` tells repetitions of one case apart. All of it can be written as JSON."""
    results: Sequence[EvaluationResult]
    """What each scorer said, at most one per scorer. `record_id` and `trial` are left to the record."""
    otherwise: EvaluationResult
    """What became of the sample at a scorer that is not among `results`."""


@dataclass(frozen=True, slots=True)
class UnreadableSample:
    """A sample that no record can be made of."""

    place: str
    reason: str


@dataclass(frozen=True, kw_only=True)
class ReportedMetric:
    """An aggregate as the tool computed it."""

    evaluator: str
    output: str
    """Empty for the scorer's only output."""
    mean: float
    n: int
    """Samples it rests on; 0 where the tool does not say."""


@dataclass(frozen=True, kw_only=True)
class ImportedLog:
    """One run of another tool. `read_samples` starts a fresh pass each time and gives the same samples each time."""

    label: str
    """Short, and different for each log of one source."""
    path: Path
    """The file whose bytes identify the samples."""
    tool: str
    """The scheme of its format, e.g. "inspect"."""
    tool_version: str
    manifest: RunManifest
    """What the log says about the run. Ids, digests and evaluators are left to whoever makes a run of it."""
    read_samples: Callable[[], Iterator[ImportedSample | UnreadableSample]]
    scorers: Sequence[str] = ()
    """Scorers that the log names, in its order; samples may name more."""
    higher_is_better: Mapping[str, bool] = field(default_factory=dict[str, bool])
    """Direction of a scorer, where the log says; more is better for the others."""
    is_fraction: Callable[[str], bool] = lambda _: False
    """Whether a scorer's numbers are fractions from 0 to 1 by the tool's convention."""
    reported: Sequence[ReportedMetric] = ()
