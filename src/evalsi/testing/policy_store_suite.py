"""What every store of policies must do. Subclass it and give a fixture `policies`."""

import threading
from collections.abc import Sequence
from typing import Any

import pytest

from evalsi.core.errors import NotFoundError
from evalsi.ports.policy_store import (
    HOUR_MS,
    MINUTE_MS,
    SESSION_PREFIX,
    Bucket,
    DaySpent,
    PolicyMark,
    PolicyStore,
    PolicyTask,
    Settlement,
    TaskKey,
)
from evalsi.ports.score_outbox import DeliveryOutcome, ScoreDelivery, ScoreOutbox, SinkStanding
from evalsi.ports.score_sink import OutgoingScore, OutgoingScores
from evalsi.ports.trace_store import CompletedTrace, TracePart, TraceStore, Waiting
from evalsi.schema import Alert, OnlineEvalPolicy, TraceSummary
from evalsi.watch.fold import WatchFolding, memories_of, tally_of
from evalsi.watch.policy import CheckedPolicy, checked_policy

NOON_MS = 1_772_366_400_000
POLICY = OnlineEvalPolicy(name="answers", project="default")
WEBHOOK = "https://hooks.example.com/x"


def mark(subject: str, value: float | None = 1.0, **said: Any) -> PolicyMark:
    """An evaluated subject with one value of one metric, or one that was drawn only."""
    values = {} if value is None else {"tone": [value]}
    usual: dict[str, Any] = {"at_ms": NOON_MS, "stage": "sampled" if value is None else "evaluated", "values": values}
    return PolicyMark(policy="answers", subject=subject, **{**usual, **said})


def alerting() -> CheckedPolicy:
    """A policy with an alert on a verdict, which marks of "pii-leak" move."""
    from evalsi.schema import CascadeStage, EvaluatorRef

    return checked_policy(
        OnlineEvalPolicy(
            name="answers",
            project="default",
            stages=[CascadeStage(evaluators=[EvaluatorRef(ref="pii-leak")])],
            alerts=[Alert(metric="pii-leak", below=0.8, webhook=WEBHOOK)],
        )
    )


def told(subject: str, value: float = 1.0, **said: Any) -> OutgoingScores:
    """What sinks are told about a subject."""
    score = OutgoingScore(id=f"{subject:0>32}", metric="tone", number=value)
    usual: dict[str, Any] = {"project": "default", "policy": "answers", "began_ms": NOON_MS, "at_ms": NOON_MS}
    usual["scores"] = [score]
    return OutgoingScores(subject=subject, first_trace_id=subject, **{**usual, **said})


FOLDING = WatchFolding("default", {})


def settle(policies: PolicyStore, *marks: PolicyMark, folding: WatchFolding = FOLDING, **said: Any) -> None:
    policies.settle(Settlement(project="default", marks=marks, **said), folding, now_ms=NOON_MS)


def arrive(traces: TraceStore, *trace_ids: str, session: str = "") -> None:
    """Traces that are due a second later, and their session a minute after that."""
    parts = [
        TracePart(trace_id=bytes.fromhex(name), span_ids=b"12345678", body=b"", root_ended=True, session_id=session)
        for name in trace_ids
    ]
    waiting = Waiting(grace_ms=1_000, session_ms=60_000)
    traces.append("default", parts, now_ms=NOON_MS, waiting=waiting)


def buckets(policies: PolicyStore, field: str = "") -> Sequence[Bucket]:
    return policies.buckets("default", "answers", since_ms=0, until_ms=NOON_MS + HOUR_MS, field=field)


def total(policies: PolicyStore, field: str = "") -> dict[str, tuple[int, float]]:
    """Count and sum by the value that figures are split by."""
    found: dict[str, tuple[int, float]] = {}
    for bucket in buckets(policies, field):
        tally = tally_of(bucket.body)
        n, of_all = found.get(bucket.key.value, (0, 0.0))
        found[bucket.key.value] = n + tally.n, of_all + tally.total
    return found


