"""The judge: what is cached and what is not (case N01), repair, accounting, budgets, questions under way."""

import asyncio
from collections.abc import Callable
from typing import Any

import msgspec
import pytest

from evalsi.core.errors import BudgetError, InvalidSpecError, ProviderError, ReplyError
from evalsi.judges.judge import JudgeSettings, ModelJudge
from evalsi.judges.prices import Price, table_of
from evalsi.judges.prompt import Template
from evalsi.judges.replies.grade import read_grade
from evalsi.judges.spend import Budget
from evalsi.ports.chat_model import ChatReply, ChatRequest
from evalsi.ports.judge import JudgePrompt, Verdict
from evalsi.schema import ErrorKind, Usage
from tests.case_files import case

GRADE = Template(name="grade", version="1", system="Grade.", user="Answer:\n{{ output }}")
PRICES = table_of({"judge-1": Price(input=1.0, output=4.0)})
SETTINGS = JudgeSettings(provider="openai-compatible", model="judge-1")
USAGE = Usage(input_tokens=1000, output_tokens=100, latency=0.25)


def grade(reply: ChatReply) -> str:
    return read_grade(reply, ("C", "I"))


class Shelf:
    """A cache in memory that shows what it was given."""

    def __init__(self) -> None:
        self.kept: dict[str, bytes] = {}

    def get(self, key: str) -> bytes | None:
        return self.kept.get(key)

    def put(self, key: str, value: bytes) -> None:
        self.kept.setdefault(key, value)

    def close(self) -> None:
        pass


Answer = Callable[[ChatRequest, int], "ChatReply | Exception"]


class Oracle:
    """A chat model whose replies the test decides; remembers what it was asked."""

    def __init__(
        self, answer: Answer, *, base_url: str = "http://one", api_key: str = "secret", delay_s: float = 0.0
    ) -> None:
        self.asked: list[ChatRequest] = []
        self.api_key = api_key
        self._answer = answer
        self._base_url = base_url
        self._delay_s = delay_s

    @property
    def identity(self) -> dict[str, str]:
        return {"provider": "openai-compatible", "base_url": self._base_url}

    async def complete(self, request: ChatRequest) -> ChatReply:
        self.asked.append(request)
        number = len(self.asked)
        await asyncio.sleep(self._delay_s)
        answer = self._answer(request, number)
        if isinstance(answer, Exception):
            raise answer
        return answer

    async def close(self) -> None:
        pass


def always(text: str, **more: Any) -> Answer:
    return lambda request, number: ChatReply(text=text, usage=USAGE, **more)


def in_turn(*answers: "str | ChatReply | Exception") -> Answer:
    def answer(request: ChatRequest, number: int) -> ChatReply | Exception:
        given = answers[min(number, len(answers)) - 1]
        return ChatReply(text=given, usage=USAGE) if isinstance(given, str) else given

    return answer


def prompt_for(output: str = "4", template: Template = GRADE) -> JudgePrompt:
    return template.render({"output": output})


def judge_on(model: Oracle, cache: Shelf | None = None, **more: Any) -> ModelJudge:
    settings = more.pop("settings", SETTINGS)
    return ModelJudge(model, settings, cache=cache, prices=PRICES, **more)


async def ask(judge: ModelJudge, prompt: JudgePrompt | None = None, repetition: int = 0) -> Verdict[str]:
    return await judge.ask(prompt or prompt_for(), grade, repetition=repetition)


def calls_for(change: Callable[[Shelf], "list[tuple[ModelJudge, JudgePrompt, int]]"], models: list[Oracle]) -> int:
    """How often models were asked when the questions of `change` follow each other on one cache."""

    async def run() -> None:
        for judge, prompt, repetition in change(Shelf()):
            await ask(judge, prompt, repetition)

    asyncio.run(run())
    return sum(len(model.asked) for model in models)


# --- N01: what must be in a cache key --------------------------------------------------------------------------------


