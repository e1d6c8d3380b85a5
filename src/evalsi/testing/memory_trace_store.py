"""A `TraceStore` in memory, for tests of what stands above one. It passes the same suite as the databases."""

import secrets
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

import msgspec

from evalsi.core.clock import microseconds, moment_of
from evalsi.core.errors import NotFoundError
from evalsi.core.page_token import read_page_token, write_page_token
from evalsi.ports.trace_store import (
    Appended,
    CompletedTrace,
    DueSession,
    DueTrace,
    FeedbackPage,
    ScoreChoice,
    TraceCounts,
    TracePage,
    TracePart,
    Waiting,
)
from evalsi.schema import Feedback, PolicyResults, TraceFilter, TraceSummary
from evalsi.traces.completion import due_ms
from evalsi.traces.feedback_value import opinion
from evalsi.traces.score_values import score_values
from evalsi.traces.search_words import search_words
from evalsi.traces.trace_choice import label_condition, score_condition

_MOST_COUNTED = 100_000
_MOST_LOOKED_AT = 10_000
_FIELDS = ("service", "model", "version", "user_id")


@dataclass(kw_only=True)
class _Trace:
    project: str
    trace_id: str
    start_ns: int
    end_ns: int
    first_ms: int
    last_ms: int
    waiting: Waiting
    bodies: dict[bytes, None] = field(default_factory=dict[bytes, None])
    root_ended: bool = False
    due_ms: int | None = None
    lease_ms: int = 0
    token: str = ""
    revision: int = 0
    evaluated: bytes = b""
    mark: int = 0
    text: str = ""
    keys: Sequence[str] = ()
    summary: TraceSummary = field(default_factory=TraceSummary)
    policies: dict[str, PolicyResults] = field(default_factory=dict[str, PolicyResults])


@dataclass(kw_only=True)
class _Session:
    due_ms: int | None = None
    lease_ms: int = 0
    token: str = ""
    policies: dict[str, PolicyResults] = field(default_factory=dict[str, PolicyResults])


