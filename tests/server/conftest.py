"""One server for all tests that only ask it things."""

from collections.abc import Generator
from pathlib import Path

import pytest

from tests.server.running_server import RunningServer, running_server


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Generator[RunningServer]:
    folder: Path = tmp_path_factory.mktemp("server")
    with running_server(folder) as running:
        yield running
