"""One server with a team's runs for all tests of the pages that only look."""

import json
from collections.abc import Generator
from pathlib import Path

import pytest

from tests.server.pages.page_server import PageServer
from tests.server.pages.stored_runs import fill, opened
from tests.server.running_server import running_server


@pytest.fixture(scope="session")
def pages(tmp_path_factory: pytest.TempPathFactory) -> Generator[PageServer]:
    folder: Path = tmp_path_factory.mktemp("pages")
    with opened(folder / "store") as stores:
        ids = fill(stores)
    with running_server(folder) as server:
        for version, extra in ((1, []), (2, [{"id": "q3", "input": "<b>third</b>"}])):
            rows = [
                {"id": "q1", "input": f"first {version}", "reference": "one"},
                {"id": "q2", "input": "שאלה"},
                *extra,
            ]
            body = "".join(json.dumps(row) + "\n" for row in rows)
            status, _, answer = server.request(
                "POST", "/v1/datasets/questions/upload?description=Asked+by+people", body
            )
            assert status == 200, answer
        yield PageServer(server, ids)
