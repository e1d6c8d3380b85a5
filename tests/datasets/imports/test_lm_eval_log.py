"""Logs of lm-evaluation-harness: filters, multiple choice, metrics of the whole, and older files."""

import json
from pathlib import Path

import pytest

from evalsi.core.content import text_of
from evalsi.core.errors import InvalidDataError, UnknownNameError
from evalsi.datasets import DatasetOptions, open_dataset
from evalsi.datasets.imports import ImportedSample, open_logs

FOLDER = Path(__file__).parent / "logs" / "lm-eval"


def samples_of(address: str) -> dict[str, ImportedSample]:
    (log,) = open_logs(address)
    return {sample.record.id: sample for sample in log.read_samples() if isinstance(sample, ImportedSample)}


def test_every_task_of_a_folder_is_a_run_of_its_own() -> None:
    logs = open_logs(f"lm-eval://{FOLDER}")
    assert [log.label for log in logs] == ["capitals", "choices"]
    assert {log.tool_version for log in logs} == {"0.4.13"}
    assert all(log.manifest.labels["model"] for log in logs)
    assert all(log.manifest.started_at is not None for log in logs)


def test_the_lines_of_several_filters_are_one_record_with_an_output_per_filter() -> None:
    sample = samples_of(f"lm-eval://{FOLDER}#capitals")["0"]
    assert text_of(sample.record.input) == "Q: Capital of France?\nA:"
    assert text_of(sample.record.output) == "lol"
    assert text_of(sample.record.reference) == "lol"
    assert sample.record.metadata["filtered"] == {"strict": "lol", "first-word": "lol"}
    (result,) = sample.results
    assert result.evaluator == "exact_match"
    assert {score.name: score.number for score in result.scores} == {"strict": 1.0, "first-word": 1.0}


def test_a_metric_that_only_the_whole_has_is_reported_and_not_scored() -> None:
    log = open_logs(f"lm-eval://{FOLDER}#capitals")[0]
    assert {(each.evaluator, each.output) for each in log.reported} >= {("bleu", "strict"), ("bleu", "first-word")}
    assert not any("stderr" in each.evaluator for each in log.reported)


def test_of_a_multiple_choice_the_likeliest_text_is_the_output_and_the_target_a_text_too() -> None:
    record = samples_of(f"lm-eval://{FOLDER}#choices")["0"].record
    assert text_of(record.reference) == "4"
    assert text_of(record.output) == "3"
    assert [choice["text"] for choice in record.metadata["choices"]] == ["3", "4"]
    assert record.metadata["question"] == "2+2="


def test_older_files_with_lists_for_arguments_read_alike(tmp_path: Path) -> None:
    line = {
        "doc_id": 3,
        "doc": {"q": "?"},
        "target": 0,
        "arguments": [["ctx", " yes"], ["ctx", " no"]],
        "resps": [[[-1.5, False]], [[-0.5, True]]],
        "filtered_resps": [[-1.5, False], [-0.5, True]],
        "acc": 0.0,
    }
    path = tmp_path / "samples_old.jsonl"
    path.write_text(json.dumps(line) + "\n")
    sample = samples_of(f"lm-eval://{path}")["3"]
    assert text_of(sample.record.output) == "no"
    assert text_of(sample.record.reference) == "yes"
    assert [result.evaluator for result in sample.results] == ["acc"]


def test_a_broken_line_is_named_by_file_and_line(tmp_path: Path) -> None:
    (whole,) = FOLDER.glob("samples_choices*.jsonl")
    path = tmp_path / whole.name
    path.write_bytes(whole.read_bytes() + b'{"doc_id": 7, "doc": {\n')
    with pytest.raises(InvalidDataError, match=r"\.jsonl:3: not JSON"):
        open_dataset(f"lm-eval://{path}").scan()
    left = open_dataset(f"lm-eval://{path}", options=DatasetOptions(on_invalid="skip"))
    assert len(list(left.records())) == 2


def test_a_value_that_is_nan_is_an_error_and_no_score(tmp_path: Path) -> None:
    path = tmp_path / "samples_t.jsonl"
    path.write_text(
        '{"doc_id": 0, "doc": {"x": NaN}, "target": "a", "resps": [["b"]], "metrics": ["acc"], "acc": NaN}\n'
    )
    sample = samples_of(f"lm-eval://{path}")["0"]
    assert sample.results[0].error_kind.value == "not_finite"
    assert sample.record.metadata["x"] == "nan"


def test_a_task_that_is_not_there_is_answered_with_the_nearest() -> None:
    with pytest.raises(UnknownNameError, match="did you mean 'choices'"):
        open_logs(f"lm-eval://{FOLDER}#choises")


def test_a_file_of_something_else_is_refused_with_what_to_name(tmp_path: Path) -> None:
    path = tmp_path / "answers.jsonl"
    path.write_text('{"input": "a"}\n')
    with pytest.raises(InvalidDataError, match="no doc_id; name samples_"):
        open_logs(f"lm-eval://{path}")
