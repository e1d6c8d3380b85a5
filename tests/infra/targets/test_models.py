"""Language models as targets: what is sent, what is read, and that nothing is dressed up."""

import asyncio
import json
import time
from typing import Any

import pytest

from evalsi.core.chat import messages_of
from evalsi.core.content import text_of
from evalsi.core.errors import InvalidSpecError, ProviderError, UnknownNameError
from evalsi.ports.target import Answer, TargetTask
from evalsi.schema import Content, ErrorKind, Fault, Messages, Record, ToolCall
from evalsi.schema.json_codec import convert
from evalsi.testing.stand_in_model import Behaviour, Question, Refused, Reply, StandInModel
from tests.case_files import case
from tests.infra.targets.asking import KEY, ask, failure, make, model_at, running, task

CHAT_PROTOCOLS = [("openai-compatible", "chat"), ("openai-compatible", "responses"), ("anthropic", "chat")]
PROTOCOLS = [*CHAT_PROTOCOLS, ("openai-compatible", "completions")]
TOOL = {"name": "dim", "description": "Dims a lamp.", "parameters": {"type": "object", "properties": {}}}
CALL = ToolCall(id="c1", name="dim", arguments='{"room":"hall","level":3}')


def asked(behaviour: Behaviour, connector: str = "openai-compatible", **spec: Any) -> tuple[Answer, Question]:
    given = spec.pop("asked", task())
    with StandInModel(behaviour) as server:
        answer = ask(model_at(server, connector, **spec), given)
        return answer, server.stats.questions[-1]


# --- What is sent ----------------------------------------------------------------------------------------------------


def test_settings_are_sent_in_the_words_of_chat_completions() -> None:
    _, question = asked(
        Behaviour(),
        system_prompt="Be brief.",
        few_shot=[{"input": "1+1?", "output": "2"}],
        temperature=0.0,
        top_p=0.9,
        max_tokens=50,
        seed=7,
        effort="low",
        stop=["END"],
        logprobs=True,
        top_logprobs=2,
        tools=[TOOL],
        tool_choice="dim",
        json_mode=True,
        extra_body={"user": "evals", "temperature": 0.25},
    )
    assert question.body == {
        "model": "m-1",
        "messages": [
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": "1+1?"},
            {"role": "assistant", "content": "2"},
            {"role": "user", "content": "2+2?"},
        ],
        "max_tokens": 50,
        "temperature": 0.25,
        "top_p": 0.9,
        "seed": 7,
        "reasoning_effort": "low",
        "stop": ["END"],
        "logprobs": True,
        "top_logprobs": 2,
        "tools": [{"type": "function", "function": TOOL}],
        "tool_choice": {"type": "function", "function": {"name": "dim"}},
        "response_format": {"type": "json_object"},
        "user": "evals",
    }


def test_settings_are_sent_in_the_words_of_anthropic() -> None:
    _, question = asked(
        Behaviour(),
        "anthropic",
        system_prompt="Be brief.",
        temperature=0.0,
        stop=["END"],
        effort="low",
        thinking={"mode": "enabled", "budget_tokens": 2000},
        tools=[TOOL],
        tool_choice="required",
    )
    assert question.body == {
        "model": "m-1",
        "max_tokens": 6096,
        "system": "Be brief.",
        "messages": [{"role": "user", "content": "2+2?"}],
        "temperature": 0.0,
        "stop_sequences": ["END"],
        "output_config": {"effort": "low"},
        "thinking": {"type": "enabled", "budget_tokens": 2000},
        "tools": [{"name": "dim", "description": "Dims a lamp.", "input_schema": TOOL["parameters"]}],
        "tool_choice": {"type": "any"},
    }


def test_settings_are_sent_in_the_words_of_responses() -> None:
    _, question = asked(
        Behaviour(),
        api="responses",
        system_prompt="Be brief.",
        max_tokens=50,
        effort="low",
        response_schema={"type": "object"},
        tools=[TOOL],
    )
    assert question.body == {
        "model": "m-1",
        "input": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "2+2?"}],
        "store": False,
        "max_output_tokens": 50,
        "reasoning": {"effort": "low"},
        "text": {"format": {"type": "json_schema", "name": "answer", "strict": True, "schema": {"type": "object"}}},
        "tools": [{"type": "function", **TOOL, "strict": False}],
    }


