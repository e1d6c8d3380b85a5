"""A `TraceFilter` as SQL: which table leads, what joins it, what must hold, and where a page goes on.

A module of its own because every list, count, export and deletion asks through it. What always holds: a list is read in
the order of the index of the table that leads, the newest begin first, and is never sorted; a page goes on at the
position of its last row.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal, NamedTuple, Protocol, TypeAlias

from evalsi.core.clock import microseconds
from evalsi.infra.store.trace_rows import label_of
from evalsi.schema import TraceFilter
from evalsi.traces.search_words import search_words
from evalsi.traces.trace_choice import ScoreCondition, label_condition, score_condition

_MOST = 2**63 - 1
"""The largest number that a column holds."""


Leader: TypeAlias = Literal["words", "label", "own"]


class Lead(NamedTuple):
    """The table that a list is read from."""

    table: str
    key: str
    """Its column that names the trace."""
    order: tuple[str, str]
    """The columns that give the order; the second is "0" where the first is different in every row."""
    conditions: Sequence[str]
    values: Sequence[Any]

    def newest(self, most: int) -> "Lead":
        """As many of its rows, those that begin last."""
        start, key = self.order
        rows = (
            f"SELECT {self.key} AS trace, {start} AS start, {key} AS within FROM {self.table} "  # noqa: S608 - names of ours
            f"WHERE {' AND '.join(self.conditions)} ORDER BY {start} DESC LIMIT {most}"
        )
        order = ("n.start", "0" if key == "0" else "n.within")
        return Lead(f"({rows}) AS n", "n.trace", order, ("1 = 1",), self.values)


class TextSearch(Protocol):
    """How a database finds words."""

    def words_lead(self, project: int, words: Sequence[str]) -> Lead: ...

    def says_words(self, project: int, words: Sequence[str]) -> tuple[str, Any]:
        """A condition on `t`, and its value: whether the trace holds these words."""
        ...


class TraceQuery(NamedTuple):
    """One statement over `traces t` of one project, without its columns, order and limit."""

    source: str
    conditions: Sequence[str]
    values: Sequence[Any]
    order: tuple[str, str]
    lead: Lead | None = None
    is_all_of_lead: bool = False
    """Whether every row of the table that leads is a trace of the choice."""

    @property
    def counted(self) -> tuple[str, Sequence[str], Sequence[Any]]:
        """What to count, its conditions and their values: without traces, where the table that leads says it all."""
        if self.lead is not None and self.is_all_of_lead:
            return self.lead.table, self.lead.conditions, self.lead.values
        return self.source, self.conditions, self.values

    def select(self, columns: Sequence[str], *, after: tuple[int, int] | None, size: int) -> tuple[str, list[Any]]:
        """The statement for a page that begins below the position `after`; its last two columns are the position."""
        start, key = self.order
        where, values = list(self.conditions), list(self.values)
        alone = key == "0"
        if after is not None:
            where.append(f"{start} < ?" if alone else f"({start}, {key}) < (?, ?)")
            values += after[:1] if alone else after
        order = f"{start} DESC" if alone else f"{start} DESC, {key} DESC"
        return (
            f"SELECT {', '.join(columns)}, {start} AS place, {key} AS place_within FROM {self.source} "  # noqa: S608
            f"WHERE {' AND '.join(where)} ORDER BY {order} LIMIT ?",
            [*values, size],
        )


def trace_query(
    project: int,
    choice: TraceFilter,
    *,
    search: TextSearch,
    join: str,
    leads: Leader = "words",
    most_met: int | None = None,
) -> TraceQuery:
    """The query for the traces of a project.

    Args:
        join: How the database is told to begin with the table that leads.
        leads: What leads where there is more than one: words and scores, or the first label or conditions on the trace
            itself, where few traces meet those.
        most_met: Of how many traces with the words the other conditions are asked, where there are any.

    Raises: UsageError: a condition cannot be read.
    """
    asked = _Asked(
        labels=[label_of(*label_condition(text)) for text in choice.labels],
        scores=[score_condition(text) for text in choice.scores],
        words=search_words(choice.text),
        policy=choice.policy,
    )
    by_words = bool(asked.words) and leads == "words"
    lead = asked.take_lead(project, search, leads)
    where = ["t.project = ?"]
    values: list[Any] = [project]
    _add_own(choice, where, values)
    asked.add(project, search, where, values)
    if lead is None:
        return TraceQuery("traces t", where, values, ("t.start_ns", "t.key"))
    is_all = len(where) == 1  # its project alone, which the table that leads asks for too
    if most_met is not None and by_words and not is_all:
        lead = lead.newest(most_met)
    source = f"{lead.table} {join} traces t ON t.key = {lead.key}"
    return TraceQuery(
        source, [*lead.conditions, *where], [*lead.values, *values], lead.order, lead=lead, is_all_of_lead=is_all
    )


@dataclass(slots=True)
class _Asked:
    """Conditions that other tables know of, as far as they are not in the query yet."""

    labels: list[str]
    scores: list[ScoreCondition]
    words: Sequence[str]
    policy: str

    def take_lead(self, project: int, search: TextSearch, leads: Leader) -> Lead | None:
        """The table that leads, whose condition is asked with it; None where that is the table of traces."""
        if self.words and leads == "words":
            words, self.words = self.words, ()
            return search.words_lead(project, words)
        if self.scores and leads == "words":
            return _of_score(project, self.scores.pop(0))
        if leads == "own":
            return None
        if self.labels:
            condition = ("l.project = ?", "l.label = ?")
            asked = (project, self.labels.pop(0))
            return Lead("trace_labels l", "l.trace", ("l.start_ns", "l.trace"), condition, asked)
        if self.policy:
            condition = ("r.project = ?", "r.policy = ?")
            policy, self.policy = self.policy, ""
            return Lead("trace_results r", "r.trace", ("r.start_ns", "r.trace"), condition, (project, policy))
        return None

    def add(self, project: int, search: TextSearch, where: list[str], values: list[Any]) -> None:
        """The conditions that are left."""
        for label in self.labels:
            where.append(
                "EXISTS (SELECT 1 FROM trace_labels m WHERE m.project = t.project AND m.label = ? "
                "AND m.start_ns = t.start_ns AND m.trace = t.key)"
            )
            values.append(label)
        for score in self.scores:
            bound = f" AND s.value {score.operator} ?" if score.operator else ""
            where.append(
                "EXISTS (SELECT 1 FROM trace_scores s WHERE s.project = t.project AND s.name = ? "  # noqa: S608 - operator is one of four
                f"AND s.start_ns = t.start_ns AND s.trace = t.key{bound})"
            )
            values += [score.name, score.bound] if score.operator else [score.name]
        if self.words:
            condition, asked = search.says_words(project, self.words)
            where.append(condition)
            values.append(asked)
        if self.policy:
            where.append("EXISTS (SELECT 1 FROM trace_results p WHERE p.trace = t.key AND p.policy = ?)")
            values.append(self.policy)


def _of_score(project: int, score: ScoreCondition) -> Lead:
    conditions = ["c.project = ?", "c.name = ?"]
    values: list[Any] = [project, score.name]
    if score.operator:
        conditions.append(f"c.value {score.operator} ?")
        values.append(score.bound)
    return Lead("trace_scores c", "c.trace", ("c.start_ns", "c.trace"), conditions, values)


def _add_own(choice: TraceFilter, where: list[str], values: list[Any]) -> None:
    """The conditions on columns of the trace itself."""
    told: list[tuple[str, Any]] = []
    for name in ("service", "session_id", "user_id", "version", "model"):
        value = getattr(choice, name)
        if value:
            told.append((f"t.{name} = ?", value))
            if name != "service":
                where.append(f"t.{name} != ''")  # what the index of only those that have one asks to see
    # Written out, so that the index of only those that failed, or are not complete, is seen to serve.
    if choice.error is not None:
        where.append(f"t.error = {int(choice.error)}")
    if choice.failed_step is not None:
        where.append(f"t.failed_spans {'>' if choice.failed_step else '='} 0")
    if choice.complete is not None:
        where.append(f"t.complete = {int(choice.complete)}")
    if choice.since is not None:
        told.append(("t.start_ns >= ?", _moment_ns(choice.since)))
    if choice.until is not None:
        told.append(("t.start_ns < ?", _moment_ns(choice.until)))
    if choice.min_duration is not None:
        told.append(("t.duration_ns >= ?", _nanoseconds(choice.min_duration)))
    if choice.max_duration is not None:
        told.append(("t.duration_ns <= ?", _nanoseconds(choice.max_duration)))
    if choice.min_cost_usd is not None:
        told.append(("t.cost_usd >= ?", choice.min_cost_usd))
    if choice.max_cost_usd is not None:
        told.append(("t.cost_usd <= ?", choice.max_cost_usd))
    if choice.negative_feedback is not None:
        where.append("t.feedback IS NOT NULL")
        where.append("t.feedback < 0" if choice.negative_feedback else "t.feedback >= 0")
    for condition, value in told:
        where.append(condition)
        values.append(value)
    if choice.trace_id_prefix:
        low, high = id_range(choice.trace_id_prefix)
        where.append("t.trace_id >= ? AND t.trace_id <= ?")
        values += [low, high]


def _moment_ns(moment: datetime) -> int:
    """As no trace begins outside of what a database can hold, the nearest that it can hold stands for what it cannot."""
    return max(-_MOST, min(_MOST, microseconds(moment) * 1000))


def _nanoseconds(duration_s: float) -> int:
    return round(max(-(2.0**62), min(duration_s * 1e9, 2.0**62)))


def id_range(prefix: str) -> tuple[bytes, bytes]:
    """The first and last id that begin so. Nothing lies between them when it is no begin of an id."""
    prefix = prefix.lower()
    if len(prefix) > 32 or not set(prefix) <= set("0123456789abcdef"):
        return b"\xff", b""
    return bytes.fromhex(prefix.ljust(32, "0")), bytes.fromhex(prefix.ljust(32, "f"))
