"""Rewards over the network: composed as at home, bounded, counted, and in OpenRLHF's own protocol."""

import json
import subprocess
import sys
from collections.abc import Generator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from time import monotonic
from typing import Any

import pytest

from evalsi import rewards
from evalsi.core.errors import RewardFailedError, UsageError
from evalsi.schema import RewardComponent, RewardSpec
from evalsi.settings import Settings
from tests.command_line import evalsi
from tests.server.hostile_plugin import install_hostile_plugin
from tests.server.running_server import RunningServer, running_server

FORMAT: dict[str, Any] = {"ref": "format-check", "name": "format", "gate": True, "params": {"pattern": "(?s).*boxed.*"}}
RIGHT: dict[str, Any] = {"ref": "math-equiv", "name": "right", "weight": 1}
SPEC: dict[str, Any] = {"name": "maths", "components": [FORMAT, RIGHT]}
CODE: dict[str, Any] = {"components": [{"ref": "unit-tests", "weight": 1}], "onError": "REWARD_ON_ERROR_NONE"}
PATH = "/v1alpha1/rewards:score"


def rollout(identifier: str, output: str, reference: str = "4") -> dict[str, Any]:
    return {"id": identifier, "output": {"text": output}, "reference": {"text": reference}}


def program(identifier: str, body: str) -> dict[str, Any]:
    record = {"id": identifier, "output": {"text": f"def two():\n    {body}\n"}}
    return {**record, "metadata": {"test_list": ["assert two() == 2"]}}


def totals(answer: Any) -> list[float | None]:
    return [reward.get("total") for reward in answer["rewards"]]


def test_a_batch_is_composed_as_at_home_and_known_the_second_time(server: RunningServer) -> None:
    rollouts = [rollout("a", "\\boxed{4}"), rollout("b", "4"), rollout("c", "\\boxed{5}")]
    status, answer = server.post(PATH, {"spec": SPEC, "rollouts": rollouts})
    assert status == 200, answer
    assert [reward["rolloutId"] for reward in answer["rewards"]] == ["a", "b", "c"]
    assert totals(answer) == [1.0, 0.0, 0.0]
    assert answer["rewards"][1]["gated"]
    hits = server.metric("evalsi_reward_cache_hits_total")
    _, again = server.post(PATH, {"spec": SPEC, "rollouts": rollouts})
    assert totals(again) == totals(answer)
    assert server.metric("evalsi_reward_cache_hits_total") == hits + 3
    assert server.metric("evalsi_reward_inflight_rollouts") == 0


def test_programs_are_run_in_a_sandbox_by_both_doors(server: RunningServer) -> None:
    rollouts = [program("good", "return 2"), program("bad", "import os; os._exit(0)")]
    status, answer = server.post(PATH, {"spec": CODE, "rollouts": rollouts})
    assert (status, totals(answer)) == (200, [1.0, 0.0]), answer
    status, found = server.post("/v1/evaluate", {"records": rollouts, "evaluators": [{"ref": "unit-tests"}]})
    assert status == 200, found
    assert [one["outcome"] for one in found["results"]] == ["OUTCOME_SCORED"] * 2, found
    assert [one["scores"][0]["passed"] for one in found["results"]] == [True, False]


@pytest.mark.parametrize(
    ("spec", "said"),
    [
        (None, "no reward is described"),
        ({"components": []}, "no component"),
        ({"components": [{"ref": "math-equi", "weight": 1}]}, "math-equiv"),
        ({"components": [{"ref": "mine.py:reward", "weight": 1}]}, "code in a file"),
        ({"components": [{"ref": "os:system", "weight": 1}]}, "code in a file"),
        ({**SPEC, "onError": "REWARD_ON_ERROR_ZERO"}, "never trained as a reward of 0"),
        (
            {"components": [{"ref": "reward-model", "weight": 1, "params": {"url": "http://127.0.0.1:9"}}]},
            "may not name",
        ),
        ({"components": [{"ref": "correctness", "weight": 1}], "judge": "openai-compatible/m"}, "unknown judge"),
    ],
)
def test_a_wrong_spec_is_refused_with_the_reason(server: RunningServer, spec: Any, said: str) -> None:
    status, answer = server.post(PATH, {"rollouts": [rollout("a", "4")], **({} if spec is None else {"spec": spec})})
    assert status == 400
    assert said in answer["message"]