def pair(change: str) -> int:
    """Asks once, applies the change, asks again; how many questions reached a model."""
    one, two = Oracle(always("GRADE: C")), Oracle(always("GRADE: C"))

    def questions(cache: Shelf) -> list[tuple[ModelJudge, JudgePrompt, int]]:
        first = (judge_on(one, cache), prompt_for(), 0)
        match change:
            case "same request twice, trials=3":
                return [first, (first[0], first[1], 1), (first[0], first[1], 2)]
            case "same request, temperature changed":
                other = msgspec.structs.replace(SETTINGS, temperature=0.7)
                return [first, (judge_on(two, cache, settings=other), prompt_for(), 0)]
            case "same request, model changed":
                other = msgspec.structs.replace(SETTINGS, model="judge-2")
                return [first, (judge_on(two, cache, settings=other), prompt_for(), 0)]
            case "same request, base_url changed":
                moved = Oracle(always("GRADE: C"), base_url="http://two")
                models.append(moved)
                return [first, (judge_on(moved, cache), prompt_for(), 0)]
            case "same request, only the API key changed":
                keyed = Oracle(always("GRADE: C"), api_key="another")
                models.append(keyed)
                return [first, (judge_on(keyed, cache), prompt_for(), 0)]
            case "judge prompt text changed by one space":
                spaced = Template(name="grade", version="1", system="Grade. ", user=GRADE.user)
                return [first, (first[0], prompt_for(template=spaced), 0)]
            case "rubric version changed, same name":
                newer = Template(name="grade", version="2", system=GRADE.system, user=GRADE.user)
                return [first, (first[0], prompt_for(template=newer), 0)]
            case "tool schema changed":
                shaped = msgspec.structs.replace(prompt_for(), response_schema={"type": "object"})
                return [first, (first[0], shaped, 0)]
            case "cached answer":
                return [first, first]
            case _:
                raise AssertionError(change)

    models = [one, two]
    return calls_for(questions, models)


@pytest.mark.parametrize(
    ("row", "calls"),
    [
        ("same request twice, trials=3", 3),
        ("same request, temperature changed", 2),
        ("same request, model changed", 2),
        ("same request, base_url changed", 2),
        ("same request, only the API key changed", 1),
        ("judge prompt text changed by one space", 2),
        ("rubric version changed, same name", 2),
        ("tool schema changed", 2),
        ("cached answer", 1),
    ],
)
def test_the_cache_key_holds_whatever_changes_a_reply_and_nothing_else(row: str, calls: int) -> None:
    assert row in case("N01")["input"]["rows"]
    assert pair(row) == calls


@pytest.mark.parametrize(
    "bad",
    [
        ProviderError("too many requests", kind=ErrorKind.RATE_LIMITED, status=429),
        ChatReply(text="GRADE: C", finish_reason="length", usage=USAGE),
        ChatReply(text="no idea", usage=USAGE),
        ChatReply(text="", finish_reason="refusal", usage=USAGE),
    ],
)
def test_errors_and_cut_or_unreadable_replies_are_never_cached(bad: Any) -> None:
    async def run() -> None:
        cache = Shelf()
        broken = Oracle(lambda request, number: bad)
        with pytest.raises((ProviderError, ReplyError)):
            await ask(judge_on(broken, cache))
        assert cache.kept == {}
        healed = Oracle(always("GRADE: I"))
        verdict = await ask(judge_on(healed, cache))
        assert (verdict.value, verdict.cached, len(healed.asked)) == ("I", False, 1)

    asyncio.run(run())


def test_a_cached_verdict_costs_nothing_now_and_says_what_it_cost_then() -> None:
    async def run() -> None:
        cache = Shelf()
        fresh = await ask(judge_on(Oracle(always("GRADE: C")), cache))
        judge = judge_on(Oracle(always("GRADE: I")), cache)
        again = await ask(judge)
        assert (fresh.value, fresh.cached, fresh.usage.cost_usd) == ("C", False, pytest.approx(0.0014))
        assert (again.value, again.cached, again.usage.cost_usd) == ("C", True, 0.0)
        assert again.usage.cached
        assert again.usage.cached_cost_usd == pytest.approx(0.0014)
        assert again.usage.latency == 0.25
        assert (judge.spend.calls, judge.spend.cached_calls, judge.spend.known_usd) == (0, 1, 0.0)
        assert judge.spend.saved_usd == pytest.approx(0.0014)

    asyncio.run(run())


def test_no_credential_reaches_the_cache() -> None:
    async def run() -> None:
        cache = Shelf()
        await ask(judge_on(Oracle(always("GRADE: C"), api_key="sk-very-secret"), cache))
        [(key, value)] = cache.kept.items()
        assert "sk-very-secret" not in key + value.decode()

    asyncio.run(run())


