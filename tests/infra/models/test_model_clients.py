"""Models over HTTP, against the stand-in server: what is sent, what is read, and what happens when it fails."""

import asyncio
import threading
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, TypeVar

import msgspec
import pytest

from evalsi.core.errors import InvalidSpecError, ProviderError, ReplyError
from evalsi.infra.models.anthropic import AnthropicModel
from evalsi.infra.models.endpoint import Access
from evalsi.infra.models.limits import Limiter, LimiterPool, Limits
from evalsi.infra.models.openai import OpenAICompatibleModel
from evalsi.infra.models.retries import RetryPolicy, retry_after_s
from evalsi.judges.judge import JudgeSettings, ModelJudge
from evalsi.judges.prompt import Template
from evalsi.judges.replies.json_form import JsonForm, NumberField, TextField
from evalsi.ports.chat_model import ChatMessage, ChatModel, ChatReply, ChatRequest
from evalsi.schema import ErrorKind
from evalsi.testing.stand_in_model import Behaviour, Question, Refused, Reply, StandInModel

T = TypeVar("T")
KEY = "sk-test-0123456789abcdef"
QUICK = RetryPolicy(first_pause_s=0.01, longest_pause_s=0.05, attempt_s=2.0, deadline_s=5.0, unreachable_s=0.5)
SCHEMA: dict[str, Any] = {"type": "object", "properties": {"score": {"type": "number"}}, "required": ["score"]}


def question(**more: Any) -> ChatRequest:
    messages = (ChatMessage(role="system", content="Grade."), ChatMessage(role="user", content="Is 4 right?"))
    return ChatRequest(model="m-1", messages=messages, **more)


def openai_at(server: StandInModel, **more: Any) -> OpenAICompatibleModel:
    return OpenAICompatibleModel(Access(base_url=server.base_url, api_key=KEY, retries=QUICK, **more))


def anthropic_at(server: StandInModel, **more: Any) -> AnthropicModel:
    return AnthropicModel(Access(base_url=server.root_url, api_key=KEY, retries=QUICK, **more))


def running(model: ChatModel, work: Callable[[], Awaitable[T]]) -> T:
    async def run() -> T:
        try:
            return await work()
        finally:
            await model.close()

    return asyncio.run(run())


def ask(model: ChatModel, request: ChatRequest | None = None) -> ChatReply:
    return running(model, lambda: model.complete(request or question()))


def failure(model: ChatModel, request: ChatRequest | None = None) -> ProviderError:
    with pytest.raises(ProviderError) as caught:
        ask(model, request)
    return caught.value


# --- What is sent and read -------------------------------------------------------------------------------------------


def test_openai_sends_every_setting_under_its_name() -> None:
    with StandInModel() as server:
        request = question(
            max_tokens=9, temperature=0.5, top_p=0.9, seed=3, effort="low", response_schema=SCHEMA, top_logprobs=5
        )
        reply = ask(openai_at(server), request)
        [asked] = server.stats.questions
        assert asked.body == {
            "model": "m-1",
            "messages": [{"role": "system", "content": "Grade."}, {"role": "user", "content": "Is 4 right?"}],
            "max_tokens": 9,
            "temperature": 0.5,
            "top_p": 0.9,
            "seed": 3,
            "reasoning_effort": "low",
            "logprobs": True,
            "top_logprobs": 5,
            "response_format": {
                "type": "json_schema",
                "json_schema": {"name": "answer", "strict": True, "schema": SCHEMA},
            },
        }
        assert reply.model == "m-1"
        assert reply.request_id == "chatcmpl-1"
        assert 0 < (reply.usage.latency or 0) < 1


def test_openai_leaves_out_what_was_not_set() -> None:
    with StandInModel() as server:
        ask(openai_at(server))
        [asked] = server.stats.questions
        assert set(asked.body) == {"model", "messages"}


def test_openai_reads_cached_and_reasoning_tokens_and_a_reported_cost() -> None:
    usage = {
        "prompt_tokens": 100,
        "completion_tokens": 50,
        "prompt_tokens_details": {"cached_tokens": 80},
        "completion_tokens_details": {"reasoning_tokens": 40},
        "cost": 0.0125,
    }
    with StandInModel(Behaviour(replies=[Reply(text="4", usage=usage)])) as server:
        read = ask(openai_at(server)).usage
        assert (read.input_tokens, read.output_tokens, read.cached_input_tokens, read.reasoning_tokens) == (
            100,
            50,
            80,
            40,
        )
        assert read.cost_usd == 0.0125


