"""Opening the file: new, old, newer, foreign, damaged, out of reach, out of space."""

import hashlib
import os
import resource
import shutil
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from evalsi.core.errors import NotFoundError, StoreError, StoreTooNewError
from evalsi.infra.store.database import Database, StoreOptions, open_database
from evalsi.infra.store.migrations import APPLICATION_ID, MIGRATIONS, Migration
from evalsi.infra.store.run_store import open_run_store
from evalsi.testing.run_store_suite import a_manifest, a_run, a_segment, end

NEXT = len(MIGRATIONS) + 1
LATER = (*MIGRATIONS, Migration(NEXT, ("ALTER TABLE runs ADD COLUMN mood TEXT", "UPDATE runs SET mood = 'calm'")))
RELEASED = {1: "593627cf", 2: "43f9e8d1", 3: "1e678872", 4: "fe920096", 5: "7958637d", 6: "c352140c"}
"""Digest of each migration that is out in the world. Never edit a line here: add one."""


def value(path: Path, statement: str) -> object:
    with closing(sqlite3.connect(path)) as connection:
        return connection.execute(statement).fetchone()[0]


def store_with_a_run(path: Path) -> None:
    with closing(open_run_store(path)) as store:
        store.create(a_run("r1"), a_manifest())
        store.append("r1", a_segment(0))
        end(store, "r1")


def test_a_released_migration_never_changes() -> None:
    digests = {step.version: hashlib.sha256(repr(step).encode()).hexdigest()[:8] for step in MIGRATIONS}
    assert digests == RELEASED


def test_migrations_are_numbered_from_one_without_a_gap() -> None:
    assert [step.version for step in MIGRATIONS] == list(range(1, len(MIGRATIONS) + 1))


def test_a_new_store_says_what_it_is(tmp_path: Path) -> None:
    path = tmp_path / ".evalsi" / "evalsi.db"
    open_database(path).close()
    assert value(path, "PRAGMA application_id") == APPLICATION_ID
    assert value(path, "PRAGMA user_version") == len(MIGRATIONS)
    assert value(path, "PRAGMA journal_mode") == "wal"
    assert value(path, "PRAGMA auto_vacuum") == 2  # incremental


def test_a_new_folder_stays_out_of_repositories_and_an_old_one_is_left_alone(tmp_path: Path) -> None:
    open_database(tmp_path / ".evalsi" / "evalsi.db").close()
    assert (tmp_path / ".evalsi" / ".gitignore").read_text() == "*\n"
    (tmp_path / "mine").mkdir()
    open_database(tmp_path / "mine" / "evalsi.db").close()
    assert [entry.name for entry in (tmp_path / "mine").iterdir()] == ["evalsi.db"]


def test_looking_for_a_store_that_is_not_there_makes_none(tmp_path: Path) -> None:
    with pytest.raises(NotFoundError, match="no store at"):
        open_database(tmp_path / ".evalsi" / "evalsi.db", create=False)
    assert list(tmp_path.iterdir()) == []


def test_a_newer_store_is_refused_with_advice_and_untouched(tmp_path: Path) -> None:
    path = tmp_path / "evalsi.db"
    open_database(path, migrations=LATER).close()
    before = path.read_bytes()
    with pytest.raises(StoreTooNewError, match=rf"format {NEXT}.*reads up to {NEXT - 1}; upgrade evalsi"):
        open_database(path)
    assert path.read_bytes() == before
    assert [entry.name for entry in tmp_path.iterdir()] == ["evalsi.db"]


def test_an_older_store_is_brought_up_to_date_and_its_old_self_kept(tmp_path: Path) -> None:
    path = tmp_path / "evalsi.db"
    store_with_a_run(path)
    open_database(path, migrations=LATER).close()
    assert value(path, "SELECT mood FROM runs") == "calm"
    assert value(path, "PRAGMA user_version") == NEXT
    backup = tmp_path / f"evalsi.db.v{NEXT - 1}.bak"
    with closing(open_run_store(backup)) as old:
        assert list(old.segments("r1")) == [a_segment(0)]
    assert value(backup, "PRAGMA user_version") == NEXT - 1


def test_the_copy_holds_what_was_still_in_the_log_of_another_process(tmp_path: Path) -> None:
    path = tmp_path / "evalsi.db"
    with closing(open_run_store(path)) as writer:
        writer.create(a_run("r1"), a_manifest())
        writer.append("r1", a_segment(0))
        assert path.with_name("evalsi.db-wal").stat().st_size > 0
        open_database(path, migrations=LATER).close()
    with closing(open_run_store(tmp_path / f"evalsi.db.v{NEXT - 1}.bak")) as old:
        assert list(old.segments("r1")) == [a_segment(0)]