def test_a_trainer_uses_a_server_as_it_uses_this_machine(server: RunningServer, tmp_path: Path) -> None:
    spec = {"name": "maths", "components": [FORMAT, RIGHT], "onError": "mask"}
    answers = ["\\boxed{4}", "4", "\\boxed{5}", "\\boxed{4}"] * 600  # more than one portion
    columns: dict[str, Any] = {"answer": ["4", "4", "4", "\\int"] * 600}
    settings = Settings(directory=tmp_path)
    with rewards.load(spec, server=f"http://{server.address}", settings=settings) as away:
        assert away.__name__ == "maths"
        assert away.part_names == ["format", "right"]
        found = away(["q"] * 2400, answers, **columns)
        assert [one(["q"] * 2400, answers, **columns)[0] for one in away.reward_funcs] == [1.0, 1.0, 1.0]
    with rewards.load(spec, settings=settings) as here:
        assert found == here(["q"] * 2400, answers, **columns)


def test_the_command_line_has_a_server_score(server: RunningServer, tmp_path: Path) -> None:
    (tmp_path / "reward.json").write_text(json.dumps({**SPEC, "onError": "mask"}))
    lines = [{"id": "a", "input": "q", "output": "\\boxed{4}", "reference": "4"}, {"id": "b", "output": "4"}]
    (tmp_path / "rollouts.jsonl").write_text("\n".join(map(json.dumps, lines)))
    told = ["rewards", "score", "--spec", "reward.json", "--data", "rollouts.jsonl"]
    command = [sys.executable, "-m", "evalsi", *told, "--server", f"http://{server.address}"]
    ended = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert [json.loads(line)["total"] for line in ended.stdout.splitlines()] == [1.0, 0.0]
    assert "2 rollouts: mean 0.500 [0.000, 1.000] at 95%, of n=2, 1 stopped by a gate" in ended.stderr


def test_what_a_server_refuses_is_an_error_with_its_sentence(server: RunningServer, tmp_path: Path) -> None:
    settings = Settings(directory=tmp_path)
    made = RewardSpec(components=[RewardComponent(ref="mine.py:reward", weight=1)])
    with (
        rewards.load(made, server=f"http://{server.address}", settings=settings) as away,
        pytest.raises(RewardFailedError, match="code in a file"),
    ):
        away(["q"], ["a"])
    with pytest.raises(UsageError, match="asks its own judges"):
        rewards.load(SPEC, server=f"http://{server.address}", judge={"model": "m"}, settings=settings)
    with (
        rewards.load(made, server="http://127.0.0.1:9", settings=settings) as nobody,
        pytest.raises(RewardFailedError, match="127\\.0\\.0\\.1:9"),
    ):
        nobody(["q"], ["a"])


@pytest.fixture(scope="module")
def for_openrlhf(tmp_path_factory: pytest.TempPathFactory) -> Generator[RunningServer]:
    folder: Path = tmp_path_factory.mktemp("openrlhf")
    (folder / "reward.json").write_text(json.dumps({**SPEC, "onError": "raise"}))
    with running_server(folder, command=("rewards", "serve", "--spec", "reward.json", "--port", "0")) as running:
        yield running


def test_openrlhf_asks_in_its_own_protocol(for_openrlhf: RunningServer) -> None:
    batch: dict[str, Any] = {"query": ["2+2=\\boxed{4}", "2+2=4"], "prompts": ["2+2=", "2+2="], "labels": ["4", "4"]}
    status, answer = for_openrlhf.post("/get_reward", batch)
    assert status == 200, answer
    assert answer["rewards"] == answer["scores"] == [1.0, 0.0]
    assert answer["extra_logs"] == {"format": [1.0, 0.0]}
    assert for_openrlhf.post(PATH, {"spec": SPEC, "rollouts": [rollout("a", "\\boxed{4}")]})[0] == 200


