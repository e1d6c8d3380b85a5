"""Agents behind a URL: what is sent stays data, what comes back is found by paths, and everything else is an error."""

import json
import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalsi.core.content import text_of
from evalsi.core.errors import InvalidSpecError, ProviderError, TargetError, UnknownNameError, UsageError
from evalsi.infra.targets.json_path import MISSING, JsonPath
from evalsi.infra.targets.questions import json_body
from evalsi.ports.target import Answer
from evalsi.schema import Content, ErrorKind, Fault, Record
from tests.infra.targets.agent_server import AgentServer, Said, Seen
from tests.infra.targets.asking import KEY, ask, failure, make, running, task


def asked(answer: Any, given: Any = None, **http: Any) -> tuple[Answer, Seen]:
    with AgentServer(answer if callable(answer) else lambda _: answer) as server:
        path = http.pop("path", "/ask")
        found = ask(make(agent={"http": {"url": server.url + path, **http}}), given)
        return found, server.seen[-1]


def refused(answer: Any, **http: Any) -> tuple[Any, int]:
    with AgentServer(answer if callable(answer) else lambda _: answer) as server:
        spec: dict[str, Any] = {"agent": {"http": {"url": f"{server.url}/ask", **http}}, "max_retries": 1}
        return failure(make(**spec)), len(server.seen)


# --- What is sent ----------------------------------------------------------------------------------------------------


def test_without_a_template_the_input_is_sent_as_it_is() -> None:
    answer, seen = asked({"reply": "4"}, output_path="reply")
    assert (seen.method, seen.path, seen.json) == ("POST", "/ask", {"input": "2+2?"})
    assert seen.headers["content-type"] == "application/json"
    assert answer.output == Content(text="4")


def test_data_cannot_leave_its_place_in_the_body() -> None:
    hostile = '"}, "admin": true, {{ metadata.topic }} \\ \n\x01'
    _, seen = asked(
        "ok",
        task(hostile, metadata={"topic": '", "x": "'}),
        body_template='{"q": "About {{ metadata.topic }}: {{ input }}", "raw": {{ input }}, "m": {{ metadata }}}',
    )
    assert seen.json == {"q": f'About ", "x": ": {hostile}', "raw": hostile, "m": {"topic": '", "x": "'}}


@given(st.text(), st.recursive(st.none() | st.booleans() | st.integers() | st.text(), st.lists))
def test_a_filled_body_is_the_json_that_the_template_spells(text: str, value: Any) -> None:
    template = json_body('{"a": "<{{ input }}>", "b": {{ metadata.v }}, "c": [{{ input }}]}', where="body")
    record = Record(id="r", input=Content(text=text), metadata={"v": value})
    clean = text.encode("utf-8", "replace").decode()
    if clean == text and "\\ud" not in ascii(value):
        assert json.loads(template.fill(record)) == {"a": f"<{text}>", "b": value, "c": [text]}


def test_a_conversation_fills_a_place_as_messages() -> None:
    messages = {"messages": {"messages": [{"role": "user", "content": "hi"}]}}
    given = task()
    given = type(given)(record=Record(id="r", input=_content(messages)))
    _, seen = asked("ok", given, body_template='{"messages": {{ input }}}')
    assert seen.json == {"messages": [{"role": "user", "content": "hi"}]}


def _content(value: Any) -> Content:
    from evalsi.schema.json_codec import convert

    return convert(value, Content)


def test_a_get_has_its_places_in_the_address_percent_encoded() -> None:
    _, seen = asked("ok", task("a b&c=d/../é"), path="/ask?q={{ input }}", method="get")
    assert (seen.method, seen.body) == ("GET", b"")
    assert seen.path == "/ask?q=a%20b%26c%3Dd%2F..%2F%C3%A9"


def test_header_values_come_from_the_environment_and_are_told_nobody() -> None:
    def answer(seen: Seen) -> Said:
        return Said([f"wrong: {seen.headers['x-key']}".encode()], status=403, content_type="text/plain")

    with AgentServer(answer) as server:
        http = {"url": server.url, "headers_env": {"X-Key": "THE_KEY"}, "headers": {"X-Plain": "yes"}}
        target = make(agent={"http": http})
        assert KEY not in repr(vars(target)) + json.dumps(target.identity)
        error = failure(target)
        assert server.seen[-1].headers["x-key"] == KEY
        assert server.seen[-1].headers["x-plain"] == "yes"
        assert error.kind is ErrorKind.TARGET_AUTH
        assert KEY not in str(error) + str(error.detail)
        assert "wrong: ***" in str(error)


# --- What is read ----------------------------------------------------------------------------------------------------


