"""DatasetCatalogService: versions of datasets are taken in, listed, decided about, compared and sent out.

What always holds: a version is checked as a whole before any of it is stored, and no name that a caller gives becomes part
of a path: records lie under the digest of their content.
"""

import asyncio
import hashlib
import re
import tempfile
from collections.abc import AsyncIterator, Iterator, Sequence
from dataclasses import dataclass, field
from io import BufferedReader, FileIO
from pathlib import Path

import msgspec

from evalsi.access.caller import Caller
from evalsi.access.gate import DEFAULT_PROJECT, require, visible_projects
from evalsi.core.errors import (
    ConflictError,
    InvalidDataError,
    InvalidSpecError,
    StoreError,
    TooLargeError,
    UnimplementedError,
    UsageError,
    told_error,
)
from evalsi.core.page_token import read_page_token, write_page_token
from evalsi.core.raw_writing import write_all
from evalsi.datasets import DatasetOptions, open_dataset
from evalsi.datasets.byte_source import ByteSource
from evalsi.datasets.difference import record_difference
from evalsi.datasets.options import FORMATS, Format
from evalsi.datasets.row_ids import SeenIds, hash_of
from evalsi.datasets.unpacked_bound import MOST_TIMES, most_unpacked_bytes
from evalsi.ports.dataset_store import Decision, VersionQuery
from evalsi.ports.failure_store import FailureStore
from evalsi.ports.project_stores import ProjectStores
from evalsi.schema import (
    DatasetUploadConfig,
    DatasetVersion,
    DatasetVersionContent,
    DatasetVersionRef,
    DatasetVersionState,
    DiffDatasetVersionsRequest,
    DiffDatasetVersionsResponse,
    FailureSelection,
    FetchDatasetVersionRequest,
    FetchDatasetVersionResponse,
    GetDatasetVersionRequest,
    GetDatasetVersionResponse,
    ListDatasetVersionEventsRequest,
    ListDatasetVersionEventsResponse,
    ListDatasetVersionsRequest,
    ListDatasetVersionsResponse,
    PublishDatasetVersionRequest,
    PublishDatasetVersionResponse,
    Record,
    ReviewDatasetVersionRequest,
    ReviewDatasetVersionResponse,
    UploadDatasetVersionRequest,
    UploadDatasetVersionResponse,
    json_codec,
)
from evalsi.server.services.failure_service import approved_records
from evalsi.server.services.run_service import page_size

_NAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,62}\Z")
_VERSION = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,62}\Z")
_RESERVED = "latest"
_IDS_AT_ONCE = 10_000
_WRITTEN_AT_ONCE = 1 << 20
_DESCRIPTIVE = ("owner", "split", "tags", "description", "labels")


