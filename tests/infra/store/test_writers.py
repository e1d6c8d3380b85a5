"""Writers that are killed, writers at the same time, and telling a dead one from one that works."""

import os
import random
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path

import msgspec
import pytest

from evalsi.core.errors import NotFoundError, StoreError, UsageError
from evalsi.infra.store import writer as writer_module
from evalsi.infra.store.database import StoreOptions, open_database
from evalsi.infra.store.run_store import SqlRunStore, open_run_store
from evalsi.infra.store.writer import Writer, is_alive, this_process
from evalsi.ports.run_store import Segment
from evalsi.testing.run_store_suite import a_manifest, a_run, a_segment, end

WRITE = """
import random, sys
from contextlib import closing
from pathlib import Path
from evalsi.infra.store.database import StoreOptions
from evalsi.infra.store.run_store import open_run_store
from evalsi.ports.run_store import Segment
from evalsi.testing.run_store_suite import a_manifest, a_run

path, mode, run_id, first, count = Path(sys.argv[1]), sys.argv[2], sys.argv[3], int(sys.argv[4]), int(sys.argv[5])
with closing(open_run_store(path, StoreOptions(synchronous=mode))) as store:
    if found := store.resumable(run_id):
        store.take_over(found.id)
    else:
        store.create(a_run(run_id, fingerprint=run_id), a_manifest())
    for index in range(first, first + count):
        body = random.Random(index).randbytes(random.Random(index).randrange(40_000))
        store.append(run_id, Segment(index=index, first_row=index * 3, rows=3, records=body, results=body[::-1]))
        print(index, flush=True)
"""


def start(path: Path, mode: str, run_id: str, first: int, count: int) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", WRITE, str(path), mode, run_id, str(first), str(count)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def expected(index: int) -> Segment:
    body = random.Random(index).randbytes(random.Random(index).randrange(40_000))
    return Segment(index=index, first_row=index * 3, rows=3, records=body, results=body[::-1])


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["normal", "full"])
def test_a_killed_writer_loses_nothing_it_acknowledged(tmp_path: Path, mode: str) -> None:
    path = tmp_path / "evalsi.db"
    moments = random.Random(11)
    acknowledged: list[int] = []
    for _ in range(20):
        process = start(path, mode, "r1", len(acknowledged), 100_000)
        assert process.stdout is not None
        heard = [process.stdout.readline()]  # the clock starts when it writes
        time.sleep(moments.uniform(0, 0.06))
        process.kill()
        heard += process.stdout.readlines()
        assert process.wait() == -signal.SIGKILL
        process.communicate()
        # A line cut short by the kill was not acknowledged.
        acknowledged += [int(line) for line in heard if line.endswith("\n")]
        assert acknowledged == list(range(len(acknowledged)))
        with closing(open_run_store(path)) as store:
            stored = store.segment_rows("r1")
            # One more than acknowledged may be there: stored, and killed before it said so.
            assert [index for index, _, _ in stored][: len(acknowledged)] == acknowledged
            assert len(stored) - len(acknowledged) in {0, 1}
            assert list(store.segments("r1")) == [expected(index) for index, _, _ in stored]
            run = store.find("r1")
            assert (run.rows, run.status) == (3 * len(stored), "interrupted")
        with closing(sqlite3.connect(path)) as connection:
            assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    assert len(acknowledged) > 40
    with closing(open_run_store(path)) as store:
        found = store.resumable("r1")
        assert found is not None
        store.take_over("r1")
        end(store, "r1")


