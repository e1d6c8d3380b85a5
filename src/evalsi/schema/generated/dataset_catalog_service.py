# Generated from proto/evalsi/v1alpha1/dataset_catalog_service.proto by tools/generate_schema.py. Edit the source, then run `make generate`.
"""Datasets on a server: versions that never change, found by name and told apart by their content."""

from __future__ import annotations

import msgspec

from evalsi.schema.generated.record import Record
from evalsi.schema.generated.run import DatasetVersionRef
from evalsi.schema.scalar_types import Int32, Int64, Timestamp
from evalsi.schema.schema_enum import SchemaEnum

__all__ = [
    "DatasetRecordChange",
    "DatasetUploadConfig",
    "DatasetVersion",
    "DatasetVersionContent",
    "DatasetVersionEvent",
    "DatasetVersionState",
    "DiffDatasetVersionsRequest",
    "DiffDatasetVersionsResponse",
    "FailureSelection",
    "FetchDatasetVersionRequest",
    "FetchDatasetVersionResponse",
    "GetDatasetVersionRequest",
    "GetDatasetVersionResponse",
    "ListDatasetVersionEventsRequest",
    "ListDatasetVersionEventsResponse",
    "ListDatasetVersionsRequest",
    "ListDatasetVersionsResponse",
    "PublishDatasetVersionRequest",
    "PublishDatasetVersionResponse",
    "ReviewDatasetVersionRequest",
    "ReviewDatasetVersionResponse",
    "UploadDatasetVersionRequest",
    "UploadDatasetVersionResponse",
]


class DatasetVersionState(SchemaEnum):
    """What was decided about a version of a dataset."""

    UNSPECIFIED = "unspecified", 0, "DATASET_VERSION_STATE_UNSPECIFIED"
    """Not known."""
    DRAFT = "draft", 1, "DATASET_VERSION_STATE_DRAFT"
    """Nothing yet."""
    APPROVED = "approved", 2, "DATASET_VERSION_STATE_APPROVED"
    """It may decide about releases."""
    RETIRED = "retired", 3, "DATASET_VERSION_STATE_RETIRED"
    """It is not to be used any more."""


class DatasetVersionContent(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, repr_omit_defaults=True, forbid_unknown_fields=True):
    """What a version holds. All of it decides its digest."""

    project: str = ""
    """Project that owns it."""
    name: str = ""
    """Name of the dataset: lower-case letters, digits, dots, dashes and underscores."""
    version: str = ""
    """Name of the version, for example "2" or "2026-01"; empty for the next number."""
    owner: str = ""
    """Who answers for it."""
    split: str = ""
    """Part of a larger dataset, for example "test"."""
    tags: list[str] = []
    """Words to find it by."""
    description: str = ""
    """What it is, in a sentence for people."""
    labels: dict[str, str] = {}
    """Labels to find it by."""
    records: list[Record] = []
    """The records."""


class DatasetVersion(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, repr_omit_defaults=True, forbid_unknown_fields=True):
    """A version of a dataset."""

    content: DatasetVersionContent | None = None
    """What it holds; lists leave the records out."""
    sha256: str = ""
    """Digest of the content, in lower-case hexadecimal."""
    records: Int64 = 0
    """Records it holds."""
    state: DatasetVersionState = DatasetVersionState.UNSPECIFIED
    """What was decided about it."""
    revision: Int64 = 0
    """Counts decisions; a decision names the one it builds on."""
    published_by: str = ""
    """Who stored it."""
    published_at: Timestamp | None = None
    """When it was stored."""
    reviewed_by: str = ""
    """Who decided last."""
    reviewed_at: Timestamp | None = None
    """When that was; absent before the first decision."""
    review_note: str = ""
    """Why it was decided so."""


class DatasetVersionEvent(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, repr_omit_defaults=True, forbid_unknown_fields=True, gc=False):
    """A decision about a version."""

    revision: Int64 = 0
    """Number of the decision."""
    state: DatasetVersionState = DatasetVersionState.UNSPECIFIED
    """What was decided."""
    actor: str = ""
    """Who decided."""
    sha256: str = ""
    """Digest of the content it was decided about."""
    time: Timestamp | None = None
    """When."""