@dataclass(frozen=True, kw_only=True)
class DatasetCatalogService:
    """Implements the service of that name."""

    stores: ProjectStores
    failures: FailureStore | None = None
    """Where the failures are whose records a version may take in; None where none are kept."""
    most_upload_bytes: int = 8 << 30
    """Of one upload, as it is sent."""
    most_shown_bytes: int = 64 << 20
    """Of the records in one answer; more are fetched as a stream."""
    service: str = field(default="DatasetCatalogService", init=False)

    async def publish_dataset_version(
        self, request: PublishDatasetVersionRequest, caller: Caller
    ) -> PublishDatasetVersionResponse:
        content = request.content or DatasetVersionContent()
        records: Sequence[Record] = content.records
        if request.failures:
            project = content.project or DEFAULT_PROJECT
            require(caller, "failures.read", project)
            records = [*records, *await asyncio.to_thread(self._records_of_failures, project, request.failures)]
        stored, _ = await asyncio.to_thread(self._publish, content, records, caller)
        return PublishDatasetVersionResponse(dataset=stored, reference=_reference(stored))

    async def upload_dataset_version(
        self, requests: AsyncIterator[UploadDatasetVersionRequest], caller: Caller
    ) -> UploadDatasetVersionResponse:
        with tempfile.TemporaryDirectory(prefix="evalsi-upload-") as folder:
            file = Path(folder) / "upload"
            config = await _received(requests, file, self.most_upload_bytes)
            content = DatasetVersionContent(
                project=config.project,
                name=config.name,
                version=config.version,
                owner=config.owner or caller.principal,
                description=config.description,
                labels=config.labels,
            )

            def take() -> tuple[DatasetVersion, bool]:
                _check_names(content)
                _refuse_blown_up(file, config.name)
                options = DatasetOptions(mapping=config.mapping, format=_format(config.format, file, config.name))
                return self._publish(content, _read(file, options, config.name), caller)

            stored, existed = await asyncio.to_thread(take)
        reference = _reference(stored)
        return UploadDatasetVersionResponse(
            dataset=stored,
            reference=reference,
            existed=existed,
            path=f"{reference.name}@{reference.version}",
            records=stored.records,
        )

    async def list_dataset_versions(
        self, request: ListDatasetVersionsRequest, caller: Caller
    ) -> ListDatasetVersionsResponse:
        visible = visible_projects(caller, "datasets.read")
        projects: Sequence[str] | None = [request.project] if request.project else None
        if projects is None and visible is not None:
            projects = sorted(visible)
        query = VersionQuery(name=request.name, state=request.state, owner=request.owner, search=request.search)
        size = page_size(request.page_size)
        page = await asyncio.to_thread(self.stores.dataset_page, projects, query, size=size, token=request.page_token)
        return ListDatasetVersionsResponse(datasets=page.versions, next_page_token=page.next_token)

    async def get_dataset_version(self, request: GetDatasetVersionRequest, caller: Caller) -> GetDatasetVersionResponse:
        del caller

        def read() -> DatasetVersion:
            datasets = self.stores.datasets(request.project or DEFAULT_PROJECT)
            version = datasets.version(request.name, request.version)
            if request.without_records or version.content is None:
                return version
            pieces = _bounded(datasets.read(request.name, version.content.version), self.most_shown_bytes)
            records = list(_records(pieces))
            return msgspec.structs.replace(version, content=msgspec.structs.replace(version.content, records=records))

        version = await asyncio.to_thread(read)
        return GetDatasetVersionResponse(dataset=version, reference=_reference(version))

    async def fetch_dataset_version(
        self, request: FetchDatasetVersionRequest, caller: Caller
    ) -> AsyncIterator[FetchDatasetVersionResponse]:
        del caller
        datasets = self.stores.datasets(request.project or DEFAULT_PROJECT)
        pieces = await asyncio.to_thread(datasets.read, request.name, request.version)
        while piece := await asyncio.to_thread(next, pieces, b""):
            yield FetchDatasetVersionResponse(chunk=piece)

    async def review_dataset_version(
        self, request: ReviewDatasetVersionRequest, caller: Caller
    ) -> ReviewDatasetVersionResponse:
        if request.decision is DatasetVersionState.UNSPECIFIED:
            raise InvalidSpecError("nothing is decided", where="decision", hint="decide draft, approved or retired")
        decision = Decision(
            sha256=request.sha256,
            expected_revision=request.expected_revision,
            state=request.decision,
            actor=caller.principal,
            note=request.note,
        )
        datasets = self.stores.datasets(request.project or DEFAULT_PROJECT)
        version = await asyncio.to_thread(datasets.review, request.name, request.version, decision)
        return ReviewDatasetVersionResponse(dataset=version)

    async def list_dataset_version_events(
        self, request: ListDatasetVersionEventsRequest, caller: Caller
    ) -> ListDatasetVersionEventsResponse:
        del caller
        datasets = self.stores.datasets(request.project or DEFAULT_PROJECT)
        about = (request.project, request.name, request.version)
        after = read_page_token(request.page_token, about, int) or 0
        size = page_size(request.page_size)

        def read() -> ListDatasetVersionEventsResponse:
            found = datasets.events(request.name, request.version, size=size + 1, after=after)
            token = write_page_token(about, found[size - 1].revision) if len(found) > size else ""
            return ListDatasetVersionEventsResponse(events=found[:size], next_page_token=token)

        return await asyncio.to_thread(read)

    async def diff_dataset_versions(
        self, request: DiffDatasetVersionsRequest, caller: Caller
    ) -> DiffDatasetVersionsResponse:
        del caller
        return await asyncio.to_thread(self._difference, request)

    def _records_of_failures(self, project: str, selections: Sequence[FailureSelection]) -> list[Record]:
        if self.failures is None:
            raise UnimplementedError("this server keeps no failures", hint="send their records in content")
        return approved_records(self.failures, project, selections)

    def _publish(
        self, content: DatasetVersionContent, records: "Sequence[Record] | Iterator[Record]", caller: Caller
    ) -> tuple[DatasetVersion, bool]:
        """Raises: InvalidSpecError, InvalidDataError: a name, or the records, cannot be used."""
        _check_names(content)
        with tempfile.TemporaryDirectory(prefix="evalsi-dataset-") as folder:
            path = Path(folder) / "records.jsonl"
            with path.open("w+b", buffering=0) as body:
                count, sha256 = _written(records, body)
            if not count:
                raise InvalidDataError("the dataset has no record", where=f"dataset {content.name}")
            version = DatasetVersion(
                content=msgspec.structs.replace(content, owner=content.owner or caller.principal, records=[]),
                records=count,
                published_by=caller.principal,
            )
            datasets = self.stores.datasets(content.project or DEFAULT_PROJECT)
            return datasets.publish(version, path, body_sha256=sha256)

    def _difference(self, request: DiffDatasetVersionsRequest) -> DiffDatasetVersionsResponse:
        datasets = self.stores.datasets(request.project or DEFAULT_PROJECT)
        sides: list[DatasetVersion] = []
        for name, sha256 in (
            (request.before_version, request.before_sha256),
            (request.after_version, request.after_sha256),
        ):
            version = datasets.version(request.name, name)
            if sha256 and sha256 != version.sha256:
                raise ConflictError(f"version {name} of dataset {request.name} has the digest {version.sha256}")
            sides.append(version)
        before, after = sides
        # By the names they have: "latest" may be another one by the second time.
        earlier, later = (content.version if (content := each.content) is not None else "" for each in sides)
        found = record_difference(
            lambda: _records(datasets.read(request.name, earlier)), lambda: _records(datasets.read(request.name, later))
        )
        return DiffDatasetVersionsResponse(
            before_sha256=before.sha256,
            after_sha256=after.sha256,
            added=list(found.added),
            removed=list(found.removed),
            changed=list(found.changed),
            unchanged=found.unchanged,
            order_changed=found.order_changed,
            metadata_changed=[
                name for name in _DESCRIPTIVE if getattr(before.content, name) != getattr(after.content, name)
            ],
        )


