"""A backup is proved by restoring it: everything that can be read is there, from either database into either."""

import hashlib
import json
import re
import shutil
import sqlite3
import struct
import subprocess
import sys
import threading
import uuid
import zipfile
from collections.abc import Callable
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from evalsi.access.audit_chain import sealed, verify
from evalsi.core.errors import EvalsiError, InvalidDataError, NotFoundError, StoreError, StoreTooNewError, UsageError
from evalsi.infra.objects import open_objects
from evalsi.infra.promoted_files import PromotedFiles
from evalsi.infra.store import vacant_place as vacant
from evalsi.infra.store.access_store import SqlAccessStore
from evalsi.infra.store.backup import KeptPlaces, restore_backup, write_backup
from evalsi.infra.store.database import open_database
from evalsi.infra.store.migrations import MIGRATIONS
from evalsi.infra.store.open_stores import open_sql_database, open_stores, open_trace_store
from evalsi.infra.store.vacant_place import vacant_place
from evalsi.ports.dataset_store import Decision, VersionQuery
from evalsi.ports.object_store import ObjectStore
from evalsi.ports.run_queue import QueueLimits
from evalsi.ports.run_store import RunQuery
from evalsi.schema import (
    DatasetVersion,
    DatasetVersionContent,
    DatasetVersionState,
    Feedback,
    MetricSummary,
    Project,
    Record,
    TraceFilter,
)
from evalsi.testing.access_store_suite import a_key, an_event, every_event
from evalsi.testing.run_queue_suite import asked
from evalsi.testing.run_store_suite import a_manifest, a_run, a_segment, ended
from evalsi.testing.trace_store_suite import EVERYTHING, a_part, append, complete, found_by, trace_id
from tests.postgres_server import PostgresServer

PROJECTS = ("default", "größe")
DAY = "2026-03-01"

Place = Callable[[str], str]
"""Makes the address of an empty database of the kind that it is given."""


@pytest.fixture
def place(tmp_path: Path, request: pytest.FixtureRequest) -> Place:
    def make(kind: str) -> str:
        name = f"t{uuid.uuid4().hex[:12]}"
        if kind == "sqlite":
            return str(tmp_path / name / "evalsi.db")
        postgres: PostgresServer = request.getfixturevalue("postgres")
        return postgres.new_database(name)

    return make


def objects_at(folder: Path) -> ObjectStore:
    return open_objects(f"file://{folder}", cache=folder)


def kept(address: str, objects: ObjectStore, datasets: Path | None = None) -> KeptPlaces:
    return KeptPlaces(
        database=address, objects=objects, cases=PromotedFiles(datasets or Path(address).parent / "no-datasets")
    )


def fill(address: str, objects: ObjectStore, folder: Path) -> None:
    """Puts something of every kind there is into a database: runs at every stage, datasets, what was used, who may."""
    with closing(open_stores(address, objects)) as stores:
        for project in PROJECTS:
            store = stores.of(project)
            run_id = f"done-{project}"
            store.create(a_run(run_id, project=project), a_manifest("begin"))
            for index in range(3):
                store.append(run_id, msgspec.structs.replace(a_segment(index), zones=b"\x00zone"))
            store.keep_answers(run_id, [(row, f"answer {row} 🙂".encode()) for row in range(5)])
            store.finish(ended(store.run(run_id)), a_manifest("end"), [MetricSummary(metric="länge", mean=1 / 3)])
            body = folder / "body.jsonl"
            body.write_text(f'{{"id":"{project}"}}\n')
            content = DatasetVersionContent(project=project, name="cases", owner="key:ci")
            datasets = stores.datasets(project)
            version, _ = datasets.publish(
                DatasetVersion(content=content, records=1),
                body,
                body_sha256=hashlib.sha256(body.read_bytes()).hexdigest(),
            )
            decided = DatasetVersionState.APPROVED
            datasets.review(
                "cases",
                "1",
                Decision(sha256=version.sha256, expected_revision=0, state=decided, actor="key:a", note="fine"),
            )
            stores.queue.add_usage(project, DAY, target_tokens=5, judge_tokens=7)
        stores.of("default").create(a_run("by-hand"), a_manifest())
        stores.of("default").append("by-hand", a_segment(0))
        for number in range(2):
            stores.queue.submit(asked(f"waiting-{number}", priority=number))
        assert stores.queue.claim(QueueLimits(), lease_s=60) is not None


