"""DatasetCatalogService on its real store: what was taken in comes out as it was, in every form it can come in."""

import asyncio
import gzip
import hashlib
import resource
import signal
import tracemalloc
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
import zstandard

from evalsi.access.caller import everyone
from evalsi.core.errors import (
    AlreadyExistsError,
    ConflictError,
    InvalidDataError,
    InvalidSpecError,
    NotFoundError,
    StoreError,
    TooLargeError,
    UsageError,
)
from evalsi.datasets import unpacked_bound
from evalsi.infra.store.project_stores import SqlProjectStores
from evalsi.schema import (
    Content,
    DatasetUploadConfig,
    DatasetVersionContent,
    DatasetVersionRef,
    DatasetVersionState,
    DiffDatasetVersionsRequest,
    FetchDatasetVersionRequest,
    GetDatasetVersionRequest,
    ListDatasetVersionEventsRequest,
    ListDatasetVersionsRequest,
    PublishDatasetVersionRequest,
    Record,
    ReviewDatasetVersionRequest,
    UploadDatasetVersionRequest,
    UploadDatasetVersionResponse,
)
from evalsi.server.services.dataset_catalog_service import DatasetCatalogService
from tests.worker.served_runs import ServedRuns

CALLER = everyone()
LINES = b'{"id":"a","input":"one","reference":"1","metadata":{"n":1.5}}\n{"id":"b","input":"two","reference":"2"}\n'


@pytest.fixture
def stores(tmp_path: Path) -> Iterator[SqlProjectStores]:
    with closing(ServedRuns(tmp_path).open()) as stores:
        yield stores


@pytest.fixture
def service(stores: SqlProjectStores) -> DatasetCatalogService:
    return DatasetCatalogService(stores=stores)


def uploaded(
    service: DatasetCatalogService, body: bytes, *, piece: int = 7, **config: Any
) -> UploadDatasetVersionResponse:
    base: dict[str, Any] = {"name": "cases"}

    async def messages() -> AsyncIterator[UploadDatasetVersionRequest]:
        yield UploadDatasetVersionRequest(config=DatasetUploadConfig(**(base | config)))
        for start in range(0, len(body), piece):
            yield UploadDatasetVersionRequest(chunk=body[start : start + piece])

    return asyncio.run(service.upload_dataset_version(messages(), CALLER))


def records_of(service: DatasetCatalogService, version: str = "latest") -> list[Record]:
    answer = asyncio.run(service.get_dataset_version(GetDatasetVersionRequest(name="cases", version=version), CALLER))
    assert answer.dataset is not None
    assert answer.dataset.content is not None
    return answer.dataset.content.records


def version_of(answer: UploadDatasetVersionResponse) -> str:
    assert answer.reference is not None
    return answer.reference.version


def published(service: DatasetCatalogService, records: list[Record], **content: Any) -> DatasetVersionRef:
    request = PublishDatasetVersionRequest(
        content=DatasetVersionContent(**({"name": "cases", "records": records} | content))
    )
    reference = asyncio.run(service.publish_dataset_version(request, CALLER)).reference
    assert reference is not None
    return reference


def a_record(record_id: str, **changes: Any) -> Record:
    return Record(id=record_id, input=Content(text=changes.pop("input", "q")), **changes)


@pytest.mark.parametrize("piece", [1, 7, 10_000])
def test_an_upload_in_any_pieces_is_the_same_version(service: DatasetCatalogService, piece: int) -> None:
    answer = uploaded(service, LINES, piece=piece)
    assert (version_of(answer), answer.existed) == ("1", False)
    assert [record.id for record in records_of(service)] == ["a", "b"]
    assert records_of(service)[0].metadata == {"n": 1.5}


def test_csv_and_json_are_mapped_to_records(service: DatasetCatalogService) -> None:
    uploaded(service, b"key,question\nx,one\ny,two\n", mapping={"id": "key", "input": "question"})
    assert [(record.id, record.input) for record in records_of(service)] == [
        ("x", Content(text="one")),
        ("y", Content(text="two")),
    ]
    uploaded(service, b'[{"id":"z","input":"three"}]')
    assert [record.id for record in records_of(service)] == ["z"]


