"""Callables as targets: what they get, what they may give, and whose fault it is when they do not."""

import asyncio
import re
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from evalsi.core.content import text_of
from evalsi.core.errors import (
    DeadlineError,
    InvalidSpecError,
    PluginError,
    ProviderError,
    TargetError,
    UnknownNameError,
)
from evalsi.ports.target import Answer, Target
from evalsi.schema import Content, ErrorKind, Fault
from tests.infra.targets.asking import ask, failure, make, running, task


def callable_of(folder: Path, code: str, **spec: Any) -> Target:
    (folder / "agent.py").write_text(code)
    return make(folder, python="agent.py:answer", **spec)


def answered(folder: Path, code: str, given: Any = None, **spec: Any) -> Answer:
    return ask(callable_of(folder, code, **spec), given)


def test_a_callable_gets_what_its_parameters_are_named_after(tmp_path: Path) -> None:
    code = (
        "def answer(input, record, context, metadata, id, trial, seed, config, messages, other=1):\n"
        "    return {'input': input, 'reference': record.reference, 'context': context, 'metadata': metadata,\n"
        "            'id': id, 'trial': trial, 'seed': seed, 'config': config, 'messages': messages}\n"
    )
    given = task(trial=2, metadata={"a": 1}, context=[{"text": "p"}], reference={"text": "4"})
    answer = answered(
        tmp_path, code, given, config={"k": "v"}, seed=5, system_prompt="Be brief.", prompt="{{ input }}!"
    )
    assert answer.output.json == {
        "input": "Be brief.\n\n2+2?!",
        "reference": None,
        "context": ["p"],
        "metadata": {"a": 1},
        "id": "r1",
        "trial": 2,
        "seed": 7,
        "config": {"k": "v"},
        "messages": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "2+2?!"}],
    }


@pytest.mark.parametrize(
    ("returned", "output"),
    [
        ("'4'", Content(text="4")),
        ("4", Content(json=4)),
        ("{'a': [1, None]}", Content(json={"a": [1, None]})),
        ("{'output': '4'}", Content(text="4")),
        ("{'output': '4', 'more': 1}", Content(json={"output": "4", "more": 1})),
    ],
)
def test_what_a_callable_may_give(tmp_path: Path, returned: str, output: Content) -> None:
    answer = answered(tmp_path, f"def answer(question): return {returned}")
    assert answer.output == output
    assert answer.usage.latency is not None


def test_a_callable_may_give_usage_steps_and_our_own_types(tmp_path: Path) -> None:
    rich = (
        "def answer(input):\n"
        "    return {'output': '4', 'usage': {'input_tokens': 3, 'cost_usd': 0.1}, 'stop_reason': 'max_steps',\n"
        "            'trajectory': [{'type': 'tool', 'name': 'add'}], 'notes': ['slow']}\n"
    )
    answer = answered(tmp_path, rich)
    assert (answer.usage.input_tokens, answer.usage.cost_usd, answer.stop_reason) == (3, 0.1, "max_steps")
    assert answer.trajectory is not None
    assert answer.notes == ("slow",)
    typed = (
        "from evalsi.schema import Message, ToolCall\n"
        "async def answer(input):\n"
        "    return Message(role='assistant', tool_calls=[ToolCall(id='1', name='dim', arguments='{')])\n"
    )
    said = answered(tmp_path, typed).output
    assert said.messages is not None
    assert said.messages.messages[0].tool_calls[0].arguments == "{"


@pytest.mark.parametrize(
    "returned", ["None", "object()", "float('nan')", "{'a': float('inf')}", "{1: object()}", "{'a': {1, 2}}, object()"]
)
def test_what_is_no_answer_is_the_callables_fault(tmp_path: Path, returned: str) -> None:
    error = failure(callable_of(tmp_path, f"def answer(input): return {returned}"))
    assert isinstance(error, TargetError)
    assert (error.kind, error.fault) == (ErrorKind.TARGET, Fault.AGENT)