def everything(address: str, objects: ObjectStore) -> dict[str, Any]:
    """All that the ports give, without the times at which it is read."""
    with closing(open_stores(address, objects)) as stores:
        found: dict[str, Any] = {}
        for row in stores.page(None, RunQuery(archived=None), size=100).runs:
            store = stores.of(row.project)
            found[row.id] = (
                row,
                store.manifest(row.id),
                store.summaries(row.id),
                list(store.segments(row.id)),
                store.zones(row.id),
                list(store.answers(row.id)),
                stores.queue.entry(row.id),
                store.writer(row.id),
            )
        for version in stores.dataset_page(None, VersionQuery(), size=100).versions:
            assert version.content is not None
            datasets = stores.datasets(version.content.project)
            name = (version.content.name, version.content.version)
            found[f"dataset of {version.content.project}"] = (
                version,
                b"".join(datasets.read(*name)),
                datasets.events(*name, size=10),
            )
        for project in PROJECTS:
            found[f"usage of {project}"] = stores.queue.add_usage(project, DAY, target_tokens=0, judge_tokens=0)
        found["depth"] = dict(stores.queue.depth())
        return found


@pytest.mark.parametrize("target", ["sqlite", "postgres"])
@pytest.mark.parametrize("source", ["sqlite", "postgres"])
def test_what_was_backed_up_is_there_after_a_restore_into_an_empty_place(
    place: Place, tmp_path: Path, source: str, target: str
) -> None:
    there, objects = place(source), objects_at(tmp_path / "objects")
    fill(there, objects, tmp_path)
    account = write_backup(kept(there, objects), tmp_path / "backup.zip")
    with closing(open_stores(there, objects)) as stores:
        claimed = [
            run_id for run_id in ("waiting-0", "waiting-1") if stores.of("default").run(run_id).status == "running"
        ]
        assert len(claimed) == 1
    expected = everything(there, objects)
    here, others = place(target), objects_at(tmp_path / "restored")
    assert restore_backup(tmp_path / "backup.zip", kept(here, others)) == account
    assert account.objects == len(PROJECTS)
    found = everything(here, others)
    assert found.keys() == expected.keys()
    for name in expected.keys() - {*claimed, "depth"}:
        assert found[name] == expected[name], name
    # Who had it in hand works on the other database.
    assert found[claimed[0]][0].status == "waiting"
    assert found["depth"] == {"waiting": 2}


@pytest.mark.parametrize("source", ["sqlite", "postgres"])
def test_keys_roles_projects_and_the_audit_log_come_back_with_their_chain(
    place: Place, tmp_path: Path, source: str
) -> None:
    there, here, objects = place(source), place("sqlite"), objects_at(tmp_path / "objects")
    with closing(SqlAccessStore(open_sql_database(there))) as store:
        moment = datetime(2026, 3, 1, tzinfo=UTC)
        store.add_project(Project(name="billing", description="Rechnungen", created_at=moment, created_by="key:a"))
        store.add_key(a_key("ci"))
        for number in range(20):
            store.append_audit(an_event(number), sealed)
        expected = (store.projects(), store.api_keys(), store.bindings(), every_event(store), store.audit_head())
    write_backup(kept(there, objects), tmp_path / "backup.zip")
    restore_backup(tmp_path / "backup.zip", kept(here, objects))
    with closing(SqlAccessStore(open_sql_database(here))) as store:
        assert (
            store.projects(),
            store.api_keys(),
            store.bindings(),
            every_event(store),
            store.audit_head(),
        ) == expected
        verify(every_event(store), store.audit_head())


@pytest.mark.parametrize("target", ["sqlite", "postgres"])
@pytest.mark.parametrize("source", ["sqlite", "postgres"])
def test_traces_come_back_with_their_scores_words_and_feedback(
    place: Place, tmp_path: Path, source: str, target: str
) -> None:
    there, here, objects = place(source), place(target), objects_at(tmp_path / "objects")
    open_sql_database(there).close()
    with closing(open_trace_store(there)) as traces:
        for number in range(5):
            part = a_part(number, begun_s=number, labels={"env": "prod"}, session_id="s")
            complete(traces, part, text=f"the question {number}", policies=[found_by("p", number / 10)])
        said = Feedback(id="f", trace_id=trace_id(3), passed=True, time=datetime(2026, 3, 1, tzinfo=UTC))
        traces.add_feedback("default", [said], now_ms=0, reconsider=False)
        expected = list(traces.export("default", EVERYTHING))
    write_backup(kept(there, objects), tmp_path / "backup.zip")
    restore_backup(tmp_path / "backup.zip", kept(here, objects))
    with closing(open_trace_store(here)) as traces:
        assert list(traces.export("default", EVERYTHING)) == expected
        assert [row.trace_id for row in traces.find(None, TraceFilter(text="question 2"), size=9).traces] == [
            trace_id(2)
        ]
        assert traces.feedback("default", trace_id=trace_id(3), size=9).feedback == [said]
        append(traces, a_part(9))
        assert traces.count(None, EVERYTHING).total == 6
        assert traces.delete("default", [trace_id(2)]) == 1
        assert not traces.find(None, TraceFilter(text="question 2"), size=9).traces


