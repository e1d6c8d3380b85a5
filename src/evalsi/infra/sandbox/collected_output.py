"""What a command said, put together from the pieces in which it came, and never more of it than the sandbox's limit.

Its own module because every kind of sandbox streams, and whoever waits for a command wants it whole. The agent keeps to the limit
already; here it holds for an agent, or a host of sandboxes, that was taken over as well.
"""

import contextlib
from collections.abc import AsyncGenerator

import msgspec

from evalsi.ports.sandbox import Execution, OutputPiece, SandboxOutcome


async def collect_output(events: AsyncGenerator[OutputPiece | Execution], most_bytes: int) -> Execution:
    """The execution with both streams in it, each of at most `most_bytes`. The stream is closed in any case."""
    said = {"stdout": bytearray(), "stderr": bytearray()}
    truncated = False
    ended = Execution(outcome=SandboxOutcome.RUNNER_FAILURE, reason="the sandbox has died")
    async with contextlib.aclosing(events):
        async for event in events:
            if isinstance(event, OutputPiece):
                kept = said[event.stream]
                room = most_bytes - len(kept)
                kept += event.data[:room]
                truncated = truncated or len(event.data) > room
            else:
                ended = event
    return msgspec.structs.replace(
        ended,
        stdout=bytes(said["stdout"]),
        stderr=bytes(said["stderr"]),
        truncated=ended.truncated or truncated,
    )