@pytest.mark.parametrize("returned", ["'cut \\ud83d'", "{'output': 'cut \\ud83d'}"])
def test_half_an_emoji_is_kept_as_its_escape(tmp_path: Path, returned: str) -> None:
    output = answered(tmp_path, f"def answer(input): return {returned}").output
    assert text_of(output) == "cut \\ud83d"


def test_an_empty_answer_has_a_note(tmp_path: Path) -> None:
    assert answered(tmp_path, "def answer(input): return ''").notes == ("the answer is empty",)


@pytest.mark.parametrize("prefix", ["", "async "])
def test_what_a_callable_raises_is_its_own_fault(tmp_path: Path, prefix: str) -> None:
    error = failure(callable_of(tmp_path, f"{prefix}def answer(input):\n    raise ValueError('no such lamp')"))
    assert isinstance(error, TargetError)
    assert "agent.py:answer raised ValueError: no such lamp" in str(error)
    assert error.detail is not None
    assert "line 2" in error.detail


@pytest.mark.parametrize("prefix", ["", "async "])
@pytest.mark.parametrize(
    "raised", ["SystemExit(0)", "StopIteration('x')", "TimeoutError('of its own')", "CancelledError()", "Mute()"]
)
def test_odd_exceptions_end_neither_the_thread_nor_the_run(tmp_path: Path, prefix: str, raised: str) -> None:
    code = (
        "from asyncio import CancelledError\n"
        "class Mute(Exception):\n    def __str__(self): raise RuntimeError('no text')\n"
        f"calls = []\n{prefix}def answer(input):\n    calls.append(1)\n    if len(calls) == 1: raise {raised}\n    return 'ok'"
    )
    target = callable_of(tmp_path, code, max_concurrency=1)

    async def work() -> Any:
        first = await asyncio.gather(target.answer(task()), return_exceptions=True)
        return first[0], await target.answer(task())

    error, answer = running(target, work)
    assert isinstance(error, TargetError)
    assert text_of(answer.output) == "ok"


@pytest.mark.parametrize(
    ("raised", "kind", "may_retry"),
    [
        ("Refused(429)", ErrorKind.RATE_LIMITED, True),
        ("Refused(503)", ErrorKind.PROVIDER, True),
        ("Refused(401)", ErrorKind.TARGET_AUTH, False),
        ("Refused(400)", ErrorKind.PROVIDER_REJECTED, False),
        ("ConnectionRefusedError('no')", ErrorKind.PROVIDER, True),
    ],
)
def test_a_provider_behind_the_callable_is_recognised(
    tmp_path: Path, raised: str, kind: ErrorKind, may_retry: bool
) -> None:
    code = (
        "class Refused(Exception):\n    def __init__(self, status_code): self.status_code = status_code\n"
        f"def answer(input): raise {raised}\n"
    )
    error = failure(callable_of(tmp_path, code))
    assert isinstance(error, ProviderError)
    assert (error.kind, error.may_retry) == (kind, may_retry)


def test_a_plain_callable_that_hangs_is_given_up_and_replaced(tmp_path: Path) -> None:
    code = (
        "import threading\nrelease = threading.Event()\n"
        "def answer(input):\n    if input == 'hang': release.wait(30)\n    return input\n"
    )
    target = callable_of(tmp_path, code, timeout="0.2s", max_concurrency=1)

    async def work() -> Any:
        start = time.perf_counter()
        first = (await asyncio.gather(target.answer(task("hang")), return_exceptions=True))[0]
        took = time.perf_counter() - start
        return first, took, [await target.answer(task(str(number))) for number in range(3)]

    error, took, answers = running(target, work)
    assert isinstance(error, DeadlineError)
    assert (error.kind, error.fault) == (ErrorKind.TIMEOUT, Fault.AGENT)
    assert took < 20
    assert [text_of(answer.output) for answer in answers] == ["0", "1", "2"]
    hanging = [thread for thread in threading.enumerate() if thread.name == "evalsi-target"]
    assert all(thread.daemon for thread in hanging)


