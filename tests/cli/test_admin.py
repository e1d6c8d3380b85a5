"""`evalsi admin`: it finds everything by the settings of a server, says what it did, and refuses in one sentence."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from tests.command_line import evalsi_here, write_jsonl

EVALUATED = ("eval", "--data", "data.jsonl", "--evaluators", "exact-match", "--quiet")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("EVALSI_DIR", raising=False)
    write_jsonl(tmp_path / "data.jsonl")
    return tmp_path


def test_a_backup_is_restored_where_the_settings_point(capsys: pytest.CaptureFixture[str], folder: Path) -> None:
    (folder / "here.yaml").write_text("data_dir: .evalsi\n")
    (folder / "there").mkdir()
    (folder / "there" / "evalsi.yaml").write_text("data_dir: kept\n")
    assert evalsi_here(capsys, *EVALUATED).status == 0
    made = evalsi_here(capsys, "admin", "backup", "--config", "here.yaml", "backup.zip")
    assert (made.status, made.out) == (0, "")
    assert made.err.startswith("backup.zip: the database and its objects (0), ")
    assert evalsi_here(capsys, "admin", "restore", "--config", "there/evalsi.yaml", "backup.zip").status == 0
    with closing(sqlite3.connect(folder / "there" / "kept" / "evalsi.db")) as connection:
        assert connection.execute("SELECT rows FROM runs").fetchall() == [(4,)]


def test_what_cannot_be_done_is_one_sentence(capsys: pytest.CaptureFixture[str], folder: Path) -> None:
    nothing = evalsi_here(capsys, "admin", "backup", "backup.zip")
    assert nothing.status == 1
    assert "no store at" in nothing.err
    assert not (folder / ".evalsi" / "evalsi.db").exists()
    wrong = evalsi_here(capsys, "admin", "restore", "data.jsonl")
    assert wrong.status == 2
    assert "data.jsonl: not a backup" in wrong.err
    assert evalsi_here(capsys, *EVALUATED).status == 0
    assert evalsi_here(capsys, "admin", "backup", "backup.zip").status == 0
    again = evalsi_here(capsys, "admin", "restore", "backup.zip")
    assert again.status == 2
    assert "already" in again.err