def test_a_migration_that_fails_leaves_the_store_as_it_was(tmp_path: Path) -> None:
    path = tmp_path / "evalsi.db"
    store_with_a_run(path)
    broken = (*MIGRATIONS, Migration(NEXT, ("ALTER TABLE runs ADD COLUMN mood TEXT", "UPDATE no_such SET a = 1")))
    with pytest.raises(StoreError, match="no_such"):
        open_database(path, migrations=broken)
    assert value(path, "PRAGMA user_version") == NEXT - 1
    assert value(path, "SELECT count(*) FROM pragma_table_info('runs') WHERE name = 'mood'") == 0
    with closing(open_run_store(path)) as store:
        assert list(store.segments("r1")) == [a_segment(0)]


def test_an_earlier_copy_is_never_overwritten(tmp_path: Path) -> None:
    path = tmp_path / "evalsi.db"
    store_with_a_run(path)
    (tmp_path / f"evalsi.db.v{NEXT - 1}.bak").write_text("precious")
    open_database(path, migrations=LATER).close()
    assert (tmp_path / f"evalsi.db.v{NEXT - 1}.bak").read_text() == "precious"
    assert value(tmp_path / f"evalsi.db.v{NEXT - 1}-2.bak", "SELECT count(*) FROM runs") == 1


