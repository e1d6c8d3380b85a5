"""What every `RunStore` must do, as tests. A store passes when a subclass of `RunStoreSuite` does:

class TestMyStore(RunStoreSuite):
    @pytest.fixture
    def open_store(self, tmp_path):
        return lambda: MyStore(tmp_path)
"""

import os
from collections.abc import Callable
from contextlib import closing
from time import sleep
from typing import Any

import msgspec

from evalsi.core.errors import EvalsiError, NotFoundError, StoreError, UsageError
from evalsi.ports.run_store import RunQuery, RunRow, RunStore, Segment, SegmentZones
from evalsi.schema import MetricSummary, RunManifest

OpenStore = Callable[[], RunStore]
"""Opens the same runs again at each call, as another process would."""


def a_run(id_: str, **changes: Any) -> RunRow:
    """A run as it is created, with `changes` to its fields."""
    run = RunRow(
        id=id_,
        name="nightly",
        status="running",
        created_at="2026-03-01T12:00:00+00:00",
        finished_at=None,
        dataset="answers.jsonl",
        dataset_digest="sha256:aa",
        fingerprint="sha256:bb",
        rows=0,
        labels={"branch": "main", "größe": "groß"},
        headline="",
    )
    return msgspec.structs.replace(run, **changes)


def a_manifest(note: str = "") -> RunManifest:
    return RunManifest(evalsi_version="1.0.0", argv=["evalsi", "eval", note], seeds={"bootstrap": 7})


def a_segment(index: int, *, rows: int = 2, note: str = "") -> Segment:
    """Rows that say which segment they are of, in text beyond ASCII, and result bytes that are no text."""
    lines = "".join(f'{{"id":"{index}-{row}","output":"naïve 東京 🙂 {note}"}}\n' for row in range(rows))
    results = bytes(range(256)) * rows + index.to_bytes(4)
    return Segment(index=index, first_row=index * rows, rows=rows, records=lines.encode(), results=results)


def ended(run: RunRow, status: str = "succeeded", **changes: Any) -> RunRow:
    return msgspec.structs.replace(run, status=status, finished_at="2026-03-01T12:05:00+00:00", **changes)


def end(store: RunStore, run_id: str) -> None:
    """Finishes a run without figures."""
    store.finish(ended(store.find(run_id)), a_manifest("end"), [])


