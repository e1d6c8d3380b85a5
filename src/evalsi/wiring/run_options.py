"""What the caller of a run adds to its specification."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from evalsi.judges.spend import Spend
from evalsi.results.recorder import Progress
from evalsi.schema import (
    DatasetSource,
    DatasetVersionRef,
    Record,
    RunSpec,
)

DEFAULT_CONCURRENCY = 16


@dataclass(frozen=True, kw_only=True)
class RunOptions:
    """What the caller adds to a specification."""

    concurrency: int | None = None
    """Questions to the target in flight; by default the specification's, else 16."""
    use_cache: bool = True
    resume: bool = True
    continues: str = ""
    """Continue this run and no other."""
    retry_errors: bool = False
    """Ask again where the infrastructure failed and that was stored, also in a run that has succeeded."""
    replay: str = ""
    """A run whose answers stand in for the target: nobody is asked."""
    argv: Sequence[str] = ()
    labels: Mapping[str, str] = field(default_factory=dict[str, str])
    name: str = ""
    served: "Served | None" = None
    on_progress: Callable[[Progress], None] | None = None
    on_judges: Callable[[Mapping[str, Spend]], None] = lambda _spends: None
    """Told once, by name, where the judges count what they use."""
    stopped: Callable[[], bool] = lambda: False


@dataclass(frozen=True, kw_only=True)
class Served:
    """What differs when a server runs a specification that was sent to it."""

    spec: RunSpec
    """The specification with its paths confined (`run.spec.served`); what was sent is what is remembered."""
    version_path: Callable[[DatasetVersionRef], Path]
    """The file of a version in the catalogue of datasets."""
    version_sha256: Callable[[DatasetVersionRef], str]
    """The digest that the version has there."""
    traces: Callable[[DatasetSource], Iterator[Record]]
    """The records of a query of traces."""