@pytest.mark.parametrize(
    ("component", "said"),
    [
        ({"ref": "reward-model", "params": {"url": "http://127.0.0.1:9"}}, "a reward model asked at an address"),
        ({"ref": "correctness"}, "asks a judge, and this server has none"),
        ({"ref": "math-equivv"}, "did you mean 'math-equiv'"),
        ({"ref": "math-equiv", "params": {"nope": 1}}, "unknown param of math-equiv 'nope'"),
    ],
)
def test_a_spec_by_which_nothing_could_be_scored_is_refused_before_the_port_is_open(
    tmp_path: Path, component: dict[str, Any], said: str
) -> None:
    (tmp_path / "reward.json").write_text(json.dumps({"components": [{**component, "weight": 1}]}))
    done = evalsi("rewards", "serve", "--spec", "reward.json", "--port", "0", cwd=tmp_path)
    assert done.status == 2
    assert said in done.err
    assert "ready" not in done.err


@pytest.mark.parametrize("asked", [{}, {"judge": "house"}])
def test_a_spec_whose_judge_the_server_has_is_served(tmp_path: Path, asked: dict[str, str]) -> None:
    (tmp_path / "reward.json").write_text(json.dumps({"components": [{"ref": "correctness", "weight": 1}], **asked}))
    (tmp_path / "evalsi.yaml").write_text(
        "judges: {house: {provider: openai-compatible, model: m, base_url: 'http://127.0.0.1:9/v1'}}\ndefault_judge: house\n"
    )
    serve = ("rewards", "serve", "--spec", "reward.json", "--port", "0", "--config", "evalsi.yaml")
    with running_server(tmp_path, command=serve) as server:
        assert server.request("GET", "/healthz")[0] == 200


def test_no_web_page_asks_for_rewards_where_all_else_needs_a_key(tmp_path: Path) -> None:
    (tmp_path / "reward.json").write_text(json.dumps(SPEC))
    (tmp_path / "evalsi.yaml").write_text("auth: {}\n")
    serve = ("rewards", "serve", "--spec", "reward.json", "--port", "0", "--config", "evalsi.yaml")
    batch = {"query": ["2+2=\\boxed{4}"], "labels": ["4"]}
    with running_server(tmp_path, command=serve) as server:
        assert server.post(PATH, {"spec": SPEC, "rollouts": []})[0] == 401
        assert server.post("/get_reward", batch)[1]["rewards"] == [1.0]
        for page in (
            {"Host": "evil.example"},
            {"Host": "evil.example", "Origin": "http://evil.example"},
            {"Origin": "http://evil.example"},
            {"Sec-Fetch-Site": "cross-site"},
        ):
            status, answer = server.post("/get_reward", batch, page)
            assert (status, "rewards" in answer) == (403, False), page


@pytest.mark.parametrize(
    ("batch", "status", "said"),
    [
        ({"query": ["a"], "prompts": []}, 400, "1 queries and 0 prompts"),
        ({"query": "a"}, 400, "no batch of OpenRLHF"),
        ({"query": ["\\boxed{4}"], "labels": ["\\int"]}, 503, "cannot mask"),
    ],
)
def test_what_openrlhf_cannot_be_told_in_rewards_is_an_error(
    for_openrlhf: RunningServer, batch: Any, status: int, said: str
) -> None:
    got, answer = for_openrlhf.post("/get_reward", batch)
    assert (got, said in answer["message"]) == (status, True), answer


@pytest.fixture(scope="module")
def narrow(tmp_path_factory: pytest.TempPathFactory) -> Generator[RunningServer]:
    folder: Path = tmp_path_factory.mktemp("narrow")
    (folder / "evalsi.yaml").write_text("data_dir: store\nrewards:\n  max_rollouts: 40\n  max_inflight: 40\n")
    environment = {"PYTHONPATH": str(install_hostile_plugin(folder))}
    with running_server(folder, ("--config", "evalsi.yaml"), environment) as running:
        yield running


