"""Faults that were seen in a comparable tool, each as a test that they are not here."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.command_line import Ended, write_jsonl

Cli = Callable[..., Ended]


def graded(cli: Cli, folder: Path, rows: list[dict[str, Any]], evaluators: str, *flags: str) -> dict[str, Any]:
    write_jsonl(folder / "rows.jsonl", rows)
    ended = cli("eval", "--data", "rows.jsonl", "--evaluators", evaluators, "--format", "json", "--output", "r.json", *flags)  # fmt: skip
    assert ended.status in (0, 1), ended.err
    return json.loads((folder / "r.json").read_text())


def value(document: dict[str, Any], row: int = 0) -> Any:
    (score,) = document["results"][row].get("scores", [{}])
    return score.get("passed", score.get("number"))


def test_5_errors_are_in_no_mean(cli: Cli, folder: Path) -> None:
    (folder / "checks.py").write_text(
        "def it(record):\n    if record.id == 'r1':\n        raise OSError('down')\n    return True\n"
    )
    rows = [{"id": f"r{i}", "output": "x"} for i in range(3)]
    (summary,) = graded(cli, folder, rows, "./checks.py:it")["summaries"]
    assert (summary["n"], summary["mean"], summary["errors"]) == (2, 1.0, 1)


@pytest.mark.parametrize("n", [1, 2, 3, 10])
@pytest.mark.parametrize("flags", [(), ("--cluster-by", "task"), ("--ci", "bootstrap")])
def test_6_no_interval_is_without_width(cli: Cli, folder: Path, n: int, flags: tuple[str, ...]) -> None:
    rows = [{"id": f"r{i}", "output": "x", "reference": "x", "task": i % 2} for i in range(n)]
    for summary in graded(cli, folder, rows, "exact-match,token-f1", *flags)["summaries"]:
        interval = summary.get("ci")
        assert interval is None or interval["low"] < interval["high"]


def test_7_a_bound_of_exactly_zero_is_printed(cli: Cli, folder: Path) -> None:
    rows = [{"id": "a", "output": "x", "reference": "y"}]
    (summary,) = graded(cli, folder, rows, "exact-match")["summaries"]
    assert summary["mean"] == 0
    assert summary["ci"]["low"] == 0
    assert summary["errors"] == summary["skipped"] == 0
    shown = json.loads(cli("runs", "show", "--format", "json").out)[0]
    assert shown["ci"]["low"] == 0
    assert shown["skipped"] == 0
    compared = json.loads(cli("compare", "latest", "latest", "--format", "json").out)
    assert {"low", "high"} <= compared["metrics"][0]["interval"].keys()


@pytest.mark.parametrize(
    ("arguments", "status"),
    [
        (("eval", "--data", "missing.jsonl", "--evaluators", "exact-match"), 1),
        (("report", "missing.json", "-o", "x.html"), 1),
        (("compare", "missing.json", "also-missing.json"), 1),
        (("runs", "show", "broken.json"), 2),
        (("eval", "--data", ".", "--evaluators", "exact-match"), 2),
    ],
)
def test_13_a_mistake_is_no_traceback(cli: Cli, folder: Path, arguments: tuple[str, ...], status: int) -> None:
    (folder / "data.jsonl").unlink()
    (folder / "broken.json").write_text("{")
    ended = cli(*arguments)
    assert ended.status == status, ended.err
    assert ended.err.startswith("error: ")


@pytest.mark.parametrize(
    ("evaluators", "row", "flags", "expected"),
    [
        ("json-valid", {"output": "NaN"}, (), False),
        ("json-valid", {"output": '{"a": 1, "a": 2}'}, (), False),
        ("exact-match", {"output": "e\u0301", "reference": "\u00e9"}, (), True),
        ("contains", {"output": "x", "reference": ""}, (), None),
        ("numeric-match", {"output": "the answer is 7 (see page 12)", "reference": "7"}, (), True),
        ("numeric-match", {"output": "\u22125", "reference": "-5"}, (), True),
        ("refusal", {"output": "Sorry, but as an AI I am unable to help with that."}, (), True),
    ],
)
def test_15_details_of_single_evaluators_are_right(
    cli: Cli, folder: Path, evaluators: str, row: dict[str, Any], flags: tuple[str, ...], expected: bool | None
) -> None:
    document = graded(cli, folder, [{"id": "a", **row}], evaluators, *flags)
    assert value(document) == expected or value(document) == (None if expected is None else float(expected))


def test_15_params_are_checked_before_anything_runs(cli: Cli) -> None:
    for flag in ("exact-match.normalize=maybe", "regex-match.pattern=(("):
        name = flag.partition(".")[0]
        assert cli("eval", "--data", "data.jsonl", "--evaluators", name, "--param", flag).status == 2


def test_17_a_byte_order_mark_csv_and_a_mistyped_column(cli: Cli, folder: Path) -> None:
    (folder / "bom.jsonl").write_bytes(b'\xef\xbb\xbf{"id":"a","output":"x","reference":"x"}\r\n')
    (folder / "t.csv").write_text("id,answer,gold\na,x,x\n")
    assert cli("eval", "--data", "bom.jsonl", "--evaluators", "exact-match").status == 0
    mapped = ("--map", "output=answer", "--map", "reference=gold")
    assert cli("eval", "--data", "t.csv", "--evaluators", "exact-match", *mapped).status == 0
    wrong = cli("eval", "--data", "t.csv", "--evaluators", "exact-match", "--map", "output=anwser")
    assert wrong.status == 2
    assert "did you mean 'answer'" in wrong.err


def test_18_everything_skipped_is_no_success(cli: Cli, folder: Path) -> None:
    write_jsonl(folder / "bare.jsonl", [{"id": "a"}])
    assert cli("eval", "--data", "bare.jsonl", "--evaluators", "exact-match").status == 1
