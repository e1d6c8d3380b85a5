"""`evalsi rewards` as people call it."""

import json
from pathlib import Path

import pytest

from tests.command_line import evalsi

SPEC = "components:\n  - ref: math-equiv\n    weight: 1\nonError: mask\n"
DATA = [
    {"id": "a", "input": "1+1", "output": "\\boxed{2}", "reference": "2", "step": 0, "heldout": 1},
    {"id": "b", "input": "1+1", "output": "\\boxed{3}", "reference": "2", "step": 1, "heldout": 0},
    {"id": "c", "input": "?", "output": "\\boxed{3}", "reference": "\\int", "step": 1, "heldout": 0},
]


def folder_of(tmp_path: Path) -> Path:
    (tmp_path / "reward.yaml").write_text(SPEC)
    (tmp_path / "rollouts.jsonl").write_text("".join(json.dumps(row) + "\n" for row in DATA))
    return tmp_path


def test_rewards_are_json_lines_in_the_order_of_the_data(tmp_path: Path) -> None:
    ran = evalsi("rewards", "score", "--spec", "reward.yaml", "--data", "rollouts.jsonl", cwd=folder_of(tmp_path))
    rows = [json.loads(line) for line in ran.out.splitlines()]
    assert [(row["rollout_id"], row.get("total")) for row in rows] == [("a", 1.0), ("b", 0.0), ("c", None)]
    assert rows[2]["components"]["math-equiv"]["status"] == "skipped"
    no_interval = "no interval: one cluster shows no spread between clusters, so no interval"
    assert (
        f"3 rollouts: mean 0.500 of n=2 in 1 cluster ({no_interval}), 0 stopped by a gate, 1 without a reward"
        in ran.err
    )