class FailureSelection(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, repr_omit_defaults=True, forbid_unknown_fields=True, gc=False):
    """A failure case as it was reviewed."""

    id: str = ""
    """Identifier of the case."""
    revision: Int64 = 0
    """Number of the review."""


class PublishDatasetVersionRequest(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, repr_omit_defaults=True, forbid_unknown_fields=True):
    """A version to store."""

    content: DatasetVersionContent | None = None
    """What it holds."""
    failures: list[FailureSelection] = []
    """Reviewed failure cases whose records are to be added; a server that keeps no cases refuses them."""


class PublishDatasetVersionResponse(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, repr_omit_defaults=True, forbid_unknown_fields=True):
    """The version as it is stored."""

    dataset: DatasetVersion | None = None
    """The version, without its records."""
    reference: DatasetVersionRef | None = None
    """What a spec names it by."""


class ListDatasetVersionsRequest(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, repr_omit_defaults=True, forbid_unknown_fields=True, gc=False):
    """Asks for versions. Of several filters all must hold."""

    project: str = ""
    """Project; empty for all projects the caller may read."""
    name: str = ""
    """Name of the dataset; empty for any."""
    state: DatasetVersionState = DatasetVersionState.UNSPECIFIED
    """What was decided; UNSPECIFIED for any."""
    owner: str = ""
    """Who answers for it; empty for anybody."""
    page_size: Int32 = 0
    """Most versions in one answer; 0 for 50."""
    page_token: str = ""
    """What the answer before gave as its `next_page_token`; empty for the first page."""
    search: str = ""
    """A part of the name, in any case; empty for any."""


class ListDatasetVersionsResponse(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, repr_omit_defaults=True, forbid_unknown_fields=True):
    """A page of versions."""

    datasets: list[DatasetVersion] = []
    """The versions, without their records."""
    next_page_token: str = ""
    """What to ask the next page with; empty on the last."""


class GetDatasetVersionRequest(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, repr_omit_defaults=True, forbid_unknown_fields=True, gc=False):
    """Asks for one version."""

    project: str = ""
    """Project; empty for "default"."""
    name: str = ""
    """Name of the dataset."""
    version: str = ""
    """Name of the version, its digest, or "latest"."""
    without_records: bool = False
    """Leave the records out."""


class GetDatasetVersionResponse(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, repr_omit_defaults=True, forbid_unknown_fields=True):
    """One version."""

    dataset: DatasetVersion | None = None
    """The version."""
    reference: DatasetVersionRef | None = None
    """What a spec names it by."""


class ReviewDatasetVersionRequest(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, repr_omit_defaults=True, forbid_unknown_fields=True, gc=False):
    """A decision to be made."""

    project: str = ""
    """Project; empty for "default"."""
    name: str = ""
    """Name of the dataset."""
    version: str = ""
    """Name of the version."""
    sha256: str = ""
    """Digest of the content that was looked at."""
    expected_revision: Int64 = 0
    """Number of the decision this builds on; another one meanwhile makes the call fail."""
    decision: DatasetVersionState = DatasetVersionState.UNSPECIFIED
    """What is decided."""
    note: str = ""
    """Why."""


class ReviewDatasetVersionResponse(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, repr_omit_defaults=True, forbid_unknown_fields=True):
    """The version after the decision."""

    dataset: DatasetVersion | None = None
    """The version, without its records."""


class ListDatasetVersionEventsRequest(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, repr_omit_defaults=True, forbid_unknown_fields=True, gc=False):
    """Asks for decisions."""

    project: str = ""
    """Project; empty for "default"."""
    name: str = ""
    """Name of the dataset."""
    version: str = ""
    """Name of the version."""
    page_size: Int32 = 0
    """Most decisions in one answer; 0 for 50."""
    page_token: str = ""
    """What the answer before gave as its `next_page_token`; empty for the first page."""


