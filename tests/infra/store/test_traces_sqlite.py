"""Traces in SQLite pass the suite of all stores of traces; and what only a file can suffer: death, full disks, neighbours."""

import os
import queue
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import pytest

from evalsi.core.errors import NotFoundError, StoreError
from evalsi.infra.store.database import StoreOptions
from evalsi.infra.store.trace_rows import arrivals_of
from evalsi.infra.store.trace_sqlite import SqliteTraceStore, index_words, indexed_words
from evalsi.ports.trace_store import TracePart, TraceStore, Waiting
from evalsi.schema import Feedback, TraceFilter
from evalsi.testing.trace_store_suite import (
    EVERYTHING,
    NOON_MS,
    TraceStoreSuite,
    a_part,
    append,
    claim_all,
    complete,
    completed,
    halls_and_attics,
    ids,
    listed,
    trace_id,
)

QUICK = StoreOptions(synchronous="normal")


class TestSqliteTraces(TraceStoreSuite):
    @pytest.fixture
    def traces(self, tmp_path: Path) -> Iterator[TraceStore]:
        with closing(SqliteTraceStore(tmp_path / "traces.db", QUICK)) as store:
            yield store

    def test_who_no_longer_waits_takes_nothing_back(self, traces: TraceStore) -> None:
        begun = traces.begin_append("default", [a_part()], now_ms=NOON_MS, waiting=Waiting())
        assert not begun.cancel()
        assert begun.result(timeout=60).spans == 2
        append(traces, a_part(2))
        assert sorted(traces.spans_of("default", ids(1, 2))) == sorted(ids(1, 2))

    @pytest.mark.parametrize("few", [2_000, 1])
    def test_what_leads_a_list_changes_nothing_of_what_is_in_it(
        self, traces: TraceStore, monkeypatch: pytest.MonkeyPatch, few: int
    ) -> None:
        monkeypatch.setattr("evalsi.infra.store.trace_lists.FEW", few)
        halls_and_attics(traces)
        assert listed(traces, size=2, text="lamp hall", labels=["env=prod"]) == ids(11, 7, 5, 1)
        assert listed(traces, size=2, text="hall", labels=["env=prod"], scores=["tone<0.6"]) == ids(5, 1)
        assert listed(traces, size=2, labels=["env=test"], scores=["tone>0.9"]) == ids(12, 10)
        assert listed(traces, size=2, text="hall", service="shop", scores=["tone>0.9"]) == ids(11, 10)
        assert listed(traces, size=2, text="hall", service="shop", policy="tone-check", error=False) == ids(
            11, 10, 8, 7, 5, 4, 2, 1
        )
        assert listed(traces, text="hall", service="kiosk") == listed(traces, text="hall", policy="other") == []

    def test_where_words_and_a_label_are_both_frequent_the_newest_are_counted(
        self, traces: TraceStore, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("evalsi.infra.store.trace_lists.FEW", 1)
        monkeypatch.setattr("evalsi.infra.store.trace_lists.MOST_MET", 5)
        halls_and_attics(traces)
        counts = traces.count(["default"], TraceFilter(text="lamp hall", labels=["env=prod"]))
        # Of 11, 10, 8, 7 and 5, which are the newest five with the words.
        assert (counts.total, counts.capped, counts.facets["label.env"]) == (3, True, {"prod": 3})
        alone = traces.count(["default"], TraceFilter(text="lamp hall"))
        assert (alone.total, alone.capped) == (8, False)


SENDER = """
import sys
from pathlib import Path
from evalsi.infra.store.trace_sqlite import SqliteTraceStore
from evalsi.testing.trace_store_suite import a_part, append
store = SqliteTraceStore(Path(sys.argv[1]))
number = int(sys.argv[2])
while True:
    append(store, a_part(number), a_part(number, piece=1))
    print(number, flush=True)
    number += 1
"""


def killed_sender(path: Path, first: int, acknowledged: int) -> int:
    """Sends traces from a process that is killed after so many were acknowledged; the number of the last one."""
    process = subprocess.Popen([sys.executable, "-c", SENDER, str(path), str(first)], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    last = first - 1
    for line in process.stdout:
        last = int(line)
        if last - first + 1 >= acknowledged:
            process.send_signal(signal.SIGKILL)
            break
    last = max([last, *(int(line) for line in process.stdout)])
    process.wait()
    process.stdout.close()
    return last


@pytest.mark.slow
def test_what_was_acknowledged_survives_a_killed_process(tmp_path: Path) -> None:
    path = tmp_path / "traces.db"
    kills = int(os.environ.get("EVALSI_TEST_KILLS", "3"))
    number = 0
    for _ in range(kills):
        number = killed_sender(path, number, 5) + 1
    with closing(SqliteTraceStore(path)) as store:
        for each in range(number):
            assert store.spans("default", trace_id(each)) == [a_part(each).body, a_part(each, piece=1).body]
            # The sender of what was not acknowledged sends it again.
            append(store, a_part(each), a_part(each, piece=1))
            assert len(store.spans("default", trace_id(each))) == 2
        assert store.count(None, EVERYTHING).total - number in range(kills + 1)


def test_a_full_disk_refuses_and_recovers(tmp_path: Path) -> None:
    with closing(SqliteTraceStore(tmp_path / "traces.db", QUICK)) as store:
        append(store, a_part(0))
        store._file.read("PRAGMA max_page_count = 1")  # pyright: ignore[reportPrivateUsage]
        big = [a_part(number, body=os.urandom(200_000)) for number in range(1, 4)]
        with pytest.raises(StoreError, match="full"):
            append(store, *big)
        assert store.count(None, EVERYTHING).total == 1
        store._file.read("PRAGMA max_page_count = 1073741823")  # pyright: ignore[reportPrivateUsage]
        append(store, *big)
        assert store.count(None, EVERYTHING).total == 4


def test_a_call_that_cannot_be_stored_fails_alone(tmp_path: Path) -> None:
    with closing(SqliteTraceStore(tmp_path / "traces.db", QUICK)) as store:
        impossible = a_part(1, failed_spans=2**70)
        outcomes: list[bool] = []

        def send(part: TracePart) -> None:
            try:
                append(store, part)
            except StoreError:
                outcomes.append(False)
            else:
                outcomes.append(True)

        # One transaction is held up, so that the others wait together.
        threads: list[threading.Thread] = []

        def hold_up(locked: object) -> None:
            del locked
            for part in (a_part(2), impossible, a_part(3)):
                thread = threading.Thread(target=send, args=(part,))
                thread.start()
                threads.append(thread)
            time.sleep(0.3)

        store._file.write(hold_up)  # pyright: ignore[reportPrivateUsage]
        for thread in threads:
            thread.join()
        assert sorted(outcomes) == [False, True, True]
        assert {trace.trace_id for trace in store.find(None, EVERYTHING, size=9).traces} == {trace_id(2), trace_id(3)}


def test_storing_waits_for_no_reader(tmp_path: Path) -> None:
    with closing(SqliteTraceStore(tmp_path / "traces.db", QUICK)) as store:
        readers = store._readers  # pyright: ignore[reportPrivateUsage]
        for _ in range(4):  # all that read at once, of which each may look through a million traces
            readers.acquire()
        begun = store.begin_append("a new project", [a_part()], now_ms=NOON_MS, waiting=Waiting())
        try:
            assert begun.result(timeout=30).spans == 2
        finally:
            for _ in range(4):
                readers.release()
        assert store.summary("a new project", trace_id(1)).spans == 2


def test_a_call_that_comes_while_the_store_is_closed_is_stored_or_refused(tmp_path: Path) -> None:
    store = SqliteTraceStore(tmp_path / "traces.db", QUICK)
    append(store, a_part(0))
    coming = threading.Event()

    class Slow(queue.Queue[Any]):
        def put(self, item: Any, block: bool = True, timeout: float | None = None) -> None:
            if item is not None:
                coming.set()
                time.sleep(0.5)
            super().put(item, block, timeout)

    store._calls = slow = Slow()  # pyright: ignore[reportPrivateUsage]
    store._writer = threading.Thread(target=store._write_calls, daemon=True)  # pyright: ignore[reportPrivateUsage]
    store._writer.start()  # pyright: ignore[reportPrivateUsage]
    with ThreadPoolExecutor(1) as pool:
        beginning = pool.submit(store.begin_append, "default", [a_part(1)], now_ms=NOON_MS, waiting=Waiting())
        assert coming.wait(60)
        store.close()
        assert beginning.result().result(timeout=60).spans == 2
    assert slow.empty()


def test_what_waits_in_a_store_that_is_closed_and_cannot_be_written_is_not_tried_again_and_again(
    tmp_path: Path,
) -> None:
    path = tmp_path / "traces.db"
    store = SqliteTraceStore(path, StoreOptions(busy_timeout_s=1.0))
    append(store, a_part(0))
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        begun: list[Future[Any]] = []

        def begin_many() -> None:
            with suppress(StoreError):
                for number in range(1, 1000):
                    begun.append(store.begin_append("default", [a_part(number)], now_ms=NOON_MS, waiting=Waiting()))

        beginning = threading.Thread(target=begin_many)
        beginning.start()
        while not store._calls.full():  # pyright: ignore[reportPrivateUsage]
            time.sleep(0.01)
        before = [future for future in begun if future.done()]
        store.close()
        beginning.join()
    refusals = [future.exception(timeout=60) for future in begun if future not in before]
    assert len(refusals) >= 256
    assert all(isinstance(refusal, StoreError) for refusal in refusals)
    # A transaction takes 64 calls. One may have failed just before the store was closed, one was under way.
    assert len({id(refusal) for refusal in refusals}) <= 2


def test_what_rows_held_is_not_kept_in_memory_once_they_are_written(tmp_path: Path) -> None:
    with closing(SqliteTraceStore(tmp_path / "traces.db", QUICK)) as store:
        statements: list[int] = []
        store._file._connection.set_trace_callback(  # pyright: ignore[reportPrivateUsage]
            lambda text: statements.append(len(text)) if text.startswith("INSERT INTO trace_parts") else None
        )
        append(store, *(a_part(number, body=os.urandom(100_000)) for number in range(8)))
        append(store, *(a_part(number, body=os.urandom(1_000)) for number in range(8, 40)))
    # Written out, a byte takes two letters.
    assert len(statements) == 8 + 1
    assert max(statements) < 300_000


@pytest.mark.parametrize("level", [-1, 1, 3])
def test_a_part_is_packed_the_same_whatever_it_comes_with(level: int) -> None:
    """Else it would be stored twice where its sender sends it again with others."""
    sizes = [0, 1, 255, 256, 5_000, 65_536, 131_073, 1_000_000]
    bodies = [(b"lamp %d " % size * (size // 7 + 1))[:size] for size in sizes] + [os.urandom(size) for size in sizes]
    parts = [a_part(number, body=body) for number, body in enumerate(bodies)]
    together = arrivals_of(parts, level)
    for part in parts:
        assert together[part.trace_id].parts == arrivals_of([part], level)[part.trace_id].parts


FORKING = """
import os, signal, sys
from evalsi.core.errors import StoreError
from evalsi.infra.store.open_stores import open_trace_store
from evalsi.ports.trace_store import Waiting
from evalsi.testing.trace_store_suite import a_part
def begin(number):
    return store.begin_append("default", [a_part(number)], now_ms=1, waiting=Waiting()).result()
store = open_trace_store(sys.argv[1])
begin(1)
child = os.fork()
if not child:
    signal.alarm(60)
    try:
        begin(2)
    except StoreError:
        store.close()
        os._exit(0)
    os._exit(1)
begin(3)
store.close()
sys.exit(os.waitpid(child, 0)[1])
"""


def refuses_children(address: str) -> bool:
    """Whether a child made by a fork is refused by the store that its parent opened, and the parent is not disturbed."""
    return subprocess.run([sys.executable, "-c", FORKING, address], timeout=120, check=False).returncode == 0


def test_a_child_made_by_fork_is_refused_and_does_not_wait(tmp_path: Path) -> None:
    assert refuses_children(str(tmp_path / "evalsi.db"))


def test_a_server_that_appends_and_a_worker_that_completes_do_not_starve_each_other(tmp_path: Path) -> None:
    path = tmp_path / "traces.db"
    with closing(SqliteTraceStore(path, QUICK)) as server, closing(SqliteTraceStore(path, QUICK)) as worker:
        stopped = threading.Event()
        sent = [0] * 4

        def send(sender: int) -> None:
            while not stopped.is_set():
                first = sender * 1_000_000 + sent[sender] * 20
                append(server, *(a_part(number) for number in range(first, first + 20)))
                sent[sender] += 1

        finished = 0
        waits_s: list[float] = []
        with ThreadPoolExecutor(4) as pool:
            for sender in range(4):
                pool.submit(send, sender)
            until = time.monotonic() + 1.5
            while time.monotonic() < until:
                before = time.monotonic()
                due = worker.claim(now_ms=NOON_MS + 60_000, limit=50, lease_ms=60_000)
                finished += len(worker.complete([completed(each) for each in due], now_ms=NOON_MS))
                waits_s.append(time.monotonic() - before)
            stopped.set()
        assert min(sent) > 0
        assert finished > 0
        assert max(waits_s) < 1.5


def test_what_is_erased_is_not_left_in_the_files(tmp_path: Path) -> None:
    path = tmp_path / "traces.db"
    with closing(SqliteTraceStore(path, QUICK)) as store:
        for number in range(200):
            complete(store, a_part(number, user_id="ann" if number == 77 else "bob"), text=f"common secretword{number}")
        said = Feedback(id="f", trace_id=trace_id(77), comment="hushhush", label="x")
        store.add_feedback("default", [said], now_ms=NOON_MS, reconsider=False)
        assert store.delete("default", TraceFilter(user_id="ann")) == 1
        assert not store.find(None, TraceFilter(text="secretword77"), size=5).traces
        assert len(store.find(None, TraceFilter(text="secretword76"), size=5).traces) == 1
        files = b"".join(file.read_bytes() for file in tmp_path.iterdir())
        for secret in (b"secretword77", b"hushhush", bytes.fromhex(trace_id(77))):
            assert secret not in files
        assert bytes.fromhex(trace_id(76)) in files


def test_a_store_that_is_not_there_is_made_only_where_that_is_meant(tmp_path: Path) -> None:
    with pytest.raises(NotFoundError, match="no traces"):
        SqliteTraceStore(tmp_path / "traces.db", create=False)
    assert not list(tmp_path.iterdir())
    store = SqliteTraceStore(tmp_path / "traces.db", QUICK)
    append(store, a_part())
    store.close()
    store.close()
    with pytest.raises(StoreError, match="closed"):
        append(store, a_part(2))
    with pytest.raises(StoreError, match="closed"):
        store.begin_append("default", [a_part(2)], now_ms=NOON_MS, waiting=Waiting())
    with closing(SqliteTraceStore(tmp_path / "traces.db", create=False)) as again:
        assert [due.trace_id for due in claim_all(again)] == [trace_id(1)]


@pytest.mark.parametrize("start_ns", [0, 1_772_366_400_000_000_000, 1 << 63])
def test_traces_of_one_moment_are_indexed_in_a_few_steps_each_however_many_there_are(start_ns: int) -> None:
    words, steps = indexed_words(1, ["refund"]), 0

    class Counting:
        def execute(self, statement: str, row: Sequence[Any] = ()) -> Any:
            nonlocal steps
            steps += 1
            return file.execute(statement, row)

    change: Any = Counting()
    with closing(sqlite3.connect(":memory:")) as file:
        file.execute("CREATE TABLE trace_texts (place INTEGER PRIMARY KEY, trace INTEGER UNIQUE, words BLOB)")
        file.execute("CREATE VIRTUAL TABLE trace_words USING fts5(words, content='', detail=none, tokenize='ascii')")
        for trace in range(30_000):
            index_words(change, trace, start_ns, words)
        assert file.execute("SELECT count(*) FROM trace_words WHERE trace_words MATCH 'refund'").fetchone() == (30_000,)
    assert steps < 10 * 30_000