def test_the_means_are_printed_with_their_intervals_where_the_rewards_go_to_a_file(tmp_path: Path) -> None:
    folder = folder_of(tmp_path)
    rows = [row | {"id": f"{row['id']}{copy}", "input": f"{row['input']} {copy}"} for row in DATA for copy in range(4)]
    (folder / "rollouts.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    scoring = ("rewards", "score", "--spec", "reward.yaml", "--data", "rollouts.jsonl")
    ran = evalsi(*scoring, "--output", "r.jsonl", "--format", "json", "--confidence", "0.9", cwd=folder)
    whole, part = json.loads(ran.out)
    assert (whole["metric"], whole["n"], whole["mean"], whole["skipped"], whole["clusters"]) == ("reward", 8, 0.5, 4, 4)
    assert (part["metric"], part["n"], part["ci"]["level"]) == ("math-equiv", 8, 0.9)
    shown = evalsi(*scoring, "--output", "r.jsonl", cwd=folder)
    assert "95% CI" in shown.out and "12 rollouts: mean 0.500 [" in shown.err and "of n=8 in 4 clusters" in shown.err
    nowhere = evalsi(*scoring, "--format", "json", cwd=folder)
    assert (nowhere.status, "--output" in nowhere.err) == (2, True)


def test_a_wrong_spec_is_one_sentence_with_its_place(tmp_path: Path) -> None:
    (folder_of(tmp_path) / "reward.yaml").write_text("components:\n  - ref: math-equi\n")
    ran = evalsi("rewards", "score", "--spec", "reward.yaml", "--data", "rollouts.jsonl", cwd=tmp_path)
    assert ran.status == 2
    assert "reward.yaml:2:10" in ran.err
    assert "math-equiv" in ran.err


def test_a_spec_that_is_not_there_names_the_file_that_is_near(tmp_path: Path) -> None:
    ran = evalsi("rewards", "score", "--spec", "rewrd.yaml", "--data", "rollouts.jsonl", cwd=folder_of(tmp_path))
    assert ran.status == 1
    assert ran.err == "error: there is no file 'rewrd.yaml'; did you mean 'reward.yaml'?\n"


def test_a_diagnosis_says_why_it_cannot_tell(tmp_path: Path) -> None:
    folder = folder_of(tmp_path)
    evalsi("rewards", "score", "--spec", "reward.yaml", "--data", "rollouts.jsonl", "--output", "r.jsonl", cwd=folder)
    ran = evalsi(
        "rewards", "diagnose", "--data", "rollouts.jsonl", "--rewards", "r.jsonl", "--format", "json", cwd=folder
    )
    signs = {sign["name"]: sign for sign in json.loads(ran.out)}
    assert signs["heldout-shortfall"]["estimate"]["value"] is None
    assert "8 rollouts" in signs["heldout-shortfall"]["estimate"]["reason"]
    again = evalsi(
        "rewards", "diagnose", "--data", "rollouts.jsonl", "--rewards", "r.jsonl", "--step", "stpe", cwd=folder
    )
    assert again.status == 2
    assert "did you mean 'step'" in again.err


def test_who_brings_other_columns_is_told_which_one_is_missing(tmp_path: Path) -> None:
    rows = [{"question": "1+1", "answer": "2", "expected": "2"}] * 2
    (folder_of(tmp_path) / "rollouts.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    ran = evalsi("rewards", "score", "--spec", "reward.yaml", "--data", "rollouts.jsonl", cwd=tmp_path)
    assert ran.status == 1
    assert "most often math-equiv: the record has no output (2 of 2)" in ran.err
    assert "its columns are question, answer, expected, name the right one: --map output=answer" in ran.err
    assert "in `components`" in ran.err
    mapped = ("--map", "output=answer", "--map", "reference=expected")
    scored = evalsi("rewards", "score", "--spec", "reward.yaml", "--data", "rollouts.jsonl", *mapped, cwd=tmp_path)
    assert (scored.status, "2 rollouts: mean 1.000 [0.158, 1.000] at 95%, of n=2" in scored.err) == (0, True), (
        scored.err
    )


def test_a_diagnosis_takes_columns_of_other_names(tmp_path: Path) -> None:
    folder = folder_of(tmp_path)
    rollouts = ("--data", "rollouts.jsonl")
    evalsi("rewards", "score", "--spec", "reward.yaml", *rollouts, "--output", "r.jsonl", cwd=folder)
    wanted = evalsi("rewards", "diagnose", *rollouts, "--rewards", "r.jsonl", "--format", "json", cwd=folder)
    text = (folder / "rollouts.jsonl").read_text()
    (folder / "rollouts.jsonl").write_text(text.replace('"output"', '"completion"'))
    given = ("--rewards", "r.jsonl", "--map", "output=completion", "--format", "json")
    assert evalsi("rewards", "diagnose", *rollouts, *given, cwd=folder) == wanted


def test_a_judge_whose_key_is_not_there_is_told_where_it_is_named(tmp_path: Path) -> None:
    (folder_of(tmp_path) / "reward.yaml").write_text("components: [faithfulness]\njudge: anthropic/m\n")
    ran = evalsi("rewards", "score", "--spec", "reward.yaml", "--data", "rollouts.jsonl", cwd=tmp_path)
    assert ran.status == 2
    assert "reward.yaml:2:8: judge: the environment variable ANTHROPIC_API_KEY is not set" in ran.err
    (tmp_path / "reward.yaml").write_text(
        "kind: RewardSpec\napiVersion: evals.si/v1alpha1\nspec:\n  components: [faithfulness]\n  judge: m\n"
    )
    ran = evalsi("rewards", "score", "--spec", "reward.yaml", "--data", "rollouts.jsonl", cwd=tmp_path)
    assert (ran.status, "reward.yaml:5:10: judge: 'm' names no judge here" in ran.err) == (2, True), ran.err


@pytest.mark.parametrize("key", ["dok", "input", "id"])
def test_a_key_to_cluster_by_that_no_rollout_has_is_refused(tmp_path: Path, key: str) -> None:
    folder = folder_of(tmp_path)
    ended = evalsi(
        "rewards", "score", "--spec", "reward.yaml", "--data", "rollouts.jsonl", "--cluster-by", key, cwd=folder
    )
    assert (ended.status, ended.out) == (2, "")
    assert f"to cluster by {key!r}" in ended.err
