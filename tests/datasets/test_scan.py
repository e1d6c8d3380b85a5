"""The first pass finds what would stop a run half-way, and chooses the rows; the second gives just those."""

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evalsi.core.errors import DuplicateIdError, InvalidDataError, InvalidSpecError, UnknownNameError, UsageError
from evalsi.datasets import DatasetOptions, json_rows, open_dataset, row_ids

ROWS = [
    {"id": f"r{number}", "input": f"q{number}", "topic": "even" if number % 2 == 0 else "odd"} for number in range(2000)
]


def ids(source, **options) -> list[str]:
    return [record.id for record in open_dataset(source, options=DatasetOptions(**options))]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "d.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    return path


def test_limit_takes_the_first_rows_and_checks_no_further(tmp_path: Path) -> None:
    path = tmp_path / "d.jsonl"
    path.write_text('{"id":"a"}\n\n{"id":"b"}\nbroken\n{"id":"a"}\n')
    dataset = open_dataset(path, options=DatasetOptions(limit=2))
    assert dataset.scan().records == 2
    assert [record.id for record in dataset] == ["a", "b"]
    assert ids(path, limit=9, on_invalid="skip") == ["a", "b"]


def test_limit_counts_rows_that_match(file: Path) -> None:
    assert ids(file, where="row.topic == 'odd'", limit=3) == ["r1", "r3", "r5"]
    assert ids(file, limit=700) == [f"r{number}" for number in range(700)]