class RunStoreSuite:
    """Subclass it with a fixture `open_store`; each test gets a place without runs."""

    def test_a_new_store_lists_nothing(self, open_store: OpenStore) -> None:
        with closing(open_store()) as store:
            assert store.runs() == []
            assert store.resumable("sha256:bb") is None

    def test_everything_of_a_finished_run_comes_back_in_another_opening(self, open_store: OpenStore) -> None:
        run = a_run("r1")
        summaries = [MetricSummary(metric="exact-match", n=3, mean=1 / 3), MetricSummary(metric="länge")]
        with closing(open_store()) as store:
            store.create(run, a_manifest("begin"))
            for index in range(3):
                store.append("r1", a_segment(index))
            end = ended(run, dataset_digest="sha256:cc", labels={"a": "b"}, headline="exact-match 0.33")
            store.finish(end, a_manifest("end"), summaries)
        with closing(open_store()) as store:
            assert store.runs() == [msgspec.structs.replace(end, rows=6)]
            assert store.find("r1") == store.runs()[0]
            assert store.manifest("r1") == a_manifest("end")
            assert store.summaries("r1") == summaries
            assert list(store.segments("r1")) == [a_segment(0), a_segment(1), a_segment(2)]
            assert store.segment_rows("r1") == [(0, 0, 2), (1, 2, 2), (2, 4, 2)]

    def test_the_store_says_itself_that_a_new_run_is_running_and_empty(self, open_store: OpenStore) -> None:
        with closing(open_store()) as store:
            store.create(a_run("r1", status="succeeded", rows=99, finished_at="2026-03-01T12:05:00Z"), a_manifest())
            assert store.find("r1") == a_run("r1")
            assert store.summaries("r1") == []
            assert list(store.segments("r1")) == []

    def test_the_store_knows_who_writes_a_run_while_somebody_does(self, open_store: OpenStore) -> None:
        with closing(open_store()) as store:
            store.create(a_run("r1"), a_manifest())
            writer = store.writer("r1")
            assert writer is not None
            assert (writer.pid, writer.is_here) == (os.getpid(), True)
            store.finish(ended(a_run("r1")), a_manifest(), [])
            assert store.writer("r1") is None
            _refused(NotFoundError, lambda: store.writer("r2"))

    def test_an_id_is_given_once(self, open_store: OpenStore) -> None:
        with closing(open_store()) as store:
            store.create(a_run("r1"), a_manifest("first"))
            _refused(UsageError, lambda: store.create(a_run("r1"), a_manifest("second")))
            assert store.manifest("r1") == a_manifest("first")

    def test_a_time_that_is_none_is_refused(self, open_store: OpenStore) -> None:
        with closing(open_store()) as store:
            for wrong in ("yesterday", "", "2026-03-01T12:00:00"):
                _refused(UsageError, lambda wrong=wrong: store.create(a_run("r1", created_at=wrong), a_manifest()))
            assert store.runs() == []

    def test_a_segment_written_again_replaces_the_first(self, open_store: OpenStore) -> None:
        with closing(open_store()) as store:
            store.create(a_run("r1"), a_manifest())
            store.append("r1", a_segment(0, rows=5))
            store.append("r1", a_segment(0, rows=3, note="again"))
            assert list(store.segments("r1")) == [a_segment(0, rows=3, note="again")]
            assert store.find("r1").rows == 3

    def test_segments_come_in_order_of_index_however_they_were_written(self, open_store: OpenStore) -> None:
        with closing(open_store()) as store:
            store.create(a_run("r1"), a_manifest())
            for index in (2, 0, 4096, -1, 11, 1):
                store.append("r1", msgspec.structs.replace(a_segment(0), index=index))
            assert [segment.index for segment in store.segments("r1")] == [-1, 0, 1, 2, 11, 4096]

    def test_empty_bodies_are_bodies(self, open_store: OpenStore) -> None:
        empty = Segment(index=0, first_row=0, rows=0, records=b"", results=b"")
        with closing(open_store()) as store:
            store.create(a_run("r1"), a_manifest())
            store.append("r1", empty)
            assert list(store.segments("r1")) == [empty]

    def test_records_can_be_left_unread(self, open_store: OpenStore) -> None:
        with closing(open_store()) as store:
            store.create(a_run("r1"), a_manifest())
            store.append("r1", a_segment(0))
            (segment,) = store.segments("r1", with_records=False)
            assert segment == msgspec.structs.replace(a_segment(0), records=b"")

    def test_answers_are_kept_once_each_and_come_back_in_order(self, open_store: OpenStore) -> None:
        with closing(open_store()) as store:
            store.create(a_run("a"), a_manifest())
            store.keep_answers("a", [(7, b"seven"), (1, b"one")])
            store.keep_answers("a", [(1, b"another one"), (2, b"")])
            assert list(store.answers("a")) == [(1, b"one"), (2, b""), (7, b"seven")]
            assert list(store.answers("a", range(2, 7))) == [(2, b"")]
            assert list(store.answers("a", range(8, 9))) == []
            store.delete("a")
            _refused(NotFoundError, lambda: store.answers("a"))

    def test_one_segment_can_be_read_alone(self, open_store: OpenStore) -> None:
        with closing(open_store()) as store:
            store.create(a_run("r1"), a_manifest())
            store.append("r1", a_segment(4))
            assert store.segment("r1", 4) == a_segment(4)
            _refused(NotFoundError, lambda: store.segment("r1", 5))

    def test_runs_are_listed_newest_first_by_time_not_by_text(self, open_store: OpenStore) -> None:
        times = {
            "older": "2026-03-01T12:00:00Z",
            "half": "2026-03-01T12:00:00.5Z",
            "east": "2026-03-01T14:00:01+02:00",
            "newest": "2026-03-01T12:00:01.000001+00:00",
        }
        with closing(open_store()) as store:
            for id_ in ("half", "newest", "older", "east"):
                store.create(a_run(id_, created_at=times[id_]), a_manifest())
            assert [run.id for run in store.runs()] == ["newest", "east", "half", "older"]
            assert [run.id for run in store.runs(limit=2)] == ["newest", "east"]
            assert store.runs(limit=0) == []
            assert store.find("east").created_at == times["east"]

    def test_a_list_goes_on_where_a_page_ended_whatever_is_made_meanwhile(self, open_store: OpenStore) -> None:
        with closing(open_store()) as store:
            for number in range(5):
                store.create(a_run(f"r{number}", created_at=f"2026-03-01T12:00:0{number // 2}+00:00"), a_manifest())
            first = store.page(RunQuery(), size=2)
            store.create(a_run("late", created_at="2026-03-02T12:00:00+00:00"), a_manifest())
            store.delete("r4")
            second = store.page(RunQuery(), size=2, token=first.next_token)
            third = store.page(RunQuery(), size=2, token=second.next_token)
        assert [[run.id for run in page.runs] for page in (first, second, third)] == [
            ["r4", "r3"],
            ["r2", "r1"],
            ["r0"],
        ]
        assert third.next_token == ""

    def test_a_list_has_what_was_asked_for(self, open_store: OpenStore) -> None:
        with closing(open_store()) as store:
            store.create(a_run("old", created_at="2026-03-01T12:00:00+00:00", name="nightly"), a_manifest())
            store.create(a_run("new", created_at="2026-03-02T12:00:00+00:00", name="weekly"), a_manifest())
            store.create(a_run("plain", created_at="2026-03-03T12:00:00+00:00", labels={}), a_manifest())
            end(store, "old")
            store.archive("new", at="2026-03-04T00:00:00+00:00")

            def found(**asked: Any) -> list[str]:
                return [run.id for run in store.page(RunQuery(**asked), size=10).runs]

            assert found() == ["plain", "old"]
            assert found(archived=None) == ["plain", "new", "old"]
            assert found(archived=True) == ["new"]
            assert found(statuses=("succeeded", "error")) == ["old"]
            assert found(statuses=("running",)) == ["plain"]
            assert found(archived=None, name="weekly") == ["new"]
            assert found(archived=None, labels={"branch": "main", "größe": "groß"}) == ["new", "old"]
            assert found(labels={"branch": "other"}) == []
            assert found(since="2026-03-03T12:00:00Z") == ["plain"]
            assert found(archived=None, until="2026-03-02T12:00:00Z") == ["old"]
            assert found(archived=None, search="WEEK") == ["new"]
            assert found(archived=None, search="pla") == ["plain"]
            assert found(search="main") == ["old"]
            assert found(search="%") == []
            assert store.archive("new", at=None).archived_at is None
            assert found() == ["plain", "new", "old"]

    def test_a_page_token_of_another_list_is_refused(self, open_store: OpenStore) -> None:
        with closing(open_store()) as store:
            for number in range(3):
                store.create(a_run(f"r{number}"), a_manifest())
            token = store.page(RunQuery(), size=1).next_token
            _refused(UsageError, lambda: store.page(RunQuery(name="x"), size=1, token=token))
            _refused(UsageError, lambda: store.page(RunQuery(), size=1, token=token[1:]))
            _refused(UsageError, lambda: store.page(RunQuery(since="yesterday"), size=1))

    def test_labels_given_at_the_end_are_the_ones_a_run_is_found_by(self, open_store: OpenStore) -> None:
        with closing(open_store()) as store:
            store.create(a_run("r1"), a_manifest())
            store.finish(ended(a_run("r1", labels={"stage": "late"})), a_manifest(), [])
            assert [run.id for run in store.page(RunQuery(labels={"stage": "late"}), size=9).runs] == ["r1"]
            assert store.page(RunQuery(labels={"branch": "main"}), size=9).runs == []

    def test_what_becomes_known_when_a_run_begins_is_written_down_by_its_writer_alone(
        self, open_store: OpenStore
    ) -> None:
        with closing(open_store()) as store:
            store.create(a_run("r1", fingerprint="", dataset_digest=""), a_manifest())
            known = a_run("r1", name="renamed", fingerprint="sha256:cc", labels={"now": "known"})
            store.describe(known, a_manifest("begun"))
            with closing(open_store()) as other:
                run = other.find("r1")
                assert (run.fingerprint, run.dataset_digest, run.labels) == ("sha256:cc", "sha256:aa", {"now": "known"})
                assert other.find("renamed").id == "r1"
                assert other.manifest("r1") == a_manifest("begun")
                _refused(StoreError, lambda: other.describe(a_run("r1"), a_manifest()))

    def test_zones_are_read_without_the_segments(self, open_store: OpenStore) -> None:
        with closing(open_store()) as store:
            store.create(a_run("r1"), a_manifest())
            store.append("r1", msgspec.structs.replace(a_segment(2), zones=b"two"))
            store.append("r1", a_segment(0))
            store.append("r1", msgspec.structs.replace(a_segment(2), zones=b"two again"))
            zones = store.zones("r1")
        assert zones == [
            SegmentZones(index=0, first_row=a_segment(0).first_row, rows=2, zones=b""),
            SegmentZones(index=2, first_row=a_segment(2).first_row, rows=2, zones=b"two again"),
        ]

    def test_a_run_is_found_by_id_beginning_name_and_age(self, open_store: OpenStore) -> None:
        with closing(open_store()) as store:
            for day, (id_, name) in enumerate([("aa1", "nightly"), ("ab2", "nightly"), ("b3", "ab"), ("c4", "b3")]):
                store.create(a_run(id_, name=name, created_at=f"2026-03-0{day + 1}T00:00:00Z"), a_manifest())
            found = {reference: store.find(reference).id for reference in _FOUND}
            assert found == _FOUND

    def test_the_latest_run_with_labels_is_found_by_them(self, open_store: OpenStore) -> None:
        with closing(open_store()) as store:
            for day, (id_, branch) in enumerate([("aa1", "main"), ("ab2", "fix"), ("b3", "main"), ("c4", "fix")]):
                made = a_run(id_, created_at=f"2026-03-0{day + 1}T00:00:00Z", labels={"branch": branch, "team": "docs"})
                store.create(made, a_manifest())
            assert store.find("latest(branch=main)").id == "b3"
            assert store.find("latest( team=docs , branch=fix )").id == "c4"
            assert "branch=none" in str(_refused(NotFoundError, lambda: store.find("latest(branch=none)")))
            _refused(UsageError, lambda: store.find("latest(branch)"))

    def test_a_beginning_of_several_ids_is_refused_with_the_candidates(self, open_store: OpenStore) -> None:
        with closing(open_store()) as store:
            for id_ in ("aa1", "ab2", "c3"):
                store.create(a_run(id_), a_manifest())
            error = _refused(UsageError, lambda: store.find("a"))
            assert "aa1" in str(error)
            assert "ab2" in str(error)
            assert "c3" not in str(error)

    def test_a_run_that_is_not_there_is_answered_with_the_nearest(self, open_store: OpenStore) -> None:
        with closing(open_store()) as store:
            _refused(NotFoundError, lambda: store.find("latest"))
            store.create(a_run("x7kq2m", name="nightly"), a_manifest())
            assert "x7kq2m" in str(_refused(NotFoundError, lambda: store.find("x7kq3m")))
            assert "nightly" in str(_refused(NotFoundError, lambda: store.find("nihgtly")))
            assert "latest~0" in str(_refused(NotFoundError, lambda: store.find("latest~1")))
            _refused(UsageError, lambda: store.find(""))

    def test_everything_about_a_run_that_is_not_there_is_not_found(self, open_store: OpenStore) -> None:
        with closing(open_store()) as store:
            for call in (
                lambda: store.append("r1", a_segment(0)),
                lambda: store.touch("r1"),
                lambda: store.run("r1"),
                lambda: store.zones("r1"),
                lambda: store.archive("r1", at=None),
                lambda: store.finish(ended(a_run("r1")), a_manifest(), []),
                lambda: store.manifest("r1"),
                lambda: store.summaries("r1"),
                lambda: store.segments("r1"),
                lambda: store.segment("r1", 0),
                lambda: store.segment_rows("r1"),
                lambda: store.take_over("r1"),
                lambda: store.count_answers("r1"),
                lambda: store.delete("r1"),
            ):
                _refused(NotFoundError, call)

    def test_a_run_whose_store_was_closed_is_interrupted_and_can_be_continued(self, open_store: OpenStore) -> None:
        run = a_run("r1")
        with closing(open_store()) as store:
            store.create(run, a_manifest())
            store.append("r1", a_segment(0))
        with closing(open_store()) as store:
            found = store.resumable(run.fingerprint)
            assert found is not None
            assert (found.id, found.status, found.rows) == ("r1", "interrupted", 2)
            assert store.resumable("sha256:other") is None
            assert store.take_over("r1").status == "running"
            assert store.resumable(run.fingerprint) is None
            store.append("r1", a_segment(1))
            store.finish(ended(run), a_manifest(), [])
            assert store.find("r1").rows == 4

    def test_the_newest_interrupted_run_is_the_one_to_continue(self, open_store: OpenStore) -> None:
        with closing(open_store()) as store:
            for day, status in enumerate(["interrupted", "interrupted", "error", "succeeded"]):
                run = a_run(f"r{day}", created_at=f"2026-03-0{day + 1}T00:00:00Z")
                store.create(run, a_manifest())
                store.finish(ended(run, status), a_manifest(), [])
            found = store.resumable("sha256:bb")
            assert found is not None
            assert found.id == "r1"

    def test_a_run_that_has_ended_is_taken_up_again_only_by_whoever_asks_for_it(self, open_store: OpenStore) -> None:
        with closing(open_store()) as store:
            for name, status in (("r1", "succeeded"), ("r2", "error")):
                run = a_run(name, fingerprint=f"sha256:{status}")
                store.create(run, a_manifest())
                store.append(name, a_segment(0))
                store.finish(ended(run, status), a_manifest(), [])
                assert store.resumable(run.fingerprint) is None
                found = store.resumable(run.fingerprint, finished=True)
                assert found is not None
                assert (found.id, found.status) == (name, status)
                taken = store.take_over(name, finished=True)
                assert (taken.status, taken.finished_at, taken.rows) == ("running", None, 2)
                store.append(name, a_segment(0))
                store.finish(ended(run, headline="again"), a_manifest(), [])
                assert (store.find(name).headline, store.find(name).rows) == ("again", 2)

    def test_the_last_sign_of_life_of_a_writer_is_remembered(self, open_store: OpenStore) -> None:
        run = a_run("r1")
        with closing(open_store()) as store:
            store.create(run, a_manifest())
            begun = store.seen_at("r1")
            sleep(0.01)
            store.append("r1", a_segment(0))
            worked = store.seen_at("r1")
            assert begun is not None
            assert worked is not None
            assert begun < worked
        with closing(open_store()) as store:
            left = store.seen_at("r1")
            assert left is not None
            assert left >= worked

    def test_answers_are_counted_without_being_read(self, open_store: OpenStore) -> None:
        with closing(open_store()) as store:
            store.create(a_run("r1"), a_manifest())
            assert store.count_answers("r1") == 0
            store.keep_answers("r1", [(0, b"a"), (5, b"b")])
            assert store.count_answers("r1") == 2

    def test_a_run_that_is_being_written_is_nobody_elses(self, open_store: OpenStore) -> None:
        with closing(open_store()) as writer, closing(open_store()) as other:
            writer.create(a_run("r1"), a_manifest())
            writer.append("r1", a_segment(0))
            assert other.find("r1").status == "running"
            assert other.resumable("sha256:bb") is None
            _refused(UsageError, lambda: other.take_over("r1"))
            _refused(StoreError, lambda: other.append("r1", a_segment(1)))
            _refused(StoreError, lambda: other.touch("r1"))
            _refused(StoreError, lambda: other.finish(ended(a_run("r1")), a_manifest(), []))
            _refused(UsageError, lambda: other.delete("r1"))
            writer.touch("r1")
            assert list(other.segments("r1")) == [a_segment(0)]

    def test_of_several_heirs_one_takes_over(self, open_store: OpenStore) -> None:
        with closing(open_store()) as store:
            store.create(a_run("r1"), a_manifest())
        with closing(open_store()) as first, closing(open_store()) as second:
            first.take_over("r1")
            _refused(UsageError, lambda: second.take_over("r1"))
            _refused(StoreError, lambda: second.append("r1", a_segment(0)))
            first.append("r1", a_segment(0))

    def test_a_finished_run_takes_no_segments_but_a_better_ending(self, open_store: OpenStore) -> None:
        run = a_run("r1")
        with closing(open_store()) as store:
            store.create(run, a_manifest())
            store.finish(ended(run), a_manifest(), [])
            _refused(StoreError, lambda: store.append("r1", a_segment(0)))
            _refused(UsageError, lambda: store.take_over("r1"))
            store.finish(ended(run, headline="better"), a_manifest("better"), [])
            assert store.find("r1").headline == "better"

    def test_a_run_ends_in_one_of_three_ways(self, open_store: OpenStore) -> None:
        with closing(open_store()) as store:
            store.create(a_run("r1"), a_manifest())
            for wrong in ("running", "done", ""):
                _refused(UsageError, lambda wrong=wrong: store.finish(a_run("r1", status=wrong), a_manifest(), []))
            assert store.find("r1").status == "running"

    def test_a_summary_that_is_no_number_is_refused_before_it_is_stored(self, open_store: OpenStore) -> None:
        with closing(open_store()) as store:
            store.create(a_run("r1"), a_manifest())
            for wrong in (float("nan"), float("inf")):
                summaries = [MetricSummary(metric="m", mean=wrong)]
                _refused(UsageError, lambda s=summaries: store.finish(ended(a_run("r1")), a_manifest(), s))
            assert store.summaries("r1") == []

    def test_a_deleted_run_is_gone_and_the_others_stay(self, open_store: OpenStore) -> None:
        with closing(open_store()) as store:
            for id_ in ("r1", "r2"):
                store.create(a_run(id_), a_manifest(id_))
                store.append(id_, a_segment(0, note=id_))
            store.delete("r1")
            _refused(NotFoundError, lambda: store.find("r1"))
            assert [run.id for run in store.runs()] == ["r2"]
            assert list(store.segments("r2")) == [a_segment(0, note="r2")]
            store.create(a_run("r1"), a_manifest())
            assert list(store.segments("r1")) == []

    def test_a_reader_of_a_run_that_is_deleted_meanwhile_is_told(self, open_store: OpenStore) -> None:
        with closing(open_store()) as store:
            store.create(a_run("r1"), a_manifest())
            for index in range(3):
                store.append("r1", a_segment(index))
            reading = store.segments("r1")
            next(reading)
            store.delete("r1")
            _refused(NotFoundError, lambda: list(reading))

    def test_words_of_people_come_back_as_written(self, open_store: OpenStore) -> None:
        words = "'; DROP TABLE runs; -- % _ \" \\ \n\t e\u0301 é 🙂 \u202e"
        with closing(open_store()) as store:
            run = a_run("r1", name=words, dataset=words, labels={words: words}, headline=words, fingerprint=words)
            store.create(run, a_manifest(words))
            assert store.find(words) == run
            assert store.manifest("r1") == a_manifest(words)

    def test_a_zero_character_comes_back_or_is_refused_and_never_cut_off(self, open_store: OpenStore) -> None:
        with closing(open_store()) as store:
            try:
                store.create(a_run("r1", name="a\0b"), a_manifest())
            except UsageError:
                _refused(NotFoundError, lambda: store.run("r1"))
            else:
                assert store.run("r1").name == "a\0b"

    def test_half_a_surrogate_pair_is_refused_and_named(self, open_store: OpenStore) -> None:
        with closing(open_store()) as store:
            _refused(UsageError, lambda: store.create(a_run("r1", name="\ud800"), a_manifest()))
            _refused(UsageError, lambda: store.create(a_run("r1", labels={"a": "\udfff"}), a_manifest()))
            assert store.runs() == []

    def test_closing_twice_is_fine(self, open_store: OpenStore) -> None:
        store = open_store()
        store.close()
        store.close()


_FOUND = {
    "aa1": "aa1",
    "AA1": "aa1",
    "aa": "aa1",
    "nightly": "ab2",
    "ab": "b3",
    "b3": "b3",
    "c": "c4",
    "latest": "c4",
    "latest~0": "c4",
    "latest~3": "aa1",
}
"""References to the runs aa1 and ab2 (named nightly), b3 (named ab) and c4 (named b3), oldest first."""


def _refused(kind: type[EvalsiError], call: Callable[[], object]) -> EvalsiError:
    try:
        call()
    except kind as error:
        return error
    raise AssertionError(f"no {kind.__name__} was raised")