@pytest.mark.parametrize("kind", ["sqlite", "postgres"])
def test_a_backup_is_of_one_moment_while_others_write(place: Place, tmp_path: Path, kind: str) -> None:
    there, objects = place(kind), objects_at(tmp_path / "objects")
    acknowledged, over = [0], threading.Event()
    with closing(open_stores(there, objects)) as stores:
        store = stores.of("default")
        store.create(a_run("busy"), a_manifest())

        def write() -> None:
            while not over.is_set():
                store.append("busy", a_segment(acknowledged[0], rows=50))
                acknowledged[0] += 1

        writer = threading.Thread(target=write)
        writer.start()
        try:
            for number in range(5):
                while acknowledged[0] < 10 * (number + 1):
                    over.wait(0.005)
                before = acknowledged[0]
                write_backup(kept(there, objects), tmp_path / f"{number}.zip")
                after = acknowledged[0] + 1
                path = str(tmp_path / f"restored{number}" / "evalsi.db")
                restore_backup(tmp_path / f"{number}.zip", kept(path, objects))
                with closing(open_stores(path, objects)) as restored:
                    rows = restored.of("default").segment_rows("busy")
                    assert [index for index, _, _ in rows] == list(range(len(rows)))
                    assert before <= len(rows) <= after
                    assert restored.of("default").run("busy").rows == 50 * len(rows)
        finally:
            over.set()
            writer.join()


@pytest.fixture
def backup(place: Place, tmp_path: Path) -> Path:
    address, objects = place("sqlite"), objects_at(tmp_path / "objects")
    fill(address, objects, tmp_path)
    write_backup(kept(address, objects), tmp_path / "backup.zip")
    return tmp_path / "backup.zip"


def repacked(source: Path, change: Callable[[str, bytes], bytes | None], *more: tuple[str, bytes]) -> Path:
    target = source.with_name("wrong.zip")
    with zipfile.ZipFile(source) as before, zipfile.ZipFile(target, "w") as after:
        for name in before.namelist():
            if (body := change(name, before.read(name))) is not None:
                after.writestr(name, body)
        for name, body in more:
            after.writestr(name, body)
    return target


def about(change: Callable[[dict[str, Any]], object]) -> Callable[[str, bytes], bytes]:
    def edit(name: str, body: bytes) -> bytes:
        if name != "backup.json":
            return body
        document = json.loads(body)
        change(document)
        return json.dumps(document).encode()

    return edit


@pytest.mark.parametrize(
    ("change", "kind", "complaint"),
    [
        (lambda name, body: None if name == "evalsi.db" else body, InvalidDataError, "evalsi.db is missing"),
        (lambda name, body: None if name == "backup.json" else body, InvalidDataError, "backup.json is missing"),
        (lambda name, body: b"{" if name == "backup.json" else body, InvalidDataError, "not a backup"),
        (lambda name, body: b"{}" if name == "backup.json" else body, InvalidDataError, "names no format"),
        (lambda name, body: b"other" if name.startswith("objects/") else body, InvalidDataError, "damaged"),
        (about(lambda document: document.update(evalsi_backup=2)), StoreTooNewError, "format 2"),
        (about(lambda document: document.update(evalsi_backup="1")), InvalidDataError, "not a backup"),
        (about(lambda document: document["parts"].clear()), InvalidDataError, "holds no database"),
        (
            about(lambda document: document["parts"].update({"objects/../x": {"bytes": 0, "sha256": ""}})),
            InvalidDataError,
            r"objects/\.\./x",
        ),
    ],
)
def test_what_is_no_sound_backup_is_refused_before_anything_is_made(
    backup: Path,
    tmp_path: Path,
    change: Callable[[str, bytes], bytes | None],
    kind: type[EvalsiError],
    complaint: str,
) -> None:
    wrong = repacked(backup, change)
    with pytest.raises(kind, match=complaint):
        restore_backup(wrong, kept(str(tmp_path / "new" / "evalsi.db"), objects_at(tmp_path / "others")))
    assert not (tmp_path / "new").exists()
    assert list((tmp_path / "others").rglob("*")) == []


