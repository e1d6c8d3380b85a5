"""What changes while somebody looks: server-sent events for the list of runs and for one run.

Its own module because these answers never end by themselves; other pages send their events through it. What always holds: an event carries numbers and words of
ours; the page fetches itself again for anything else.
"""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing, suppress

import msgspec

from evalsi.schema import ListRunsResponse, WatchRunRequest
from evalsi.server.exchange import while_there
from evalsi.server.pages.runs_page import runs_request
from evalsi.server.pages.visit import Visit

LOOK_S = 3.0
"""Seconds between two looks at the list."""
LONGEST_S = 600.0
"""Seconds after which a stream ends; the browser begins it again, and is then asked anew who it is."""


async def run_events(visit: Visit, run_id: str) -> None:
    """`progress` while the run is under way, `changed` when its status is another one."""

    async def events() -> AsyncGenerator[bytes]:
        first = True
        answers = visit.stream("RunService.WatchRun", WatchRunRequest(id=run_id))
        async with aclosing(answers):
            async for answer in answers:
                progress = answer.progress or (answer.run.progress if answer.run is not None else None)
                if progress is not None:
                    yield event("progress", {"done": progress.done, "total": progress.total})
                if answer.run is not None and not first:
                    yield event("changed", {})
                first = False
        yield event("end", {})

    await send_events(visit, events())


async def list_events(visit: Visit) -> None:
    """`changed` when the page of the list that is looked at shows something else than before."""
    request = runs_request(visit)

    async def events() -> AsyncGenerator[bytes]:
        before: list[tuple[str, str, int]] | None = None
        while True:
            found = await visit.call("RunService.ListRuns", request, ListRunsResponse)
            now = [(run.id, str(run.status), run.progress.done if run.progress else 0) for run in found.runs]
            if before is not None and now != before:
                yield event("changed", {})
            else:
                yield b": still here\n\n"
            before = now
            await asyncio.sleep(LOOK_S)

    await send_events(visit, events())


async def send_events(visit: Visit, events: AsyncGenerator[bytes]) -> None:
    """Sends events until there are none, the browser has gone or `LONGEST_S` is over. The first one begins the answer."""
    exchange = visit.exchange
    await exchange.body()

    async def sending() -> None:
        async with asyncio.timeout(LONGEST_S), aclosing(events):
            first = await anext(events)  # a refusal comes before the answer is begun
            headers = [("cache-control", "no-store"), ("x-accel-buffering", "no")]
            await exchange.begin(200, "text/event-stream", headers)
            await exchange.piece(first)
            async for following in events:
                await exchange.piece(following)

    with suppress(TimeoutError):
        await while_there(exchange, sending())
    if exchange.started:
        await exchange.end()


def event(name: str, facts: dict[str, int]) -> bytes:
    """An event as it is sent."""
    return f"event: {name}\ndata: ".encode() + msgspec.json.encode(facts) + b"\n\n"
