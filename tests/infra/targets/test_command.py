"""Programs as targets: no shell, no leftovers, bounded, and each ending judged by whose fault it was."""

import asyncio
import os
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from evalsi.core.content import text_of
from evalsi.core.errors import (
    DeadlineError,
    InvalidSpecError,
    MeasurementError,
    NotFoundError,
    TargetError,
    UnknownNameError,
)
from evalsi.infra.targets import command_target
from evalsi.ports.target import Answer, Target
from evalsi.schema import Content, ErrorKind, Fault
from tests.infra.targets.asking import KEY, ask, failure, make, running, task


def program(code: str, folder: Path | None = None, *arguments: str, **more: Any) -> Target:
    spec = {name: more.pop(name) for name in ("timeout", "max_concurrency", "prompt", "system_prompt") if name in more}
    return make(folder, command={"argv": [sys.executable, "-c", code, *arguments], **more}, **spec)


ECHO = "import sys; sys.stdout.write(sys.stdin.read())"


def test_the_question_is_on_standard_input_and_the_output_is_the_answer() -> None:
    answer = ask(program("import sys; print('got', sys.stdin.read())", prompt="Q: {{ input }}"))
    assert answer.output == Content(text="got Q: 2+2?")
    assert answer.usage.latency is not None
    assert (answer.stop_reason, answer.notes, answer.details) == ("stop", (), {})


def test_arguments_are_filled_and_no_shell_reads_them(tmp_path: Path) -> None:
    hostile = "$(touch pwned); `id` && {{ metadata.x }} *"
    code = "import sys; print(sys.argv[1:])"
    answer = ask(program(code, tmp_path, "--q={{ input }}", "*", stdin="none"), task(hostile))
    assert text_of(answer.output) == repr([f"--q={hostile}", "*"])
    assert list(tmp_path.iterdir()) == []


def test_the_record_can_be_read_as_json_without_its_reference() -> None:
    code = "import json, sys; r = json.load(sys.stdin); print(sorted(r), r['input']['text'], r['metadata'])"
    given = task(metadata={"a": 1}, reference={"text": "4"})
    answer = ask(program(code, stdin="json"), given)
    assert text_of(answer.output) == "['id', 'input', 'metadata'] 2+2? {'a': 1}"


def test_json_output_is_found_by_paths() -> None:
    code = 'print(\'{"answer": {"text": "4"}, "usage": {"input_tokens": 7}}\')'
    target = program(code, stdout="json", output_path="answer.text", usage_path="usage")
    assert target.capabilities >= {"usage", "tools"}
    answer = ask(target)
    assert (text_of(answer.output), answer.usage.input_tokens) == ("4", 7)


def test_of_lines_of_json_the_last_with_an_answer_counts() -> None:
    code = 'print(\'log line\'); print(\'{"result": "1"}\'); print(\'{"result": "2"}\'); print(\'{"other": 3}\')'
    answer = ask(program(code, stdout="jsonl", output_path="result"))
    assert text_of(answer.output) == "2"


def test_a_program_sees_few_variables_and_those_it_is_handed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-of-the-parent")
    code = "import os; print(sorted(os.environ)); print(os.environ['TOKEN'])"
    said = text_of(ask(program(code, env_from={"TOKEN": "THE_KEY"})).output)
    names, token = said.splitlines()
    assert set(eval(names)) <= {"PATH", "HOME", "TOKEN", "EVALSI_TRIAL", "LC_CTYPE"}
    assert token == KEY


def test_what_a_program_says_of_its_secrets_is_blacked_out() -> None:
    code = "import os, sys; print('the token is', os.environ['TOKEN'], file=sys.stderr); sys.exit(1)"
    target = program(code, env_from={"TOKEN": "THE_KEY"})
    assert KEY not in repr(vars(target)) + str(target.identity)
    error = failure(target)
    assert KEY not in str(error) + str(error.detail)
    assert "the token is ***" in str(error)


def test_the_folder_is_the_one_of_the_spec(tmp_path: Path) -> None:
    (tmp_path / "inner").mkdir()
    target = make(
        tmp_path, command={"argv": [sys.executable, "-c", "import os; print(os.getcwd())"], "workdir": "inner"}
    )
    assert text_of(ask(target).output) == str(tmp_path / "inner")


