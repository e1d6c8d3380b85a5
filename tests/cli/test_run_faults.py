"""A target that fails in every way: the accounting is exact, and no failure becomes a score."""

import json
import socket
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from evalsi.engine.columns import ERROR, SCORED
from evalsi.results.graded_run import GradedRun
from evalsi.settings import Settings
from evalsi.testing.stand_in_model import FAILURES, Behaviour, Question, Refused, Reply, StandInModel
from evalsi.wiring.reading_runs import reading_run
from tests.cli.run_folder import write_run
from tests.command_line import Ended, evalsi

Cli = Callable[..., Ended]
ROWS = 120


def last_word(question: Question) -> str:
    return question.text.split()[-1]


@pytest.fixture
def model() -> Iterator[StandInModel]:
    with StandInModel(Behaviour(replies=last_word)) as running:
        yield running


def target(model: StandInModel, **changes: Any) -> dict[str, Any]:
    return {
        "connector": "openai-compatible",
        "model": "stand-in",
        "base_url": model.base_url,
        "timeout": "1s",
        "max_retries": 3,
        "max_concurrency": 32,
    } | changes


def stored(folder: Path) -> GradedRun:
    with reading_run("latest", Settings(directory=folder / ".evalsi")) as run:
        rows = list(run.read_rows())
        assert rows
        return GradedRun(
            source=run.source,
            manifest=run.manifest,
            summaries=run.summaries,
            read_rows=lambda: iter(rows),
            whole=run.whole,
            gates=run.gates,
        )


def accounted(run: GradedRun, rows: int) -> Counter[tuple[str, str]]:
    """Errors by kind and fault. Checks that every row is either right or an error: a failure is never a low score."""
    (summary,) = run.summaries
    assert summary.n + summary.errors == summary.total == rows
    assert summary.mean in (1.0, None)
    found: Counter[tuple[str, str]] = Counter()
    for part in run.read_rows():
        (columns,) = part.columns
        for row, code in enumerate(columns.outcomes):
            assert code in (SCORED, ERROR)
            if code == ERROR:
                note = columns.notes[row]
                found[str(note.error_kind), str(note.fault)] += 1
                assert note.reason
                assert part.records[row].output is None
    assert sum(found.values()) == summary.errors
    kinds: Counter[str] = Counter()
    for (kind, _), count in found.items():
        kinds[kind] += count
    assert kinds == summary.error_kinds
    return found


@pytest.mark.slow
def test_every_kind_of_failure_at_once_leaves_an_exact_account(cli: Cli, folder: Path, model: StandInModel) -> None:
    shares: dict[str, Any] = dict.fromkeys(("rate_limited", "server_error", "overloaded", "truncated", "dropped"), 0.12)
    model.behaviour = Behaviour(replies=last_word, **shares, hang=0.02, retry_after="0.05", seed=3)
    path = write_run(folder, right=ROWS, wrong=0, target=target(model, max_retries=1))
    ended = cli("run", "-f", str(path))
    assert ended.status == 0, ended.err
    run = stored(folder)
    errors = accounted(run, ROWS)
    assert errors, "with one retry some rows must fail"
    assert {fault for _, fault in errors} == {"provider"}
    used = run.manifest.target_usage
    assert used is not None
    assert used.requests == model.stats.requests, "every attempt is counted"
    assert (used.requests or 0) > ROWS


@pytest.mark.slow
@pytest.mark.parametrize("failure", ["rate_limited", "server_error", "truncated", "dropped"])
def test_with_retries_enough_a_shaky_provider_costs_no_row(
    cli: Cli, folder: Path, model: StandInModel, failure: str
) -> None:
    share: dict[str, Any] = {failure: 0.1}
    model.behaviour = Behaviour(replies=last_word, retry_after="0.05", seed=5, **share)
    path = write_run(folder, right=ROWS, wrong=0, target=target(model, max_retries=7))
    assert cli("run", "-f", str(path)).status == 0
    run = stored(folder)
    assert not accounted(run, ROWS)
    assert run.manifest.target_usage is not None
    assert run.manifest.target_usage.requests == model.stats.requests > ROWS


@pytest.mark.slow
@pytest.mark.parametrize("failure", [each for each in FAILURES[:6] if each != "hang"])
def test_a_provider_that_always_fails_scores_nothing_and_passes_no_gate(
    cli: Cli, folder: Path, model: StandInModel, failure: str
) -> None:
    share: dict[str, Any] = {failure: 1.0}
    model.behaviour = Behaviour(retry_after="0.01", **share)
    path = write_run(
        folder,
        right=4,
        wrong=0,
        target=target(model, max_retries=0),
        gates=[{"metric": "exact-match", "min": 0.0}],
    )
    ended = cli("run", "-f", str(path))
    assert ended.status == 3, ended.err
    assert "no data" in ended.err.lower()
    errors = accounted(stored(folder), 4)
    assert sum(errors.values()) == 4
    assert {fault for _, fault in errors} == {"provider"}


@pytest.mark.slow
def test_a_call_that_hangs_is_a_timeout_and_the_run_ends(cli: Cli, folder: Path, model: StandInModel) -> None:
    model.behaviour = Behaviour(replies=last_word, hang=0.2, seed=1)
    path = write_run(folder, right=30, wrong=0, target=target(model, timeout="0.3s", max_retries=0))
    began_s = time.monotonic()
    assert cli("run", "-f", str(path)).status == 0
    assert time.monotonic() - began_s < 60
    errors = accounted(stored(folder), 30)
    assert set(errors) == {("timeout", "provider")}


