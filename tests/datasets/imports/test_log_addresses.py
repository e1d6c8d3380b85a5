"""Addresses of logs, logs as datasets, and the steps made of conversations."""

import json
import shutil
from pathlib import Path

import pytest

import evalsi
from evalsi.core.content import text_of
from evalsi.core.errors import DuplicateIdError, InvalidDataError, UnknownNameError
from evalsi.datasets import DatasetOptions, open_dataset
from evalsi.datasets.imports import SCHEMES, is_log_address, open_logs
from evalsi.datasets.imports.agent_steps import steps_of
from evalsi.schema import Message, StepType, ToolCall
from tests.case_files import CASES

LOGS = Path(__file__).parent / "logs"


def test_the_tools_are_those_the_guide_names() -> None:
    assert SCHEMES == ("inspect", "lm-eval", "promptfoo", "deepeval", "openai-evals", "otlp", "atif")
    guide = (Path(__file__).parents[3] / "docs" / "guides" / "import.md").read_text()
    assert all(f"{scheme}://" in guide for scheme in SCHEMES)


def test_an_address_of_the_web_is_still_refused() -> None:
    assert not is_log_address("https://example.org/log.eval")
    with pytest.raises(InvalidDataError, match="not fetched"):
        open_dataset("https://example.org/log.eval")


def test_a_tool_that_is_not_known_is_answered_with_the_nearest() -> None:
    with pytest.raises(UnknownNameError, match="did you mean 'inspect'"):
        open_logs("inspct://log.eval")


def test_a_folder_gives_all_logs_below_it_and_ids_that_differ(tmp_path: Path) -> None:
    (tmp_path / "deep").mkdir()
    shutil.copy(LOGS / "capitals_deflate.eval", tmp_path / "deep" / "one.eval")
    shutil.copy(LOGS / "capitals_deflate.eval", tmp_path / "two.eval")
    shutil.copy(CASES / "files" / "P01_tiny_sums.json", tmp_path)
    (tmp_path / "notes.json").write_text('{"no": "log"}')
    labels = [log.label for log in open_logs(f"inspect://{tmp_path}")]
    assert labels == ["tiny_sums", "capitals one", "capitals two"]
    ids = {record.id for record in open_dataset(f"inspect://{tmp_path}")}
    assert {"tiny_sums/s1", "capitals one/1", "capitals two/1"} <= ids


@pytest.mark.parametrize("scheme", SCHEMES)
def test_a_results_file_of_ours_is_told_as_what_it_is(tmp_path: Path, scheme: str) -> None:
    run = evalsi.evaluate(data=[{"id": "a", "output": "x", "reference": "x"}], evaluators=["exact-match"])
    for name in ("r.json", "r.jsonl", "r.csv"):
        run.save(tmp_path / name)
        with pytest.raises(InvalidDataError) as caught:
            open_logs(f"{scheme}://{tmp_path / name}")
        kind = "results file of evalsi" if name == "r.json" else "table of results that evalsi wrote"
        assert str(caught.value).startswith(f"{tmp_path / name}: this is a {kind}, no log of {scheme}; name "), name
        assert ("without" if name == "r.json" else "--output FILE.json") in str(caught.value)
    assert [record.id for record in open_dataset(tmp_path / "r.json")] == ["a"]


def test_results_of_another_writer_of_the_interface_are_told_too(tmp_path: Path) -> None:
    (tmp_path / "r.json").write_text('{\n  "apiVersion": "evals.si/v1alpha1",\n  "results": [{"recordId": "a"}]\n}')
    with pytest.raises(InvalidDataError, match="a results file of evalsi"):
        open_logs(f"promptfoo://{tmp_path / 'r.json'}")


