"""Results of promptfoo: configurations, named scores, errors of providers and of assertions, repetitions."""

import json
from pathlib import Path
from typing import Any

import pytest

from evalsi.core.content import text_of
from evalsi.core.errors import InvalidDataError
from evalsi.datasets import open_dataset
from evalsi.datasets.imports import ImportedSample, open_logs
from evalsi.schema import Fault, Outcome

LOGS = Path(__file__).parent / "logs"
RESULTS = f"promptfoo://{LOGS / 'promptfoo.json'}"


def samples_of(address: str) -> list[ImportedSample]:
    (log,) = open_logs(address)
    return [sample for sample in log.read_samples() if isinstance(sample, ImportedSample)]


def scores_of(sample: ImportedSample) -> dict[str, Any]:
    return {
        result.evaluator: next(
            (value for score in result.scores[:1] for value in (score.passed, score.number) if value is not None),
            result.outcome,
        )
        for result in sample.results
    }


def changed(tmp_path: Path, change: Any) -> str:
    content = json.loads((LOGS / "promptfoo.json").read_text())
    change(content)
    path = tmp_path / "results.json"
    path.write_text(json.dumps(content))
    return f"promptfoo://{path}"


def test_every_provider_is_a_run_of_its_own_over_the_same_cases() -> None:
    atlas, parrot = open_logs(RESULTS)
    assert (atlas.label, parrot.label) == ("atlas", "parrot")
    assert atlas.manifest.name == "capitals · atlas"
    assert atlas.tool_version == "0.123.1"
    ids = [[sample.record.id for sample in samples_of(f"{RESULTS}#{label}")] for label in ("atlas", "parrot")]
    assert ids[0] == ids[1]
    assert len(ids[0]) == 3


def test_scores_are_the_test_s_its_named_metrics_and_unnamed_assertions() -> None:
    france, peru, _ = samples_of(f"{RESULTS}#parrot")
    assert scores_of(france) == {"success": False, "names-country": 1.0, "right": 0.0, "latency": True}
    assert scores_of(peru) == {"success": False, "right": 0.0, "length": 0.16}
    right = next(result for result in france.results if result.evaluator == "right")
    assert right.scores[0].explanation == 'Expected output to contain "Paris"'


def test_a_record_has_prompt_answer_variables_cost_and_latency() -> None:
    france = samples_of(f"{RESULTS}#atlas")[0].record
    assert text_of(france.input) == "Capital of France?"
    assert text_of(france.output) == "Paris, of course"
    assert france.metadata == {"topic": "europe", "vars": {"country": "France", "answer": "Paris"}}
    assert france.usage is not None
    assert (france.usage.input_tokens, france.usage.output_tokens, france.usage.cost_usd) == (12, 3, 0.0004)
    assert france.usage.latency is not None


def test_a_provider_that_failed_is_an_error_of_the_provider_and_no_low_score() -> None:
    chad = samples_of(f"{RESULTS}#atlas")[2]
    assert list(chad.results) == []
    assert (chad.otherwise.outcome, chad.otherwise.fault) == (Outcome.ERROR, Fault.PROVIDER)
    assert "503" in chad.otherwise.reason


def test_an_assertion_whose_code_crashed_is_an_error_of_the_evaluator(tmp_path: Path) -> None:
    def crash(content: dict[str, Any]) -> None:
        grading = content["results"]["results"][2]["gradingResult"]
        for part in grading["componentResults"]:
            if part["assertion"].get("metric") == "length":
                part |= {"reason": "Custom function threw error: no ruler\nStack Trace: …", "score": 0, "pass": False}

    address = changed(tmp_path, crash)
    peru = samples_of(f"{address}#parrot")[1]
    assert scores_of(peru) == {"success": Outcome.ERROR, "right": 0.0, "length": Outcome.ERROR}


def test_repetitions_of_a_test_are_trials_of_one_case() -> None:
    samples = samples_of(f"promptfoo://{LOGS / 'promptfoo_repeated.json'}#parrot")
    keys = [(sample.record.id, sample.record.provenance.run.trial) for sample in samples]  # pyright: ignore[reportOptionalMemberAccess]
    assert len(set(keys)) == 6
    assert {trial for _, trial in keys} == {0, 1}


def test_json_lines_hold_the_same_as_the_document() -> None:
    lines = samples_of(f"promptfoo://{LOGS / 'promptfoo.jsonl'}#atlas")
    document = samples_of(f"{RESULTS}#atlas")
    assert [sample.record.id for sample in lines] == [sample.record.id for sample in document]
    assert [scores_of(sample) for sample in lines] == [scores_of(sample) for sample in document]


def test_as_a_dataset_the_configurations_tell_equal_tests_apart() -> None:
    ids = [record.id for record in open_dataset(RESULTS)]
    assert len(ids) == 6
    assert {identifier.partition("/")[0] for identifier in ids} == {"atlas", "parrot"}


def test_a_chat_prompt_becomes_messages(tmp_path: Path) -> None:
    def chat(content: dict[str, Any]) -> None:
        content["results"]["results"][0]["prompt"]["raw"] = '[{"role": "user", "content": "Hi"}]'

    address = changed(tmp_path, chat)
    first = open_logs(address)[0]
    record = next(sample.record for sample in first.read_samples() if isinstance(sample, ImportedSample))
    assert record.input is not None
    assert record.input.messages is not None


@pytest.mark.parametrize("content", ["{}", "[]", '{"results": {"results": []}}', '{"results": {"results": 3}}'])
def test_a_file_without_results_is_refused(tmp_path: Path, content: str) -> None:
    path = tmp_path / "empty.json"
    path.write_text(content)
    with pytest.raises(InvalidDataError, match=r"empty\.json: "):
        open_logs(f"promptfoo://{path}")


@pytest.mark.parametrize("place", ["score", "gradingResult", "componentResults"])
def test_a_score_larger_than_any_number_is_no_score(tmp_path: Path, place: str) -> None:
    def change(content: dict[str, Any]) -> None:
        for result in content["results"]["results"]:
            grading = result["gradingResult"] or {}
            if place == "score":
                result["score"] = 10**400
            elif place == "gradingResult":
                result.pop("score", None)
                grading["score"] = 10**400
            for part in grading.get("componentResults") or []:
                if place == "componentResults":
                    part["score"] = 10**400

    address = changed(tmp_path, change)
    for log in open_logs(address):
        for sample in log.read_samples():
            assert isinstance(sample, ImportedSample)
            numbers = [score.number for result in sample.results for score in result.scores]
            assert all(number is None or abs(number) < 1e300 for number in numbers)