class MemoryTraceStore:
    """Implements `TraceStore`."""

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._traces: dict[tuple[str, str], _Trace] = {}
        self._sessions: dict[tuple[str, str], _Session] = {}
        self._said: dict[tuple[str, str], Feedback] = {}
        self._said_ms: dict[tuple[str, str], int] = {}
        self._mark = 0

    def append(self, project: str, parts: Sequence[TracePart], *, now_ms: int, waiting: Waiting) -> Appended:
        traces = spans = 0
        with self._lock:
            for part in parts:
                place = (project, part.trace_id.hex())
                trace = self._traces.get(place)
                if trace is None:
                    traces += 1
                    trace = self._traces[place] = _Trace(
                        project=project,
                        trace_id=place[1],
                        start_ns=part.start_ns,
                        end_ns=part.end_ns,
                        first_ms=now_ms,
                        last_ms=now_ms,
                        waiting=waiting,
                    )
                if part.body in trace.bodies:
                    continue
                spans += len(part.span_ids) // 8
                self._extend(trace, part, now_ms, waiting)
        return Appended(traces=traces, spans=spans)

    def begin_append(
        self, project: str, parts: Sequence[TracePart], *, now_ms: int, waiting: Waiting
    ) -> "Future[Appended]":
        stored: Future[Appended] = Future()
        stored.set_result(self.append(project, parts, now_ms=now_ms, waiting=waiting))
        return stored

    def _extend(self, trace: _Trace, part: TracePart, now_ms: int, waiting: Waiting) -> None:
        before = trace.summary
        if before.complete:
            trace.first_ms = now_ms
        trace.bodies[part.body] = None
        trace.last_ms, trace.waiting = now_ms, waiting
        trace.root_ended = trace.root_ended or part.root_ended
        trace.start_ns = min(trace.start_ns or part.start_ns, part.start_ns or trace.start_ns)
        trace.end_ns = max(trace.end_ns, part.end_ns)
        trace.due_ms = due_ms(
            first_ms=trace.first_ms,
            last_ms=now_ms,
            root_ended=trace.root_ended,
            revision=trace.revision,
            waiting=waiting,
        )
        trace.summary = msgspec.structs.replace(
            before,
            trace_id=trace.trace_id,
            project=trace.project,
            service=before.service or part.service,
            name=before.name or part.name,
            start_time=moment_of(trace.start_ns // 1000),
            duration=max(trace.end_ns - trace.start_ns, 0) / 1e9,
            error=before.error or part.root_failed,
            session_id=before.session_id or part.session_id,
            user_id=before.user_id or part.user_id,
            labels={**before.labels, **part.labels},
            spans=before.spans + len(part.span_ids) // 8,
            failed_spans=before.failed_spans + part.failed_spans,
            complete=False,
        )
        self._move_session(trace, now_ms)

    def _move_session(self, trace: _Trace, now_ms: int) -> None:
        if trace.summary.session_id:
            session = self._sessions.setdefault((trace.project, trace.summary.session_id), _Session())
            session.due_ms, session.token, session.lease_ms = now_ms + trace.waiting.session_ms, "", 0

    def spans(self, project: str, trace_id: str) -> Sequence[bytes]:
        with self._lock:
            return list(self._trace(project, trace_id).bodies)

    def spans_of(self, project: str, trace_ids: Sequence[str]) -> Mapping[str, Sequence[bytes]]:
        with self._lock:
            known = {name: self._traces.get((project, name)) for name in trace_ids}
            return {name: list(trace.bodies) for name, trace in known.items() if trace is not None}

    def full_id(self, project: str, prefix: str) -> str:
        with self._lock:
            found = [name for place, name in self._traces if place == project and name.startswith(prefix.lower())]
        if len(found) != 1:
            raise NotFoundError(f"{'several traces begin' if found else 'no trace begins'} with {prefix!r}")
        return found[0]

    def claim(self, *, now_ms: int, limit: int, lease_ms: int) -> Sequence[DueTrace]:
        with self._lock:
            due = [
                (trace.due_ms, place)
                for place, trace in self._traces.items()
                if trace.due_ms is not None and trace.due_ms <= now_ms and trace.lease_ms <= now_ms
            ]
            return [self._claimed(self._traces[place], now_ms + lease_ms) for _, place in sorted(due)[:limit]]

    def _claimed(self, trace: _Trace, lease_ms: int) -> DueTrace:
        trace.lease_ms, trace.token = lease_ms, secrets.token_hex(8)
        return DueTrace(
            project=trace.project,
            trace_id=trace.trace_id,
            revision=trace.revision + 1,
            parts=len(trace.bodies),
            evaluated_spans=trace.evaluated,
            token=trace.token,
        )

    def renew(self, due: Sequence[DueTrace], *, now_ms: int, lease_ms: int) -> None:
        with self._lock:
            for each in due:
                trace = self._traces.get((each.project, each.trace_id))
                if trace is not None and trace.token == each.token:
                    trace.lease_ms = now_ms + lease_ms

    def complete(self, traces: Sequence[CompletedTrace], *, now_ms: int) -> Sequence[str]:
        stored: list[str] = []
        with self._lock:
            for done in traces:
                trace = self._traces.get((done.due.project, done.due.trace_id))
                if trace is None or trace.token != done.due.token:
                    continue
                self._complete(trace, done, now_ms)
                stored.append(trace.trace_id)
        return stored

    def _complete(self, trace: _Trace, done: CompletedTrace, now_ms: int) -> None:
        if done.span_digest != trace.evaluated:
            trace.revision = done.due.revision
            trace.policies = {policy.policy: policy for policy in done.policies}
        whole = len(trace.bodies) == done.due.parts
        trace.token, trace.lease_ms, trace.evaluated = "", 0, done.span_digest
        trace.text, trace.keys = done.text, done.keys
        before = trace.summary
        trace.summary = msgspec.structs.replace(
            done.summary,
            trace_id=trace.trace_id,
            project=trace.project,
            start_time=before.start_time,
            service=done.summary.service or before.service,
            name=done.summary.name or before.name,
            session_id=done.summary.session_id or before.session_id,
            user_id=done.summary.user_id or before.user_id,
            labels={**before.labels, **done.summary.labels},
            complete=whole,
            revision=trace.revision,
        )
        if whole:
            trace.due_ms = None
        if trace.summary.session_id != before.session_id:
            self._move_session(trace, now_ms)
        self._mark += 1
        trace.mark = self._mark

    def claim_sessions(self, *, now_ms: int, limit: int, lease_ms: int) -> Sequence[DueSession]:
        found: list[DueSession] = []
        with self._lock:
            due = [
                (session.due_ms, place)
                for place, session in self._sessions.items()
                if session.due_ms is not None and session.due_ms <= now_ms and session.lease_ms <= now_ms
            ]
            for _, (project, session_id) in sorted(due):
                traces = self._of_session(project, session_id)
                if len(found) == limit or not traces or any(trace.due_ms is not None for trace in traces):
                    continue
                session = self._sessions[project, session_id]
                session.lease_ms, session.token = now_ms + lease_ms, secrets.token_hex(8)
                found.append(
                    DueSession(
                        project=project,
                        session_id=session_id,
                        trace_ids=[trace.trace_id for trace in traces],
                        revision=sum(trace.revision for trace in traces),
                        token=session.token,
                    )
                )
        return found

    def renew_sessions(self, sessions: Sequence[DueSession], *, now_ms: int, lease_ms: int) -> None:
        with self._lock:
            for each in sessions:
                session = self._sessions.get((each.project, each.session_id))
                if session is not None and session.token == each.token:
                    session.lease_ms = now_ms + lease_ms

    def session_traces(self, project: str, session_id: str) -> tuple[Sequence[str], int]:
        with self._lock:
            traces = self._of_session(project, session_id)
            return [trace.trace_id for trace in traces], sum(trace.revision for trace in traces)

    def _of_session(self, project: str, session_id: str) -> "list[_Trace]":
        """Its traces, the oldest first."""
        every = self._traces.values()
        return sorted(
            (trace for trace in every if (trace.project, trace.summary.session_id) == (project, session_id)), key=_age
        )

    def complete_session(self, session: DueSession, policies: Sequence[PolicyResults], *, now_ms: int) -> bool:
        del now_ms
        with self._lock:
            row = self._sessions.get((session.project, session.session_id))
            if row is None or row.token != session.token:
                return False
            row.due_ms, row.token, row.lease_ms = None, "", 0
            kept = {name: each for name, each in row.policies.items() if each.revision >= session.revision}
            row.policies = {**kept, **{policy.policy: policy for policy in policies}}
            return True

    def write_session_results(self, project: str, session_id: str, results: PolicyResults, *, now_ms: int) -> bool:
        with self._lock:
            session = self._sessions.get((project, session_id))
            if session is None:
                return False
            known = session.policies.get(results.policy)
            if known is not None and known.revision > results.revision:
                return False
            session.policies[results.policy] = _timed(results, now_ms)
            return True

    def write_results(self, project: str, trace_id: str, results: PolicyResults, *, now_ms: int) -> bool:
        with self._lock:
            trace = self._traces.get((project, trace_id))
            if trace is None or trace.revision > results.revision:
                return False
            known = trace.policies.get(results.policy)
            if known is not None and known.revision > results.revision:
                return False
            trace.policies[results.policy] = _timed(results, now_ms)
            return True

    def find(self, projects: Sequence[str] | None, choice: TraceFilter, *, size: int, token: str = "") -> TracePage:
        query = ["traces", None if projects is None else sorted(projects), msgspec.to_builtins(choice)]
        after = read_page_token(token, query, tuple[int, str])
        with self._lock:
            found = [trace for trace in self._chosen(projects, choice) if after is None or _age(trace) < after]
            page = found[:size]
            more = write_page_token(query, _age(page[-1])) if len(found) > size else ""
            return TracePage(traces=[self._summary(trace) for trace in page], next_token=more)

    def find_of_session(self, project: str, session_id: str, *, size: int, token: str = "") -> TracePage:
        query = ["session", project, session_id]
        after = read_page_token(token, query, tuple[int, str])
        with self._lock:
            traces = self._of_session(project, session_id) if session_id else []
            found = [trace for trace in traces if after is None or _age(trace) > after]
            more = write_page_token(query, _age(found[size - 1])) if len(found) > size else ""
            return TracePage(traces=[self._summary(trace) for trace in found[:size]], next_token=more)

    def count(self, projects: Sequence[str] | None, choice: TraceFilter) -> TraceCounts:
        facets: dict[str, Counter[str]] = {}
        with self._lock:
            found = self._chosen(projects, choice)
            for trace in found[:_MOST_LOOKED_AT]:
                shown = trace.summary
                for name in _FIELDS:
                    if getattr(shown, name):
                        facets.setdefault(name, Counter())[getattr(shown, name)] += 1
                for name, failed in (("error", shown.error), ("failed_step", shown.failed_spans)):
                    facets.setdefault(name, Counter())["true" if failed else "false"] += 1
                for key, value in shown.labels.items():
                    facets.setdefault(f"label.{key}", Counter())[value] += 1
        capped = len(found) > _MOST_LOOKED_AT
        return TraceCounts(total=min(len(found), _MOST_COUNTED), facets=facets, capped=capped)

    def completed_since(
        self, projects: Sequence[str] | None, choice: TraceFilter, *, after: int, size: int
    ) -> tuple[Sequence[TraceSummary], int]:
        with self._lock:
            if not after:
                return (), self._mark + 1
            found = sorted(
                (trace for trace in self._chosen(projects, choice) if trace.mark >= after), key=lambda trace: trace.mark
            )[:size]
            mark = found[-1].mark + 1 if len(found) == size else self._mark + 1
            return [self._summary(trace) for trace in found], mark

    def summary(self, project: str, trace_id: str) -> TraceSummary:
        with self._lock:
            return self._summary(self._trace(project, trace_id))

    def results(self, project: str, trace_id: str) -> Sequence[PolicyResults]:
        with self._lock:
            trace = self._traces.get((project, trace_id))
            return [policy for _, policy in sorted(trace.policies.items())] if trace is not None else []

    def session_results(self, project: str, session_id: str) -> Sequence[PolicyResults]:
        with self._lock:
            session = self._sessions.get((project, session_id))
            return [policy for _, policy in sorted(session.policies.items())] if session is not None else []

    def scores(
        self, projects: Sequence[str] | None, choice: ScoreChoice, *, size: int, token: str = ""
    ) -> tuple[Sequence[tuple[TraceSummary, Sequence[PolicyResults]]], str]:
        query = ["scores", None if projects is None else sorted(projects), msgspec.to_builtins(choice)]
        after = read_page_token(token, query, tuple[int, str])
        labels = [f"{key}={value}" for key, value in choice.labels.items()]
        shown = TraceFilter(service=choice.service, labels=labels, trace_id_prefix=choice.trace_id)
        found: list[tuple[_Trace, list[PolicyResults]]] = []
        with self._lock:
            for trace in self._chosen(projects, shown):
                policies = [policy for policy in map(_narrowed(choice), trace.policies.values()) if policy is not None]
                if policies and (after is None or _age(trace) < after):
                    found.append((trace, sorted(policies, key=lambda policy: policy.policy)))
            page = found[:size]
            more = write_page_token(query, _age(page[-1][0])) if len(found) > size else ""
            return [(self._summary(trace), policies) for trace, policies in page], more

    def add_feedback(self, project: str, feedback: Sequence[Feedback], *, now_ms: int, reconsider: bool) -> int:
        waiting = 0
        with self._lock:
            for said in feedback:
                self._said[project, said.id] = said
                self._said_ms[project, said.id] = now_ms
                about = [
                    trace for trace in self._traces.values() if _is_about(said, trace) and trace.project == project
                ]
                if not about and (project, said.session_id) not in self._sessions:
                    waiting += 1
                for trace in about if reconsider else ():
                    if trace.due_ms is None:
                        trace.due_ms, trace.evaluated = now_ms, b""
        return waiting

    def feedback(
        self, project: str, *, trace_id: str = "", session_id: str = "", size: int, token: str = ""
    ) -> FeedbackPage:
        query = ["feedback", project, trace_id, session_id]
        after = read_page_token(token, query, tuple[int, str])
        with self._lock:
            trace = self._traces.get((project, trace_id))
            found = [
                said
                for (place, _), said in self._said.items()
                if place == project
                and (
                    (session_id and said.session_id == session_id)
                    or (trace_id and said.trace_id == trace_id)
                    or (trace is not None and _is_about(said, trace))
                )
            ]
        found.sort(key=_when, reverse=True)
        left = [said for said in found if after is None or _when(said) < after]
        more = write_page_token(query, _when(left[size - 1])) if len(left) > size else ""
        return FeedbackPage(feedback=left[:size], total=len(found), next_token=more)

    def opinion(self, project: str, trace_id: str, keys: Sequence[str]) -> float | None:
        with self._lock:
            values = [
                value
                for (place, _), said in self._said.items()
                if place == project
                and (said.trace_id == trace_id or (said.key and said.key in keys))
                and (value := opinion(said)) is not None
            ]
        return sum(values) / len(values) if values else None

    def delete(self, project: str, choice: TraceFilter | Sequence[str]) -> int:
        with self._lock:
            if isinstance(choice, TraceFilter):
                found = self._chosen([project], choice)
                erased = choice.session_id
            else:
                found = [self._traces[project, name] for name in choice if (project, name) in self._traces]
                erased = ""
                self._said = {
                    place: said
                    for place, said in self._said.items()
                    if not (place[0] == project and said.trace_id in choice)
                }
            self._remove(project, found)
            self._said = {
                place: said
                for place, said in self._said.items()
                if not (erased and place[0] == project and said.session_id == erased)
            }
            return len(found)

    def _remove(self, project: str, traces: Sequence[_Trace]) -> None:
        for trace in traces:
            self._said = {
                place: said
                for place, said in self._said.items()
                if not (place[0] == project and (said.trace_id == trace.trace_id or said.key in trace.keys))
            }
            del self._traces[trace.project, trace.trace_id]
        left = {(trace.project, trace.summary.session_id) for trace in self._traces.values()}
        for place in [place for place in self._sessions if place not in left]:
            del self._sessions[place]
            self._said = {key: said for key, said in self._said.items() if (key[0], said.session_id) != place}

    def expire(self, project: str, *, before_ms: int, limit: int) -> int:
        with self._lock:
            found = [
                trace for trace in self._traces.values() if trace.project == project and trace.last_ms < before_ms
            ][:limit]
            self._remove(project, found)
            return len(found)

    def expire_feedback(self, project: str, *, before_ms: int, limit: int) -> int:
        with self._lock:
            traces = [trace for trace in self._traces.values() if trace.project == project]
            gone = [
                place
                for place, said in self._said.items()
                if place[0] == project
                and self._said_ms[place] < before_ms
                and not any(_is_about(said, trace) for trace in traces)
                and (project, said.session_id) not in self._sessions
            ][:limit]
            for place in gone:
                del self._said[place]
            return len(gone)

    def projects(self) -> Sequence[str]:
        with self._lock:
            return sorted({trace.project for trace in self._traces.values()})

    def export(self, project: str, choice: TraceFilter) -> Iterator[tuple[TraceSummary, Sequence[bytes]]]:
        with self._lock:
            found = [(self._summary(trace), list(trace.bodies)) for trace in self._chosen([project], choice)]
        yield from found

    def hurry(self, *, most: int, now_ms: int) -> int:
        with self._lock:
            waiting = [trace for trace in self._traces.values() if trace.due_ms is not None and trace.due_ms > now_ms]
            hurried = waiting[: max(0, len(waiting) - most)]
            for trace in hurried:
                trace.due_ms = now_ms
        return len(hurried)

    def overdue(self, *, since_ms: int, most: int) -> int:
        with self._lock:
            due = [trace for trace in self._traces.values() if trace.due_ms is not None and trace.due_ms <= since_ms]
        return min(len(due), most)

    def pending(self) -> int:
        with self._lock:
            return sum(trace.due_ms is not None for trace in self._traces.values())

    def _trace(self, project: str, trace_id: str) -> _Trace:
        trace = self._traces.get((project, trace_id))
        if trace is None:
            raise NotFoundError(f"no trace {trace_id!r}")
        return trace

    def _summary(self, trace: _Trace) -> TraceSummary:
        return msgspec.structs.replace(
            trace.summary,
            results=sum(len(policy.results) for policy in trace.policies.values()),
            scores=score_values(trace.policies.values()),
            feedback=self.opinion(trace.project, trace.trace_id, list(trace.keys)),
        )

    def _chosen(self, projects: Sequence[str] | None, choice: TraceFilter) -> list[_Trace]:
        holds = _condition(choice)
        found = [
            trace
            for trace in self._traces.values()
            if (projects is None or trace.project in projects) and holds(trace, self._summary(trace))
        ]
        return sorted(found, key=_age, reverse=True)


def _condition(choice: TraceFilter) -> Callable[[_Trace, TraceSummary], bool]:
    scores = [score_condition(text) for text in choice.scores]
    labels = [label_condition(text) for text in choice.labels]
    words = set(search_words(choice.text))
    same = {name: getattr(choice, name) for name in ("service", "session_id", "user_id", "version", "model")}

    def holds(trace: _Trace, shown: TraceSummary) -> bool:
        told: list[tuple[Any, Callable[[Any], bool]]] = [
            (choice.error, lambda wanted: shown.error is wanted),
            (choice.failed_step, lambda wanted: (shown.failed_spans > 0) is wanted),
            (choice.complete, lambda wanted: shown.complete is wanted),
            (choice.since, lambda wanted: trace.start_ns >= _ns(wanted)),
            (choice.until, lambda wanted: trace.start_ns < _ns(wanted)),
            (choice.min_duration, lambda wanted: (shown.duration or 0) >= wanted),
            (choice.max_duration, lambda wanted: (shown.duration or 0) <= wanted),
            (choice.min_cost_usd, lambda wanted: shown.cost_usd is not None and shown.cost_usd >= wanted),
            (choice.max_cost_usd, lambda wanted: shown.cost_usd is not None and shown.cost_usd <= wanted),
            (
                choice.negative_feedback,
                lambda wanted: shown.feedback is not None and (shown.feedback < 0) is wanted,
            ),
        ]
        return (
            all(not value or getattr(shown, name) == value for name, value in same.items())
            and all(wanted is None or test(wanted) for wanted, test in told)
            and all(shown.labels.get(key) == value for key, value in labels)
            and all(each.name in shown.scores and each.holds(shown.scores[each.name]) for each in scores)
            and words <= set(search_words(trace.text))
            and (not choice.policy or choice.policy in trace.policies)
            and trace.trace_id.startswith(choice.trace_id_prefix.lower())
        )

    return holds


def _narrowed(choice: ScoreChoice) -> Callable[[PolicyResults], PolicyResults | None]:
    def narrowed(policy: PolicyResults) -> PolicyResults | None:
        time_ms = policy.time.timestamp() * 1000 if policy.time else 0
        if (choice.policy and policy.policy != choice.policy) or time_ms < choice.since_ms:
            return None
        if not choice.evaluator:
            return policy
        results = [result for result in policy.results if result.evaluator == choice.evaluator]
        return msgspec.structs.replace(policy, results=results) if results else None

    return narrowed


def _is_about(said: Feedback, trace: _Trace) -> bool:
    return said.trace_id == trace.trace_id or bool(said.key and said.key in trace.keys)


def _when(said: Feedback) -> tuple[int, str]:
    return microseconds(said.time) if said.time is not None else 0, said.id


def _timed(results: PolicyResults, now_ms: int) -> PolicyResults:
    return results if results.time is not None else msgspec.structs.replace(results, time=moment_of(now_ms * 1000))


def _age(trace: _Trace) -> tuple[int, str]:
    return trace.start_ns, trace.trace_id


def _ns(moment: datetime) -> int:
    return microseconds(moment) * 1000
