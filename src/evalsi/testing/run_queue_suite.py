"""What every `RunQueue` must do, as tests. A database passes when a subclass of `RunQueueSuite` does:

class TestMyQueue(RunQueueSuite):
    @pytest.fixture
    def open_stores(self, tmp_path):
        return lambda: my_stores(tmp_path)
"""

import threading
from collections.abc import Callable
from contextlib import closing
from typing import Any

from evalsi.core.errors import (
    ConflictError,
    EvalsiError,
    LeaseLostError,
    NotFoundError,
    QuotaError,
    StoreError,
    UsageError,
)
from evalsi.ports.project_stores import ProjectStores
from evalsi.ports.run_queue import Claim, QueueLimits, Submission
from evalsi.ports.run_store import RunQuery
from evalsi.schema import RunManifest
from evalsi.testing.run_store_suite import a_manifest, a_run, a_segment, ended

OpenStores = Callable[[], ProjectStores]
"""Opens the same runs again at each call, as another server would."""

NO_LIMITS = QueueLimits()


def asked(
    run_id: str, *, project: str = "default", created_at: str = "2026-03-01T12:00:00Z", **changes: Any
) -> Submission:
    """A run that is asked for."""
    run = a_run(run_id, project=project, created_at=created_at, fingerprint="", dataset_digest="")
    return Submission(run=run, manifest=RunManifest(run_id=run_id), **changes)


def taken(stores: ProjectStores, limits: QueueLimits = NO_LIMITS, *, lease_s: float = 60.0) -> Claim:
    """The next run."""
    claim = stores.queue.claim(limits, lease_s=lease_s)
    assert claim is not None
    return claim