# --- Endings ---------------------------------------------------------------------------------------------------------


def test_another_status_with_output_is_an_answer_that_says_so() -> None:
    answer = ask(program("import sys; print('half'); print('why', file=sys.stderr); sys.exit(3)"))
    assert (text_of(answer.output), answer.stop_reason) == ("half", "exit")
    assert "ended with status 3; this is what it had printed" in answer.notes[0]
    assert answer.details == {"stderr": "why\n", "exit_status": 3}


def test_another_status_without_output_is_an_error_of_the_agent() -> None:
    error = failure(program("import sys; print('lamp not found', file=sys.stderr); sys.exit(3)"))
    assert isinstance(error, TargetError)
    assert (error.kind, error.fault) == (ErrorKind.TARGET, Fault.AGENT)
    assert "ended with status 3 and printed no answer: lamp not found" in str(error)


def test_a_crash_is_an_error_of_the_agent() -> None:
    error = failure(program("import os, signal; os.kill(os.getpid(), signal.SIGSEGV)"))
    assert isinstance(error, TargetError)
    assert "crashed with SIGSEGV" in str(error)


def test_a_program_that_was_killed_from_outside_is_an_error_of_the_environment() -> None:
    error = failure(program("import os, signal; print('half', flush=True); os.kill(os.getpid(), signal.SIGKILL)"))
    assert (error.kind, error.fault) == (ErrorKind.ENVIRONMENT, Fault.ENVIRONMENT)
    assert "ended from outside by SIGKILL" in str(error)


def test_saying_nothing_on_purpose_is_an_empty_answer() -> None:
    answer = ask(program("pass"))
    assert (answer.output, answer.notes) == (Content(text=""), ("the answer is empty",))


def test_the_deadline_with_output_is_an_answer_and_without_is_an_error_of_the_agent() -> None:
    answer = ask(program("import time; print('so far', flush=True); time.sleep(30)", timeout="0.6s"))
    assert (text_of(answer.output), answer.stop_reason) == ("so far", "timeout")
    assert "ended at its limit of 0.6 s" in answer.notes[0]
    error = failure(program("import time; time.sleep(30)", timeout="0.3s"))
    assert isinstance(error, DeadlineError)
    assert (error.kind, error.fault) == (ErrorKind.TIMEOUT, Fault.AGENT)


CHILDREN = """
import os, subprocess, sys, time, signal
signal.signal(signal.SIGTERM, signal.SIG_IGN)
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
open("child", "w").write(str(child.pid))
if len(sys.argv) > 1: sys.exit()
time.sleep(60)
"""


@pytest.mark.parametrize("arguments", [(), ("leave",)])
def test_no_child_outlives_the_question(tmp_path: Path, arguments: tuple[str, ...]) -> None:
    target = program(CHILDREN, tmp_path, *arguments, timeout="1s")
    start = time.perf_counter()
    if arguments:
        ask(target)
    else:
        failure(target)
    assert time.perf_counter() - start < 30
    assert_gone(int((tmp_path / "child").read_text()))


def test_a_cancelled_question_leaves_no_process(tmp_path: Path) -> None:
    target = program(CHILDREN, tmp_path)

    async def work() -> None:
        asked = asyncio.create_task(target.answer(task()))
        while not (tmp_path / "child").exists() or not (tmp_path / "child").read_text():
            await asyncio.sleep(0.02)
        asked.cancel()
        await asyncio.gather(asked, return_exceptions=True)

    running(target, work)
    assert_gone(int((tmp_path / "child").read_text()))


def assert_gone(process: int) -> None:
    for _ in range(100):
        try:
            state = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
        except FileNotFoundError:
            return
        if state == "Z":
            return
        time.sleep(0.02)
    os.kill(process, 9)
    raise AssertionError("a child is still there")