@pytest.mark.parametrize(
    "usage",
    [
        {"prompt_tokens": None},
        {"prompt_tokens": "12"},
        {"prompt_tokens": -1},
        {"prompt_tokens_details": None},
        {"cost": "x"},
    ],
)
def test_counts_that_make_no_sense_are_unknown_and_not_zero(usage: dict[str, Any]) -> None:
    with StandInModel(Behaviour(replies=[Reply(text="4", usage=usage)])) as server:
        read = ask(openai_at(server)).usage
        assert (read.input_tokens, read.cached_input_tokens, read.cost_usd) == (None, None, None)


@pytest.mark.parametrize(
    ("given", "reason"), [("stop", "stop"), ("length", "length"), ("content_filter", "refusal"), ("weird", "weird")]
)
def test_finish_reasons_are_normalised(given: str, reason: str) -> None:
    with StandInModel(Behaviour(replies=[Reply(text="4", finish_reason=given)])) as server:
        assert ask(openai_at(server)).finish_reason == reason


def test_a_refusal_field_is_a_refusal() -> None:
    with StandInModel(Behaviour(replies=[Reply(text="", refusal="I will not.")])) as server:
        reply = ask(openai_at(server))
        assert (reply.finish_reason, reply.text) == ("refusal", "I will not.")


def test_reasoning_in_a_field_of_its_own_is_not_the_answer() -> None:
    with StandInModel(Behaviour(replies=[Reply(text="15", reasoning="maybe 12")])) as server:
        assert ask(openai_at(server)).text == "15"
        assert ask(anthropic_at(server)).text == "15"


def test_token_probabilities_are_read() -> None:
    tokens = [
        {
            "token": "4",
            "logprob": -0.1,
            "top_logprobs": [{"token": "4", "logprob": -0.1}, {"token": "5", "logprob": -2.4}],
        }
    ]
    with StandInModel(Behaviour(replies=[Reply(text="4", logprobs=tokens)])) as server:
        [token] = ask(openai_at(server), question(top_logprobs=2)).logprobs
        assert (token.token, token.logprob, token.top) == ("4", -0.1, {"4": -0.1, "5": -2.4})


def test_anthropic_sends_system_apart_and_always_a_limit() -> None:
    with StandInModel() as server:
        ask(anthropic_at(server), question(temperature=0.0, seed=3, top_logprobs=5))
        [asked] = server.stats.questions
        assert asked.protocol == "anthropic"
        assert asked.body == {
            "model": "m-1",
            "max_tokens": 4096,
            "messages": [{"role": "user", "content": "Is 4 right?"}],
            "system": "Grade.",
            "temperature": 0.0,
        }


def test_anthropic_counts_cached_input_into_the_input() -> None:
    usage = {"input_tokens": 10, "output_tokens": 5, "cache_read_input_tokens": 80, "cache_creation_input_tokens": 30}
    with StandInModel(Behaviour(replies=[Reply(text="4", usage=usage)])) as server:
        read = ask(anthropic_at(server)).usage
        assert (read.input_tokens, read.cached_input_tokens, read.cache_write_tokens, read.output_tokens) == (
            120,
            80,
            30,
            5,
        )


@pytest.mark.parametrize(("given", "reason"), [("stop", "stop"), ("length", "length"), ("content_filter", "refusal")])
def test_anthropic_stop_reasons_are_normalised(given: str, reason: str) -> None:
    with StandInModel(Behaviour(replies=[Reply(text="4", finish_reason=given)])) as server:
        assert ask(anthropic_at(server)).finish_reason == reason


def test_anthropic_gets_its_reply_form_through_a_tool() -> None:
    with StandInModel() as server:
        reply = ask(anthropic_at(server), question(response_schema=SCHEMA))
        assert (reply.text, reply.finish_reason) == ('{"score":0.5}', "stop")


def test_a_base_url_that_ends_in_v1_is_the_same_address_for_anthropic() -> None:
    with StandInModel() as server:
        assert ask(AnthropicModel(Access(base_url=server.base_url, api_key=KEY))).text == "Verdict: CORRECT"


def test_a_model_can_be_used_again_after_it_was_closed() -> None:
    with StandInModel() as server:
        model = openai_at(server)
        assert [ask(model).text, ask(model).text] == ["Verdict: CORRECT"] * 2