@pytest.mark.slow
def test_processes_that_bring_one_store_up_to_date_at_once_do_it_once(tmp_path: Path) -> None:
    path = tmp_path / "evalsi.db"
    for existing in (False, True):
        if existing:
            store_with_a_run(path)
        script = (
            "import sys; from pathlib import Path\n"
            "from evalsi.infra.store.database import open_database\n"
            "from evalsi.infra.store.migrations import MIGRATIONS, Migration\n"
            "step = Migration(len(MIGRATIONS) + 1, ('ALTER TABLE runs ADD COLUMN mood TEXT',))\n"
            "print('ready', flush=True); sys.stdin.read(1)\n"
            "open_database(Path(sys.argv[1]), migrations=(*MIGRATIONS, step) if sys.argv[2] == 'True' else MIGRATIONS).close()\n"
        )
        crowd = [
            subprocess.Popen(
                [sys.executable, "-c", script, str(path), str(existing)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
            )
            for _ in range(6)
        ]
        for process in crowd:
            assert process.stdout is not None
            assert process.stdout.readline() == "ready\n"
        answers = [process.communicate("x", timeout=60) for process in crowd]
        assert [process.returncode for process in crowd] == [0] * 6, answers
    assert len(list(tmp_path.glob("*.bak"))) == 1
    assert list(tmp_path.glob("*.partial*")) == []
    assert value(path, "PRAGMA integrity_check") == "ok"


def test_a_database_of_another_program_is_refused_and_untouched(tmp_path: Path) -> None:
    path = tmp_path / "evalsi.db"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE songs (title TEXT)")
    before = path.read_bytes()
    with pytest.raises(StoreError, match="SQLite file of another program"):
        open_database(path)
    assert path.read_bytes() == before


@pytest.mark.parametrize("content", [b"not a database, but long enough to be read as a header " * 40, b"short"])
def test_a_file_that_is_no_database_is_refused_and_untouched(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "evalsi.db"
    path.write_bytes(content)
    with pytest.raises(StoreError, match="no SQLite file"):
        open_database(path)
    assert path.read_bytes() == content


def test_an_empty_file_becomes_a_store(tmp_path: Path) -> None:
    path = tmp_path / "evalsi.db"
    path.touch()
    store_with_a_run(path)


def test_a_damaged_store_is_an_error_with_advice_wherever_it_is_damaged(tmp_path: Path) -> None:
    path = tmp_path / "whole.db"
    with closing(open_run_store(path)) as store:
        store.create(a_run("r1"), a_manifest())
        for index in range(20):
            store.append("r1", a_segment(index, rows=3000))
        end(store, "r1")
    whole = path.read_bytes()
    pages = len(whole) // 4096
    assert pages > 20
    wrong = 0
    for page in range(pages):
        damaged = tmp_path / f"{page}.db"
        damaged.write_bytes(whole[: page * 4096] + b"\xa5" * 4096 + whole[(page + 1) * 4096 :])
        try:
            with closing(open_run_store(damaged)) as store:
                for run in store.runs():
                    assert [s.records for s in store.segments(run.id)] == [
                        a_segment(index, rows=3000).records for index in range(20)
                    ]
        except StoreError as error:
            wrong += 1
            assert error.hint
            assert "damaged" in str(error) or "another program" in str(error) or "no SQLite file" in str(error)
    assert wrong > pages / 3  # the others belong to tables that this reader does not open


def test_a_truncated_store_is_an_error_with_advice(tmp_path: Path) -> None:
    path = tmp_path / "evalsi.db"
    store_with_a_run(path)
    path.write_bytes(path.read_bytes()[: 4096 * 3 + 100])
    with pytest.raises(StoreError, match="damaged"), closing(open_run_store(path)) as store:
        list(store.segments(store.find("latest").id))


def test_a_folder_in_place_of_the_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="is a folder"):
        open_database(tmp_path)


def test_a_file_in_place_of_the_folder_is_named(tmp_path: Path) -> None:
    (tmp_path / ".evalsi").write_text("")
    with pytest.raises(StoreError, match=r"\.evalsi"):
        open_database(tmp_path / ".evalsi" / "evalsi.db")
    with pytest.raises(StoreError, match="cannot be made"):
        open_database(tmp_path / ".evalsi" / "deeper" / "evalsi.db")


@contextmanager
def as_somebody_who_may_only_read() -> Iterator[Path]:
    """A folder that this process may read and not write until the block ends; root becomes nobody meanwhile."""
    folder = Path(tempfile.mkdtemp())
    try:
        yield folder
    finally:
        if os.getuid() == 0:
            os.seteuid(0)
        folder.chmod(0o755)
        shutil.rmtree(folder)


def forbid_writing(folder: Path) -> None:
    for entry in folder.iterdir():
        entry.chmod(0o444)
    folder.chmod(0o555)
    if os.getuid() == 0:
        os.seteuid(65534)


def test_in_a_folder_that_cannot_be_written_no_store_is_made() -> None:
    with as_somebody_who_may_only_read() as folder:
        forbid_writing(folder)
        with pytest.raises(StoreError, match="cannot be written; make it writable"):
            open_database(folder / "evalsi.db")
        with pytest.raises(StoreError, match="cannot be made"):
            open_database(folder / ".evalsi" / "evalsi.db")


def test_a_store_that_cannot_be_written_can_still_be_read() -> None:
    with as_somebody_who_may_only_read() as folder:
        store_with_a_run(folder / "evalsi.db")
        forbid_writing(folder)
        with closing(open_run_store(folder / "evalsi.db")) as store:
            assert list(store.segments("r1")) == [a_segment(0)]
            with pytest.raises(StoreError, match="cannot be written"):
                store.create(a_run("r2"), a_manifest())
            with pytest.raises(StoreError, match="cannot be written"):
                store.delete("r1")


def test_a_store_on_a_disk_without_any_room_can_still_be_read(tmp_path: Path) -> None:
    path = tmp_path / "evalsi.db"
    store_with_a_run(path)
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, hard))
    try:
        with closing(open_run_store(path)) as store:
            found = (store.find("r1").status, list(store.segments("r1")))
            with pytest.raises(StoreError, match="is full"):
                store.create(a_run("r2"), a_manifest())
        with pytest.raises(StoreError, match="is full"):
            open_database(tmp_path / "new.db")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert found == ("succeeded", [a_segment(0)])


def test_an_older_store_that_cannot_be_written_says_so() -> None:
    with as_somebody_who_may_only_read() as folder:
        store_with_a_run(folder / "evalsi.db")
        forbid_writing(folder)
        with pytest.raises(StoreError, match="older format"):
            open_database(folder / "evalsi.db", migrations=LATER)


def test_a_file_that_may_not_even_be_read_says_so() -> None:
    with as_somebody_who_may_only_read() as folder:
        store_with_a_run(folder / "evalsi.db")
        forbid_writing(folder)
        if os.getuid() == 0:
            os.seteuid(0)
        (folder / "evalsi.db").chmod(0)
        if os.getuid() == 0:
            os.seteuid(65534)
        with pytest.raises(StoreError, match=r"cannot be opened|may not be opened"):
            open_database(folder / "evalsi.db")


