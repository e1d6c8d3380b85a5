"""The audit log reaches its sinks: no entry lost, none under two ids, in order. SQLite, OTLP over HTTP on this machine."""

import asyncio
import logging
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from datetime import timedelta
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from evalsi.access.audit_chain import sealed
from evalsi.infra.sinks.otel_audit_sink import OtelAuditSink
from evalsi.infra.store.access_store import SqlAccessStore
from evalsi.infra.store.audit_outbox import SqlAuditOutbox
from evalsi.infra.store.open_stores import open_sql_database
from evalsi.ports.audit_outbox import AuditStanding
from evalsi.testing.access_store_suite import NOON, an_event
from evalsi.watch.deliver_audit import AT_ONCE, LEASE_S, AuditLane, AuditPlan
from tests.infra.sinks.test_otel_sink import attributes, records
from tests.infra.sinks.told_scores import endpoint
from tests.watch.live_traffic import TurnedClock
from tests.watch.webhook_receiver import Answer, Receiver, receiver


class Log(NamedTuple):
    store: SqlAccessStore
    outbox: SqlAuditOutbox
    clock: TurnedClock

    def write(self, *projects: str) -> None:
        for number, project in enumerate(projects):
            self.store.append_audit(an_event(number, project=project), sealed)

    def standing(self) -> AuditStanding:
        (found,) = self.outbox.audit_standings()
        return found


@pytest.fixture
def log(tmp_path: Path) -> Iterator[Log]:
    with closing(open_sql_database(str(tmp_path / "evalsi.db"))) as database:
        yield Log(SqlAccessStore(database), SqlAuditOutbox(database), TurnedClock())


@pytest.fixture
def heard() -> Iterator[Receiver]:
    with receiver() as found:
        yield found


def lane(log: Log, heard: Receiver, **said: Any) -> AuditLane:
    sink = OtelAuditSink(endpoint=endpoint(heard.url), service_name="grader")
    return AuditLane(log.outbox, AuditPlan(name="siem", sink=sink, **said), log.clock, share=lambda: 1.0)


def deliver(lane: AuditLane) -> int:
    async def work() -> int:
        count = 0
        while some := await lane.step():
            count += some
        await lane.plan.sink.close()
        return count

    return asyncio.run(work())


def arrived(heard: Receiver) -> list[int]:
    return [attributes(each)["evalsi.audit.sequence"] for _, body in heard.heard for each in records(body)]


@pytest.mark.parametrize(
    "body",
    ["no json", "[]", '{"sequence": 1, "id": 1}', b"\xff\xfe"],
    ids=["text", "list", "another's number", "bytes"],
)
def test_entries_that_cannot_be_read_are_named_and_hold_up_nothing(
    log: Log, heard: Receiver, tmp_path: Path, caplog: pytest.LogCaptureFixture, body: str | bytes
) -> None:
    log.write(*["default"] * 6)
    with closing(sqlite3.connect(tmp_path / "evalsi.db")) as other, other:
        other.execute("UPDATE audit SET body = ? WHERE sequence IN (2, 3, 6)", (body,))
    deliver(lane(log, heard))
    assert arrived(heard) == [1, 4, 5]
    assert log.standing() == AuditStanding("siem", 0, 3, 3)
    assert "2 of them from entry 2 on" in caplog.text
    log.write("default")
    deliver(lane(log, heard))
    assert arrived(heard) == [1, 4, 5, 7]


def test_every_entry_arrives_once_and_in_order_also_those_from_before(log: Log, heard: Receiver) -> None:
    count = AT_ONCE + 5
    log.write(*["default"] * count)
    assert deliver(lane(log, heard)) == count
    log.write("default")
    assert deliver(lane(log, heard)) == 1
    assert arrived(heard) == list(range(1, count + 2))
    assert log.standing() == AuditStanding("siem", 0, count + 1, 0)


def test_a_sink_that_is_down_for_days_gets_everything_when_it_is_back(log: Log, heard: Receiver) -> None:
    log.write("default", "default", "default")
    heard.status = 503
    down = lane(log, heard)

    async def go() -> int:
        for _ in range(50):
            await down.step()
            log.clock.turn(3 * 3600.0)
        assert log.standing() == AuditStanding("siem", 3, 0, 0)
        assert 0 < len(heard.heard) <= 50  # once for each rest
        heard.heard.clear()
        heard.status = 200
        taken = sum([await down.step() for _ in range(3)])
        await down.plan.sink.close()
        return taken

    assert asyncio.run(go()) == 3
    assert arrived(heard) == [1, 2, 3]


def test_a_restart_goes_on_where_the_last_server_was_and_a_dead_worker_is_followed_by_the_same(
    log: Log, heard: Receiver
) -> None:
    log.write("default", "default")
    portion = log.outbox.claim_audit("siem", now_ms=int(log.clock.now().timestamp() * 1000), limit=9, lease_ms=80_000)
    assert portion is not None
    dead = OtelAuditSink(endpoint=endpoint(heard.url), service_name="grader")

    async def send() -> None:  # and dies before it has noted that
        await dead.send(portion.events)
        await dead.close()

    asyncio.run(send())
    assert deliver(lane(log, heard)) == 0
    log.clock.turn(LEASE_S)
    assert deliver(lane(log, heard)) == 2
    first, second = heard.heard[0][1], heard.heard[1][1]
    uids = [{attributes(each)["log.record.uid"] for each in records(body)} for body in (first, second)]
    assert uids[0] == uids[1]
    assert deliver(lane(log, heard)) == 0


def test_a_sink_of_some_projects_has_their_entries_alone(log: Log, heard: Receiver) -> None:
    log.write("billing", "default", "*", "billing")
    assert deliver(lane(log, heard, projects=frozenset({"billing"}))) == 4
    assert arrived(heard) == [1, 4]
    assert log.standing() == AuditStanding("siem", 0, 2, 0)
    heard.heard.clear()
    log.write("default")
    assert deliver(lane(log, heard, projects=frozenset({"billing"}))) == 1
    assert heard.heard == []


def test_what_a_sink_refuses_or_retention_removed_is_counted_and_said(
    log: Log, heard: Receiver, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.WARNING)
    log.write("default", "default", "default")

    def refuse_the_second(message: Any) -> Answer:
        told = [attributes(each)["evalsi.audit.sequence"] for each in records(message.body)]
        return Answer(400 if 2 in told else 200)

    heard.answer = refuse_the_second
    assert deliver(lane(log, heard)) == 3
    assert log.standing() == AuditStanding("siem", 0, 2, 1)
    assert "the sink siem refused entries of the audit log, 1 of them from entry 2 on" in caplog.text
    log.write("default", "default")
    log.store.trim_audit(older_than=NOON + timedelta(seconds=1))
    heard.answer = None
    deliver(lane(log, heard))
    assert log.standing().waiting == 0