def test_endless_output_is_cut_short(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(command_target, "LARGEST_OUTPUT_BYTES", 1024 * 1024)
    start = time.perf_counter()
    error = failure(program("while True: print('x' * 10000)"))
    assert isinstance(error, TargetError)
    assert "printed more than 1 MiB" in str(error)
    assert time.perf_counter() - start < 30


def test_of_a_long_standard_error_the_end_is_kept() -> None:
    code = "import sys; [print('noise', n, file=sys.stderr) for n in range(20000)]; print('4')"
    answer = ask(program(code))
    assert text_of(answer.output) == "4"
    assert len(answer.details["stderr"]) <= 8 * 1024
    assert answer.details["stderr"].endswith("noise 19999\n")


def test_a_program_that_does_not_listen_is_no_error() -> None:
    answer = ask(program("import os; os.close(0); print('4')"), task("x" * 1_000_000))
    assert text_of(answer.output) == "4"


def test_output_that_is_no_json_is_an_error_of_the_agent() -> None:
    error = failure(program("print('{\"a\": ')", stdout="json"))
    assert isinstance(error, TargetError)
    assert "printed no JSON" in str(error)
    error = failure(program("print('{}')", stdout="json", output_path="a"))
    assert "printed nothing at a: it is empty" in str(error)


def test_programs_run_beside_each_other_up_to_a_bound(tmp_path: Path) -> None:
    code = "import os, time, sys; n = len(os.listdir()); open(str(os.getpid()), 'w'); time.sleep(0.3); "
    code += "print(len(os.listdir())); os.unlink(str(os.getpid()))"
    target = program(code, tmp_path, max_concurrency=2)

    async def work() -> list[Answer]:
        return await asyncio.gather(*(target.answer(task()) for _ in range(5)))

    counts = [int(text_of(answer.output)) for answer in running(target, work)]
    assert max(counts) <= 2


# --- What is refused before anything is started ----------------------------------------------------------------------


def test_a_program_that_is_not_there_is_a_mistake_of_the_spec(tmp_path: Path) -> None:
    with pytest.raises(NotFoundError, match="there is no program 'no-such-program-anywhere' on the PATH") as caught:
        make(command={"argv": ["no-such-program-anywhere"]})
    assert caught.value.where == "target.command.argv[0]"
    with pytest.raises(NotFoundError, match="there is no folder") as caught:
        make(command={"argv": ["cat"], "workdir": str(tmp_path / "nowhere")})
    assert caught.value.where == "target.command.workdir"
    with pytest.raises(NotFoundError) as caught:
        make(agent={"cli": {"command": ["no-such-program-anywhere"]}})
    assert caught.value.where == "target.agent.cli.command[0]"


def test_a_program_that_has_gone_is_said_by_the_check_and_by_the_question(tmp_path: Path) -> None:
    brief = tmp_path / "brief"
    brief.write_text("#!/bin/sh\n")
    brief.chmod(0o755)
    target = make(command={"argv": [str(brief)]})
    brief.unlink()
    for work in (target.check, lambda: target.answer(task())):
        with pytest.raises(MeasurementError, match=r"there is no program '.*brief' that can be started") as caught:
            running(target, work)
        assert caught.value.fault is Fault.ENVIRONMENT


@pytest.mark.parametrize(
    ("command", "error", "said"),
    [
        ({"argv": []}, InvalidSpecError, "no program to start"),
        ({"argv": ["{{ input }}"]}, InvalidSpecError, "must not decide which program"),
        ({"argv": ["x", "{{ reference }}"]}, InvalidSpecError, "must not see the right answer"),
        ({"argv": ["x"], "stdin": "file"}, UnknownNameError, "unknown stdin 'file'"),
        ({"argv": ["x"], "output_path": "a"}, InvalidSpecError, "add stdout: json"),
    ],
)
def test_what_cannot_be_started_is_refused(command: Any, error: type[Exception], said: str) -> None:
    with pytest.raises(error, match=said):
        make(command=command)


def test_a_command_line_agent_is_the_same_program() -> None:
    cli = {"command": [sys.executable, "-c", "print('{\"result\": 1}')"], "output_format": "json", "timeout": "5s"}
    assert ask(make(agent={"cli": cli})).output == Content(json={"result": 1})
    with pytest.raises(InvalidSpecError, match="need a sandbox"):
        make(agent={"cli": {**cli, "install": ["pip install x"]}})
