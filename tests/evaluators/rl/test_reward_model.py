"""Served reward models, each protocol against a stand-in that speaks it and remembers what it was asked."""

import json
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

import evalsi
from evalsi import rewards
from evalsi.core.errors import InvalidSpecError, UsageError
from evalsi.schema import EvaluatorRef, Outcome
from evalsi.settings import Settings

Answer = Callable[[str, Any], Any]
ROWS = [{"id": word, "input": f"say {word} ", "output": word} for word in ("a", "bbb", "cc", "d")]


class StandIn(ThreadingHTTPServer):
    def __init__(self, answer: Answer) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.answer = answer
        self.asked: list[tuple[str, Any, str]] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        assert isinstance(self.server, StandIn)
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        self.server.asked.append((self.path, body, self.headers.get("authorization", "")))
        content = json.dumps(self.server.answer(self.path, body)).encode()
        self.send_response(200)
        self.send_header("content-length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the base class's name
        """Says nothing."""


@contextmanager
def served(answer: Answer) -> Generator[StandIn]:
    server = StandIn(answer)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def graded(params: dict[str, Any]) -> Any:
    return evalsi.evaluate(ROWS, EvaluatorRef(ref="reward-model", params=params))


def numbers(run: Any) -> list[float | None]:
    return [result.scores[0].number if result.scores else None for result in run.results()]


def openrlhf(_: str, body: Any) -> Any:
    return {"rewards": [len(query) - len(prompt) for query, prompt in zip(body["query"], body["prompts"], strict=True)]}


def vllm(_: str, body: Any) -> Any:
    return {"data": [{"index": 0, "object": "pooling", "data": [[9.5], [len(body["messages"][-1]["content"])]]}]}


def sglang(_: str, body: Any) -> Any:
    return [{"embedding": [len(text)], "meta_info": {}} for text in body["text"]]


def test_openrlhf_gets_queries_and_prompts_of_several_records_at_once() -> None:
    with served(openrlhf) as server:
        run = graded({"url": f"{server.url}/get_reward", "wait_ms": 200, "max_batch": 3})
    assert numbers(run) == [1, 3, 2, 1]
    assert sorted(len(body["query"]) for _, body, _ in server.asked) == [1, 3]
    assert {path for path, _, _ in server.asked} == {"/get_reward"}
    assert {query for _, body, _ in server.asked for query in body["query"]} == {"say a a", "say bbb bbb", "say cc cc", "say d d"}  # fmt: skip


def test_vllm_gets_messages_and_the_last_token_counts() -> None:
    with served(vllm) as server:
        run = graded({"url": server.url, "api": "vllm", "model": "rm"})
    assert numbers(run) == [1, 3, 2, 1]
    assert {path for path, _, _ in server.asked} == {"/pooling"}
    first = next(body for _, body, _ in server.asked if body["messages"][1]["content"] == "bbb")
    assert first["model"] == "rm"
    assert first["messages"][0] == {"role": "user", "content": "say bbb "}
    assert first["messages"][1]["role"] == "assistant"


def test_sglang_gets_texts_in_the_template_of_the_model(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RM_KEY", "secret-of-the-model")
    with served(sglang) as server:
        template = "<u>{prompt}</u><a>{completion}</a>"
        run = graded({"url": server.url, "api": "sglang", "template": template, "api_key_env": "RM_KEY"})
    assert numbers(run) == [len(f"<u>{row['input']}</u><a>{row['output']}</a>") for row in ROWS]
    assert {(path, key) for path, _, key in server.asked} == {("/classify", "Bearer secret-of-the-model")}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("answer", "said"),
    [
        ({"rewards": [1.0]}, "gave 1 rewards for 4 completions"),
        ({"rewards": [1, 2, 3, "4"]}, "something else than one number"),
        ({"rewards": [1, 2, 3, True]}, "something else than one number"),
        ({"rewards": [[0.1, 0.9]] * 4}, "something else than one number"),
        ({"rewards": None}, "without rewards"),
        ([], "without rewards"),
    ],
)
def test_an_answer_that_is_no_reward_for_each_is_an_error_and_never_a_score(answer: Any, said: str) -> None:
    with served(lambda _path, _body: answer) as server:
        run = graded({"url": server.url, "wait_ms": 200})
    assert [result.outcome for result in run.results()] == [Outcome.ERROR] * 4
    assert all(said in result.reason for result in run.results()), run.results()[0]


def test_it_is_a_part_of_a_reward(tmp_path: Path) -> None:
    with served(openrlhf) as server:
        spec = {"components": [{"ref": "reward-model", "params": {"url": server.url}}, {"ref": "length", "weight": 0}]}
        with rewards.load(spec, settings=Settings(directory=tmp_path)) as reward:
            assert reward(["q", "q"], ["four", "sixsix"]) == [4, 6]


@pytest.mark.parametrize(
    ("params", "kind", "said"),
    [
        ({}, UsageError, "url"),
        ({"url": "nowhere"}, InvalidSpecError, "http address"),
        ({"url": "http://127.0.0.1:9", "api": "tgi"}, UsageError, "api"),
        ({"url": "http://127.0.0.1:9", "template": "{completion}"}, UsageError, "prompt"),
        ({"url": "http://127.0.0.1:9", "template": "{completion}{prompt}"}, UsageError, "before"),
    ],
)
def test_wrong_params_are_refused(params: dict[str, Any], kind: type[Exception], said: str) -> None:
    with pytest.raises(kind, match=said):
        graded(params)
