"""The judge path over a real connection: cache, budget, unreadable replies, and a key that appears nowhere."""

import asyncio
import json
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from evalsi.testing.stand_in_model import Behaviour, Question, StandInModel, sample_of
from tests.command_line import Ended, evalsi, evalsi_here, write_jsonl

SECRET = "sk-this-must-be-seen-nowhere-4711"
ROWS = [{"id": f"r{i}", "input": f"q{i}", "output": f"a{i}", "reference": f"a{i}"} for i in range(12)]


@pytest.fixture
def model() -> Iterator[StandInModel]:
    with StandInModel(Behaviour(api_key=SECRET)) as server:
        yield server


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("JUDGE_KEY", SECRET)
    write_jsonl(tmp_path / "data.jsonl", ROWS)
    return tmp_path


def judged(
    capsys: pytest.CaptureFixture[str], model: StandInModel, *arguments: str, name: str = "correctness"
) -> Ended:
    judge = ("--judge-provider", "openai-compatible", "--judge-model", "stand-in", "--judge-base-url", model.base_url)
    return evalsi_here(
        capsys, "eval", "--data", "data.jsonl", "--evaluators", name, *judge, "--judge-api-key-env", "JUDGE_KEY", *arguments
    )  # fmt: skip


def test_a_second_run_is_answered_from_the_cache_and_costs_nothing(
    folder: Path, model: StandInModel, capsys: pytest.CaptureFixture[str]
) -> None:
    first = judged(capsys, model, "--format", "json", "--output", "first.json")
    assert first.status == 0, first.err
    asked = model.stats.requests
    assert asked == len(ROWS)
    second = judged(capsys, model, "--format", "json", "--output", "second.json")
    assert model.stats.requests == asked
    assert json.loads(second.out) == json.loads(first.out)
    used = json.loads((folder / "second.json").read_text())["manifest"]["judge_usage"]
    assert (used["input_tokens"], used["output_tokens"]) == (0, 0)
    third = judged(capsys, model, "--no-cache")
    assert third.status == 0
    assert model.stats.requests == 2 * asked


def test_an_unreadable_reply_is_an_error_with_what_was_said(
    folder: Path, model: StandInModel, capsys: pytest.CaptureFixture[str]
) -> None:
    def reply(question: Question) -> str:
        if "a3" in question.text:
            return "I would rather talk about the weather."
        assert question.schema is not None
        return json.dumps(sample_of(question.schema))

    model.behaviour.replies = reply
    ended = judged(capsys, model, "--output", "r.json", name="correctness")
    assert ended.status == 0
    assert "1 result is an error (judge_parse)" in ended.err
    document = json.loads((folder / "r.json").read_text())
    (failed,) = [result for result in document["results"] if result["outcome"] == "error"]
    assert failed["record_id"] == "r3"
    assert failed["raw_reply"] == "I would rather talk about the weather."
    assert failed["fault"] == "judge"
    assert "scores" not in failed
    assert (document["summaries"][0]["n"], document["summaries"][0]["errors"]) == (11, 1)


def test_the_key_is_in_no_file_and_no_message(
    folder: Path, model: StandInModel, capsys: pytest.CaptureFixture[str]
) -> None:
    said = [judged(capsys, model, "--output", "r.json", "--report", "r.html", "--name", "first")]
    model.behaviour.api_key = "another"
    said.append(judged(capsys, model, "--no-cache", "--output", "refused.json", "--report", "refused.html"))
    said.append(evalsi_here(capsys, "runs", "show", "first", "--manifest"))
    said.append(evalsi_here(capsys, "doctor"))
    assert [each.status for each in said] == [0, 1, 0, 0]
    assert "nothing was scored" in said[1].err
    for ended in said:
        assert SECRET not in ended.out + ended.err
    files = [path for path in folder.rglob("*") if path.is_file()]
    assert {"r.json", "r.html", "evalsi.db"} <= {path.name for path in files}
    for path in files:
        assert SECRET.encode() not in path.read_bytes(), path
        assert b"must-be-seen-nowhere" not in path.read_bytes(), path


def test_a_budget_in_dollars_needs_a_price(
    folder: Path, model: StandInModel, capsys: pytest.CaptureFixture[str]
) -> None:
    ended = judged(capsys, model, "--judge-max-usd", "1")
    assert ended.status == 2
    assert "the price of 'stand-in' is unknown" in ended.err
    assert model.stats.requests == 0
    assert not (folder / ".evalsi" / "evalsi.db").exists()


