"""The dataset of a run: what its specification names, opened."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from evalsi.core.clock import SystemClock
from evalsi.core.errors import UsageError
from evalsi.datasets import Dataset, DatasetOptions, open_dataset
from evalsi.infra.scan_files import ScanFiles
from evalsi.ports.run_store import RunStore
from evalsi.results.graded_run import stored_run
from evalsi.run.spec.read_run_spec import RunDocument
from evalsi.run.stored_answers import StoredAnswers
from evalsi.schema import (
    DatasetSource,
    Record,
    RunManifest,
)
from evalsi.settings import Settings
from evalsi.wiring.run_options import Served
from evalsi.wiring.trace_libraries import LOCAL_PROJECT
from evalsi.wiring.trace_records import condition_of, records_of_traces


def run_dataset(
    document: RunDocument, store: RunStore, served: Served | None, settings: Settings
) -> tuple[Dataset, DatasetOptions, str]:
    named = document.spec.dataset
    source = named if served is None else served.spec.dataset
    if source is None:
        return open_dataset([]), DatasetOptions(), ""
    options = DatasetOptions(
        mapping=source.mapping,
        limit=source.limit or None,
        where=condition_of(source),
        sample=source.sample or None,
        seed=source.seed,
        on_invalid="skip" if source.skip_invalid else "stop",
        format=source.format or None,
    )
    data: Any
    if source.inline is not None:
        data, name = list(source.inline.records), "inline"
    elif source.run is not None:
        run = stored_run(store, store.find(source.run.run_id).id)
        data, name = StoredAnswers(run).outputs(source.run.trial), f"run {source.run.run_id}"
    elif source.uri is not None:
        data = name = source.uri
    elif source.path is not None:
        if served is not None and named is not None and named.path is not None:
            # A Path names one file or folder; a text could be a pattern and lead out of the root after all.
            data, name = Path(source.path), named.path
        else:
            data = name = source.path if source.path == "-" else str(document.folder / source.path)
    elif source.catalog is not None and served is not None:
        data, name = served.version_path(source.catalog), f"{source.catalog.name}@{source.catalog.version}"
    elif source.traces is not None:
        data, name = _traces(source, served, settings), f"traces of {source.traces.service}".removesuffix(" of ")
    else:
        raise UsageError("this kind of dataset needs a server", hint="name a path, a uri, inline records or a run")
    dataset = open_dataset(data, options=options, memory=ScanFiles(settings.scans) if served is None else None)
    return dataset, options, name


def _traces(source: DatasetSource, served: Served | None, settings: Settings) -> Iterator[Record]:
    if served is not None:
        return served.traces(source)
    return records_of_traces(str(settings.database), LOCAL_PROJECT, source, SystemClock().now())


def with_known_digest(manifest: RunManifest, served: Served) -> RunManifest:
    """The manifest with the digest that a version in the catalogue of datasets has there."""
    source, dataset = served.spec.dataset, manifest.dataset
    if source is None or source.catalog is None or dataset is None:
        return manifest
    known = msgspec.structs.replace(dataset, sha256=served.version_sha256(source.catalog))
    return msgspec.structs.replace(manifest, dataset=known)