# --- Parameters that a server does not take --------------------------------------------------------------------------


@pytest.mark.parametrize("refused", ["temperature", "seed", "reasoning_effort", "top_logprobs"])
def test_a_parameter_that_the_server_refuses_is_given_up_for_that_model_and_said_so(refused: str) -> None:
    with StandInModel(Behaviour(refused_parameters=frozenset({refused}))) as server:
        model = openai_at(server)
        request = question(temperature=0.0, seed=1, effort="low", top_logprobs=3)

        async def twice() -> None:
            await model.complete(request)
            await model.complete(request)

        running(model, twice)
        assert server.stats.outcomes == {"refused": 1, "answered": 2}
        assert refused not in server.stats.questions[-1].body
        [notes] = model.adjustments.values()
        assert len(notes) >= 1


@pytest.mark.parametrize(("refused", "sent"), [("max_tokens", "max_completion_tokens")])
def test_the_token_limit_is_sent_under_the_name_that_the_server_knows(refused: str, sent: str) -> None:
    with StandInModel(Behaviour(refused_parameters=frozenset({refused}))) as server:
        ask(openai_at(server), question(max_tokens=7))
        assert server.stats.questions[-1].body[sent] == 7


def test_a_reply_form_that_is_refused_falls_back_step_by_step() -> None:
    def script(asked: Question) -> Refused | str:
        form = asked.body.get("response_format", {}).get("type")
        return Refused(status=400, message=f"response_format.type '{form}' is not supported") if form else "{}"

    with StandInModel(Behaviour(replies=script)) as server:
        model = openai_at(server)
        ask(model, question(response_schema=SCHEMA))
        forms = [asked.body.get("response_format", {}).get("type") for asked in server.stats.questions]
        assert forms == ["json_schema", "json_object", None]


def test_anthropic_gives_up_a_refused_temperature() -> None:
    with StandInModel(Behaviour(refused_parameters=frozenset({"temperature"}))) as server:
        ask(anthropic_at(server), question(temperature=0.0))
        assert "temperature" not in server.stats.questions[-1].body


# --- Failures that pass ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("make", [openai_at, anthropic_at])
@pytest.mark.parametrize("broken", ["rate_limited", "server_error", "overloaded", "truncated", "dropped"])
def test_a_failure_that_passes_is_asked_again(make: Any, broken: str) -> None:
    with StandInModel(Behaviour(replies=[broken, broken, "4"])) as server:
        reply = ask(make(server))
        assert (reply.text, reply.retries) == ("4", 2)
        assert server.stats.requests == 3


@contextmanager
def answering(body: bytes, content_type: str = "application/json") -> Iterator[tuple[str, list[bytes]]]:
    """A server that answers every question with `body`, and what it was asked."""
    asked: list[bytes] = []

    class Same(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            asked.append(self.rfile.read(int(self.headers["Content-Length"])))
            self.send_response(200)
            self.send_header("Content-Type", content_type)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the library's signature
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Same)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/v1", asked
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def test_a_web_page_at_the_address_is_said_at_once_and_not_asked_for_again() -> None:
    page = b"\n<!DOCTYPE html><html><body>Welcome</body></html>"
    with answering(page, "text/html") as (url, asked):
        model = OpenAICompatibleModel(Access(base_url=url, api_key=KEY, retries=QUICK))
        error = failure(model)
        assert len(asked) == 1
    assert (error.kind, error.may_retry) == (ErrorKind.PROVIDER_REJECTED, False)
    assert "answered with a web page (HTML), not JSON; is the base URL right? Most end in /v1" in str(error)


@pytest.mark.parametrize("escape", ["\\ud83d", "\\udc00"])
def test_half_a_surrogate_pair_in_a_reply_is_its_escape_and_asked_once(escape: str) -> None:
    message = '{"role": "assistant", "content": "so ' + escape + ' and"}'
    body = '{"model": "m-1", "choices": [{"finish_reason": "stop", "message": ' + message + "}]}"
    with answering(body.encode()) as (url, asked):
        reply = ask(OpenAICompatibleModel(Access(base_url=url, api_key=KEY, retries=QUICK)))
        assert len(asked) == 1
    assert reply.text == f"so {escape} and"


