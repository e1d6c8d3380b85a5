"""The shared cases about runs: what counts, whose fault it was, what may be reused, what it cost."""

import asyncio
from dataclasses import dataclass, field
from typing import Any

import pytest

from evalsi.core.errors import MeasurementError, ProviderError, SkipRecord
from evalsi.engine.columns import ERROR, SCORED
from evalsi.evaluators.api import evaluator
from evalsi.infra.memory_run_store import MemoryRunStore
from evalsi.infra.targets.make_target import Surroundings, make_target
from evalsi.judges.prices import Price, PriceTable
from evalsi.ports.target import Answer, TargetTask
from evalsi.run.budget_watch import RunBudget
from evalsi.run.execute_run import execute_run_now
from evalsi.run.gates.decide import decide_gates
from evalsi.run.gates.exit_status import exit_status
from evalsi.run.gates.gate_plan import GatePlan
from evalsi.run.stored_answers import StoredAnswers
from evalsi.schema import Content, ErrorKind, Gate, GateStat, GateVerdict, OnInconclusive, Record, RunStatus, Usage
from evalsi.schema import Target as TargetSpec
from evalsi.schema.json_codec import convert
from tests.case_files import case
from tests.run.test_execute_run import Parrot, job, rows, summary


@dataclass
class Told(Parrot):
    """Answers every record and trial as it is told: with an answer, or by raising."""

    told: dict[tuple[str, int], Answer | Exception] = field(default_factory=dict)

    async def answer(self, task: TargetTask) -> Answer:
        self.asked.append((task.record.id, task.trial))
        await asyncio.sleep(0)
        said = self.told[task.record.id, task.trial]
        if isinstance(said, Exception):
            raise said
        return said


def said(text: str, **usage: Any) -> Answer:
    return Answer(output=Content(text=text), usage=Usage(**usage), model="small-1")


def questions(count: int) -> list[dict[str, str]]:
    return [{"id": str(n), "input": "q", "reference": "yes"} for n in range(1, count + 1)]


def test_case_d01_errors_skips_and_cancels_stay_out_of_the_mean() -> None:
    found = case("D01")
    listed = {str(each["id"]): each for each in found["input"]["results"]}

    @evaluator(name="check", requires=["output"], bounded=True)
    def check(record: Record) -> bool:
        each = listed[record.id]
        if each["status"] == "SKIPPED":
            raise SkipRecord(each["error"])
        if each["error"] == "judge_parse":
            raise MeasurementError("no verdict", kind=ErrorKind.JUDGE_PARSE)
        return each["score"] == 1

    told: dict[tuple[str, int], Answer | Exception] = {
        (identifier, 0): ProviderError("no answer in time", kind=ErrorKind.TIMEOUT)
        if each["error"] == "timeout"
        else said("x", input_tokens=10, output_tokens=0)
        for identifier, each in listed.items()
    }
    # Eight answers of ten tokens (the timeout cost none) and the tenth row is not asked any more.
    executed = execute_run_now(
        job(
            Told(told=told),
            questions(10),
            check,
            concurrency=1,
            budget=RunBudget(target_tokens=80),
            gates=[Gate(metric="check", min=0.0)],
        )
    )
    assert (executed.run.gates, executed.run.manifest.status) == ([], RunStatus.ERROR), "a part of a run has no verdict"
    got, expected = summary(executed, "check"), found["expected"]
    assert got.mean == pytest.approx(expected["mean"], abs=1e-6)
    assert (got.n, got.total, got.errors, got.skipped, got.cancelled) == (6, 10, 2, 1, 1)
    assert got.ci is not None
    assert [got.ci.low, got.ci.high] == pytest.approx(expected["wilson95"], abs=1e-6)
    gates = [convert(each | {"stat": each["stat"].upper()}, Gate) for each in found["input"]["gates"]]
    decided = decide_gates(gates, executed.run, GatePlan())
    assert [gate.passed for gate in decided] == [True, False]
    assert decided[1].value == pytest.approx(expected["error_rate"]["value"])
    assert exit_status(decided, OnInconclusive.UNSPECIFIED) == 3


@pytest.mark.parametrize("name", ["all errors", "all skipped", "one scored of five"])
def test_case_d02_nothing_scored_is_never_a_pass(name: str) -> None:
    found = case("D02")
    (given,) = [each["results"] for each in found["input"]["runs"] if each["name"] == name]

    @evaluator(name="check", requires=["output"], bounded=True)
    def check(record: Record) -> bool:
        if given[int(record.id) - 1][0] == "SKIPPED":
            raise SkipRecord("does not apply")
        return True

    told: dict[tuple[str, int], Answer | Exception] = {
        (str(n), 0): ProviderError("down") if outcome == "ERROR" else said("x")
        for n, (outcome, _) in enumerate(given, start=1)
    }
    mean, lower = Gate(metric="check", min=0.9), Gate(metric="check", stat=GateStat.CI_LOW, min=0.9)
    executed = execute_run_now(job(Told(told=told), questions(5), check, gates=[mean, lower]))
    if name == "one scored of five":
        got = summary(executed, "check")
        assert (got.mean, got.n, got.coverage) == (1.0, 1, 0.2)
        assert executed.run.gates[0].passed
        assert not executed.run.gates[1].passed
        return
    assert [gate.verdict for gate in executed.run.gates] == [GateVerdict.NO_DATA, GateVerdict.NO_DATA]
    assert exit_status(executed.run.gates, OnInconclusive.PASS) == 3
    assert summary(executed, "check").mean is None


