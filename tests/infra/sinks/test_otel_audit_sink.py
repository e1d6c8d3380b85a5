"""The audit log as events of OpenTelemetry, read by OpenTelemetry's own messages."""

import asyncio
import json
from typing import Any

import msgspec
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceResponse

from evalsi.access.audit_chain import START, hash_of, sealed
from evalsi.infra.sinks.otel_audit_sink import OtelAuditSink
from evalsi.ports.access_store import AuditHead
from evalsi.ports.score_sink import SinkReceipt
from evalsi.schema import AuditEvent
from evalsi.testing.access_store_suite import NOON, an_event
from tests.infra.sinks.test_otel_sink import attributes, records
from tests.infra.sinks.told_scores import endpoint
from tests.watch.webhook_receiver import Answer, Receiver, receiver


def chain(count: int) -> list[AuditEvent]:
    events: list[AuditEvent] = []
    for number in range(count):
        head = AuditHead(last_sequence=number, last_hash=events[-1].hash if events else "")
        events.append(sealed(an_event(number, allowed=number != 1), head))
    return events


def sent(heard: Receiver, *events: AuditEvent) -> list[SinkReceipt]:
    async def send() -> list[SinkReceipt]:
        sink = OtelAuditSink(endpoint=endpoint(heard.url), service_name="grader")
        try:
            return list(await sink.send(events))
        finally:
            await sink.close()

    return asyncio.run(send())


def test_an_entry_is_an_event_from_which_the_chain_can_be_checked() -> None:
    events = chain(3)
    with receiver() as heard:
        assert sent(heard, *events) == [SinkReceipt("taken")] * 3
        assert sent(heard, *events) == [SinkReceipt("taken")] * 3
    first, again = (records(body) for _, body in heard.heard)
    said = attributes(first[0])
    assert first[0].event_name == "evalsi.audit"
    assert first[0].time_unix_nano == int(NOON.timestamp()) * 1_000_000_000
    assert (said["evalsi.audit.sequence"], said["evalsi.audit.action"], said["evalsi.project"]) == (
        1,
        "runs.create",
        "default",
    )
    assert (said["evalsi.audit.resource"], said["evalsi.audit.principal"]) == ("naïve 0", "key:ci")
    allowed = [(attributes(each)["evalsi.audit.allowed"], each.severity_text) for each in first]
    assert allowed == [(True, "INFO"), (False, "WARN"), (True, "INFO")]
    uids = [attributes(each)["log.record.uid"] for each in first]
    assert len(set(uids)) == 3
    assert uids == [attributes(each)["log.record.uid"] for each in again]
    before = START
    for record in first:
        kept = msgspec.json.decode(record.body.string_value, type=AuditEvent)
        assert (kept.prev_hash, kept.hash) == (before, hash_of(kept))
        assert json.loads(record.body.string_value)["resource"] == kept.resource
        before = kept.hash


def test_an_entry_that_is_refused_costs_no_other() -> None:
    events = chain(5)

    def answer(message: Any) -> Answer:
        response = ExportLogsServiceResponse()
        told = [attributes(each)["evalsi.audit.sequence"] for each in records(message.body)]
        response.partial_success.rejected_log_records = told.count(4)
        return Answer(200, {}, response.SerializeToString())

    with receiver() as heard:
        heard.answer = answer
        found = sent(heard, *events)
    assert [each.state for each in found] == ["taken"] * 3 + ["refused", "taken"]


def test_after_trouble_nothing_more_is_sent() -> None:
    with receiver() as heard:
        heard.status = 503
        assert {each.state for each in sent(heard, *chain(5))} == {"trouble"}
    assert len(heard.heard) == 1
