"""A PostgreSQL of our own for tests: made in a folder, reached over a socket, ended with the tests.

The programs are those of Debian's `postgresql`, or those on PATH. They refuse to run as root, so that root runs them as
another user.
"""

import os
import pwd
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

_SETTINGS = (
    "listen_addresses=''",
    "fsync=off",
    "max_connections=60",
    "shared_buffers=32MB",
    "log_min_messages=fatal",
)
"""Nothing here outlives the tests, so nothing need reach the disk."""


def programs() -> Path | None:
    """The folder of initdb and postgres; None where there is no PostgreSQL."""
    found = shutil.which("initdb")
    if found is not None:
        return Path(found).resolve().parent
    folders = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"), reverse=True)
    return folders[0].parent if folders else None


@dataclass(frozen=True)
class PostgresServer:
    """A server, and how it is stopped and started again."""

    bin: Path
    folder: Path
    user: str | None
    """Who runs it; None for who runs the tests."""

    def address(self, database: str) -> str:
        return f"postgresql://evalsi@/{database}?host={self.folder}"

    def new_database(self, name: str) -> str:
        """Makes an empty database; its address."""
        import psycopg

        with psycopg.connect(self.address("postgres"), autocommit=True) as connection:
            connection.execute(f'CREATE DATABASE "{name}"'.encode())
        return self.address(name)

    def start(self) -> None:
        options = " ".join(f"-c {setting}" for setting in (*_SETTINGS, f"unix_socket_directories='{self.folder}'"))
        self._run(
            "pg_ctl", "-D", str(self.folder / "data"), "-w", "-l", str(self.folder / "log"), "-o", options, "start"
        )

    def stop(self, mode: str = "fast") -> None:
        self._run("pg_ctl", "-D", str(self.folder / "data"), "-m", mode, "-w", "stop")

    def make(self) -> None:
        if self.user is not None:
            owner = pwd.getpwnam(self.user)
            os.chown(self.folder, owner.pw_uid, owner.pw_gid)
        self._run("initdb", "-D", str(self.folder / "data"), "-U", "evalsi", "-A", "trust", "-E", "UTF8", "--no-sync")

    def _run(self, program: str, *arguments: str) -> None:
        subprocess.run(
            [str(self.bin / program), *arguments],
            check=True,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            user=self.user,
            cwd="/",
        )


@contextmanager
def postgres_server() -> Iterator[PostgresServer]:
    """A running server. Skips where there is no PostgreSQL, or where root finds nobody to run it as."""
    folder = programs()
    if folder is None:
        pytest.skip("there is no PostgreSQL here; Debian has it as 'postgresql'")
    user: str | None = None
    if os.geteuid() == 0:
        names = {entry.pw_name for entry in pwd.getpwall()}
        user = next((name for name in ("postgres", "nobody") if name in names), None)
        if user is None:
            pytest.skip("PostgreSQL refuses to run as root, and there is no other user")
    # Not below pytest's folder: it is closed to others, and its name is too long for a socket.
    with tempfile.TemporaryDirectory(prefix="evalsi-pg-") as home:
        server = PostgresServer(folder, Path(home), user)
        server.make()
        server.start()
        try:
            yield server
        finally:
            server.stop("immediate")