def test_parquet_is_read(service: DatasetCatalogService, tmp_path: Path) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    parquet.write_table(pyarrow.table({"id": ["p"], "input": ["four"]}), tmp_path / "t.parquet")
    uploaded(service, (tmp_path / "t.parquet").read_bytes())
    assert [record.id for record in records_of(service)] == ["p"]


def test_the_same_content_again_is_the_version_that_is_there(service: DatasetCatalogService) -> None:
    first = uploaded(service, LINES)
    again = uploaded(service, LINES)
    other = uploaded(service, LINES.replace(b"one", b"1"))
    assert again.existed
    assert again.reference == first.reference
    assert version_of(other) == "2"


def test_a_version_never_changes(service: DatasetCatalogService) -> None:
    published(service, [a_record("a")], version="2026-01")
    with pytest.raises(AlreadyExistsError, match="versions never change"):
        published(service, [a_record("b")], version="2026-01")


def test_every_word_of_the_content_decides_its_digest(service: DatasetCatalogService) -> None:
    digests = {
        published(service, [a_record("a")], **changes).sha256
        for changes in ({}, {"owner": "team"}, {"tags": ["t"]}, {"labels": {"a": "b"}}, {"split": "test"})
    }
    assert len(digests) == 5


def test_what_is_fetched_is_what_was_sent(service: DatasetCatalogService) -> None:
    records = [
        a_record(f"r{n}", metadata={"größe": [1, None, "x"]}, reference=Content(json={"a": n})) for n in range(500)
    ]
    published(service, records)

    async def fetch() -> bytes:
        request = FetchDatasetVersionRequest(name="cases", version="1")
        return b"".join([piece.chunk async for piece in service.fetch_dataset_version(request, CALLER)])

    body = asyncio.run(fetch())
    assert records_of(service) == records
    assert body.count(b"\n") == 500


@pytest.mark.parametrize(
    ("name", "version"), [("../up", ""), ("a/b", ""), ("", ""), ("Cases", ""), ("cases", "../1"), ("cases", "latest")]
)
def test_names_that_could_lead_elsewhere_are_refused(
    service: DatasetCatalogService, name: str, version: str, tmp_path: Path
) -> None:
    with pytest.raises(InvalidSpecError, match="is no name"):
        uploaded(service, LINES, name=name, version=version)
    assert not list(tmp_path.rglob("*.jsonl"))


def test_a_file_that_cannot_be_read_is_refused_with_its_place_and_nothing_stays(
    service: DatasetCatalogService, tmp_path: Path
) -> None:
    with pytest.raises(InvalidDataError, match="cases:2"):
        uploaded(service, b'{"id":"a","input":"x"}\n{"id": broken}\n')
    with pytest.raises(InvalidDataError, match="there are no rows"):
        uploaded(service, b"", format="jsonl")
    with pytest.raises(InvalidDataError, match="with the digest"):
        uploaded(service, LINES, file_sha256="0" * 64)
    assert uploaded(service, LINES, file_sha256=hashlib.sha256(LINES).hexdigest()).existed is False
    assert len(list(tmp_path.rglob("*.jsonl"))) == 1


def test_versions_are_listed_newest_first_by_pages(service: DatasetCatalogService) -> None:
    for number in range(5):
        published(service, [a_record(f"r{number}")], name="cases" if number % 2 else "others", owner=f"o{number}")

    def listed(**asked: Any) -> list[str]:
        found: list[str] = []
        token = ""
        while True:
            request = ListDatasetVersionsRequest(page_size=2, page_token=token, **asked)
            answer = asyncio.run(service.list_dataset_versions(request, CALLER))
            found += [each.content.owner for each in answer.datasets if each.content is not None]
            token = answer.next_page_token
            if not token:
                return found

    assert listed() == ["o4", "o3", "o2", "o1", "o0"]
    assert listed(name="cases") == ["o3", "o1"]
    assert listed(owner="o2") == ["o2"]
    assert listed(search="CAS") == ["o3", "o1"]
    assert listed(search="the", owner="o2") == ["o2"]
    assert listed(search="c_s") == listed(search="%") == []
    assert listed(project="other") == []
    assert listed(state=DatasetVersionState.APPROVED) == []