class RunQueueSuite:
    """Subclass it and give it the fixture `open_stores`."""

    def test_an_empty_queue_gives_nothing(self, open_stores: OpenStores) -> None:
        with closing(open_stores()) as stores:
            assert stores.queue.claim(NO_LIMITS, lease_s=60) is None
            assert stores.queue.depth() == {}
            assert stores.queue.entry("r1") is None

    def test_a_run_that_was_asked_for_is_in_the_store_and_waits(self, open_stores: OpenStores) -> None:
        with closing(open_stores()) as stores:
            assert stores.queue.submit(asked("r1", project="one", created_by="key:ci")) == "r1"
        with closing(open_stores()) as stores:
            run = stores.of("one").run("r1")
            entry = stores.queue.entry("r1")
            assert (run.status, run.project, stores.project_of("r1")) == ("waiting", "one", "one")
            assert stores.of("one").manifest("r1").run_id == "r1"
            assert entry is not None
            assert (entry.state, entry.created_by) == ("waiting", "key:ci")
            assert stores.queue.depth() == {"waiting": 1}
            _refused(NotFoundError, lambda: stores.of("other").run("r1"))

    def test_an_id_is_given_once(self, open_stores: OpenStores) -> None:
        with closing(open_stores()) as stores:
            stores.queue.submit(asked("r1"))
            _refused(UsageError, lambda: stores.queue.submit(asked("r1")))

    def test_a_waiting_run_is_nobody_elses_to_continue(self, open_stores: OpenStores) -> None:
        with closing(open_stores()) as stores:
            stores.queue.submit(asked("r1"))
            _refused(UsageError, lambda: stores.of("default").take_over("r1"))
            assert stores.of("default").resumable("") is None

    def test_a_claimed_run_runs_and_ends_as_it_is_settled(self, open_stores: OpenStores) -> None:
        for state, status in (("done", "interrupted"), ("failed", "error"), ("cancelled", "interrupted")):
            with closing(open_stores()) as stores:
                stores.queue.submit(asked(state))
                claim = taken(stores)
                assert stores.of("default").run(state).status == "running"
                stores.queue.settle(claim, state, error="why" if state == "failed" else "")
                run = stores.of("default").run(state)
                assert (run.status, run.error) == (status, "why" if state == "failed" else "")
                assert stores.queue.claim(NO_LIMITS, lease_s=60) is None
                _refused(LeaseLostError, lambda claim=claim: stores.queue.settle(claim, "done"))

    def test_higher_priorities_go_first_then_older_runs(self, open_stores: OpenStores) -> None:
        with closing(open_stores()) as stores:
            for run_id, priority in (("a", 0), ("b", 5), ("c", 0), ("d", 5)):
                stores.queue.submit(asked(run_id, priority=priority))
            assert [taken(stores).run_id for _ in range(4)] == ["b", "d", "a", "c"]

    def test_projects_take_turns_however_much_one_of_them_asks_for(self, open_stores: OpenStores) -> None:
        with closing(open_stores()) as stores:
            for number in range(6):
                stores.queue.submit(asked(f"loud-{number}", project="loud", priority=9))
            for number in range(2):
                stores.queue.submit(asked(f"quiet-{number}", project="quiet"))
            order: list[str] = []
            for _ in range(8):
                claim = taken(stores)
                order.append(claim.project)
                stores.queue.settle(claim, "done")
        assert order[:4].count("quiet") == 2
        assert order[4:] == ["loud"] * 4

    def test_limits_hold_in_all_and_for_each_project(self, open_stores: OpenStores) -> None:
        limits = QueueLimits(total=3, per_project=2, projects={"small": 1})
        with closing(open_stores()) as stores, closing(open_stores()) as other:
            for project in ("small", "usual"):
                for number in range(3):
                    stores.queue.submit(asked(f"{project}-{number}", project=project))
            claims = [taken(server, limits) for server in (stores, other, stores)]
            assert sorted(claim.project for claim in claims) == ["small", "usual", "usual"]
            assert other.queue.claim(limits, lease_s=60) is None
            usual = next(claim for claim in claims if claim.project == "usual")
            stores.queue.settle(usual, "done")
            assert taken(other, limits).project == "usual"
            assert stores.queue.claim(QueueLimits(per_project=0), lease_s=60) is None

    def test_of_many_who_ask_at_once_each_run_goes_to_one(self, open_stores: OpenStores) -> None:
        with closing(open_stores()) as stores:
            for number in range(20):
                stores.queue.submit(asked(f"r{number}"))
        got: list[str] = []

        def work() -> None:
            with closing(open_stores()) as mine:
                while (claim := mine.queue.claim(NO_LIMITS, lease_s=60)) is not None:
                    got.append(claim.run_id)

        threads = [threading.Thread(target=work) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert sorted(got) == sorted(f"r{number}" for number in range(20))

    def test_a_lease_that_ran_out_gives_the_run_to_another_and_refuses_the_former_holder(
        self, open_stores: OpenStores
    ) -> None:
        with closing(open_stores()) as stores, closing(open_stores()) as other:
            stores.queue.submit(asked("r1"))
            first = taken(stores, lease_s=0.0)
            writer = stores.of("default")
            writer.take_over("r1")
            writer.append("r1", a_segment(0))
            second = taken(other, lease_s=60.0)
            assert second.run_id == "r1"
            assert second.token != first.token
            _refused(LeaseLostError, lambda: stores.queue.renew(first, lease_s=60))
            _refused(LeaseLostError, lambda: stores.queue.settle(first, "done"))
            _refused(StoreError, lambda: writer.append("r1", a_segment(1)))
            stores.queue.release(first)
            entry = stores.queue.entry("r1")
            assert entry is not None
            assert entry.state == "claimed"
            other.of("default").take_over("r1")
            other.of("default").append("r1", a_segment(1))
            assert other.of("default").run("r1").rows == 4

    def test_a_lease_that_is_renewed_is_kept_and_tells_how_far_the_run_is(self, open_stores: OpenStores) -> None:
        with closing(open_stores()) as stores:
            stores.queue.submit(asked("r1"))
            claim = taken(stores, lease_s=0.0)
            assert stores.queue.renew(claim, lease_s=60, progress=b'{"done":3}') is True
            assert stores.queue.renew(claim, lease_s=60) is True
            assert stores.queue.claim(NO_LIMITS, lease_s=60) is None
            entry = stores.queue.entry("r1")
            assert entry is not None
            assert entry.progress == b'{"done":3}'

    def test_a_run_put_back_is_begun_before_all_others_by_nobody_in_particular(self, open_stores: OpenStores) -> None:
        with closing(open_stores()) as stores:
            stores.queue.submit(asked("r1"))
            stores.queue.release(taken(stores))
            assert stores.of("default").run("r1").status == "waiting"
            assert taken(stores).run_id == "r1"

    def test_a_run_whose_holders_die_without_getting_further_fails_in_the_end(self, open_stores: OpenStores) -> None:
        with closing(open_stores()) as stores:
            stores.queue.submit(asked("r1"))
            tries = 0
            while stores.queue.claim(NO_LIMITS, lease_s=0.0) is not None:
                tries += 1
                assert tries < 100
            run = stores.of("default").run("r1")
            assert tries == 10
            assert run.status == "error"
            assert "died" in run.error

    def test_a_run_that_gets_a_little_further_each_time_is_never_given_up(self, open_stores: OpenStores) -> None:
        with closing(open_stores()) as stores:
            stores.queue.submit(asked("r1"))
            for number in range(30):
                taken(stores, lease_s=0.0)
                stores.of("default").take_over("r1")
                stores.of("default").keep_answers("r1", [(number, b"said")])
            assert len(list(stores.of("default").answers("r1"))) == 30

    def test_cancelling_ends_a_waiting_run_and_asks_the_holder_of_one_in_hand(self, open_stores: OpenStores) -> None:
        with closing(open_stores()) as stores:
            for run_id in ("waits", "runs", "orphan"):
                stores.queue.submit(asked(run_id))
            stores.queue.cancel("waits")
            claims = {claim.run_id: claim for claim in (taken(stores), taken(stores, lease_s=0.0))}
            stores.queue.cancel("runs")
            stores.queue.cancel("orphan")
            assert stores.queue.renew(claims["runs"], lease_s=60) is False
            stores.queue.settle(claims["runs"], "cancelled")
            assert stores.queue.claim(NO_LIMITS, lease_s=60) is None
            assert [_state(stores, run_id) for run_id in ("waits", "runs", "orphan")] == ["cancelled"] * 3
            stores.queue.cancel("runs")
            _refused(NotFoundError, lambda: stores.queue.cancel("none"))

    def test_what_was_stopped_can_be_put_in_line_again(self, open_stores: OpenStores) -> None:
        with closing(open_stores()) as stores:
            stores.queue.submit(asked("r1"))
            _refused(UsageError, lambda: stores.queue.resume("r1"))
            stores.queue.cancel("r1")
            stores.queue.resume("r1")
            claim = taken(stores)
            _refused(UsageError, lambda: stores.queue.resume("r1"))
            stores.queue.settle(claim, "failed", error="why")
            stores.queue.resume("r1")
            assert stores.of("default").run("r1").error == ""
            assert taken(stores).run_id == "r1"
            _refused(NotFoundError, lambda: stores.queue.resume("none"))

    def test_a_run_in_hand_is_not_deleted_and_others_leave_nothing(self, open_stores: OpenStores) -> None:
        with closing(open_stores()) as stores:
            stores.queue.submit(asked("r1"))
            claim = taken(stores)
            _refused(UsageError, lambda: stores.of("default").delete("r1"))
            stores.queue.settle(claim, "done")
            stores.of("default").delete("r1")
            assert stores.queue.entry("r1") is None

    def test_the_same_request_is_the_same_run_and_another_under_its_key_is_refused(
        self, open_stores: OpenStores
    ) -> None:
        with closing(open_stores()) as stores:
            assert stores.queue.submit(asked("r1", request_key="k", request_digest="d")) == "r1"
            assert stores.queue.submit(asked("r2", request_key="k", request_digest="d")) == "r1"
            assert stores.queue.submit(asked("r3", project="other", request_key="k", request_digest="d")) == "r3"
            _refused(ConflictError, lambda: stores.queue.submit(asked("r4", request_key="k", request_digest="e")))
            _refused(NotFoundError, lambda: stores.project_of("r2"))

    def test_a_project_holds_as_many_runs_as_it_may(self, open_stores: OpenStores) -> None:
        with closing(open_stores()) as stores:
            stores.queue.submit(asked("r1"), most_stored=2)
            stores.queue.submit(asked("r2"), most_stored=2)
            stores.queue.submit(asked("r3", project="other"), most_stored=2)
            _refused(QuotaError, lambda: stores.queue.submit(asked("r4"), most_stored=2))
            stores.of("default").delete("r1")
            stores.queue.submit(asked("r4"), most_stored=2)

    def test_use_is_added_up_by_project_and_day(self, open_stores: OpenStores) -> None:
        with closing(open_stores()) as stores:
            add = stores.queue.add_usage
            assert add("one", "2026-01-31", target_tokens=5, judge_tokens=1) == (5, 1)
            assert add("one", "2026-01-31", target_tokens=7, judge_tokens=0) == (12, 1)
            assert add("two", "2026-01-31", target_tokens=0, judge_tokens=0) == (0, 0)
            assert add("one", "2026-02-01", target_tokens=1, judge_tokens=1) == (1, 1)

    def test_a_list_shows_the_projects_it_is_asked_for(self, open_stores: OpenStores) -> None:
        with closing(open_stores()) as stores:
            for number, project in enumerate(("one", "two", "three", "one")):
                stores.queue.submit(asked(f"r{number}", project=project, created_at=f"2026-03-0{number + 1}T12:00:00Z"))

            def found(projects: list[str] | None, size: int = 9) -> list[str]:
                rows: list[str] = []
                token = ""
                while True:
                    page = stores.page(projects, RunQuery(), size=size, token=token)
                    rows += [f"{row.project}/{row.id}" for row in page.runs]
                    token = page.next_token
                    if not token:
                        return rows

            assert found(["one"], size=1) == ["one/r3", "one/r0"]
            assert found(["one", "three"]) == ["one/r3", "three/r2", "one/r0"]
            assert found(None, size=3) == ["one/r3", "three/r2", "two/r1", "one/r0"]
            assert found([]) == []

    def test_a_run_whose_holder_died_before_it_could_say_that_it_was_finished_is_finished_again(
        self, open_stores: OpenStores
    ) -> None:
        with closing(open_stores()) as stores, closing(open_stores()) as others:
            stores.queue.submit(asked("r1"))
            claim = taken(stores, lease_s=0.0)
            store = stores.of("default")
            store.take_over("r1")
            store.append("r1", a_segment(0))
            store.finish(ended(store.run("r1")), a_manifest("first"), [])
            assert store.run("r1").status == "running"  # nobody is told before it is settled
            again = taken(others)
            assert again.token != claim.token
            other = others.of("default")
            assert other.take_over("r1").rows == 2
            other.finish(ended(other.run("r1")), a_manifest("second"), [])
            others.queue.settle(again, "done")
            assert (other.run("r1").status, other.manifest("r1")) == ("succeeded", a_manifest("second"))


def _state(stores: ProjectStores, run_id: str) -> str:
    entry = stores.queue.entry(run_id)
    assert entry is not None
    return entry.state


def _refused(kind: type[EvalsiError], call: Callable[[], object]) -> None:
    try:
        call()
    except kind:
        return
    raise AssertionError(f"{kind.__name__} was expected")