def test_a_backup_of_a_later_schema_is_refused_before_anything_is_made(backup: Path, tmp_path: Path) -> None:
    def of_step_99(name: str, body: bytes) -> bytes:
        if name == "evalsi.db":
            return body[:60] + struct.pack(">I", 99) + body[64:]
        if name == "backup.json":
            document = json.loads(body)
            with zipfile.ZipFile(backup) as whole:
                content = of_step_99("evalsi.db", whole.read("evalsi.db"))
            document["parts"]["evalsi.db"]["sha256"] = hashlib.sha256(content).hexdigest()
            return json.dumps(document).encode()
        return body

    with pytest.raises(StoreTooNewError, match="format 99"):
        restore_backup(repacked(backup, of_step_99), kept(str(tmp_path / "new" / "evalsi.db"), objects_at(tmp_path)))
    assert not (tmp_path / "new").exists()


def test_a_store_of_a_later_version_is_not_backed_up_in_part(place: Place, tmp_path: Path) -> None:
    address, objects = place("sqlite"), objects_at(tmp_path / "objects")
    open_stores(address, objects).close()
    with closing(sqlite3.connect(address)) as connection:
        connection.execute("PRAGMA user_version = 99")
    with pytest.raises(StoreTooNewError, match=f"{re.escape(address)} has format 99"):
        write_backup(kept(address, objects), tmp_path / "backup.zip")
    assert not (tmp_path / "backup.zip").exists()


@pytest.mark.parametrize("step", [1, 2, 3, 4])
def test_a_store_of_an_earlier_version_is_backed_up_and_restored(place: Place, tmp_path: Path, step: int) -> None:
    address, objects = place("sqlite"), objects_at(tmp_path / "objects")
    open_database(Path(address), migrations=MIGRATIONS[:step]).close()
    before = Path(address).read_bytes()
    assert write_backup(kept(address, objects), tmp_path / "backup.zip").schema_step == MIGRATIONS[-1].version
    assert Path(address).read_bytes() == before
    here = place("sqlite")
    restore_backup(tmp_path / "backup.zip", kept(here, objects))
    with closing(open_stores(here, objects)) as stores:
        assert not stores.of("default").runs()
    assert sorted(path.name for path in Path(here).parent.iterdir()) == ["evalsi.db"]


@pytest.mark.parametrize("step", [1, 2, 3, 4])
def test_a_backup_of_an_earlier_schema_is_brought_up_to_date(
    backup: Path, place: Place, tmp_path: Path, step: int
) -> None:
    earlier = tmp_path / "earlier" / "evalsi.db"
    open_database(earlier, migrations=MIGRATIONS[:step]).close()
    with closing(sqlite3.connect(earlier)) as connection:
        connection.execute("PRAGMA journal_mode = DELETE").fetchall()
    content = earlier.read_bytes()

    def of_a_step(name: str, body: bytes) -> bytes | None:
        if name == "evalsi.db":
            return content
        if name != "backup.json":
            return None
        part = {"bytes": len(content), "sha256": hashlib.sha256(content).hexdigest()}
        return json.dumps(json.loads(body) | {"schema_step": step, "parts": {"evalsi.db": part}}).encode()

    here, objects = place("sqlite"), objects_at(tmp_path / "restored")
    restore_backup(repacked(backup, of_a_step), kept(here, objects))
    with closing(open_stores(here, objects)) as stores:
        stores.of("default").create(a_run("mine"), a_manifest())


def test_an_entry_packed_as_no_backup_is_is_damage(backup: Path, tmp_path: Path) -> None:
    target = tmp_path / "wrong.zip"
    with zipfile.ZipFile(backup) as before, zipfile.ZipFile(target, "w") as after:
        for name in before.namelist():
            after.writestr(name, before.read(name), zipfile.ZIP_LZMA)
    content = bytearray(target.read_bytes())
    with zipfile.ZipFile(target) as archive:
        entry = archive.getinfo("backup.json")
    for place_of_byte in range(entry.header_offset + 60, entry.header_offset + 30 + entry.compress_size):
        content[place_of_byte] ^= 0x5A
    target.write_bytes(content)
    with pytest.raises(InvalidDataError, match="packed by method 14"):
        restore_backup(target, kept(str(tmp_path / "new" / "evalsi.db"), objects_at(tmp_path / "others")))


