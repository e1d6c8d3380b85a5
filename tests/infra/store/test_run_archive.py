"""A run as one file: whole, the same each time, readable by other tools, and refused kindly when it is not one."""

import json
import zipfile
from collections.abc import Callable
from contextlib import closing
from math import inf, nan
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from evalsi.core.errors import EvalsiError, InvalidDataError, NotFoundError, StoreError, UsageError
from evalsi.engine.columns import Column, EvaluatorColumns, Note, pack
from evalsi.infra.memory_run_store import MemoryRunStore
from evalsi.infra.store.run_archive import export_run, import_run
from evalsi.infra.store.run_store import open_run_store
from evalsi.ports.run_store import RunRow, Segment
from evalsi.results.sound_segment import check_segment
from evalsi.schema import MetricSummary, RunManifest
from evalsi.testing.run_store_suite import a_manifest, a_run, ended


def graded(index: int, *, rows: int = 2) -> Segment:
    """Records with what an evaluator said of each, as a run stores them."""
    size = max(rows, 1)
    labels = Column("kind", "label", [nan] * size, ["x"] * size)
    number = Column("m", "number", [0.5] * size)
    columns = [
        EvaluatorColumns("m", "m@1", "m", bytearray(size), {"m": number, "kind": labels}, {0: Note(reason="東京")}),
    ]
    lines = "".join(f'{{"id":"1-{row}","output":{{"text":"東京"}}}}\n' for row in range(rows)).encode()
    return Segment(index=index, first_row=index, rows=rows, records=lines, results=pack(columns))


def a_store(*, finished: bool = True) -> MemoryRunStore:
    store = MemoryRunStore()
    store.create(a_run("r1", labels={"a": "ü"}), a_manifest())
    for index in (-1, 0, 4096):
        store.append("r1", graded(index, rows=0 if index < 0 else 2))
    if finished:
        run = ended(store.find("r1"), headline="m 0.1")
        store.finish(run, a_manifest("x"), [MetricSummary(metric="m", mean=0.1)])
    return store


def test_a_run_goes_from_store_to_store_unchanged(tmp_path: Path) -> None:
    source = a_store()
    export_run(source, "r1", tmp_path / "run.zip")
    with closing(open_run_store(tmp_path / "evalsi.db")) as target:
        assert import_run(target, tmp_path / "run.zip", check_segment) == source.find("r1")
        assert target.manifest("r1") == source.manifest("r1")
        assert target.summaries("r1") == source.summaries("r1")
        assert list(target.segments("r1")) == list(source.segments("r1"))
        export_run(target, "latest", tmp_path / "again.zip")
    assert (tmp_path / "again.zip").read_bytes() == (tmp_path / "run.zip").read_bytes()


def test_any_tool_can_open_it(tmp_path: Path) -> None:
    export_run(a_store(), "r1", tmp_path / "run.zip")
    with zipfile.ZipFile(tmp_path / "run.zip") as archive:
        assert json.loads(archive.read("run.json"))["run"]["labels"] == {"a": "ü"}
        lines = archive.read("segments/0/records.jsonl").decode().splitlines()
        assert [json.loads(line)["id"] for line in lines] == ["1-0", "1-1"]


def test_an_unfinished_run_arrives_interrupted_and_can_be_continued(tmp_path: Path) -> None:
    export_run(a_store(finished=False), "r1", tmp_path / "run.zip")
    target = MemoryRunStore()
    assert import_run(target, tmp_path / "run.zip", check_segment).status == "interrupted"
    target.take_over("r1")


def test_a_run_is_imported_once(tmp_path: Path) -> None:
    store = a_store()
    export_run(store, "r1", tmp_path / "run.zip")
    with pytest.raises(UsageError, match="has run r1 already"):
        import_run(store, tmp_path / "run.zip", check_segment)
    assert store.find("r1").status == "succeeded"


def test_a_file_that_cannot_be_written_leaves_nothing_behind(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="cannot be written"):
        export_run(a_store(), "r1", tmp_path / "nowhere" / "run.zip")
    with pytest.raises(NotFoundError):
        export_run(a_store(), "other", tmp_path / "run.zip")
    assert list(tmp_path.iterdir()) == []


def repacked(source: Path, target: Path, change: Callable[[str, bytes], bytes | None]) -> Path:
    with zipfile.ZipFile(source) as before, zipfile.ZipFile(target, "w") as after:
        for name in before.namelist():
            if (body := change(name, before.read(name))) is not None:
                after.writestr(name, body)
    return target


@pytest.mark.parametrize(
    ("name", "body", "complaint"),
    [
        ("run.json", None, "run.json is missing"),
        ("run.json", b"{", "run.json"),
        ("run.json", b"{}", "names no format"),
        ("run.json", b'{"evalsi_run": 2, "new": true}', "later version"),
        ("run.json", b'{"evalsi_run": 1}', "missing required field"),
        ("manifest.json", b'{"of_tomorrow": 1}', "of_tomorrow"),
        ("summaries.json", b'[{"mean": "high"}]', "mean"),
        ("segments/4096/results.bin", None, "results.bin is missing"),
    ],
)
def test_what_is_no_exported_run_is_refused_and_leaves_nothing_behind(
    tmp_path: Path, name: str, body: bytes | None, complaint: str
) -> None:
    export_run(a_store(), "r1", tmp_path / "run.zip")
    wrong = repacked(tmp_path / "run.zip", tmp_path / "wrong.zip", lambda entry, old: body if entry == name else old)
    target = MemoryRunStore()
    with pytest.raises(InvalidDataError, match=complaint):
        import_run(target, wrong, check_segment)
    assert target.runs() == []


