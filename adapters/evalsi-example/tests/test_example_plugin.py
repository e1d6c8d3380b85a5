"""The plugin as its users meet it: by name, through evalsi."""

import pytest
from evalsi_example.ends_politely import ends_politely

import evalsi
from evalsi.cli.app import run

ROWS = [
    {"id": "1", "output": "It is in the shed. Thank you for asking!"},
    {"id": "2", "output": "LOOK IT UP"},
    {"id": "3", "output": ""},
]


def test_the_evaluator_is_found_by_its_name_alone() -> None:
    summary = evalsi.evaluate(ROWS, "ends-politely")["ends-politely"]
    assert (summary.n, summary.mean, summary.skip_reasons) == (2, 0.5, {"the answer is empty": 1})


def test_the_evaluator_is_found_by_its_distribution_and_version() -> None:
    assert evalsi.evaluate(ROWS, "evalsi-example/ends-politely@1.0.0")["ends-politely"].n == 2


def test_params_of_the_plugin_are_checked_like_any() -> None:
    params = {"ends-politely": {"phrases": ["look it up"]}}
    assert evalsi.evaluate(ROWS, "ends-politely", params=params)["ends-politely"].mean == 0.5


def test_a_pack_brings_its_evaluators_under_its_name() -> None:
    result = evalsi.evaluate(ROWS, ["tone/exclamations", "tone/shouts"])
    assert (result["exclamations"].mean, result["shouts"].mean) == (1 / 3, 1 / 3)


def test_the_catalog_shows_the_plugin(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["catalog", "--pack", "tone", "--format", "json"]) == 0
    assert '"shouts"' in capsys.readouterr().out


def test_the_example_of_the_catalog_is_true() -> None:
    assert evalsi.evaluate([ends_politely.example["record"]], ends_politely)["ends-politely"].mean == 1.0
