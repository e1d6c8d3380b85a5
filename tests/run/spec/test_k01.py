"""Case K01: seventeen mistakes in YAML, each named with its place before anything is asked."""

import json
import time
from pathlib import Path

import pytest

from evalsi.core.errors import InvalidSpecError
from evalsi.run.spec import read_run_spec
from tests.case_files import CASES, case

SPECS = json.loads((CASES / "files" / "K01_specs.json").read_text(encoding="utf-8"))
SAID = {
    "tab": ["tab used for indentation, line 4"],
    "norway": [
        'labels must be text: metadata.labels.country is no, which reads as false; put it in quotes: "no"',
        'labels must be text: metadata.labels.on is yes, which reads as true; put it in quotes: "yes"',
        'labels must be text: metadata.labels.ver is 1.10, which reads as 1.1; put it in quotes: "1.10"',
    ],
    "duplicate key": [":6:3: duplicate key trials, line 6"],
    "typo": [":5:3: unknown field spec.evaluatrs; did you mean evaluators?"],
    "percent threshold": [":6:34: spec.gates[0]: min 90 can never pass for a 0..1 metric", "did you mean 0.9?"],
    "unknown metric gate": [":7:16: ", "no evaluator makes the metric 'exact_match'; did you mean 'exact-match'?"],
    "bad name": [":3:18: metadata.name must be a DNS label", "not 'My Run_1'; for example 'my-run-1'"],
    "version": [":1:13: unknown apiVersion 'evals.si/v2'; known: evals.si/v1alpha1"],
    "kind case": [":2:7: unknown kind 'evalrun'; did you mean 'EvalRun'?"],
    "trials type": [":4:16: spec.trials must be an integer, not the text 'three'"],
    "trials zero": [":4:16: spec.trials must be at least 1, not 0"],
    "null list": [":5:3: spec.evaluators is empty; nothing would be scored"],
    "python tag": [":2:7: ", "tags that build objects are refused, nothing is executed"],
    "alias bomb": ["aliases stand for more than 10000 values; refused"],
    "two documents": [":5:1: the file holds more than one document; put each run into a file of its own"],
    "empty file": ["the file is empty"],
    "bom": ["spec is missing"],
}


def test_every_row_of_the_case_is_looked_at() -> None:
    names = [row["name"] for row in SPECS]
    assert names == [row["name"] for row in case("K01")["expected"]["rows"]]
    assert set(SAID) == set(names)


@pytest.mark.parametrize("row", SPECS, ids=[row["name"] for row in SPECS])
def test_a_mistake_is_refused_with_its_place_and_status_2(row: dict[str, str], tmp_path: Path) -> None:
    path = tmp_path / "run.yaml"
    path.write_bytes(row["yaml"].encode())
    began = time.process_time()
    with pytest.raises(InvalidSpecError) as caught:
        read_run_spec(path)
    assert time.process_time() - began < 1.0
    assert caught.value.exit_status == 2
    for words in SAID[row["name"]]:
        assert words in str(caught.value)
    assert all((problem.where or "").startswith(str(path)) for problem in caught.value.problems)