@pytest.mark.slow
def test_a_slow_stream_is_measured_and_read_to_its_end(cli: Cli, folder: Path, model: StandInModel) -> None:
    model.behaviour = Behaviour(replies=lambda question: "one two three " + last_word(question), token_interval_s=0.02)
    path = write_run(folder, right=20, wrong=0, target=target(model, stream=True), evaluators=["contains"])
    assert cli("run", "-f", str(path)).status == 0
    assert not accounted(stored(folder), 20)


def test_nobody_at_the_address_is_said_within_five_seconds_and_nothing_is_stored(folder: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        address = f"http://127.0.0.1:{taken.getsockname()[1]}/v1"
        where = {"connector": "openai-compatible", "model": "m", "base_url": address}
        write_run(folder, target=where)
        began_s = time.monotonic()
        ended = evalsi("run", "-f", "run.json", cwd=folder)
        assert time.monotonic() - began_s < 30, "start of the process included, on a busy machine"
    assert ended.status == 1
    assert address.removeprefix("http://").removesuffix("/v1") in ended.err
    assert "Traceback" not in ended.err
    assert json.loads(evalsi("runs", "list", "--format", "json", cwd=folder).out) == []


def test_a_model_or_path_that_is_not_there_ends_the_run_at_its_first_question(
    cli: Cli, folder: Path, model: StandInModel
) -> None:
    path = write_run(folder, right=ROWS, target=target(model, base_url=f"{model.root_url}/api"))
    ended = cli("run", "-f", str(path))
    assert ended.status == 1
    assert "answered 404 (no such model or path)" in ended.err
    assert "look at spec.target: base_url" in ended.err
    assert "errors" not in ended.out
    model.behaviour = Behaviour(replies=lambda _: Refused(status=404, message="no such model: stand-in"))
    before = model.stats.requests
    ended = cli("run", "-f", str(write_run(folder, right=ROWS, target=target(model))))
    assert (ended.status, model.stats.requests - before <= 32) == (1, True)
    assert "no such model: stand-in" in ended.err


def test_a_record_that_is_not_found_after_others_were_answered_is_an_error_of_its_own(
    cli: Cli, folder: Path, model: StandInModel
) -> None:
    model.behaviour = Behaviour(
        replies=lambda question: Refused(status=404, message="gone") if question.number == 3 else last_word(question)
    )
    path = write_run(folder, right=10, wrong=0, target=target(model, max_concurrency=1))
    assert cli("run", "-f", str(path)).status == 0
    (found,) = json.loads(cli("runs", "show", "latest", "--format", "json").out)
    assert (found["n"], found["errors"]) == (9, 1)


def test_a_wrong_key_is_said_before_anything_is_asked(
    cli: Cli, folder: Path, model: StandInModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    model.behaviour = Behaviour(api_key="right-key", replies=last_word)
    monkeypatch.setenv("MY_KEY", "wrong-key-very-secret")
    ended = cli("run", "-f", str(write_run(folder, target=target(model, api_key_env="MY_KEY"))))
    assert ended.status == 1
    assert "key" in ended.err
    assert "wrong-key-very-secret" not in ended.err
    assert model.stats.requests == 0


def test_a_key_that_is_withdrawn_stops_the_run_and_it_goes_on_with_a_right_one(
    cli: Cli, folder: Path, model: StandInModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    def withdrawn(question: Question) -> str:
        if question.number == 10:
            model.behaviour.api_key = "new-key"
        return last_word(question)

    model.behaviour = Behaviour(api_key="old-key", replies=withdrawn)
    monkeypatch.setenv("MY_KEY", "old-key")
    path = write_run(folder, right=40, wrong=0, target=target(model, api_key_env="MY_KEY", max_concurrency=2))
    ended = cli("run", "-f", str(path))
    assert ended.status == 1, ended.err
    assert "key" in ended.err
    assert model.stats.requests < 16
    monkeypatch.setenv("MY_KEY", "new-key")
    model.behaviour = Behaviour(api_key="new-key", replies=last_word)
    again = cli("run", "-f", str(path))
    assert again.status == 0, again.err
    run = stored(folder)
    assert not accounted(run, 40)
    assert len({question.text for question in model.stats.questions}) == 40
    (listed,) = json.loads(cli("runs", "list", "--format", "json").out)
    assert listed["status"] == "succeeded"


@pytest.mark.parametrize(
    ("reply", "stop_reason", "note"),
    [
        (Reply(text="Par", finish_reason="length"), "length", "cut at the token limit"),
        (Reply(text="", finish_reason="stop"), "stop", "the answer is empty"),
        (Reply(text="", refusal="I can't help with that."), "refusal", "the model refused"),
        (Reply(text="I won't.", finish_reason="content_filter"), "refusal", "the model refused"),
    ],
    ids=["cut", "empty", "refusal", "filtered"],
)
def test_a_cut_empty_or_refused_answer_is_an_answer_and_says_what_it_is(
    cli: Cli, folder: Path, model: StandInModel, reply: Reply, stop_reason: str, note: str
) -> None:
    model.behaviour = Behaviour(replies=[reply])
    ended = cli("run", "-f", str(write_run(folder, right=3, wrong=0, target=target(model, max_tokens=1))))
    assert ended.status == 0, ended.err
    run = stored(folder)
    (summary,) = run.summaries
    assert (summary.n, summary.errors) == (3, 0), "what was answered is graded"
    for part in run.read_rows():
        for record in part.records:
            assert record.stop_reason == stop_reason
            assert any(note in each for each in record.notes), record.notes