@pytest.mark.parametrize("name", ["evalsi.db-wal", "evalsi.db-shm", "evalsi.db-journal", "traces.db", "traces.db-wal"])
def test_a_log_that_another_store_left_is_never_read_with_a_restored_one(
    backup: Path, tmp_path: Path, name: str
) -> None:
    place = tmp_path / "new"
    place.mkdir()
    (place / name).write_bytes(b"of another store")
    with pytest.raises(UsageError, match=f"{name} already"):
        restore_backup(backup, kept(str(place / "evalsi.db"), objects_at(tmp_path / "others")))
    assert [path.name for path in place.iterdir()] == [name]


RESTORE_AND_DIE = """
import os, sys
from pathlib import Path
from tests.infra.store.test_backup import kept, objects_at
from evalsi.infra.store.backup import restore_backup
address, backup, dies_at = sys.argv[1], Path(sys.argv[2]), sys.argv[3]

def watch(event, arguments):
    if event in ("open", "os.link", "sqlite3.connect") and any(
        isinstance(argument, (str, bytes, os.PathLike)) and os.fsdecode(argument).endswith(dies_at.split(":")[1])
        for argument in arguments
    ) and event == dies_at.split(":")[0]:
        os.kill(os.getpid(), 9)

sys.addaudithook(watch)
restore_backup(backup, kept(address, objects_at(Path(address).parent / "objects")))
"""


@pytest.mark.parametrize(
    "dies_at", ["open:traces.db", "sqlite3.connect:evalsi.db", "os.link:traces.db", "os.link:evalsi.db"]
)
def test_a_restore_that_was_killed_leaves_no_store_and_is_done_again(
    place: Place, tmp_path: Path, dies_at: str
) -> None:
    there, here = place("sqlite"), tmp_path / "new" / "evalsi.db"
    fill(there, objects_at(tmp_path / "objects"), tmp_path)
    with closing(open_trace_store(there)) as traces:
        complete(traces, a_part(1), text="a question", policies=[found_by("p", 0.5)])
    write_backup(kept(there, objects_at(tmp_path / "objects")), tmp_path / "backup.zip")
    command = [sys.executable, "-c", RESTORE_AND_DIE, str(here), str(tmp_path / "backup.zip"), dies_at]
    died = subprocess.run(command, check=False, capture_output=True, text=True, cwd=Path(__file__).parents[3])
    assert died.returncode == -9, died.stderr
    assert not here.exists()
    restore_backup(tmp_path / "backup.zip", kept(str(here), objects_at(here.parent / "objects")))
    with closing(open_stores(str(here), objects_at(here.parent / "objects"))) as stores:
        assert stores.of("default").run("done-default").rows == 6
    with closing(open_trace_store(str(here))) as traces:
        assert traces.count(None, EVERYTHING).total == 1
    assert sorted(path.name for path in here.parent.iterdir()) == ["evalsi.db", "objects", "traces.db"]


