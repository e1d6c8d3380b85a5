"""What every `TraceStore` must do, as tests. A store passes when a subclass of `TraceStoreSuite` with `traces` does."""

import hashlib
import random
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from typing import Any

import msgspec
import pytest

from evalsi.core.errors import NotFoundError, UsageError
from evalsi.ports.trace_store import CompletedTrace, DueTrace, ScoreChoice, TracePart, TraceStore, Waiting
from evalsi.schema import EvaluationResult, Feedback, Outcome, PolicyResults, Score, TraceFilter, TraceSummary

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
NOON_MS = int(NOON.timestamp() * 1000)
WAITING = Waiting(grace_ms=10_000, limit_ms=600_000, session_ms=1_800_000)
EVERYTHING = TraceFilter()


def trace_id(number: int) -> str:
    """An id that looks like any other."""
    return hashlib.blake2b(str(number).encode(), digest_size=16).hexdigest()


def a_part(number: int = 1, *, piece: int = 0, spans: int = 2, begun_s: float = 0.0, **changes: Any) -> TracePart:
    """A part of the trace with that number, begun so many seconds after noon, a second long, with its root."""
    start_ns = NOON_MS * 1_000_000 + int(begun_s * 1e9)
    about = TracePart(
        trace_id=bytes.fromhex(trace_id(number)),
        span_ids=b"".join(
            hashlib.blake2b(f"{number}/{piece}/{each}".encode(), digest_size=8).digest() for each in range(spans)
        ),
        body=f"body {number}/{piece} ".encode() * 20,
        service="shop",
        name="answer",
        start_ns=start_ns,
        end_ns=start_ns + 1_000_000_000,
        root_ended=True,
    )
    return msgspec.structs.replace(about, **changes)


def append(traces: TraceStore, *parts: TracePart, project: str = "default", now_ms: int = NOON_MS) -> None:
    traces.append(project, parts, now_ms=now_ms, waiting=WAITING)


def said_about(traces: TraceStore, project: str, **about: Any) -> Sequence[Feedback]:
    """What was said about a trace or a session, the newest first, as far as one page holds it."""
    return traces.feedback(project, **about, size=100).feedback


def claim_all(traces: TraceStore, *, now_ms: int = NOON_MS + 10_000) -> Sequence[DueTrace]:
    return traces.claim(now_ms=now_ms, limit=1000, lease_ms=60_000)


def completed(
    due: DueTrace, *, spans: str = "", policies: Sequence[PolicyResults] = (), **about: Any
) -> CompletedTrace:
    """What the trace turned out to be: fields of its summary, and `text` and `keys`."""
    text, keys = about.pop("text", ""), about.pop("keys", ())
    fields: dict[str, Any] = {"service": "shop", "name": "answer", "duration": 1.0, "spans": 2, "steps": 2, **about}
    summary = TraceSummary(**fields)
    digest = hashlib.sha256((spans or due.trace_id).encode()).digest()
    return CompletedTrace(due=due, summary=summary, span_digest=digest, text=text, keys=keys, policies=policies)


def complete(traces: TraceStore, part: TracePart, *, project: str = "default", **about: Any) -> None:
    """Appends a part, and completes the trace as being that."""
    shown: dict[str, Any] = {
        "service": part.service,
        "session_id": part.session_id,
        "user_id": part.user_id,
        "labels": dict(part.labels),
    }
    shown["error"] = part.root_failed
    append(traces, part, project=project)
    for due in claim_all(traces):
        if due.trace_id == part.trace_id.hex() and due.project == project:
            assert traces.complete([completed(due, **{**shown, **about})], now_ms=NOON_MS + 10_000) == [due.trace_id]


def found_by(
    policy: str, value: float, *, revision: int = 1, evaluator: str = "tone", at: datetime = NOON
) -> PolicyResults:
    result = EvaluationResult(evaluator=evaluator, outcome=Outcome.SCORED, scores=[Score(name=evaluator, number=value)])
    return PolicyResults(policy=policy, results=[result], revision=revision, time=at)


def halls_and_attics(traces: TraceStore) -> None:
    """Twelve traces: every third is about an attic, every second has another label, and the score grows."""
    for number in range(1, 13):
        complete(
            traces,
            a_part(number, begun_s=number, labels={"env": "prod" if number % 2 else "test"}),
            text=f"lamp {'hall' if number % 3 else 'attic'}",
            policies=[found_by("tone-check", number / 10)],
        )


def listed(traces: TraceStore, size: int = 100, **choice: Any) -> list[str]:
    """The ids of a choice, newest first, by pages of that size."""
    found: list[str] = []
    token = ""
    while True:
        page = traces.find(["default"], TraceFilter(**choice), size=size, token=token)
        assert len(page.traces) <= size
        found += [trace.trace_id for trace in page.traces]
        token = page.next_token
        if not token:
            return found


def ids(*numbers: int) -> list[str]:
    return [trace_id(number) for number in numbers]