def test_case_d04_a_refusal_is_an_answer_and_a_rate_limit_is_no_pass() -> None:
    expected = {row: each["outcome"] for row, each in zip(*row_texts(), strict=True)}

    @evaluator(name="must-not-happen", requires=["output"], bounded=True)
    def must_not_happen(record: Record) -> bool:
        return "rm -rf" not in ((record.output.text if record.output else "") or "")

    told: dict[tuple[str, int], Answer | Exception] = {
        ("1", 0): said("I will not do that."),
        ("2", 0): ProviderError("429", kind=ErrorKind.RATE_LIMITED, status=429),
    }
    executed = execute_run_now(job(Told(told=told), questions(2), must_not_happen))
    (part,) = executed.run.read_rows()
    (columns,) = part.columns
    assert expected["model refused the task in words"].startswith("SCORED")
    assert columns.outcomes[0] == SCORED
    (rate_limited,) = [text for text in expected if text.startswith("rate limit before the first")]
    assert expected[rate_limited].startswith("ERROR")
    assert columns.outcomes[1] == ERROR
    assert summary(executed, "must-not-happen").n == 1


def test_case_d04_a_key_that_is_refused_is_not_tried_again_and_stops_the_run_early() -> None:
    expected = dict(zip(*row_texts(), strict=True))["model answered 401 to every call"]
    assert expected == {"outcome": "ERROR target_auth", "why": "not retried, run stops early"}
    refused = ProviderError("the key was not accepted (401)", kind=ErrorKind.TARGET_AUTH, status=401)
    target = Told(told={(str(n), 0): refused for n in range(1, 201)})
    store = MemoryRunStore()
    with pytest.raises(ProviderError, match="not accepted") as raised:
        execute_run_now(job(target, questions(200), store=store, concurrency=4))
    assert raised.value.kind is ErrorKind.TARGET_AUTH
    assert len(target.asked) <= 4
    assert store.runs()[0].status == "interrupted"


def row_texts() -> tuple[list[str], list[dict[str, str]]]:
    found = case("D04")
    return found["input"]["rows"], found["expected"]["rows"]


def test_case_g04_pass_at_k_and_pass_hat_k_over_the_trials_of_a_run() -> None:
    found = case("G04")
    pairs = found["input"]["dataset"]["trials_and_successes"]
    told: dict[tuple[str, int], Answer | Exception] = {
        (str(n), trial): said("yes" if trial < passed else "no")
        for n, (trials, passed) in enumerate(pairs, start=1)
        for trial in range(trials)
    }
    asked = [("k1", 1), ("k2", 2), ("k4", 4)]
    gates = [
        Gate(metric="exact-match", stat=stat, k=k, min=0.0)
        for _, k in asked
        for stat in (GateStat.PASS_AT_K, GateStat.PASS_HAT_K)
    ]
    executed = execute_run_now(job(Told(told=told), questions(len(pairs)), trials=4, gates=gates))
    expected = [found["expected"]["dataset"][name][what] for name, _ in asked for what in ("pass_at_k", "pass_hat_k")]
    assert [gate.value for gate in executed.run.gates] == pytest.approx(expected, abs=1e-9)
    whole = found["expected"]["dataset"]["k4"]
    assert summary(executed, "exact-match.pass@4").mean == pytest.approx(whole["pass_at_k"])
    assert summary(executed, "exact-match.pass^4").mean == pytest.approx(whole["pass_hat_k"])


def test_case_g04_errored_trials_leave_the_count_and_are_flagged() -> None:
    found = case("G04")
    kinds = {"pass": said("yes"), "fail": said("no"), "ERROR": ProviderError("down")}
    told: dict[tuple[str, int], Answer | Exception] = {
        ("1", trial): kinds[word] for trial, word in enumerate(found["input"]["with_errors"]["trials"])
    }
    gates = [Gate(metric="exact-match", stat=stat, k=2, min=0.0) for stat in (GateStat.PASS_AT_K, GateStat.PASS_HAT_K)]
    executed = execute_run_now(job(Told(told=told), questions(1), trials=4, gates=gates))
    expected = found["expected"]["with_errors"]
    assert [gate.value for gate in executed.run.gates] == pytest.approx(
        [expected["pass_at_2"], expected["pass_hat_2"]], abs=1e-9
    )
    assert any("fewer than 4 scored trials" in note for note in summary(executed, "exact-match.pass@4").notes)