@pytest.mark.slow
def test_writers_of_different_runs_and_readers_never_meet_a_locked_store(tmp_path: Path) -> None:
    path = tmp_path / "evalsi.db"
    writers = [start(path, "full", f"r{number}", 0, 150) for number in range(4)]
    seen, running = 0, True
    while running:
        running = any(process.poll() is None for process in writers)
        with closing(open_run_store(path)) as store:
            for run in store.runs():
                segments = list(store.segments(run.id))
                seen += len(segments)
                assert segments == [expected(segment.index) for segment in segments]
    for process in writers:
        output, complaints = process.communicate(timeout=60)
        assert (process.returncode, complaints) == (0, "")
        assert output.split() == [str(index) for index in range(150)]
    assert seen >= len(writers)
    with closing(open_run_store(path)) as store:
        assert sorted((run.id, run.rows, run.status) for run in store.runs()) == [
            (f"r{number}", 450, "interrupted") for number in range(4)
        ]
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]


def test_threads_share_one_store(tmp_path: Path) -> None:
    with closing(open_run_store(tmp_path / "evalsi.db")) as store:
        store.create(a_run("r1"), a_manifest())
        failures: list[BaseException] = []

        def work(part: int) -> None:
            try:
                for index in range(part, 80, 4):
                    store.append("r1", a_segment(index))
                    assert store.segment("r1", index) == a_segment(index)
            except BaseException as error:
                failures.append(error)

        threads = [threading.Thread(target=work, args=(part,)) for part in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert failures == []
        assert list(store.segments("r1")) == [a_segment(index) for index in range(80)]


def test_a_run_whose_process_was_killed_reads_as_interrupted_at_once(tmp_path: Path) -> None:
    path = tmp_path / "evalsi.db"
    process = start(path, "full", "r1", 0, 100_000)
    assert process.stdout is not None
    process.stdout.readline()
    with closing(open_run_store(path)) as store:
        assert store.find("r1").status == "running"
        assert store.resumable("r1") is None
        with pytest.raises(UsageError, match=f"being written by process {process.pid} on"):
            store.take_over("r1")
        process.kill()
        while store.find("r1").status == "running":  # dying takes a moment; not reaped yet, it is a zombie
            time.sleep(0.005)
        assert process.returncode is None
        assert store.find("r1").status == "interrupted"
        assert store.take_over("r1").status == "running"
        store.append("r1", a_segment(0))
    process.communicate()


def test_a_writer_that_was_thought_gone_is_told_and_can_do_no_harm(tmp_path: Path) -> None:
    path = tmp_path / "evalsi.db"
    with closing(open_run_store(path)) as first, closing(open_run_store(path)) as second:
        first.create(a_run("r1"), a_manifest())
        first.append("r1", a_segment(0))
        with closing(sqlite3.connect(path)) as connection, connection:
            connection.execute('UPDATE runs SET writer = \'["elsewhere", 1, ""]\', heartbeat_us = 0')
        second.take_over("r1")
        for late in (
            lambda: first.append("r1", a_segment(0, note="late")),
            lambda: first.touch("r1"),
            lambda: end(first, "r1"),
        ):
            with pytest.raises(StoreError, match=f"was taken over by process {os.getpid()}"):
                late()
        first.close()
        assert second.find("r1").status == "running"
        assert list(second.segments("r1")) == [a_segment(0)]


class StandingClock:
    def __init__(self) -> None:
        self.moment = datetime(2026, 3, 1, tzinfo=UTC)

    def now(self) -> datetime:
        return self.moment

    def monotonic_s(self) -> float:
        return 0.0


def test_a_writer_out_of_sight_counts_as_gone_when_it_was_silent_for_long(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, clock = tmp_path / "evalsi.db", StandingClock()
    options = StoreOptions(writer_timeout_s=300)
    here = SqlRunStore(open_database(path, options), clock=clock)
    with monkeypatch.context() as patch:
        patch.setattr(writer_module, "_place", lambda: "another-machine")
        there = SqlRunStore(open_database(path, options), clock=clock)
        there.create(a_run("r1"), a_manifest())
    for _ in range(3):
        clock.moment += timedelta(seconds=299)
        assert here.find("r1").status == "running"
        assert here.resumable("sha256:bb") is None
        there.touch("r1")
    clock.moment += timedelta(seconds=301)
    assert here.find("r1").status == "interrupted"
    assert here.resumable("sha256:bb") is not None
    here.close()
    there.close()


def test_a_process_is_known_by_its_start_not_by_its_number_alone() -> None:
    me = this_process()
    assert is_alive(me) is True
    assert is_alive(me._replace(started="1")) is False
    assert is_alive(Writer("another-machine", me.pid, me.started)) is None
    child = subprocess.Popen([sys.executable, "-c", "pass"])
    child.wait()
    assert is_alive(Writer(me.place, child.pid, "123")) is False


def test_without_a_start_time_the_number_decides() -> None:
    me = this_process()
    assert is_alive(me._replace(started="")) is True
    assert is_alive(me._replace(started="", pid=1)) is True
    child = subprocess.Popen([sys.executable, "-c", "pass"])
    child.wait()
    assert is_alive(Writer(me.place, child.pid, "")) is False


def test_projects_in_one_file_do_not_see_each_other(tmp_path: Path) -> None:
    path = tmp_path / "evalsi.db"
    with closing(open_run_store(path, project="a")) as a, closing(open_run_store(path, project="b")) as b:
        a.create(a_run("ra"), a_manifest())
        a.append("ra", a_segment(0))
        b.create(a_run("rb"), a_manifest())
        assert [run.id for run in a.runs()] == ["ra"]
        assert [run.id for run in b.runs()] == ["rb"]
        for call in (
            lambda: b.find("ra"),
            lambda: b.manifest("ra"),
            lambda: b.summaries("ra"),
            lambda: b.segments("ra"),
            lambda: b.segment("ra", 0),
            lambda: b.segment_rows("ra"),
            lambda: b.append("ra", a_segment(1)),
            lambda: b.take_over("ra"),
            lambda: b.delete("ra"),
        ):
            with pytest.raises(NotFoundError):
                call()
        a.close()
        assert b.resumable("sha256:bb") is None


def test_a_manifest_of_a_later_version_is_refused_with_advice(tmp_path: Path) -> None:
    path = tmp_path / "evalsi.db"
    with closing(open_run_store(path)) as store:
        store.create(a_run("r1"), a_manifest())
        with closing(sqlite3.connect(path)) as connection, connection:
            connection.execute("UPDATE run_documents SET manifest = '{\"of_tomorrow\": 1}'")
        with pytest.raises(StoreError, match=r"of_tomorrow.*upgrade evalsi"):
            store.manifest("r1")
        with closing(sqlite3.connect(path)) as connection, connection:
            connection.execute("UPDATE run_documents SET manifest = '{'")
        with pytest.raises(StoreError, match="damaged"):
            store.manifest("r1")


def test_a_body_changed_on_disk_is_noticed(tmp_path: Path) -> None:
    path = tmp_path / "evalsi.db"
    with closing(open_run_store(path)) as store:
        store.create(a_run("r1"), a_manifest())
        store.append("r1", a_segment(0, rows=50))
        with closing(sqlite3.connect(path)) as connection:
            (body,) = connection.execute("SELECT records FROM segments").fetchone()
            for position in range(0, len(body), 7):
                changed = bytearray(body)
                changed[position] ^= 0x10
                with connection:
                    connection.execute("UPDATE segments SET records = ?", (bytes(changed),))
                try:
                    records = store.segment("r1", 0).records
                except StoreError as error:
                    assert "segment 0 of run r1" in str(error)
                else:
                    assert records == a_segment(0, rows=50).records


def test_rows_are_counted_once_however_often_a_segment_is_written(tmp_path: Path) -> None:
    with closing(open_run_store(tmp_path / "evalsi.db")) as store:
        store.create(a_run("r1"), a_manifest())
        generator = random.Random(3)
        truth: dict[int, int] = {}
        for _ in range(60):
            index, rows = generator.randrange(-1, 8), generator.randrange(6)
            store.append("r1", msgspec.structs.replace(a_segment(0, rows=rows), index=index))
            truth[index] = rows
            assert store.find("r1").rows == sum(truth.values())
