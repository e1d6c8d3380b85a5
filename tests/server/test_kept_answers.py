"""An Idempotency-Key is remembered over a restart, and no secret is kept for it."""

import json
import sqlite3
from contextlib import closing
from pathlib import Path

from evalsi.access.audit_chain import sealed
from evalsi.infra.store.open_stores import open_access_store
from evalsi.settings.server import AuditSettings
from evalsi.testing.access_store_suite import NOON, an_event
from evalsi.wiring.run_serving import tidy_audit
from tests.access.calling import TurnedClock
from tests.server.running_server import EXACT, RunningServer, running_server


def sent(server: RunningServer, path: str, message: object, key: str) -> tuple[int, bytes]:
    status, _, body = server.request("POST", path, json.dumps(message), {"Idempotency-Key": key})
    return status, body


def test_an_answer_is_given_again_after_a_restart(tmp_path: Path) -> None:
    with running_server(tmp_path) as server:
        first = sent(server, "/v1alpha1/projects", {"name": "billing"}, "one")
        evaluated = sent(server, "/v1/evaluate", EXACT, "two")
        assert first[0] == evaluated[0] == 200
        assert sent(server, "/v1alpha1/projects", {"name": "billing"}, "three")[0] == 409
    server.process.wait()
    with running_server(tmp_path) as server:
        assert sent(server, "/v1alpha1/projects", {"name": "billing"}, "one") == first
        assert json.loads(sent(server, "/v1/evaluate", EXACT, "two")[1]) == json.loads(evaluated[1])
        # What failed is tried again, and a key stands for one request.
        assert sent(server, "/v1alpha1/projects", {"name": "billing"}, "three")[0] == 409
        assert sent(server, "/v1alpha1/projects", {"name": "other"}, "three")[0] == 200
        assert sent(server, "/v1alpha1/projects", {"name": "another"}, "one")[0] == 409


def test_an_answer_with_a_secret_is_in_no_file(tmp_path: Path) -> None:
    with running_server(tmp_path) as server:
        asked = {"name": "ci", "roles": {"default": {"roles": ["viewer"]}}}
        status, body = sent(server, "/v1alpha1/apikeys", asked, "make-it")
        assert status == 200
        secret = str(json.loads(body)["secret"]).encode()
        assert sent(server, "/v1alpha1/apikeys", asked, "make-it") == (status, body)
        with closing(sqlite3.connect(tmp_path / "store" / "evalsi.db")) as connection:
            assert connection.execute("SELECT count(*) FROM kept_answers").fetchone() == (0,)
        kept = b"".join(path.read_bytes() for path in (tmp_path / "store").rglob("*") if path.is_file())
        assert secret not in kept


def test_the_audit_log_is_kept_as_long_as_the_settings_say(tmp_path: Path) -> None:
    clock = TurnedClock()
    with closing(open_access_store(str(tmp_path / "evalsi.db"))) as store:
        for number in range(5):
            store.append_audit(an_event(number), sealed)
        clock.turn(3600)
        assert clock.now() > NOON
        assert tidy_audit(store, AuditSettings(retention=3600), clock) == 0
        assert tidy_audit(store, AuditSettings(retention=3598), clock) == 2
        assert tidy_audit(store, AuditSettings(), clock) == 0
