"""Traces in files as datasets: `otlp://` and `atif://`."""

import gzip
import json
from pathlib import Path

import pytest

from evalsi.core.content import text_of
from evalsi.core.errors import InvalidDataError
from evalsi.datasets import DatasetOptions, open_dataset
from evalsi.datasets.imports import open_logs
from tests.case_files import CASES

FILES = CASES / "files"


def test_a_file_of_spans_gives_a_record_per_trace() -> None:
    (record,) = open_dataset(f"otlp://{FILES / 'H01_genai.json'}")
    assert record.trajectory is not None
    assert record.id == record.trajectory.trace_id
    assert text_of(record.output) == "Yes, it is on."


def test_a_packed_file_is_read_and_the_same_twice(tmp_path: Path) -> None:
    path = tmp_path / "spans.json.gz"
    path.write_bytes(gzip.compress((FILES / "H02_openinference.json").read_bytes()))
    dataset = open_dataset(f"otlp://{path}")
    assert dataset.scan().records == 1
    assert list(dataset) == list(dataset)


def test_a_span_that_cannot_be_taken_stops_the_file_or_is_left_out(tmp_path: Path) -> None:
    body = json.loads((FILES / "H06_id_variants.json").read_text())[-1]["body"]
    path = tmp_path / "spans.json"
    path.write_text(json.dumps(body))
    with pytest.raises(InvalidDataError, match="traceId"):
        open_dataset(f"otlp://{path}").scan()
    assert len(list(open_dataset(f"otlp://{path}", options=DatasetOptions(on_invalid="skip")))) == 1


def test_a_folder_finds_its_traces_among_other_files(tmp_path: Path) -> None:
    for name in ("H01_genai.json", "H02_openinference.json", "P02_atif.json", "E01_bom_crlf.jsonl"):
        (tmp_path / name).write_bytes((FILES / name).read_bytes())
    assert [log.label for log in open_logs(f"otlp://{tmp_path}")] == ["H01_genai", "H02_openinference"]
    assert [log.label for log in open_logs(f"atif://{tmp_path}")] == ["P02_atif"]


def test_trajectories_one_per_line_are_records_of_their_own(tmp_path: Path) -> None:
    document = json.loads((FILES / "P02_atif.json").read_text())
    lines = [json.dumps(document | {"trajectory_id": name}) for name in ("one", "two")]
    path = tmp_path / "many.jsonl"
    path.write_text("\n".join(lines))
    assert [record.id for record in open_dataset(f"atif://{path}")] == ["one", "two"]
    path.write_text("\n".join([lines[0], json.dumps(document | {"schema_version": "ATIF-v9"})]))
    with pytest.raises(InvalidDataError, match=r"many\.jsonl:2: schema_version"):
        open_dataset(f"atif://{path}").scan()


@pytest.mark.parametrize("scheme", ["otlp", "atif"])
@pytest.mark.parametrize("content", [b"", b"[]", b"{}", b"\x00\x01", b"text"])
def test_a_file_of_something_else_is_refused_by_name(tmp_path: Path, scheme: str, content: bytes) -> None:
    path = tmp_path / "other.json"
    path.write_bytes(content)
    with pytest.raises(InvalidDataError, match=r"other\.json"):
        open_dataset(f"{scheme}://{path}").scan()