async def _received(
    requests: AsyncIterator[UploadDatasetVersionRequest], file: Path, most_bytes: int
) -> DatasetUploadConfig:
    """Writes the pieces of an upload to `file`.

    Raises: InvalidSpecError: it does not begin with its config. UsageError: it is too large. StoreError: there is no room.
    """
    received_bytes = 0
    config: DatasetUploadConfig | None = None
    sha256 = hashlib.sha256()
    with file.open("wb", buffering=0) as out:
        async for message in requests:
            if message.config is not None:
                if config is not None:
                    raise InvalidSpecError("the config stands in the first message alone", where="config")
                config = message.config
            elif config is None:
                raise InvalidSpecError("the first message says what the file is", where="config")
            if message.chunk:
                received_bytes += len(message.chunk)
                if received_bytes > most_bytes:
                    raise UsageError(
                        f"the upload has more than the {most_bytes:,} bytes that one may have",
                        hint="pack the file, or put it below the root of datasets",
                    )
                sha256.update(message.chunk)
                await asyncio.to_thread(_write, out, message.chunk)
    if config is None:
        raise InvalidSpecError("nothing was sent", where="config")
    if config.file_sha256 and config.file_sha256 != sha256.hexdigest():
        raise InvalidDataError(
            f"the file arrived with the digest {sha256.hexdigest()}, not {config.file_sha256}", hint="send it again"
        )
    return config


def _write(out: FileIO, data: bytes) -> None:
    try:
        write_all(out, data)
    except OSError as error:
        raise StoreError(f"the server has no room for the upload: {error.strerror}") from error


def _refuse_blown_up(file: Path, name: str) -> None:
    """Raises: InvalidDataError: the file unpacks to very much more than it is."""
    source = ByteSource(name=name, path=file)
    if not source.is_packed():
        return
    most_bytes = most_unpacked_bytes(file.stat().st_size)
    unpacked_bytes = 0
    for block in source.blocks():
        unpacked_bytes += len(block)
        if unpacked_bytes > most_bytes:
            raise InvalidDataError(
                f"unpacks to more than {MOST_TIMES} times its size", where=name, hint="send it unpacked"
            )


