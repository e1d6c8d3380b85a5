"""Inspect logs: case P01, a log with everything in it, one of an old release, and logs that are broken or cut off."""

import json
import struct
import zipfile
import zlib
from pathlib import Path
from typing import Any

import pytest
import zstandard

from evalsi.core.content import text_of
from evalsi.core.errors import InvalidDataError, NotFoundError
from evalsi.datasets import DatasetOptions, open_dataset
from evalsi.datasets.imports import ImportedLog, ImportedSample, UnreadableSample, open_logs
from evalsi.schema import ErrorKind, Outcome, RunStatus, StepType
from tests.case_files import CASES, case

LOGS = Path(__file__).parent / "logs"
WEATHER = LOGS / "weather.eval"


def log_of(path: Path) -> ImportedLog:
    (log,) = open_logs(f"inspect://{path}")
    return log


def samples_of(path: Path) -> dict[tuple[str, int], ImportedSample]:
    found: dict[tuple[str, int], ImportedSample] = {}
    for sample in log_of(path).read_samples():
        assert isinstance(sample, ImportedSample)
        run = sample.record.provenance.run if sample.record.provenance else None
        found[sample.record.id, run.trial if run else 0] = sample
    return found


def document() -> dict[str, Any]:
    return json.loads((CASES / "files" / "P01_tiny_sums.json").read_text())


def saved(tmp_path: Path, content: dict[str, Any]) -> Path:
    path = tmp_path / "log.json"
    path.write_text(json.dumps(content))
    return path


@pytest.mark.parametrize("file", case("P01")["input"]["files"])
def test_p01_both_forms_of_a_log_give_its_samples_scores_and_figures(file: str) -> None:
    expected = case("P01")["expected"]["each"]
    log = log_of(CASES / file)
    assert log.manifest.name == expected["task"]
    assert log.manifest.status is {"success": RunStatus.SUCCEEDED}[expected["status"]]
    samples = [sample for sample in log.read_samples() if isinstance(sample, ImportedSample)]
    found = [
        {
            "id": sample.record.id,
            "score": float(sample.results[0].scores[0].passed or 0),
            "answer": sample.results[0].scores[0].metadata["answer"],
        }
        for sample in samples
    ]
    assert found == expected["samples"]
    assert log.reported[0].mean == pytest.approx(expected["accuracy"], abs=1e-6)


def test_a_record_has_the_whole_conversation_the_answer_the_targets_and_what_it_took() -> None:
    sample = samples_of(WEATHER)["berlin", 1]
    record = sample.record
    assert text_of(record.input) == "How warm is Berlin?"
    assert text_of(record.output) == "It is 18 degrees in Berlin now, please."
    assert record.reference is not None
    assert record.reference.json == ["18", "eighteen"]
    assert record.metadata == {"topic": "city"}
    assert record.usage is not None
    assert (record.usage.input_tokens or 0) > 0
    assert (record.usage.latency or 0) > 0
    assert record.stop_reason == "stop"


def test_a_tool_call_and_its_result_are_one_step_below_the_answer_that_asked() -> None:
    record = samples_of(WEATHER)["berlin", 0].record
    assert record.trajectory is not None
    steps = record.trajectory.steps
    assert [step.type for step in steps] == [StepType.USER, StepType.LLM, StepType.TOOL, StepType.LLM]
    tool = steps[2]
    assert (tool.name, tool.parent_span_id) == ("temperature", steps[1].span_id)
    assert tool.input is not None
    assert tool.input.json == {"city": "Berlin"}
    assert text_of(tool.output) == "18 degrees in Berlin"


def test_a_tool_that_failed_says_why_on_its_step() -> None:
    record = samples_of(WEATHER)["2", 0].record
    assert record.trajectory is not None
    (tool,) = (step for step in record.trajectory.steps if step.type is StepType.TOOL)
    assert tool.error == "no such city"


def test_a_limit_is_a_note_and_the_sample_keeps_its_scores() -> None:
    sample = samples_of(WEATHER)["loops", 0]
    assert sample.record.notes == ["stopped at its message limit of 8"]
    assert {result.evaluator for result in sample.results} == {"includes", "words", "manners", "ratio"}


