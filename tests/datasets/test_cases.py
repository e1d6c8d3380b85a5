"""The dataset rows of the shared cases: files that broke public tools, and what is right."""

import json
from pathlib import Path

import pytest

from evalsi.core.chat import messages_of
from evalsi.core.content import text_of
from evalsi.core.errors import DuplicateIdError, InvalidDataError, InvalidSpecError
from evalsi.datasets import DatasetOptions, confined_path, open_dataset
from evalsi.schema import Record
from tests.case_files import CASES, case

SKIP = DatasetOptions(on_invalid="skip")


def records_of(name: str, options: DatasetOptions = SKIP) -> dict[str, Record]:
    return {record.id: record for record in open_dataset(CASES / "files" / name, options=options)}


def test_e01_byte_order_mark_crlf_blank_lines_and_a_missing_last_newline_change_nothing() -> None:
    expected = case("E01")["expected"]
    dataset = open_dataset(CASES / "files" / "E01_bom_crlf.jsonl")
    records = list(dataset)
    assert dataset.scan().records == expected["records"]
    assert [record.id for record in records] == expected["ids"]
    assert list(dataset.scan().columns) == expected["first_keys"]
    assert text_of(records[1].input) == expected["input_b"]
    for record in records:
        assert not text_of(record.input).endswith("\r")
        assert not text_of(record.reference).endswith("\r")


def test_e02_broken_lines_stop_the_dataset_and_each_is_named() -> None:
    mapping = case("E02")["input"]["mapping"]
    dataset = open_dataset(CASES / "files" / "E02_bad_line.jsonl", options=DatasetOptions(mapping=mapping))
    with pytest.raises(InvalidDataError) as refused:
        dataset.scan()
    text = str(refused.value)
    assert "bad_line.jsonl:3:" in text
    for line in (5, 6, 7):
        assert f"bad_line.jsonl:{line}" in text


def test_e02_skipped_lines_are_listed_with_their_reasons() -> None:
    given = case("E02")
    options = DatasetOptions(mapping=given["input"]["mapping"], on_invalid="skip")
    dataset = open_dataset(CASES / "files" / "E02_bad_line.jsonl", options=options)
    expected = given["expected"]["with_skip_invalid"]
    assert [record.id for record in dataset] == expected["loaded"]
    assert [row.line for row in dataset.skipped] == [row["line"] for row in expected["skipped"]]
    for row, wanted in zip(dataset.skipped, expected["skipped"], strict=True):
        assert all(word in row.reason for word in wanted["why"].split())


def test_e03_ids_are_compared_as_text_and_doubles_are_refused_with_all_their_lines() -> None:
    with pytest.raises(DuplicateIdError) as refused:
        open_dataset(CASES / "files" / "E03_ids.jsonl").scan()
    for line in (1, 2, 3):
        assert f"E03_ids.jsonl:{line}" in str(refused.value)


def test_e03_missing_ids_are_made_stable_and_an_odd_id_is_only_data(tmp_path: Path) -> None:
    dataset = open_dataset(CASES / "files" / "E03_ids.jsonl", options=SKIP)
    ids = [record.id for record in dataset]
    assert ids[0] == "1"
    assert ids[-1] == "x/../y"
    assert [row.line for row in dataset.skipped] == [2, 3]
    assert len(set(ids)) == 5
    longer = tmp_path / "longer.jsonl"
    longer.write_text('{"input":"first"}\n' + (CASES / "files" / "E03_ids.jsonl").read_text() + '{"input":"z"}\n')
    assert set(ids) <= {record.id for record in open_dataset(longer, options=SKIP)}


