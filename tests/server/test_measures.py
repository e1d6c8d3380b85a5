"""What a server says of itself: runs, workers, tokens, money, the judge cache, and its log; and what it costs when idle."""

import json
import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from evalsi.core.log_line import log_line
from evalsi.testing.stand_in_model import Behaviour, StandInModel
from tests.server.running_server import RunningServer, running_server, wait_until

JUDGE = "house"
RECORDS = [{"id": str(n), "input": f"What is {n}?", "output": f"It is {n}", "reference": "x"} for n in range(6)]


@pytest.fixture(scope="module")
def asking(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    folder: Path = tmp_path_factory.mktemp("measured")
    with StandInModel(Behaviour()) as model:
        (folder / "evalsi.yaml").write_text(
            f"""
            data_dir: store
            datasets_dir: sets
            runs: {{adopt_interval: 60s}}
            quotas: {{projects: {{thrifty: {{judge_tokens_per_day: 1}}}}}}
            judges: {{{JUDGE}: {{model: gpt-4o-mini, base_url: "{model.base_url}", api_key_env: JUDGE_KEY}}}}
            targets: {{assistant: {{model: gpt-4o-mini, base_url: "{model.base_url}", api_key_env: JUDGE_KEY}}}}
            """
        )
        (folder / "sets").mkdir()
        (folder / "sets" / "none.jsonl").write_text("{")
        (folder / "sets" / "data.jsonl").write_text("".join(json.dumps(record) + "\n" for record in RECORDS))
        env = {"JUDGE_KEY": "sk-of-nobody", "EVALSI_CACHE_DIR": str(folder / "cache")}
        with running_server(folder, ("--config", "evalsi.yaml"), env) as server:
            yield server


def finished(server: RunningServer, spec: dict[str, Any]) -> str:
    status, answer = server.post("/v1alpha1/runs", {"name": "measured", "spec": spec})
    assert status == 200, answer
    run = answer["run"]["id"]

    def ended() -> bool:
        return server.get(f"/v1alpha1/runs/{run}")[1]["run"]["status"] not in (
            "RUN_STATUS_PENDING",
            "RUN_STATUS_RUNNING",
        )

    assert wait_until(ended, 60)
    return str(server.get(f"/v1alpha1/runs/{run}")[1]["run"]["status"])


def test_runs_and_what_they_used_are_counted_by_project(asking: RunningServer) -> None:
    spec = {
        "dataset": {"path": "data.jsonl"},
        "target": {"name": "assistant"},
        "evaluators": [{"ref": "exact-match"}],
    }
    assert finished(asking, spec) == "RUN_STATUS_SUCCEEDED"
    assert wait_until(lambda: asking.metric('evalsi_runs_finished_total{status="done"}') >= 1)
    of_target = 'evalsi_tokens_total{direction="output",project="default",role="target"}'
    assert asking.metric(of_target) > 0
    assert asking.metric("evalsi_runs_active") == 0
    assert asking.metric("evalsi_runs_executing") == 0
    assert finished(asking, {**spec, "dataset": {"path": "none.jsonl"}}) == "RUN_STATUS_ERROR"
    assert wait_until(lambda: asking.metric('evalsi_runs_finished_total{status="failed"}') == 1)


def test_judges_of_calls_are_counted_and_their_cache_too(asking: RunningServer) -> None:
    records = [
        {"id": record["id"], "input": {"text": record["input"]}, "output": {"text": record["output"]}}
        for record in RECORDS
    ]
    call = {"records": records, "evaluators": [{"ref": "answer-relevance"}], "judge": JUDGE}
    for _ in range(2):
        status, answer = asking.post("/v1/evaluate", call)
        assert status == 200, answer
    labels = 'project="default",result='
    assert asking.metric(f'evalsi_judge_cache_total{{{labels}"miss"}}') >= len(RECORDS)
    assert asking.metric(f'evalsi_judge_cache_total{{{labels}"hit"}}') >= len(RECORDS)
    assert asking.metric('evalsi_tokens_total{direction="input",project="default",role="judge"}') > 0
    assert asking.metric('evalsi_cost_usd_total{project="default",role="judge"}') > 0


def test_judge_tokens_of_calls_count_in_the_quota_of_their_project(asking: RunningServer) -> None:
    record = {"id": "1", "input": {"text": "What is thrift?"}, "output": {"text": "It is thrift"}}
    call = {"records": [record], "evaluators": [{"ref": "answer-relevance"}], "judge": JUDGE, "project": "thrifty"}
    assert asking.post("/v1/evaluate", call)[0] == 200
    status, answer = asking.post("/v1/evaluate", call)
    assert (status, answer["error"]) == (429, "quota")
    assert "has used its 1 judge tokens" in answer["message"]
    # What asks no judge, and other projects, are not concerned.
    assert asking.post("/v1/evaluate", {**call, "judge": "", "evaluators": [{"ref": "exact-match"}]})[0] == 200
    assert asking.post("/v1/evaluate", {**call, "project": "default"})[0] == 200


def test_what_is_said_of_a_run_that_failed_names_no_folder_of_the_server(asking: RunningServer) -> None:
    spec = {"dataset": {"path": "none.jsonl"}, "evaluators": [{"ref": "exact-match"}]}
    assert finished(asking, spec) == "RUN_STATUS_ERROR"
    _, found = asking.get("/v1alpha1/runs?page_size=1")
    (run,) = found["runs"]
    assert run["error"].startswith("none.jsonl:1")
    assert "/" not in run["error"]


@pytest.mark.slow
def test_a_run_begins_at_once_however_long_the_server_was_idle(asking: RunningServer) -> None:
    time.sleep(14)  # by now an idle worker looks every ten seconds
    begun = time.monotonic()
    spec = {"dataset": {"path": "data.jsonl"}, "evaluators": [{"ref": "exact-match"}]}
    _, answer = asking.post("/v1alpha1/runs", {"spec": spec})
    path = f"/v1alpha1/runs/{answer['run']['id']}"
    assert wait_until(lambda: asking.get(path)[1]["run"]["status"] != "RUN_STATUS_PENDING")
    assert time.monotonic() - begun < 8


def test_everything_in_the_log_is_json_also_what_workers_say(asking: RunningServer) -> None:
    assert wait_until(lambda: any(line.get("part") == "wiring.run_work" for line in asking.lines))
    assert [line for line in asking.lines if line["event"] == "no JSON"] == []
    assert "sk-of-nobody" not in json.dumps(asking.lines)


def cpu_s(pids: list[int]) -> float:
    ticks = 0
    for pid in pids:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        ticks += int(fields[11]) + int(fields[12])
    return ticks / os.sysconf("SC_CLK_TCK")


@pytest.mark.slow
def test_an_idle_server_has_few_processes_and_uses_next_to_nothing(tmp_path: Path) -> None:
    (tmp_path / "evalsi.yaml").write_text("data_dir: store\nruns: {max_concurrent: 8}\n")
    with running_server(tmp_path, ("--config", "evalsi.yaml")) as server:
        time.sleep(8)  # until everything has been imported and the pauses have grown
        children = server.children()
        assert len(children) <= 3, "a spare for grading, one for runs, and one for traffic"
        pids = [server.process.pid, *children]
        before = cpu_s(pids)
        time.sleep(10)
        assert cpu_s(pids) - before < 0.5


@pytest.mark.slow
def test_workers_for_runs_come_with_the_work_and_a_killed_one_is_replaced(tmp_path: Path) -> None:
    (tmp_path / "evalsi.yaml").write_text("data_dir: store\nruns: {max_concurrent: 3}\n")
    (tmp_path / "store" / "datasets").mkdir(parents=True)
    lines = (json.dumps({"id": str(n), "input": "?", "output": str(n), "reference": "1"}) for n in range(60_000))
    (tmp_path / "store" / "datasets" / "data.jsonl").write_text("\n".join(lines))
    with running_server(tmp_path, ("--config", "evalsi.yaml")) as server:
        assert wait_until(lambda: server.metric("evalsi_run_workers") == 1)  # they start once it is ready
        spec = {"dataset": {"path": "data.jsonl"}, "evaluators": [{"ref": "exact-match"}, {"ref": "token-f1"}]}
        for _ in range(3):
            assert server.post("/v1alpha1/runs", {"spec": spec})[0] == 200
        assert wait_until(lambda: server.metric("evalsi_run_workers") == 3)
        assert wait_until(lambda: server.metric('evalsi_runs_finished_total{status="done"}') == 3, 120)


def test_a_server_without_pages_has_none(tmp_path: Path) -> None:
    (tmp_path / "evalsi.yaml").write_text("data_dir: store\nui: {disabled: true}\n")
    with running_server(tmp_path, ("--config", "evalsi.yaml")) as server:
        assert server.request("GET", "/ui/")[0] == 404
        assert server.request("GET", "/")[1]["location"] == "/docs"


def test_a_log_for_people_is_a_line_of_words() -> None:
    (line,) = (
        log_line("text", "info", "call", {"method": "A.B", "code": "ok", "reason": "two\nlines", "x": 0.5, "y": ""})
        .decode()
        .splitlines()
    )
    assert line.split(" ", 1)[1] == 'info    call method=A.B code=ok reason="two\\nlines" x=0.5'
