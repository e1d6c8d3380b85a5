"""A server whose objects are in a bucket: datasets go in and out, runs read them, and a backup holds them."""

import json
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.command_line import evalsi
from tests.s3_server import S3Server, s3_server
from tests.server.running_server import running_server, wait_until

pytestmark = [pytest.mark.slow, pytest.mark.skipif(sys.platform != "linux", reason="servers run on Linux")]

ROWS = 3000
KEYS = {"BUCKET_KEY": "AKIAHUNTER2", "BUCKET_SECRET": "hunter2"}


@pytest.fixture(scope="module")
def s3() -> Iterator[S3Server]:
    with s3_server() as server:
        yield server


def test_datasets_in_a_bucket_are_fetched_run_over_and_backed_up(s3: S3Server, tmp_path: Path) -> None:
    (tmp_path / "evalsi.yaml").write_text(
        f"data_dir: data\nstorage:\n  s3: {{endpoint: '{s3.endpoint}', bucket: {s3.bucket}, region: us-east-1, "
        "access_key_env: BUCKET_KEY, secret_key_env: BUCKET_SECRET, insecure: true, path_style: true}\n"
    )
    (tmp_path / "elsewhere.yaml").write_text("data_dir: elsewhere\n")
    rows = [{"id": f"r{n}", "input": "?", "output": str(n % 7), "reference": str(n % 5)} for n in range(ROWS)]
    body = "".join(json.dumps(row) + "\n" for row in rows)
    spec = {"dataset": {"catalog": {"name": "cases"}}, "evaluators": [{"ref": "exact-match"}]}
    fetch = "/v1/dataset-versions/cases/1:fetch"
    with running_server(tmp_path, ("--config", "evalsi.yaml"), KEYS) as server:
        status, _, answer = server.request("POST", "/v1/datasets/cases/upload", body)
        assert status == 201, answer
        status, _, fetched = server.request("GET", fetch)
        assert status == 200
        status, answer = server.post("/v1/runs", {"name": "over-s3", "spec": spec})
        assert status == 200
        address = f"/v1/runs/{answer['run']['id']}"
        assert wait_until(lambda: server.get(address)[1]["run"]["status"] == "RUN_STATUS_SUCCEEDED", 60)
        run = server.get(address)[1]["run"]
        assert run["progress"]["done"] == ROWS
        # While it serves.
        made = evalsi("admin", "backup", "--config", "evalsi.yaml", "backup.zip", cwd=tmp_path, env=KEYS)
        assert made.status == 0, made.err
        assert "its objects (1)" in made.err
        assert not any("hunter2" in str(line).casefold() for line in server.lines)
    assert not (tmp_path / "data" / "objects").exists()
    restored = evalsi("admin", "restore", "--config", "elsewhere.yaml", "backup.zip", cwd=tmp_path)
    assert restored.status == 0, restored.err
    with running_server(tmp_path, ("--config", "elsewhere.yaml")) as server:
        assert server.request("GET", fetch)[2] == fetched
        assert server.get(address)[1]["run"] == run
