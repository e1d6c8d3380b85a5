"""Objects on a disk and in a bucket: what is put is read back, whatever size; what goes wrong is one sentence."""

import os
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from evalsi.core.errors import NotFoundError, StoreError, UsageError
from evalsi.infra.objects import open_objects
from evalsi.ports.object_store import ObjectStore
from tests.s3_server import S3Server, s3_server

KEY = "datasets/ab/abc.jsonl"


@pytest.fixture(scope="module")
def s3() -> Iterator[S3Server]:
    with s3_server() as server:
        yield server


@pytest.fixture(params=["file", pytest.param("s3", marks=pytest.mark.slow)])
def objects(tmp_path: Path, request: pytest.FixtureRequest) -> ObjectStore:
    if request.param == "file":
        return open_objects(f"file://{tmp_path / 'objects'}", cache=tmp_path / "cache")
    server: S3Server = request.getfixturevalue("s3")
    return open_objects(f"s3://{server.bucket}/{tmp_path.name}", cache=tmp_path / "cache", options=server.options)


@pytest.mark.parametrize("size_bytes", [0, 1, 300_000, 9_000_000])
def test_what_is_put_is_read_back(objects: ObjectStore, tmp_path: Path, size_bytes: int) -> None:
    body = os.urandom(size_bytes)
    (tmp_path / "file").write_bytes(body)
    objects.put(KEY, tmp_path / "file")
    pieces = list(objects.read(KEY))
    assert b"".join(pieces) == body
    assert max(map(len, pieces), default=0) <= 256 << 10
    assert objects.local_path(KEY).read_bytes() == body
    objects.delete(KEY)
    objects.delete(KEY)
    with pytest.raises(NotFoundError):
        objects.read(KEY)


def test_what_is_not_there_is_not_found_and_leaves_nothing_behind(objects: ObjectStore, tmp_path: Path) -> None:
    for ask in (objects.read, objects.local_path):
        with pytest.raises(NotFoundError, match=KEY):
            ask(KEY)
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []


def test_copies_that_are_fetched_at_once_are_whole(objects: ObjectStore, tmp_path: Path) -> None:
    body = os.urandom(5_000_000)
    (tmp_path / "file").write_bytes(body)
    objects.put(KEY, tmp_path / "file")
    found: list[bytes] = []
    threads = [threading.Thread(target=lambda: found.append(objects.local_path(KEY).read_bytes())) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [body] * 4


def test_a_place_that_is_none_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no place for objects"):
        open_objects("ftp://somewhere", cache=tmp_path)


@pytest.mark.slow
def test_a_bucket_that_cannot_be_used_is_told_soon_and_without_its_keys(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"x")
    with s3_server() as server:
        missing = open_objects("s3://none-there", cache=tmp_path / "cache", options=server.options)
        with pytest.raises(StoreError, match="the place is not there"):
            missing.put(KEY, tmp_path / "file")
        objects = open_objects(f"s3://{server.bucket}", cache=tmp_path / "cache", options=server.options)
        server.stop()
        with pytest.raises(StoreError, match="cannot be used") as caught:
            objects.put(KEY, tmp_path / "file")
        assert "hunter2" not in str(caught.value).casefold()