def test_e04_awkward_values_are_kept_exactly_or_refused_by_line() -> None:
    dataset = open_dataset(CASES / "files" / "E04_values.jsonl", options=SKIP)
    records = {record.id: record for record in dataset}
    reasons = {row.line: row.reason for row in dataset.skipped}
    assert set(records) == {"sep", "sur", "nul", "emoji"}
    assert "out of range" in reasons[1]
    assert "NaN" in reasons[2]
    assert "twice" in reasons[5]
    assert "deeper" in reasons[7]
    assert records["sep"].metadata["text"] == "one\u2028two\u2029three\u0085four"
    assert records["sur"].metadata["text"] == "\\ud800"
    assert records["nul"].metadata["text"] == "a\0b"
    assert records["emoji"].metadata["text"] == case("E04")["expected"]["emoji"]
    assert dataset.scan().surrogates_escaped == 1
    for batch in dataset.batches(10):
        assert b"Infinity" not in batch.json_lines()


def test_e04_a_big_integer_is_exact(tmp_path: Path) -> None:
    path = tmp_path / "big.jsonl"
    path.write_text('{"id":"big","n":9007199254740993,"m":123456789012345678901234567890,"d":0.1}\n')
    (record,) = open_dataset(path)
    assert record.metadata == {"n": 9007199254740993, "m": 123456789012345678901234567890, "d": 0.1}
    assert b"123456789012345678901234567890" in next(open_dataset(path).batches(1)).json_lines()


def test_e05_cells_stay_as_written() -> None:
    expected = case("E05")["expected"]["cells"]
    records = records_of("E05_cells.csv", DatasetOptions())
    assert list(records) == [row["id"] for row in expected]
    assert text_of(records["007"].input).split("\n") == expected[0]["input_lines"]
    assert text_of(records["007"].reference) == expected[0]["reference"]
    assert records["007"].metadata == {"meta": expected[0]["meta_parsed"]}
    assert text_of(records["008"].input) == expected[1]["input"]
    assert records["008"].reference is None
    assert records["008"].metadata == {}
    assert text_of(records["009"].input) == expected[2]["input"]
    assert text_of(records["009"].reference) == expected[2]["reference"]
    assert records["009"].metadata == {"meta": expected[2]["meta"]}


def test_e05_ragged_rows_are_named_with_their_counts() -> None:
    with pytest.raises(InvalidDataError) as refused:
        open_dataset(CASES / "files" / "E05_ragged.csv").scan()
    text = str(refused.value)
    assert "E05_ragged.csv:2: row 1 has 4 cells for 3 columns" in text
    assert "E05_ragged.csv:3: row 2 has 2 cells for 3 columns" in text


@pytest.mark.parametrize("row", case("M01")["expected"]["paths"], ids=lambda row: row["path"])
def test_m01_a_path_of_a_user_stays_inside_its_folder(row: dict, tmp_path: Path) -> None:
    root = tmp_path / "project"
    (root / "data").mkdir(parents=True)
    (tmp_path / "outside.jsonl").touch()
    (root / "link-to-outside.jsonl").symlink_to(tmp_path / "outside.jsonl")
    path = row["path"].partition(" (")[0]
    if row["allowed"] is False:
        with pytest.raises(InvalidSpecError):
            confined_path(root, path)
        return
    confined = confined_path(root, path)
    assert confined.is_relative_to(root.resolve())
    if row["allowed"] == "not decoded twice":
        assert confined == root.resolve() / path


@pytest.mark.parametrize("form", list(case("J03")["input"]))
def test_j03_four_message_formats_give_one_conversation(form: str) -> None:
    given = case("J03")
    messages = messages_of(given["input"][form])
    assert messages is not None
    assert [_canonical(message) for message in messages] == given["expected"]["canonical"]


def _canonical(message) -> dict:
    if message.role == "tool":
        return {"role": "tool", "tool_call_id": message.tool_call_id, "result": json.loads(message.content)}
    if message.tool_calls:
        calls = [{"id": c.id, "name": c.name, "arguments": json.loads(c.arguments)} for c in message.tool_calls]
        return {"role": message.role, "tool_calls": calls}
    return {"role": message.role, "text": message.content}