def test_decisions_build_on_each_other_and_are_remembered(service: DatasetCatalogService) -> None:
    reference = published(service, [a_record("a")])

    def decide(decision: DatasetVersionState, revision: int, sha256: str = reference.sha256) -> None:
        request = ReviewDatasetVersionRequest(
            name="cases", version="1", sha256=sha256, expected_revision=revision, decision=decision, note="seen"
        )
        asyncio.run(service.review_dataset_version(request, CALLER))

    decide(DatasetVersionState.APPROVED, 0)
    with pytest.raises(ConflictError, match="1 decisions were made"):
        decide(DatasetVersionState.RETIRED, 0)
    with pytest.raises(ConflictError, match="has the digest"):
        decide(DatasetVersionState.RETIRED, 1, "00")
    decide(DatasetVersionState.RETIRED, 1)
    request = ListDatasetVersionEventsRequest(name="cases", version="1", page_size=1)
    first = asyncio.run(service.list_dataset_version_events(request, CALLER))
    assert [(event.revision, event.state, event.actor) for event in first.events] == [
        (1, DatasetVersionState.APPROVED, "anonymous")
    ]
    request = ListDatasetVersionEventsRequest(name="cases", version="1", page_size=1, page_token=first.next_page_token)
    assert [event.revision for event in asyncio.run(service.list_dataset_version_events(request, CALLER)).events] == [2]


def test_two_versions_are_told_apart_record_by_record(service: DatasetCatalogService) -> None:
    published(service, [a_record("a"), a_record("b"), a_record("c")])
    published(service, [a_record("c"), a_record("b", input="changed"), a_record("d")], owner="new")
    request = DiffDatasetVersionsRequest(name="cases", before_version="1", after_version="latest")
    answer = asyncio.run(service.diff_dataset_versions(request, CALLER))
    assert (answer.added, answer.removed, answer.unchanged, answer.order_changed) == (["d"], ["a"], 1, True)
    assert [(change.id, change.fields) for change in answer.changed] == [("b", ["input"])]
    assert answer.metadata_changed == ["owner"]


def test_versions_larger_than_memory_are_compared(service: DatasetCatalogService) -> None:
    def version(mark: str) -> None:
        lines = b"".join(
            b'{"id":"%06d","input":"%s"}\n' % (number, (mark if number % 2 else "same").encode() * 1000)
            for number in range(8_000)
        )
        uploaded(service, lines, piece=1 << 20)

    version("a")
    version("b")
    request = DiffDatasetVersionsRequest(name="cases", before_version="1", after_version="2")
    tracemalloc.start()
    try:
        answer = asyncio.run(service.diff_dataset_versions(request, CALLER))
        peak_bytes = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert (len(answer.changed), answer.unchanged) == (4_000, 4_000)
    assert {tuple(change.fields) for change in answer.changed} == {("input",)}
    # Half of either version is 16 MB of text.
    assert peak_bytes < 15_000_000


def test_a_difference_in_the_order_of_metadata_alone_is_none(service: DatasetCatalogService) -> None:
    uploaded(service, b'{"id":"a","input":"x","metadata":{"p":1,"q":{"r":1,"s":2}}}\n{"id":"b","input":"y"}\n')
    uploaded(service, b'{"id":"a","input":"x","metadata":{"q":{"s":2,"r":1},"p":1}}\n{"id":"b","input":"z"}\n')
    request = DiffDatasetVersionsRequest(name="cases", before_version="1", after_version="2")
    answer = asyncio.run(service.diff_dataset_versions(request, CALLER))
    assert [(change.id, change.fields) for change in answer.changed] == [("b", ["input"])]
    assert answer.unchanged == 1


