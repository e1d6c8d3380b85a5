"""A backup is proved by restoring it: everything that can be read is there, from either database into either."""

import hashlib
import json
import sqlite3
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
from evalsi.infra.store.access_store import SqlAccessStore
from evalsi.infra.store.backup import restore_backup, write_backup
from evalsi.infra.store.open_stores import open_sql_database, open_stores, open_trace_store
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
    account = write_backup(there, objects, tmp_path / "backup.zip")
    with closing(open_stores(there, objects)) as stores:
        claimed = [
            run_id for run_id in ("waiting-0", "waiting-1") if stores.of("default").run(run_id).status == "running"
        ]
        assert len(claimed) == 1
    expected = everything(there, objects)
    here, others = place(target), objects_at(tmp_path / "restored")
    assert restore_backup(tmp_path / "backup.zip", here, others) == account
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
    write_backup(there, objects, tmp_path / "backup.zip")
    restore_backup(tmp_path / "backup.zip", here, objects)
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
    write_backup(there, objects, tmp_path / "backup.zip")
    restore_backup(tmp_path / "backup.zip", here, objects)
    with closing(open_trace_store(here)) as traces:
        assert list(traces.export("default", EVERYTHING)) == expected
        assert [row.trace_id for row in traces.find(None, TraceFilter(text="question 2"), size=9).traces] == [
            trace_id(2)
        ]
        assert traces.feedback("default", trace_id=trace_id(3)) == [said]
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
                write_backup(there, objects, tmp_path / f"{number}.zip")
                after = acknowledged[0] + 1
                path = str(tmp_path / f"restored{number}" / "evalsi.db")
                restore_backup(tmp_path / f"{number}.zip", path, objects)
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
    write_backup(address, objects, tmp_path / "backup.zip")
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
        restore_backup(wrong, str(tmp_path / "new" / "evalsi.db"), objects_at(tmp_path / "others"))
    assert not (tmp_path / "new").exists()
    assert list((tmp_path / "others").rglob("*")) == []


def test_a_backup_of_a_later_schema_is_refused_before_anything_is_made(place: Place, tmp_path: Path) -> None:
    address, objects = place("sqlite"), objects_at(tmp_path / "objects")
    open_stores(address, objects).close()
    with closing(sqlite3.connect(address)) as connection:
        connection.execute("PRAGMA user_version = 99")
    write_backup(address, objects, tmp_path / "backup.zip")
    with pytest.raises(StoreTooNewError, match="format 99"):
        restore_backup(tmp_path / "backup.zip", str(tmp_path / "new" / "evalsi.db"), objects)
    assert not (tmp_path / "new").exists()


@pytest.mark.parametrize("kind", ["sqlite", "postgres"])
def test_a_place_that_holds_something_is_left_as_it_is(place: Place, backup: Path, tmp_path: Path, kind: str) -> None:
    address, objects = place(kind), objects_at(tmp_path / "others")
    with closing(open_stores(address, objects)) as stores:
        stores.of("default").create(a_run("mine"), a_manifest())
    with pytest.raises(UsageError, match="already"):
        restore_backup(backup, address, objects)
    with closing(open_stores(address, objects)) as stores:
        assert [row.id for row in stores.of("default").runs()] == ["mine"]


def test_a_backup_replaces_nothing_and_leaves_nothing_half_done(place: Place, tmp_path: Path) -> None:
    address, objects = place("sqlite"), objects_at(tmp_path / "objects")
    with pytest.raises(NotFoundError, match="no store"):
        write_backup(address, objects, tmp_path / "backup.zip")
    fill(address, objects, tmp_path)
    (tmp_path / "mine.zip").write_text("mine")
    with pytest.raises(UsageError, match="already"):
        write_backup(address, objects, tmp_path / "mine.zip")
    assert (tmp_path / "mine.zip").read_text() == "mine"
    with pytest.raises(StoreError, match="cannot be written"):
        write_backup(address, objects, tmp_path / "nowhere" / "backup.zip")
    for file in (tmp_path / "objects").rglob("*.jsonl"):
        file.unlink()
    with pytest.raises(NotFoundError, match="no object"):
        write_backup(address, objects, tmp_path / "backup.zip")
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
        restore_backup(tmp_path / "damaged.zip", str(address), objects_at(tmp_path / "others"))
    except EvalsiError:
        assert not address.exists()
    else:
        with closing(open_stores(str(address), objects_at(tmp_path / "others"))) as stores:
            assert stores.of("default").run("done-default").rows == 6
