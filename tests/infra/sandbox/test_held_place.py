"""What one process holds no other removes, and what nobody holds goes as a whole."""

import os
import subprocess
import sys
import time
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import pytest

from evalsi.infra.sandbox.held_place import hold_folder, hold_place, remove_remains, remove_unless_held
from tests.thoroughness import repeats

HOLDING = """
import sys
from pathlib import Path
from evalsi.infra.sandbox.held_place import hold_place
hold = hold_place(Path(sys.argv[1]))
print("held", flush=True)
sys.stdin.read()
"""
USING = """
import os, sys, time
from pathlib import Path
from evalsi.infra.sandbox.held_place import hold_folder
place, ends_at, used = Path(sys.argv[1]), time.monotonic() + float(sys.argv[2]), 0
while time.monotonic() < ends_at:
    hold = hold_folder(place)
    made = place / str(os.getpid())
    made.write_text("whole")
    for _ in range(20):
        assert made.read_text() == "whole"
    assert hold.is_good()
    hold.release()
    used += 1
print(used)
"""


@contextmanager
def another_process(script: str, *words: str) -> Generator["subprocess.Popen[str]"]:
    command = [sys.executable, "-c", script, *words]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        try:
            yield process
        finally:
            process.kill()


def test_what_another_process_holds_is_not_removed_until_that_process_is_dead(tmp_path: Path) -> None:
    for name in ("folder", "file"):
        place = tmp_path / name
        if name == "folder":
            (place / "below").mkdir(parents=True)
        else:
            place.write_text("x", encoding="utf-8")
        with another_process(HOLDING, str(place)) as other:
            assert other.stdout is not None
            assert other.stdout.readline() == "held\n"
            assert not remove_unless_held(place)
            assert place.exists()
            other.kill()  # it releases nothing by itself
            other.wait()
            assert remove_unless_held(place)
        assert list(tmp_path.iterdir()) == []
        assert not remove_unless_held(place), "there is nothing any more"


def test_who_removes_while_others_use_never_takes_what_they_have(tmp_path: Path) -> None:
    place = tmp_path / "place"
    seconds = repeats(2, 20)
    with (
        another_process(USING, str(place), str(seconds)) as first,
        another_process(USING, str(place), str(seconds)) as second,
    ):
        removed = 0
        ends_at = time.monotonic() + seconds + 30
        while (first.poll() is None or second.poll() is None) and time.monotonic() < ends_at:
            removed += remove_unless_held(place)
        for each in (first, second):
            said = each.communicate()[0]
            assert each.returncode == 0
            assert int(said) > 0
    assert removed > 0
    remove_unless_held(place)
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_is_removed_while_it_is_found_is_made_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = tmp_path / "place"
    place.mkdir()
    made = os.mkdir

    def mkdir(path: Path, mode: int = 0o777) -> None:
        try:
            made(path, mode)
        except FileExistsError:
            assert remove_unless_held(place)
            raise

    monkeypatch.setattr("os.mkdir", mkdir)
    assert hold_folder(place).is_good()


def test_what_is_no_folder_is_not_held_as_one(tmp_path: Path) -> None:
    place = tmp_path / "place"
    place.write_text("x", encoding="utf-8")
    with pytest.raises(NotADirectoryError):
        hold_folder(place)
    assert remove_unless_held(place)


def test_a_hold_tells_that_somebody_who_asks_nobody_removed_the_place(tmp_path: Path) -> None:
    place = tmp_path / "place"
    hold = hold_folder(place)
    place.rmdir()
    assert not hold.is_good()
    place.mkdir()
    assert not hold.is_good(), "what has the name now is another"
    again = hold_place(place)
    assert again.is_good()
    again.release()
    again.release()
    assert not again.is_good()


def test_what_was_being_removed_when_a_process_died_is_removed_by_the_next(tmp_path: Path) -> None:
    (tmp_path / "place.gone-0123" / "deep").mkdir(parents=True)
    (tmp_path / "place").mkdir()
    remove_remains(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["place"]
