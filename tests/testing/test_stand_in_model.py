"""The stand-in model itself: what tests and measurements rest on."""

import json
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import jsonschema
import pytest

from evalsi.testing.stand_in_model import FAILURES, Behaviour, Reply, StandInModel, sample_of

BODY = {"model": "m", "messages": [{"role": "user", "content": "hello"}]}


def post(url: str, body: Any, timeout_s: float = 5.0) -> tuple[int, Any]:
    request = urllib.request.Request(url, json.dumps(body).encode(), {"content-type": "application/json"})
    try:
        with urllib.request.urlopen(request, timeout=timeout_s) as response:
            return response.status, json.load(response)
    except urllib.error.HTTPError as error:
        with error:
            return error.code, json.load(error)


def test_both_protocols_answer_in_their_own_shape() -> None:
    with StandInModel(Behaviour(replies="hi")) as model:
        _, openai = post(f"{model.base_url}/chat/completions", BODY)
        _, anthropic = post(f"{model.root_url}/v1/messages", BODY)
    assert openai["choices"][0]["message"]["content"] == "hi"
    assert openai["usage"]["prompt_tokens"] == 1
    assert anthropic["content"] == [{"type": "text", "text": "hi"}]
    assert anthropic["stop_reason"] == "end_turn"


def test_replies_are_used_up_in_order_and_the_last_one_stays() -> None:
    with StandInModel(Behaviour(replies=["one", Reply(text="two", finish_reason="length")])) as model:
        answers = [post(f"{model.base_url}/chat/completions", BODY)[1]["choices"][0] for _ in range(3)]
    assert [answer["message"]["content"] for answer in answers] == ["one", "two", "two"]
    assert answers[2]["finish_reason"] == "length"


def test_failures_come_at_their_rates_and_the_same_ones_every_time() -> None:
    def statuses() -> list[int]:
        with StandInModel(Behaviour(rate_limited=0.3, server_error=0.2, seed=5)) as model:
            return [post(f"{model.base_url}/chat/completions", BODY)[0] for _ in range(200)]

    first = statuses()
    assert 40 <= first.count(429) <= 80
    assert 22 <= first.count(500) <= 60
    assert statuses() == first


def test_latency_is_that_of_one_answer_and_not_of_a_queue() -> None:
    with StandInModel(Behaviour(latency_s=0.5)) as model, ThreadPoolExecutor(8) as pool:
        start = time.perf_counter()
        list(pool.map(lambda _: post(f"{model.base_url}/chat/completions", BODY), range(8)))
        assert 0.5 <= time.perf_counter() - start < 3.5  # eight in a queue take 4 s
        assert model.stats.most_under_way > 1


def test_an_answer_that_hangs_ends_with_its_client_or_its_server() -> None:
    with StandInModel(Behaviour(replies=["hang"])) as model:
        with pytest.raises(TimeoutError):
            post(f"{model.base_url}/chat/completions", BODY, timeout_s=0.1)
        start = time.perf_counter()
    assert time.perf_counter() - start < 20


@pytest.mark.parametrize("path", ["/nothing", "/v1/models/x"])
def test_an_unknown_path_is_404(path: str) -> None:
    with StandInModel() as model:
        assert post(model.root_url + path, BODY)[0] == 404


def test_a_body_that_is_no_json_is_400() -> None:
    with StandInModel() as model:
        request = urllib.request.Request(f"{model.base_url}/chat/completions", b"{")
        with pytest.raises(urllib.error.HTTPError) as caught:
            urllib.request.urlopen(request)
        with caught.value as error:
            assert error.code == 400


def test_a_sample_follows_its_schema() -> None:
    schema: dict[str, Any] = {
        "type": "object",
        "properties": {
            "score": {"type": "number", "minimum": 0, "maximum": 10},
            "label": {"type": "string", "enum": ["a", "b"]},
            "flags": {"type": "array", "items": {"type": "boolean"}},
            "claim": {"type": "integer", "minimum": 1},
        },
        "required": ["score", "label", "flags", "claim"],
    }
    jsonschema.validate(sample_of(schema), schema)


def test_as_a_program_it_prints_its_address_answers_and_stops() -> None:
    command = [sys.executable, "-m", "evalsi.testing.stand_in_model", "--port", "0", "--reply", "hi"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    url = process.stdout.readline().strip()
    try:
        assert post(f"{url}/chat/completions", BODY)[0] == 200
        with urllib.request.urlopen(f"{url}/stats") as response:
            assert json.load(response)["requests"] == 1
    finally:
        process.send_signal(signal.SIGTERM)
        assert process.wait(5) == 0
        process.stdout.close()


def test_every_failure_can_be_set_from_the_command_line() -> None:
    command = [sys.executable, "-m", "evalsi.testing.stand_in_model", "--help"]
    said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert all(f"--{failure.replace('_', '-')}" in said for failure in FAILURES if failure != "redirect")
