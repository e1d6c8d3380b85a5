"""What a first pass found is believed for the very same files, and for no others."""

import gzip
import json
import os
from pathlib import Path

import pytest

from evalsi.core.errors import DuplicateIdError, InvalidDataError
from evalsi.datasets import DatasetOptions, kept_scan, open_dataset
from evalsi.datasets.scan import Scan
from evalsi.infra.scan_files import MOST_FILES, ScanFiles

ROWS = 400
OPTIONS = DatasetOptions(where='metadata.topic != "odd"', sample=50, seed=3, on_invalid="skip")


@pytest.fixture
def rested(monkeypatch: pytest.MonkeyPatch) -> None:
    """Files need not have lain still before they are read, and small ones are remembered too."""
    monkeypatch.setattr(kept_scan, "_RESTED_NS", -1_000_000_000)
    monkeypatch.setattr(kept_scan, "LEAST_BYTES", 1)


def written(path: Path, word: str = "yes") -> Path:
    rows = [{"id": f"r{n}", "input": "q", "output": word, "metadata": {"topic": "odd" if n % 3 else "even"}} for n in range(ROWS)]  # fmt: skip
    path.write_text("\n".join([*map(json.dumps, rows), "not JSON"]))
    return path


def never(_scan: Scan) -> None:
    raise AssertionError("it was read again")


@pytest.mark.usefixtures("rested")
def test_a_second_run_over_the_same_file_finds_the_same_without_a_first_pass(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, memory = written(tmp_path / "data.jsonl"), ScanFiles(tmp_path / "scans")
    fresh = open_dataset(path, options=OPTIONS)
    first = open_dataset(path, options=OPTIONS, memory=memory)
    assert first.scan() == fresh.scan()
    monkeypatch.setattr(Scan, "run", never)
    second = open_dataset(path, options=OPTIONS, memory=memory)
    assert second.scan() == fresh.scan()
    assert second.skipped == fresh.skipped
    assert len(second.skipped) == 1
    assert list(second.records()) == list(fresh.records())


@pytest.mark.usefixtures("rested")
@pytest.mark.parametrize("change", ["content", "options", "place"])
def test_another_file_or_other_options_are_read(tmp_path: Path, change: str) -> None:
    path, memory = written(tmp_path / "data.jsonl"), ScanFiles(tmp_path / "scans")
    first = open_dataset(path, options=OPTIONS, memory=memory).scan()
    options = OPTIONS
    if change == "content":
        written(path, "yea")  # as long as before
    elif change == "options":
        options = DatasetOptions(on_invalid="skip")
    else:
        path = written(tmp_path / "other.jsonl", "yea")
    found = open_dataset(path, options=options, memory=memory)
    assert found.scan() == open_dataset(path, options=options).scan()
    assert found.scan() != first


@pytest.mark.parametrize("least", [1, 1 << 30])
def test_small_files_and_those_just_written_are_read_each_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, least: int
) -> None:
    monkeypatch.setattr(kept_scan, "LEAST_BYTES", least)
    if least > 1:
        monkeypatch.setattr(kept_scan, "_RESTED_NS", -1_000_000_000)
    open_dataset(written(tmp_path / "data.jsonl"), options=OPTIONS, memory=ScanFiles(tmp_path / "scans")).scan()
    assert not (tmp_path / "scans").exists()


@pytest.mark.usefixtures("rested")
def test_a_pass_that_fails_is_not_remembered(tmp_path: Path) -> None:
    path = tmp_path / "data.jsonl"
    path.write_text('{"id": "a", "input": "x"}\n{"id": "a", "input": "y"}\n')
    for _ in range(2):
        with pytest.raises(DuplicateIdError):
            open_dataset(path, memory=ScanFiles(tmp_path / "scans")).scan()


@pytest.mark.usefixtures("rested")
def test_a_damaged_memory_is_found_again_and_an_unwritable_one_does_without(tmp_path: Path) -> None:
    path, memory = written(tmp_path / "data.jsonl"), ScanFiles(tmp_path / "scans")
    expected = open_dataset(path, options=OPTIONS, memory=memory).scan()
    (kept,) = (tmp_path / "scans").iterdir()
    whole = kept.read_bytes()
    digest = expected.digest.removeprefix("sha256:").encode()
    other = digest.replace(digest[:1], b"0" if digest[:1] != b"0" else b"1", 1)
    for damaged in (whole[:-3], whole[:9], b"", whole.replace(digest, other), whole[:-1] + bytes([whole[-1] ^ 1])):
        assert damaged != whole
        kept.write_bytes(damaged)
        assert open_dataset(path, options=OPTIONS, memory=memory).scan() == expected
        assert kept.read_bytes() == whole
    assert open_dataset(path, options=OPTIONS, memory=ScanFiles(path / "no-folder")).scan() == expected


