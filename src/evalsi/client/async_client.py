"""`evalsi.AsyncClient`: a server of evalsi, for an event loop.

async with evalsi.AsyncClient("http://127.0.0.1:8080") as client:
    answer = await client.get_run(schema.GetRunRequest(id=run_id))
"""

import asyncio
from collections import deque
from collections.abc import AsyncGenerator, AsyncIterable, Iterable, Sequence
from contextlib import aclosing
from itertools import islice
from types import TracebackType
from typing import Self

from evalsi.client.connection import Connection
from evalsi.client.generated_calls import AsyncCalls
from evalsi.client.retrying import RetryPlan
from evalsi.client.server_address import ServerAddress
from evalsi.schema import EvaluateRequest, EvaluateResponse, EvaluationResult, EvaluatorRef, Record

CHUNK_RECORDS = 256
"""Records in one call of a large evaluation."""
CHUNKS_IN_FLIGHT = 4


class AsyncClient(AsyncCalls):
    """Calls to one server. Every method of every service is a method here: a request in, a response out.

    A call that failed for a reason that may pass is made again, as `retries` says; one that changes something is sent under
    a key of idempotency, so that it is done once however often it arrives. An error of the server is raised as the same
    class that the same mistake raises without one.

    Args:
        url: Address of the server, such as https://evals.example.com.
        api_key: The key to show; "" for none.
        timeout_s: Seconds a call may take in all; for a stream, seconds in which nothing comes.
        retries: How often and how patiently a call is repeated.
        proxy: Address of an HTTP proxy; "" for a direct way.
    Raises: UsageError: `url` is no http address.
    """

    def __init__(
        self,
        url: str,
        *,
        api_key: str = "",
        timeout_s: float = 600.0,
        retries: RetryPlan | None = None,
        proxy: str = "",
    ) -> None:
        address = ServerAddress(url=url, api_key=api_key, proxy=proxy)
        self._connection = Connection(address, retries=retries or RetryPlan(), timeout_s=timeout_s)

    @classmethod
    def at(cls, server: ServerAddress) -> Self:
        """A client of this server, as whom and by which way the address says."""
        return cls(server.url, api_key=server.api_key, proxy=server.proxy)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def close(self) -> None:
        """Closes the connections. The client cannot be used afterwards."""
        await self._connection.close()

    async def evaluate_records(
        self,
        records: Iterable[Record] | AsyncIterable[Record],
        evaluators: Sequence[str | EvaluatorRef],
        *,
        judge: str = "",
        project: str = "",
    ) -> AsyncGenerator[EvaluationResult]:
        """Scores any number of records: their results in the order of the records and, for each, of the evaluators.

        Records are sent in chunks, a few of them at once, and neither they nor their results are held. Evaluators of whole
        datasets or sessions would see a chunk only: send those with `evaluate` or `evaluate_stream`.

        Args:
            records: Their ids must be unique within a chunk; across chunks nobody looks.
            evaluators: References, or references with params and names of their own.
            judge: Name of the server's judge for evaluators that ask one; "" for its usual one.
            project: Whose call it is; "" for the usual project.
        Raises: EvalsiError: what the server said about a chunk; the results of those before were given.
        """
        template = EvaluateRequest(project=project, evaluators=refs_of(evaluators), judge=judge)
        async with aclosing(self.evaluate_chunks(_chunks(records), template)) as answers:
            async for _, answer in answers:
                for result in answer.results:
                    yield result

    async def evaluate_chunks(
        self, chunks: AsyncIterable[list[Record]], template: EvaluateRequest
    ) -> AsyncGenerator[tuple[list[Record], EvaluateResponse]]:
        """Makes `template` a call for each chunk of records, `CHUNKS_IN_FLIGHT` at once; answers in the order of the chunks."""
        flying: deque[tuple[list[Record], asyncio.Task[EvaluateResponse]]] = deque()
        try:
            async for chunk in chunks:
                request = EvaluateRequest(
                    project=template.project,
                    records=chunk,
                    evaluators=template.evaluators,
                    judge=template.judge,
                    summary=template.summary,
                )
                flying.append((chunk, asyncio.create_task(self.evaluate(request))))
                if len(flying) >= CHUNKS_IN_FLIGHT:
                    first, task = flying.popleft()
                    yield first, await task
            while flying:
                first, task = flying.popleft()
                yield first, await task
        finally:
            for _, task in flying:
                task.cancel()
            await asyncio.gather(*(task for _, task in flying), return_exceptions=True)


def refs_of(evaluators: Sequence[str | EvaluatorRef]) -> list[EvaluatorRef]:
    """The references; a text may be prefixed with the name its results carry: "strict=exact-match"."""
    found: list[EvaluatorRef] = []
    for each in evaluators:
        if isinstance(each, EvaluatorRef):
            found.append(each)
        else:
            name, _, ref = each.rpartition("=")
            found.append(EvaluatorRef(ref=ref, name=name))
    return found


async def _chunks(records: Iterable[Record] | AsyncIterable[Record]) -> AsyncGenerator[list[Record]]:
    if isinstance(records, AsyncIterable):
        chunk: list[Record] = []
        async for record in records:
            chunk.append(record)
            if len(chunk) == CHUNK_RECORDS:
                yield chunk
                chunk = []
        if chunk:
            yield chunk
        return
    source = iter(records)
    # In a thread: reading the next records may take its time, and answers are to be taken meanwhile.
    while chunk := await asyncio.to_thread(lambda: list(islice(source, CHUNK_RECORDS))):
        yield chunk
