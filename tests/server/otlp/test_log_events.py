"""Events that come as log records, sent by OpenTelemetry's own exporters: what was said is put into its span, what was judged
is feedback.
"""

import json
import time
from collections.abc import Generator, Sequence
from pathlib import Path
from typing import Any

import pytest
from opentelemetry._logs import LogRecord, SeverityNumber
from opentelemetry.exporter.otlp.proto.grpc._log_exporter import OTLPLogExporter as GrpcExporter
from opentelemetry.exporter.otlp.proto.http._log_exporter import OTLPLogExporter as HttpExporter
from opentelemetry.sdk._logs import LoggerProvider
from opentelemetry.sdk._logs.export import LogRecordExporter, SimpleLogRecordProcessor
from opentelemetry.sdk.resources import Resource
from opentelemetry.trace import NonRecordingSpan, SpanContext, TraceFlags, set_span_in_context

from evalsi.traces import Span, SpanEvent
from tests.server.otlp.sending import JSON, a_trace, body_of, partial_success, post, status_of, stored
from tests.server.running_server import RunningServer, running_server, wait_until
from tests.traces.reading import GOLDEN

CONFIGURATION = """
data_dir: store
otlp: {grace: 0.2s, grpc_listen: "127.0.0.1:0"}
traces: {redaction: {pii: [email]}}
"""
TOLD: list[tuple[str, dict[str, Any]]] = [
    ("gen_ai.system.message", {"content": "You watch lamps."}),
    ("gen_ai.user.message", {"content": "Is the hall lamp on? Tell jane@example.com."}),
    (
        "gen_ai.choice",
        {
            "index": 0,
            "finish_reason": "tool_calls",
            "message": {
                "role": "assistant",
                "tool_calls": [
                    {"id": "c1", "type": "function", "function": {"name": "lamp", "arguments": '{"room": "hall"}'}}
                ],
            },
        },
    ),
]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Generator[RunningServer]:
    folder: Path = tmp_path_factory.mktemp("events")
    (folder / "evalsi.yaml").write_text(CONFIGURATION, encoding="utf-8")
    with running_server(folder, ["--config", "evalsi.yaml"]) as found:
        yield found


def exporter(server: RunningServer, protocol: str) -> LogRecordExporter:
    if protocol == "http":
        return HttpExporter(endpoint=f"http://{server.address}/v1/logs")
    return GrpcExporter(endpoint=f"http://{server.address}", insecure=True)


def emit(
    by: LogRecordExporter, events: Sequence[tuple[str, Any, dict[str, Any]]], span: Span | None = None, **resource: str
) -> None:
    """Emits events (name, body, attributes) as an instrumentation does, within a span."""
    provider = LoggerProvider(resource=Resource.create({"service.name": "shop", **resource}))
    provider.add_log_record_processor(SimpleLogRecordProcessor(by))
    logger = provider.get_logger("opentelemetry.instrumentation.openai_v2")
    context = None
    if span is not None:
        about = SpanContext(int(span.trace_id, 16), int(span.span_id, 16), is_remote=False, trace_flags=TraceFlags(1))
        context = set_span_in_context(NonRecordingSpan(about))
    for name, body, attributes in events:
        logger.emit(
            LogRecord(
                timestamp=time.time_ns(),
                context=context,
                severity_number=SeverityNumber.INFO,
                event_name=name,
                body=body,
                attributes=attributes,
            )
        )
    provider.shutdown()


def asked() -> list[Span]:
    """A model call without content, as an instrumentation sends it that keeps content out of attributes."""
    (span,) = a_trace(1)
    said = {"gen_ai.operation.name": "chat", "gen_ai.request.model": "gpt-4o", "gen_ai.provider.name": "openai"}
    return [Span(**{**{name: getattr(span, name) for name in Span.__struct_fields__}, "attributes": said})]


def step_of(server: RunningServer, trace_id: str) -> Any:
    found = stored(server, trace_id)
    steps = found["record"]["trajectory"]["steps"] if found else []
    return steps[0] if len(steps) == 1 else None


def feedback(server: RunningServer, trace_id: str) -> list[Any]:
    found = stored(server, trace_id)
    return found.get("feedback", []) if found else []


@pytest.mark.parametrize("protocol", ["http", "grpc"])
@pytest.mark.parametrize("first", ["span", "events"])
def test_messages_in_log_records_become_the_conversation_of_their_span(
    server: RunningServer, protocol: str, first: str
) -> None:
    (span,) = asked()
    told = [(name, body, {"gen_ai.system": "openai"}) for name, body in TOLD]
    if first == "span":
        assert post(server, body_of(span))[0] == 200
    emit(exporter(server, protocol), told, span)
    if first == "events":
        assert post(server, body_of(span))[0] == 200
    step = step_of(server, span.trace_id)
    assert step["type"] == "STEP_TYPE_LLM", step
    said = [(each["role"], each["content"]) for each in step["input"]["messages"]["messages"]]
    assert said == [("system", "You watch lamps."), ("user", "Is the hall lamp on? Tell [EMAIL].")]
    ((call,),) = [message["toolCalls"] for message in step["output"]["messages"]["messages"]]
    assert (call["id"], call["name"], json.loads(call["arguments"])) == ("c1", "lamp", {"room": "hall"})