def test_an_async_callable_that_hangs_is_cancelled(tmp_path: Path) -> None:
    code = (
        "import asyncio\nended = []\n"
        "async def answer(input):\n    try:\n        await asyncio.sleep(30)\n    finally:\n        ended.append(1)\n"
    )
    target = callable_of(tmp_path, code, timeout="0.1s")
    error = failure(target)
    assert isinstance(error, DeadlineError)


def test_plain_callables_run_beside_each_other(tmp_path: Path) -> None:
    target = callable_of(tmp_path, "import time\ndef answer(input):\n    time.sleep(0.1)\n    return input")

    async def work() -> float:
        start = time.perf_counter()
        await asyncio.gather(*(target.answer(task()) for _ in range(32)))
        return time.perf_counter() - start

    assert running(target, work) < 1.5


def test_concurrency_is_bounded_when_the_spec_says_so(tmp_path: Path) -> None:
    code = (
        "import asyncio\nnow = most = 0\n"
        "async def answer(input):\n    global now, most\n    now += 1\n    most = max(most, now)\n"
        "    await asyncio.sleep(0.01)\n    now -= 1\n    return str(most)\n"
    )
    target = callable_of(tmp_path, code, max_concurrency=3)

    async def work() -> list[Answer]:
        return await asyncio.gather(*(target.answer(task()) for _ in range(12)))

    assert max(int(text_of(answer.output)) for answer in running(target, work)) == 3


def test_a_module_beside_the_spec_is_found(tmp_path: Path) -> None:
    (tmp_path / "my_agent_for_this_test.py").write_text("def answer(input): return 'found'")
    assert text_of(ask(make(tmp_path, python="my_agent_for_this_test:answer")).output) == "found"


def test_an_edited_callable_is_another_target(tmp_path: Path) -> None:
    first = callable_of(tmp_path, "def answer(input): return 'a'").identity
    again = callable_of(tmp_path, "def answer(input): return 'a'").identity
    second = callable_of(tmp_path, "def answer(input): return 'b'").identity
    assert first == again != second


@pytest.mark.parametrize(
    ("code", "error", "said"),
    [
        ("def other(input): pass", InvalidSpecError, "agent.py has no callable 'answer'"),
        ("def answer(inputs, question): pass", UnknownNameError, "unknown parameter of agent.py:answer"),
        ("def answer(): pass", InvalidSpecError, "takes nothing to answer"),
        ("def answer(input, /): pass", InvalidSpecError, "by position only"),
        ("import nothing_of_that_name", PluginError, "cannot be loaded: ModuleNotFoundError"),
        ("raise SystemExit(3)", PluginError, "calls sys.exit(3) when it is imported"),
    ],
)
def test_what_cannot_be_called_is_said_before_anything_is_asked(
    tmp_path: Path, code: str, error: type[Exception], said: str
) -> None:
    with pytest.raises(error, match=re.escape(said)):
        callable_of(tmp_path, code)


def test_a_file_that_is_not_there_and_a_name_without_a_function_are_named(tmp_path: Path) -> None:
    with pytest.raises(UnknownNameError, match=r"none\.py"):
        make(tmp_path, python="none.py:answer")
    with pytest.raises(InvalidSpecError, match="names no callable"):
        make(tmp_path, python="agent")


@pytest.mark.parametrize(
    ("taking", "kind"),
    [("time.sleep(1e6)", ErrorKind.TIMEOUT), ("asyncio.get_running_loop().stop()", ErrorKind.TARGET)],
)
def test_an_async_callable_that_takes_the_event_loop_costs_its_own_answer(
    tmp_path: Path, taking: str, kind: ErrorKind
) -> None:
    code = (
        "import asyncio, time\n"
        "async def answer(input):\n"
        f"    if input == 'selfish':\n        {taking}\n"
        "    await asyncio.sleep(0.05)\n    return input\n"
    )
    target = callable_of(tmp_path, code, timeout=1.0)

    async def both() -> list[Any]:
        asked = (target.answer(task(input={"text": text})) for text in ("selfish", "patient"))
        return await asyncio.gather(*asked, return_exceptions=True)

    selfish, patient = asyncio.run(both())
    assert (selfish.kind, selfish.fault) == (kind, Fault.AGENT)
    assert patient.output == Content(text="patient")