def test_a_reader_that_has_changed_reads_the_cached_reply_anew() -> None:
    assert "evaluator code version changed" in case("N01")["input"]["rows"]

    async def run() -> None:
        cache = Shelf()
        model = Oracle(always("GRADE: C"))
        judge = judge_on(model, cache)
        await ask(judge)
        verdict = await judge.ask(prompt_for(), lambda reply: grade(reply) == "C")
        assert (verdict.value, verdict.cached, len(model.asked)) == (True, True, 1)

    asyncio.run(run())


def test_a_cache_entry_that_cannot_be_read_any_more_is_asked_again() -> None:
    async def run() -> None:
        cache = Shelf()
        model = Oracle(always("GRADE: C"))
        judge = judge_on(model, cache)
        cache.kept[judge.cache_key(prompt_for())] = b'{"nonsense": 1}'
        assert (await ask(judge)).value == "C"
        assert len(model.asked) == 1

    asyncio.run(run())


# --- Repair ----------------------------------------------------------------------------------------------------------


def test_an_unreadable_reply_is_shown_back_once_as_data_with_the_required_form() -> None:
    async def run() -> None:
        model = Oracle(in_turn("I would say </reply> C", "GRADE: C"))
        judge = judge_on(model, Shelf())
        verdict = await ask(judge)
        assert (verdict.value, verdict.repaired, verdict.reply) == ("C", True, "GRADE: C")
        assert verdict.usage.input_tokens == 2000
        assert verdict.usage.cost_usd == pytest.approx(0.0028)
        first, second = model.asked
        assert [message.role for message in second.messages] == ["system", "user"]
        added = second.messages[-1].content.removeprefix(first.messages[-1].content)
        assert "a last line 'GRADE: G' with G one of C, I" in added
        assert "<reply-" in added
        assert "I would say </reply> C\n</reply-" in added
        assert (judge.spend.calls, judge.spend.repairs) == (2, 1)
        assert (await ask(judge)).repaired

    asyncio.run(run())


def test_two_unreadable_replies_are_an_error_that_keeps_the_raw_reply() -> None:
    async def run() -> None:
        judge = judge_on(Oracle(in_turn("hm", "still hm")))
        with pytest.raises(ReplyError) as caught:
            await ask(judge)
        assert (caught.value.kind, caught.value.detail) == (ErrorKind.JUDGE_PARSE, "still hm")
        assert judge.spend.calls == 2
        assert judge.spend.known_usd == pytest.approx(0.0028)

    asyncio.run(run())


@pytest.mark.parametrize(
    ("reason", "kind"), [("length", ErrorKind.JUDGE_TRUNCATED), ("refusal", ErrorKind.JUDGE_REFUSED)]
)
def test_a_cut_or_refused_reply_is_not_asked_again(reason: str, kind: ErrorKind) -> None:
    async def run() -> None:
        model = Oracle(always("GRADE: C", finish_reason=reason))
        with pytest.raises(ReplyError) as caught:
            await ask(judge_on(model))
        assert caught.value.kind is kind
        assert len(model.asked) == 1

    asyncio.run(run())


# --- Questions under way ---------------------------------------------------------------------------------------------


def test_identical_questions_at_the_same_time_are_asked_once() -> None:
    async def run() -> None:
        model = Oracle(always("GRADE: C"), delay_s=0.02)
        judge = judge_on(model, Shelf())
        verdicts = await asyncio.gather(*(ask(judge) for _ in range(20)))
        assert {verdict.value for verdict in verdicts} == {"C"}
        assert len(model.asked) == 1
        assert sum(verdict.cached for verdict in verdicts) == 19
        assert (judge.spend.calls, judge.spend.cached_calls) == (1, 19)

    asyncio.run(run())


def test_who_waits_for_a_failing_question_gets_the_failure_and_it_is_asked_once() -> None:
    async def run() -> None:
        model = Oracle(in_turn(ProviderError("down")), delay_s=0.02)
        judge = judge_on(model, Shelf())
        results = await asyncio.gather(*(ask(judge) for _ in range(5)), return_exceptions=True)
        assert [str(result) for result in results] == ["down"] * 5
        assert len(model.asked) == 1
        assert judge.spend.failed_calls == 1

    asyncio.run(run())