def test_an_entry_packed_as_no_exported_run_is_is_damage(tmp_path: Path) -> None:
    export_run(a_store(), "r1", tmp_path / "run.zip")
    wrong = tmp_path / "wrong.zip"
    with zipfile.ZipFile(tmp_path / "run.zip") as before, zipfile.ZipFile(wrong, "w") as after:
        for name in before.namelist():
            after.writestr(name, before.read(name), zipfile.ZIP_LZMA)
    with zipfile.ZipFile(wrong) as archive:
        entry = archive.getinfo("run.json")
    content = bytearray(wrong.read_bytes())
    content[entry.header_offset + 60] ^= 0x5A
    wrong.write_bytes(content)
    with pytest.raises(InvalidDataError, match="packed by method 14"):
        import_run(MemoryRunStore(), wrong, check_segment)


def packed_with(**changes: Any) -> bytes:
    column = Column("m", changes.pop("kind", "number"), changes.pop("values", [0.5, 0.5]), changes.pop("objects", None))
    outcomes = bytearray(changes.pop("outcomes", b"\0\0"))
    notes = {row: Note(reason="x") for row in changes.pop("notes", ())}
    return pack([EvaluatorColumns("m", "m@1", "m", outcomes, {"m": column}, notes)])


@pytest.mark.parametrize(
    "wrong",
    [
        {"results": b"\x2a"},
        {"results": b""},
        {"results": packed_with()[:-1]},
        {"results": packed_with(outcomes=b"\0")},
        {"results": packed_with(outcomes=b"\0\x41")},
        {"results": packed_with(values=[0.5])},
        {"results": packed_with(values=[0.5, inf])},
        {"results": packed_with(objects=["x"], kind="label")},
        {"results": packed_with(kind="bogus")},
        {"results": packed_with(notes=[2])},
        {"records": b'{"id":"1"}\n'},
        {"records": b'{"id":"1"}\nno JSON\n'},
        {"rows": 9},
        {"rows": -2},
        {"rows": 10**30},
        {"first_row": -5},
    ],
)
def test_a_run_that_holds_other_than_it_announces_is_refused_and_leaves_nothing_behind(
    tmp_path: Path, wrong: dict[str, Any]
) -> None:
    store = a_store(finished=False)
    store.append("r1", msgspec.structs.replace(graded(0), **wrong))
    export_run(store, "r1", tmp_path / "run.zip")
    target = MemoryRunStore()
    with pytest.raises(InvalidDataError, match="not an exported run"):
        import_run(target, tmp_path / "run.zip", check_segment)
    assert target.runs() == []


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (b'"id":"r1"', b'"id":"../../r1"'),
        (b'"id":"r1"', b'"id":"\\u001b[2J"'),
        (b'"id":"r1"', b'"id":""'),
        (b'"finished_at":"2', b'"finished_at":"x2'),
        (b"[4096,", b"[0,"),
    ],
)
def test_a_run_with_an_id_or_a_time_or_a_number_that_is_none_is_refused(
    tmp_path: Path, before: bytes, after: bytes
) -> None:
    export_run(a_store(), "r1", tmp_path / "run.zip")
    wrong = repacked(tmp_path / "run.zip", tmp_path / "wrong.zip", lambda _, old: old.replace(before, after))
    target = MemoryRunStore()
    with pytest.raises(InvalidDataError, match="not an exported run"):
        import_run(target, wrong, check_segment)
    assert target.runs() == []


def test_a_file_that_is_missing_or_no_zip_is_named(tmp_path: Path) -> None:
    (tmp_path / "text.zip").write_text("hello")
    with pytest.raises(InvalidDataError, match=r"text\.zip"):
        import_run(MemoryRunStore(), tmp_path / "text.zip", check_segment)
    with pytest.raises(InvalidDataError, match="not an exported run"):
        import_run(MemoryRunStore(), tmp_path, check_segment)
    with pytest.raises(NotFoundError, match=r"no\.zip"):
        import_run(MemoryRunStore(), tmp_path / "no.zip", check_segment)


@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
def test_a_damaged_file_gives_an_error_or_the_run_and_never_half_of_it(tmp_path: Path, data: st.DataObject) -> None:
    whole = tmp_path / "run.zip"
    if not whole.exists():
        export_run(a_store(), "r1", whole)
    content = bytearray(whole.read_bytes())
    for _ in range(data.draw(st.integers(1, 3))):
        content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    if data.draw(st.booleans()):
        del content[data.draw(st.integers(0, len(content))) :]
    (tmp_path / "damaged.zip").write_bytes(content)
    target = MemoryRunStore()
    try:
        import_run(target, tmp_path / "damaged.zip", check_segment)
    except EvalsiError:
        assert target.runs() == []
    else:
        assert list(target.segments("r1")) == list(a_store().segments("r1"))


def test_an_import_into_a_store_that_fails_leaves_no_half_run(tmp_path: Path) -> None:
    export_run(a_store(), "r1", tmp_path / "run.zip")

    class Failing(MemoryRunStore):
        def finish(self, run: RunRow, manifest: RunManifest, summaries: list[MetricSummary]) -> None:
            raise StoreError("the disk is full")

    target = Failing()
    with pytest.raises(StoreError, match="disk is full"):
        import_run(target, tmp_path / "run.zip", check_segment)
    assert target.runs() == []
