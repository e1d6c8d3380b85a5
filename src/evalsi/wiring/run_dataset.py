"""The dataset of a run: what its specification names, opened."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from evalsi.core.clock import SystemClock
from evalsi.core.errors import InvalidSpecError
from evalsi.datasets import Dataset, DatasetOptions, open_dataset
from evalsi.datasets.mapping import UnmappedColumnError
from evalsi.documents.named_outside import named_at
from evalsi.documents.placed_tree import below
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
    data, name, path = _named(source, document, store, served, settings)
    with named_at(document.where, path):
        dataset = open_dataset(data, options=options, memory=ScanFiles(settings.scans) if served is None else None)
    return dataset, options, name


def scanned(dataset: Dataset, document: RunDocument) -> None:
    """Reads the dataset once. Raises: EvalsiError: rows that cannot be used, or a column that a mapping names and none has."""
    try:
        dataset.scan()
    except UnmappedColumnError as error:
        with named_at(document.where, below("spec.dataset.mapping", error.field)):
            raise


def _named(
    source: DatasetSource, document: RunDocument, store: RunStore, served: Served | None, settings: Settings
) -> tuple[Any, str, str]:
    """What the specification names as its data, what that is called, and the path of the field that names it."""
    if source.inline is not None:
        return list(source.inline.records), "inline", "spec.dataset.inline"
    if source.run is not None:
        with named_at(document.where, "spec.dataset.run.run_id"):
            run = stored_run(store, store.find(source.run.run_id).id)
        return StoredAnswers(run).outputs(source.run.trial), f"run {source.run.run_id}", "spec.dataset.run"
    if source.uri is not None:
        return source.uri, source.uri, "spec.dataset.uri"
    if source.path is not None:
        named = document.spec.dataset
        if served is not None and named is not None and named.path is not None:
            # A Path names one file or folder; a text could be a pattern and lead out of the root after all.
            return Path(source.path), named.path, "spec.dataset.path"
        data = source.path if source.path == "-" else str(document.folder / source.path)
        return data, data, "spec.dataset.path"
    if source.catalog is not None and served is not None:
        with named_at(document.where, "spec.dataset.catalog"):
            path = served.version_path(source.catalog)
        return path, f"{source.catalog.name}@{source.catalog.version}", "spec.dataset.catalog"
    if source.traces is not None:
        name = f"traces of {source.traces.service}".removesuffix(" of ")
        return _traces(source, served, settings), name, "spec.dataset.traces"
    raise InvalidSpecError(
        "spec.dataset.catalog: this kind of dataset needs a server",
        where=document.where("spec.dataset.catalog"),
        hint="name a path, a uri, inline records or a run",
    )


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