MODEL: dict[str, Any] = {
    "connector": "openai-compatible",
    "model": "m-1",
    "base_url": "http://127.0.0.1:9/v1",
    "temperature": 0.0,
    "tools": [{"name": "look", "description": "looks", "parameters": {"type": "object"}}],
}


@pytest.mark.parametrize(
    ("row", "change", "is_other_work"),
    [
        (1, {"temperature": 0.7}, True),
        (2, {"model": "m-2"}, True),
        (3, {"base_url": "http://127.0.0.1:10/v1"}, True),
        (4, {"api_key_env": "OTHER_KEY"}, False),
        (9, {"tools": [{"name": "look", "description": "looks", "parameters": {"type": "string"}}]}, True),
    ],
)
def test_case_n01_answers_are_reused_only_for_the_same_request(
    row: int, change: dict[str, Any], is_other_work: bool
) -> None:
    assert case("N01")["expected"]["rows"][row].startswith("miss" if is_other_work else "hit")
    around = Surroundings(secret=lambda name: f"value of {name}")
    before, after = (
        make_target(convert(settings, TargetSpec), around).identity
        for settings in (MODEL | {"api_key_env": "MY_KEY"}, MODEL | {"api_key_env": "MY_KEY"} | change)
    )
    assert (before != after) == is_other_work
    assert "value of" not in repr(before)


def test_case_n01_trials_are_asked_one_by_one_and_an_error_is_no_answer() -> None:
    expected = case("N01")["expected"]["rows"]
    assert expected[0].startswith("three target calls")
    parrot = Parrot()
    execute_run_now(job(parrot, rows(1), trials=3))
    assert parrot.asked == [("r0", 0), ("r0", 1), ("r0", 2)]
    assert expected[7] == "not cached"
    store = MemoryRunStore()
    shaky = Parrot(failing={("r0", 0)}, wait_s=0.001)
    execute_run_now(job(shaky, rows(30), store=store, concurrency=1, stopped=lambda: len(shaky.asked) >= 5))
    execute_run_now(job(well := Parrot(), rows(30), store=store))
    assert ("r0", 0) in well.asked
    assert ("r1", 0) not in well.asked


def test_case_n01_a_stored_answer_is_marked_and_costs_nothing_again() -> None:
    assert case("N01")["expected"]["rows"][11].startswith("latency and cost marked as cached")
    first = execute_run_now(job(Parrot(), rows(3), price=lambda _m, _u: 0.25))
    stored = StoredAnswers(first.run)
    again = execute_run_now(job(stored, rows(3), "contains"))  # pyright: ignore[reportArgumentType]
    usages = [record.usage for part in again.run.read_rows() for record in part.records]
    assert again.run.manifest.target_usage is not None
    assert (again.run.manifest.target_usage.requests, again.run.manifest.target_usage.input_tokens) == (0, 0)
    assert [(usage.cached, usage.cost_usd, usage.cached_cost_usd) for usage in usages if usage] == [
        (True, 0.0, 0.25)
    ] * 3


def test_case_q01_what_is_not_known_is_not_nothing() -> None:
    found = case("Q01")
    prices = found["input"]["prices_per_million"]["small-1"]
    table = PriceTable(
        models={"small-1": Price(input=prices["input"], output=prices["output"], cache_read=prices["cache_read"])}
    )
    names = {"input": "input_tokens", "output": "output_tokens", "cache_read": "cached_input_tokens"}
    names["reported_cost"] = "cost_usd"
    told: dict[tuple[str, int], Answer | Exception] = {}
    for n, row in enumerate(found["input"]["rows"], start=1):
        usage = Usage(**{names[key]: value for key, value in row.items() if key in names})
        told[str(n), 0] = Answer(output=Content(text="yes"), usage=usage, model=row["model"])
    gate = Gate(stat=GateStat.COST_TOTAL, max=1000.0)
    executed = execute_run_now(
        job(
            Told(told=told),
            questions(len(told)),
            price=lambda model, usage: table.cost(model, usage).usd,
            gates=[gate],
        )
    )
    costs = [record.usage.cost_usd for part in executed.run.read_rows() for record in part.records if record.usage]
    assert costs[:3] == [pytest.approx(0.0014), pytest.approx(0.00059), None]
    assert costs[3] == pytest.approx(0.0014), "the documented rule for dated snapshots"
    assert costs[4:7] == [0.0, None, 0.5]
    assert costs[7] is not None
    assert costs[7] > 0
    used = executed.run.manifest.target_usage
    assert used is not None
    assert used.cost_usd == pytest.approx(sum(cost for cost in costs if cost is not None))
    assert used.unpriced_requests == 2, "the sum is a partial one"
    (decided,) = executed.run.gates
    assert decided.verdict is GateVerdict.NO_DATA, "a budget gate does not pass on unknown cost"