def test_half_a_surrogate_pair_in_a_verdict_can_be_stored() -> None:
    form = JsonForm((TextField("reason"), NumberField("score", 0, 1)))
    read = form.read(ChatReply(text='{"reason": "so \\ud83d", "score": 1}'))
    assert read["reason"] == "so \\ud83d"
    assert msgspec.json.decode(msgspec.json.encode(read)) == read


def test_an_attempt_that_never_ends_is_ended_and_asked_again() -> None:
    with StandInModel(Behaviour(replies=["hang", "4"])) as server:
        policy = RetryPolicy(attempt_s=0.2, first_pause_s=0.01)
        reply = ask(OpenAICompatibleModel(Access(base_url=server.base_url, retries=policy)))
        assert (reply.text, reply.retries) == ("4", 1)
        assert (reply.usage.latency or 1) < 0.15


def test_a_slow_body_is_waited_for() -> None:
    with StandInModel(Behaviour(replies="4", slow_body_s=0.2)) as server:
        reply = ask(openai_at(server))
        assert reply.text == "4"
        assert (reply.usage.latency or 0) >= 0.2


@pytest.mark.parametrize("value", ["0.3", "date"])
def test_retry_after_is_kept(value: str) -> None:
    if value == "date":
        value = format_datetime(datetime.now(UTC) + timedelta(seconds=2), usegmt=True)
    with StandInModel(Behaviour(replies=["rate_limited", "4"], retry_after=value)) as server:
        ask(openai_at(server))
        first, second = server.stats.arrivals_s
        assert second - first >= 0.29


def test_nobody_asks_while_the_provider_wants_a_pause() -> None:
    def script(asked: Question) -> str:
        return "rate_limited" if asked.number == 1 else "4"

    with StandInModel(Behaviour(replies=script, retry_after="0.4")) as server:
        model = openai_at(server)

        async def work() -> None:
            await asyncio.gather(model.complete(question()), _later(0.1, lambda: model.complete(question())))

        running(model, work)
        first, *others = server.stats.arrivals_s
        assert len(others) == 2
        assert min(others) - first >= 0.38


async def _later(delay_s: float, work: Callable[[], Awaitable[T]]) -> T:
    await asyncio.sleep(delay_s)
    return await work()


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("12", 12.0),
        ("0", 0.0),
        (" 1.5 ", 1.5),
        ("-3", 0.0),
        ("nan", None),
        ("inf", None),
        ("soon", None),
        ("", None),
        (None, None),
    ],
)
def test_retry_after_seconds_are_read_or_ignored(value: str | None, expected: float | None) -> None:
    assert retry_after_s(value) == expected


def test_retry_after_dates_are_seconds_from_now_and_never_negative() -> None:
    now = datetime(2026, 1, 1, 12, 0, 0, tzinfo=UTC)
    assert retry_after_s("Thu, 01 Jan 2026 12:01:30 GMT", now) == 90
    assert retry_after_s("Thu, 01 Jan 2026 11:00:00 GMT", now) == 0


def test_pauses_grow_and_are_jittered() -> None:
    policy = RetryPolicy(first_pause_s=1.0, longest_pause_s=8.0)
    for attempt, longest in ((1, 1), (2, 2), (3, 4), (4, 8), (9, 8), (10_000, 8)):
        pauses = [policy.pause_s(attempt, None) for _ in range(50)]
        assert all(longest / 2 <= pause <= longest for pause in pauses)
        assert len(set(pauses)) > 1
    assert policy.pause_s(1, 30.0) >= 30


def test_a_storm_of_failures_at_set_rates_loses_no_question() -> None:
    behaviour = Behaviour(
        rate_limited=0.2, server_error=0.1, truncated=0.05, dropped=0.1, retry_after="0.01", latency_s=0.002
    )
    with StandInModel(behaviour) as server:
        policy = RetryPolicy(attempts=30, first_pause_s=0.01, longest_pause_s=0.05)
        model = OpenAICompatibleModel(Access(base_url=server.base_url, retries=policy))

        async def work() -> list[ChatReply]:
            return await asyncio.gather(*(model.complete(question()) for _ in range(200)))

        replies = running(model, work)
        assert len(replies) == 200
        assert server.stats.requests == 200 + sum(reply.retries for reply in replies)
        assert server.stats.outcomes["rate_limited"] > 10