def test_cancelling_the_first_asker_does_not_cancel_the_others() -> None:
    class SilentAtFirst(Oracle):
        async def complete(self, request: ChatRequest) -> ChatReply:
            self._delay_s = 0.01 if self.asked else 3600
            return await super().complete(request)

    async def run() -> None:
        model = SilentAtFirst(always("GRADE: C"))
        judge = judge_on(model, Shelf())
        first = asyncio.create_task(ask(judge))
        while not model.asked:
            await asyncio.sleep(0.001)
        others = [asyncio.create_task(ask(judge)) for _ in range(3)]
        await asyncio.sleep(0.005)
        first.cancel()
        verdicts = await asyncio.gather(*others)
        assert [verdict.value for verdict in verdicts] == ["C"] * 3
        assert len(model.asked) == 2

    asyncio.run(run())


def test_without_a_cache_every_question_is_asked() -> None:
    async def run() -> None:
        model = Oracle(always("GRADE: C"))
        judge = judge_on(model)
        await asyncio.gather(ask(judge), ask(judge))
        assert len(model.asked) == 2

    asyncio.run(run())


# --- Accounting and budgets ------------------------------------------------------------------------------------------


def test_spend_counts_tokens_money_and_what_is_unknown() -> None:
    async def run() -> None:
        full = Usage(input_tokens=100, output_tokens=50, cached_input_tokens=80, reasoning_tokens=40)
        replies = [
            ChatReply(text="GRADE: C", usage=full, retries=2),
            ChatReply(text="GRADE: C", usage=Usage()),
            ChatReply(text="GRADE: C", usage=full, model="judge-1-2026-01-01"),
        ]
        judge = judge_on(Oracle(in_turn(*replies)))
        for _ in replies:
            await ask(judge)
        spend = judge.spend
        assert (spend.calls, spend.retries, spend.unmetered_calls) == (3, 2, 1)
        assert (spend.input_tokens, spend.output_tokens) == (200, 100)
        assert (spend.cached_input_tokens, spend.reasoning_tokens) == (160, 80)
        assert (spend.cost.unknown, spend.cost.known, spend.cost.usd) == (1, 2, None)
        assert spend.cost.known_usd == pytest.approx(2 * (100 * 1 + 50 * 4) / 1e6)
        usage = spend.as_usage()
        assert (usage.requests, usage.unpriced_requests) == (5, 1)

    asyncio.run(run())


def test_a_token_budget_ends_the_questions_whatever_the_concurrency() -> None:
    async def run() -> None:
        model = Oracle(always("GRADE: C"), delay_s=0.001)
        judge = judge_on(model, budget=Budget(max_tokens=11_000))
        results = await asyncio.gather(
            *(ask(judge, prompt_for("x" * 4000 + str(number))) for number in range(64)), return_exceptions=True
        )
        refused = [result for result in results if isinstance(result, BudgetError)]
        assert {error.kind for error in refused} == {ErrorKind.BUDGET}
        assert len(refused) + len(model.asked) == 64
        assert 11_000 - 1_600 <= judge.spend.tokens <= 11_000 + 1_100

    asyncio.run(run())


def test_a_dollar_budget_needs_a_known_price_and_does_not_pass_on_an_unknown_cost() -> None:
    with pytest.raises(InvalidSpecError, match="price of 'judge-9' is unknown"):
        judge_on(
            Oracle(always("GRADE: C")),
            settings=JudgeSettings(provider="openai-compatible", model="judge-9"),
            budget=Budget(max_usd=1.0),
        )

    async def run() -> None:
        judge = judge_on(Oracle(in_turn(ChatReply(text="GRADE: C"))), budget=Budget(max_usd=1.0))
        await ask(judge)
        with pytest.raises(BudgetError) as caught:
            await ask(judge)
        assert caught.value.kind is ErrorKind.PRICE_UNKNOWN

    asyncio.run(run())


def test_a_dollar_budget_is_kept() -> None:
    async def run() -> None:
        judge = judge_on(Oracle(always("GRADE: C")), budget=Budget(max_usd=0.004))
        with pytest.raises(BudgetError, match="used up"):
            for _ in range(10):
                await ask(judge)
        assert judge.spend.calls == 3

    asyncio.run(run())


def test_the_fingerprint_names_settings_and_address_and_no_credential() -> None:
    one = judge_on(Oracle(always("x"), api_key="a")).fingerprint
    assert one == judge_on(Oracle(always("x"), api_key="b")).fingerprint
    assert one != judge_on(Oracle(always("x"), base_url="http://two")).fingerprint
    assert one != judge_on(Oracle(always("x")), settings=msgspec.structs.replace(SETTINGS, seed=1)).fingerprint
