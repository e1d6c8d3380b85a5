"""How far each sink has the audit log, in a SQL database: implements `ports.AuditOutbox`.

Its own module because who writes the log knows of no sinks. It lies in the database of the log, so that a copy that is
restored goes on where that log was. What always holds: a place only moves forward, and only by whoever holds the claim.
"""

import secrets
from collections.abc import Sequence
from itertools import takewhile
from typing import Any

import msgspec

from evalsi.infra.store.access_store import READ_HEAD
from evalsi.infra.store.transactions import SqlDatabase, Transaction
from evalsi.ports.audit_outbox import AuditPortion, AuditProgress, AuditStanding
from evalsi.schema import AuditEvent

ENTRIES_FROM = "SELECT sequence, body FROM audit WHERE sequence > ? ORDER BY sequence LIMIT ?"
READ_PLACE = "SELECT sent_sequence, due_ms FROM audit_places WHERE sink = ?"
BEGIN = """
    INSERT INTO audit_places (sink, sent_sequence, due_ms, token, delivered, given_up, delivered_ms, error, error_ms)
    VALUES (?, ?, 0, '', 0, 0, 0, '', 0)"""
CLAIM = "UPDATE audit_places SET due_ms = ?, token = ?, sent_sequence = ?, given_up = given_up + ? WHERE sink = ?"
SETTLE = """
    UPDATE audit_places SET sent_sequence = ?, due_ms = ?, token = '', delivered = delivered + ?, given_up = given_up + ?
    WHERE sink = ? AND token = ?"""
TOOK = "UPDATE audit_places SET delivered_ms = ? WHERE sink = ?"
FAILED = "UPDATE audit_places SET error = ?, error_ms = ? WHERE sink = ?"
LIST_PLACES = "SELECT sink, sent_sequence, delivered, given_up FROM audit_places ORDER BY sink"

LONGEST_ERROR = 500
REMOVED = "the retention of the audit log removed entries that the sink had not"
DAMAGED = "entries of the audit log cannot be read: evalsi auth audit verify says more"
_ENTRY = msgspec.json.Decoder(AuditEvent)


class SqlAuditOutbox:
    """Implements `AuditOutbox`."""

    def __init__(self, database: SqlDatabase) -> None:
        self._database = database

    def claim_audit(self, sink: str, *, now_ms: int, limit: int, lease_ms: int) -> AuditPortion | None:
        last, base = self._ends()
        places = self._database.read(READ_PLACE, (sink,))
        sent, due_ms = places[0] if places else (base, 0)
        if due_ms > now_ms or sent >= last:
            return None
        token = secrets.token_hex(8)

        def take(connection: Transaction) -> AuditPortion | None:
            _, _, base, _ = connection.execute(READ_HEAD).fetchone()
            place = connection.execute(READ_PLACE, (sink,)).fetchone()
            if place is None:
                connection.execute(BEGIN, (sink, base))
                place = (base, 0)
            sent, due_ms = place
            if due_ms > now_ms:
                return None
            missed = max(0, base - sent)
            rows = connection.execute(ENTRIES_FROM, (sent + missed, limit)).fetchall()
            found = [(sequence, _read(sequence, body)) for sequence, body in rows]
            # One that is damaged stands alone before those that follow, which it does not hold up.
            lost = [sequence for sequence, _ in takewhile(lambda each: each[1] is None, found)]
            events = [event for _, event in takewhile(lambda each: each[1] is not None, found[len(lost) :]) if event]
            place = lost[-1] if lost else sent + missed
            gone = missed + len(lost)
            connection.execute(CLAIM, (now_ms + lease_ms if events else 0, token, place, gone, sink))
            if gone:
                connection.execute(FAILED, (DAMAGED if lost else REMOVED, now_ms, sink))
            if not (events or gone):
                return None
            return AuditPortion(sink=sink, token=token, events=events, missed=missed, damaged=lost)

        return self._database.write(take, alone=True)

    def settle_audit(self, portion: AuditPortion, progress: AuditProgress, *, now_ms: int) -> None:
        def put(connection: Transaction) -> None:
            counts = (progress.delivered, progress.given_up)
            values = (progress.last_sequence, progress.again_ms, *counts, portion.sink, portion.token)
            if not connection.execute(SETTLE, values).rowcount:
                return
            if progress.delivered:
                connection.execute(TOOK, (now_ms, portion.sink))
            if progress.error:
                connection.execute(FAILED, (progress.error[:LONGEST_ERROR], now_ms, portion.sink))

        self._database.write(put, alone=True)

    def audit_standings(self) -> Sequence[AuditStanding]:
        last, base = self._ends()
        return [
            AuditStanding(sink, max(0, last - max(sent, base)), delivered, given_up)
            for sink, sent, delivered, given_up in self._database.read(LIST_PLACES)
        ]

    def _ends(self) -> tuple[int, int]:
        """The last entry that was written, and the last that retention removed."""
        last, _, base, _ = self._database.read(READ_HEAD)[0]
        return last, base


def _read(sequence: int, body: Any) -> AuditEvent | None:
    """The entry of that number; None where what is stored is none, or says that it is another."""
    try:
        entry = _ENTRY.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError, TypeError):
        return None
    return entry if entry.sequence == sequence else None