@pytest.mark.parametrize(
    ("scheme", "file", "meant"),
    [
        ("promptfoo", "deepeval.json", "deepeval"),
        ("promptfoo", "openai_evals.jsonl", "openai-evals"),
        ("deepeval", "promptfoo.json", "promptfoo"),
        ("inspect", "promptfoo.jsonl", "promptfoo"),
    ],
)
def test_the_log_of_another_tool_is_told_as_that_of_the_other(scheme: str, file: str, meant: str) -> None:
    with pytest.raises(InvalidDataError, match=f"it looks like a log of {meant}, so name it as {meant}://"):
        open_logs(f"{scheme}://{LOGS / file}")


def test_rows_that_say_nothing_of_a_test_are_no_results_of_promptfoo(tmp_path: Path) -> None:
    (tmp_path / "r.json").write_text('{"results": [{"id": "a", "score": 1}]}')
    with pytest.raises(InvalidDataError, match=r"results\[0\]: is no result of promptfoo"):
        open_logs(f"promptfoo://{tmp_path / 'r.json'}")


def test_a_folder_without_logs_says_so(tmp_path: Path) -> None:
    with pytest.raises(InvalidDataError, match="holds no log of promptfoo"):
        open_logs(f"promptfoo://{tmp_path}")


def test_one_log_of_a_folder_is_chosen_by_its_label() -> None:
    records = list(open_dataset(f"lm-eval://{LOGS / 'lm-eval'}#choices"))
    assert [record.id for record in records] == ["0", "1"]


def test_trials_of_one_case_keep_its_id_in_a_dataset() -> None:
    dataset = open_dataset(f"inspect://{LOGS / 'weather.eval'}")
    records = list(dataset)
    assert dataset.scan().has_trials
    assert [record.id for record in records].count("berlin") == 2
    assert [record.provenance.run.trial for record in records if record.id == "berlin"] == [0, 1]  # pyright: ignore[reportOptionalMemberAccess]
    assert records == list(dataset)


def test_two_rows_of_the_same_trial_are_still_doubles(tmp_path: Path) -> None:
    row = {"id": "a", "input": "x", "provenance": {"run": {"trial": 1}}}
    path = tmp_path / "rows.jsonl"
    path.write_text(json.dumps(row) + "\n" + json.dumps(row | {"input": "y"}) + "\n")
    with pytest.raises(DuplicateIdError, match="id 'a' of trial 1 is used 2 times"):
        open_dataset(path).scan()


def test_a_condition_a_limit_and_a_mapping_work_on_logs() -> None:
    address = f"inspect://{LOGS / 'weather.eval'}"
    cities = open_dataset(address, options=DatasetOptions(where='has(metadata.topic) && metadata.topic == "city"'))
    assert {record.id for record in cities} == {"berlin"}
    assert len(list(open_dataset(address, options=DatasetOptions(limit=3)))) == 3


def test_results_are_joined_to_calls_by_id_in_any_order() -> None:
    calls = [ToolCall(id="a", name="f", arguments='{"x": 1}'), ToolCall(id="b", name="g", arguments="not json")]
    messages = [
        Message(role="user", content="go"),
        Message(role="assistant", tool_calls=calls),
        Message(role="tool", tool_call_id="b", content="of b"),
        Message(role="tool", tool_call_id="a", content="of a"),
        Message(role="tool", tool_call_id="a", content="again"),
        Message(role="tool", tool_call_id="c", content="of nobody", name="h"),
    ]
    steps = steps_of(messages, {"b": "too late"})
    tools = [step for step in steps if step.type is StepType.TOOL]
    assert [(step.name, text_of(step.output), step.error) for step in tools] == [
        ("f", "of a", ""),
        ("g", "of b", "too late"),
        ("h", "of nobody", ""),
    ]
    assert tools[1].input is not None
    assert tools[1].input.json == "not json"
    assert len({step.span_id for step in steps}) == len(steps)


def test_calls_without_an_id_get_no_result_of_another() -> None:
    messages = [
        Message(role="assistant", tool_calls=[ToolCall(name="f"), ToolCall(name="g")]),
        Message(role="tool", content="of one of them"),
    ]
    tools = [step for step in steps_of(messages) if step.type is StepType.TOOL]
    assert [text_of(step.output) for step in tools] == ["", "", "of one of them"]
