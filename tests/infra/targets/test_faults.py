"""Failures on cue: every request, retry and error is accounted for, and none of them is an answer.

Also case D04 as far as it is decided here, by the target; the rows about graders and sandboxes belong to others.
"""

import asyncio
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from evalsi.core.content import text_of
from evalsi.core.errors import MeasurementError, ProviderError
from evalsi.ports.target import Answer, Target
from evalsi.schema import ErrorKind, Fault
from evalsi.testing.stand_in_model import Behaviour, Refused, Reply, StandInModel
from tests.case_files import rows_of
from tests.infra.targets.asking import ask, failure, make, model_at, running, task

SENTENCE = "the whole answer and nothing but the answer"


async def ask_many(target: Target, count: int) -> list[Any]:
    asked = (target.answer(task(f"question {number}")) for number in range(count))
    return await asyncio.gather(*asked, return_exceptions=True)


def accounted(server: StandInModel, outcomes: list[Any]) -> tuple[list[Answer], list[ProviderError]]:
    """Sorts the outcomes, and checks that they and the server tell of the same requests."""
    answers = [outcome for outcome in outcomes if isinstance(outcome, Answer)]
    errors = [outcome for outcome in outcomes if isinstance(outcome, ProviderError)]
    assert len(answers) + len(errors) == len(outcomes), [each for each in outcomes if each not in answers + errors]
    told = sum(answer.usage.requests or 0 for answer in answers) + sum(error.requests for error in errors)
    assert told == server.stats.requests
    assert sum(answer.retries for answer in answers) == told - len(answers) - sum(error.requests for error in errors)
    assert server.stats.outcomes["answered"] == len(answers)
    assert {text_of(answer.output) for answer in answers} <= {SENTENCE}
    return answers, errors


@pytest.mark.slow
@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize(
    "failures",
    [
        {"rate_limited": 0.3},
        {"server_error": 0.3},
        {"overloaded": 0.3},
        {"truncated": 0.3},
        {"dropped": 0.3},
        {"rate_limited": 0.1, "server_error": 0.1, "truncated": 0.1, "dropped": 0.1},
    ],
)
def test_failures_at_a_set_rate_end_in_whole_answers_and_exact_accounts(failures: Any, stream: bool) -> None:
    with StandInModel(Behaviour(replies=SENTENCE, retry_after="0.01", seed=1, **failures)) as server:
        target = model_at(server, stream=stream, total_timeout="60s")
        answers, errors = accounted(server, running(target, lambda: ask_many(target, 60)))
        assert len(answers) + len(errors) == 60
        assert len(answers) >= 58
        assert len(server.stats.outcomes) > 1


@pytest.mark.slow
@pytest.mark.parametrize("failures", [{"server_error": 1.0}, {"rate_limited": 1.0}, {"truncated": 1.0}])
def test_a_provider_that_always_fails_gives_errors_and_no_answer(failures: Any) -> None:
    with StandInModel(Behaviour(retry_after="0", **failures)) as server:
        target = model_at(server, max_retries=2)
        answers, errors = accounted(server, running(target, lambda: ask_many(target, 4)))
        assert (len(answers), len(errors)) == (0, 4)
        assert all(error.requests <= 3 for error in errors)
        assert all(error.may_retry for error in errors)


def test_a_provider_that_hangs_is_a_timeout() -> None:
    with StandInModel(Behaviour(hang=1.0)) as server:
        target = model_at(server, timeout="0.2s", max_retries=1, total_timeout="30s")
        start = time.perf_counter()
        error = failure(target)
        assert (error.kind, error.requests, server.stats.requests) == (ErrorKind.TIMEOUT, 2, 2)
        assert time.perf_counter() - start < 15


def test_a_stream_that_trickles_is_ended_at_the_deadline_of_a_call() -> None:
    with StandInModel(Behaviour(replies="word " * 100, token_interval_s=0.05)) as server:
        target = model_at(server, stream=True, timeout="0.3s", max_retries=0)
        start = time.perf_counter()
        error = failure(target)
        assert error.kind is ErrorKind.TIMEOUT
        assert time.perf_counter() - start < 4.5


def test_all_tries_together_keep_the_total_deadline() -> None:
    with StandInModel(Behaviour(hang=1.0)) as server:
        target = model_at(server, timeout="0.4s", total_timeout="1s")
        start = time.perf_counter()
        failure(target)
        assert time.perf_counter() - start < 2
        assert 2 <= server.stats.requests <= 4