def test_connections_that_the_server_has_closed_meanwhile_cost_nothing() -> None:
    with StandInModel() as server:
        patient = RetryPolicy(first_pause_s=60)
        model = OpenAICompatibleModel(Access(base_url=server.base_url, api_key=KEY, retries=patient))

        async def work() -> None:
            await asyncio.gather(*(model.complete(question()) for _ in range(8)))
            server.drop_connections()
            start = time.perf_counter()
            await asyncio.gather(*(model.complete(question()) for _ in range(8)))
            assert time.perf_counter() - start < 20, "there is no pause as after a fault of the provider"

        running(model, work)


# --- Failures that stay ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("status", "kind", "asked"),
    [
        (400, ErrorKind.PROVIDER_REJECTED, 1),
        (401, ErrorKind.PROVIDER_AUTH, 1),
        (403, ErrorKind.PROVIDER_AUTH, 1),
        (404, ErrorKind.PROVIDER_REJECTED, 1),
        (422, ErrorKind.PROVIDER_REJECTED, 1),
        (429, ErrorKind.RATE_LIMITED, 3),
        (500, ErrorKind.PROVIDER, 3),
        (503, ErrorKind.PROVIDER, 3),
        (529, ErrorKind.RATE_LIMITED, 3),
    ],
)
def test_every_status_has_a_kind_and_only_passing_ones_are_asked_again(
    status: int, kind: ErrorKind, asked: int
) -> None:
    with StandInModel(Behaviour(replies=[Refused(status=status, message="because")])) as server:
        policy = RetryPolicy(attempts=3, first_pause_s=0.001)
        error = failure(OpenAICompatibleModel(Access(base_url=server.base_url, retries=policy)))
        assert (error.kind, error.status, server.stats.requests) == (kind, status, asked)
        assert "because" in error.message
        assert str(server.port) in error.message


def test_a_used_up_quota_is_not_waited_for() -> None:
    gone = Refused(status=429, message="You exceeded your current quota", code="insufficient_quota")
    with StandInModel(Behaviour(replies=[gone])) as server:
        error = failure(openai_at(server))
        assert (error.kind, server.stats.requests) == (ErrorKind.RATE_LIMITED, 1)


def test_a_pause_longer_than_the_deadline_is_not_waited_for() -> None:
    with StandInModel(Behaviour(replies=["rate_limited"], retry_after="3600")) as server:
        start = time.perf_counter()
        error = failure(openai_at(server))
        assert time.perf_counter() - start < 20
        assert (error.kind, error.retry_after_s) == (ErrorKind.RATE_LIMITED, 3600)


@pytest.mark.slow
def test_an_unreachable_host_fails_within_five_seconds_with_a_sentence() -> None:
    model = OpenAICompatibleModel(Access(base_url="http://127.0.0.1:9/v1"))
    start = time.perf_counter()
    error = failure(model)
    assert time.perf_counter() - start < 10
    assert "127.0.0.1:9 cannot be reached: " in str(error)
    assert error.kind in (ErrorKind.PROVIDER, ErrorKind.CIRCUIT_OPEN)


@pytest.mark.slow
def test_who_was_asked_is_told_what_the_provider_said_also_when_nobody_is_asked_any_more() -> None:
    with StandInModel(Behaviour(replies=[Refused(status=500, message="boom")])) as server:
        model = openai_at(server)

        async def work() -> None:
            told = await asyncio.gather(*(model.complete(question()) for _ in range(3)), return_exceptions=True)
            for error in told:
                assert isinstance(error, ProviderError)
                assert (error.kind, error.requests > 0) == (ErrorKind.PROVIDER, True)
                assert "500" in str(error)
                assert "nobody was asked" not in str(error)

        running(model, work)


def test_once_a_host_is_known_to_be_unreachable_everybody_is_told_at_once() -> None:
    model = OpenAICompatibleModel(Access(base_url="http://127.0.0.1:9/v1", retries=QUICK))

    async def work() -> None:
        await asyncio.gather(*(model.complete(question()) for _ in range(64)), return_exceptions=True)
        start = time.perf_counter()
        results = await asyncio.gather(*(model.complete(question()) for _ in range(200)), return_exceptions=True)
        assert time.perf_counter() - start < 4
        told = [result for result in results if isinstance(result, ProviderError)]
        assert len(told) == 200
        assert sum(error.kind is ErrorKind.CIRCUIT_OPEN for error in told) >= 190
        assert "nobody was asked: 127.0.0.1:9 cannot be reached" in str(told[-1])

    running(model, work)