def test_paths_find_every_part_of_an_answer() -> None:
    body = {
        "choices": [{"message": {"content": "4"}}],
        "meta": {"usage": {"prompt_tokens": 10, "completionTokens": 2, "cost": 0.5, "vendor": "x"}, "why": "max_steps"},
        "steps": [{"type": "tool", "name": "add", "input": "2,2", "output": "4"}],
    }
    answer, _ = asked(
        body,
        output_path="choices[0].message.content",
        usage_path="meta.usage",
        stop_reason_path="$.meta.why",
        trajectory_path="steps",
    )
    assert (text_of(answer.output), answer.stop_reason) == ("4", "max_steps")
    usage = answer.usage
    assert (usage.input_tokens, usage.output_tokens, usage.cost_usd, usage.requests) == (10, 2, 0.5, 1)
    assert usage.latency is not None
    assert answer.trajectory is not None
    assert answer.trajectory.steps[0].name == "add"
    assert answer.notes == ()


def test_messages_are_the_output_when_no_output_is_named_and_kept_beside_it_else() -> None:
    messages = [{"role": "user", "content": "2+2?"}, {"role": "assistant", "content": "4"}]
    alone, _ = asked({"history": messages, "text": "four"}, messages_path="history")
    assert alone.output.messages is not None
    assert [message.role for message in alone.output.messages.messages] == ["user", "assistant"]
    beside, _ = asked({"history": messages, "text": "four"}, messages_path="history", output_path="text")
    assert beside.output == Content(text="four")
    assert beside.details == {"messages": messages}


@pytest.mark.parametrize(
    ("said", "output"),
    [
        (Said([b"just text"], content_type="text/plain"), Content(text="just text")),
        (Said([b'"quoted"']), Content(text="quoted")),
        (Said([b'{"a": 1}']), Content(json={"a": 1})),
        (Said([b"[1, 2]"]), Content(json=[1, 2])),
    ],
)
def test_without_paths_the_whole_body_is_the_output(said: Said, output: Content) -> None:
    assert asked(said)[0].output == output


def test_an_empty_output_is_an_answer_with_a_note() -> None:
    assert asked({"reply": ""}, output_path="reply")[0].notes == ("the answer is empty",)


def test_an_unreadable_trajectory_is_a_note_and_the_answer_stands() -> None:
    answer, _ = asked({"reply": "4", "steps": [{"kind": 1}]}, output_path="reply", trajectory_path="steps")
    assert text_of(answer.output) == "4"
    assert answer.trajectory is None
    assert "the trajectory cannot be read" in answer.notes[0]


@pytest.mark.parametrize("body", [{"error": "no"}, {"reply": None}, [], "text", 3])
def test_a_missing_output_is_the_agents_fault_and_says_what_came(body: Any) -> None:
    error, requests = refused(body, output_path="reply")
    assert isinstance(error, TargetError)
    assert (error.kind, error.fault, requests) == (ErrorKind.TARGET, Fault.AGENT, 1)
    assert "has nothing at reply" in str(error)


# --- Streams ---------------------------------------------------------------------------------------------------------


def events(*bodies: Any) -> list[bytes]:
    return [f"data: {json.dumps(body)}\n\n".encode() for body in bodies]


def test_a_stream_is_put_together_and_timed() -> None:
    pieces = [
        *events({"delta": {"text": "It is "}}, {"delta": {"text": "four"}}),
        *events({"usage": {"input_tokens": 3, "output_tokens": 4}, "stop": "end"}),
        b"data: [DONE]\n\n",
    ]
    said = Said(pieces, content_type="text/event-stream", pause_s=0.02)
    answer, _ = asked(said, stream=True, delta_path="delta.text", usage_path="usage", stop_reason_path="stop")
    assert (text_of(answer.output), answer.stop_reason) == ("It is four", "end")
    assert (answer.usage.input_tokens, answer.usage.output_tokens) == (3, 4)
    assert answer.time_to_first_token_s is not None
    assert answer.usage.latency is not None
    assert answer.usage.latency - answer.time_to_first_token_s > 0.03


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_events_are_read_however_lines_end_and_wherever_pieces_are_cut(end: str) -> None:
    whole = f": hello{end}event: message{end}data: one{end}data: two{end}{end}data:three{end}{end}".encode()
    pieces = [whole[position : position + 1] for position in range(len(whole))]
    answer, _ = asked(Said(pieces, content_type="text/event-stream"), stream=True)
    assert text_of(answer.output) == "one\ntwothree"


def test_lines_of_json_are_a_stream_too() -> None:
    pieces = [b'{"t": "a"}\n{"t', b'": "b"}\n', b'{"t": "c"}']
    answer, _ = asked(Said(pieces, content_type="application/x-ndjson"), stream=True, delta_path="t")
    assert text_of(answer.output) == "abc"


def test_a_stream_of_json_without_a_path_for_its_text_says_so() -> None:
    error, _ = refused(Said(events({"t": "a"}), content_type="text/event-stream"), stream=True)
    assert "no delta_path says where its text stands" in str(error)