def test_a_limit_before_a_second_file_leaves_it_unread(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text('{"id":"a"}\n{"id":"b"}\n')
    (tmp_path / "b.jsonl").write_text("broken")
    assert ids(tmp_path, limit=2) == ["a", "b"]
    assert ids(tmp_path, limit=1) == ["a"]


def test_a_sample_is_decided_by_its_seed_keeps_the_order_and_is_spread(file: Path) -> None:
    drawn = ids(file, sample=200, seed=7)
    assert drawn == ids(file, sample=200, seed=7)
    assert drawn != ids(file, sample=200, seed=8)
    numbers = [int(identifier[1:]) for identifier in drawn]
    assert numbers == sorted(numbers)
    assert len(set(numbers)) == 200
    assert 850 < sum(numbers) / len(numbers) < 1150
    assert ids(file, sample=5000) == ids(file)


def test_a_sample_is_drawn_from_the_rows_that_match(file: Path) -> None:
    drawn = ids(file, sample=50, where="metadata.topic == 'odd'")
    assert len(drawn) == 50
    assert all(int(identifier[1:]) % 2 for identifier in drawn)


@pytest.mark.parametrize(
    ("where", "matching"),
    [
        ("id == 'a'", ["a"]),
        ("input.contains('two')", ["b"]),
        ("output == null", ["b"]),
        ("has(metadata.level) && metadata.level > 1", ["b"]),
        ("row.level == 1", ["a"]),
        ("usage.input_tokens >= 5", ["b"]),
        ("metadata.big > 0 || true", ["a", "b"]),
        ("size(input) > 0 && id in ['a', 'z']", ["a"]),
    ],
)
def test_a_condition_reads_fields_metadata_usage_and_columns(where: str, matching: list[str]) -> None:
    rows = [
        {"id": "a", "input": "one", "output": "1", "level": 1, "big": 10**30, "usage": {"input_tokens": 4}},
        {"id": "b", "input": "two", "level": 2, "big": 1, "usage": {"input_tokens": 5}},
    ]
    assert ids(rows, where=where) == matching


@pytest.mark.parametrize(
    ("where", "place"), [("metadata.n >", "where:1:13"), ("1 +* 2", "where:1:4"), ("", "where:1:1")]
)
def test_a_condition_that_cannot_be_read_is_refused_at_once_with_its_place(where: str, place: str) -> None:
    with pytest.raises(InvalidSpecError, match=place):
        open_dataset(ROWS, options=DatasetOptions(where=where))


def test_a_condition_with_an_unknown_variable_names_the_nearest() -> None:
    with pytest.raises(UnknownNameError, match="did you mean 'metadata'"):
        open_dataset(ROWS, options=DatasetOptions(where="metdata.n > 1"))


@pytest.mark.parametrize(
    ("where", "hint"),
    [
        ("topic == 'a'", "unknown variable or function 'topic'; a column of your own is metadata.topic; known: id,"),
        ("metadata.topic = 'a'", "write == for equal"),
    ],
)
def test_a_condition_written_as_elsewhere_is_told_how_it_is_written_here(where: str, hint: str) -> None:
    with pytest.raises(UsageError, match=re.escape(hint)):
        open_dataset(ROWS, options=DatasetOptions(where=where))


@pytest.mark.parametrize("where", ["1 + 1", "'text'"])
def test_a_condition_that_is_no_condition_is_refused_at_once(where: str) -> None:
    with pytest.raises(InvalidSpecError, match="not true or false"):
        open_dataset(ROWS, options=DatasetOptions(where=where))


def test_a_row_on_which_a_condition_has_no_answer_is_named(tmp_path: Path) -> None:
    path = tmp_path / "d.jsonl"
    path.write_text('{"id":"a","level":1}\n{"id":"b"}\n')
    with pytest.raises(InvalidSpecError, match=r"d\.jsonl:2: .*no answer.*has\("):
        open_dataset(path, options=DatasetOptions(where="metadata.level == 1")).scan()
    with pytest.raises(InvalidSpecError, match=r"d\.jsonl:1: .*gives STRING"):
        open_dataset(path, options=DatasetOptions(where="id")).scan()


def test_no_row_left_is_an_error_that_says_why(file: Path) -> None:
    with pytest.raises(InvalidDataError, match="none of 2000 rows meets the condition"):
        open_dataset(file, options=DatasetOptions(where="id == 'x'")).scan()
    broken = file.with_name("broken.jsonl")
    broken.write_text("a\nb\n")
    with pytest.raises(InvalidDataError, match="no row can be used; the first: not JSON"):
        open_dataset(broken, options=DatasetOptions(on_invalid="skip")).scan()


def test_twenty_problems_are_named_and_reading_stops(tmp_path: Path) -> None:
    path = tmp_path / "d.jsonl"
    path.write_text('{"id":"a"}\n' + "broken\n" * 50)
    with pytest.raises(InvalidDataError) as refused:
        open_dataset(path).scan()
    assert "not JSON: expecting value (and 19 more: the same at " in str(refused.value)
    assert f"{path}:2:1" in str(refused.value)
    assert len(open_dataset(path, options=DatasetOptions(on_invalid="skip")).skipped) == 50


def test_the_column_of_a_fault_is_counted_in_characters(tmp_path: Path) -> None:
    path = tmp_path / "d.jsonl"
    for line, column, word in (
        ('{"é":"😀","n":NaN}', 14, "NaN"),
        ('{"a":{"b":1,"c":[{"d":1,"d":2}]}}', 25, "twice"),
        ('{"a":"NaN","b":-Infinity}', 16, "-Infinity"),
        ('{"a":"\\"x\\": NaN","a":1}', 19, "twice"),
        ('{"a":1,}', 8, "not JSON"),
        ('{"a":' + "9" * 5000 + "}", 6, "out of range"),
        ('{"a" :1, "a":2}', 10, "twice"),
        ('{"a\\u0062":1, "ab":2}', 15, "twice"),
    ):
        path.write_text(line + "\n")
        with pytest.raises(InvalidDataError) as refused:
            open_dataset(path).scan()
        assert f"{path}:1:{column}: " in str(refused.value), line
        assert word in str(refused.value)


@pytest.mark.parametrize(
    "line",
    [
        '{"id":"x","t":"a \\": b"}',
        '{"id":"x","t":"{\\"k\\": 1, \\"k\\" : 2}"}',
        '{"id":"x","k\\\\":1,"k":2}',
        '{"id":"x","t":":)", "u" : "::"}',
        '{"id" :"x","t" :" : "}',
        '{"id":"x","":1,"a":{"":2}}',
    ],
)
def test_colons_and_quotes_inside_text_are_no_double_keys(tmp_path: Path, line: str) -> None:
    path = tmp_path / "d.jsonl"
    path.write_text(line + "\n" + '{"id":"y"}\n')
    first, _ = open_dataset(path)
    assert first.metadata == {key: value for key, value in json.loads(line).items() if key != "id"}


@pytest.mark.parametrize(
    "line", ['{"k":1,"k":2}', '{"k":{"a":1,"a":2}}', '{"k\\\\":1,"k\\\\":2}', '{"k" :1,"k"\t:2}', '{"t":"\\":","t":1}']
)
def test_double_keys_are_found_however_they_are_written(tmp_path: Path, line: str) -> None:
    path = tmp_path / "d.jsonl"
    path.write_text('{"id":"y"}\n' + line + "\n")
    with pytest.raises(InvalidDataError, match="twice"):
        open_dataset(path).scan()


@pytest.mark.parametrize(("opening", "closing"), [("[", "]"), ('{"a":', "}")])
def test_nesting_is_accepted_to_its_limit_and_refused_beyond(tmp_path: Path, opening: str, closing: str) -> None:
    path = tmp_path / "d.jsonl"
    for depth, accepted in ((99, True), (100, False), (600, False), (100_000, False)):
        path.write_text('{"id":"a","v":' + opening * depth + "1" + closing * depth + "}\n")
        if accepted:
            assert ids(path) == ["a"]
        else:
            with pytest.raises(InvalidDataError, match="nested deeper than 100 levels"):
                open_dataset(path).scan()


def test_rows_with_equal_content_get_suffixes_that_stay_when_rows_are_added(tmp_path: Path) -> None:
    path = tmp_path / "d.jsonl"
    path.write_text('{"input":"x"}\n{"input":"y"}\n{"input": "x", "id": ""}\n{"input":"x"}\n')
    first = ids(path)
    base = first[0]
    assert first == [base, first[1], f"{base}-2", f"{base}-3"]
    dataset = open_dataset(path)
    assert (dataset.scan().ids_made, dataset.scan().ids_repeated) == (4, 2)
    with path.open("a") as more:
        more.write('{"input":"x"}\n')
    assert ids(path) == [*first, f"{base}-4"]
    assert ids(path, where="input == 'x'", sample=10) == [base, f"{base}-2", f"{base}-3", f"{base}-4"]


def test_the_order_of_keys_does_not_change_a_made_id() -> None:
    assert ids([{"a": 1, "b": {"c": 1, "d": 2}}]) == ids([{"b": {"d": 2, "c": 1}, "a": 1}])


def test_a_made_id_never_takes_one_that_the_data_has() -> None:
    (base,) = ids([{"input": "x"}])
    assert ids([{"input": "x"}, {"id": f"{base}-2"}, {"input": "x"}]) == [base, f"{base}-2", f"{base}-3"]
    with pytest.raises(DuplicateIdError):
        open_dataset([{"input": "x"}, {"id": base}]).scan()


def test_different_ids_with_equal_hashes_are_no_doubles(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(row_ids, "hash_of", len)
    assert ids([{"id": "a"}, {"id": "b"}, {"id": "cc"}]) == ["a", "b", "cc"]
    with pytest.raises(DuplicateIdError, match="'a' is used 2 times"):
        open_dataset([{"id": "a"}, {"id": "b"}, {"id": "a"}]).scan()


def test_doubles_are_skipped_after_the_first_and_listed() -> None:
    rows = [{"id": "a", "n": 1}, {"id": "b"}, {"id": "a", "n": 2}, {"n": 3, "id": "a"}]
    dataset = open_dataset(rows, options=DatasetOptions(on_invalid="skip"))
    assert [(record.id, record.metadata) for record in dataset] == [("a", {"n": 1}), ("b", {})]
    assert [(row.line, row.reason) for row in dataset.skipped] == [
        (3, "id 'a' is already used at records, row 1"),
        (4, "id 'a' is already used at records, row 1"),
    ]


def test_doubles_and_broken_rows_are_named_together(tmp_path: Path) -> None:
    path = tmp_path / "d.jsonl"
    path.write_text('{"id":"a"}\nbroken\n{"id":"a"}\n')
    with pytest.raises(InvalidDataError, match=r":2:1: not JSON.*:1: id 'a' is used 2 times, also at .*:3"):
        open_dataset(path).scan()


def test_all_columns_are_known_in_the_order_they_appear() -> None:
    assert open_dataset([{"b": 1}, {"a": 1, "b": 2}]).scan().columns == ("b", "a")


@pytest.mark.slow
def test_memory_does_not_grow_with_the_number_of_records(tmp_path: Path) -> None:
    import tracemalloc

    def peak(rows: int) -> int:
        path = tmp_path / f"{rows}.jsonl"
        with path.open("w") as file:
            file.writelines(f'{{"id":"r{number}","input":"{"x" * 200}"}}\n' for number in range(rows))
        tracemalloc.start()
        dataset = open_dataset(path)
        for _ in dataset.batches(500):
            pass
        _, most = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        return most

    peak(60_000)  # what is imported on the way is counted once
    assert peak(60_000) - peak(20_000) < 40_000 * 8 * 4


def test_a_folder_of_copies_is_told_in_a_few_places_and_a_count(tmp_path: Path) -> None:
    for number in range(12):
        (tmp_path / f"copy-{number}.jsonl").write_text("".join(f'{{"id": "r{row}"}}\n' for row in range(40)))
    with pytest.raises(DuplicateIdError) as caught:
        open_dataset(str(tmp_path)).scan()
    told = str(caught.value).replace(str(tmp_path), "")
    assert "'r0' is used 12 times" in told
    assert "and 9 more places" in told
    assert "37 other ids are used more than once too" in told
    assert len(told) < 600


_AWKWARD = st.text(st.sampled_from('ab":\\[] \t\n\r'), max_size=12)


@settings(deadline=None)  # numpy is loaded in one of them
@given(st.lists(st.dictionaries(_AWKWARD, st.one_of(_AWKWARD, st.lists(_AWKWARD, max_size=2)), max_size=4), max_size=4))
def test_keys_are_counted_alike_with_and_without_numpy(rows: list[dict[str, Any]]) -> None:
    for separators in ((",", ":"), (", ", " : "), (",\t", "\r\n:")):
        text = "\n".join(json.dumps(row, separators=separators) for row in rows).encode()
        assert json_rows._counted(text) == json_rows._counted_quickly(text)  # pyright: ignore[reportPrivateUsage]


@pytest.mark.parametrize("rows", [3, 30_000])
def test_doubles_are_found_among_few_rows_and_among_many(rows: int) -> None:
    data = [{"id": f"r{n}", "input": "x"} for n in range(rows)]
    assert open_dataset(data).scan().records == rows
    with pytest.raises(DuplicateIdError, match="r1"):
        open_dataset([*data, {"id": "r1", "input": "y"}]).scan()


def test_a_small_dataset_is_read_without_loading_numpy(file: Path) -> None:
    program = (
        "import sys\nfrom evalsi.datasets import open_dataset\n"
        "dataset = open_dataset(sys.argv[1])\nassert len(list(dataset.records())) == dataset.scan().records == 2000\n"
        "assert 'numpy' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", program, file], check=True, timeout=60)


def test_one_reason_of_many_rows_is_said_once_with_its_places() -> None:
    rows = [{"id": f"r{n}", "metadata": n} for n in range(30)]
    with pytest.raises(InvalidDataError) as refused:
        open_dataset(rows).scan()
    assert str(refused.value).count("metadata is not an object") == 1
    assert "(and 19 more: the same at " in str(refused.value)
    assert "and 17 more places)" in str(refused.value)
    rows[0]["metadata"], rows[1]["id"] = {}, {"no": "id"}
    with pytest.raises(InvalidDataError) as mixed:
        open_dataset(rows[:4]).scan()
    assert str(mixed.value).count("metadata is not an object") == 1


def test_stored_rows_are_mapped_by_a_key_of_their_metadata_also_to_an_id() -> None:
    rows = [{"id": f"made-{n}", "metadata": {"ticket": f"T{n}", "question": "why"}} for n in range(3)]
    options = DatasetOptions(mapping={"id": "ticket", "input": "question"})
    records = list(open_dataset(rows, options=options).records())
    assert [record.id for record in records] == ["T0", "T1", "T2"]
    assert records[0].metadata == {"id": "made-0"}