def test_a_provider_that_comes_back_is_waited_for_without_a_storm() -> None:
    down_until = time.monotonic() + 1.0

    def script(asked: Question) -> Refused | str:
        del asked
        return Refused(status=503, message="down") if time.monotonic() < down_until else "4"

    with StandInModel(Behaviour(replies="4")) as server:
        model = openai_at(server)

        async def work() -> list[ChatReply]:
            await model.complete(question())
            server.behaviour.replies = script
            return await asyncio.gather(*(model.complete(question()) for _ in range(40)))

        replies = running(model, work)
        assert [reply.text for reply in replies] == ["4"] * 40
        assert server.stats.outcomes["refused"] <= 60


def test_a_redirect_is_refused_and_says_where_it_leads() -> None:
    with StandInModel(Behaviour(replies=["redirect"])) as server:
        error = failure(openai_at(server))
        assert "redirects to 127.0.0.2:9, which is not followed" in str(error)
        assert server.stats.requests == 1


@pytest.mark.parametrize("text", ['{"choices": []}', "[]", '"x"', '{"choices": [{"message": null}]}', '{"choices": 3}'])
def test_a_body_of_another_shape_is_a_provider_error(text: str) -> None:
    async def odd(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(f"HTTP/1.1 200 OK\r\ncontent-length: {len(text)}\r\nconnection: close\r\n\r\n{text}".encode())
        await writer.drain()
        writer.close()

    async def run() -> None:
        server = await asyncio.start_server(odd, "127.0.0.1", 0)
        port = server.sockets[0].getsockname()[1]
        for protocol in (OpenAICompatibleModel, AnthropicModel):
            policy = RetryPolicy(attempts=2, first_pause_s=0.001)
            model = protocol(Access(base_url=f"http://127.0.0.1:{port}", retries=policy))
            with pytest.raises(ProviderError):
                await model.complete(question())
            await model.close()
        server.close()
        await server.wait_closed()

    asyncio.run(run())


def test_a_cancelled_question_frees_its_place() -> None:
    with StandInModel(Behaviour(latency_s=0.3)) as server:
        model = openai_at(server, limits=Limits(max_concurrency=1))

        async def work() -> str:
            first = asyncio.create_task(model.complete(question()))
            await asyncio.sleep(0.05)
            first.cancel()
            return (await model.complete(question())).text

        assert running(model, work) == "Verdict: CORRECT"


# --- Keys ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("make", [openai_at, anthropic_at])
def test_the_key_is_sent_in_its_header(make: Any) -> None:
    with StandInModel(Behaviour(api_key=KEY)) as server:
        assert ask(make(server)).text


def test_a_bearer_token_is_sent_to_an_anthropic_gateway() -> None:
    with StandInModel(Behaviour(api_key=KEY)) as server:
        access = Access(base_url=server.root_url, api_key=KEY)
        assert ask(AnthropicModel(access, authentication="bearer")).text


@pytest.mark.parametrize("make", [openai_at, anthropic_at])
def test_a_key_that_an_error_repeats_is_blacked_out(make: Any) -> None:
    with StandInModel(Behaviour(api_key="another")) as server:
        error = failure(make(server))
        assert error.kind is ErrorKind.PROVIDER_AUTH
        assert KEY not in str(error) + repr(error) + (error.detail or "")
        assert "***" in str(error)


def test_the_key_is_in_no_representation() -> None:
    access = Access(base_url="https://host/v1", api_key=KEY)
    model = OpenAICompatibleModel(access)
    assert KEY not in repr(access) + repr(model) + repr(vars(model)) + str(model.identity)


@pytest.mark.parametrize(
    "address",
    ["host/v1", "ftp://host", "", "https://", "https://me:secret-pass@host/v1", "https://host/v1?api_key=secret-pass"],
)
def test_an_address_that_is_none_or_holds_credentials_is_refused_without_repeating_them(address: str) -> None:
    with pytest.raises(InvalidSpecError) as caught:
        Access(base_url=address)
    assert "secret-pass" not in str(caught.value)


def test_a_query_of_the_address_stays_at_its_end() -> None:
    assert Access(base_url="https://h/openai?api-version=1").url("/chat/completions") == (
        "https://h/openai/chat/completions?api-version=1"
    )


def test_proxies_of_the_environment_are_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
    with StandInModel() as server:
        assert ask(openai_at(server)).text


# --- Limits ----------------------------------------------------------------------------------------------------------


def test_requests_per_minute_are_paced() -> None:
    with StandInModel() as server:
        model = openai_at(server, limits=Limits(requests_per_minute=600))

        async def work() -> None:
            await asyncio.gather(*(model.complete(question()) for _ in range(16)))

        running(model, work)
        arrivals = list(server.stats.arrivals_s)
        assert arrivals[-1] - arrivals[0] >= 0.55


def test_tokens_per_minute_are_paced_and_put_right_by_what_was_used() -> None:
    usage = {"prompt_tokens": 1000, "completion_tokens": 0}
    with StandInModel(Behaviour(replies=[Reply(text="4", usage=usage)])) as server:
        model = openai_at(server, limits=Limits(tokens_per_minute=120_000))

        async def work() -> None:
            for _ in range(23):
                await model.complete(question())

        start = time.perf_counter()
        running(model, work)
        # 20,000 tokens flow at once, the remaining 3,000 need 1.5 s at 2,000 a second.
        assert 1.0 <= time.perf_counter() - start <= 3


def test_concurrency_is_bounded_and_falls_when_the_provider_says_too_many() -> None:
    with StandInModel(Behaviour(latency_s=0.02)) as server:
        pool = LimiterPool()
        access = Access(base_url=server.base_url, retries=QUICK, limits=Limits(max_concurrency=10))
        model = OpenAICompatibleModel(access, pool=pool)
        limiter = pool.limiter(f"openai-compatible {server.base_url}", "m-1", None, access.limits)

        async def many(count: int) -> None:
            await asyncio.gather(*(model.complete(question()) for _ in range(count)))

        async def work() -> None:
            await many(40)
            assert server.stats.most_under_way == 10
            server.behaviour.replies = ["rate_limited", "rate_limited", "4"]
            await many(5)
            assert limiter.allowed < 10
            server.behaviour.replies = "4"
            await many(200)
            assert limiter.allowed == 10

        running(model, work)


def test_models_that_share_a_key_share_its_limits_and_others_do_not() -> None:
    pool = LimiterPool()
    one = pool.limiter("a", "m", "key", Limits())
    assert pool.limiter("a", "m", "key", Limits()) is one
    assert pool.limiter("a", "m", "other", Limits()) is not one
    assert pool.limiter("a", "n", "key", Limits()) is not one


def test_a_cancelled_wait_for_a_limit_gives_its_place_back() -> None:
    async def run() -> None:
        limiter = Limiter(Limits(requests_per_minute=60, max_concurrency=1))
        await limiter.enter(0)
        waiting = asyncio.create_task(limiter.enter(0))
        await asyncio.sleep(0.01)
        waiting.cancel()
        await asyncio.gather(waiting, return_exceptions=True)
        limiter.leave()
        start = time.perf_counter()
        await limiter.enter(0)
        assert time.perf_counter() - start < 1.8

    asyncio.run(run())


# --- The whole judge over HTTP ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("make", [openai_at, anthropic_at])
def test_a_judge_over_http_gives_verdicts_through_failures_and_a_repair(make: Any) -> None:
    form = JsonForm((TextField("reason"), NumberField("score", 0, 1)))
    template = Template(
        name="t", version="1", system=f"Grade.\n{form.instructions}", user="{{ output }}", response_schema=form.schema
    )
    replies = ["server_error", "I would say good.", '{"reason": "right", "score": 0.75}']
    with StandInModel(Behaviour(replies=replies)) as server:
        model = make(server)
        judge = ModelJudge(model, JudgeSettings(provider="p", model="m"))
        verdict = running(model, lambda: judge.ask(template.render({"output": "4"}), form.read))
        assert verdict.value == {"reason": "right", "score": 0.75}
        assert verdict.repaired
        assert judge.spend.as_usage().requests == 3


def test_a_truncated_reply_of_a_judge_is_an_error_and_never_a_score() -> None:
    form = JsonForm((NumberField("score", 0, 1),))
    template = Template(name="t", version="1", user="{{ output }}")
    cut = Reply(text='{"score": 1', finish_reason="length")
    with StandInModel(Behaviour(replies=[cut])) as server:
        model = openai_at(server)
        judge = ModelJudge(model, JudgeSettings(provider="p", model="m"))
        with pytest.raises(ReplyError) as caught:
            running(model, lambda: judge.ask(template.render({"output": "4"}), form.read))
        assert caught.value.kind is ErrorKind.JUDGE_TRUNCATED