@pytest.mark.usefixtures("rested")
def test_what_was_kept_for_another_file_is_not_believed_under_this_ones_name(tmp_path: Path) -> None:
    memory = ScanFiles(tmp_path / "scans")
    open_dataset(written(tmp_path / "a.jsonl"), options=OPTIONS, memory=memory).scan()
    (kept_of_a,) = (tmp_path / "scans").iterdir()
    of_a = kept_of_a.read_bytes()
    path = written(tmp_path / "b.jsonl", "yea")
    expected = open_dataset(path, options=OPTIONS, memory=memory).scan()
    (kept_of_b,) = set((tmp_path / "scans").iterdir()) - {kept_of_a}
    kept_of_b.write_bytes(of_a)
    assert open_dataset(path, options=OPTIONS, memory=memory).scan() == expected


@pytest.mark.usefixtures("rested")
@pytest.mark.parametrize("how", ["renamed over", "symlink switched", "written and dated back", "another of a folder"])
def test_a_file_that_was_exchanged_for_one_that_looks_alike_is_read(tmp_path: Path, how: str) -> None:
    folder = tmp_path / "data"
    folder.mkdir()
    path, source = written(folder / "a.jsonl"), folder / "a.jsonl"
    before = path.stat()
    if how == "symlink switched":
        source = tmp_path / "link.jsonl"
        source.symlink_to(path)
    elif how == "another of a folder":
        written(folder / "b.jsonl", "yep")
        source = folder
    memory, options = ScanFiles(tmp_path / "scans"), DatasetOptions(on_invalid="skip", limit=300)
    first = open_dataset(source, options=options, memory=memory).scan()
    other = written(tmp_path / "other.jsonl", "yea")
    os.utime(other, ns=(before.st_atime_ns, before.st_mtime_ns))
    if how == "symlink switched":
        source.unlink()
        source.symlink_to(other)
    elif how == "written and dated back":
        path.write_bytes(other.read_bytes())
        os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    elif how == "another of a folder":
        other.replace(folder / "b.jsonl")
    else:
        other.replace(path)
    found = open_dataset(source, options=options, memory=memory).scan()
    assert found == open_dataset(source, options=options).scan()
    assert found.digest != first.digest


def test_only_the_newest_findings_are_kept(tmp_path: Path) -> None:
    memory = ScanFiles(tmp_path / "scans")
    for n in range(MOST_FILES + 5):
        memory.put(f"sha256:{n:064x}", b"x")
    assert len(list((tmp_path / "scans").iterdir())) == MOST_FILES
    assert memory.get(f"sha256:{MOST_FILES + 4:064x}") == b"x"


@pytest.mark.parametrize("dated_back", [False, True])
@pytest.mark.parametrize("form", ["jsonl", "csv"])
def test_no_record_of_a_file_that_is_written_while_it_is_read_counts_as_one_of_those_checked(
    tmp_path: Path, form: str, dated_back: bool
) -> None:
    """Written in place, every row as long as before: nothing but the stamps of the file tells."""
    path = tmp_path / f"a.{form}"

    def content(word: str) -> str:
        if form == "csv":
            return "id,output\n" + "".join(f"{n:06},{word}\n" for n in range(20_000))
        return "".join(json.dumps({"id": f"{n:06}", "output": word}) + "\n" for n in range(20_000))

    path.write_text(content("yes"))
    before = path.stat()
    dataset = open_dataset(path)
    dataset.scan()
    said: set[str | None] = set()
    with pytest.raises(InvalidDataError, match="has changed since it was checked"):
        for number, record in enumerate(dataset.records()):
            assert record.output is not None
            said.add(record.output.text)
            if number == 10:
                with path.open("r+") as file:
                    file.write(content("yea"))
                if dated_back:
                    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert said == {"yes"}


@pytest.mark.parametrize("name", ["a.jsonl", "a.jsonl.gz"])
def test_a_file_whose_mode_or_name_changes_is_still_the_one_that_was_checked(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    content = "".join(json.dumps({"id": f"{n:06}", "output": "yes"}) + "\n" for n in range(20_000)).encode()
    path.write_bytes(gzip.compress(content) if name.endswith(".gz") else content)
    dataset = open_dataset(path)
    dataset.scan()
    read = 0
    for number, _ in enumerate(dataset.records()):
        if number in (10, 9_000):
            path.chmod(0o600 if number == 10 else 0o644)
            (tmp_path / f"link-{number}").hardlink_to(path)
        read += 1
    assert read == 20_000