class PolicyStoreSuite:
    """Give fixtures `outbox` and `traces` too, of the same database."""

    # Policies

    def test_a_policy_is_found_as_it_was_applied_and_replaced_by_its_name(self, policies: PolicyStore) -> None:
        policies.apply(POLICY, now_ms=NOON_MS)
        policies.apply(OnlineEvalPolicy(name="answers", project="default", selector="error"), now_ms=NOON_MS)
        policies.apply(OnlineEvalPolicy(name="answers", project="other"), now_ms=NOON_MS)
        assert policies.policy("default", "answers").selector == "error"
        assert [(each.project, each.name) for each in policies.policies()] == [
            ("default", "answers"),
            ("other", "answers"),
        ]
        assert [each.project for each in policies.policies(["other"])] == ["other"]
        assert policies.policies([]) == []

    def test_one_that_is_not_there_is_named_with_the_nearest(self, policies: PolicyStore) -> None:
        policies.apply(POLICY, now_ms=NOON_MS)
        with pytest.raises(NotFoundError, match="answers"):
            policies.policy("default", "answres")
        with pytest.raises(NotFoundError):
            policies.delete("default", "answres")
        policies.delete("default", "answers")
        with pytest.raises(NotFoundError):
            policies.policy("default", "answers")

    def test_every_change_shows_in_the_generation(self, policies: PolicyStore) -> None:
        seen = [policies.generation()]
        policies.apply(POLICY, now_ms=NOON_MS)
        seen.append(policies.generation())
        policies.delete("default", "answers")
        seen.append(policies.generation())
        assert len(set(seen)) == 3

    # Marks

    def test_marks_are_counted_by_how_far_they_came(self, policies: PolicyStore) -> None:
        settle(policies, mark("a"), mark("b", None), mark("c", None, stage="seen"), mark("d", None, stage="matched"))
        counts = policies.counts("default", "answers")
        assert {stage: counts[stage] for stage in ("seen", "matched", "sampled", "evaluated")} == {
            "seen": 4,
            "matched": 3,
            "sampled": 2,
            "evaluated": 1,
        }
        assert policies.marked("default", "answers", ["a", "c", "x"]) == {"a": "evaluated", "c": "seen"}
        assert policies.counts("default", "others") == {}

    def test_the_same_mark_twice_counts_once(self, policies: PolicyStore) -> None:
        for _ in range(2):
            settle(policies, mark("a", 0.25, groups={"version": "1"}), mark("b", 0.5))
        assert policies.counts("default", "answers")["evaluated"] == 2
        assert total(policies) == {"": (2, 0.75)}
        assert policies.groups("default", "answers", "version") == {"1": 1}

    def test_a_higher_revision_replaces_what_was_counted(self, policies: PolicyStore) -> None:
        settle(policies, mark("a", 0.25, errors=["tone"], promoted=True))
        settle(policies, mark("a", 0.75, revision=2))
        assert total(policies) == {"": (1, 0.75)}
        counts = policies.counts("default", "answers")
        assert (counts["evaluated"], counts["errors"], counts["promoted"]) == (1, 0, 0)

    def test_a_lower_revision_or_stage_that_comes_late_changes_nothing(self, policies: PolicyStore) -> None:
        settle(policies, mark("a", 0.75, revision=2))
        settle(policies, mark("a", 0.25), mark("a", None, revision=2))
        assert total(policies) == {"": (1, 0.75)}

    def test_figures_can_be_split_by_what_marks_say(self, policies: PolicyStore) -> None:
        settle(
            policies,
            mark("a", 1.0, groups={"version": "1", "label.team": "x"}),
            mark("b", 0.0, groups={"version": "2", "label.team": "x"}),
        )
        assert total(policies, "version") == {"1": (1, 1.0), "2": (1, 0.0)}
        assert total(policies, "label.team") == {"x": (2, 1.0)}
        assert total(policies, "service") == {}

    def test_values_count_for_the_minute_of_their_subject(self, policies: PolicyStore) -> None:
        settle(policies, mark("a", at_ms=NOON_MS - 61_000), mark("b"), mark("c", at_ms=NOON_MS + 59_999))
        assert [bucket.key.start_ms for bucket in buckets(policies)] == [NOON_MS - 2 * MINUTE_MS, NOON_MS]

    def test_marks_of_a_time_are_read_the_newest_first(self, policies: PolicyStore) -> None:
        settle(policies, *(mark(str(number), at_ms=NOON_MS + number) for number in range(5)), mark("drawn", None))
        found = policies.marks("default", "answers", since_ms=NOON_MS + 1, until_ms=NOON_MS + 4, limit=2)
        assert [each.subject for each in found] == ["3", "2"]

    def test_writers_at_once_lose_nothing_and_double_nothing(self, policies: PolicyStore) -> None:
        def write(writer: int) -> None:
            for number in range(8):
                # Every subject is written by two of the writers.
                settle(policies, mark(f"{(writer // 2) * 8 + number}", 1.0))

        writers = [threading.Thread(target=write, args=(writer,)) for writer in range(4)]
        for writer in writers:
            writer.start()
        for writer in writers:
            writer.join()
        assert policies.counts("default", "answers")["evaluated"] == 16
        assert total(policies) == {"": (16, 16.0)}

    def test_forgotten_marks_leave_what_was_counted(self, policies: PolicyStore) -> None:
        settle(policies, mark("a"), mark("b"))
        policies.forget("default", ["a"])
        assert policies.marked("default", "answers", ["a", "b"]) == {"b": "evaluated"}
        assert policies.counts("default", "answers")["evaluated"] == 2

    def test_a_task_about_what_is_forgotten_settles_nothing(self, policies: PolicyStore) -> None:
        queued = [TaskKey("answers", name) for name in ("a", "b")]
        settle(policies, mark("a", stage="sampled"), mark("b", stage="sampled"), queued=queued)
        tasks = policies.claim_tasks(now_ms=NOON_MS, limit=9, lease_ms=60_000)
        policies.forget("default", ["a"])
        settle(policies, mark("a"), mark("b"), done=tasks)
        assert policies.marked("default", "answers", ["a", "b"]) == {"b": "evaluated"}
        assert policies.waiting("default", "answers") == 0

    def test_minutes_become_hours_that_take_what_comes_late(self, policies: PolicyStore) -> None:
        settle(policies, *(mark(str(number), at_ms=NOON_MS - HOUR_MS + number * MINUTE_MS) for number in range(60)))
        assert policies.tidy(FOLDING, minutes_until_ms=NOON_MS, marks_until_ms=0, limit=1_000) == 60
        settle(policies, mark("late", at_ms=NOON_MS - 5 * MINUTE_MS), mark("later", at_ms=NOON_MS - MINUTE_MS))
        (hour,) = buckets(policies)
        assert (hour.key.start_ms, hour.length_ms) == (NOON_MS - HOUR_MS, HOUR_MS)
        assert tally_of(hour.body).n == 62
        assert policies.tidy(FOLDING, minutes_until_ms=NOON_MS, marks_until_ms=0, limit=1_000) == 0

    def test_marks_go_when_they_have_been_there_long_enough_however_old_their_traces_are(
        self, policies: PolicyStore
    ) -> None:
        settle(policies, mark("imported", at_ms=NOON_MS - 1000 * HOUR_MS), mark("again"), mark("old"))
        policies.settle(Settlement(project="default", marks=[mark("again", revision=2)]), FOLDING, now_ms=NOON_MS + 10)
        left: list[set[str]] = []
        for marks_until_ms in (NOON_MS, NOON_MS + 1, NOON_MS + 11):
            policies.tidy(FOLDING, minutes_until_ms=0, marks_until_ms=marks_until_ms, limit=1_000)
            left.append(set(policies.marked("default", "answers", ["imported", "again", "old"])))
        assert left == [{"imported", "again", "old"}, {"again"}, set()]

    # Alerts and messages

    def test_an_alert_fires_once_and_its_message_waits_with_it(self, policies: PolicyStore) -> None:
        checked = alerting()
        folding = WatchFolding("default", {"answers": checked})
        for start in range(0, 200, 50):
            marks = [mark(str(start + each), values={"pii-leak": [float(each % 2)]}) for each in range(50)]
            for _ in range(2):  # a worker that died after it stored them, and the one that came after it
                settle(policies, *marks, folding=folding)
        (memory,) = memories_of(policies.alert_state("default", "answers")).values()
        assert memory.side == "below"
        found = policies.claim_deliveries(now_ms=NOON_MS, limit=10, lease_ms=1_000)
        assert [(each.project, each.notice.event, each.notice.url) for each in found] == [
            ("default", "alert.fired", WEBHOOK)
        ]

    def test_a_message_is_claimed_once_until_it_is_due_again_or_delivered(self, policies: PolicyStore) -> None:
        checked = alerting()
        marks = [mark(str(each), values={"pii-leak": [0.0]}) for each in range(60)]
        settle(policies, *marks, folding=WatchFolding("default", {"answers": checked}))
        (first,) = policies.claim_deliveries(now_ms=NOON_MS, limit=10, lease_ms=1_000)
        assert policies.claim_deliveries(now_ms=NOON_MS, limit=10, lease_ms=1_000) == []
        (again,) = policies.claim_deliveries(now_ms=NOON_MS + 1_000, limit=10, lease_ms=1_000)
        assert (again.notice, first.attempts, again.attempts) == (first.notice, 0, 1)
        policies.deferred(first.notice.key, until_ms=NOON_MS + 5_000, error="no answer")
        assert policies.claim_deliveries(now_ms=NOON_MS + 4_999, limit=10, lease_ms=1_000) == []
        assert policies.claim_deliveries(now_ms=NOON_MS + 5_000, limit=10, lease_ms=1_000) != []
        policies.delivered(first.notice.key)
        assert policies.claim_deliveries(now_ms=NOON_MS + 10**9, limit=10, lease_ms=1_000) == []

    # Claims

    def test_what_was_said_of_a_trace_that_another_has_taken_over_is_left_out(
        self, policies: PolicyStore, traces: TraceStore
    ) -> None:
        arrive(traces, "01" * 16, "02" * 16)
        first = traces.claim(now_ms=NOON_MS + 1_000, limit=9, lease_ms=1_000)
        names = [each.trace_id for each in first]
        (again,) = traces.claim(now_ms=NOON_MS + 3_000, limit=1, lease_ms=60_000)
        settle(
            policies,
            *(mark(name, 0.5) for name in names),
            claims={each.trace_id: each.token for each in first},
            queued=[TaskKey("slow", name) for name in names],
        )
        kept = [name for name in names if name != again.trace_id]
        assert list(policies.marked("default", "answers", names)) == kept
        assert policies.waiting("default", "slow") == 1
        assert total(policies) == {"": (1, 0.5)}
        settle(policies, mark(again.trace_id, 1.0), claims={again.trace_id: again.token})
        assert total(policies) == {"": (2, 1.5)}
        traces.delete("default", [again.trace_id])
        settle(policies, mark(again.trace_id, 9.0, revision=2), claims={again.trace_id: again.token})
        assert total(policies) == {"": (2, 1.5)}

    def test_what_was_said_of_a_session_that_went_on_or_was_taken_over_is_left_out(
        self, policies: PolicyStore, traces: TraceStore
    ) -> None:
        arrive(traces, "03" * 16, session="s")
        for due in traces.claim(now_ms=NOON_MS + 1_000, limit=9, lease_ms=1_000):
            traces.complete([CompletedTrace(due=due, summary=TraceSummary(), span_digest=b"x")], now_ms=NOON_MS)
        name = f"{SESSION_PREFIX}s"
        (first,) = traces.claim_sessions(now_ms=NOON_MS + 90_000, limit=9, lease_ms=1_000)
        (again,) = traces.claim_sessions(now_ms=NOON_MS + 92_000, limit=9, lease_ms=60_000)
        settle(policies, mark(name, 0.5), claims={name: first.token})
        assert total(policies) == {}
        settle(policies, mark(name, 1.0), claims={name: again.token})
        assert total(policies) == {"": (1, 1.0)}

    def test_nobody_takes_over_what_is_being_settled(self, policies: PolicyStore, traces: TraceStore) -> None:
        arrive(traces, "04" * 16)
        (held,) = traces.claim(now_ms=NOON_MS + 1_000, limit=9, lease_ms=1_000)
        is_settling, may_end = threading.Event(), threading.Event()

        class Slow(WatchFolding):
            def changes(self, added: Sequence[PolicyMark], removed: Sequence[PolicyMark]) -> Any:
                is_settling.set()
                may_end.wait(10)
                return super().changes(added, removed)

        taken: list[tuple[Sequence[Any], bool]] = []

        def take() -> None:
            found = traces.claim(now_ms=NOON_MS + 60_000, limit=9, lease_ms=1_000)
            taken.append((found, may_end.is_set()))

        def end() -> None:
            claims = {held.trace_id: held.token}
            settle(policies, mark(held.trace_id, 0.5), folding=Slow("default", {}), claims=claims)

        settling, taking = threading.Thread(target=end), threading.Thread(target=take)
        settling.start()
        assert is_settling.wait(10)
        taking.start()
        taking.join(0.3)
        may_end.set()
        settling.join()
        taking.join()
        ((found, was_after),) = taken
        assert was_after or not found
        assert total(policies) == {"": (1, 0.5)}

    # Tasks

    def test_a_task_that_another_has_in_hand_is_not_ended_and_its_mark_is_left_out(self, policies: PolicyStore) -> None:
        settle(policies, mark("a", None), queued=[TaskKey("answers", "a")])
        first = policies.claim_tasks(now_ms=NOON_MS, limit=9, lease_ms=1_000)
        again = policies.claim_tasks(now_ms=NOON_MS + 2_000, limit=9, lease_ms=60_000)
        settle(policies, mark("a", 0.5), done=first)
        assert (policies.waiting("default", "answers"), total(policies)) == (1, {})
        settle(policies, mark("a", 1.0), done=again)
        assert (policies.waiting("default", "answers"), total(policies)) == (0, {"": (1, 1.0)})

    def queue(self, policies: PolicyStore, policy: str, *subjects: str) -> None:
        settle(policies, queued=[TaskKey(policy, subject) for subject in subjects])

    def claim(
        self, policies: PolicyStore, now_ms: int = NOON_MS, beside: Sequence[tuple[str, str]] = ()
    ) -> list[PolicyTask]:
        return list(policies.claim_tasks(now_ms=now_ms, limit=10, lease_ms=1_000, beside=beside))

    def test_tasks_are_claimed_once_all_of_one_policy(self, policies: PolicyStore) -> None:
        self.queue(policies, "one", "a", "b", "a")
        self.queue(policies, "two", "c")
        first = self.claim(policies)
        second = self.claim(policies)
        assert sorted(sorted(task.key.subject for task in tasks) for tasks in (first, second)) == [["a", "b"], ["c"]]
        assert self.claim(policies) == []
        assert policies.waiting("default", "one") == 2
        assert policies.in_line("default", "one", ["a", "b", "c"]) == {"a", "b"}

    def test_policies_that_are_worked_on_are_left_alone(self, policies: PolicyStore) -> None:
        self.queue(policies, "one", *(str(number) for number in range(20)))
        self.queue(policies, "two", "c")
        beside = [("default", "one")]
        assert [task.key for task in self.claim(policies, beside=beside)] == [("two", "c")]
        assert self.claim(policies, beside=[("default", "one"), ("default", "two")]) == []
        many = [("default", f"other-{number}") for number in range(3_000)]
        assert [task.key.policy for task in self.claim(policies, NOON_MS + 5_000, [*beside, *many])] == ["two"]

    def test_a_task_that_was_not_ended_is_due_again_unless_it_is_renewed(self, policies: PolicyStore) -> None:
        self.queue(policies, "one", "a")
        tasks = self.claim(policies)
        policies.renew_tasks(tasks, now_ms=NOON_MS + 900, lease_ms=1_000)
        assert self.claim(policies, NOON_MS + 1_500) == []
        (again,) = self.claim(policies, NOON_MS + 1_900)
        assert again.attempts == 1
        policies.renew_tasks(tasks, now_ms=NOON_MS + 2_000, lease_ms=10_000)  # by the one who lost it
        settle(policies, done=tasks)
        assert policies.waiting("default", "one") == 1
        settle(policies, done=[again])
        assert policies.waiting("default", "one") == 0

    def test_a_task_that_is_put_back_is_as_if_nobody_had_taken_it(self, policies: PolicyStore) -> None:
        self.queue(policies, "one", "a")
        for _ in range(3):
            (task,) = self.claim(policies)
            assert task.attempts == 0
            policies.put_back([task], until_ms=NOON_MS)
        (task,) = self.claim(policies)
        policies.put_back([task], until_ms=NOON_MS + 5_000)
        assert self.claim(policies, NOON_MS + 4_000) == []
        (mine,) = self.claim(policies, NOON_MS + 5_000)
        policies.put_back([task], until_ms=NOON_MS)  # by the one who has it no more
        assert self.claim(policies, NOON_MS + 5_500) == []
        settle(policies, done=[mine])
        assert policies.waiting("default", "one") == 0

    def test_a_subject_that_changes_while_it_is_worked_on_is_worked_on_once_more(self, policies: PolicyStore) -> None:
        queued = [TaskKey("answers", "a")]
        settle(policies, mark("a", stage="sampled"), queued=queued)
        first = self.claim(policies)
        settle(policies, mark("a", stage="sampled", revision=2), queued=queued)
        settle(policies, mark("a"), done=first)
        (again,) = self.claim(policies)
        assert again.attempts == 0
        settle(policies, mark("a", revision=2), done=[again])
        assert policies.waiting("default", "answers") == 0
        assert policies.marked("default", "answers", ["a"]) == {"a": "evaluated"}

    def test_a_subject_that_was_evaluated_is_not_put_in_line_again_unless_it_changed(
        self, policies: PolicyStore
    ) -> None:
        settle(policies, mark("a"))
        settle(policies, mark("a", stage="sampled"), queued=[TaskKey("answers", "a")])
        assert policies.waiting("default", "answers") == 0
        settle(policies, mark("a", stage="sampled", revision=2), queued=[TaskKey("answers", "a")])
        assert policies.waiting("default", "answers") == 1

    def test_a_task_that_is_put_in_line_once_more_stays_with_whoever_has_it(self, policies: PolicyStore) -> None:
        settle(policies, mark("a", stage="sampled"), queued=[TaskKey("answers", "a")])
        tasks = self.claim(policies)
        settle(policies, mark("a", stage="sampled"), queued=[TaskKey("answers", "a")])
        assert self.claim(policies) == []
        settle(policies, mark("a"), done=tasks)
        assert policies.waiting("default", "answers") == 0

    def test_tasks_go_with_their_policy(self, policies: PolicyStore) -> None:
        policies.apply(OnlineEvalPolicy(name="one", project="default"), now_ms=NOON_MS)
        self.queue(policies, "one", "a")
        policies.delete("default", "one")
        assert policies.waiting("default", "one") == 0

    # Spending

    def test_what_judges_used_adds_up_by_day(self, policies: PolicyStore) -> None:
        assert policies.add_spent("default", "one", "2026-03-01", DaySpent(0.5, 100, 0)) == DaySpent(0.5, 100, 0)
        assert policies.add_spent("default", "one", "2026-03-01", DaySpent(0.25, 50, 1)) == DaySpent(0.75, 150, 1)
        assert policies.add_spent("default", "one", "2026-03-02", DaySpent(0.0, 0, 0)) == DaySpent(0.0, 0, 0)

    # Scores on their way to sinks

    def tell(
        self, policies: PolicyStore, *scores: OutgoingScores, sinks: Sequence[str] = ("m",), now_ms: int = NOON_MS
    ) -> None:
        marks = [mark(each.subject, revision=each.revision) for each in scores]
        outgoing = [(each, sinks) for each in scores]
        policies.settle(Settlement(project="default", marks=marks, outgoing=outgoing), FOLDING, now_ms=now_ms)

    def take(
        self, outbox: ScoreOutbox, sink: str = "m", now_ms: int = NOON_MS, limit: int = 10
    ) -> dict[str, ScoreDelivery]:
        found = outbox.claim_scores(sink, now_ms=now_ms, limit=limit, lease_ms=1_000)
        return {each.scores.subject: each for each in found}

    def standing(self, outbox: ScoreOutbox, sink: str = "m") -> SinkStanding:
        (found,) = [each for each in outbox.sink_standings("default", "answers") if each.sink == sink]
        return found

    def test_scores_wait_for_every_sink_with_their_marks(self, policies: PolicyStore, outbox: ScoreOutbox) -> None:
        self.tell(policies, told("a"), told("b"), sinks=["m", "n"])
        assert self.take(outbox).keys() == self.take(outbox, "n").keys() == {"a", "b"}
        assert self.take(outbox, "o") == {}
        assert [(each.sink, each.waiting) for each in outbox.sink_standings()] == [("m", 2), ("n", 2)]
        assert outbox.sink_standings("other") == []

    def test_scores_of_a_mark_that_comes_too_late_are_told_to_nobody(
        self, policies: PolicyStore, outbox: ScoreOutbox
    ) -> None:
        self.tell(policies, told("a", 0.75, revision=2))
        self.tell(policies, told("a", 0.25, revision=1))
        assert [each.scores.scores[0].number for each in self.take(outbox).values()] == [0.75]

    def test_a_delivery_is_claimed_once_until_it_is_taken_or_due_again(
        self, policies: PolicyStore, outbox: ScoreOutbox
    ) -> None:
        self.tell(policies, told("a"))
        first = self.take(outbox)["a"]
        assert self.take(outbox, now_ms=NOON_MS + 999) == {}
        again = self.take(outbox, now_ms=NOON_MS + 1_000)["a"]
        assert (first.attempts, again.attempts, again.scores) == (0, 1, first.scores)
        # The one who lost it ends nothing.
        outbox.settle_scores([DeliveryOutcome(first, is_taken=True)], now_ms=NOON_MS + 1_100)
        assert self.standing(outbox).waiting == 1
        outbox.settle_scores([DeliveryOutcome(again, again_ms=NOON_MS + 9_000, error="no")], now_ms=NOON_MS + 1_200)
        assert self.take(outbox, now_ms=NOON_MS + 8_999) == {}
        last = self.take(outbox, now_ms=NOON_MS + 9_000)["a"]
        found = self.standing(outbox)
        assert (found.waiting, found.delivered, found.error) == (1, 0, "no")
        outbox.settle_scores([DeliveryOutcome(last, is_taken=True)], now_ms=NOON_MS + 9_100)
        assert self.take(outbox, now_ms=NOON_MS + 10**9) == {}
        found = self.standing(outbox)
        assert (found.waiting, found.delivered, found.delivered_ms) == (0, 1, NOON_MS + 9_100)
        assert not found.is_in_trouble

    def test_what_is_scored_again_takes_the_place_of_what_waits(
        self, policies: PolicyStore, outbox: ScoreOutbox
    ) -> None:
        self.tell(policies, told("a", 0.25))
        self.tell(policies, told("a", 0.75, revision=2), now_ms=NOON_MS + 5)
        assert self.take(outbox, now_ms=NOON_MS + 4) == {}
        found = self.take(outbox, now_ms=NOON_MS + 5)["a"]
        assert (found.scores.scores[0].number, found.created_ms) == (0.75, NOON_MS + 5)
        assert self.standing(outbox).waiting == 1

    def test_what_is_scored_again_while_it_is_on_its_way_follows_and_never_overtakes(
        self, policies: PolicyStore, outbox: ScoreOutbox
    ) -> None:
        self.tell(policies, told("a", 0.25))
        first = self.take(outbox)["a"]
        self.tell(policies, told("a", 0.75, revision=2), now_ms=NOON_MS + 5)
        assert self.take(outbox, now_ms=NOON_MS + 10) == {}
        outbox.settle_scores([DeliveryOutcome(first, is_taken=True)], now_ms=NOON_MS + 20)
        second = self.take(outbox, now_ms=NOON_MS + 20)["a"]
        assert second.scores.scores[0].number == 0.75
        outbox.settle_scores([DeliveryOutcome(second, is_taken=True)], now_ms=NOON_MS + 30)
        assert self.standing(outbox).waiting == 0

    def test_what_a_later_revision_has_not_is_withdrawn(self, policies: PolicyStore, outbox: ScoreOutbox) -> None:
        both = [OutgoingScore(id=f"{number:032}", metric="tone", number=1.0) for number in (1, 2)]
        self.tell(policies, told("a", scores=both))
        outbox.settle_scores(
            [DeliveryOutcome(each, is_taken=True) for each in self.take(outbox).values()], now_ms=NOON_MS
        )
        self.tell(policies, told("a", scores=both[:1], revision=2))
        # Nobody had taken it when a third took its place, which lost nothing.
        self.tell(policies, told("a", scores=both[:1], revision=3))
        found = self.take(outbox)["a"].scores
        assert ([each.id for each in found.scores], [each.id for each in found.withdrawn]) == (
            [both[0].id],
            [both[1].id],
        )
        assert found.withdrawn[0].number is None

    def test_a_subject_without_scores_any_more_withdraws_them_all_once(
        self, policies: PolicyStore, outbox: ScoreOutbox
    ) -> None:
        self.tell(policies, told("a"), told("b"), sinks=["m", "n"])
        for sink in ("m", "n"):
            taken = [DeliveryOutcome(each, is_taken=True) for each in self.take(outbox, sink).values()]
            outbox.settle_scores(taken, now_ms=NOON_MS)
        settle(policies, mark("a", revision=2), mark("b", None, revision=2))
        for sink in ("m", "n"):
            claimed = self.take(outbox, sink)
            withdrawn = {name: [score.id for score in each.scores.withdrawn] for name, each in claimed.items()}
            assert withdrawn == {"a": [f"{'a':0>32}"], "b": [f"{'b':0>32}"]}
            outbox.settle_scores([DeliveryOutcome(each, is_taken=True) for each in claimed.values()], now_ms=NOON_MS)
        settle(policies, mark("a", revision=3))
        assert self.take(outbox) == {}
        self.tell(policies, told("a", revision=4))
        assert self.take(outbox)["a"].scores.withdrawn == []

    def test_what_is_given_up_is_counted_with_the_reason(self, policies: PolicyStore, outbox: ScoreOutbox) -> None:
        self.tell(policies, told("a"), told("b"))
        (delivery,) = self.take(outbox, limit=1).values()
        outbox.settle_scores([DeliveryOutcome(delivery, error="refused")], now_ms=NOON_MS + 7)
        standing = self.standing(outbox)
        assert (standing.given_up, standing.waiting, standing.error, standing.error_ms) == (
            1,
            1,
            "refused",
            NOON_MS + 7,
        )
        assert standing.is_in_trouble

    def test_what_is_too_old_is_given_up_unless_it_is_on_its_way(
        self, policies: PolicyStore, outbox: ScoreOutbox
    ) -> None:
        self.tell(policies, told("a"), told("b"), told("c"), now_ms=NOON_MS)
        self.tell(policies, told("d"), now_ms=NOON_MS + 500)
        self.take(outbox, limit=1)

        def give_up(limit: int) -> int:
            times = {"created_before_ms": NOON_MS + 100, "now_ms": NOON_MS + 900}
            return outbox.give_up_scores("m", **times, error="gone", limit=limit)

        assert [give_up(1), give_up(9), give_up(9)] == [1, 1, 0]
        standing = self.standing(outbox)
        assert (standing.waiting, standing.given_up, standing.error) == (2, 2, "gone")
        assert self.take(outbox, now_ms=NOON_MS + 900).keys() == {"d"}

    def test_what_is_forgotten_is_told_to_nobody(self, policies: PolicyStore, outbox: ScoreOutbox) -> None:
        self.tell(policies, told("a"), told("b"), sinks=["m", "n"])
        on_its_way = self.take(outbox, "n")["a"]
        policies.forget("other", ["a", "b"])
        policies.forget("default", ["a", "x"])
        assert self.take(outbox).keys() == {"b"}
        assert (self.standing(outbox).waiting, self.standing(outbox, "n").waiting) == (1, 1)
        outbox.settle_scores([DeliveryOutcome(on_its_way, again_ms=NOON_MS)], now_ms=NOON_MS)
        assert self.take(outbox, "n", now_ms=NOON_MS + 10**6).keys() == {"b"}

    def run_scores(self, *places: int) -> list[OutgoingScores]:
        return [told(f"record {place}", policy="run/r1") for place in places]

    def test_scores_of_a_run_are_put_once_however_often_its_worker_is_followed(self, outbox: ScoreOutbox) -> None:
        outbox.put_scores(self.run_scores(0, 1), ["m"], place=0, now_ms=NOON_MS)
        first = self.take(outbox, limit=1)
        outbox.settle_scores([DeliveryOutcome(each, is_taken=True) for each in first.values()], now_ms=NOON_MS)
        # Somebody goes on who knows nothing of that, and there is another sink by now.
        for place in (0, 2):
            outbox.put_scores(self.run_scores(place, place + 1), ["m", "n"], place=place, now_ms=NOON_MS)
        assert first.keys() | self.take(outbox).keys() == {f"record {place}" for place in range(4)}
        assert len(self.take(outbox, "n")) == 4
        counts = [(each.policy, each.sink, each.waiting, each.delivered) for each in outbox.sink_standings("default")]
        assert counts == [("run/r1", "m", 3, 1), ("run/r1", "n", 4, 0)]

    def test_what_waits_of_a_run_goes_with_it(self, policies: PolicyStore, outbox: ScoreOutbox) -> None:
        outbox.put_scores(self.run_scores(0, 1), ["m"], place=0, now_ms=NOON_MS)
        self.tell(policies, told("a"))
        outbox.forget_run("default", "r2")
        assert self.standing(outbox).waiting == 1
        outbox.forget_run("default", "r1")
        assert self.take(outbox).keys() == {"a"}
        assert [each.waiting for each in outbox.sink_standings("default", "run/r1")] == [0]

    def test_several_who_take_deliveries_share_them(self, policies: PolicyStore, outbox: ScoreOutbox) -> None:
        self.tell(policies, *(told(f"{number:02}") for number in range(40)))
        found: list[str] = []

        def work() -> None:
            while taken := self.take(outbox, limit=3):
                found.extend(taken)
                outbox.settle_scores([DeliveryOutcome(each, is_taken=True) for each in taken.values()], now_ms=NOON_MS)

        workers = [threading.Thread(target=work) for _ in range(4)]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
        assert sorted(found) == [f"{number:02}" for number in range(40)]
        assert (self.standing(outbox).waiting, self.standing(outbox).delivered) == (0, 40)
