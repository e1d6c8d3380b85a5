"""The judge cache on disk: shared, quick to write to, and never in the way when it breaks."""

import logging
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import pytest

from evalsi.core.errors import StoreError
from evalsi.infra.reply_cache import SqliteReplyCache

WRITER = """
import sys
from pathlib import Path
from evalsi.infra.reply_cache import SqliteReplyCache
cache = SqliteReplyCache(Path(sys.argv[1]))
for number in range(300):
    cache.put(f"k{number}", sys.argv[2].encode() * 100)
cache.close()
"""


def test_a_value_is_there_at_once_and_after_opening_again(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "judge-cache.db"
    cache = SqliteReplyCache(path)
    assert cache.get("k") is None
    cache.put("k", b"small")
    cache.put("l", b"large " * 1000)
    assert cache.get("k") == b"small"
    cache.close()
    cache.close()
    again = SqliteReplyCache(path)
    assert (again.get("k"), again.get("l")) == (b"small", b"large " * 1000)
    again.close()


def test_the_first_value_of_a_key_stays(tmp_path: Path) -> None:
    one, two = (SqliteReplyCache(tmp_path / "c.db") for _ in range(2))
    one.put("k", b"first")
    one.put("k", b"second")
    one.close()
    two.put("k", b"third")
    two.close()
    three = SqliteReplyCache(tmp_path / "c.db")
    assert three.get("k") == b"first"
    three.close()


def test_what_another_process_wrote_is_found_without_opening_again(tmp_path: Path) -> None:
    one, two = (SqliteReplyCache(tmp_path / "c.db") for _ in range(2))
    assert two.get("k") is None
    one.put("k", b"v")
    one.close()
    assert two.get("k") == b"v"
    two.close()


def test_several_processes_write_at_once_and_every_key_has_one_of_their_values(tmp_path: Path) -> None:
    path = tmp_path / "c.db"
    writers = [subprocess.Popen([sys.executable, "-c", WRITER, str(path), name]) for name in "abc"]
    assert [writer.wait(60) for writer in writers] == [0, 0, 0]
    cache = SqliteReplyCache(path)
    for number in range(300):
        assert cache.get(f"k{number}") in (b"a" * 100, b"b" * 100, b"c" * 100)
    cache.close()


def test_putting_does_not_wait_for_the_disk(tmp_path: Path) -> None:
    path = tmp_path / "c.db"
    cache = SqliteReplyCache(path)
    blocker = sqlite3.connect(path)
    blocker.execute("BEGIN IMMEDIATE")
    start = time.perf_counter()
    for number in range(1000):
        cache.put(str(number), b"x" * 500)
    assert time.perf_counter() - start < 4
    assert cache.get("999") == b"x" * 500
    blocker.rollback()
    blocker.close()
    cache.close()
    again = SqliteReplyCache(path)
    assert again.get("0") == b"x" * 500
    again.close()


@pytest.mark.parametrize("content", [b"this is no database " * 100, b"SQLite format 3\0" + b"\xff" * 4000])
def test_a_broken_file_is_set_aside_with_a_warning(
    tmp_path: Path, content: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / "c.db"
    path.write_bytes(content)
    with caplog.at_level(logging.WARNING):
        cache = SqliteReplyCache(path)
    cache.put("k", b"v")
    cache.close()
    assert "it was moved to c.db.broken-" in caplog.text
    [aside] = tmp_path.glob("c.db.broken-*")
    assert aside.read_bytes() == content


def test_a_file_that_breaks_while_it_is_used_is_set_aside(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    path = tmp_path / "c.db"
    filler = SqliteReplyCache(path)
    for number in range(2000):
        filler.put(f"key-{number}", bytes(str(number), "ascii") * 60)
    filler.close()
    content = bytearray(path.read_bytes())
    content[4096:] = b"\xff" * (len(content) - 4096)
    path.write_bytes(content)
    with caplog.at_level(logging.WARNING):
        cache = SqliteReplyCache(path)
        assert cache.get("key-7") is None
        cache.put("key-7", b"new")
        cache.close()
    assert "could not be read" in caplog.text
    again = SqliteReplyCache(path)
    assert again.get("key-7") == b"new"
    again.close()


def test_the_database_of_another_program_is_not_written_to(tmp_path: Path) -> None:
    path = tmp_path / "c.db"
    other = sqlite3.connect(path)
    other.execute("PRAGMA application_id = 7")
    other.execute("CREATE TABLE t (x)")
    other.commit()
    other.close()
    SqliteReplyCache(path).close()
    [aside] = tmp_path.glob("c.db.broken-*")
    kept = sqlite3.connect(aside)
    assert kept.execute("SELECT name FROM sqlite_master").fetchall() == [("t",)]
    kept.close()


def test_a_folder_that_cannot_be_made_is_a_clear_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(StoreError, match="cannot be kept"):
        SqliteReplyCache(tmp_path / "file" / "c.db")
