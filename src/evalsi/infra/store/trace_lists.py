"""Lists of traces: by any condition, the newest begin first, in pages; their counts, and what was scored in them.

Its own module because lists are read by index, project by project, and merged, and never sorted.
"""

import heapq
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import msgspec

from evalsi.core.clock import microseconds
from evalsi.core.page_token import read_page_token, write_page_token
from evalsi.infra.store.trace_query import Leader, TraceQuery, trace_query
from evalsi.infra.store.trace_rows import (
    SHOWN,
    json_labels,
    label_of,
    sound,
    summary_of_row,
    unpacked_results,
    unpacked_spans,
)
from evalsi.infra.store.trace_tables import AT_ONCE, FIND_PARTS, FIND_RESULTS, TraceTables, id_bytes, missing_trace
from evalsi.ports.trace_store import ScoreChoice, TraceCounts, TracePage
from evalsi.schema import PolicyResults, TraceFilter, TraceSummary
from evalsi.traces.trace_choice import label_condition

MOST_COUNTED = 100_000
MOST_LOOKED_AT = 10_000
"""Traces whose values are counted, the newest of each project."""
MOST_MET = 20_000
"""Traces with the words that other conditions are asked of, where they are counted."""
FEW = 2_000
MOST_VALUES = 50
"""Values of a facet that are told, the most frequent ones."""
_FACETS = ("service", "model", "version", "user_id")
COUNT_LABEL = """
    SELECT count(*) FROM (SELECT 1 FROM trace_labels WHERE project = ? AND label = ? LIMIT ?) AS chosen"""
FIND_MARK = "SELECT mark FROM trace_marks WHERE id = 1"


class _Placed(NamedTuple):
    """A trace in a list, and where it stands."""

    position: tuple[int, int]
    project: int
    row: Sequence[Any]


