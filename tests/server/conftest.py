"""One server for all tests that only ask it things, and one environment with the published release."""

from collections.abc import Generator
from pathlib import Path

import pytest

from tests.own_environment import own_environment
from tests.server.running_server import RunningServer, running_server

VERSION = "evalsi[server]==0.3.1"


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Generator[RunningServer]:
    folder: Path = tmp_path_factory.mktemp("server")
    with running_server(folder) as running:
        yield running


@pytest.fixture(scope="session")
def published(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The interpreter of the environment."""
    return own_environment(tmp_path_factory.mktemp("published") / "environment", [VERSION])
