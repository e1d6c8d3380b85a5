"""Lists of runs, page by page: the newest first, filtered, over the projects that somebody may see.

A page begins where the last one ended (a position, no count), so that its cost does not grow with its number.
"""

from collections.abc import Sequence

from evalsi.core.clock import SystemClock, microseconds, moment_of_text
from evalsi.core.page_token import read_page_token, write_page_token
from evalsi.infra.store.like_pattern import held_pattern
from evalsi.infra.store.stored_run import COLUMNS, SOURCE, stored_run_of
from evalsi.infra.store.transactions import SqlDatabase
from evalsi.ports.run_store import RunPage, RunQuery, RunRow

PAGE = f"""
    SELECT {COLUMNS} FROM {SOURCE}
    WHERE (created_us < ? OR (created_us = ? AND id < ?)) AND created_us >= ? AND created_us < ?"""  # noqa: S608
IN_PROJECT = " AND runs.project_id = ?"
IN_PROJECTS = " AND runs.project_id IN ({})"
NAMED = " AND name = ?"
LABELLED = " AND EXISTS (SELECT 1 FROM run_labels WHERE run_id = runs.id AND key = ? AND value = ?)"
HOLDING = r"""
    AND (lower(name) LIKE ? ESCAPE '\' OR id LIKE ? ESCAPE '\'
        OR EXISTS (SELECT 1 FROM run_labels WHERE run_id = runs.id AND lower(value) LIKE ? ESCAPE '\'))"""
ARCHIVED = {None: "", True: " AND archived_at IS NOT NULL", False: " AND archived_at IS NULL"}
ORDER = " ORDER BY created_us DESC, id DESC LIMIT ?"

_EVER_US = 1 << 62


def list_runs(
    database: SqlDatabase, projects: Sequence[str] | None, query: RunQuery, *, size: int, token: str
) -> RunPage:
    """See `RunStore.page` and `ProjectStores.page`."""
    scope = (sorted(projects) if projects is not None else None, query)
    before_us, before_id = read_page_token(token, scope, tuple[int, str]) or (_EVER_US, "")
    statement, asked = _filters(projects, query)
    since_us = _moment_us(query.since, "since", -_EVER_US)
    until_us = _moment_us(query.until, "until", _EVER_US)
    now_us = microseconds(SystemClock().now())
    shown: list[tuple[int, RunRow]] = []
    # Whether a writer lives no database knows, so statuses are looked at here, some rows at a time.
    while projects is None or projects:
        position = (before_us, before_us, before_id, since_us, until_us)
        found = [stored_run_of(values) for values in database.read(statement, (*position, *asked, size + 1))]
        rows = [(stored.created_us, stored.shown(now_us, database.writer_timeout_s)) for stored in found]
        shown += [(us, row) for us, row in rows if not query.statuses or row.standing in query.statuses]
        if len(found) <= size or len(shown) > size:
            break
        before_us, before_id = found[-1].created_us, found[-1].id
    last = shown[:size]
    return RunPage(
        runs=[row for _, row in last],
        next_token=write_page_token(scope, (last[-1][0], last[-1][1].id)) if len(shown) > size else "",
    )


def _filters(projects: Sequence[str] | None, query: RunQuery) -> tuple[str, list[str]]:
    """The statement, and its parameters after the position."""
    statement = PAGE + ARCHIVED[query.archived]
    asked: list[str] = []
    if projects is not None:
        several = IN_PROJECTS.format(", ".join("?" * len(projects)))
        statement += IN_PROJECT if len(projects) == 1 else several
        asked += projects
    if query.name:
        statement += NAMED
        asked.append(query.name)
    for key, value in query.labels.items():
        statement += LABELLED
        asked += [key, value]
    if query.search:
        statement += HOLDING
        asked += [held_pattern(query.search)] * 3
    return statement + ORDER, asked


def _moment_us(text: str, what: str, otherwise: int) -> int:
    return microseconds(moment_of_text(text, what)) if text else otherwise