def test_a_sample_that_ended_with_an_error_has_no_scores_and_says_so() -> None:
    sample = samples_of(WEATHER)["breaks", 0]
    assert list(sample.results) == []
    assert sample.otherwise.outcome is Outcome.ERROR
    assert sample.otherwise.error_kind is ErrorKind.TARGET
    assert "the bridge is out" in sample.otherwise.reason
    assert sample.record.output is None


def test_letters_words_numbers_verdicts_and_nan_become_what_inspect_makes_of_them(tmp_path: Path) -> None:
    content = document()
    values = ["C", "I", "P", "N", "yes", "0.25", 3, True, float("nan"), "blue"]
    first = content["samples"][0]
    content["samples"] = [
        {**first, "id": number, "scores": {"s": {"value": value}}} for number, value in enumerate(values)
    ]
    path = saved(tmp_path, content)
    found: list[Any] = []
    for sample in samples_of(path).values():
        (result,) = sample.results
        score = result.scores[0] if result.scores else None
        found.append(
            result.error_kind
            if score is None
            else next(value for value in (score.passed, score.number, score.label) if value is not None)
        )
    assert found == [True, False, 0.5, False, True, 0.25, 3.0, True, ErrorKind.NOT_FINITE, "blue"]


def test_samples_come_in_the_order_of_the_dataset_epoch_by_epoch() -> None:
    expected = [(name, trial) for trial in (0, 1) for name in ("berlin", "2", "loops", "breaks", "blank")]
    assert list(samples_of(WEATHER)) == expected


def test_a_log_of_an_old_release_packed_with_deflate_reads_alike() -> None:
    log = log_of(LOGS / "capitals_deflate.eval")
    assert log.tool_version == "0.3.50"
    samples = samples_of(LOGS / "capitals_deflate.eval")
    assert list(samples) == [("1", 0), ("2", 0), ("1", 1), ("2", 1)]
    record = samples["2", 1].record
    assert record.metadata["choices"] == ["Lima", "Quito"]
    assert text_of(record.output) == "ANSWER: B"
    assert samples["2", 1].results[0].scores[0].passed is False


def test_the_manifest_says_task_model_time_and_commit() -> None:
    manifest = log_of(WEATHER).manifest
    assert manifest.name == "weather"
    assert manifest.labels == {"model": "mockllm/model"}
    assert manifest.git is not None
    assert len(manifest.git.commit) >= 7
    assert manifest.started_at is not None
    assert manifest.finished_at is not None
    assert manifest.finished_at >= manifest.started_at
    assert manifest.trials == 2


def test_attachments_are_put_back_where_they_are_quoted(tmp_path: Path) -> None:
    content = document()
    key = "6a8862fd16cb32286183c3adcd25e1cf"
    content["samples"][0] |= {"input": f"attachment://{key}", "attachments": {key: "a long question"}}
    assert text_of(samples_of(saved(tmp_path, content))["s1", 0].record.input) == "a long question"


def test_attachments_that_would_fill_the_memory_are_refused(tmp_path: Path) -> None:
    content = document()
    key = "6a8862fd16cb32286183c3adcd25e1cf"
    content["samples"][0] |= {
        "metadata": {"all": [f"attachment://{key}"] * 20_000},
        "attachments": {key: "x" * 10_000},
    }
    first = next(iter(log_of(saved(tmp_path, content)).read_samples()))
    assert isinstance(first, UnreadableSample)
    assert "attachments" in first.reason


def test_cached_tokens_are_part_of_the_input(tmp_path: Path) -> None:
    content = document()
    used = {
        "input_tokens": 5,
        "input_tokens_cache_read": 90,
        "input_tokens_cache_write": 5,
        "output_tokens": 7,
        "total_tokens": 107,
    }
    content["samples"][0]["model_usage"] = {"a": used, "b": {"input_tokens": 1, "output_tokens": 1, "total_tokens": 2}}
    record = samples_of(saved(tmp_path, content))["s1", 0].record
    assert record.usage is not None
    assert (record.usage.input_tokens, record.usage.output_tokens, record.usage.cached_input_tokens) == (101, 8, 90)
    assert set(record.metadata["model_usage"]) == {"a", "b"}