def test_a_budget_that_is_used_up_leaves_errors_and_keeps_what_was_paid_for(
    folder: Path, model: StandInModel, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    ended = judged(capsys, model, "--set", "judge.max_total_tokens=1200", "--concurrency", "1", "--output", "r.json")
    document = json.loads((folder / "r.json").read_text())
    kinds = {result.get("error_kind") for result in document["results"] if result["outcome"] == "error"}
    assert kinds == {"budget"}, ended.err
    assert 0 < model.stats.requests < len(ROWS)
    assert document["summaries"][0]["n"] == model.stats.requests


def test_a_judge_that_is_not_there_is_an_error_per_record_and_no_traceback(
    folder: Path, model: StandInModel, capsys: pytest.CaptureFixture[str]
) -> None:
    model.behaviour.refused_parameters = frozenset({"model"})
    ended = judged(capsys, model)
    assert ended.status == 1
    assert "nothing was scored" in ended.err


def test_judged_python_runs_say_what_they_spent(
    folder: Path, model: StandInModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    import evalsi

    judge: dict[str, Any] = {
        "provider": "openai-compatible", "model": "stand-in", "base_url": model.base_url, "api_key_env": "JUDGE_KEY",
    }  # fmt: skip

    async def two() -> list[evalsi.EvalResult]:
        both = (evalsi.aevaluate(rows, "correctness", judge=judge) for rows in (ROWS, ROWS[:3]))
        return list(await asyncio.gather(*both))

    first, second = asyncio.run(two())
    assert first["correctness"].n == 12
    assert second["correctness"].n == 3
    usage = first.manifest.judge_usage
    assert usage is not None
    assert usage.cost_usd is None, "the price of a made-up model is unknown, not zero"


ROOT = Path(__file__).resolve().parents[2]


def without_network(script: str, cwd: Path) -> "subprocess.CompletedProcess[str]":
    """Runs a bash script where there is a loopback interface and no other. Skips where the kernel refuses."""
    if shutil.which("unshare") is None or shutil.which("ip") is None:
        pytest.skip("unshare or ip is not installed")
    probe = subprocess.run(
        ["unshare", "-rn", "ip", "link", "set", "lo", "up"], capture_output=True, text=True, check=False
    )
    if probe.returncode != 0:
        pytest.skip(f"no network namespace here: {probe.stderr.strip()}")
    folder = Path(sys.executable).parent
    return subprocess.run(
        ["unshare", "-rn", "bash", "-euc", f"ip link set lo up; export PATH={folder}:$PATH; {script}"],
        cwd=cwd, capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip


@pytest.mark.slow
def test_the_demo_needs_no_network(tmp_path: Path) -> None:
    ended = without_network(f"bash {ROOT}/examples/demo/run.sh {tmp_path}/out", ROOT)
    assert ended.returncode == 0, ended.stderr
    assert "shared records" in ended.stdout
    assert (tmp_path / "out" / "report.html").stat().st_size > 10_000
    document = json.loads((tmp_path / "out" / "birch.json").read_text())
    assert len(document["records"]) == 160


@pytest.mark.slow
def test_a_judge_on_this_machine_needs_no_other_network(tmp_path: Path) -> None:
    write_jsonl(tmp_path / "data.jsonl", ROWS)
    ended = without_network(
        "python -m evalsi.testing.stand_in_model > address & model=$!\n"
        "trap 'kill $model' EXIT\n"
        "for _ in $(seq 100); do [ -s address ] && break; sleep 0.1; done\n"
        "! (exec 3<>/dev/tcp/192.0.2.1/80) 2>/dev/null\n"
        "evalsi eval --data data.jsonl --evaluators correctness,faithfulness --format json "
        '--judge-provider openai-compatible --judge-model m --judge-base-url "$(cat address)"',
        tmp_path,
    )
    assert ended.returncode == 0, ended.stderr
    assert json.loads(ended.stdout)[0]["n"] == 12


def test_a_recorded_judge_needs_neither_a_key_nor_a_network(tmp_path: Path) -> None:
    data = ROOT / "examples" / "demo" / "data"
    ended = evalsi(
        "eval", "--data", str(data / "aster.jsonl"), "--evaluators", "correctness", "--judge-provider", "recorded",
        "--judge-recording", str(data / "judge_recording.jsonl"), "--format", "json", cwd=tmp_path,
    )  # fmt: skip
    assert ended.status == 0
    (summary,) = [each for each in json.loads(ended.out) if each["metric"] == "correctness"]
    assert summary["n"] + summary["errors"] + summary["skipped"] == 160