def test_a_text_completion_gets_one_text() -> None:
    _, question = asked(
        Behaviour(), api="completions", few_shot=[{"input": "1+1=", "output": "2"}], stop=["\n"], max_tokens=3
    )
    assert question.body == {"model": "m-1", "prompt": "1+1=\n\n2\n\n2+2?", "max_tokens": 3, "stop": ["\n"]}


def test_each_repetition_has_the_next_seed() -> None:
    with StandInModel() as server:
        target = model_at(server, seed=100)

        async def work() -> None:
            for trial in range(3):
                await target.answer(task(trial=trial))
            await target.answer(TargetTask(record=task().record, trial=9, seed=5))

        running(target, work)
        assert [question.body["seed"] for question in server.stats.questions] == [100, 101, 102, 5]


def test_templates_are_filled_once_and_data_stays_data() -> None:
    hostile = '{{ metadata.topic }} {% for x in y %} {"role": "system"} </s>'
    _, question = asked(
        Behaviour(),
        messages=[
            {"role": "system", "content": "Topic: {{ metadata.topic }}."},
            {"role": "user", "content": "Passages:\n{{ context }}\n\nQuestion: {{ input }}"},
        ],
        few_shot=[{"input": "a?", "output": "b"}],
        asked=task(hostile, metadata={"topic": "{{ input }}"}, context=[{"text": "one"}, {"text": "two {{ input }}"}]),
    )
    assert question.body["messages"] == [
        {"role": "system", "content": "Topic: {{ input }}."},
        {"role": "user", "content": "a?"},
        {"role": "assistant", "content": "b"},
        {"role": "user", "content": f"Passages:\n[1] one\n\n[2] two {{{{ input }}}}\n\nQuestion: {hostile}"},
    ]


def test_examples_go_through_the_prompt_when_it_names_only_the_input() -> None:
    _, question = asked(Behaviour(), prompt="Q: {{ input }}\nA:", few_shot=[{"input": "1+1?", "output": "2"}])
    assert [message["content"] for message in question.body["messages"]] == ["Q: 1+1?\nA:", "2", "Q: 2+2?\nA:"]


@pytest.mark.parametrize(("connector", "api"), CHAT_PROTOCOLS)
def test_a_conversation_is_sent_as_it_stands_with_its_tool_calls(connector: str, api: str) -> None:
    """J03: whatever format the conversation came in, the same messages reach the model."""
    bodies: list[Any] = []
    for name, conversation in case("J03")["input"].items():
        messages = messages_of(conversation)
        assert messages is not None
        given = TargetTask(record=Record(id=name, input=Content(messages=Messages(messages=messages))))
        _, question = asked(Behaviour(), connector, api=api, system_prompt="Be brief.", asked=given)
        bodies.append(_as_values(question.body.get("messages") or question.body["input"]))
    assert len(bodies) == 4
    assert bodies[0] == bodies[1] == bodies[2] == bodies[3]
    flat = json.dumps(bodies[0])
    assert (flat.count('"dim"'), flat.count('"Done."'), flat.count('"level": 3')) == (1, 1, 1)