def test_a_provider_failure_is_the_provider_s_fault(tmp_path: Path) -> None:
    content = document()
    content["samples"][0] |= {"error": {"message": "RateLimitError('429')"}, "scores": None}
    sample = samples_of(saved(tmp_path, content))["s1", 0]
    assert sample.otherwise.error_kind is ErrorKind.PROVIDER


def test_an_invalidated_sample_is_skipped_with_its_reason(tmp_path: Path) -> None:
    content = document()
    content["samples"][0]["invalidation"] = {"author": "qa", "reason": "wrong target"}
    sample = samples_of(saved(tmp_path, content))["s1", 0]
    assert list(sample.results) == []
    assert sample.otherwise.outcome is Outcome.SKIPPED
    assert sample.otherwise.reason == "invalidated: wrong target"


def test_a_log_without_its_header_is_told_from_the_journal(tmp_path: Path) -> None:
    path = tmp_path / "killed.eval"
    with zipfile.ZipFile(LOGS / "capitals_deflate.eval") as whole, zipfile.ZipFile(path, "w") as killed:
        for name in whole.namelist():
            if name not in ("header.json", "summaries.json", "reductions.json"):
                killed.writestr(name, whole.read(name))
    log = log_of(path)
    assert log.manifest.name == "capitals"
    assert log.manifest.status is RunStatus.CANCELLED
    assert len(samples_of(path)) == 4


def test_a_zip_that_was_cut_off_is_refused_by_name(tmp_path: Path) -> None:
    path = tmp_path / "cut.eval"
    path.write_bytes(WEATHER.read_bytes()[:-2000])
    with pytest.raises(InvalidDataError, match=r"cut\.eval: is no whole zip"):
        open_logs(f"inspect://{path}")


def test_a_broken_sample_is_named_by_file_and_entry(tmp_path: Path) -> None:
    path = tmp_path / "broken.eval"
    with zipfile.ZipFile(LOGS / "capitals_deflate.eval") as whole, zipfile.ZipFile(path, "w") as broken:
        for name in whole.namelist():
            broken.writestr(name, b'{"id": 2, ' if name == "samples/2_epoch_1.json" else whole.read(name))
    with pytest.raises(InvalidDataError, match=r"broken\.eval: samples/2_epoch_1\.json: not JSON"):
        open_dataset(f"inspect://{path}").scan()
    dataset = open_dataset(f"inspect://{path}", options=DatasetOptions(on_invalid="skip"))
    assert len(list(dataset.records())) == 3
    assert dataset.skipped[0].where.endswith("broken.eval: samples/2_epoch_1.json")


def test_a_sample_whose_bytes_changed_is_found_by_its_checksum(tmp_path: Path) -> None:
    path = tmp_path / "flipped.eval"
    with zipfile.ZipFile(LOGS / "capitals_deflate.eval") as whole, zipfile.ZipFile(path, "w") as stored:
        for name in whole.namelist():
            stored.writestr(name, whole.read(name))
    content = path.read_bytes()
    path.write_bytes(content.replace(b"Capital of Peru", b"Capital of Chad", 1))
    with pytest.raises(InvalidDataError, match=r"samples/2_epoch_1\.json: damaged: its checksum is wrong"):
        open_dataset(f"inspect://{path}").scan()


def test_an_entry_that_unpacks_to_far_more_than_its_size_is_not_unpacked(tmp_path: Path) -> None:
    path = tmp_path / "bomb.eval"
    bomb = b'{"id": 1, "x": "' + b"x" * 50_000_000 + b'"}'
    packed = zstandard.compress(bomb, level=3)
    assert len(bomb) > 2000 * len(packed)
    path.write_bytes(zip_of("samples/1_epoch_1.json", packed, method=93, size=len(bomb), crc=zlib.crc32(bomb)))
    samples = list(log_of(path).read_samples())
    assert isinstance(samples[0], UnreadableSample)
    assert "2,000 times its size" in samples[0].reason