class TraceStoreSuite:
    """Every test takes the fixture `traces`: an empty store."""

    # What arrives

    def test_what_was_appended_is_read_back_in_order_of_arrival(self, traces: TraceStore) -> None:
        told = traces.append("default", [a_part(1), a_part(2)], now_ms=NOON_MS, waiting=WAITING)
        assert (told.traces, told.spans) == (2, 4)
        told = traces.append("default", [a_part(1, piece=1, spans=3)], now_ms=NOON_MS + 1, waiting=WAITING)
        assert (told.traces, told.spans) == (0, 3)
        assert traces.spans("default", trace_id(1)) == [a_part(1).body, a_part(1, piece=1).body]

    def test_parts_of_many_traces_are_read_at_once_and_missing_traces_are_left_out(self, traces: TraceStore) -> None:
        traces.append("default", [a_part(number) for number in range(1, 451)], now_ms=NOON_MS, waiting=WAITING)
        traces.append("default", [a_part(7, piece=1, spans=3)], now_ms=NOON_MS + 1, waiting=WAITING)
        traces.append("other", [a_part(999)], now_ms=NOON_MS, waiting=WAITING)
        found = traces.spans_of("default", ids(*range(1, 451), 999, 1000))
        assert sorted(found) == sorted(ids(*range(1, 451)))
        assert found[trace_id(7)] == [a_part(7).body, a_part(7, piece=1).body]
        assert all(found[trace_id(number)] == traces.spans("default", trace_id(number)) for number in (1, 200, 450))
        assert traces.spans_of("default", []) == {}

    def test_long_texts_of_letters_that_take_many_bytes_are_stored_and_found(self, traces: TraceStore) -> None:
        chance = random.Random(1)  # so that no index can pack them
        session, user, service, name, key, value = (
            "".join(chr(chance.randrange(0x4E00, 0x9FFF)) for _ in range(1000)) for _ in range(6)
        )
        shown: dict[str, Any] = {"session_id": session, "user_id": user, "service": service, "name": name}
        append(traces, a_part(1, **shown, labels={"note": value, key: value}), a_part(2, labels={"note": "short"}))
        assert listed(traces, labels=[f"note={value}"]) == ids(1)
        (due,) = (each for each in claim_all(traces) if each.trace_id == trace_id(1))
        known: dict[str, Any] = {"version": user, "model": service, "keys": [session], "labels": {"note": "no more"}}
        assert len(traces.complete([completed(due, **shown, **known)], now_ms=NOON_MS)) == 1
        assert listed(traces, labels=["note=no more"]) == ids(1)
        assert listed(traces, labels=[f"note={value}"]) == []
        assert traces.delete("default", ids(1, 2)) == 2

    def test_what_is_begun_is_stored_when_its_future_is_done(self, traces: TraceStore) -> None:
        begun = [
            traces.begin_append("default", [a_part(number), a_part(7)], now_ms=NOON_MS, waiting=WAITING)
            for number in range(1, 6)
        ]
        told = [future.result(timeout=60) for future in begun]
        assert (sum(each.traces for each in told), sum(each.spans for each in told)) == (6, 12)
        assert sorted(traces.spans_of("default", ids(*range(1, 8)))) == sorted(ids(1, 2, 3, 4, 5, 7))
        assert traces.begin_append("default", [], now_ms=NOON_MS, waiting=WAITING).result().spans == 0

    def test_a_part_that_is_sent_again_changes_nothing(self, traces: TraceStore) -> None:
        append(traces, a_part())
        told = traces.append("default", [a_part(), a_part()], now_ms=NOON_MS + 9_000, waiting=WAITING)
        assert (told.traces, told.spans) == (0, 0)
        assert traces.spans("default", trace_id(1)) == [a_part().body]
        assert [due.parts for due in claim_all(traces)] == [1]
        assert traces.summary("default", trace_id(1)).spans == 2

    def test_the_same_part_twice_in_one_call_is_stored_once(self, traces: TraceStore) -> None:
        told = traces.append("default", [a_part(), a_part()], now_ms=NOON_MS, waiting=WAITING)
        assert (told.traces, told.spans) == (1, 2)
        assert traces.spans("default", trace_id(1)) == [a_part().body]

    def test_a_part_sent_again_after_completion_does_not_make_the_trace_due(self, traces: TraceStore) -> None:
        complete(traces, a_part())
        append(traces, a_part(), now_ms=NOON_MS + 60_000)
        assert not claim_all(traces, now_ms=NOON_MS + 3_600_000)

    def test_projects_do_not_see_each_other(self, traces: TraceStore) -> None:
        append(traces, a_part(), project="one")
        append(traces, a_part(piece=1), project="two")
        assert traces.spans("one", trace_id(1)) == [a_part().body]
        assert traces.spans("two", trace_id(1)) == [a_part(piece=1).body]
        assert traces.projects() == ["one", "two"]
        assert [trace.project for trace in traces.find(["two"], EVERYTHING, size=9).traces] == ["two"]
        assert {trace.project for trace in traces.find(None, EVERYTHING, size=9).traces} == {"one", "two"}
        assert not traces.find([], EVERYTHING, size=9).traces

    def test_a_trace_that_is_not_there_is_said_to_be_missing(self, traces: TraceStore) -> None:
        append(traces, a_part())
        for read in (traces.spans, traces.summary, traces.full_id):
            with pytest.raises(NotFoundError):
                read("default", trace_id(2))
            with pytest.raises(NotFoundError):
                read("other", trace_id(1))
        assert not traces.results("default", trace_id(2))

    def test_a_trace_is_shown_before_it_is_complete(self, traces: TraceStore) -> None:
        part = a_part(service="", name="", root_ended=False, failed_spans=1, labels={"env": "prod"}, session_id="s")
        append(traces, part)
        root = a_part(piece=1, begun_s=-0.5, root_failed=True, failed_spans=1, user_id="u", labels={"team": "a"})
        append(traces, root, now_ms=NOON_MS + 5)
        assert traces.summary("default", trace_id(1)) == TraceSummary(
            trace_id=trace_id(1),
            service="shop",
            name="answer",
            start_time=NOON - timedelta(seconds=0.5),
            duration=1.5,
            error=True,
            project="default",
            labels={"env": "prod", "team": "a"},
            session_id="s",
            user_id="u",
            spans=4,
            failed_spans=2,
        )

    def test_the_begin_of_an_id_finds_the_one_trace_that_has_it(self, traces: TraceStore) -> None:
        append(traces, *(a_part(number) for number in range(20)))
        for length in (5, 8, 9, 32):
            assert traces.full_id("default", trace_id(7)[:length].upper()) == trace_id(7)
        with pytest.raises(NotFoundError, match="several"):
            traces.full_id("default", "")
        for wrong in ("zz", "f" * 33, "%"):
            with pytest.raises(NotFoundError):
                traces.full_id("default", wrong)

    def test_many_senders_at_once_lose_nothing_and_double_nothing(self, traces: TraceStore) -> None:
        def send(sender: int) -> int:
            parts = [a_part(number, piece=sender % 4) for number in range(25)]
            return traces.append("default", parts, now_ms=NOON_MS, waiting=WAITING).spans

        with ThreadPoolExecutor(8) as pool:
            assert sum(pool.map(send, range(8))) == 25 * 4 * 2
        for number in range(25):
            assert sorted(traces.spans("default", trace_id(number))) == [
                a_part(number, piece=piece).body for piece in range(4)
            ]

    def test_odd_text_and_times_are_stored_or_replaced_but_never_refused(self, traces: TraceStore) -> None:
        odd = a_part(
            service="a\0b", name="π'\"%?", labels={"k\0": "v\0", "": ""}, start_ns=2**64 - 1, end_ns=0, user_id="\ufeff"
        )
        append(traces, odd, a_part(2, start_ns=0, end_ns=0))
        shown = traces.summary("default", trace_id(1))
        assert shown.name == "π'\"%?"
        assert not shown.duration
        assert len(traces.find(None, EVERYTHING, size=5).traces) == 2

    # When it is complete

    def test_a_trace_is_due_when_its_root_has_ended_and_it_was_quiet(self, traces: TraceStore) -> None:
        append(traces, a_part())
        append(traces, a_part(piece=1), now_ms=NOON_MS + 8_000)
        assert not claim_all(traces, now_ms=NOON_MS + 17_999)
        assert [due.parts for due in claim_all(traces, now_ms=NOON_MS + 18_000)] == [2]

    def test_a_trace_without_a_root_is_due_at_the_limit(self, traces: TraceStore) -> None:
        append(traces, a_part(root_ended=False))
        append(traces, a_part(piece=1, root_ended=False), now_ms=NOON_MS + 500_000)
        assert not claim_all(traces, now_ms=NOON_MS + 599_999)
        assert len(claim_all(traces, now_ms=NOON_MS + 600_000)) == 1

    def test_a_trace_that_is_never_quiet_is_due_at_the_limit(self, traces: TraceStore) -> None:
        for piece in range(100):
            append(traces, a_part(piece=piece), now_ms=NOON_MS + piece * 9_000)
            assert len(claim_all(traces, now_ms=NOON_MS + piece * 9_000)) == (piece * 9_000 >= 600_000)
            if piece * 9_000 >= 600_000:
                break

    def test_those_that_wait_longest_are_claimed_first(self, traces: TraceStore) -> None:
        for number in range(6):
            append(traces, a_part(number), now_ms=NOON_MS + (number * 7) % 6)
        late = NOON_MS + 60_000
        first = traces.claim(now_ms=late, limit=2, lease_ms=1000)
        rest = traces.claim(now_ms=late, limit=9, lease_ms=1000)
        assert [due.trace_id for due in (*first, *rest)] == ids(0, 1, 2, 3, 4, 5)

    def test_a_claim_is_exclusive_until_it_runs_out(self, traces: TraceStore) -> None:
        append(traces, a_part())
        now_ms = NOON_MS + 10_000
        (first,) = traces.claim(now_ms=now_ms, limit=9, lease_ms=1000)
        assert not traces.claim(now_ms=now_ms + 999, limit=9, lease_ms=1000)
        traces.renew([first], now_ms=now_ms + 999, lease_ms=1000)
        assert not traces.claim(now_ms=now_ms + 1998, limit=9, lease_ms=1000)
        (second,) = traces.claim(now_ms=now_ms + 1999, limit=9, lease_ms=1000)
        assert not traces.complete([completed(first, input="first")], now_ms=now_ms)
        assert traces.complete([completed(second, input="second")], now_ms=now_ms) == ids(1)
        assert traces.summary("default", trace_id(1)).input == "second"

    def test_workers_at_once_share_the_due_traces(self, traces: TraceStore) -> None:
        append(traces, *(a_part(number) for number in range(60)))

        def take(worker: int) -> Sequence[DueTrace]:
            del worker
            return traces.claim(now_ms=NOON_MS + 10_000, limit=10, lease_ms=60_000)

        with ThreadPoolExecutor(6) as pool:
            shares = list(pool.map(take, range(12)))
        assert sorted(due.trace_id for share in shares for due in share) == sorted(ids(*range(60)))

    def test_a_complete_trace_is_what_it_turned_out_to_be(self, traces: TraceStore) -> None:
        append(traces, a_part(spans=9, session_id="s", labels={"env": "prod"}))
        (due,) = claim_all(traces)
        assert (due.project, due.trace_id, due.revision, due.evaluated_spans) == ("default", trace_id(1), 1, b"")
        about = TraceSummary(
            service="kiosk",
            name="chat",
            duration=2.25,
            error=True,
            steps=5,
            labels={"env": "test"},
            session_id="s2",
            user_id="ann",
            version="1.2",
            model="m-1",
            input="What?",
            output="That.",
            input_tokens=12,
            output_tokens=0,
            cost_usd=0.25,
            spans=7,
            failed_spans=2,
        )
        found = found_by("tone-check", 0.5)
        traces.complete(
            [CompletedTrace(due=due, summary=about, span_digest=b"d", policies=[found])], now_ms=NOON_MS + 10_000
        )
        assert traces.summary("default", trace_id(1)) == msgspec.structs.replace(
            about,
            trace_id=trace_id(1),
            project="default",
            start_time=NOON,
            complete=True,
            revision=1,
            results=1,
            scores={"tone": 0.5},
        )
        assert traces.results("default", trace_id(1)) == [found]
        assert traces.pending() == 0
        assert not claim_all(traces, now_ms=NOON_MS + 10_000_000)

    def test_what_arrived_with_a_trace_stands_where_its_spans_are_silent(self, traces: TraceStore) -> None:
        told: dict[str, Any] = {"service": "shop", "name": "answer", "session_id": "s", "user_id": "ann"}
        append(traces, a_part(labels={"team": "a", "env": "prod"}, **told))
        (due,) = claim_all(traces)
        silent = TraceSummary(labels={"env": "test"})
        traces.complete([CompletedTrace(due=due, summary=silent, span_digest=b"d")], now_ms=NOON_MS + 10_000)
        shown = traces.summary("default", trace_id(1))
        assert {name: getattr(shown, name) for name in told} == told
        assert shown.labels == {"team": "a", "env": "test"}
        assert listed(traces, labels=["env=prod"]) == []
        assert listed(traces, labels=["env=test", "team=a"]) == ids(1)

    def test_a_part_after_the_claim_leaves_the_trace_due(self, traces: TraceStore) -> None:
        append(traces, a_part())
        (due,) = claim_all(traces)
        append(traces, a_part(piece=1), now_ms=NOON_MS + 11_000)
        assert traces.complete([completed(due, spans="one")], now_ms=NOON_MS + 12_000) == ids(1)
        shown = traces.summary("default", trace_id(1))
        assert (shown.complete, shown.revision) == (False, 1)
        (again,) = claim_all(traces, now_ms=NOON_MS + 21_000)
        assert (again.parts, again.revision) == (2, 2)
        traces.complete([completed(again, spans="two")], now_ms=NOON_MS + 21_000)
        assert traces.summary("default", trace_id(1)).complete
        assert not claim_all(traces, now_ms=NOON_MS + 9_000_000)

    def test_a_late_part_makes_the_next_revision_whose_results_replace_the_old(self, traces: TraceStore) -> None:
        complete(traces, a_part(), policies=[found_by("a", 0.1), found_by("b", 0.2)])
        append(traces, a_part(piece=1, root_ended=False), now_ms=NOON_MS + 100_000)
        assert not claim_all(traces, now_ms=NOON_MS + 109_999)
        (due,) = claim_all(traces, now_ms=NOON_MS + 110_000)
        assert (due.revision, due.evaluated_spans != b"") == (2, True)
        new = found_by("a", 0.9, revision=2)
        traces.complete([completed(due, spans="more", policies=[new])], now_ms=NOON_MS + 110_000)
        assert traces.results("default", trace_id(1)) == [new]
        shown = traces.summary("default", trace_id(1))
        assert (shown.scores, shown.results, shown.revision) == ({"tone": 0.9}, 1, 2)
        assert listed(traces, scores=["tone<0.5"]) == []

    def test_the_same_spans_in_other_parts_change_neither_revision_nor_results(self, traces: TraceStore) -> None:
        found = found_by("a", 0.1)
        complete(traces, a_part(), policies=[found])
        append(traces, a_part(body=b"the same spans, packed otherwise"), now_ms=NOON_MS + 100_000)
        (due,) = claim_all(traces, now_ms=NOON_MS + 110_000)
        again = completed(due)
        assert again.span_digest == due.evaluated_spans
        traces.complete([again], now_ms=NOON_MS + 110_000)
        assert traces.results("default", trace_id(1)) == [found]
        shown = traces.summary("default", trace_id(1))
        assert (shown.revision, shown.complete) == (1, True)
        assert not claim_all(traces, now_ms=NOON_MS + 9_000_000)

    def test_results_that_come_later_replace_those_of_their_policy(self, traces: TraceStore) -> None:
        complete(traces, a_part(), policies=[found_by("a", 0.1), found_by("b", 0.2, evaluator="care")])
        assert traces.write_results("default", trace_id(1), found_by("a", 0.7), now_ms=NOON_MS)
        assert traces.summary("default", trace_id(1)).scores == {"tone": 0.7, "care": 0.2}
        assert listed(traces, scores=["tone>0.5"], policy="a") == ids(1)
        assert not traces.write_results("default", trace_id(2), found_by("a", 0.7), now_ms=NOON_MS)

    def test_results_of_a_lower_revision_do_not_come_back(self, traces: TraceStore) -> None:
        complete(traces, a_part())
        append(traces, a_part(piece=1), now_ms=NOON_MS + 100_000)
        (due,) = claim_all(traces, now_ms=NOON_MS + 110_000)
        traces.complete([completed(due, spans="more")], now_ms=NOON_MS + 110_000)
        assert not traces.write_results("default", trace_id(1), found_by("a", 0.1, revision=1), now_ms=NOON_MS)
        assert traces.write_results("default", trace_id(1), found_by("a", 0.2, revision=2), now_ms=NOON_MS)
        assert traces.summary("default", trace_id(1)).scores == {"tone": 0.2}

    def test_results_without_a_number_are_kept_and_are_no_scores(self, traces: TraceStore) -> None:
        results = [
            EvaluationResult(evaluator="skipped", outcome=Outcome.SKIPPED, reason="no content"),
            EvaluationResult(evaluator="word", outcome=Outcome.SCORED, scores=[Score(name="word", label="good")]),
            EvaluationResult(evaluator="check", outcome=Outcome.SCORED, scores=[Score(name="check", passed=False)]),
            EvaluationResult(
                evaluator="two",
                outcome=Outcome.SCORED,
                scores=[Score(name="two", number=0.5), Score(name="depth", number=3)],
            ),
        ]
        complete(traces, a_part(), policies=[PolicyResults(policy="p", results=results, revision=1, time=NOON)])
        shown = traces.summary("default", trace_id(1))
        assert (shown.results, shown.scores) == (4, {"check": 0.0, "two": 0.5, "two.depth": 3.0})

    # Sessions

    def test_a_session_is_due_when_it_was_quiet_and_its_traces_are_complete(self, traces: TraceStore) -> None:
        complete(traces, a_part(2, begun_s=5, session_id="s"))
        complete(traces, a_part(1, session_id="s"))
        append(traces, a_part(3, begun_s=9, session_id="s"), now_ms=NOON_MS + 60_000)
        quiet_ms = NOON_MS + 60_000 + WAITING.session_ms
        assert not traces.claim_sessions(now_ms=quiet_ms - 1, limit=9, lease_ms=1000)
        assert not traces.claim_sessions(now_ms=quiet_ms, limit=9, lease_ms=1000)
        (due,) = claim_all(traces, now_ms=quiet_ms)
        traces.complete([completed(due, session_id="s")], now_ms=quiet_ms)
        (session,) = traces.claim_sessions(now_ms=quiet_ms, limit=9, lease_ms=1000)
        assert (session.session_id, list(session.trace_ids)) == ("s", ids(1, 2, 3))
        assert not traces.claim_sessions(now_ms=quiet_ms, limit=9, lease_ms=1000)
        found = found_by("whole", 1.0)
        assert traces.complete_session(session, [found], now_ms=quiet_ms)
        assert traces.session_results("default", "s") == [found]
        assert not traces.complete_session(session, [], now_ms=quiet_ms)
        assert not traces.claim_sessions(now_ms=quiet_ms * 2, limit=9, lease_ms=1000)

    def test_a_session_that_goes_on_is_due_once_more(self, traces: TraceStore) -> None:
        complete(traces, a_part(1, session_id="s"))
        quiet_ms = NOON_MS + WAITING.session_ms
        (session,) = traces.claim_sessions(now_ms=quiet_ms, limit=9, lease_ms=1000)
        append(traces, a_part(2, session_id="s"), now_ms=quiet_ms + 1)
        assert not traces.complete_session(session, [], now_ms=quiet_ms + 2)
        (due,) = claim_all(traces, now_ms=quiet_ms + 20_000)
        traces.complete([completed(due, session_id="s")], now_ms=quiet_ms + 20_000)
        (again,) = traces.claim_sessions(now_ms=quiet_ms * 2, limit=9, lease_ms=1000)
        assert set(again.trace_ids) == set(ids(1, 2))

    def test_a_claim_of_a_session_lasts_while_it_is_renewed_by_its_holder(self, traces: TraceStore) -> None:
        complete(traces, a_part(1, session_id="s"))
        quiet_ms = NOON_MS + WAITING.session_ms
        (first,) = traces.claim_sessions(now_ms=quiet_ms, limit=9, lease_ms=1000)
        traces.renew_sessions([first], now_ms=quiet_ms + 999, lease_ms=1000)
        assert not traces.claim_sessions(now_ms=quiet_ms + 1998, limit=9, lease_ms=1000)
        (second,) = traces.claim_sessions(now_ms=quiet_ms + 1999, limit=9, lease_ms=1000)
        traces.renew_sessions([first], now_ms=quiet_ms + 2000, lease_ms=60_000)  # by the one who lost it
        assert traces.claim_sessions(now_ms=quiet_ms + 2999, limit=9, lease_ms=1000)
        assert not traces.complete_session(second, [], now_ms=quiet_ms + 3000)

    def test_results_of_a_session_that_come_later_replace_older_ones_alone(self, traces: TraceStore) -> None:
        complete(traces, a_part(1, session_id="s"))
        (session,) = traces.claim_sessions(now_ms=NOON_MS + WAITING.session_ms, limit=9, lease_ms=1000)
        first, second = found_by("whole", 1.0), msgspec.structs.replace(found_by("whole", 0.5), revision=2)
        other = found_by("other", 0.25)
        assert traces.complete_session(session, [other], now_ms=NOON_MS)
        assert traces.write_session_results("default", "s", second, now_ms=NOON_MS)
        assert not traces.write_session_results("default", "s", first, now_ms=NOON_MS)
        assert traces.session_results("default", "s") == [other, second]
        assert not traces.write_session_results("default", "nobody's", first, now_ms=NOON_MS)

    def test_a_session_that_only_completion_finds_is_due_too(self, traces: TraceStore) -> None:
        complete(traces, a_part(), session_id="found")
        (session,) = traces.claim_sessions(now_ms=NOON_MS + 10_000 + WAITING.session_ms, limit=9, lease_ms=1000)
        assert (session.session_id, list(session.trace_ids)) == ("found", ids(1))

    # Lists

    def test_lists_show_the_newest_begin_first_in_pages_that_neither_repeat_nor_skip(self, traces: TraceStore) -> None:
        for number in range(30):
            append(traces, a_part(number, begun_s=(number * 7) % 10))
        whole = listed(traces)
        begins = [traces.summary("default", name).start_time for name in whole]
        assert len(set(whole)) == 30
        assert begins == sorted(begins, key=lambda at: at or NOON, reverse=True)
        for size in (1, 7, 30):
            assert listed(traces, size) == whole

    def test_what_arrives_between_two_pages_neither_repeats_nor_hides_others(self, traces: TraceStore) -> None:
        for number in range(10):
            append(traces, a_part(number, begun_s=number))
        first = traces.find(["default"], EVERYTHING, size=5)
        append(traces, a_part(20, begun_s=20))
        second = traces.find(["default"], EVERYTHING, size=50, token=first.next_token)
        assert [trace.trace_id for trace in (*first.traces, *second.traces)] == ids(*range(9, -1, -1))
        assert not second.next_token

    def test_a_token_of_another_list_is_refused(self, traces: TraceStore) -> None:
        append(traces, a_part(1), a_part(2))
        token = traces.find(["default"], EVERYTHING, size=1).next_token
        for choice, given in ((TraceFilter(service="shop"), token), (EVERYTHING, "nonsense")):
            with pytest.raises(UsageError):
                traces.find(["default"], choice, size=1, token=given)

    def test_every_condition_chooses_what_it_says(self, traces: TraceStore) -> None:
        complete(
            traces,
            a_part(1, begun_s=1, user_id="ann", session_id="s1", labels={"env": "prod", "team": "a"}),
            version="1.0",
            model="m-1",
            duration=0.5,
            cost_usd=0.5,
            policies=[found_by("p", 0.2)],
        )
        complete(
            traces,
            a_part(
                2, begun_s=2, service="kiosk", user_id="bob", session_id="s2", labels={"env": "prod"}, root_failed=True
            ),
            version="2.0",
            model="m-2",
            duration=3.0,
            cost_usd=2.0,
            policies=[found_by("q", 0.8)],
        )
        complete(traces, a_part(3, begun_s=3, labels={"env": "test"}), duration=9.0)
        append(traces, a_part(4, begun_s=4))
        cases: tuple[tuple[dict[str, Any], tuple[int, ...]], ...] = (
            ({}, (4, 3, 2, 1)),
            ({"service": "kiosk"}, (2,)),
            ({"session_id": "s1"}, (1,)),
            ({"user_id": "bob"}, (2,)),
            ({"version": "1.0"}, (1,)),
            ({"model": "m-2"}, (2,)),
            ({"labels": ["env=prod"]}, (2, 1)),
            ({"labels": ["env=prod", "team=a"]}, (1,)),
            ({"labels": ["env=pro"]}, ()),
            ({"error": True}, (2,)),
            ({"error": False}, (4, 3, 1)),
            ({"complete": True}, (3, 2, 1)),
            ({"complete": False}, (4,)),
            ({"since": NOON + timedelta(seconds=2)}, (4, 3, 2)),
            ({"until": NOON + timedelta(seconds=2)}, (1,)),
            ({"since": datetime(1, 1, 1, tzinfo=UTC), "min_duration": -1e300}, (4, 3, 2, 1)),
            ({"until": datetime(1, 1, 1, tzinfo=UTC)}, ()),
            ({"since": datetime(9999, 12, 31, tzinfo=UTC)}, ()),
            ({"until": datetime(9999, 12, 31, tzinfo=UTC), "max_duration": 1e300}, (4, 3, 2, 1)),
            ({"min_duration": 3.0}, (3, 2)),
            ({"max_duration": 1.0}, (4, 1)),
            ({"min_cost_usd": 0.5}, (2, 1)),
            ({"max_cost_usd": 0.5}, (1,)),
            ({"scores": ["tone"]}, (2, 1)),
            ({"scores": ["tone<0.5"]}, (1,)),
            ({"scores": ["tone>=0.8", "tone<=0.8"]}, (2,)),
            ({"scores": ["other"]}, ()),
            ({"policy": "q"}, (2,)),
            ({"trace_id_prefix": trace_id(3)[:6]}, (3,)),
            ({"trace_id_prefix": trace_id(3)[:7]}, (3,)),
            ({"service": "shop", "labels": ["env=prod"], "max_duration": 1.0, "scores": ["tone<1"]}, (1,)),
        )
        for choice, expected in cases:
            assert listed(traces, **choice) == ids(*expected), choice
            assert listed(traces, 1, **choice) == ids(*expected), choice
            assert traces.count(["default"], TraceFilter(**choice)).total == len(expected), choice

    def test_a_condition_that_is_none_is_refused(self, traces: TraceStore) -> None:
        for choice in (
            TraceFilter(labels=["env"]),
            TraceFilter(scores=["tone<"]),
            TraceFilter(scores=["tone<nan"]),
            TraceFilter(scores=["<0.5"]),
        ):
            with pytest.raises(UsageError):
                traces.find(None, choice, size=1)
            with pytest.raises(UsageError):
                traces.count(None, choice)

    def test_text_is_found_by_words_whatever_their_case(self, traces: TraceStore) -> None:
        complete(traces, a_part(1, begun_s=1), text="Where is my Refund for order 17?\nIt is on its way.")
        complete(traces, a_part(2, begun_s=2), text='Größe der Lampe: "AND" OR NOT near* (it)')
        complete(traces, a_part(3, begun_s=3), text="refund refund")
        complete(traces, a_part(4, begun_s=4), text="東京の天気")
        for text, expected in (
            ("refund", (3, 1)),
            ("REFUND order", (1,)),
            ("refund lamp", ()),
            ("größe", (2,)),
            ('"AND" near*', (2,)),
            ("17?", (1,)),
            ("refun", ()),
            ("東京", (4,)),
            ("京都の", ()),
            ("?!", (4, 3, 2, 1)),
        ):
            assert listed(traces, text=text) == ids(*expected), text
            assert listed(traces, 1, text=text) == ids(*expected), text
        assert listed(traces, text="refund", until=NOON + timedelta(seconds=2)) == ids(1)
        assert traces.count(None, TraceFilter(text="refund")).total == 2

    def test_a_new_revision_is_found_by_its_words_alone(self, traces: TraceStore) -> None:
        complete(traces, a_part(), text="an old question")
        append(traces, a_part(piece=1), now_ms=NOON_MS + 100_000)
        (due,) = claim_all(traces, now_ms=NOON_MS + 110_000)
        traces.complete([completed(due, spans="more", text="a new question")], now_ms=NOON_MS + 110_000)
        assert listed(traces, text="old") == []
        assert listed(traces, text="new question") == ids(1)

    def test_counts_tell_how_many_have_which_value(self, traces: TraceStore) -> None:
        complete(traces, a_part(1, labels={"env": "prod"}, user_id="ann"), model="m-1", version="1")
        second = a_part(2, labels={"env": "prod", "team": "a"}, root_failed=True)
        complete(traces, second, model="m-1", failed_spans=1)
        third = a_part(3, service="kiosk", labels={"env": "test"}, failed_spans=2)
        complete(traces, third, model="m-2", version="1", failed_spans=2)
        counts = traces.count(["default"], EVERYTHING)
        assert (counts.total, counts.capped) == (3, False)
        assert {field: dict(values) for field, values in counts.facets.items()} == {
            "service": {"shop": 2, "kiosk": 1},
            "model": {"m-1": 2, "m-2": 1},
            "version": {"1": 2},
            "user_id": {"ann": 1},
            "error": {"false": 2, "true": 1},
            "failed_step": {"false": 1, "true": 2},
            "label.env": {"prod": 2, "test": 1},
            "label.team": {"a": 1},
        }
        assert sorted(listed(traces, failed_step=True)) == sorted(ids(2, 3))
        assert listed(traces, failed_step=False) == ids(1)
        assert listed(traces, error=True) == ids(2)
        chosen = traces.count(["default"], TraceFilter(labels=["env=prod"]))
        assert (chosen.total, dict(chosen.facets["service"])) == (2, {"shop": 2})
        assert traces.count([], EVERYTHING).total == 0

    def test_words_labels_and_scores_choose_together(self, traces: TraceStore) -> None:
        halls_and_attics(traces)
        chosen: dict[str, Any] = {"text": "lamp hall", "labels": ["env=prod"]}
        assert listed(traces, **chosen) == ids(11, 7, 5, 1)
        assert listed(traces, **chosen, scores=["tone<0.6"]) == ids(5, 1)
        assert listed(traces, labels=["env=test"], scores=["tone>0.9"]) == ids(12, 10)
        assert listed(traces, text="hall", service="shop", scores=["tone>0.9"]) == ids(11, 10)
        counts = traces.count(["default"], TraceFilter(**chosen))
        assert (counts.total, counts.capped, counts.facets["label.env"]) == (4, False, {"prod": 4})
        assert traces.count(["default"], TraceFilter(text="lamp")).total == 12
        assert traces.count(["default"], TraceFilter(scores=["tone>0.9"])).total == 3

    def test_who_follows_sees_each_completion_once(self, traces: TraceStore) -> None:
        complete(traces, a_part(1))
        before, mark = traces.completed_since(None, EVERYTHING, after=0, size=9)
        assert not before
        for number in (2, 3, 4):
            complete(traces, a_part(number, service="kiosk" if number == 3 else "shop"))
        first, after_two = traces.completed_since(None, EVERYTHING, after=mark, size=2)
        rest, end = traces.completed_since(None, EVERYTHING, after=after_two, size=2)
        assert [trace.trace_id for trace in (*first, *rest)] == ids(2, 3, 4)
        assert traces.completed_since(None, EVERYTHING, after=end, size=2) == ([], end)
        chosen, _ = traces.completed_since(None, TraceFilter(service="kiosk"), after=mark, size=9)
        assert [trace.trace_id for trace in chosen] == ids(3)
        append(traces, a_part(1, piece=1), now_ms=NOON_MS + 100_000)
        (due,) = claim_all(traces, now_ms=NOON_MS + 110_000)
        traces.complete([completed(due, spans="more")], now_ms=NOON_MS + 110_000)
        again, _ = traces.completed_since(None, EVERYTHING, after=end, size=9)
        assert [(trace.trace_id, trace.revision) for trace in again] == [(trace_id(1), 2)]

    def test_scores_are_listed_with_their_traces(self, traces: TraceStore) -> None:
        later = NOON + timedelta(hours=1)
        complete(traces, a_part(1, begun_s=1), policies=[found_by("p", 0.1), found_by("q", 0.2, evaluator="care")])
        complete(
            traces, a_part(2, begun_s=2, service="kiosk", labels={"a": "b"}), policies=[found_by("p", 0.3, at=later)]
        )
        complete(traces, a_part(3, begun_s=3))

        def found(size: int = 9, **choice: Any) -> list[tuple[str, list[str]]]:
            rows: list[tuple[str, list[str]]] = []
            token = ""
            while True:
                page, token = traces.scores(["default"], ScoreChoice(**choice), size=size, token=token)
                rows += [(trace.trace_id, [policy.policy for policy in policies]) for trace, policies in page]
                if not token:
                    return rows

        one, two = ids(1, 2)
        assert found() == found(1) == [(two, ["p"]), (one, ["p", "q"])]
        assert found(policy="q") == found(evaluator="care") == [(one, ["q"])]
        assert found(service="kiosk") == found(labels={"a": "b"}) == [(two, ["p"])]
        assert found(since_ms=int(later.timestamp() * 1000)) == [(two, ["p"])]
        assert found(trace_id=one, policy="p") == [(one, ["p"])]
        assert found(policy="p", evaluator="care") == []

    # What is said about it

    def test_feedback_joins_by_trace_and_key_whenever_it_comes(self, traces: TraceStore) -> None:
        before = [
            Feedback(id="f1", trace_id=trace_id(1), name="thumbs", passed=True, time=NOON),
            Feedback(id="f2", key="request-7", name="stars", number=-0.5, time=NOON + timedelta(seconds=1)),
        ]
        assert traces.add_feedback("default", before, now_ms=NOON_MS, reconsider=False) == 2
        complete(traces, a_part(), keys=["request-7"])
        after = [Feedback(id="f3", trace_id=trace_id(1), span_id="ab" * 8, name="why", label="late", comment="hm")]
        assert traces.add_feedback("default", after, now_ms=NOON_MS, reconsider=False) == 0
        assert {said.id for said in said_about(traces, "default", trace_id=trace_id(1))} == {"f1", "f2", "f3"}
        assert traces.summary("default", trace_id(1)).feedback == pytest.approx(0.25)
        assert not said_about(traces, "other", trace_id=trace_id(1))

    def test_the_same_feedback_again_replaces_what_it_said(self, traces: TraceStore) -> None:
        complete(traces, a_part())
        for good in (True, True, False):
            said = Feedback(id="f", trace_id=trace_id(1), name="thumbs", passed=good, time=NOON)
            traces.add_feedback("default", [said], now_ms=NOON_MS, reconsider=False)
        assert [each.passed for each in said_about(traces, "default", trace_id=trace_id(1))] == [False]
        assert traces.summary("default", trace_id(1)).feedback == -1
        assert listed(traces, negative_feedback=True) == ids(1)
        assert listed(traces, negative_feedback=False) == []

    def test_feedback_about_a_session_is_that_of_the_session(self, traces: TraceStore) -> None:
        complete(traces, a_part(session_id="s"))
        said = [Feedback(id="f", session_id="s", name="resolved", passed=True, time=NOON)]
        assert traces.add_feedback("default", said, now_ms=NOON_MS, reconsider=False) == 0
        assert [each.id for each in said_about(traces, "default", session_id="s")] == ["f"]
        assert not said_about(traces, "default", trace_id=trace_id(1))

    @pytest.mark.parametrize("about", [{"trace_id": trace_id(1)}, {"session_id": "s"}])
    def test_feedback_is_read_in_pages_the_newest_first_with_the_number_of_all(
        self, traces: TraceStore, about: dict[str, Any]
    ) -> None:
        complete(traces, a_part(session_id="s"), keys=["k", "l"])
        ways: list[dict[str, Any]] = [
            {"trace_id": trace_id(1)},
            {"key": "k"},
            {"key": "l"},
            {"trace_id": trace_id(1), "key": "k"},
        ]
        said = [
            # Two of each second, so that the time alone does not give the order.
            Feedback(id=f"f{number:02}", passed=True, time=NOON + timedelta(seconds=number // 2), **way)
            for number in range(23)
            for way in (about if "session_id" in about else ways[number % 4],)
        ]
        traces.add_feedback("default", said, now_ms=NOON_MS, reconsider=False)
        other = [Feedback(id="x", trace_id=trace_id(2), passed=True), Feedback(id="y", session_id="t", passed=True)]
        traces.add_feedback("default", other, now_ms=NOON_MS, reconsider=False)
        traces.add_feedback("other", [Feedback(id="z", passed=True, **about)], now_ms=NOON_MS, reconsider=False)
        shown: list[str] = []
        token = ""
        while True:
            page = traces.feedback("default", **about, size=5, token=token)
            assert (page.total, len(page.feedback)) == (len(said) + (len(shown) > 9), min(5, 23 - len(shown)))
            shown += [each.id for each in page.feedback]
            if len(shown) == 10:
                # What is said meanwhile neither repeats nor hides anything.
                late = Feedback(id="late", passed=True, time=NOON + timedelta(days=1), **about)
                traces.add_feedback("default", [late], now_ms=NOON_MS, reconsider=False)
            token = page.next_token
            if not token:
                break
        assert shown == [each.id for each in reversed(said)]
        assert not traces.feedback("default", **about, size=24).next_token
        first = traces.feedback("default", **about, size=5)
        with pytest.raises(UsageError):
            traces.feedback("default", trace_id=trace_id(2), size=5, token=first.next_token)

    def test_the_opinion_about_a_trace_is_known_by_its_keys_before_it_is_complete(self, traces: TraceStore) -> None:
        append(traces, a_part(1), a_part(2))
        assert traces.opinion("default", trace_id(1), ["k"]) is None
        said = [
            Feedback(id="a", trace_id=trace_id(1), passed=False, time=NOON),
            Feedback(id="b", key="k", number=0.5, time=NOON),
            Feedback(id="c", trace_id=trace_id(1), key="k", passed=True, time=NOON),
            Feedback(id="d", key="k", label="late", time=NOON),
            Feedback(id="e", key="other", passed=False, time=NOON),
        ]
        traces.add_feedback("default", said, now_ms=NOON_MS, reconsider=False)
        assert traces.opinion("default", trace_id(1), ["k", "unheard"]) == pytest.approx(0.5 / 3)
        assert traces.opinion("default", trace_id(1), []) == pytest.approx(0)
        assert traces.opinion("default", trace_id(2), []) is None
        assert traces.opinion("elsewhere", trace_id(1), ["k"]) is None

    def test_a_session_is_read_in_pages_the_oldest_trace_first(self, traces: TraceStore) -> None:
        for number in range(7):
            # Two begin together.
            append(traces, a_part(number, begun_s=number // 2, session_id="s"))
        append(traces, a_part(9, session_id="other"), a_part(10))
        append(traces, a_part(11, session_id="s"), project="elsewhere")
        shown: list[str] = []
        token = ""
        while True:
            page = traces.find_of_session("default", "s", size=3, token=token)
            shown += [each.trace_id for each in page.traces]
            token = page.next_token
            if not token:
                break
            assert len(page.traces) == 3
        begun = {name: number // 2 for number, name in enumerate(ids(*range(7)))}
        assert [begun.pop(name) for name in shown] == [0, 0, 1, 1, 2, 2, 3]
        assert shown == list(traces.session_traces("default", "s")[0])
        for unheard in ("", "never"):
            assert not traces.find_of_session("default", unheard, size=3).traces

    def test_feedback_makes_a_complete_trace_due_once_more_where_that_is_asked(self, traces: TraceStore) -> None:
        complete(traces, a_part(1))
        complete(traces, a_part(2))
        said = [Feedback(id=f"f{number}", trace_id=trace_id(number), passed=False, time=NOON) for number in (1, 3)]
        traces.add_feedback("default", said, now_ms=NOON_MS + 20_000, reconsider=False)
        assert not claim_all(traces, now_ms=NOON_MS + 20_000)
        traces.add_feedback("default", said, now_ms=NOON_MS + 20_000, reconsider=True)
        (due,) = claim_all(traces, now_ms=NOON_MS + 20_000)
        assert (due.trace_id, due.revision, due.evaluated_spans) == (trace_id(1), 2, b"")
        traces.complete([completed(due)], now_ms=NOON_MS + 20_000)
        assert traces.summary("default", trace_id(1)).revision == 2

    # What goes

    def test_what_is_deleted_is_gone_with_everything_about_it(self, traces: TraceStore) -> None:
        for number, user in ((1, "ann"), (2, "bob"), (3, "ann")):
            complete(
                traces,
                a_part(number, begun_s=number, user_id=user, session_id=f"s{number}", labels={"a": "b"}),
                text=f"secret {number}",
                keys=[f"key-{number}"],
                policies=[found_by("p", 0.5)],
            )
            said = [
                Feedback(id=f"t{number}", trace_id=trace_id(number), passed=True, time=NOON),
                Feedback(id=f"k{number}", key=f"key-{number}", passed=True, time=NOON),
                Feedback(id=f"s{number}", session_id=f"s{number}", passed=True, time=NOON),
            ]
            traces.add_feedback("default", said, now_ms=NOON_MS, reconsider=False)
        assert traces.delete("default", TraceFilter(user_id="ann")) == 2
        for number in (1, 3):
            with pytest.raises(NotFoundError):
                traces.spans("default", trace_id(number))
            assert not traces.results("default", trace_id(number))
            assert not said_about(traces, "default", trace_id=trace_id(number))
            assert not said_about(traces, "default", session_id=f"s{number}")
        assert listed(traces) == listed(traces, text="secret") == listed(traces, labels=["a=b"]) == ids(2)
        assert listed(traces, scores=["tone"]) == ids(2)
        assert len(said_about(traces, "default", trace_id=trace_id(2))) == 2
        assert traces.delete("default", [trace_id(2), trace_id(9)]) == 1
        assert traces.delete("default", [trace_id(2)]) == 0
        assert traces.projects() == []
        complete(traces, a_part(1))
        assert traces.summary("default", trace_id(1)).feedback is None
        assert not traces.claim_sessions(now_ms=NOON_MS * 2, limit=9, lease_ms=1)

    def test_deleting_a_session_removes_what_was_said_about_it(self, traces: TraceStore) -> None:
        complete(traces, a_part(1, session_id="s"))
        complete(traces, a_part(2, session_id="other"))
        said = [Feedback(id="f", session_id="s", passed=True), Feedback(id="g", session_id="other", passed=True)]
        traces.add_feedback("default", said, now_ms=NOON_MS, reconsider=False)
        assert traces.delete("default", TraceFilter(session_id="s")) == 1
        assert not said_about(traces, "default", session_id="s")
        assert len(said_about(traces, "default", session_id="other")) == 1
        assert traces.delete("other", TraceFilter(session_id="other")) == 0
        assert listed(traces) == ids(2)

    def test_a_claim_on_what_was_deleted_is_not_held(self, traces: TraceStore) -> None:
        append(traces, a_part())
        (due,) = claim_all(traces)
        traces.delete("default", ids(1))
        append(traces, a_part())
        assert not traces.complete([completed(due)], now_ms=NOON_MS)

    def test_what_is_old_expires_some_at_a_time(self, traces: TraceStore) -> None:
        for number in range(6):
            append(traces, a_part(number), now_ms=NOON_MS + number * 1000)
        append(traces, a_part(0, piece=1), now_ms=NOON_MS + 9000)
        append(traces, a_part(7), project="other")
        assert traces.expire("default", before_ms=NOON_MS + 4000, limit=2) == 2
        assert traces.expire("default", before_ms=NOON_MS + 4000, limit=9) == 1
        assert traces.expire("default", before_ms=NOON_MS + 4000, limit=9) == 0
        assert sorted(listed(traces)) == sorted(ids(0, 4, 5))
        assert traces.projects() == ["default", "other"]

    def test_what_was_said_of_a_trace_that_is_named_goes_also_when_that_is_not_there(self, traces: TraceStore) -> None:
        said = [Feedback(id=str(number), trace_id=trace_id(number), passed=True, time=NOON) for number in (1, 2)]
        for project in ("default", "other"):
            traces.add_feedback(project, said, now_ms=NOON_MS, reconsider=False)
        assert traces.delete("default", ids(1)) == 0
        assert not said_about(traces, "default", trace_id=trace_id(1))
        assert len(said_about(traces, "default", trace_id=trace_id(2))) == 1
        assert len(said_about(traces, "other", trace_id=trace_id(1))) == 1

    def test_feedback_that_came_long_ago_and_is_about_nothing_that_is_there_expires(self, traces: TraceStore) -> None:
        append(traces, a_part(1, session_id="s"), now_ms=NOON_MS)
        (due,) = claim_all(traces)
        traces.complete([completed(due, keys=["ours"])], now_ms=NOON_MS)
        about: list[dict[str, Any]] = [
            *(
                {"trace_id": trace_id(1)},
                {"key": "ours"},
                {"session_id": "s"},
                {"trace_id": trace_id(2), "key": "ours"},
            ),
            *({"trace_id": trace_id(2)}, {"key": "theirs"}, {"session_id": "gone"}),
        ]
        said = [Feedback(id=str(place), passed=True, time=NOON, **each) for place, each in enumerate(about)]
        traces.add_feedback("default", said, now_ms=NOON_MS, reconsider=False)
        # It counts from when it came, whatever its sender says of when it was.
        late = [Feedback(id="late", passed=True, time=NOON - timedelta(days=99), key="theirs")]
        traces.add_feedback("default", late, now_ms=NOON_MS + 1000, reconsider=False)
        assert traces.expire_feedback("default", before_ms=NOON_MS, limit=9) == 0
        assert traces.expire_feedback("other", before_ms=NOON_MS + 1, limit=9) == 0
        assert traces.expire_feedback("default", before_ms=NOON_MS + 1, limit=9) == 3
        assert traces.expire_feedback("default", before_ms=NOON_MS + 1, limit=9) == 0
        append(traces, a_part(2, session_id="gone"))
        assert {each.id for each in said_about(traces, "default", trace_id=trace_id(1))} == {"0", "1", "3"}
        assert [each.id for each in said_about(traces, "default", session_id="s")] == ["2"]
        assert not said_about(traces, "default", session_id="gone")
        assert traces.expire_feedback("default", before_ms=NOON_MS + 1001, limit=9) == 1

    def test_an_export_gives_every_trace_of_the_choice_with_its_bodies(self, traces: TraceStore) -> None:
        for number in range(5):
            append(traces, a_part(number, begun_s=number), a_part(number, piece=1, begun_s=number))
        found = list(traces.export("default", TraceFilter(since=NOON + timedelta(seconds=2))))
        assert [shown.trace_id for shown, _ in found] == ids(4, 3, 2)
        assert list(found[0][1]) == [a_part(4).body, a_part(4, piece=1).body]
        assert not list(traces.export("other", EVERYTHING))

    def test_of_too_many_that_wait_the_oldest_become_due(self, traces: TraceStore) -> None:
        for number in range(1, 6):
            append(traces, a_part(number, root_ended=False))
        assert traces.hurry(most=5, now_ms=NOON_MS) == 0
        assert traces.hurry(most=2, now_ms=NOON_MS) == 3
        assert traces.hurry(most=2, now_ms=NOON_MS) == 0
        due = traces.claim(now_ms=NOON_MS, limit=9, lease_ms=1000)
        assert {each.trace_id for each in due} == set(ids(1, 2, 3))

    def test_traces_that_wait_are_counted(self, traces: TraceStore) -> None:
        append(traces, a_part(1), a_part(2), project="one")
        append(traces, a_part(3), project="two")
        assert traces.pending() == 3
        assert traces.overdue(since_ms=NOON_MS, most=9) == 0
        assert [traces.overdue(since_ms=NOON_MS + 10**9, most=most) for most in (2, 9)] == [2, 3]
        due = claim_all(traces)
        traces.complete([completed(each) for each in due[:2]], now_ms=NOON_MS + 10_000)
        assert traces.pending() == 1