@pytest.mark.parametrize("name", ["genai-events", "genai-message-events"])
def test_what_a_library_sends_as_spans_and_logs_is_one_conversation(server: RunningServer, name: str) -> None:
    sent = json.loads((GOLDEN / f"{name}.json").read_bytes())
    for path, part in (("/v1/logs", "resourceLogs"), ("/v1/traces", "resourceSpans")):
        status, _, answer = server.request("POST", path, json.dumps({part: sent[part]}), JSON)
        assert (status, answer) == (200, b"{}")
    (trace_id,) = {
        span["traceId"] for group in sent["resourceSpans"] for scope in group["scopeSpans"] for span in scope["spans"]
    }
    assert wait_until(lambda: stored(server, trace_id)["summary"].get("complete"), 40)
    assert stored(server, trace_id)["summary"]["output"] == "Yes, it is on."
    steps = stored(server, trace_id)["record"]["trajectory"]["steps"]
    assert [step["type"] for step in steps].count("STEP_TYPE_LLM") == 2
    assert len(steps) == 4


def test_what_is_sent_twice_is_there_once_and_what_comes_late_is_a_revision(server: RunningServer) -> None:
    (span,) = asked()
    assert post(server, body_of(span))[0] == 200
    assert wait_until(lambda: stored(server, span.trace_id)["summary"].get("complete"), 40)
    first = stored(server, span.trace_id)["summary"].get("revision", 0)
    record = {
        "traceId": span.trace_id,
        "spanId": span.span_id,
        "timeUnixNano": str(span.end_ns),
        "attributes": [{"key": "event.name", "value": {"stringValue": "gen_ai.user.message"}}],
        "body": {"kvlistValue": {"values": [{"key": "content", "value": {"stringValue": "Is it on?"}}]}},
    }
    body = json.dumps({"resourceLogs": [{"scopeLogs": [{"logRecords": [record]}]}]}).encode()
    for _ in range(2):
        assert server.request("POST", "/v1/logs", body, JSON)[::2] == (200, b"{}")
    assert wait_until(lambda: stored(server, span.trace_id)["summary"].get("revision", 0) == first + 1, 40)
    assert wait_until(lambda: stored(server, span.trace_id)["summary"].get("complete"), 40)
    messages = step_of(server, span.trace_id)["input"]["messages"]["messages"]
    assert [message["content"] for message in messages] == ["Is it on?"]


@pytest.mark.parametrize("protocol", ["http", "grpc"])
def test_an_evaluation_event_is_feedback_on_its_span_session_or_key(server: RunningServer, protocol: str) -> None:
    (span,) = asked()
    assert post(server, body_of(span))[0] == 200
    verdict = {
        "gen_ai.evaluation.name": "Relevance",
        "gen_ai.evaluation.score.value": 1.0,
        "gen_ai.evaluation.score.label": "pass",
        "gen_ai.evaluation.explanation": "as jane@example.com says",
    }
    session = f"visit-{span.trace_id}"
    events = [
        ("gen_ai.evaluation.result", None, verdict),
        ("gen_ai.evaluation.result", None, {"gen_ai.evaluation.name": "tone", "gen_ai.evaluation.score.value": 0.25}),
    ]
    emit(exporter(server, protocol), events, span)
    emit(exporter(server, protocol), [(*events[1][:2], {**events[1][2], "gen_ai.conversation.id": session})])
    found = {each["name"]: each for each in feedback(server, span.trace_id)}
    assert found.keys() == {"Relevance", "tone"}
    relevance = found["Relevance"]
    assert (relevance["passed"], relevance["spanId"], relevance["comment"]) == (True, span.span_id, "as [EMAIL] says")
    assert (relevance["author"], found["tone"]["number"]) == ("shop", 0.25)
    _, _, said = server.request("GET", f"/v1alpha1/sessions/{session}")
    assert [each["name"] for each in json.loads(said)["feedback"]] == ["tone"]


