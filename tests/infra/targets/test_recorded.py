"""Answers from a file: recorded once, replayed without anybody being asked, refused when the question is another."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from evalsi.core.content import text_of
from evalsi.core.errors import InvalidDataError, NotFoundError, ProviderError
from evalsi.infra.targets.recorded_target import RecordedTarget, RecordingTarget
from evalsi.ports.target import Answer, Target
from evalsi.schema import Usage
from evalsi.testing.stand_in_model import Behaviour, Reply, StandInModel
from tests.infra.targets.asking import make, model_at, running, task

SPEC: dict[str, Any] = {"connector": "openai-compatible", "model": "m-1", "temperature": 0.0}


def at(address: str, **changes: Any) -> Target:
    return make(**{**SPEC, "base_url": address, **changes})


def record(path: Path, *, trials: int = 1, **changes: Any) -> int:
    """Asks about two cases, `trials` times each; how many requests that took."""
    usage = {"prompt_tokens": 10, "completion_tokens": 2, "cost": 0.25}
    with StandInModel(Behaviour(replies=lambda asked: Reply(text=f"reply {asked.number}", usage=usage))) as server:
        target = RecordingTarget(at(server.base_url, **changes), path)

        async def work() -> None:
            for trial in range(trials):
                await asyncio.gather(*(target.answer(task(text, trial=trial)) for text in ("a", "b")))

        running(target, work)
        return server.stats.requests


def replayed(path: Path, given: Any, original: Target | None = None) -> Answer:
    target = RecordedTarget(path, original)
    return running(target, lambda: target.answer(given))


def test_what_was_recorded_is_replayed_from_another_address_and_costs_nothing(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "answers.jsonl"
    record(path)
    answer = replayed(path, task("b"), at("http://127.0.0.1:9/v1"))
    assert text_of(answer.output).startswith("reply ")
    usage = answer.usage
    assert usage == Usage(
        input_tokens=10,
        output_tokens=2,
        latency=usage.latency,
        cost_usd=0.0,
        cached=True,
        cached_cost_usd=0.25,
        requests=0,
    )


def test_repetitions_are_answers_of_their_own(tmp_path: Path) -> None:
    path = tmp_path / "answers.jsonl"
    assert record(path, trials=3) == 6
    said = {text_of(replayed(path, task("a", trial=trial)).output) for trial in range(3)}
    assert len(said) == 3


@pytest.mark.parametrize("changes", [{"temperature": 0.5}, {"model": "m-2"}, {"system_prompt": "x"}])
def test_another_target_has_no_answer_and_is_told_why(tmp_path: Path, changes: dict[str, Any]) -> None:
    path = tmp_path / "answers.jsonl"
    record(path)
    with pytest.raises(ProviderError, match="the target's settings have changed"):
        replayed(path, task("a"), at("http://127.0.0.1:9/v1", **changes))


@pytest.mark.parametrize("given", [task("c"), task("a", trial=1), task("a", metadata={"topic": "x"})])
def test_another_question_has_no_answer_and_is_told_why(tmp_path: Path, given: Any) -> None:
    path = tmp_path / "answers.jsonl"
    record(path)
    with pytest.raises(ProviderError, match="the record or the number of repetitions has changed"):
        replayed(path, given)


def test_another_reference_is_the_same_question(tmp_path: Path) -> None:
    path = tmp_path / "answers.jsonl"
    record(path)
    assert replayed(path, task("a", reference={"text": "4"})).output


def test_two_targets_share_a_recording(tmp_path: Path) -> None:
    path = tmp_path / "answers.jsonl"
    record(path)
    record(path, model="m-2")
    assert len(path.read_text().splitlines()) == 4
    one, two = (replayed(path, task("a"), at("http://h/v1", model=model)) for model in ("m-1", "m-2"))
    assert (one.model, two.model) == ("m-1", "m-2")


def test_recording_again_adds_only_what_is_new(tmp_path: Path) -> None:
    path = tmp_path / "answers.jsonl"
    record(path)
    record(path, trials=2)
    assert len(path.read_text().splitlines()) == 4


def test_a_half_written_last_line_is_left_out_and_written_anew(tmp_path: Path) -> None:
    path = tmp_path / "answers.jsonl"
    record(path)
    whole = path.read_bytes()
    path.write_bytes(whole[:-40])
    assert len(RecordedTarget(path)) == 1
    record(path)
    assert len(RecordedTarget(path)) == 2


def test_a_failure_is_not_recorded(tmp_path: Path) -> None:
    path = tmp_path / "answers.jsonl"
    with StandInModel(Behaviour(server_error=1.0)) as server:
        target = RecordingTarget(model_at(server, max_retries=0), path)
        with pytest.raises(ProviderError):
            running(target, lambda: target.answer(task()))
    assert not path.exists()


def test_a_broken_line_and_a_missing_file_are_named(tmp_path: Path) -> None:
    path = tmp_path / "answers.jsonl"
    record(path)
    path.write_bytes(b'{"question": 1}\n' + path.read_bytes())
    with pytest.raises(InvalidDataError, match=r"answers\.jsonl:1"):
        RecordedTarget(path)
    with pytest.raises(NotFoundError, match=r"none\.jsonl"):
        make(tmp_path, connector="recorded", recording="none.jsonl")


def test_another_recording_is_another_target(tmp_path: Path) -> None:
    record(tmp_path / "a.jsonl")
    record(tmp_path / "b.jsonl", trials=2)
    one, again, two = (
        make(tmp_path, connector="recorded", recording=name).identity for name in ("a.jsonl", "a.jsonl", "b.jsonl")
    )
    assert one == again != two