def test_retry_after_is_kept_by_everybody() -> None:
    with StandInModel(Behaviour(replies=["rate_limited", *[SENTENCE] * 10], retry_after="0.4")) as server:
        target = model_at(server)

        async def work() -> list[Any]:
            first = asyncio.create_task(target.answer(task()))
            await asyncio.sleep(0.1)
            return [await first, *await ask_many(target, 5)]

        start = time.perf_counter()
        accounted(server, running(target, work))
        assert time.perf_counter() - start >= 0.4
        first, second, *_ = server.stats.arrivals_s
        assert second - first >= 0.4


def test_the_bound_on_requests_at_once_is_kept() -> None:
    with StandInModel(Behaviour(replies=SENTENCE, latency_s=0.02)) as server:
        target = model_at(server, max_concurrency=7)
        accounted(server, running(target, lambda: ask_many(target, 50)))
        assert server.stats.most_under_way == 7


def test_requests_per_minute_of_the_spec_are_kept() -> None:
    with StandInModel(Behaviour(replies=SENTENCE)) as server:
        target = model_at(server, requests_per_minute=600)
        accounted(server, running(target, lambda: ask_many(target, 16)))
        arrivals = list(server.stats.arrivals_s)
        assert arrivals[-1] - arrivals[0] >= 0.55


@pytest.mark.slow
def test_a_wrong_address_fails_within_five_seconds_for_everybody() -> None:
    target = make(connector="openai-compatible", model="m", base_url="http://127.0.0.1:9/v1")
    start = time.perf_counter()
    errors = running(target, lambda: ask_many(target, 100))
    assert time.perf_counter() - start < 10
    assert all(isinstance(error, ProviderError) for error in errors)
    assert all("127.0.0.1:9 cannot be reached" in str(error) for error in errors)


# --- D04 -------------------------------------------------------------------------------------------------------------


def printing(code: str, folder: Path, **spec: Any) -> Target:
    return make(folder, command={"argv": [sys.executable, "-c", code]}, **spec)


def decided(target: Target) -> str:
    """How the target's end reads in the case's words: "SCORED" when there is an answer to judge, else the error."""
    try:
        ask(target)
    except MeasurementError as error:
        words = {ErrorKind.ENVIRONMENT: "environment", ErrorKind.TARGET_AUTH: "target_auth"}
        return f"ERROR {words.get(error.kind, 'target')}"
    return "SCORED"


def test_whose_fault_it_was_is_decided_as_the_case_says(tmp_path: Path) -> None:
    expected = {situation: answer["outcome"] for situation, answer in rows_of("D04")}
    refusing = Behaviour(replies=[Reply(refusal="I will not do that.")])
    limited = Behaviour(replies=lambda _: Refused(status=429, message="slow down", headers={"Retry-After": "0"}))
    cut = Behaviour(replies=[Reply(text="a long answ", finish_reason="length")])
    decisions: dict[str, str] = {}
    with StandInModel(Behaviour(api_key="another")) as server:
        decisions["model answered 401 to every call"] = decided(model_at(server))
        assert server.stats.requests == 1, "a key that is not accepted is not tried again"
    with StandInModel(refusing) as server:
        decisions["model refused the task in words"] = decided(model_at(server))
    with StandInModel(limited) as server:
        decisions["rate limit before the first model reply; all checks are of the kind must-not-happen"] = decided(
            model_at(server, max_retries=1)
        )
    with StandInModel(cut) as server:
        decisions["token budget used up; verifier reward 1"] = decided(model_at(server))
    slow = printing("import time; print('halfway', flush=True); time.sleep(30)", tmp_path, timeout="0.6s")
    decisions["agent hit its time limit; verifier ran and wrote reward 0.4"] = decided(slow)
    fetched = tmp_path / "fetched"
    fetched.write_text("#!/bin/sh\n")
    fetched.chmod(0o755)
    gone = make(command={"argv": [str(fetched)]})
    fetched.unlink()
    decisions["image could not be pulled"] = decided(gone)
    evicted = printing("import os, signal; print('half', flush=True); os.kill(os.getpid(), signal.SIGKILL)", tmp_path)
    decisions["pod evicted in the middle"] = decided(evicted)
    wrong = {row: found for row, found in decisions.items() if not expected[row].startswith(found)}
    assert not wrong
    assert Counter(found.split()[0] for found in decisions.values()) == {"SCORED": 3, "ERROR": 4}


def test_an_agent_that_left_nothing_at_its_limit_is_at_fault_itself(tmp_path: Path) -> None:
    """Row 2 of D04 scores it where a verifier ran; that it is the agent's fault is what the target says."""
    error = failure(printing("import time; time.sleep(30)", tmp_path, timeout="0.3s"))
    assert error.fault is Fault.AGENT
