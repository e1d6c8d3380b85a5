"""What every `FailureStore` must do, as tests. A store passes when a subclass of `FailureStoreSuite` does:

class TestMyStore(FailureStoreSuite):
    @pytest.fixture
    def open_failures(self, tmp_path):
        return lambda: MyStore(tmp_path)
"""

import threading
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import msgspec
import pytest

from evalsi.core.errors import ConflictError, NotFoundError, UsageError
from evalsi.ports.failure_store import FailureQuery, FailureSource, FailureStore
from evalsi.schema import Content, FailureCase, FailureEvent, FailureStatus, Record, TraceSummary

OpenFailures = Callable[[], FailureStore]
"""Opens the same store again at each call, as another process would."""

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)


def a_failure(number: int = 1, *, project: str = "größe", **fields: Any) -> FailureCase:
    """A failure as it is captured; ids sort by `number`."""
    return FailureCase(
        id=f"0{number:019d}",
        project=project,
        source=TraceSummary(trace_id=f"{number:032x}", project=project, labels={"team": "東京"}, **fields),
        source_sha256=f"{number:064x}",
        record=Record(id=f"{number:032x}", input=Content(text="naïve \u0000 question")),
        title=f"title {number}",
        status=FailureStatus.OPEN,
        revision=1,
        created_by="key:ci",
        updated_by="key:ci",
        created_at=NOON,
        updated_at=NOON + timedelta(microseconds=number),
    )


def an_event(failure: FailureCase, action: str = "captured") -> FailureEvent:
    return FailureEvent(
        revision=failure.revision, actor=failure.updated_by, action=action, status=failure.status, time=NOON
    )


def following(failure: FailureCase, status: FailureStatus, assignee: str = "") -> FailureCase:
    return msgspec.structs.replace(failure, status=status, assignee=assignee, revision=failure.revision + 1)