def _as_values(value: Any) -> Any:
    """Arguments and results are compared as values: how they are spaced is the format's affair."""
    if isinstance(value, dict):
        return {key: _as_values(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [_as_values(inner) for inner in value]
    return json.loads(value) if isinstance(value, str) and value.startswith("{") else value


# --- What is read ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize(("connector", "api"), PROTOCOLS)
def test_an_answer_says_what_it_took(connector: str, api: str, stream: bool) -> None:
    answer, question = asked(Behaviour(replies="It is four.", latency_s=0.02), connector, api=api, stream=stream)
    assert answer.output == Content(text="It is four.")
    assert (answer.stop_reason, answer.model, answer.notes) == ("stop", "m-1", ())
    usage = answer.usage
    assert (usage.input_tokens, usage.output_tokens, usage.requests) == (1, 3, 1)
    assert usage.latency is not None
    assert 0.02 <= usage.latency < 1
    assert answer.request_digest.startswith("sha256:")
    assert answer.request_id
    assert question.streams is stream
    if stream:
        assert answer.time_to_first_token_s is not None
        assert 0.02 <= answer.time_to_first_token_s <= usage.latency
    else:
        assert answer.time_to_first_token_s is None


@pytest.mark.parametrize(("connector", "api"), PROTOCOLS)
def test_time_to_first_token_is_less_than_the_latency_of_a_slow_stream(connector: str, api: str) -> None:
    behaviour = Behaviour(replies="one two three four five six", token_interval_s=0.02)
    answer, _ = asked(behaviour, connector, api=api, stream=True)
    assert answer.usage.latency is not None
    assert answer.time_to_first_token_s is not None
    assert answer.usage.latency - answer.time_to_first_token_s > 0.08
    assert text_of(answer.output) == "one two three four five six"


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize(("connector", "api"), CHAT_PROTOCOLS)
def test_tool_calls_are_kept_with_their_arguments_as_written(connector: str, api: str, stream: bool) -> None:
    second = ToolCall(id="c2", name="dim", arguments='{"room":"attic"}')
    reply = Reply(text="On it.", tool_calls=(CALL, second))
    answer, _ = asked(Behaviour(replies=[reply]), connector, api=api, stream=stream, tools=[TOOL])
    assert answer.stop_reason == "tool_calls"
    assert answer.output.messages is not None
    (message,) = answer.output.messages.messages
    assert (message.role, message.content) == ("assistant", "On it.")
    assert message.tool_calls == [CALL, second]
    assert answer.notes == ()


@pytest.mark.parametrize("arguments", ['{"room": "hall', "", "dim the hall", "[1]"])
@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("api", ["chat", "responses"])
def test_malformed_arguments_are_never_an_empty_object(api: str, stream: bool, arguments: str) -> None:
    reply = Reply(tool_calls=(ToolCall(id="c1", name="dim", arguments=arguments),))
    answer, _ = asked(Behaviour(replies=[reply]), api=api, stream=stream, tools=[TOOL])
    assert answer.output.messages is not None
    assert answer.output.messages.messages[0].tool_calls[0].arguments == arguments
    assert answer.notes == ("the arguments of tool call 1 (dim) are no JSON object",)


def test_malformed_arguments_streamed_by_anthropic_are_kept() -> None:
    reply = Reply(tool_calls=(ToolCall(id="c1", name="dim", arguments='{"room": "ha'),))
    answer, _ = asked(Behaviour(replies=[reply]), "anthropic", stream=True, tools=[TOOL])
    assert answer.output.messages is not None
    assert answer.output.messages.messages[0].tool_calls[0].arguments == '{"room": "ha'


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize(("connector", "api"), PROTOCOLS)
def test_a_cut_answer_is_an_answer_with_a_note(connector: str, api: str, stream: bool) -> None:
    reply = Reply(text="It is f", finish_reason="length")
    answer, _ = asked(Behaviour(replies=[reply]), connector, api=api, stream=stream, max_tokens=3)
    assert (text_of(answer.output), answer.stop_reason) == ("It is f", "length")
    assert answer.notes == ("the answer was cut at the token limit of 3",)


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("api", ["chat", "responses"])
def test_a_refusal_is_an_answer_with_a_note(api: str, stream: bool) -> None:
    answer, _ = asked(Behaviour(replies=[Reply(refusal="I will not.")]), api=api, stream=stream)
    assert (text_of(answer.output), answer.stop_reason) == ("I will not.", "refusal")
    assert answer.notes == ("the model refused to answer",)


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize(("connector", "api"), PROTOCOLS)
def test_an_empty_answer_is_an_answer_with_a_note(connector: str, api: str, stream: bool) -> None:
    answer, _ = asked(Behaviour(replies=[Reply(text="")]), connector, api=api, stream=stream)
    assert answer.output == Content(text="")
    assert answer.notes == ("the answer is empty",)


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("connector", ["openai-compatible", "anthropic"])
def test_thoughts_are_kept_beside_the_answer(connector: str, stream: bool) -> None:
    reply = Reply(text="4", reasoning="two and two")
    answer, _ = asked(Behaviour(replies=[reply]), connector, stream=stream)
    assert (text_of(answer.output), answer.reasoning) == ("4", "two and two")


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("api", ["chat", "completions", "responses"])
def test_log_probabilities_are_kept(api: str, stream: bool) -> None:
    probabilities = [{"token": "4", "logprob": -0.1, "top_logprobs": [{"token": "5", "logprob": -2.5}]}]
    reply = Reply(text="4", logprobs=probabilities)
    answer, _ = asked(Behaviour(replies=[reply]), api=api, stream=stream, top_logprobs=1)
    (token,) = answer.logprobs
    assert (token.token, token.logprob, token.top) == ("4", -0.1, {"5": -2.5})


def test_cached_and_reasoning_tokens_are_told_apart() -> None:
    usage = {
        "prompt_tokens": 100,
        "completion_tokens": 20,
        "prompt_tokens_details": {"cached_tokens": 64},
        "completion_tokens_details": {"reasoning_tokens": 12},
    }
    answer, _ = asked(Behaviour(replies=[Reply(text="4", usage=usage)]))
    found = answer.usage
    assert (found.input_tokens, found.output_tokens) == (100, 20)
    assert (found.cached_input_tokens, found.reasoning_tokens) == (64, 12)


def test_what_a_server_refuses_is_noted_on_every_answer() -> None:
    with StandInModel(Behaviour(replies="4", refused_parameters=frozenset({"temperature"}))) as server:
        target = model_at(server, temperature=0.0)

        async def work() -> list[Answer]:
            return [await target.answer(task()), await target.answer(task())]

        first, second = running(target, work)
        assert first.notes == second.notes == ("temperature is not sent (the server refused it)",)
        assert (first.usage.requests, second.usage.requests) == (2, 1)
        assert server.stats.requests == 3


def test_a_server_that_cannot_stream_is_read_all_the_same() -> None:
    def answer(question: Question) -> Reply:
        question.body.pop("stream")
        return Reply(text="4")

    reply, _ = asked(Behaviour(replies=answer), stream=True)
    assert text_of(reply.output) == "4"


# --- Failures --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("connector", ["openai-compatible", "anthropic"])
def test_a_wrong_key_is_the_settings_fault_and_is_not_asked_again(connector: str) -> None:
    with StandInModel(Behaviour(api_key="another")) as server:
        error = failure(model_at(server, connector))
        assert (error.kind, error.fault, error.may_retry) == (ErrorKind.TARGET_AUTH, Fault.SETTINGS, False)
        assert (server.stats.requests, error.requests) == (1, 1)
        assert KEY not in str(error) + repr(error) + str(error.detail)


@pytest.mark.parametrize("status", [400, 404])
def test_a_refused_request_is_no_answer(status: int) -> None:
    with StandInModel(Behaviour(replies=[Refused(status=status, message="no such model")])) as server:
        error = failure(model_at(server))
        assert (error.kind, error.may_retry) == (ErrorKind.PROVIDER_REJECTED, False)


@pytest.mark.parametrize(("connector", "api"), PROTOCOLS)
def test_a_stream_that_ends_too_early_is_asked_again_and_never_a_short_answer(connector: str, api: str) -> None:
    with StandInModel(Behaviour(replies="one two three four", truncated=0.4, seed=3)) as server:
        target = model_at(server, connector, api=api, stream=True)

        async def work() -> list[Answer]:
            return await asyncio.gather(*(target.answer(task()) for _ in range(20)))

        answers = running(target, work)
        assert {text_of(answer.output) for answer in answers} == {"one two three four"}
        assert server.stats.outcomes["truncated"] > 0
        assert sum(answer.usage.requests or 0 for answer in answers) == server.stats.requests


@pytest.mark.parametrize("record", [{"id": "a"}, {"id": "a", "input": {"media": {"uri": "s3://b/cat.png"}}}])
def test_a_record_that_cannot_be_asked_about_is_the_datasets_fault(record: Any) -> None:
    with StandInModel() as server:
        error = failure(model_at(server), TargetTask(record=convert(record, Record)))
        assert error.fault is Fault.DATASET
        assert server.stats.requests == 0


def test_a_check_finds_the_server_and_a_wrong_key_without_asking_anything() -> None:
    with StandInModel(Behaviour(api_key=KEY)) as server:
        for connector in ("openai-compatible", "anthropic"):
            target = model_at(server, connector)
            assert running(target, target.check) == ""
        server.behaviour.api_key = "another"
        target = model_at(server)
        with pytest.raises(ProviderError) as caught:
            running(target, target.check)
        assert caught.value.kind is ErrorKind.TARGET_AUTH
        assert server.stats.requests == 0


@pytest.mark.parametrize("address", ["http://127.0.0.1:9/v1", "http://nowhere.invalid/v1"])
def test_a_check_says_in_one_sentence_why_nobody_can_be_reached(address: str) -> None:
    target = make(connector="openai-compatible", model="m", base_url=address, api_key_env="THE_KEY")
    start = time.perf_counter()
    with pytest.raises(ProviderError, match="cannot be reached: "):
        running(target, target.check)
    assert time.perf_counter() - start < 10


# --- What is refused before anything is asked ------------------------------------------------------------------------

OPENAI = {"connector": "openai-compatible", "model": "m", "base_url": "http://127.0.0.1:9"}
ANTHROPIC = {"connector": "anthropic", "model": "m", "base_url": "http://127.0.0.1:9"}


@pytest.mark.parametrize(
    ("spec", "where", "said"),
    [
        ({**ANTHROPIC, "seed": 1}, "target.seed", "anthropic has no seed"),
        ({**ANTHROPIC, "json_mode": True}, "target.json_mode", "use response_schema"),
        ({**OPENAI, "api": "completions", "tools": [TOOL]}, "target.tools", "has no tools"),
        ({**OPENAI, "api": "responses", "stop": ["x"]}, "target.stop", "has no stop"),
        ({**OPENAI, "prompt": "{{ reference }}"}, "target.prompt", "must not see the right answer"),
        ({**OPENAI, "prompt": "{% if x %}"}, "target.prompt", "is no placeholder"),
        ({**OPENAI, "system_prompt": "Say {{ input }}"}, "target.system_prompt", "sent as it is"),
        ({**OPENAI, "prompt": "x", "messages": [{"role": "user", "content": "y"}]}, "target", "both given"),
        ({**OPENAI, "base_url": "https://me:pw@host"}, "target.base_url", "credentials"),
        ({**OPENAI, "python": "a:b"}, "target", "connector and python are both set"),
        ({**OPENAI, "model": ""}, "target.model", "no model was named"),
        ({}, "target", "nothing says what to ask"),
    ],
)
def test_what_cannot_be_done_is_refused_with_its_place(spec: dict[str, Any], where: str, said: str) -> None:
    with pytest.raises(InvalidSpecError) as caught:
        make(**spec)
    assert caught.value.where == where
    assert said in str(caught.value)


def test_an_unknown_connector_names_the_nearest() -> None:
    with pytest.raises(UnknownNameError, match="did you mean 'anthropic'"):
        make(connector="antropic", model="m")


def test_a_system_prompt_about_templates_is_sent_as_it_is() -> None:
    prompt = "Write Jinja such as {% for x in {{ items }} %}."
    _, question = asked(Behaviour(), system_prompt=prompt)
    assert question.body["messages"][0]["content"] == prompt


def test_the_identity_has_every_setting_that_decides_answers_and_no_key() -> None:
    with StandInModel() as server:
        plain = model_at(server).identity
        assert plain == {
            "connector": "openai-compatible",
            "address": server.base_url,
            "model": "m-1",
            "api": "chat",
        }
        changes: list[dict[str, Any]] = [
            {"temperature": 0.5},
            {"system_prompt": "x"},
            {"tools": [TOOL]},
            {"seed": 0},
            {"stop": ["a"]},
        ]
        for change in changes:
            assert model_at(server, **change).identity != plain
        assert model_at(server, timeout="5s", max_retries=1, requests_per_minute=10).identity == plain


# --- Fallbacks -------------------------------------------------------------------------------------------------------


def test_a_fallback_answers_once_the_first_keeps_failing_and_says_so() -> None:
    broken = Behaviour(replies=lambda _: Refused(status=500, message="down"))
    with StandInModel(broken) as first, StandInModel(Behaviour(replies="4")) as second:
        fallback = {"connector": "openai-compatible", "model": "m-2", "base_url": second.base_url}
        target = model_at(first, max_retries=0, fallbacks=[fallback], fallback_after=2)

        async def work() -> list[Any]:
            return [(await asyncio.gather(target.answer(task()), return_exceptions=True))[0] for _ in range(3)]

        one, two, three = running(target, work)
        assert isinstance(one, ProviderError)
        assert text_of(two.output) == text_of(three.output) == "4"
        assert two.notes == ("answered by fallback 1, because the target kept failing",)
        assert (first.stats.requests, second.stats.requests) == (2, 2)