def test_a_server_that_is_started_during_a_restore_gets_nothing_of_it(
    place: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    there, here = place("sqlite"), tmp_path / "new" / "evalsi.db"
    fill(there, objects_at(tmp_path / "objects"), tmp_path)
    open_trace_store(there).close()
    write_backup(kept(there, objects_at(tmp_path / "objects")), tmp_path / "backup.zip")
    hardlink_to = Path.hardlink_to

    def started(self: Path, target: Path) -> None:
        if self.name == "evalsi.db":
            open_stores(str(here), objects_at(tmp_path / "others")).close()
        hardlink_to(self, target)

    monkeypatch.setattr(Path, "hardlink_to", started)
    with pytest.raises(StoreError, match="File exists"):
        restore_backup(tmp_path / "backup.zip", kept(str(here), objects_at(tmp_path / "others")))
    assert sorted(path.name for path in here.parent.iterdir()) == ["evalsi.db"]
    with closing(open_stores(str(here), objects_at(tmp_path / "others"))) as stores:
        assert not stores.of("default").runs()


def test_a_disk_without_links_takes_a_restore_too(
    backup: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(self: Path, target: Path) -> None:
        raise PermissionError(1, "Operation not permitted", str(target))

    monkeypatch.setattr(Path, "hardlink_to", refused)
    address = str(tmp_path / "new" / "evalsi.db")
    restore_backup(backup, kept(address, objects_at(tmp_path / "others")))
    with closing(open_stores(address, objects_at(tmp_path / "others"))) as stores:
        assert stores.of("default").run("done-default").rows == 6


def test_two_restores_into_one_place_do_not_mix(backup: Path, tmp_path: Path) -> None:
    address = tmp_path / "new" / "evalsi.db"
    address.parent.mkdir()
    with vacant_place(str(address), "evalsi.db"), pytest.raises(UsageError, match="another restore"):
        restore_backup(backup, kept(str(address), objects_at(tmp_path / "others")))
    restore_backup(backup, kept(str(address), objects_at(tmp_path / "others")))


def test_a_restore_into_postgres_that_fails_at_its_end_leaves_the_database_empty(
    place: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    there, here, objects = place("sqlite"), place("postgres"), objects_at(tmp_path / "objects")
    fill(there, objects, tmp_path)
    with closing(open_trace_store(there)) as traces:
        complete(traces, a_part(1), text="a question", policies=[found_by("p", 0.5)])
    write_backup(kept(there, objects), tmp_path / "backup.zip")

    def fail(file: Path, connection: object) -> None:
        raise OSError(28, "No space left on device", str(file))

    with monkeypatch.context() as patched, pytest.raises(StoreError, match="cannot be restored"):
        patched.setattr(vacant, "move_into_postgres", fail)
        restore_backup(tmp_path / "backup.zip", kept(here, objects))
    restore_backup(tmp_path / "backup.zip", kept(here, objects))
    with closing(open_trace_store(here)) as traces:
        assert traces.count(None, EVERYTHING).total == 1


def test_promoted_cases_come_back_where_specifications_name_them(place: Place, tmp_path: Path) -> None:
    there, here, objects = place("sqlite"), place("sqlite"), objects_at(tmp_path / "objects")
    open_stores(there, objects).close()
    before, after = tmp_path / "before", tmp_path / "after"
    for project in PROJECTS:
        PromotedFiles(before).add(project, "bad cases", [Record(id="a"), Record(id="b")])
    write_backup(kept(there, objects, before), tmp_path / "backup.zip")
    restore_backup(tmp_path / "backup.zip", kept(here, objects, after))
    for project in PROJECTS:
        file = Path("promoted") / project / "bad cases.jsonl"
        assert (after / file).read_bytes() == (before / file).read_bytes()
        assert PromotedFiles(after).add(project, "bad cases", [Record(id="a"), Record(id="c")]) == 1
    with pytest.raises(UsageError, match=r"cases in .* already"):
        restore_backup(tmp_path / "backup.zip", kept(place("sqlite"), objects, after))


@pytest.mark.parametrize(
    "name", ["promoted/../x.jsonl", "promoted/a/../../x.jsonl", "promoted/x.jsonl", "promoted/a/.x.jsonl"]
)
def test_cases_that_lead_out_of_their_folder_are_no_backup(backup: Path, tmp_path: Path, name: str) -> None:
    part = {"bytes": 0, "sha256": hashlib.sha256().hexdigest()}
    wrong = repacked(backup, about(lambda document: document["parts"].update({name: part})), (name, b""))
    with pytest.raises(InvalidDataError, match=re.escape(repr(name))):
        restore_backup(wrong, kept(str(tmp_path / "new" / "evalsi.db"), objects_at(tmp_path / "others")))


ON_A_SMALL_DISK = """
import sys
from pathlib import Path
from tests.infra.store.test_backup import kept, objects_at
from evalsi.core.errors import EvalsiError
from evalsi.infra.store.backup import restore_backup, write_backup
store, backup, disk, size = sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3]), sys.argv[4]
try:
    if size == "backup":
        write_backup(kept(store, objects_at(Path(store).parent / "objects")), disk / "backup.zip")
    else:
        restore_backup(backup, kept(str(disk / "evalsi.db"), objects_at(disk / "objects")))
except EvalsiError as error:
    print(error)
print(sorted(path.name for path in disk.iterdir() if path.name != "objects"))
"""


@pytest.mark.parametrize("size_kib", [60, 200, 400])
@pytest.mark.parametrize("what", ["backup", "restore"])
def test_a_full_disk_is_named_and_nothing_half_done_stays_on_it(
    place: Place, tmp_path: Path, what: str, size_kib: int
) -> None:
    if shutil.which("unshare") is None:
        pytest.skip("needs unshare to mount a small disk")
    there = place("sqlite")
    objects = objects_at(Path(there).parent / "objects")
    fill(there, objects, tmp_path)
    open_trace_store(there).close()
    write_backup(kept(there, objects), tmp_path / "backup.zip")
    disk = tmp_path / "disk"
    disk.mkdir()
    mounted = f'mount -t tmpfs -o size={size_kib}k tmpfs "{disk}" || exit 77; exec "$@"'
    command = [sys.executable, "-c", ON_A_SMALL_DISK, there, str(tmp_path / "backup.zip"), str(disk), what]
    done = subprocess.run(
        ["unshare", "--mount", "--map-root-user", "sh", "-c", mounted, "sh", *command],
        capture_output=True,
        text=True,
        check=False,
        cwd=Path(__file__).parents[3],
    )
    if done.returncode in {1, 77} and not done.stdout and "Traceback" not in done.stderr:
        pytest.skip(f"cannot mount a small disk here: {done.stderr.strip()}")
    told, _, left = done.stdout.strip().rpartition("\n")
    assert left == "[]", done.stderr
    assert str(disk) in told
    assert "No space left on device" in told or "full" in told


@pytest.mark.parametrize("kind", ["sqlite", "postgres"])
def test_a_place_that_holds_something_is_left_as_it_is(place: Place, backup: Path, tmp_path: Path, kind: str) -> None:
    address, objects = place(kind), objects_at(tmp_path / "others")
    with closing(open_stores(address, objects)) as stores:
        stores.of("default").create(a_run("mine"), a_manifest())
    with pytest.raises(UsageError, match="already"):
        restore_backup(backup, kept(address, objects))
    with closing(open_stores(address, objects)) as stores:
        assert [row.id for row in stores.of("default").runs()] == ["mine"]


def test_a_backup_replaces_nothing_and_leaves_nothing_half_done(place: Place, tmp_path: Path) -> None:
    address, objects = place("sqlite"), objects_at(tmp_path / "objects")
    with pytest.raises(NotFoundError, match="no store"):
        write_backup(kept(address, objects), tmp_path / "backup.zip")
    fill(address, objects, tmp_path)
    (tmp_path / "mine.zip").write_text("mine")
    with pytest.raises(UsageError, match="already"):
        write_backup(kept(address, objects), tmp_path / "mine.zip")
    assert (tmp_path / "mine.zip").read_text() == "mine"
    with pytest.raises(StoreError, match="cannot be written"):
        write_backup(kept(address, objects), tmp_path / "nowhere" / "backup.zip")
    for file in (tmp_path / "objects").rglob("*.jsonl"):
        file.unlink()
    with pytest.raises(NotFoundError, match="no object"):
        write_backup(kept(address, objects), tmp_path / "backup.zip")
    assert sorted(path.name for path in tmp_path.iterdir() if path.is_file()) == ["body.jsonl", "mine.zip"]


def test_a_backup_can_be_read_by_its_owner_alone(backup: Path) -> None:
    assert backup.stat().st_mode & 0o777 == 0o600


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
def test_a_damaged_backup_is_refused_or_restored_whole(backup: Path, tmp_path: Path, data: st.DataObject) -> None:
    content = bytearray(backup.read_bytes())
    for _ in range(data.draw(st.integers(1, 3))):
        content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    if data.draw(st.booleans()):
        del content[data.draw(st.integers(0, len(content))) :]
    (tmp_path / "damaged.zip").write_bytes(content)
    address = tmp_path / uuid.uuid4().hex / "evalsi.db"
    try:
        restore_backup(tmp_path / "damaged.zip", kept(str(address), objects_at(tmp_path / "others")))
    except EvalsiError:
        assert not address.exists()
    else:
        with closing(open_stores(str(address), objects_at(tmp_path / "others"))) as stores:
            assert stores.of("default").run("done-default").rows == 6


def test_a_database_in_which_a_server_only_made_its_tables_is_empty(place: Place, backup: Path, tmp_path: Path) -> None:
    here = place("postgres")
    open_trace_store(here).close()
    restore_backup(backup, kept(here, objects_at(tmp_path / "others")))