class ListDatasetVersionEventsResponse(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, repr_omit_defaults=True, forbid_unknown_fields=True, gc=False):
    """A page of decisions."""

    events: list[DatasetVersionEvent] = []
    """The decisions, the oldest first."""
    next_page_token: str = ""
    """What to ask the next page with; empty on the last."""


class DiffDatasetVersionsRequest(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, repr_omit_defaults=True, forbid_unknown_fields=True, gc=False):
    """Asks what differs."""

    project: str = ""
    """Project; empty for "default"."""
    name: str = ""
    """Name of the dataset."""
    before_version: str = ""
    """Name of the earlier version."""
    after_version: str = ""
    """Name of the later version."""
    before_sha256: str = ""
    """Digest the earlier version must have; empty to take any."""
    after_sha256: str = ""
    """Digest the later version must have; empty to take any."""


class DatasetRecordChange(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, repr_omit_defaults=True, forbid_unknown_fields=True, gc=False):
    """A record that both versions hold and that differs."""

    id: str = ""
    """Identifier of the record."""
    fields: list[str] = []
    """Paths of the fields that differ."""


class DiffDatasetVersionsResponse(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, repr_omit_defaults=True, forbid_unknown_fields=True, gc=False):
    """What differs between two versions."""

    before_sha256: str = ""
    """Digest of the earlier version."""
    after_sha256: str = ""
    """Digest of the later version."""
    added: list[str] = []
    """Identifiers of the records that only the later one holds."""
    removed: list[str] = []
    """Identifiers of the records that only the earlier one holds."""
    changed: list[DatasetRecordChange] = []
    """The records that both hold and that differ."""
    unchanged: Int64 = 0
    """Records that are the same in both."""
    order_changed: bool = False
    """True when the records both hold stand in another order."""
    metadata_changed: list[str] = []
    """Names of the fields beside the records that differ."""


class DatasetUploadConfig(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, repr_omit_defaults=True, forbid_unknown_fields=True, gc=False):
    """What the file of an upload is."""

    project: str = ""
    """Project; empty for "default"."""
    name: str = ""
    """Name of the dataset."""
    version: str = ""
    """Name of the version; empty for the next number."""
    format: str = ""
    """Form of the file: "jsonl", "json", "csv", "tsv" or "parquet"; empty to tell by its content."""
    mapping: dict[str, str] = {}
    """Column or path in the file for each field of a record, for example input: question."""
    description: str = ""
    """What it is, in a sentence for people."""
    labels: dict[str, str] = {}
    """Labels to find it by."""
    owner: str = ""
    """Who answers for it; empty for the caller."""
    file_sha256: str = ""
    """Digest the file must have as it was sent, in lower-case hexadecimal; empty to take any."""


class UploadDatasetVersionRequest(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, repr_omit_defaults=True, forbid_unknown_fields=True, gc=False):
    """One message of an upload.

    One of `config`, `chunk`: the content; exactly one is set.
    """

    config: DatasetUploadConfig | None = None
    """What the file is; the first message and only the first."""
    chunk: bytes | None = None
    """The next piece of the file."""


class UploadDatasetVersionResponse(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, repr_omit_defaults=True, forbid_unknown_fields=True):
    """The version as it is stored."""

    dataset: DatasetVersion | None = None
    """The version, without its records."""
    reference: DatasetVersionRef | None = None
    """What a spec names it by."""
    existed: bool = False
    """True when a version of this content was there already; it is the one given."""
    path: str = ""
    """The version as a spec may write it in place of a path: name@version."""
    records: Int64 = 0
    """How many records it has."""


class FetchDatasetVersionRequest(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, repr_omit_defaults=True, forbid_unknown_fields=True, gc=False):
    """Asks for the records of a version."""

    project: str = ""
    """Project; empty for "default"."""
    name: str = ""
    """Name of the dataset."""
    version: str = ""
    """Name of the version, its digest, or "latest"."""


class FetchDatasetVersionResponse(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, repr_omit_defaults=True, forbid_unknown_fields=True, gc=False):
    """A piece of a dataset."""

    chunk: bytes = b""
    """The next piece of the JSON Lines; a piece may end within a line."""