def test_an_error_event_is_asked_again_and_then_an_error() -> None:
    said = Said([*events({"t": "a"}), b"event: error\ndata: overloaded\n\n"], content_type="text/event-stream")
    error, requests = refused(said, stream=True, delta_path="t")
    assert isinstance(error, ProviderError)
    assert (requests, error.requests) == (2, 2)
    assert "overloaded" in str(error)


# --- Failures --------------------------------------------------------------------------------------------------------


def test_redirects_to_other_hosts_are_not_followed() -> None:
    said = Said(status=307, headers="location: http://127.0.0.2:9/steal\r\n")
    error, requests = refused(said)
    assert "redirects to 127.0.0.2:9, which is not followed" in str(error)
    assert (requests, error.may_retry) == (1, False)


def test_a_broken_body_is_asked_again() -> None:
    error, requests = refused(Said([b'{"reply": "4']), output_path="reply")
    assert isinstance(error, ProviderError)
    assert (requests, error.requests) == (2, 2)


def test_an_agent_that_takes_too_long_is_an_error_and_never_an_empty_answer() -> None:
    start = time.perf_counter()
    said = Said([b"{", b"}"], pause_s=5)
    error, _ = refused(said, timeout="0.2s")
    assert error.kind is ErrorKind.TIMEOUT
    assert time.perf_counter() - start < 4.5


def test_a_check_asks_with_head_and_tells_of_a_wrong_key() -> None:
    with AgentServer(lambda _: Said(status=405)) as server:
        target = make(agent={"http": {"url": f"{server.url}/ask/{{{{ id }}}}"}})
        assert running(target, target.check) == ""
        assert [(seen.method, seen.path) for seen in server.seen] == [("HEAD", "/ask/")]
    with AgentServer(lambda _: Said(status=401)) as server:
        target = make(agent={"http": {"url": server.url}})
        with pytest.raises(ProviderError, match="the key was not accepted"):
            running(target, target.check)


@pytest.mark.parametrize(
    ("http", "where", "said"),
    [
        ({"url": "http://{{ input }}/"}, "target.agent.http.url", "must not decide which host"),
        ({"url": "ftp://h"}, "target.base_url", "is no http address"),
        ({"url": "http://h/", "body_template": "{{ reference }}"}, "target.agent.http.body_template", "right answer"),
        ({"url": "http://h/", "body_template": '{"q": }'}, "target.agent.http.body_template", "no JSON"),
        ({"url": "http://h/", "output_path": "a..b"}, "target.agent.http.output_path", "is no path"),
        ({"url": "http://h/", "delta_path": "a"}, "target.agent.http.delta_path", "add stream: true"),
        ({"url": "http://h/", "method": "GET", "body_template": "1"}, "target.agent.http.body_template", "no body"),
    ],
)
def test_what_cannot_be_sent_is_refused_with_its_place(http: dict[str, Any], where: str, said: str) -> None:
    with pytest.raises(InvalidSpecError) as caught:
        make(agent={"http": http})
    assert caught.value.where is not None
    assert caught.value.where.replace("agent.http.base_url", "base_url") == where
    assert said in str(caught.value)


def test_other_wrong_words_are_named() -> None:
    with pytest.raises(UnknownNameError, match="method"):
        make(agent={"http": {"url": "http://h/", "method": "DELETE"}})
    with pytest.raises(InvalidSpecError, match="agents behind a2a cannot be asked yet"):
        make(agent={"a2a": {"url": "http://h/"}})
    with pytest.raises((UsageError, KeyError)):
        make(agent={"http": {"url": "http://h/", "headers_env": {"X": "NOT_SET"}}})


# --- Paths -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("path", "found"),
    [
        ("", {"a": [{"b.c": 1}, {"d": None}], "é x": 2}),
        ("$", {"a": [{"b.c": 1}, {"d": None}], "é x": 2}),
        ('a[0]["b.c"]', 1),
        ('$.a[0]["b.c"]', 1),
        ("a[-1].d", None),
        ('["é x"]', 2),
        ("a[2]", MISSING),
        ("a[-3]", MISSING),
        ("a.b", MISSING),
        ("x", MISSING),
    ],
)
def test_a_path_finds_one_place_or_none(path: str, found: Any) -> None:
    assert JsonPath(path, where="p").find({"a": [{"b.c": 1}, {"d": None}], "é x": 2}) == found


@pytest.mark.parametrize("path", ["a.", ".a", "a..b", "a[", "a[x]", "a[*]", "a b", "a[0", '["a]', "a]"])
def test_what_is_no_path_is_refused(path: str) -> None:
    with pytest.raises(InvalidSpecError, match="is no path"):
        JsonPath(path, where="p")
