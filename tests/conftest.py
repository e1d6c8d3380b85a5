"""A folder with a small dataset, and the command line called inside it."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import settings

from tests.command_line import Ended, environment, evalsi_here, write_jsonl

# Read when gRPC is first used, by whichever test: with its handlers, processes that later tests fork end before they begin.
os.environ["GRPC_ENABLE_FORK_SUPPORT"] = "0"

# New inputs each time, like the usual profile; how long one takes says more about what else the machine does.
settings.register_profile("quick", deadline=None)


SLOW_FILES = Path(__file__).with_name("slow_files.txt").read_text(encoding="utf-8").splitlines()

MACHINE_DRIVERS = {"firecracker", "qemu"}

LONGEST_NAME = 100
"""Characters of what a test is given that are its name."""


@pytest.hookimpl(tryfirst=True)  # before xdist reads the marks
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    _keep_machines_apart(items)
    _keep_sharing_tests_together(items)
    if hasattr(config, "workerinput"):  # set in the processes of xdist
        _put_long_tests_first(items, config.rootpath)
    if config.getoption("reruns", None):
        _try_only_slow_tests_again(items, config.rootpath)


def pytest_make_parametrize_id(val: object, argname: str) -> str | None:
    """A test that is given megabytes is not called by them: every process that runs tests tells the others all names."""
    if isinstance(val, (str, bytes)) and len(val) > LONGEST_NAME:
        return f"{argname}: {val[:20]!r} and so on to {len(val)}"
    return None


def _keep_machines_apart(items: list[pytest.Item]) -> None:
    """Of the tests of sandboxes those that are given a virtual machine run on a process of their own."""
    for item in items:
        group = item.get_closest_marker("xdist_group")
        given = item.callspec.params.values() if isinstance(item, pytest.Function) and hasattr(item, "callspec") else ()
        if group is not None and group.args == ("sandbox",) and any(str(one) in MACHINE_DRIVERS for one in given):
            item.add_marker(pytest.mark.xdist_group("machines"))


def _put_long_tests_first(items: list[pytest.Item], root: Path) -> None:
    """A test that waits for minutes is not begun when all others are done. Groups come before, whatever their place."""
    ranks = {root / file: rank for rank, file in enumerate(SLOW_FILES)}
    items.sort(key=lambda item: ranks.get(item.path, len(ranks)))


def _keep_sharing_tests_together(items: list[pytest.Item]) -> None:
    """Tests that share something made once, for their file or their folder, run on one process, or each would make it again.

    So do the short tests of a file, too: xdist looks through all that it has given out whenever a test ends.
    """
    scopes = {item: _what_is_shared(item) for item in items if isinstance(item, pytest.Function)}
    sharing_files = {item.path for item, shared in scopes.items() if "module" in shared}
    for item, shared in scopes.items():
        if item.get_closest_marker("xdist_group") is not None:
            continue
        if item.path not in sharing_files and "session" in shared:
            item.add_marker(pytest.mark.xdist_group(shared["session"]))
        elif item.path in sharing_files or item.get_closest_marker("slow") is None:
            item.add_marker(pytest.mark.xdist_group(item.nodeid.partition("::")[0]))


def _what_is_shared(item: pytest.Function) -> dict[str, str]:
    """Scope -> the file or folder whose fixtures of that scope the test asks for; those of plugins are left out."""
    fixtures = item._fixtureinfo.name2fixturedefs  # pytest tells nobody the scope of a fixture  # pyright: ignore[reportPrivateUsage]
    found = sorted((each[-1].baseid, each[-1].scope) for each in fixtures.values() if each)
    return {scope: place for place, scope in found if scope == "module" or (scope == "session" and place)}


def _try_only_slow_tests_again(items: list[pytest.Item], root: Path) -> None:
    """A test that only computes fails at once; one of processes, servers and time gets the second try that was asked for."""
    slow_files = {root / file for file in SLOW_FILES}
    for item in items:
        if item.path not in slow_files and item.get_closest_marker("slow") is None:
            item.add_marker(pytest.mark.flaky(reruns=0))


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name in ("EVALSI_DIR", "EVALSI_JUDGE_PROVIDER", "EVALSI_JUDGE_MODEL", "NO_COLOR", "FORCE_COLOR"):
        if name not in environment():
            monkeypatch.delenv(name, raising=False)
    write_jsonl(tmp_path / "data.jsonl")
    return tmp_path


@pytest.fixture
def cli(folder: Path, capsys: pytest.CaptureFixture[str]) -> Callable[..., Ended]:
    """`cli("eval", …)` runs it in `folder`, in this process."""
    assert folder.is_dir()
    return lambda *arguments: evalsi_here(capsys, *arguments)
