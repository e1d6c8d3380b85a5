"""What a command said comes whole and in order, and never more than the limit, whoever sends it."""

import asyncio
from collections.abc import AsyncGenerator

from evalsi.infra.sandbox.collected_output import collect_output
from evalsi.ports.sandbox import Execution, OutputPiece, SandboxOutcome

closed: list[str] = []


async def saying(*events: OutputPiece | Execution) -> AsyncGenerator[OutputPiece | Execution]:
    try:
        for event in events:
            yield event
    finally:
        closed.append("closed")


def collected(*events: OutputPiece | Execution, most_bytes: int = 100) -> Execution:
    return asyncio.run(collect_output(saying(*events), most_bytes))


def test_pieces_of_both_streams_are_put_together() -> None:
    pieces = (OutputPiece("stdout", b"a"), OutputPiece("stderr", b"1"), OutputPiece("stdout", b"b"))
    ended = collected(*pieces, Execution(outcome=SandboxOutcome.EXIT, exit_code=3))
    assert (ended.stdout, ended.stderr, ended.exit_code, ended.truncated) == (b"ab", b"1", 3, False)
    assert closed.pop() == "closed"


def test_what_goes_beyond_the_limit_is_left_out_and_said() -> None:
    flood = tuple(OutputPiece("stdout", b"xy") for _ in range(1000))
    ended = collected(*flood, OutputPiece("stderr", b"12345"), Execution(outcome=SandboxOutcome.EXIT), most_bytes=5)
    assert (ended.stdout, ended.stderr, ended.truncated) == (b"xyxyx", b"12345", True)


def test_what_was_already_cut_inside_is_still_said_to_be() -> None:
    ended = collected(OutputPiece("stdout", b"x"), Execution(outcome=SandboxOutcome.EXIT, truncated=True))
    assert ended.truncated


def test_a_stream_without_an_end_is_a_failure_of_the_sandbox() -> None:
    ended = collected(OutputPiece("stdout", b"x"))
    assert (ended.outcome, ended.stdout) == (SandboxOutcome.RUNNER_FAILURE, b"x")