def _format(word: str, file: Path, name: str) -> Format:
    """The form of the file: the word, else by its first bytes, unpacked. Raises: InvalidSpecError, InvalidDataError."""
    for known in FORMATS:
        if known == word:
            return known
    if word:
        raise InvalidSpecError(f"there is no format {word!r}", where="format", hint=f"known: {', '.join(FORMATS)}")
    beginning = ByteSource(name=name, path=file).head()[:64].lstrip()
    if beginning.startswith(b"PAR1"):
        return "parquet"
    return "jsonl" if beginning.startswith(b"{") else "json" if beginning.startswith(b"[") else "csv"


def _read(file: Path, options: DatasetOptions, name: str) -> Iterator[Record]:
    """Raises: UsageError: a row cannot be read, or a column is not there; with its place in the file."""
    try:
        yield from open_dataset(file, options=options).records()
    except UsageError as error:
        # Where the file lies on this machine is nobody's business.
        where = error.where.replace(str(file), name) if error.where is not None else None
        message = error.message.replace(str(file), name)
        raise told_error(type(error), message, where=where, hint=error.hint) from None


def _written(records: "Sequence[Record] | Iterator[Record]", body: FileIO) -> tuple[int, str]:
    """Writes JSON Lines; how many, and the digest of the whole. Memory grows by 8 bytes for each record.

    Raises: InvalidDataError: a record has no id, or that of an earlier one. StoreError: there is no room.
    """
    sha256 = hashlib.sha256()
    seen = SeenIds()
    identifiers: list[str] = []
    lines: list[bytes] = []
    count = waiting_bytes = 0
    for count, record in enumerate(records, start=1):
        if not record.id:
            raise InvalidDataError(f"record {count} has no id", where=f"records[{count - 1}].id")
        identifiers.append(record.id)
        if len(identifiers) == _IDS_AT_ONCE:
            seen.add(identifiers)
            identifiers = []
        line = json_codec.encode_file(record).rstrip(b"\n") + b"\n"
        sha256.update(line)
        lines.append(line)
        waiting_bytes += len(line)
        if waiting_bytes >= _WRITTEN_AT_ONCE:
            _write(body, b"".join(lines))
            lines, waiting_bytes = [], 0
    _write(body, b"".join(lines))
    seen.add(identifiers)
    _refuse_doubles(body, seen.suspects())
    return count, sha256.hexdigest()


def _refuse_doubles(body: FileIO, suspects: set[int]) -> None:
    """Looks again at the lines whose ids may be equal. Raises: InvalidDataError."""
    if not suspects:
        return
    body.seek(0)
    met: set[str] = set()
    for place, line in enumerate(BufferedReader(FileIO(body.fileno(), closefd=False))):
        record_id = json_codec.decode(line, Record).id
        if hash_of(record_id) not in suspects:
            continue
        if record_id in met:
            raise InvalidDataError(
                f"record {place + 1} has the id {record_id!r} of an earlier one", where=f"records[{place}].id"
            )
        met.add(record_id)


def _bounded(pieces: Iterator[bytes], most_bytes: int) -> Iterator[bytes]:
    """The pieces. Raises: TooLargeError: they are more than that, which is said before much of them is kept."""
    size_bytes = 0
    for piece in pieces:
        size_bytes += len(piece)
        if size_bytes > most_bytes:
            raise TooLargeError(
                f"the version has more than the {most_bytes:,} bytes of records that one answer holds",
                hint="fetch it, which streams: evalsi dataset fetch; or ask without_records",
            )
        yield piece


def _records(pieces: Iterator[bytes]) -> Iterator[Record]:
    rest = b""
    for piece in pieces:
        *lines, rest = (rest + piece).split(b"\n")
        yield from (json_codec.decode(line, Record) for line in lines)
    if rest:
        yield json_codec.decode(rest, Record)


def _check_names(content: DatasetVersionContent) -> None:
    if not _NAME.match(content.name):
        raise InvalidSpecError(
            f"{content.name!r} is no name of a dataset",
            where="name",
            hint="use lower-case letters, digits, dots, dashes and underscores, at most 63",
        )
    if content.version and (not _VERSION.match(content.version) or content.version == _RESERVED):
        raise InvalidSpecError(
            f"{content.version!r} is no name of a version",
            where="version",
            hint="write e.g. 2 or 2026-01, or leave it out",
        )


def _reference(version: DatasetVersion) -> DatasetVersionRef:
    content = version.content or DatasetVersionContent()
    return DatasetVersionRef(project=content.project, name=content.name, version=content.version, sha256=version.sha256)
