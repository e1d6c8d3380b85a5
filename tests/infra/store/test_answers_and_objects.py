"""The embedded database passes the suites of kept answers and of objects, and so does a folder."""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from evalsi.infra.objects import open_objects
from evalsi.infra.store.answer_store import SqlAnswerStore
from evalsi.infra.store.database import open_database
from evalsi.infra.store.object_rows import ObjectRows
from evalsi.ports.answer_store import AnswerStore
from evalsi.ports.object_store import ObjectStore
from evalsi.testing.answer_store_suite import ANSWER, NOON, PLACE, AnswerStoreSuite
from evalsi.testing.object_store_suite import ObjectStoreSuite


class TestSqliteAnswers(AnswerStoreSuite):
    @pytest.fixture
    def answers(self, tmp_path: Path) -> Iterator[AnswerStore]:
        with closing(open_database(tmp_path / "evalsi.db")) as database:
            yield SqlAnswerStore(database)


class TestSqliteObjects(ObjectStoreSuite):
    @pytest.fixture
    def objects(self, tmp_path: Path) -> Iterator[ObjectStore]:
        with closing(open_database(tmp_path / "evalsi.db")) as database:
            yield ObjectRows(database, tmp_path / "cache")


class TestFolder(ObjectStoreSuite):
    @pytest.fixture
    def objects(self, tmp_path: Path) -> ObjectStore:
        return open_objects(f"file://{tmp_path / 'objects'}", cache=tmp_path / "cache")


def test_the_key_of_an_answer_is_not_in_the_file(tmp_path: Path) -> None:
    with closing(open_database(tmp_path / "evalsi.db")) as database:
        SqlAnswerStore(database).keep(PLACE._replace(key="somebodys-secret"), ANSWER, at=NOON, since=NOON)
        kept = b"".join(path.read_bytes() for path in tmp_path.iterdir())
    assert b"somebodys-secret" not in kept
