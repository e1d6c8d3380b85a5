"""Scores as events of OpenTelemetry, read by OpenTelemetry's own messages."""

import asyncio
from typing import Any

import pytest
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest, ExportLogsServiceResponse

from evalsi.infra.sinks.otel_sink import OtelSink
from evalsi.ports.score_sink import OutgoingScores, SinkReceipt
from tests.infra.sinks.told_scores import AT_MS, endpoint, of_session, told, withdrawing
from tests.watch.live_traffic import spans_of, trace_id
from tests.watch.webhook_receiver import Answer, Receiver, receiver


def sent(heard: Receiver, *deliveries: OutgoingScores, **said: Any) -> list[SinkReceipt]:
    async def send() -> list[SinkReceipt]:
        sink = OtelSink(endpoint=endpoint(heard.url, **said), service_name="grader")
        try:
            return list(await sink.send(deliveries))
        finally:
            await sink.close()

    return asyncio.run(send())


def records(body: bytes) -> list[Any]:
    (group,) = ExportLogsServiceRequest.FromString(body).resource_logs
    (scope,) = group.scope_logs
    assert [(each.key, each.value.string_value) for each in group.resource.attributes] == [("service.name", "grader")]
    assert scope.scope.name == "evalsi"
    return list(scope.log_records)


def attributes(record: Any) -> dict[str, Any]:
    return {each.key: getattr(each.value, each.value.WhichOneof("value")) for each in record.attributes}


def test_a_score_is_an_event_of_the_span_that_was_evaluated() -> None:
    with receiver() as heard:
        assert sent(heard, told(1), headers=lambda: {"Authorization": "Bearer x"}) == [SinkReceipt("taken")]
    ((headers, body),) = heard.heard
    assert (headers["Content-Type"], headers["Authorization"]) == ("application/x-protobuf", "Bearer x")
    found = {attributes(each)["gen_ai.evaluation.name"]: each for each in records(body)}
    # A structured value has no form there.
    assert found.keys() == {"tone", "polite", "topic", "slow", "length"}
    root, step = spans_of(1)
    for name, record in found.items():
        assert record.event_name == "gen_ai.evaluation.result"
        assert record.trace_id.hex() == trace_id(1)
        assert record.span_id.hex() == (step.span_id if name == "length" else root.span_id)
        assert record.time_unix_nano == (AT_MS + 60_000) * 1_000_000
    tone = attributes(found["tone"])
    assert tone["gen_ai.evaluation.score.value"] == 0.5
    assert tone["gen_ai.evaluation.explanation"] == "warm"
    assert (tone["gen_ai.response.id"], tone["gen_ai.conversation.id"]) == ("resp-1", "s1")
    assert "gen_ai.evaluation.score.label" not in tone
    polite = attributes(found["polite"])
    assert (polite["gen_ai.evaluation.score.value"], polite["gen_ai.evaluation.score.label"]) == (0.0, "fail")
    topic = attributes(found["topic"])
    assert topic["gen_ai.evaluation.score.label"] == "refunds"
    assert "gen_ai.evaluation.score.value" not in topic
    slow = attributes(found["slow"])
    assert slow["error.type"] == "timeout"
    assert "gen_ai.evaluation.score.value" not in slow


def test_a_score_that_is_not_there_any_more_is_an_event_that_says_so() -> None:
    with receiver() as heard:
        assert sent(heard, withdrawing(1, "topic")) == [SinkReceipt("taken")]
    tone, topic = (attributes(each) for each in records(heard.heard[0][1]))
    assert "evalsi.withdrawn" not in tone
    assert (topic["evalsi.withdrawn"], topic["gen_ai.evaluation.score.label"]) == (True, "withdrawn")
    assert topic["evalsi.score.id"] == told(1).scores[2].id


def test_the_same_event_has_the_same_uid_and_a_later_revision_another() -> None:
    with receiver() as heard:
        sent(heard, told(1))
        sent(heard, told(1))
        sent(heard, told(1, revision=2))
    first, again, later = ([attributes(each) for each in records(body)] for _, body in heard.heard)

    def told_by(found: list[dict[str, Any]], key: str) -> list[Any]:
        return [each[key] for each in found]

    assert told_by(first, "log.record.uid") == told_by(again, "log.record.uid")
    assert not set(told_by(first, "log.record.uid")) & set(told_by(later, "log.record.uid"))
    assert told_by(first, "evalsi.score.id") == told_by(later, "evalsi.score.id")


def test_the_event_of_a_session_has_its_id_and_no_trace() -> None:
    with receiver() as heard:
        sent(heard, of_session(1, "s1"))
    (record,) = records(heard.heard[0][1])
    assert (record.trace_id, record.span_id, attributes(record)["gen_ai.conversation.id"]) == (b"", b"", "s1")


def test_a_receiver_that_rejects_events_is_believed_and_the_others_arrive() -> None:
    bad = bytes.fromhex(trace_id(2))

    def answer(message: Any) -> Answer:
        rejected = sum(record.trace_id == bad for record in records(message.body))
        response = ExportLogsServiceResponse()
        response.partial_success.rejected_log_records = rejected
        return Answer(200, {"Content-Type": "application/x-protobuf"}, response.SerializeToString())

    with receiver() as heard:
        heard.answer = answer
        found = sent(heard, told(1), told(2), told(3))
    assert [each.state for each in found] == ["taken", "refused", "taken"]
    assert "rejected 1 of 1 events" in found[1].error


@pytest.mark.parametrize("body", [b"{}", b"", b"\xff\xfe", b'{"partialSuccess":{}}'])
def test_whatever_else_a_receiver_says_with_200_is_taken(body: bytes) -> None:
    with receiver() as heard:
        heard.answer = lambda _: Answer(200, {}, body)
        assert sent(heard, told(1)) == [SinkReceipt("taken")]