def test_an_evaluation_event_within_a_span_is_feedback_too(server: RunningServer) -> None:
    (span,) = a_trace(1)
    said = {"gen_ai.evaluation.name": "helpful", "gen_ai.evaluation.score.label": "fail"}
    event = SpanEvent(name="gen_ai.evaluation.result", time_ns=span.end_ns, attributes=said)
    whole = Span(**{**{name: getattr(span, name) for name in Span.__struct_fields__}, "events": [event]})
    for _ in range(2):
        assert post(server, body_of(whole))[0] == 200
    (found,) = feedback(server, span.trace_id)
    assert (found["name"], found.get("passed", False), found["spanId"]) == ("helpful", False, span.span_id)
    assert "passed" in found


def test_scores_that_we_send_ourselves_do_not_come_back_as_feedback(server: RunningServer) -> None:
    (span,) = asked()
    assert post(server, body_of(span))[0] == 200
    own = {"gen_ai.evaluation.name": "tone", "gen_ai.evaluation.score.value": 0.5, "evalsi.score.id": "ab" * 16}
    emit(exporter(server, "http"), [("gen_ai.evaluation.result", None, own)], span)
    assert feedback(server, span.trace_id) == []


def test_other_log_records_are_not_kept_and_that_is_said_and_counted(server: RunningServer) -> None:
    (span,) = asked()
    records = [
        {"body": {"stringValue": "started"}},
        {"eventName": "gen_ai.user.message", "body": {"stringValue": "of no span"}},
        {"eventName": "gen_ai.evaluation.result", "attributes": []},
        {"eventName": "gen_ai.choice", "traceId": "xyz", "spanId": span.span_id},
        "no record",
    ]
    body = json.dumps({"resourceLogs": [{"scopeLogs": [{"logRecords": records}]}]}).encode()
    before = server.metric('evalsi_log_records_dropped_total{reason="no_event"}')
    status, _, answer = server.request("POST", "/v1/logs", body, JSON)
    assert status == 200
    told = json.loads(answer)["partialSuccess"]
    assert told["rejectedLogRecords"] == "5"
    assert "log records that were not taken: 5 are no events of generative AI" in told["errorMessage"]
    assert server.metric('evalsi_log_records_dropped_total{reason="no_event"}') == before + 5


@pytest.mark.parametrize(
    ("body", "headers"),
    [
        (b"{", JSON),
        (b"[]", JSON),
        (b'{"resourceLogs": 1}', JSON),
        (b"\xff\xff\xff", {"content-type": "application/x-protobuf"}),
        (b"{}", {"content-type": "text/plain"}),
    ],
)
def test_a_body_that_is_no_otlp_is_refused(server: RunningServer, body: bytes, headers: dict[str, str]) -> None:
    status, _, answer = server.request("POST", "/v1/logs", body, headers)
    assert status == (415 if headers["content-type"] == "text/plain" else 400), answer


def test_feedback_by_an_event_has_a_policy_look_again(server: RunningServer) -> None:
    policy = {
        "name": "disliked",
        "sampling": {"rate": 0, "always": ["negative_feedback"]},
        "stages": [{"evaluators": [{"ref": "tool-errors"}]}],
    }
    assert server.post("/v1alpha1/policies", policy)[0] == 200
    (span,) = a_trace(1)
    assert post(server, body_of(span))[0] == 200
    assert wait_until(lambda: stored(server, span.trace_id)["summary"].get("complete"), 40)
    assert not stored(server, span.trace_id).get("policies")
    disliked = {"gen_ai.evaluation.name": "thumbs", "gen_ai.evaluation.score.label": "fail"}
    emit(exporter(server, "http"), [("gen_ai.evaluation.result", None, disliked)], span)
    assert wait_until(lambda: stored(server, span.trace_id).get("policies"), 40)


@pytest.fixture(scope="module")
def strict(tmp_path_factory: pytest.TempPathFactory) -> Generator[RunningServer]:
    """A server that stores only attributes that it lists, and takes little at once."""
    folder: Path = tmp_path_factory.mktemp("strict")
    configuration = """
    data_dir: store
    projects: {lamps: {}, slow: {}, few: {}}
    otlp: {grace: 0.2s, max_request_spans: 20, max_trace_spans: 20, projects: {few: {max_request_spans: 10}}}
    rate_limits: {projects: {slow: {ingest: {per_second: 0.001, burst: 1}}}}
    traces: {redaction: {keep_attributes: ["gen_ai.*"]}}
    """
    (folder / "evalsi.yaml").write_text(configuration, encoding="utf-8")
    with running_server(folder, ["--config", "evalsi.yaml"]) as found:
        yield found


