"""Record files of OpenAI evals: events gathered by sample, in the order of the samples."""

import json
from pathlib import Path
from typing import Any

import pytest

from evalsi.core.content import text_of
from evalsi.core.errors import InvalidDataError
from evalsi.datasets import open_dataset
from evalsi.datasets.imports import ImportedSample, open_logs
from evalsi.schema import Outcome, RunStatus

RECORD = Path(__file__).parent / "logs" / "openai_evals.jsonl"


def samples_of(path: Path) -> list[ImportedSample]:
    (log,) = open_logs(f"openai-evals://{path}")
    return [sample for sample in log.read_samples() if isinstance(sample, ImportedSample)]


def event(sample: str, kind: str, data: Any) -> str:
    return json.dumps({"run_id": "r", "event_id": 0, "sample_id": sample, "type": kind, "data": data}) + "\n"


def test_events_are_gathered_by_sample_in_the_order_of_the_samples() -> None:
    samples = samples_of(RECORD)
    assert [sample.record.id for sample in samples] == ["capitals.dev.0", "capitals.dev.1", "capitals.dev.2"]
    peru = samples[1]
    assert text_of(peru.record.output) == "Lima is it"
    assert peru.record.reference is not None
    assert peru.record.reference.json == ["Lima", "lima"]
    assert peru.record.usage is not None
    assert peru.record.usage.input_tokens == 9
    assert [sample.results[0].scores[0].passed for sample in samples] == [True, True, False]


def test_the_log_says_eval_model_time_and_the_reported_accuracy() -> None:
    (log,) = open_logs(f"openai-evals://{RECORD}")
    assert log.manifest.name == "capitals.dev.v0"
    assert log.manifest.labels == {"model": "parrot"}
    assert log.manifest.status is RunStatus.SUCCEEDED
    assert log.reported[0].mean == pytest.approx(2 / 3)


def test_sample_ten_comes_after_sample_nine(tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl"
    path.write_text("".join(event(f"e.dev.{n}", "match", {"correct": True}) for n in (10, 9, 1)))
    assert [sample.record.id for sample in samples_of(path)] == ["e.dev.1", "e.dev.9", "e.dev.10"]


def test_metrics_are_scorers_by_their_names_and_several_matches_a_share(tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl"
    path.write_text(
        event("a", "match", {"correct": True})
        + event("a", "match", {"correct": False})
        + event("a", "metrics", {"f1": 0.25, "choice": "B", "nothing": None})
    )
    (sample,) = samples_of(path)
    found = {result.evaluator: result.scores[0] for result in sample.results}
    assert (found["match"].number, found["f1"].number, found["choice"].label) == (0.5, 0.25, "B")


def test_a_run_without_a_report_was_stopped_and_an_error_event_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl"
    path.write_text('{"spec": {"eval_name": "e"}}\n' + event("a", "error", {"type": "x", "message": "timed out"}))
    (log,) = open_logs(f"openai-evals://{path}")
    assert log.manifest.status is RunStatus.CANCELLED
    (sample,) = samples_of(path)
    assert (sample.otherwise.outcome, sample.otherwise.reason) == (Outcome.ERROR, "timed out")


def test_a_line_that_was_cut_off_is_named(tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl"
    path.write_bytes(RECORD.read_bytes()[:-40])
    with pytest.raises(InvalidDataError, match=r"r\.jsonl:8: not JSON"):
        open_dataset(f"openai-evals://{path}").scan()


def test_a_file_without_events_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl"
    path.write_text('{"a": 1}\n')
    with pytest.raises(InvalidDataError, match="no events"):
        open_logs(f"openai-evals://{path}")
