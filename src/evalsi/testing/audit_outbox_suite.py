"""What every `AuditOutbox` must do, as tests. A store passes when a subclass of `AuditOutboxSuite` does:

class TestMyOutbox(AuditOutboxSuite):
    @pytest.fixture
    def open_audit(self, tmp_path):
        return lambda: (MyAccessStore(tmp_path), MyAuditOutbox(tmp_path))
"""

from collections.abc import Callable
from datetime import timedelta

from evalsi.access.audit_chain import sealed
from evalsi.ports.access_store import AccessStore
from evalsi.ports.audit_outbox import AuditOutbox, AuditPortion, AuditProgress, AuditStanding
from evalsi.testing.access_store_suite import NOON, an_event

OpenAudit = Callable[[], tuple[AccessStore, AuditOutbox]]
"""Opens the same log and its outbox again at each call, as another process would."""
LEASE_MS = 1000


def sequences(portion: AuditPortion | None) -> list[int]:
    return [] if portion is None else [event.sequence for event in portion.events]


def claimed(outbox: AuditOutbox, now_ms: int = 0, limit: int = 10, sink: str = "siem") -> AuditPortion | None:
    return outbox.claim_audit(sink, now_ms=now_ms, limit=limit, lease_ms=LEASE_MS)


def done(portion: AuditPortion | None, last: int, again_ms: int = 0, error: str = "") -> AuditProgress:
    """Everything up to an entry was taken."""
    assert portion is not None
    delivered = sum(event.sequence <= last for event in portion.events)
    return AuditProgress(last_sequence=last, delivered=delivered, again_ms=again_ms, error=error)


class AuditOutboxSuite:
    def test_a_new_sink_begins_with_the_oldest_entry_that_is_kept(self, open_audit: OpenAudit) -> None:
        store, outbox = open_audit()
        assert claimed(outbox) is None
        for number in range(6):
            store.append_audit(an_event(number), sealed)
        store.trim_audit(older_than=NOON + timedelta(seconds=2))
        portion = claimed(outbox)
        assert sequences(portion) == [3, 4, 5, 6]
        assert portion is not None
        assert portion.missed == 0
        assert list(portion.events) == list(store.audit_from(2, limit=10))

    def test_what_one_worker_has_nobody_else_has_until_its_lease_ends(self, open_audit: OpenAudit) -> None:
        store, outbox = open_audit()
        for number in range(4):
            store.append_audit(an_event(number), sealed)
        first = claimed(outbox, limit=2)
        _, other = open_audit()
        assert claimed(other, now_ms=LEASE_MS - 1) is None
        assert sequences(claimed(other, now_ms=LEASE_MS - 1, sink="archive")) == [1, 2, 3, 4]
        late = claimed(other, now_ms=LEASE_MS, limit=2)
        assert sequences(late) == sequences(first) == [1, 2]
        assert first is not None
        outbox.settle_audit(first, done(first, 2), now_ms=LEASE_MS)  # not held any more
        assert claimed(outbox, now_ms=LEASE_MS) is None
        assert late is not None
        other.settle_audit(late, done(late, 2), now_ms=LEASE_MS)
        assert sequences(claimed(outbox, now_ms=LEASE_MS)) == [3, 4]

    def test_the_place_of_a_sink_is_kept_and_what_was_not_taken_waits(self, open_audit: OpenAudit) -> None:
        store, outbox = open_audit()
        for number in range(3):
            store.append_audit(an_event(number), sealed)
        portion = claimed(outbox)
        assert portion is not None
        outbox.settle_audit(portion, done(portion, 1, again_ms=5_000, error="down"), now_ms=10)
        _, other = open_audit()
        assert list(other.audit_standings()) == [AuditStanding("siem", waiting=2, delivered=1, given_up=0)]
        assert claimed(other, now_ms=4_999) is None
        again = claimed(other, now_ms=5_000)
        assert sequences(again) == [2, 3]
        assert again is not None
        other.settle_audit(again, done(again, 3), now_ms=5_001)
        assert claimed(outbox, now_ms=5_002) is None
        store.append_audit(an_event(9), sealed)
        assert sequences(claimed(outbox, now_ms=5_002)) == [4]

    def test_entries_that_retention_removes_first_are_counted_and_not_waited_for(self, open_audit: OpenAudit) -> None:
        store, outbox = open_audit()
        store.append_audit(an_event(0), sealed)
        first = claimed(outbox)
        assert first is not None
        outbox.settle_audit(first, done(first, 1), now_ms=1)
        for number in range(1, 6):
            store.append_audit(an_event(number), sealed)
        store.trim_audit(older_than=NOON + timedelta(seconds=4))
        portion = claimed(outbox, now_ms=2)
        assert portion is not None
        assert (portion.missed, sequences(portion)) == (3, [5, 6])
        assert list(outbox.audit_standings()) == [AuditStanding("siem", waiting=2, delivered=1, given_up=3)]