def test_a_list_of_attributes_that_stay_lets_no_score_of_ours_come_round_and_moves_nothing_elsewhere(
    strict: RunningServer,
) -> None:
    (span,) = a_trace(1, resource={"evalsi.project": "lamps"})
    assert post(strict, body_of(span))[0] == 200
    said = {"gen_ai.evaluation.name": "tone", "gen_ai.evaluation.score.value": 0.5}
    own = {**said, "evalsi.score.id": "ab" * 16}
    place = {"evalsi.project": "lamps"}
    emit(exporter(strict, "http"), [("gen_ai.evaluation.result", None, own)], span, **place)
    found = stored(strict, span.trace_id, project="lamps")
    assert found["summary"]["spans"] == 1
    assert not found.get("feedback")
    assert stored(strict, span.trace_id) is None, "a trace stays in the project that it names"
    emit(exporter(strict, "http"), [("gen_ai.evaluation.result", None, said)], span, **place)
    assert len(stored(strict, span.trace_id, project="lamps")["feedback"]) == 1


def test_one_request_judges_no_more_often_than_it_may_have_spans(strict: RunningServer) -> None:
    (span,) = a_trace(1)
    events = [
        SpanEvent(
            name="gen_ai.evaluation.result", time_ns=n * 1000, attributes={"gen_ai.evaluation.score.label": f"l{n}"}
        )
        for n in range(1, 101)
    ]
    whole = Span(**{**{name: getattr(span, name) for name in Span.__struct_fields__}, "events": events})
    status, _, answer = post(strict, body_of(whole))
    rejected, message = partial_success(answer)
    assert (status, rejected) == (200, 80)
    assert "a request has at most 20 events that judge" in message
    assert len(stored(strict, span.trace_id)["feedback"]) == 20


def test_log_records_of_one_request_are_counted_by_project(strict: RunningServer) -> None:
    (span,) = a_trace(1, resource={"evalsi.project": "few"})
    assert post(strict, body_of(span))[0] == 200
    logs = [
        {
            "eventName": "gen_ai.evaluation.result",
            "timeUnixNano": str(number * 1000),
            "traceId": span.trace_id,
            "spanId": span.span_id,
            "attributes": [{"key": "gen_ai.evaluation.score.label", "value": {"stringValue": f"l{number}"}}],
        }
        for number in range(1, 13)
    ]
    resource = {"attributes": [{"key": "evalsi.project", "value": {"stringValue": "few"}}]}
    body = json.dumps({"resourceLogs": [{"resource": resource, "scopeLogs": [{"logRecords": logs}]}]})
    status, _, answer = strict.request("POST", "/v1/logs", body, {"content-type": "application/json"})
    told = json.loads(answer)["partialSuccess"]
    assert (status, int(told["rejectedLogRecords"])) == (200, 2)
    assert "a request has at most 10 events that judge" in told["errorMessage"]
    assert len(stored(strict, span.trace_id, "few")["feedback"]) == 10


def test_a_project_that_a_request_names_has_its_own_rate(strict: RunningServer) -> None:
    slow = {"evalsi.project": "slow"}
    first, second = (body_of(*a_trace(resource=slow)) for _ in range(2))
    assert post(strict, first)[0] == 200
    status, headers, answer = post(strict, second)
    assert status == 429
    assert "project 'slow' may send 0.001 requests" in status_of(answer).message
    assert int(headers["retry-after"]) > 1
    mixed = body_of(*a_trace(1), *a_trace(1, resource=slow))
    assert post(strict, mixed)[0] == 429, "nothing of it is stored, and it may be sent again"
    assert post(strict, body_of(*a_trace()))[0] == 200, "others are not held up"


def test_a_trace_that_one_project_filled_is_not_full_in_another(strict: RunningServer) -> None:
    many = a_trace(20)
    assert partial_success(post(strict, body_of(*many))[2])[0] == 0
    (other,) = a_trace(1, trace_id=many[0].trace_id, resource={"evalsi.project": "lamps"})
    assert partial_success(post(strict, body_of(other))[2])[0] == 0
    assert stored(strict, other.trace_id, project="lamps")["summary"]["spans"] == 1


def test_a_number_that_no_float_can_be_is_no_score_and_no_fault_of_the_server(server: RunningServer) -> None:
    (span,) = a_trace(1)
    for kind in ("intValue", "doubleValue"):
        score = {"key": "gen_ai.evaluation.score.value", "value": {kind: 10**400}}
        record = {"traceId": span.trace_id, "eventName": "gen_ai.evaluation.result", "attributes": [score]}
        body = json.dumps({"resourceLogs": [{"scopeLogs": [{"logRecords": [record]}]}]}).encode()
        status, _, answer = server.request("POST", "/v1/logs", body, JSON)
        assert (status, json.loads(answer)["partialSuccess"]["rejectedLogRecords"]) == (200, "1")
        given = {"traceId": span.trace_id, "spanId": span.span_id, "attributes": [score]}
        body = json.dumps({"resourceSpans": [{"scopeSpans": [{"spans": [given]}]}]}).encode()
        assert server.request("POST", "/v1/traces", body, JSON)[::2] == (200, b"{}")
