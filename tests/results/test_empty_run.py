"""A run that a wrong key stopped does not stand for its name."""

import msgspec
import pytest

from evalsi.core.errors import NothingScoredError
from evalsi.infra.memory_run_store import MemoryRunStore
from evalsi.results.empty_run import Need, refuse_empty_run
from evalsi.results.stored_runs import StoredRuns
from evalsi.schema import MetricSummary, RunManifest
from evalsi.testing.run_store_suite import a_manifest, a_run, a_segment, ended


def kept(store: MemoryRunStore, id_: str, *, minute: int, status: str, rows: int, n: int) -> None:
    run = msgspec.structs.replace(a_run(id_), created_at=f"2026-03-01T12:{minute:02}:00+00:00")
    store.create(run, a_manifest(id_))
    if rows:
        store.append(id_, a_segment(0, rows=rows))
    store.finish(ended(run, status), RunManifest(run_id=id_), [MetricSummary(metric="right", n=n)] if rows else [])


@pytest.mark.parametrize(
    ("rows", "need", "said"),
    [
        (0, "scores", "has no records"),
        (0, "records", "has no records"),
        (3, "scores", "scored nothing"),
    ],
)
def test_the_name_of_an_empty_run_is_refused_and_the_run_before_it_named(rows: int, need: Need, said: str) -> None:
    store = MemoryRunStore()
    kept(store, "aaaa", minute=1, status="succeeded", rows=3, n=3)
    kept(store, "bbbb", minute=2, status="interrupted", rows=rows, n=0)
    library = StoredRuns(store)
    with pytest.raises(NothingScoredError, match=f"named 'nightly' \\(bbbb, interrupted\\) {said}.*by its id: aaaa"):
        refuse_empty_run(library, library.find("nightly"), "nightly", need)
    refuse_empty_run(library, library.find("nightly"), "nightly", "")
    refuse_empty_run(library, library.find("aaaa"), "aaaa", need)


def test_a_run_under_way_and_one_with_errors_alone_are_read_where_that_is_enough() -> None:
    store = MemoryRunStore()
    store.create(a_run("cccc"), a_manifest("cccc"))
    kept(store, "dddd", minute=3, status="succeeded", rows=2, n=0)
    library = StoredRuns(store)
    refuse_empty_run(library, library.find("cccc"), "cccc", "scores")
    refuse_empty_run(library, library.find("dddd"), "dddd", "records")
    with pytest.raises(NothingScoredError, match="run dddd scored nothing; see: evalsi runs show dddd --errors"):
        refuse_empty_run(library, library.find("dddd"), "dddd", "scores")
