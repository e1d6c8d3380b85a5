"""What every `AccessStore` must do, as tests. A store passes when a subclass of `AccessStoreSuite` does:

class TestMyStore(AccessStoreSuite):
    @pytest.fixture
    def open_access(self, tmp_path):
        return lambda: MyStore(tmp_path)
"""

import threading
from collections.abc import Callable
from contextlib import closing
from datetime import UTC, datetime, timedelta

import msgspec
import pytest

from evalsi.access.api_key import make_key
from evalsi.access.audit_chain import sealed, verify
from evalsi.core.errors import AlreadyExistsError, NotFoundError
from evalsi.ports.access_store import AccessStore, AuditFilter, StoredKey
from evalsi.schema import APIKey, AuditEvent, Project, RoleBinding, RoleList

OpenAccess = Callable[[], AccessStore]
"""Opens the same store again at each call, as another process would."""

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)


def a_key(name: str) -> StoredKey:
    """A key as it is stored when it was just made, with a role in a project whose name is no ASCII."""
    made = make_key()
    key = APIKey(
        name=name,
        prefix=made.prefix,
        roles={"größe": RoleList(roles=["viewer", "runner"])},
        labels={"team": "東京"},
        created_at=NOON,
        created_by="key:root",
        expires_at=NOON + timedelta(days=30),
        source="api",
    )
    return StoredKey(digest=made.digest, key=key)


def an_event(number: int = 0, *, project: str = "default", allowed: bool = True) -> AuditEvent:
    return AuditEvent(
        time=NOON + timedelta(seconds=number),
        principal="key:ci",
        action="runs.create",
        project=project,
        resource=f"naïve {number}",
        allowed=allowed,
    )


def every_event(store: AccessStore) -> list[AuditEvent]:
    return list(store.audit_from(0, limit=10_000))


class AccessStoreSuite:
    """Every test takes the fixture `open_access`."""

    def test_there_is_a_default_project_from_the_start(self, open_access: OpenAccess) -> None:
        with closing(open_access()) as store:
            assert [project.name for project in store.projects()] == ["default"]

    def test_a_project_is_there_for_every_opener_and_only_once(self, open_access: OpenAccess) -> None:
        project = Project(name="billing", description="Rechnungen", created_at=NOON, created_by="key:a", source="api")
        with closing(open_access()) as store:
            store.add_project(project)
            with pytest.raises(AlreadyExistsError, match="billing"):
                store.add_project(project)
        with closing(open_access()) as store:
            assert store.projects()[0] == project

    def test_a_key_comes_back_by_its_digest_as_it_was_put(self, open_access: OpenAccess) -> None:
        stored = a_key("ci")
        with closing(open_access()) as store:
            store.add_key(stored)
        with closing(open_access()) as store:
            assert store.key_with(stored.digest) == stored
            assert store.api_keys() == [stored]
            assert store.key_with("sha256:" + "0" * 64) is None

    def test_the_name_of_a_key_is_never_given_again(self, open_access: OpenAccess) -> None:
        with closing(open_access()) as store:
            store.add_key(a_key("ci"))
            store.revoke_key("ci", at=NOON)
            with pytest.raises(AlreadyExistsError, match="ci"):
                store.add_key(a_key("ci"))

    def test_a_revoked_key_is_revoked_for_every_opener(self, open_access: OpenAccess) -> None:
        stored = a_key("ci")
        with closing(open_access()) as store, closing(open_access()) as other:
            store.add_key(stored)
            store.revoke_key("ci", at=NOON)
            store.revoke_key("ci", at=NOON)
            found = other.key_with(stored.digest)
            assert found is not None
            assert found.key.revoked

    def test_revoking_a_key_that_is_not_there_names_the_nearest(self, open_access: OpenAccess) -> None:
        with closing(open_access()) as store:
            store.add_key(a_key("nightly"))
            with pytest.raises(NotFoundError, match="did you mean 'nightly'"):
                store.revoke_key("nightyl", at=NOON)

    def test_the_last_use_of_a_key_never_goes_back(self, open_access: OpenAccess) -> None:
        stored = a_key("ci")
        with closing(open_access()) as store:
            store.add_key(stored)
            store.touch_key("ci", at=NOON + timedelta(minutes=5))
            store.touch_key("ci", at=NOON)
            store.touch_key("nobody", at=NOON)
            assert store.api_keys()[0].key.last_used_at == NOON + timedelta(minutes=5)

    def test_a_binding_stands_once_and_is_gone_when_removed(self, open_access: OpenAccess) -> None:
        binding = RoleBinding(
            project="default", role="viewer", subject="key:ci", created_at=NOON, created_by="key:a", source="api"
        )
        later = msgspec.structs.replace(binding, created_at=NOON + timedelta(hours=1), created_by="key:b")
        with closing(open_access()) as store:
            assert store.add_binding(binding) == binding
            assert store.add_binding(later) == binding
            assert store.bindings() == [binding]
            store.remove_binding("default", "viewer", "key:ci")
            assert store.bindings() == []
            with pytest.raises(NotFoundError, match="key:ci"):
                store.remove_binding("default", "viewer", "key:ci")

    def test_the_audit_log_is_one_chain_however_many_write(self, open_access: OpenAccess) -> None:
        def write(first: int) -> None:
            with closing(open_access()) as store:
                for number in range(first, first + 10):
                    store.append_audit(an_event(number), sealed)

        threads = [threading.Thread(target=write, args=(first,)) for first in (0, 100, 200, 300)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        with closing(open_access()) as store:
            report = verify(every_event(store), store.audit_head())
            assert (report.ok, report.checked, report.last_sequence) == (True, 40, 40), report.problem

    def test_pages_of_the_audit_log_are_newest_first_and_filtered(self, open_access: OpenAccess) -> None:
        with closing(open_access()) as store:
            for number in range(6):
                store.append_audit(an_event(number, project="ab"[number % 2], allowed=number < 4), sealed)

            def found(wanted: AuditFilter, before: int | None = None, limit: int = 10) -> list[int]:
                return [event.sequence for event in store.audit_page(wanted, before=before, limit=limit)]

            assert found(AuditFilter(), limit=2) == [6, 5]
            assert found(AuditFilter(), before=5, limit=2) == [4, 3]
            assert found(AuditFilter(projects=frozenset({"a"}))) == [5, 3, 1]
            assert found(AuditFilter(projects=frozenset())) == []
            assert found(AuditFilter(denied_only=True)) == [6, 5]
            assert found(AuditFilter(action="runs.delete")) == []

    def test_what_retention_removes_leaves_a_chain_that_verifies(self, open_access: OpenAccess) -> None:
        with closing(open_access()) as store:
            for number in range(10):
                store.append_audit(an_event(number), sealed)
            assert store.trim_audit(older_than=NOON + timedelta(seconds=4)) == 4
            report = verify(every_event(store), store.audit_head())
            assert (report.ok, report.first_sequence, report.checked) == (True, 5, 6), report.problem
            assert store.trim_audit(older_than=NOON) == 0
            assert store.trim_audit(older_than=NOON + timedelta(days=1)) == 6
            assert verify(every_event(store), store.audit_head()).ok
            store.append_audit(an_event(99), sealed)
            assert verify(every_event(store), store.audit_head()).checked == 1
