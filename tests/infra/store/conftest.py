"""One PostgreSQL for all tests of stores."""

from collections.abc import Iterator

import pytest

from tests.postgres_server import PostgresServer, postgres_server


@pytest.fixture(scope="session")
def postgres() -> Iterator[PostgresServer]:
    with postgres_server() as server:
        yield server
