"""Cases that policies promote become versions of datasets, one for each content."""

from contextlib import closing
from dataclasses import replace
from pathlib import Path

from evalsi.infra.promoted_files import PromotedFiles
from evalsi.schema import Content, Record
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