class TraceLists(TraceTables):
    """Implements the part of `TraceStore` that lists."""

    def find(self, projects: Sequence[str] | None, choice: TraceFilter, *, size: int, token: str = "") -> TracePage:
        query = ["traces", None if projects is None else sorted(projects), msgspec.to_builtins(choice)]
        after = read_page_token(token, query, tuple[int, int])
        names = self._chosen_projects(projects)
        found = self._page(names, choice, SHOWN, after, size + 1)
        more = write_page_token(query, found[size - 1].position) if len(found) > size else ""
        return TracePage(
            traces=[summary_of_row(names[each.project], each.row) for each in found[:size]], next_token=more
        )

    def find_of_session(self, project: str, session_id: str, *, size: int, token: str = "") -> TracePage:
        query = ["session", project, session_id]
        after = read_page_token(token, query, tuple[int, int])
        above = " AND (t.start_ns, t.key) > (?, ?)" if after is not None else ""
        rows = self._read(
            f"SELECT {', '.join(SHOWN)}, t.start_ns, t.key FROM traces t "  # noqa: S608 - names of ours
            f"WHERE t.project = ? AND t.session_id = ? AND t.session_id != ''{above} ORDER BY t.start_ns, t.key LIMIT ?",
            (self._key(project), sound(session_id), *(after or ()), size + 1),
        )
        more = write_page_token(query, list(rows[size - 1][-2:])) if len(rows) > size else ""
        return TracePage(traces=[summary_of_row(project, row) for row in rows[:size]], next_token=more)

    def count(self, projects: Sequence[str] | None, choice: TraceFilter) -> TraceCounts:
        total = looked_at = 0
        is_cut = False
        facets: dict[str, Counter[str]] = {}
        for project in self._chosen_projects(projects) or (-1,):
            query = self._query(project, choice, most_met=MOST_MET)
            counted, seen = self._count(query, MOST_COUNTED - total, facets, MOST_LOOKED_AT - looked_at)
            total, looked_at = total + counted, looked_at + seen
            is_cut = is_cut or self._meets(query, MOST_MET)
        return TraceCounts(
            total=total,
            facets={name: dict(values.most_common(MOST_VALUES)) for name, values in facets.items()},
            capped=total > looked_at or is_cut,
        )

    def _count(self, query: TraceQuery, room: int, facets: dict[str, Counter[str]], left: int) -> tuple[int, int]:
        """How many there are, and of how many of them the values were added to the facets."""
        # The values first: where there are fewer than are looked at, that is how many there are, and few of very many are
        # looked for only once. Counted here: a database would sort the rows once for each column.
        statement, values = query.select(
            [f"t.{name}" for name in (*_FACETS, "error", "failed_spans", "labels")], after=None, size=left
        )
        columns = list(zip(*self._read(statement, values), strict=True)) if left else []
        seen = len(columns[0]) if columns else 0
        total = min(seen, room) if seen < left else self._total(query, room)
        if not seen:
            return total, 0
        for name, column in zip(_FACETS, columns, strict=False):
            facets.setdefault(name, Counter()).update(column)
        errors, failures, labels = columns[len(_FACETS) : len(_FACETS) + 3]
        for name, column in (("error", errors), ("failed_step", failures)):
            for amount, count in Counter(column).items():
                facets.setdefault(name, Counter())["true" if amount else "false"] += count
        for text, count in Counter(labels).items():
            for key, value in json_labels(text).items():
                facets.setdefault(f"label.{key}", Counter())[value] += count
        for name in _FACETS:
            del facets[name][""]
            if not facets[name]:
                del facets[name]
        return total, seen

    def _total(self, query: TraceQuery, room: int) -> int:
        source, conditions, values = query.counted
        return self._read(
            f"SELECT count(*) FROM (SELECT 1 FROM {source} WHERE {' AND '.join(conditions)} LIMIT ?) AS chosen",  # noqa: S608
            (*values, room),
        )[0][0]

    def _meets(self, query: TraceQuery, most: int) -> bool:
        """Whether the conditions were asked of so many traces with the words, and there may be more."""
        lead = query.lead
        if lead is None or not lead.table.startswith("("):
            return False
        return self._read(f"SELECT count(*) FROM {lead.table}", lead.values)[0][0] >= most  # noqa: S608

    def completed_since(
        self, projects: Sequence[str] | None, choice: TraceFilter, *, after: int, size: int
    ) -> tuple[Sequence[TraceSummary], int]:
        # The mark is read first: what is completed meanwhile has a higher one.
        newest = self._read(FIND_MARK)[0][0]
        if not after:
            return (), newest + 1
        names = self._chosen_projects(projects)
        found: list[tuple[int, TraceSummary]] = []
        for project, name in names.items():
            query = self._query(project, choice)
            where = " AND ".join((*query.conditions, "t.mark >= ?", "t.mark <= ?"))
            rows = self._read(
                f"SELECT {', '.join(SHOWN)}, t.mark FROM {query.source} WHERE {where} ORDER BY t.mark LIMIT ?",  # noqa: S608
                (*query.values, after, newest, size),
            )
            found += [(row[-1], summary_of_row(name, row)) for row in rows]
        found.sort(key=lambda each: each[0])
        shown = found[:size]
        return [summary for _, summary in shown], shown[-1][0] + 1 if len(found) >= size else newest + 1

    def summary(self, project: str, trace_id: str) -> TraceSummary:
        statement = f"SELECT {', '.join(SHOWN)} FROM traces t WHERE t.project = ? AND t.trace_id = ?"  # noqa: S608
        rows = self._read(statement, (self._key(project), id_bytes(trace_id)))
        if not rows:
            raise missing_trace(trace_id)
        return summary_of_row(project, rows[0])

    def scores(
        self, projects: Sequence[str] | None, choice: ScoreChoice, *, size: int, token: str = ""
    ) -> tuple[Sequence[tuple[TraceSummary, Sequence[PolicyResults]]], str]:
        query = ["scores", None if projects is None else sorted(projects), msgspec.to_builtins(choice)]
        after = read_page_token(token, query, tuple[int, int])
        names = self._chosen_projects(projects)
        labels = [label_of(key, value) for key, value in choice.labels.items()]
        shown = TraceFilter(
            service=choice.service, labels=labels, policy=choice.policy, trace_id_prefix=choice.trace_id
        )
        found: list[tuple[_Placed, list[PolicyResults]]] = []
        while len(found) <= size:
            page = self._page(names, shown, ("t.key", *SHOWN), after, size + 1, with_results=True)
            for each in page:
                policies = [unpacked_results(*row) for row in self._read(FIND_RESULTS, (each.row[0],))]
                chosen = [policy for policy in (_narrowed(policy, choice) for policy in policies) if policy is not None]
                if chosen:
                    found.append((each, chosen))
            if len(page) <= size:
                break
            after = page[-1].position
        more = write_page_token(query, found[size - 1][0].position) if len(found) > size else ""
        return [(summary_of_row(names[each.project], each.row[1:]), policies) for each, policies in found[:size]], more

    def export(self, project: str, choice: TraceFilter) -> Iterator[tuple[TraceSummary, Sequence[bytes]]]:
        names = self._chosen_projects([project])
        after: tuple[int, int] | None = None
        while True:
            page = self._page(names, choice, SHOWN, after, AT_ONCE)
            for each in page:
                shown = summary_of_row(project, each.row)
                rows = self._read(FIND_PARTS, (each.project, bytes(each.row[0])))
                yield shown, [unpacked_spans(row[0]) for row in rows]
            if len(page) < AT_ONCE:
                return
            after = page[-1].position

    def _chosen_projects(self, projects: Sequence[str] | None) -> dict[int, str]:
        return {key: name for key, name in self._names().items() if projects is None or name in projects}

    def _query(self, project: int, choice: TraceFilter, most_met: int | None = None) -> TraceQuery:
        leads = self._leader(project, choice) if choice.text or choice.scores else "words"
        return trace_query(project, choice, search=self, join=self.JOIN, leads=leads, most_met=most_met)

    def _leader(self, project: int, choice: TraceFilter) -> Leader:
        """What is asked first: words, or what so few traces have that each of them can be asked for everything else."""
        if choice.labels:
            label = label_of(*label_condition(choice.labels[0]))
            if self._read(COUNT_LABEL, (project, label, FEW + 1))[0][0] <= FEW:
                return "label"
        own = msgspec.structs.replace(choice, text="", scores=[], labels=[], policy="")
        if own != TraceFilter():
            query = trace_query(project, own, search=self, join=self.JOIN)
            if self._total(query, FEW + 1) <= FEW:
                return "own"
        return "words"

    def _page(
        self,
        projects: Iterable[int],
        choice: TraceFilter,
        columns: Sequence[str],
        after: tuple[int, int] | None,
        size: int,
        *,
        with_results: bool = False,
    ) -> list[_Placed]:
        """Up to `size` traces below a position, the newest begin first: each project's own, merged."""
        found: list[list[_Placed]] = []
        # A project that is not there is asked too: a condition that is none is refused in any case.
        queries = [(project, self._query(project, choice)) for project in projects or (-1,)]
        if with_results:
            queries = [
                (each, query._replace(conditions=[*query.conditions, "t.results > 0"])) for each, query in queries
            ]
        for project, query in queries:
            statement, values = query.select(columns, after=after, size=size)
            found.append([_Placed((row[-2], row[-1]), project, row) for row in self._read(statement, values)])
        merged = heapq.merge(*found, key=lambda each: each.position, reverse=True)
        return [each for _, each in zip(range(size), merged, strict=False)]


def _narrowed(policy: PolicyResults, choice: ScoreChoice) -> PolicyResults | None:
    """The results of the choice; None when there are none."""
    if choice.policy and policy.policy != choice.policy:
        return None
    if policy.time is None or microseconds(policy.time) < choice.since_ms * 1000:
        return None
    if not choice.evaluator:
        return policy
    results = [result for result in policy.results if result.evaluator == choice.evaluator]
    return msgspec.structs.replace(policy, results=results) if results else None
