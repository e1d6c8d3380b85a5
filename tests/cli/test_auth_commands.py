"""`evalsi auth`, `login`, `logout`, `whoami`: from the first key of a new server to its audit log."""

import json
import stat
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.command_line import Ended, evalsi
from tests.server.running_server import RunningServer, running_server


@contextmanager
def asking_server(folder: Path) -> Generator[RunningServer]:
    """A server over the store in `folder` that asks everybody for a key."""
    (folder / "evalsi.yaml").write_text("data_dir: .\nauth: {}\n", encoding="utf-8")
    with running_server(folder, ("--config", "evalsi.yaml")) as served:
        yield served


def command(
    served: RunningServer | None, folder: Path, *arguments: str, key: str = "", stdin: str | None = None
) -> Ended:
    env = {"EVALSI_DIR": str(folder), "EVALSI_CREDENTIALS": str(folder / "kept" / "credentials")}
    if served is not None:
        env["EVALSI_SERVER"] = f"http://{served.address}"
    if key:
        env["EVALSI_API_KEY"] = key
    return evalsi(*arguments, cwd=folder, env=env, stdin=stdin)


def first_key(folder: Path) -> str:
    made = command(None, folder, "auth", "keys", "create", "root", "--role", "*=owner", "--local")
    assert made.status == 0, made.err
    return made.out.strip()


@pytest.mark.slow
def test_the_first_key_is_made_without_a_server_and_opens_it(tmp_path: Path) -> None:
    root = first_key(tmp_path)
    again = command(None, tmp_path, "auth", "keys", "create", "root", "--role", "*=owner", "--local")
    assert (again.status, "already" in again.err) == (1, True)
    with asking_server(tmp_path) as served:
        stranger = command(served, tmp_path, "whoami")
        assert (stranger.status, "has no API key" in stranger.err) == (1, True)
        assert "; evalsi takes its key from EVALSI_API_KEY, else from 'evalsi login'" in stranger.err
        me = json.loads(command(served, tmp_path, "whoami", "--format", "json", key=root).out)
        assert me["owner"] is True
        log = json.loads(command(served, tmp_path, "auth", "audit", "--format", "json", key=root).out)
    assert [(event["principal"], event["resource"]) for event in log] == [("local", "root"), ("local", "root")]


@pytest.mark.slow
def test_a_key_is_kept_by_login_for_its_server_and_forgotten_by_logout(tmp_path: Path) -> None:
    root = first_key(tmp_path)
    with asking_server(tmp_path) as served:
        wrong = command(served, tmp_path, "login", stdin="evk_" + "x" * 43 + "\n")
        assert (wrong.status, "not accepted" in wrong.err) == (1, True)
        assert command(served, tmp_path, "login", stdin="hunter2\n").status == 2
        done = command(served, tmp_path, "login", stdin=f"{root}\n")
        assert done.status == 0, done.err
        assert root not in done.out + done.err
        kept = tmp_path / "kept" / "credentials"
        assert stat.S_IMODE(kept.stat().st_mode) == 0o600
        assert "key:root" in command(served, tmp_path, "whoami").err
        assert command(served, tmp_path, "auth", "token").out == f"{root}\n"
        assert command(served, tmp_path, "logout").status == 0
        assert command(served, tmp_path, "whoami").status == 1
        assert "no key is kept" in command(served, tmp_path, "auth", "token").err
        assert "key:root" in command(served, tmp_path, "whoami", "--api-key", root).err
        assert command(served, tmp_path, "auth", "roles", "list", "--token", root).status == 0
        assert "single sign-on" in command(served, tmp_path, "login", "--browser", stdin=f"{root}\n").err
        assert root not in kept.read_text(encoding="utf-8")


@pytest.mark.slow
def test_keys_projects_and_bindings_are_managed_from_the_command_line(tmp_path: Path) -> None:
    root = first_key(tmp_path)
    with asking_server(tmp_path) as served:

        def done(*arguments: str, key: str = root) -> str:
            ended = command(served, tmp_path, "auth", *arguments, key=key)
            assert ended.status == 0, ended.err
            return ended.out

        done("projects", "create", "billing", "--description", "Rechnungen")
        ci = done("keys", "create", "ci", "--role", "billing=viewer,ingest", "--ttl", "30d", "--label", "a=b").strip()
        assert ci.startswith("evk_")
        assert "billing" in done("projects", "list", key=ci)
        assert "default" not in done("projects", "list", key=ci)
        done("bindings", "create", "--project", "billing", "--role", "runner", "--subject", "key:ci")
        assert "key:ci" in done("bindings", "list")
        keys = done("keys", "list")
        assert "billing: viewer, ingest" in keys
        assert ci not in keys
        refused = command(served, tmp_path, "auth", "projects", "create", "mine", key=ci)
        assert (refused.status, "projects.manage" in refused.err) == (1, True)
        assert "refused" in done("audit", "--denied")
        assert "runner" in done("roles", "list")
        assert "runs.create" in done("roles", "permissions", key=ci)
        done("bindings", "delete", "--project", "billing", "--role", "runner", "--subject", "key:ci")
        done("keys", "revoke", "ci")
        assert command(served, tmp_path, "whoami", key=ci).status == 1
        assert command(served, tmp_path, "auth", "audit", "verify", key=root).status == 0


def test_a_broken_audit_log_ends_with_exit_status_3(tmp_path: Path) -> None:
    import sqlite3

    root = first_key(tmp_path)
    with sqlite3.connect(tmp_path / "evalsi.db") as connection:
        connection.execute("UPDATE audit SET body = replace(body, 'root', 'toor')")
    connection.close()
    with asking_server(tmp_path) as served:
        broken = command(served, tmp_path, "auth", "audit", "verify", key=root)
    assert (broken.status, "broken at entry 1" in broken.err) == (3, True)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("whoami",), "no server is named"),
        (("whoami", "--server", "evals.example.com"), "write http:// or https://"),
        (("whoami", "--server", "http://ann:hunter2@x/"), "is no address of a server"),
        (("auth", "keys", "create", "a", "--role", "owner", "--local"), "write it as default=runner"),
        (("auth", "keys", "create", "a", "--role", "default=ownr", "--local"), "did you mean 'owner'"),
        (("auth", "keys", "create", "A", "--role", "default=owner", "--local"), "is no name"),
        (("auth", "keys", "create", "a", "--role", "default=owner", "--ttl", "soon", "--local"), "no length of time"),
    ],
)
def test_a_mistake_is_said_in_a_sentence(tmp_path: Path, arguments: tuple[str, ...], said: str) -> None:
    ended = command(None, tmp_path, *arguments)
    assert ended.status == 2
    assert said in ended.err
    assert "hunter2" not in ended.err


def test_no_server_at_the_address_is_said(tmp_path: Path) -> None:
    ended = command(None, tmp_path, "whoami", "--server", "http://127.0.0.1:9")
    assert ended.status == 1
    assert "no server answers at http://127.0.0.1:9" in ended.err


def test_the_digest_of_a_key_is_what_the_configuration_file_takes(tmp_path: Path) -> None:
    root = first_key(tmp_path)
    ended = command(None, tmp_path, "auth", "hash-key", stdin=f"{root}\n")
    assert ended.out.startswith("sha256:")
    assert root not in ended.out
    assert ended.out.strip().encode() in (tmp_path / "evalsi.db").read_bytes() + (
        (tmp_path / "evalsi.db-wal").read_bytes() if (tmp_path / "evalsi.db-wal").exists() else b""
    )