def hanging(deadline: str) -> dict[str, Any]:
    parts = [{"ref": "backtracks", "weight": 1}]
    return {"components": parts, "deadline": deadline, "onError": "REWARD_ON_ERROR_NONE", "disableCache": True}


@pytest.mark.slow
def test_a_hanging_rollout_costs_its_deadline_and_other_batches_nothing(narrow: RunningServer) -> None:
    rollouts = [{"id": word, "output": {"text": word}} for word in ("first", "bad", "last")]
    assert narrow.post(PATH, {"spec": SPEC, "rollouts": [rollout("a", "\\boxed{4}")]})[0] == 200
    with ThreadPoolExecutor() as threads:
        begun = monotonic()
        stuck = threads.submit(narrow.post, PATH, {"spec": hanging("3s"), "rollouts": rollouts})
        answered = 0
        while not stuck.done():
            assert narrow.post(PATH, {"spec": SPEC, "rollouts": [rollout("a", "\\boxed{4}")]})[0] == 200
            answered += 1
        status, answer = stuck.result()
        took = monotonic() - begun
    assert status == 200, answer
    assert totals(answer)[1] is None
    assert None not in (totals(answer)[0], totals(answer)[2])
    assert "timeout" in answer["rewards"][1]["components"]["backtracks"]["reason"]
    assert took < 60
    assert answered > 1, "they do not wait for the one that hangs"


@pytest.mark.slow
def test_a_failed_part_fails_the_batch_and_never_trains_as_zero(narrow: RunningServer) -> None:
    rollouts = [{"id": word, "output": {"text": word}} for word in ("first", "bad", "last")]
    spec = {"components": [{"ref": "crashes", "weight": 1}]}
    status, answer = narrow.post(PATH, {"spec": spec, "rollouts": rollouts})
    assert (status, answer["error"]) == (503, "reward-failed"), answer
    assert "'bad'" in answer["message"]
    masked = {**spec, "onError": "REWARD_ON_ERROR_NONE"}
    assert totals(narrow.post(PATH, {"spec": masked, "rollouts": rollouts})[1]) == [1.0, None, 1.0]


@pytest.mark.slow
def test_what_goes_beyond_the_room_is_told_to_come_again(narrow: RunningServer) -> None:
    many = [rollout(str(number), "4") for number in range(41)]
    status, answer = narrow.post(PATH, {"spec": SPEC, "rollouts": many})
    assert (status, "more than the 40" in answer["message"]) == (400, True)
    stuck = [{"id": str(number), "output": {"text": "bad"}} for number in range(30)]
    with ThreadPoolExecutor() as threads:
        first = threads.submit(narrow.post, PATH, {"spec": hanging("2s"), "rollouts": stuck})
        while narrow.metric("evalsi_reward_inflight_rollouts") < 30:
            assert not first.done(), first.result()
        body = json.dumps({"spec": SPEC, "rollouts": many[:20]})
        status, headers, _ = narrow.request("POST", PATH, body, {"content-type": "application/json"})
        assert (status, headers.get("retry-after")) == (503, "2")
        status, headers, _ = narrow.request("POST", PATH, body, {"content-type": "application/json"})
        assert status == 503
        assert first.result()[0] == 200
    assert narrow.post(PATH, {"spec": SPEC, "rollouts": many[:20]})[0] == 200


@pytest.mark.slow
def test_a_trainer_waits_for_a_server_that_is_busy(narrow: RunningServer, tmp_path: Path) -> None:
    stuck = [{"id": str(number), "output": {"text": "bad"}} for number in range(30)]
    loaded = rewards.load(SPEC, server=f"http://{narrow.address}", settings=Settings(directory=tmp_path))
    with ThreadPoolExecutor() as threads, loaded as away:
        first = threads.submit(narrow.post, PATH, {"spec": hanging("3s"), "rollouts": stuck})
        while narrow.metric("evalsi_reward_inflight_rollouts") < 30:
            assert not first.done(), first.result()
        assert away(["q"] * 20, ["\\boxed{4}"] * 20, answer=["4"] * 20) == [1.0] * 20