def test_an_entry_that_lies_about_its_size_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "liar.eval"
    content = b'{"id": 1}' + b" " * 1000
    path.write_bytes(
        zip_of("samples/1_epoch_1.json", zstandard.compress(content), method=93, size=20, crc=zlib.crc32(content))
    )
    (sample,) = log_of(path).read_samples()
    assert isinstance(sample, UnreadableSample)
    assert "where its header says 20" in sample.reason


def test_an_unknown_packing_is_named(tmp_path: Path) -> None:
    path = tmp_path / "odd.eval"
    path.write_bytes(zip_of("samples/1_epoch_1.json", b"abc", method=97, size=3, crc=zlib.crc32(b"abc")))
    (sample,) = log_of(path).read_samples()
    assert isinstance(sample, UnreadableSample)
    assert "packed by method 97" in sample.reason


def test_names_of_entries_are_never_paths(tmp_path: Path) -> None:
    path = tmp_path / "paths.eval"
    secret = tmp_path / "secret.json"
    secret.write_text('{"id": "secret"}')
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("header.json", json.dumps({"eval": {"task": "t"}, "status": "success"}))
        archive.writestr(f"samples/../../{secret.name}_epoch_1.json", '{"id": "inside"}')
    assert list(samples_of(path)) == [("inside", 0)]


def test_a_sample_without_an_id_is_unreadable_and_without_anything_else_is_not(tmp_path: Path) -> None:
    content = document()
    content["samples"] = [{"id": "bare"}, {"epoch": 1}, 7]
    bare, nameless, number = log_of(saved(tmp_path, content)).read_samples()
    assert isinstance(bare, ImportedSample)
    assert isinstance(nameless, UnreadableSample)
    assert isinstance(number, UnreadableSample)
    assert nameless.place.endswith("log.json: samples[1]")
    assert bare.otherwise.outcome is Outcome.SKIPPED


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "not JSON"),
        (b"{}", "it has no `eval`"),
        (b'{"eval": {}, "status": "success"}', "holds no samples"),
        (b'{"eval": {"task": "t"}, "samples": 3}', "holds no samples"),
        (b"[" * 100_000, "nested deeper|xpected"),
        (b"\xff\xfe\x00", "UTF-16|UTF-8"),
        (b"PK\x03\x04 and no zip", "no whole zip"),
    ],
)
def test_what_is_no_log_is_refused_by_name(tmp_path: Path, content: bytes, reason: str) -> None:
    path = tmp_path / "odd.json"
    path.write_bytes(content)
    with pytest.raises(InvalidDataError, match=reason) as caught:
        open_logs(f"inspect://{path}")
    assert "odd.json" in str(caught.value)


def test_a_file_that_is_not_there_is_not_found() -> None:
    with pytest.raises(NotFoundError, match=r"nowhere\.eval"):
        open_logs("inspect://nowhere.eval")


def zip_of(name: str, packed: bytes, *, method: int, size: int, crc: int) -> bytes:
    """A zip with a stored header.json and one entry packed by any method."""
    header = json.dumps({"eval": {"task": "t"}, "status": "success"}).encode()
    body = b""
    directory = b""
    for entry, data, kind, length, check in (
        ("header.json", header, 0, len(header), zlib.crc32(header)),
        (name, packed, method, size, crc),
    ):
        fields = struct.pack("<5H3L2H", 20, 0, kind, 0, 33, check, len(data), length, len(entry), 0)
        directory += b"PK\x01\x02" + struct.pack("<H", 20) + fields + struct.pack("<3H2L", 0, 0, 0, 0, len(body))
        directory += entry.encode()
        body += b"PK\x03\x04" + fields + entry.encode() + data
    end = b"PK\x05\x06" + struct.pack("<4H2LH", 0, 0, 2, 2, len(directory), len(body), 0)
    return body + directory + end
