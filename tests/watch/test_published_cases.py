"""Cases that policies promote become versions of datasets, one for each content."""

import resource
import signal
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from evalsi.core.errors import StoreError
from evalsi.infra.promoted_files import PromotedFiles
from evalsi.schema import Content, Provenance, Record, TraceProvenance
from evalsi.settings import Settings
from evalsi.settings.server import OWN_MACHINE
from evalsi.wiring.run_serving import order_of
from evalsi.wiring.run_work import opened_stores
from evalsi.wiring.watch_work import publish_cases


def a_case(name: str) -> Record:
    return Record(id=name, output=Content(text="Paris"))


def test_a_version_is_made_when_cases_were_added_and_only_then(tmp_path: Path) -> None:
    order = order_of(OWN_MACHINE, replace(Settings.from_environment(), directory=tmp_path / "store"))
    files = PromotedFiles(tmp_path / "datasets")
    with closing(opened_stores(order)) as stores:
        assert publish_cases(files, stores) == 0
        files.add("default", "leaks", [a_case("a"), a_case("b"), a_case("a")])
        assert publish_cases(files, stores) == 1
        files.add("default", "leaks", [a_case("b")])
        assert publish_cases(files, stores) == 0
        # A worker that is started anew looks at everything once, and finds that it is there.
        assert publish_cases(PromotedFiles(tmp_path / "datasets"), stores) == 0
        files.add("default", "leaks", [a_case("c")])
        assert publish_cases(files, stores) == 1
        version = stores.datasets("default").version("leaks", "latest")
    assert (version.records, version.published_by) == (3, "policies")
    assert version.content is not None
    assert version.content.version == "2"


def test_a_line_that_a_death_cut_off_is_taken_away_before_the_next_case(tmp_path: Path) -> None:
    files = PromotedFiles(tmp_path)
    files.add("default", "leaks", [a_case("a")])
    path = files.path_of("default", "leaks")
    path.write_bytes(path.read_bytes() + b'{"id":"b","outp')
    files.add("default", "leaks", [a_case("b")])
    assert [line.split(b'"')[3] for line in path.read_bytes().splitlines()] == [b"a", b"b"]


def test_cases_that_a_full_disk_takes_only_a_part_of_are_not_added(tmp_path: Path) -> None:
    """A limit on the size of files fails as a full disk does: it takes what still fits, and refuses the next byte."""
    files = PromotedFiles(tmp_path)
    files.add("default", "leaks", [a_case("a")])
    path = files.path_of("default", "leaks")
    before = path.read_bytes()
    many = [a_case(f"case {number}") for number in range(100)]
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    ignored = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (len(before) + 1000, hard))
    try:
        with pytest.raises(StoreError, match="cannot be added"):
            files.add("default", "leaks", many)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        signal.signal(signal.SIGXFSZ, ignored)
    assert path.read_bytes() == before
    assert files.add("default", "leaks", many) == 100


def case_of(trace_id: str) -> Record:
    return Record(
        id=f"case of {trace_id}",
        output=Content(text="Paris"),
        provenance=Provenance(trace=TraceProvenance(trace_id=trace_id, policy_id="p")),
    )


def test_cases_of_traces_that_are_to_be_forgotten_are_taken_out_of_every_dataset_of_their_project(
    tmp_path: Path,
) -> None:
    files = PromotedFiles(tmp_path)
    for project, dataset in (("default", "leaks"), ("default", "slow"), ("other", "leaks")):
        files.add(project, dataset, [case_of("a"), case_of("b"), a_case("of a run")])
    before = files.path_of("default", "leaks").read_bytes()
    assert files.forget("default", []) == files.forget("nowhere", ["a"]) == files.forget("default", ["c"]) == 0
    assert files.path_of("default", "leaks").read_bytes() == before
    assert files.forget("default", ["a", "c"]) == 2
    for dataset in ("leaks", "slow"):
        assert files.path_of("default", dataset).read_bytes() == b"".join(before.splitlines(keepends=True)[1:])
    assert len(files.path_of("other", "leaks").read_bytes().splitlines()) == 3
    assert not list(tmp_path.rglob("*.partial"))
    assert not list(tmp_path.rglob("*.unfinished"))
    assert files.add("default", "leaks", [case_of("b"), case_of("d")]) == 1


def test_cases_that_are_added_while_others_are_forgotten_are_there(tmp_path: Path) -> None:
    files = PromotedFiles(tmp_path)
    gone = [f"gone {number}" for number in range(40)]
    files.add("default", "leaks", [case_of(name) for name in gone])

    def add(number: int) -> int:
        return PromotedFiles(tmp_path).add("default", "leaks", [case_of(f"kept {number}")])

    with ThreadPoolExecutor(8) as pool:
        added = [pool.submit(add, number) for number in range(40)]
        forgotten = [pool.submit(PromotedFiles(tmp_path).forget, "default", [name]) for name in gone]
        assert sum(each.result() for each in added) == sum(each.result() for each in forgotten) == 40
    lines = files.path_of("default", "leaks").read_bytes().splitlines()
    assert len(lines) == 40
    assert all(b"kept" in line for line in lines)


def test_cases_that_many_add_at_once_are_there_once(tmp_path: Path) -> None:
    with ThreadPoolExecutor(8) as pool:
        cases = [a_case(f"case {number}") for number in range(50)]
        added = pool.map(lambda _: PromotedFiles(tmp_path).add("default", "leaks", cases), range(8))
        assert sum(added) == 50
    assert len(PromotedFiles(tmp_path).path_of("default", "leaks").read_bytes().splitlines()) == 50
