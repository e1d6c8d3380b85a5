"""Test runs of DeepEval: metrics with thresholds, errors, tools, conversations."""

import json
from pathlib import Path
from typing import Any

import pytest

from evalsi.core.content import text_of
from evalsi.core.errors import InvalidDataError
from evalsi.datasets.imports import ImportedLog, ImportedSample, open_logs
from evalsi.schema import Fault, Outcome

RUN = Path(__file__).parent / "logs" / "deepeval.json"


def opened(path: Path) -> tuple[ImportedLog, list[ImportedSample]]:
    (log,) = open_logs(f"deepeval://{path}")
    return log, [sample for sample in log.read_samples() if isinstance(sample, ImportedSample)]


def saved(tmp_path: Path, content: dict[str, Any]) -> Path:
    path = tmp_path / "run.json"
    path.write_text(json.dumps(content))
    return path


def test_a_case_has_its_texts_passages_tools_cost_and_time() -> None:
    log, samples = opened(RUN)
    assert log.manifest.name == "capitals"
    record = samples[0].record
    assert (record.id, text_of(record.input), text_of(record.output)) == ("france", "Capital of France?", "Paris")
    assert [text_of(passage) for passage in record.context] == ["Paris is the capital of France."]
    assert record.trajectory is not None
    (tool,) = record.trajectory.steps
    assert (tool.name, text_of(tool.output)) == ("lookup", "Paris")
    assert record.usage is not None
    assert (record.usage.cost_usd, record.usage.latency) == (0.002, 0.4)
    assert record.metadata == {"level": "easy", "tags": ["geo"]}


def test_a_metric_is_its_score_with_the_reason_and_whether_it_met_the_threshold() -> None:
    _, samples = opened(RUN)
    brevity = samples[1].results[0]
    assert brevity.evaluator == "Brevity"
    score, passed = brevity.scores
    assert score.number == pytest.approx(1 / 3)
    assert score.explanation == "3 words"
    assert (passed.name, passed.passed) == ("passed", False)


def test_a_metric_that_failed_is_an_error_and_no_score() -> None:
    _, samples = opened(RUN)
    broken = samples[2].results[0]
    assert (broken.outcome, broken.fault, broken.reason) == (
        Outcome.ERROR,
        Fault.EVALUATOR,
        "RuntimeError: the ruler is lost",
    )


def test_a_metric_of_a_model_that_failed_is_the_judge_s_fault(tmp_path: Path) -> None:
    metric = {"name": "Bias", "error": "no JSON", "evaluationModel": "gpt-4.1", "evaluationCost": 0.01}
    _, samples = opened(saved(tmp_path, {"testCases": [{"name": "a", "metricsData": [metric]}]}))
    (result,) = samples[0].results
    assert result.fault is Fault.JUDGE
    assert result.usage is not None
    assert result.usage.cost_usd == 0.01


def test_a_metric_that_passes_below_its_threshold_is_better_when_lower(tmp_path: Path) -> None:
    metrics = [{"name": "Toxicity", "score": 0.1, "threshold": 0.5, "success": True}]
    log, _ = opened(saved(tmp_path, {"testCases": [{"name": "a", "metricsData": metrics}]}))
    assert log.higher_is_better == {"Toxicity": False}


def test_a_conversation_is_messages_and_its_last_answer_the_output(tmp_path: Path) -> None:
    turns = [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello"}]
    content = {"testRunData": {"testCases": [], "conversationalTestCases": [{"name": "c", "turns": turns}]}}
    _, samples = opened(saved(tmp_path, content))
    record = samples[0].record
    assert record.input is not None
    assert record.input.messages is not None
    assert [message.role for message in record.input.messages.messages] == ["user", "assistant"]
    assert text_of(record.output) == "Hello"


def test_cases_with_one_name_are_trials(tmp_path: Path) -> None:
    _, samples = opened(saved(tmp_path, {"testCases": [{"name": "a"}, {"name": "a"}]}))
    assert samples[1].record.provenance is not None
    assert samples[1].record.provenance.run is not None
    assert samples[1].record.provenance.run.trial == 1


@pytest.mark.parametrize("content", ["{}", '{"testCases": []}', "3", "null", '{"testCases": {"a": 1}}'])
def test_a_file_without_test_cases_is_refused(tmp_path: Path, content: str) -> None:
    path = tmp_path / "odd.json"
    path.write_text(content)
    with pytest.raises(InvalidDataError, match=r"odd\.json: "):
        open_logs(f"deepeval://{path}")
