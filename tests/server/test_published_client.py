"""The published client and command line of the interface, in an environment of their own, against this server."""

import json
import subprocess
from pathlib import Path

import pytest

from tests.command_line import environment, write_jsonl
from tests.server.running_server import RunningServer

ROWS = [
    {"id": str(n), "input": "?", "output": "Paris" if n % 2 else "Lyon", "reference": "Paris",
     "metadata": {"topic": f"t{n % 3}"}}
    for n in range(10)
]  # fmt: skip
SPEC = """
apiVersion: evals.si/v1alpha1
kind: EvalRun
metadata: {name: published}
spec:
  dataset: {catalog: {name: answers, version: v1, sha256: SHA256}}
  evaluators: [{ref: exact-match}]
  gates: [{metric: exact-match, min: MIN}]
"""

pytestmark = [pytest.mark.slow, pytest.mark.interop]


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


def test_the_published_command_line_handles_runs_and_datasets_of_ours(
    server: RunningServer, published: Path, tmp_path: Path
) -> None:
    def evalsi(*words: str, status: int = 0) -> str:
        command = [str(published.parent / "evalsi"), *words, "--server", f"http://{server.address}"]
        done = subprocess.run(
            command, cwd=tmp_path, env=environment(), capture_output=True, text=True, check=False, timeout=120
        )
        assert done.returncode == status, done.stderr + done.stdout
        return done.stdout

    write_jsonl(tmp_path / "answers.jsonl", [{**row, "output": {"text": row["output"]}, "input": {"text": "?"}, "reference": {"text": "Paris"}} for row in ROWS])  # fmt: skip
    about = ("--project", "default", "--name", "answers", "--owner", "me", "--version", "v1")
    made = json.loads(evalsi("dataset", "publish", *about, "--records", "answers.jsonl"))
    sha256 = made["reference"]["sha256"]
    assert made["dataset"]["records"] == 10
    fetched = evalsi("dataset", "version", "answers", "v1", "--project", "default")
    assert len(json.loads(fetched)["dataset"]["content"]["records"]) == 10

    # An upload is answered with what a spec may write as its path.
    uploaded = evalsi("dataset", "upload", "answers.jsonl", "--project", "default", "--name", "uploaded")
    assert uploaded.strip() == "uploaded@1 (10 records)"
    (tmp_path / "path.yaml").write_text(
        SPEC.replace("catalog: {name: answers, version: v1, sha256: SHA256}", "path: uploaded@1").replace("MIN", "0.4")
    )
    assert json.loads(evalsi("run", "-f", "path.yaml", "--format", "json"))["records"] == 10
    for name, least in (("met", "0.4"), ("missed", "0.9")):
        (tmp_path / f"{name}.yaml").write_text(SPEC.replace("SHA256", sha256).replace("MIN", least))
    run = json.loads(evalsi("run", "-f", "met.yaml", "--format", "json"))
    assert run["status"] == "RUN_STATUS_SUCCEEDED"
    assert run["summaries"][0]["mean"] == 0.5
    evalsi("run", "-f", "missed.yaml", "--quiet", status=3)
    other = evalsi("run", "-f", "met.yaml", "--no-wait").strip()
    assert "0.000" in evalsi("compare", run["id"], run["id"])
    evalsi("report", run["id"], "-o", "report.md")
    assert "exact-match" in (tmp_path / "report.md").read_text()
    assert "t1" in evalsi(
        "analyze", "slice", "exact-match", "--by", "metadata.topic", "--on-server", "--run", run["id"]
    )
    told = evalsi("promote", run["id"], "--dataset", "wrong", "--when", 'score("exact-match") < 0.5')
    assert "promoted 5" in told
    assert "archived" in evalsi("archive-run", run["id"], "--yes")
    assert "deleted" in evalsi("delete-run", run["id"], "--yes")
    assert other != run["id"]
    assert "default" in evalsi("auth", "projects", "list")
    assert "anonymous" in evalsi("whoami")
