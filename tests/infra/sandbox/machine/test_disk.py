"""Disks of machines hold the tree they were made of, are made once, and are whole."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from evalsi.core.errors import SandboxError
from evalsi.infra.sandbox.machine.disk import Disk, disk_of_image

_PATH = "/usr/sbin:/sbin:/usr/bin:/bin"
pytestmark = pytest.mark.skipif(
    not all(shutil.which(name, path=_PATH) for name in ("mkfs.ext4", "debugfs", "e2fsck")),
    reason="e2fsprogs is not installed",
)


def ask(disk: Path, question: str) -> str:
    """What debugfs says about the file system on a disk."""
    debugfs = shutil.which("debugfs", path=_PATH)
    assert debugfs is not None
    ended = subprocess.run([debugfs, "-R", question, str(disk)], capture_output=True, text=True, check=True)
    return ended.stdout


def tree_in(folder: Path) -> Path:
    tree = folder / "0123abcd"
    (tree / "etc").mkdir(parents=True)
    (tree / "etc/motd").write_text("of the image\n", encoding="utf-8")
    (tree / "etc/many").mkdir()
    for number in range(300):
        (tree / "etc/many" / f"{number}").write_bytes(bytes(number * 50))
    (tree / "link").symlink_to("/etc/motd")
    (tree / "program").write_bytes(b"#!/bin/sh\n")
    (tree / "program").chmod(0o751)
    return tree


def test_a_disk_holds_the_tree_as_it_is(tmp_path: Path) -> None:
    disk = disk_of_image(tree_in(tmp_path), tmp_path / "machines").file
    assert ask(disk, "cat /etc/motd") == "of the image\n"
    assert 'Fast link dest: "/etc/motd"' in ask(disk, "stat /link")
    assert "Mode:  0751" in ask(disk, "stat /program")
    assert f"User: {os.getuid():>5}" in ask(disk, "stat /")
    assert "Size: 14950" in ask(disk, "stat /etc/many/299")
    checker = shutil.which("e2fsck", path=_PATH)
    assert checker is not None
    checked = subprocess.run([checker, "-fn", str(disk)], capture_output=True, check=False)
    assert checked.returncode == 0, checked.stdout


def test_a_disk_is_made_once_and_nothing_is_left_beside_it(tmp_path: Path) -> None:
    tree, folder = tree_in(tmp_path), tmp_path / "machines"
    (folder / "new-of-a-maker-that-died").mkdir(parents=True)
    disk = disk_of_image(tree, folder)
    made = disk.file.stat().st_ino
    again = disk_of_image(tree, folder)
    assert (again.file, again.file.stat().st_ino) == (disk.file, made)
    assert sorted(path.name for path in folder.iterdir()) == sorted([disk.file.name, "lock"])


def test_a_disk_that_nobody_asked_for_in_a_week_goes_when_another_is_made_unless_it_is_in_use(tmp_path: Path) -> None:
    folder = tmp_path / "machines"

    def made(name: str) -> Disk:
        (tmp_path / name).mkdir()
        return disk_of_image(tmp_path / name, folder)

    unused, used = made("unused"), made("used")
    unused.hold.release()
    for disk in (unused, used):
        os.utime(disk.file, (0, 0))
    made("another")
    assert (unused.file.exists(), used.file.exists()) == (False, True)


def test_a_tree_that_is_not_there_gives_no_disk(tmp_path: Path) -> None:
    with pytest.raises((SandboxError, OSError)):
        disk_of_image(tmp_path / "absent", tmp_path / "machines")
    assert [path.name for path in (tmp_path / "machines").iterdir()] == ["lock"]
