"""The SQLite access store: the suite of its port, and that a log which was tampered with says so."""

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from evalsi.access.audit_chain import sealed, verify
from evalsi.infra.store.open_stores import open_access_store
from evalsi.testing.access_store_suite import AccessStoreSuite, OpenAccess, a_key, an_event, every_event

Tamper = Callable[[sqlite3.Connection], object]


class TestSqlite(AccessStoreSuite):
    @pytest.fixture
    def open_access(self, tmp_path: Path) -> OpenAccess:
        return lambda: open_access_store(str(tmp_path / "evalsi.db"))


@pytest.mark.parametrize(
    ("statement", "entry"),
    [
        ("UPDATE audit SET body = replace(body, 'key:ci', 'key:me') WHERE sequence = 3", 3),
        ("UPDATE audit SET body = replace(body, '\"allowed\":true,', '') WHERE sequence = 2", 2),
        ("DELETE FROM audit WHERE sequence = 4", 4),
        ("DELETE FROM audit WHERE sequence > 4", 5),
        ("DELETE FROM audit WHERE sequence < 3", 1),
        ("DELETE FROM audit", 1),
    ],
)
def test_whatever_is_done_to_the_log_behind_its_back_is_found(tmp_path: Path, statement: str, entry: int) -> None:
    path = tmp_path / "evalsi.db"
    with closing(open_access_store(str(path))) as store:
        for number in range(6):
            store.append_audit(an_event(number), sealed)
        assert verify(every_event(store), store.audit_head()).ok
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute(statement).rowcount
        connection.commit()
    with closing(open_access_store(str(path))) as store:
        report = verify(every_event(store), store.audit_head())
        assert not report.ok
        assert report.break_sequence == entry
        assert str(entry) in report.problem or str(entry - 1) in report.problem


def test_no_file_of_the_store_holds_a_key_or_lets_one_be_made(tmp_path: Path) -> None:
    stored = a_key("ci")
    with closing(open_access_store(str(tmp_path / "evalsi.db"))) as store:
        store.add_key(stored)
        kept = b"".join(path.read_bytes() for path in tmp_path.iterdir())
    assert stored.digest.encode() in kept
    assert kept.count(b"evk_") == kept.count(stored.key.prefix.encode())
