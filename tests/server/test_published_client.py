"""The published client of the interface, in an environment of its own, against this server."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.server.running_server import RunningServer

VERSION = "evalsi==0.3.1"


@pytest.fixture(scope="module")
def published(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("published")
    made = subprocess.run([sys.executable, "-m", "venv", str(folder)], capture_output=True, check=False, timeout=120)
    python = folder / "bin" / "python"
    install = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", VERSION]
    done = subprocess.run(install, capture_output=True, text=True, check=False, timeout=240)
    if made.returncode or done.returncode:
        pytest.skip(f"{VERSION} cannot be installed here: {done.stderr.strip()[-200:]}")
    return python


@pytest.mark.slow
def test_the_published_client_scores_on_this_server(server: RunningServer, published: Path) -> None:
    script = """
import sys
from evalsi.client import Client, ServerError
client = Client(sys.argv[1])
records = [
    {"id": str(n), "output": {"text": "Paris" if n % 2 else "Lyon"}, "reference": {"text": "Paris"}} for n in range(10)
]
result = client.evaluate(records, ["exact-match", {"ref": "contains", "params": {"substring": "Par"}}])
print([(summary.metric, summary.n, summary.mean, summary.ci.low) for summary in result.summaries])
print(len(result.results))
try:
    client.evaluate(records, ["exact-mach"])
except ServerError as error:
    print(error.code)
print(len(client.call("CatalogService", "ListEvaluators", {})["evaluators"]) > 50)
"""
    command = [str(published), "-c", script, f"http://{server.address}"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stderr
    summaries, count, code, listed = done.stdout.splitlines()
    assert "('exact-match', 10, 0.5, 0.23" in summaries
    assert (count, code, listed) == ("20", "invalid_argument", "True")
