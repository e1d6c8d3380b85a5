"""A service that is loaded when it is first called, or when the server has been ready for a moment and had time for it.

Its own module because a server is ready when it can take calls, and loading what runs, traces and policies are made of takes
longer than all else that it does before. What always holds: a call finds a loaded service, and calls that come meanwhile wait
for the one loading.
"""

import asyncio
import threading
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing
from typing import Any

from evalsi.core.errors import UnimplementedError
from evalsi.schema.method import Method


class LateService:
    """Stands for a service in the list of those that are served.

    Args:
        service: Its name, without the package.
        make: Imports its module and makes it. Called once, in a thread.
    """

    def __init__(self, service: str, make: Callable[[], Any]) -> None:
        self.service = service
        self._make = make
        self._made: Any = None
        self._making = threading.Lock()

    def load(self) -> Any:
        """The service. Blocks while it is loaded."""
        if self._made is None:
            with self._making:
                self._made = self._made or self._make()
        return self._made

    def code_of(self, method: Method) -> Callable[..., Any]:
        """What serves the method, as `ServedMethod.call` has it."""
        return self._stream(method) if method.server_streams else self._answer(method)

    def _answer(self, method: Method) -> Callable[..., Awaitable[Any]]:
        async def answer(request: Any, caller: Any) -> Any:
            service = self._made or await asyncio.to_thread(self.load)
            return await self._code(service, method)(request, caller)

        return answer

    def _stream(self, method: Method) -> Callable[..., AsyncGenerator[Any]]:
        async def stream(request: Any, caller: Any) -> AsyncGenerator[Any]:
            service = self._made or await asyncio.to_thread(self.load)
            async with aclosing(self._code(service, method)(request, caller)) as answers:
                async for each in answers:
                    yield each

        return stream

    def _code(self, service: Any, method: Method) -> Any:
        code = getattr(service, method.python_name, None)
        if code is None:
            raise not_served(f"{self.service}.{method.name}")
        return code


def not_served(short_name: str) -> UnimplementedError:
    """What is told of a method that nobody serves."""
    return UnimplementedError(f"{short_name} is not served by this version")
