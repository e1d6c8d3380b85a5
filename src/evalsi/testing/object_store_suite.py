"""What every `ObjectStore` must do, as tests. A store passes when a subclass of `ObjectStoreSuite` with `objects` does."""

import os
import threading
from pathlib import Path

import pytest

from evalsi.core.errors import NotFoundError
from evalsi.ports.object_store import ObjectStore

MIB = 1 << 20
KEY = "datasets/ab/abcdef.jsonl"


class ObjectStoreSuite:
    """Every test takes the fixture `objects`: an empty store."""

    @pytest.mark.parametrize("size", [0, 1, MIB - 1, MIB, MIB + 1, 3 * MIB])
    def test_an_object_comes_back_as_it_was_put(self, objects: ObjectStore, tmp_path: Path, size: int) -> None:
        content = os.urandom(size)
        (tmp_path / "body").write_bytes(content)
        objects.put(KEY, tmp_path / "body")
        assert b"".join(objects.read(KEY)) == content
        assert objects.local_path(KEY).read_bytes() == content
        assert objects.local_path(KEY).read_bytes() == content

    def test_a_shorter_object_leaves_nothing_of_a_longer_one(self, objects: ObjectStore, tmp_path: Path) -> None:
        for content in (b"x" * (2 * MIB + 5), b"y" * MIB, b"z"):
            (tmp_path / "body").write_bytes(content)
            objects.put(KEY, tmp_path / "body")
            assert b"".join(objects.read(KEY)) == content

    def test_what_is_not_there_is_named(self, objects: ObjectStore, tmp_path: Path) -> None:
        with pytest.raises(NotFoundError, match="abcdef"):
            b"".join(objects.read(KEY))
        with pytest.raises(NotFoundError, match="abcdef"):
            objects.local_path(KEY)
        objects.delete(KEY)
        (tmp_path / "body").write_bytes(b"x")
        objects.put(KEY, tmp_path / "body")
        objects.delete(KEY)
        with pytest.raises(NotFoundError, match="abcdef"):
            objects.read(KEY)

    def test_many_may_put_and_fetch_one_object_at_once(self, objects: ObjectStore, tmp_path: Path) -> None:
        content = os.urandom(2 * MIB + 1)
        (tmp_path / "body").write_bytes(content)
        found: list[bytes] = []

        def put_and_fetch() -> None:
            objects.put(KEY, tmp_path / "body")
            found.append(objects.local_path(KEY).read_bytes())

        threads = [threading.Thread(target=put_and_fetch) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert found == [content] * 4
