"""One server for all tests of clients and of commands that go to one."""

from collections.abc import Generator

import pytest

from tests.server.running_server import RunningServer, running_server


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Generator[RunningServer]:
    with running_server(tmp_path_factory.mktemp("server")) as running:
        yield running


@pytest.fixture(scope="session")
def url(server: RunningServer) -> str:
    return f"http://{server.address}"