def test_more_records_than_one_answer_holds_are_refused_with_the_way_to_fetch_them(stores: SqlProjectStores) -> None:
    service = DatasetCatalogService(stores=stores, most_shown_bytes=1_000)
    uploaded(service, b"".join(b'{"id":"%03d","input":"%s"}\n' % (number, b"x" * 100) for number in range(20)))
    with pytest.raises(TooLargeError, match="evalsi dataset fetch"):
        records_of(service)
    request = GetDatasetVersionRequest(name="cases", version="latest", without_records=True)
    answer = asyncio.run(service.get_dataset_version(request, CALLER)).dataset
    assert answer is not None
    assert answer.records == 20

    async def fetched() -> int:
        asked = FetchDatasetVersionRequest(name="cases", version="latest")
        return sum([len(part.chunk) async for part in service.fetch_dataset_version(asked, CALLER)])

    assert asyncio.run(fetched()) > 2_000


def test_a_version_that_is_not_there_is_answered_with_the_nearest(service: DatasetCatalogService) -> None:
    published(service, [a_record("a")], version="2026-01")
    with pytest.raises(NotFoundError, match="cases"):
        asyncio.run(service.get_dataset_version(GetDatasetVersionRequest(name="case", version="latest"), CALLER))
    with pytest.raises(NotFoundError, match="2026-01"):
        asyncio.run(service.get_dataset_version(GetDatasetVersionRequest(name="cases", version="2026-1"), CALLER))


def test_a_specification_may_pin_the_content_of_a_version(
    stores: SqlProjectStores, service: DatasetCatalogService
) -> None:
    reference = published(service, [a_record("a")])
    path = stores.datasets("default").path_of(reference)
    assert b'"a"' in path.read_bytes()
    with pytest.raises(ConflictError, match="has the digest"):
        stores.datasets("default").path_of(DatasetVersionRef(name="cases", version="1", sha256="00"))
    with pytest.raises(NotFoundError):
        stores.datasets("other").path_of(reference)


@pytest.mark.parametrize("pack", [gzip.compress, zstandard.compress], ids=["gzip", "zstd"])
def test_a_file_that_unpacks_to_very_much_more_than_it_is_is_refused(
    service: DatasetCatalogService, pack: Callable[[bytes], bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(unpacked_bound, "_ALWAYS_BYTES", 1 << 20)
    rows = b"".join(b'{"id":"%d","input":"x"}\n' % number for number in range(100))
    with pytest.raises(InvalidDataError, match="cases: unpacks to more than 200 times its size"):
        uploaded(service, pack(rows + b" " * (4 << 20)), piece=100_000)
    ordinary = b"".join(b'{"id":"%d","input":"%x"}\n' % (number, hash(str(number))) for number in range(40_000))
    assert uploaded(service, pack(ordinary), piece=100_000).records == 40_000


def test_an_upload_larger_than_one_may_be_is_refused_before_it_is_whole(stores: SqlProjectStores) -> None:
    small = DatasetCatalogService(stores=stores, most_upload_bytes=100)
    sent = 0

    async def messages() -> AsyncIterator[UploadDatasetVersionRequest]:
        nonlocal sent
        yield UploadDatasetVersionRequest(config=DatasetUploadConfig(name="cases"))
        while True:
            sent += 60
            yield UploadDatasetVersionRequest(chunk=b"x" * 60)

    with pytest.raises(UsageError, match="more than the 100 bytes"):
        asyncio.run(small.upload_dataset_version(messages(), CALLER))
    assert sent == 120


def test_two_records_with_one_id_are_refused_however_far_they_are_apart(service: DatasetCatalogService) -> None:
    trials = b"".join(
        b'{"id":"r%d","input":"x","provenance":{"run":{"trial":%d}}}\n' % (number % 30_000, number // 30_000)
        for number in range(30_001)
    )
    with pytest.raises(InvalidDataError, match="record 30001 has the id 'r0' of an earlier one"):
        uploaded(service, trials, piece=100_000)


def test_an_upload_that_finds_no_room_is_the_servers_trouble_and_not_its_crash(service: DatasetCatalogService) -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    ignored = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (150_000, hard))
    try:
        with pytest.raises(StoreError, match="no room"):
            uploaded(service, LINES * 2_000, piece=10_000)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        signal.signal(signal.SIGXFSZ, ignored)
