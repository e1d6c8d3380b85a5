"""`evalsi traces` and `evalsi mappings` as a person uses them."""

import json
from pathlib import Path

import pytest

from tests.case_files import CASES
from tests.command_line import evalsi

SPANS = CASES / "files" / "H01_genai.json"

pytestmark = pytest.mark.slow


def test_records_that_are_written_are_graded_like_the_file_itself(tmp_path: Path) -> None:
    written = evalsi("traces", "convert", str(SPANS), "-o", "records.jsonl", cwd=tmp_path)
    assert (written.status, written.err) == (0, "wrote records.jsonl: 1 record\n")
    means: list[float] = []
    for source in ("records.jsonl", f"otlp://{SPANS}"):
        graded = evalsi("eval", "--data", source, "--evaluators", "tool-errors", "--format", "json", cwd=tmp_path)
        assert graded.status == 0, graded.err
        means.append(json.loads(graded.out)[0]["mean"])
    assert means == [0.0, 0.0]


def test_trajectories_come_back_from_atif(tmp_path: Path) -> None:
    written = evalsi("traces", "convert", str(SPANS), "--to", "atif", cwd=tmp_path)
    document = json.loads(written.out)
    assert document["schema_version"] == "ATIF-v1.8"
    (tmp_path / "one.jsonl").write_text(written.out)
    again = evalsi("traces", "convert", "atif://one.jsonl", "--to", "atif", cwd=tmp_path)
    assert json.loads(again.out) == document


def test_a_bad_span_stops_or_is_counted_and_leaves_no_half_file(tmp_path: Path) -> None:
    body = json.loads((CASES / "files" / "H06_id_variants.json").read_text())[-1]["body"]
    (tmp_path / "spans.json").write_text(json.dumps(body))
    stopped = evalsi("traces", "convert", "spans.json", "-o", "out.jsonl", cwd=tmp_path)
    assert stopped.status == 2
    assert "traceId" in stopped.err
    assert not (tmp_path / "out.jsonl").exists()
    left = evalsi("traces", "convert", "spans.json", "-o", "out.jsonl", "--skip-invalid", cwd=tmp_path)
    assert left.status == 0
    assert "left out 1" in left.err


def test_a_mapping_is_checked_and_shows_what_it_reads(tmp_path: Path) -> None:
    mapping = {"version": 1, "name": "house", "kinds": {"generic": [{"name_regex": "^chat "}]}}
    (tmp_path / "house.json").write_text(json.dumps(mapping))
    assert "is sound" in evalsi("mappings", "check", "house.json", cwd=tmp_path).err
    shown = evalsi("mappings", "check", "house.json", "--traces", str(SPANS), cwd=tmp_path)
    assert "house@1" in shown.out
    assert "genai@1" in shown.out
    (tmp_path / "bad.json").write_text(json.dumps(mapping | {"kindz": {}}))
    refused = evalsi("mappings", "check", "bad.json", cwd=tmp_path)
    assert refused.status == 2
    assert "kindz" in refused.err


def test_own_mappings_are_refused_for_atif_and_missing_files_are_named(tmp_path: Path) -> None:
    atif = str(CASES / "files" / "P02_atif.json")
    assert evalsi("traces", "convert", f"atif://{atif}", "--mapping", "x.json", cwd=tmp_path).status == 2
    missing = evalsi("traces", "convert", str(SPANS), "--mapping", "x.json", cwd=tmp_path)
    assert missing.status == 1
    assert "x.json" in missing.err