FILL = """
import sys
from pathlib import Path
from evalsi.core.errors import StoreError
from evalsi.infra.store.run_store import open_run_store
from evalsi.ports.run_store import Segment
from evalsi.testing.run_store_suite import a_manifest, a_run
import random
store = open_run_store(Path(sys.argv[1]))
store.create(a_run("r1"), a_manifest())
try:
    for index in range(1000):
        body = random.Random(index).randbytes(50_000)
        store.append("r1", Segment(index=index, first_row=index, rows=1, records=body, results=body))
        print(index, flush=True)
except StoreError as error:
    print(error, file=sys.stderr)
"""


def assert_acknowledged_are_there(path: Path, acknowledged: list[int]) -> None:
    import random

    with closing(open_run_store(path)) as store:
        assert [index for index, _, _ in store.segment_rows("r1")][: len(acknowledged)] == acknowledged
        for segment in store.segments("r1"):
            assert segment.records == segment.results == random.Random(segment.index).randbytes(50_000)
        assert store.resumable("sha256:bb") is not None
        store.take_over("r1")
        store.append("r1", a_segment(5000))
    assert value(path, "PRAGMA integrity_check") == "ok"


def test_at_a_limit_on_file_size_the_writer_is_told_and_nothing_acknowledged_is_lost(tmp_path: Path) -> None:
    path = tmp_path / "evalsi.db"
    limit = 3_000_000
    process = subprocess.run(
        [sys.executable, "-c", FILL, str(path)],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)),
    )
    acknowledged = [int(line) for line in process.stdout.split()]
    assert acknowledged
    assert process.stderr.startswith("the store ")
    assert "goes on after its last stored segment" in process.stderr
    assert "Traceback" not in process.stderr
    assert_acknowledged_are_there(path, acknowledged)


def test_on_a_full_disk_the_writer_is_told_and_nothing_acknowledged_is_lost(tmp_path: Path) -> None:
    script = tmp_path / "fill.py"
    script.write_text(FILL)
    disk, kept = tmp_path / "disk", tmp_path / "kept"
    disk.mkdir()
    mounted = (
        f"mount -t tmpfs -o size=3m tmpfs {disk} || exit 77; {sys.executable} {script} {disk}/evalsi.db; "
        f"cp -r {disk} {kept}"
    )
    if shutil.which("unshare") is None:
        pytest.skip("needs unshare to mount a small disk")
    process = subprocess.run(
        ["unshare", "--mount", "--map-root-user", "sh", "-c", mounted],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    if process.returncode in {1, 77} and not kept.exists():
        pytest.skip(f"cannot mount a small disk here: {process.stderr.strip()}")
    acknowledged = [int(line) for line in process.stdout.split()]
    assert acknowledged
    assert "full" in process.stderr
    assert "Traceback" not in process.stderr
    assert_acknowledged_are_there(kept / "evalsi.db", acknowledged)


def test_a_store_used_after_closing_says_so(tmp_path: Path) -> None:
    store = open_run_store(tmp_path / "evalsi.db")
    store.close()
    with pytest.raises(StoreError, match="is closed"):
        store.runs()


def test_another_writer_that_does_not_let_go_is_named_after_the_timeout(tmp_path: Path) -> None:
    path = tmp_path / "evalsi.db"
    store_with_a_run(path)
    with (
        closing(sqlite3.connect(path, isolation_level=None)) as stubborn,
        closing(open_run_store(path, StoreOptions(busy_timeout_s=0.1))) as store,
    ):
        stubborn.execute("BEGIN IMMEDIATE")
        with pytest.raises(StoreError, match="another process that does not let go"):
            store.create(a_run("r2"), a_manifest())
        assert [run.id for run in store.runs()] == ["r1"]
        stubborn.execute("ROLLBACK")
        store.create(a_run("r2"), a_manifest())


def test_space_of_deleted_runs_is_given_back(tmp_path: Path) -> None:
    path, fresh = tmp_path / "evalsi.db", tmp_path / "fresh.db"
    open_run_store(fresh).close()
    empty = fresh.stat().st_size
    with closing(open_run_store(path)) as store:
        store.create(a_run("r1"), a_manifest())
        for index in range(120):
            store.append("r1", a_segment(index, rows=5000))
        end(store, "r1")
    large = path.stat().st_size
    with closing(open_run_store(path)) as store:
        store.delete("r1")
    assert path.stat().st_size - empty < (large - empty) / 4


def test_a_child_made_by_fork_must_open_the_store_itself(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    database: Database = open_database(tmp_path / "evalsi.db")
    with monkeypatch.context() as patch:
        patch.setattr(os, "getpid", lambda: -1)  # a real fork would leave the child with pytest's threads
        with pytest.raises(StoreError, match="opened before a fork"):
            database.read("SELECT 1")
    database.close()