class FailureStoreSuite:
    @pytest.fixture
    def open_failures(self) -> OpenFailures:
        raise NotImplementedError

    def test_what_was_captured_is_there_as_it_was_for_everybody(self, open_failures: OpenFailures) -> None:
        failure = a_failure()
        assert open_failures().capture(failure, an_event(failure)) == (failure, False)
        again = open_failures()
        assert again.get("größe", failure.id) == failure
        assert again.events("größe", failure.id, size=10) == [an_event(failure)]
        with pytest.raises(NotFoundError, match="there is no failure"):
            again.get("default", failure.id)

    def test_the_same_trace_is_not_captured_twice_also_not_by_many_at_once(self, open_failures: OpenFailures) -> None:
        stores = [open_failures() for _ in range(4)]
        answers: list[tuple[FailureCase, bool]] = []

        def capture(number: int) -> None:
            failure = msgspec.structs.replace(a_failure(number), source_sha256="a" * 64)
            answers.append(stores[number].capture(failure, an_event(failure)))

        threads = [threading.Thread(target=capture, args=(number,)) for number in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert sorted(existed for _, existed in answers) == [False, True, True, True]
        assert len({failure.id for failure, _ in answers}) == 1
        elsewhere = msgspec.structs.replace(a_failure(9, project="other"), source_sha256="a" * 64)
        assert stores[0].capture(elsewhere, an_event(elsewhere))[1] is False

    def test_a_change_of_an_old_revision_changes_nothing(self, open_failures: OpenFailures) -> None:
        store = open_failures()
        failure = a_failure()
        store.capture(failure, an_event(failure))
        first = following(failure, FailureStatus.IN_REVIEW, "ann")
        store.replace(first, an_event(first, "updated"), expected_revision=1)
        late = following(failure, FailureStatus.DISMISSED)
        with pytest.raises(ConflictError, match="is at revision 2, not 1"):
            store.replace(late, an_event(late, "dismissed"), expected_revision=1)
        assert store.get("größe", failure.id) == first
        assert [event.action for event in store.events("größe", failure.id, size=10)] == ["captured", "updated"]
        assert [event.action for event in store.events("größe", failure.id, size=10, after=1)] == ["updated"]
        with pytest.raises(NotFoundError):
            store.replace(a_failure(7), an_event(failure), expected_revision=1)

    def test_a_list_is_the_newest_first_without_records_in_pages(self, open_failures: OpenFailures) -> None:
        store = open_failures()
        for number in range(1, 8):
            failure = a_failure(number, project="odd" if number % 2 else "even")
            store.capture(failure, an_event(failure))
        shown: list[str] = []
        token = ""
        while True:
            page = store.find(None, FailureQuery(), size=3, token=token)
            shown += [failure.title for failure in page.failures]
            assert all(failure.record is None for failure in page.failures)
            token = page.next_token
            if not token:
                break
        assert shown == [f"title {number}" for number in range(7, 0, -1)]
        assert [one.title for one in store.find(["even"], FailureQuery(), size=9).failures] == [
            "title 6",
            "title 4",
            "title 2",
        ]
        assert store.find([], FailureQuery(), size=9).failures == []
        with pytest.raises(UsageError, match="another query"):
            store.find(["even"], FailureQuery(), size=3, token=store.find(None, FailureQuery(), size=3).next_token)

    def test_lists_and_counts_are_of_the_status_and_person_asked_for(self, open_failures: OpenFailures) -> None:
        store = open_failures()
        for number, status in enumerate((FailureStatus.APPROVED, FailureStatus.DISMISSED, FailureStatus.APPROVED), 1):
            failure = a_failure(number)
            store.capture(failure, an_event(failure))
            after = following(failure, status, "ann" if number == 1 else "bob")
            store.replace(after, an_event(after), expected_revision=1)
        approved = FailureQuery(status=FailureStatus.APPROVED)
        assert [one.title for one in store.find(["größe"], approved, size=9).failures] == ["title 3", "title 1"]
        mine = FailureQuery(status=FailureStatus.APPROVED, assignee="ann")
        assert [one.title for one in store.find(["größe"], mine, size=9).failures] == ["title 1"]
        assert store.count(["größe"]) == {FailureStatus.APPROVED: 2, FailureStatus.DISMISSED: 1}
        assert store.count(["other"]) == store.count([]) == {}

    def test_what_is_deleted_is_gone_with_its_events(self, open_failures: OpenFailures) -> None:
        store = open_failures()
        failure = a_failure()
        store.capture(failure, an_event(failure))
        with pytest.raises(ConflictError):
            store.delete("größe", failure.id, expected_revision=2)
        store.delete("größe", failure.id, expected_revision=1)
        with pytest.raises(NotFoundError):
            store.events("größe", failure.id, size=1)
        assert store.capture(failure, an_event(failure)) == (failure, False)
        assert len(store.events("größe", failure.id, size=9)) == 1

    def test_a_person_a_session_and_a_trace_can_be_forgotten(self, open_failures: OpenFailures) -> None:
        store = open_failures()
        about: list[dict[str, str]] = [
            {"user_id": "u1"},
            {"session_id": "s1"},
            {"session_id": "s1", "user_id": "u2"},
            {"user_id": "u3"},
            {},
        ]
        for number, fields in enumerate(about, 1):
            failure = a_failure(number, **fields)
            store.capture(failure, an_event(failure))
        assert store.forget("other", FailureSource(user_id="u1")) == 0
        assert store.forget("größe", FailureSource(user_id="u1", before=NOON)) == 1
        assert store.forget("größe", FailureSource(session_id="s1", user_id="u2")) == 1
        assert store.forget("größe", FailureSource(session_id="s1")) == 1
        assert store.forget("größe", FailureSource(trace_ids=[f"{5:032x}", f"{99:032x}"])) == 1
        assert [one.title for one in store.find(None, FailureQuery(), size=9).failures] == ["title 4"]
        with pytest.raises(UsageError, match="nothing says"):
            store.forget("größe", FailureSource(before=NOON))

    def test_only_what_began_before_a_time_is_forgotten(self, open_failures: OpenFailures) -> None:
        store = open_failures()
        for number in (1, 2):
            failure = a_failure(number, user_id="u")
            begun = NOON + timedelta(days=number)
            assert failure.source is not None
            source = msgspec.structs.replace(failure.source, start_time=begun)
            store.capture(msgspec.structs.replace(failure, source=source), an_event(failure))
        assert store.forget("größe", FailureSource(user_id="u", before=NOON + timedelta(days=2))) == 1
        assert [one.title for one in store.find(None, FailureQuery(), size=9).failures] == ["title 2"]
