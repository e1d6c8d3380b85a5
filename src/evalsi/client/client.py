"""`evalsi.Client`: a server of evalsi, for ordinary code.

with evalsi.Client("http://127.0.0.1:8080") as client:
    print(client.get_run(schema.GetRunRequest(id=run_id)).run)

Its calls run in an event loop of its own, in a thread of its own, so that it works in scripts, in notebooks (inside a
running event loop) and from several threads at once.
"""

import asyncio
import threading
import weakref
from collections.abc import AsyncGenerator, Coroutine, Generator, Iterable, Sequence
from types import TracebackType
from typing import Any, Self, TypeVar

from evalsi.client.async_client import AsyncClient
from evalsi.client.generated_calls import Calls
from evalsi.client.retrying import RetryPlan
from evalsi.client.server_address import ServerAddress
from evalsi.schema import EvaluationResult, EvaluatorRef, Record

T = TypeVar("T")

_END: Any = object()


class Client(Calls):
    """As `AsyncClient`, with plain methods; streams are iterators. Close it, or use it as a context."""

    def __init__(
        self,
        url: str,
        *,
        api_key: str = "",
        timeout_s: float = 600.0,
        retries: RetryPlan | None = None,
        proxy: str = "",
    ) -> None:
        self._client = AsyncClient(url, api_key=api_key, timeout_s=timeout_s, retries=retries, proxy=proxy)
        self._calls = self._client
        self._loop = asyncio.new_event_loop()
        thread = threading.Thread(target=_run, args=(self._loop,), name="evalsi-client", daemon=True)
        thread.start()
        # Also when it was never closed: at exit, or when nobody holds it any more.
        self._finish = weakref.finalize(self, _stop, self._client, self._loop, thread)

    @classmethod
    def at(cls, server: ServerAddress) -> Self:
        """A client of this server, as whom and by which way the address says."""
        return cls(server.url, api_key=server.api_key, proxy=server.proxy)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Closes the connections. The client cannot be used afterwards; closing it twice is fine."""
        self._finish()

    def evaluate_records(
        self,
        records: Iterable[Record],
        evaluators: Sequence[str | EvaluatorRef],
        *,
        judge: str = "",
        project: str = "",
    ) -> Generator[EvaluationResult]:
        """As `AsyncClient.evaluate_records`."""
        return self._each(self._client.evaluate_records(records, evaluators, judge=judge, project=project))

    def _wait(self, work: Coroutine[Any, Any, T]) -> T:
        future = asyncio.run_coroutine_threadsafe(work, self._loop)
        try:
            return future.result()
        except BaseException:
            future.cancel()  # Ctrl-C ends the call, not the waiting alone
            raise

    def _each(self, answers: AsyncGenerator[T]) -> Generator[T]:
        async def following() -> T:
            return await anext(answers, _END)

        try:
            while (answer := self._wait(following())) is not _END:
                yield answer
        finally:
            self._wait(_closed(answers))

    async def _given(self, items: Iterable[T]) -> AsyncGenerator[T]:
        source = iter(items)
        while (item := await asyncio.to_thread(next, source, _END)) is not _END:
            yield item


async def _closed(answers: AsyncGenerator[Any]) -> None:
    await answers.aclose()


def _run(loop: asyncio.AbstractEventLoop) -> None:
    asyncio.set_event_loop(loop)
    loop.run_forever()
    loop.run_until_complete(loop.shutdown_asyncgens())
    loop.run_until_complete(loop.shutdown_default_executor())
    loop.close()


def _stop(calls: AsyncClient, loop: asyncio.AbstractEventLoop, thread: threading.Thread) -> None:
    if threading.current_thread() is thread:
        return  # collected in its own loop, which ends with the process
    asyncio.run_coroutine_threadsafe(calls.close(), loop).result()
    loop.call_soon_threadsafe(loop.stop)
    thread.join()
