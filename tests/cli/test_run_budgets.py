"""Budgets of a run: what is reached is said, the rest is CANCELLED, nothing goes on."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from evalsi.testing.stand_in_model import Behaviour, Question, Refused, Reply, StandInModel
from tests.cli.run_folder import asked, write_run
from tests.command_line import Ended, write_jsonl

Cli = Callable[..., Ended]
ROWS = 60
PRICED = {"input_per_mtok": 10_000.0, "output_per_mtok": 10_000.0}
"""One cent a token."""


def counted(question: Question) -> Reply:
    usage = {"prompt_tokens": 7, "completion_tokens": 3, "total_tokens": 10}
    return Reply(text=question.text.split()[-1], usage=usage)


@pytest.fixture
def model() -> Iterator[StandInModel]:
    with StandInModel(Behaviour(replies=counted, latency_s=0.002)) as running:
        yield running


def target(model: StandInModel, **changes: Any) -> dict[str, Any]:
    return {
        "connector": "openai-compatible",
        "model": "stand-in",
        "base_url": model.base_url,
        "max_concurrency": 2,
    } | changes


def summary(cli: Cli) -> dict[str, Any]:
    (found,) = json.loads(cli("runs", "show", "latest", "--format", "json").out)
    return found


def test_a_budget_of_target_tokens_stops_the_asking(cli: Cli, folder: Path, model: StandInModel) -> None:
    path = write_run(folder, right=ROWS, wrong=0, target=target(model), budget={"max_target_tokens": 200})
    ended = cli("run", "-f", str(path))
    assert ended.status == 1
    assert "the budget of 200 target tokens is used up" in ended.err
    found = summary(cli)
    assert 20 <= found["n"] <= 22, "only what was in flight is over"
    assert found["cancelled"] == ROWS - found["n"]
    assert (found["errors"], found["mean"]) == (0, 1.0)
    assert model.stats.requests == found["n"]


def test_a_budget_of_judge_tokens_stops_the_asking(cli: Cli, folder: Path, model: StandInModel) -> None:
    model.behaviour = Behaviour(replies=None, latency_s=0.002)
    judge = {"provider": "openai-compatible", "model": "judge", "base_url": model.base_url}
    path = write_run(
        folder,
        right=ROWS,
        wrong=0,
        evaluators=[{"ref": "correctness", "judge": "main"}],
        judges={"main": judge},
        judge="main",
        budget={"max_judge_tokens": 400},
    )
    ended = cli("run", "-f", str(path), "--no-cache", "--concurrency", "2")
    assert ended.status == 1, ended.err
    assert "the budget of 400 judge tokens is used up" in ended.err
    found = summary(cli)
    assert 0 < found["n"] < ROWS
    assert found["cancelled"] == ROWS - found["n"] > 0


def test_a_gate_on_a_judge_that_nobody_checked_is_warned_about_until_it_is_calibrated(
    cli: Cli, folder: Path, model: StandInModel
) -> None:
    model.behaviour = Behaviour(replies=None)
    judge = {"provider": "openai-compatible", "model": "judge", "base_url": model.base_url}
    path = write_run(
        folder,
        right=4,
        wrong=0,
        evaluators=[{"ref": "correctness", "judge": "main"}],
        judges={"main": judge},
        judge="main",
        gates=[{"metric": "correctness", "min": 0.0}],
    )

    def told() -> tuple[str, str]:
        """On the terminal and in the report."""
        ended = cli("run", "-f", str(path), "--no-resume", "--report", "report.md")
        return ended.err, (folder / "report.md").read_text()

    assert all("the judge behind correctness has never been calibrated" in each for each in told())
    labels = [{"record_id": f"r{n}", "annotator": "ann", "passed": True} for n in range(4)]
    write_jsonl(folder / "labels.jsonl", labels)
    kept = cli("judge", "calibrate", "latest", "--labels", "labels.jsonl", "--metric", "correctness", "--passing-from", "0.5")  # fmt: skip
    assert kept.status == 0, kept.err
    again = told()
    assert not any("never been calibrated" in each for each in again)
    assert all("correctness was calibrated on 4 cases only" in each for each in again)


def test_dollars_at_known_prices(cli: Cli, folder: Path, model: StandInModel) -> None:
    path = write_run(folder, right=ROWS, wrong=0, target=target(model, pricing=PRICED), budget={"max_usd": 1.0})
    ended = cli("run", "-f", str(path))
    assert ended.status == 1
    assert "the budget of $1 is used up" in ended.err
    assert 10 <= summary(cli)["n"] <= 12


@pytest.mark.parametrize("unpriced", [{}, {"pricing": {}}])
def test_dollars_at_an_unknown_price_are_refused_before_anything_is_asked(
    cli: Cli, folder: Path, model: StandInModel, unpriced: dict[str, Any]
) -> None:
    path = write_run(folder, target=target(model, **unpriced), budget={"max_usd": 1.0})
    ended = cli("run", "-f", str(path))
    assert ended.status == 2
    assert "the price of 'stand-in' is unknown" in ended.err
    assert "run.json:1:" in ended.err
    assert model.stats.requests == 0


def test_dollars_with_a_judge_of_unknown_price_are_refused_too(cli: Cli, folder: Path, model: StandInModel) -> None:
    judge = {"provider": "openai-compatible", "model": "judge", "base_url": model.base_url}
    path = write_run(
        folder,
        target=target(model, pricing=PRICED),
        evaluators=["correctness"],
        judges={"main": judge},
        judge="main",
        budget={"max_usd": 1.0},
    )
    ended = cli("run", "-f", str(path))
    assert ended.status == 2
    assert "the price of the judge 'judge' is unknown" in ended.err
    assert model.stats.requests == 0


def test_a_budget_of_wall_clock_stops_the_asking(cli: Cli, folder: Path, model: StandInModel) -> None:
    model.behaviour = Behaviour(replies=counted, latency_s=0.05)
    path = write_run(folder, right=ROWS, wrong=0, target=target(model), budget={"max_wall_clock": "0.4s"})
    ended = cli("run", "-f", str(path))
    assert ended.status == 1
    assert "the budget of 0.4 s is used up" in ended.err
    found = summary(cli)
    assert 0 < found["n"] < ROWS
    assert found["cancelled"] == ROWS - found["n"]


def test_a_budget_is_one_for_the_whole_run_and_not_for_each_try(
    cli: Cli, folder: Path, model: StandInModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    from tests.cli.test_run_command import stop_after

    path = write_run(folder, right=300, wrong=0, target=target(model), budget={"max_target_tokens": 2000})
    with monkeypatch.context() as once:
        stop_after(once, 160)
        assert cli("run", "-f", str(path)).status == 130
    first = model.stats.requests
    assert 100 < first < 190
    ended = cli("run", "-f", str(path))
    assert ended.status == 1, ended.err
    assert 200 <= model.stats.requests <= 204


def test_a_run_that_its_budget_ended_goes_on_with_a_larger_one_and_asks_only_what_is_left(
    cli: Cli, folder: Path, model: StandInModel
) -> None:
    path = write_run(folder, right=ROWS, wrong=0, target=target(model), budget={"max_target_tokens": 200})
    ended = cli("run", "-f", str(path))
    assert (ended.status, "--retry-errors asks what is left" in ended.err) == (1, True)
    assert 20 <= model.stats.requests <= 22
    resumed = cli("runs", "resume", "latest")
    assert (resumed.status, "what is left or failed with --retry-errors" in resumed.err) == (2, True)
    again = cli("run", "-f", str(path), "--set", "spec.budget.max_target_tokens=100000", "--retry-errors")
    assert again.status == 0, again.err
    assert model.stats.requests == ROWS
    found = summary(cli)
    assert (found["n"], found["cancelled"], found["mean"]) == (ROWS, 0, 1.0)


def test_a_budget_that_is_not_reached_changes_nothing(cli: Cli, folder: Path) -> None:
    path = write_run(folder, budget={"max_target_tokens": 10**9, "max_wall_clock": "1h"})
    assert cli("run", "-f", str(path)).status == 0
    assert len(asked(folder)) == 10


def test_a_run_that_its_budget_ended_passes_nowhere(cli: Cli, folder: Path, model: StandInModel) -> None:
    path = write_run(
        folder,
        right=ROWS,
        wrong=0,
        target=target(model),
        budget={"max_target_tokens": 200},
        gates=[{"metric": "exact-match", "min": 0.5}],
    )
    ended = cli("run", "-f", str(path), "--report", "r.md", "--junit", "r.xml", "--ci", "github")
    assert ended.status == 1
    assert "PASS" not in ended.out + ended.err
    (row,) = json.loads(cli("runs", "list", "--format", "json").out)
    assert (row["status"], row["verdict"]) == ("error", "")
    assert "STOPPED** The run did not finish: the budget of 200 target tokens is used up" in Path("r.md").read_text()
    assert '<error message="The run did not finish: the budget of 200' in Path("r.xml").read_text()
    assert "title=The run did not finish" in ended.out + ended.err
    assert "stopped early: the budget of 200 target tokens" in cli("runs", "show", "latest").err
    cli("report", "latest", "-o", "r.html")
    assert "STOPPED" in Path("r.html").read_text()
    assert "the candidate did not finish, since the budget of 200" in cli("compare", "latest", "latest").err
    next_run = cli("run", "-f", str(path), "--baseline", "latest(team=docs)", "--set", "spec.budget={}")
    assert "the baseline cannot be read" in next_run.err, "a part of a run is no baseline"


def test_what_a_budget_left_out_is_asked_after_a_second_try_that_was_stopped_too(
    cli: Cli, folder: Path, model: StandInModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    from tests.cli.test_run_command import stop_after

    gates = [{"metric": "exact-match", "min": 0.5}]
    budget = {"max_target_tokens": 1500}
    path = write_run(folder, right=400, wrong=0, target=target(model), budget=budget, gates=gates)
    assert cli("run", "-f", str(path)).status == 1
    larger = ("--set", "spec.budget.max_target_tokens=100000")
    with monkeypatch.context() as once:
        stop_after(once, 20)
        assert cli("run", "-f", str(path), *larger, "--retry-errors").status == 130
    ended = cli("run", "-f", str(path), *larger)
    assert ended.status == 0, ended.err
    found = summary(cli)
    assert (found["n"], found["cancelled"]) == (400, 0)
    assert model.stats.requests == 400


def test_a_second_try_that_a_budget_ends_takes_the_verdict_of_the_first_away(
    cli: Cli, folder: Path, model: StandInModel
) -> None:
    def failing(question: Question) -> Reply | Refused:
        return Refused(status=503, message="away") if question.text.split()[-1] == "7" else counted(question)

    model.behaviour = Behaviour(replies=failing)
    gates = [{"metric": "exact-match", "min": 0.5}]
    path = write_run(folder, right=ROWS, wrong=0, target=target(model, max_retries=0), gates=gates)
    assert cli("run", "-f", str(path)).status == 0
    (first,) = json.loads(cli("runs", "list", "--format", "json").out)
    assert first["verdict"] == "passed"
    again = cli("run", "-f", str(path), "--set", "spec.budget.max_target_tokens=10", "--retry-errors")
    assert again.status == 1, again.err
    (row,) = json.loads(cli("runs", "list", "--format", "json").out)
    assert (row["status"], row["verdict"]) == ("error", "")


def test_a_budget_of_judges_that_ended_a_run_with_trials_and_metrics_of_the_whole_goes_on_to_the_same_figures(
    cli: Cli, folder: Path, model: StandInModel
) -> None:
    model.behaviour = Behaviour(replies=None, latency_s=0.002)
    judge = {"provider": "openai-compatible", "model": "judge", "base_url": model.base_url}
    path = write_run(
        folder,
        right=ROWS,
        wrong=0,
        trials=2,
        evaluators=[{"ref": "correctness", "judge": "main"}, "exact-match", "corpus-bleu"],
        judges={"main": judge},
        judge="main",
        slices=["metadata.topic"],
    )
    small = ("--set", "spec.budget.max_judge_tokens=400")
    ended = cli("run", "-f", str(path), "--no-cache", "--concurrency", "2", *small, "--output", "part.json")
    assert ended.status == 1, ended.err
    cli("report", "part.json", "-o", "part.html")
    assert "STOPPED" in Path("part.html").read_text()
    larger = ("--set", "spec.budget.max_judge_tokens=100000000")
    again = cli("run", "-f", str(path), "--no-cache", *larger, "--retry-errors", "--output", "whole.json")
    assert again.status == 0, again.err
    fresh = cli("run", "-f", str(path), "--no-cache", "--no-resume", "--output", "fresh.json")
    assert fresh.status == 0, fresh.err
    one, other = (json.loads(Path(name).read_text()) for name in ("whole.json", "fresh.json"))
    assert one["slices"] == other["slices"]
    assert one["summaries"] == other["summaries"]


def test_a_run_of_a_model_that_costs_nothing_can_be_repeated_within_its_budget_in_dollars(
    cli: Cli, folder: Path, model: StandInModel
) -> None:
    free = {"input_per_mtok": 0, "output_per_mtok": 0}
    path = write_run(folder, right=2, wrong=0, target=target(model, pricing=free), budget={"max_usd": 1.0})
    first = cli("run", "-f", str(path))
    assert first.status == 0, first.err
    again = cli("runs", "rerun", "latest")
    assert again.status == 0, again.err
