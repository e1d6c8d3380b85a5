"""Files that appear only when they are whole."""

from pathlib import Path

import pytest

from evalsi.core.errors import UsageError
from evalsi.core.whole_file import check_place, whole_file


def test_a_file_appears_when_the_block_ends_and_nothing_stays_beside_it(tmp_path: Path) -> None:
    path = tmp_path / "new" / "report.html"
    with whole_file(path) as unfinished:
        unfinished.write_text("whole")
        assert not path.exists()
    assert path.read_text() == "whole"
    assert list(path.parent.iterdir()) == [path]


def test_a_block_that_fails_leaves_the_earlier_file_as_it_was(tmp_path: Path) -> None:
    path = tmp_path / "report.html"
    path.write_text("earlier")
    with pytest.raises(ValueError, match="no"), whole_file(path) as unfinished:
        unfinished.write_text("half")
        raise ValueError("no")
    assert path.read_text() == "earlier"
    assert list(tmp_path.iterdir()) == [path]


def test_a_write_that_fails_names_the_file_that_was_asked_for(tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl"
    with pytest.raises(OSError, match=r"r\.jsonl") as failed, whole_file(path):
        raise OSError(28, "No space left on device")
    assert failed.value.filename == str(path)


def test_a_name_as_long_as_the_system_takes_can_be_written(tmp_path: Path) -> None:
    path = tmp_path / ("é" * 120 + ".jsonl")
    with whole_file(path) as unfinished:
        unfinished.write_text("x")
    assert path.is_file()


def test_what_is_read_is_not_a_place_to_write_to(tmp_path: Path) -> None:
    data = tmp_path / "data.jsonl"
    data.write_text("{}")
    link = tmp_path / "link.jsonl"
    link.symlink_to(data)
    with pytest.raises(UsageError, match="it is what is read"):
        check_place(link, ["-", data])
    check_place(tmp_path / "new.jsonl", [data])
