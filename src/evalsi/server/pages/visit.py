"""One request of a browser: what it asks for, who asks, and the calls of the API that answer it.

Its own module because every page stands on it. What always holds: a page reaches data through `Visit.call` alone, which
goes through the door of the server: authenticated, admitted, counted and logged like any other call.
"""

from collections.abc import AsyncGenerator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, TypeVar
from urllib.parse import parse_qsl, urlencode

import msgspec

from evalsi.core.errors import UnimplementedError, UsageError
from evalsi.server.calls import Arrival, Door
from evalsi.server.exchange import Exchange
from evalsi.server.pages.call_command import CallCommand, call_command
from evalsi.server.pages.sessions import Session
from evalsi.server.served_method import ServedMethod

T = TypeVar("T", bound=msgspec.Struct)
_MOST_FIELDS = 200
COMMANDS_PER_METHOD = 2
"""Calls of one method that a page tells: a further one says nothing new."""
PROTOCOL = "page"
"""How calls of pages are named in logs and metrics."""


def as_typed(text: str) -> str:
    """A text as it comes back from a field that it was shown in: browsers send every end of a line as CRLF."""
    return text.replace("\r\n", "\n").replace("\r", "\n").strip()


class Query:
    """Fields of an address or a form. A field that is not there is an empty text."""

    def __init__(self, text: str) -> None:
        try:
            self.pairs = parse_qsl(text, keep_blank_values=True, max_num_fields=_MOST_FIELDS)
        except ValueError:
            raise UsageError(f"there are more than {_MOST_FIELDS} fields") from None

    def get(self, name: str) -> str:
        return next((as_typed(value) for key, value in self.pairs if key == name), "")

    def all(self, name: str) -> list[str]:
        return [value.strip() for key, value in self.pairs if key == name and value.strip()]

    def number(self, name: str) -> float | None:
        """A finite number, None where the field is empty. Raises: UsageError."""
        text = self.get(name)
        if not text:
            return None
        try:
            found = float(text)
        except ValueError:
            found = float("nan")
        if not abs(found) < float("inf"):
            raise UsageError(f"{name} must be a number, not {text[:40]!r}")
        return found

    def whole(self, name: str) -> int:
        """A whole number from 0, 0 where the field is empty. Raises: UsageError."""
        text = self.get(name)
        if text and (not text.isdecimal() or len(text) > 9):
            raise UsageError(f"{name} must be a whole number, not {text[:40]!r}")
        return int(text or 0)

    def but(self, **changes: str | int | None) -> str:
        """The query again, with other values of some fields; None leaves a field out."""
        kept = [(key, value) for key, value in self.pairs if key not in changes and value.strip()]
        return urlencode(kept + [(key, str(value)) for key, value in changes.items() if value not in (None, "")])

    def without(self, name: str, value: str) -> str:
        """The query from its first page on, without one of the values of a field that may stand several times."""
        return urlencode([pair for pair in self._from_the_first_page() if pair != (name, value)])

    def plus(self, name: str, value: str) -> str:
        """The query from its first page on, with one more value of a field that may stand several times."""
        return urlencode([*(pair for pair in self._from_the_first_page() if pair != (name, value)), (name, value)])

    def _from_the_first_page(self) -> list[tuple[str, str]]:
        return [(key, value) for key, value in self.pairs if value.strip() and key != "page_token"]


@dataclass(kw_only=True)
class Visit:
    """A request and what it takes to answer it."""

    exchange: Exchange
    door: Door
    served: Mapping[str, ServedMethod]
    session: Session | None
    form_token: str
    form: Query = field(default_factory=lambda: Query(""))
    """What was sent in a form that passed its check."""
    commands: list[CallCommand] = field(default_factory=list[CallCommand])
    """The calls made so far as a person can make them elsewhere, of each method the first ones."""

    @cached_property
    def query(self) -> Query:
        return Query(self.exchange.query)

    @property
    def asks_who(self) -> bool:
        """Whether the server asks callers who they are."""
        return self.door.authenticator.enabled

    @property
    def origin(self) -> str:
        return f"{self.exchange.scheme}://{self.exchange.headers.get('host', 'localhost')}"

    async def call(self, name: str, request: msgspec.Struct, answer: type[T]) -> T:
        """Makes a call. Raises: EvalsiError: as the method says; it may not be made; nobody serves it.

        Args:
            name: Service and method, for example "RunService.GetRun".
        """
        found = await self.door.answer(self._noted(name, request), request, self.arrival())
        assert isinstance(found, answer)
        return found

    async def gather(self, name: str, requests: AsyncGenerator[msgspec.Struct], answer: type[T]) -> T:
        """Makes a call with a stream of requests."""
        served = self.served.get(name)
        if served is None:
            raise UnimplementedError(f"this server does not serve {name}")
        found = await self.door.gather(served, requests, self.arrival())
        assert isinstance(found, answer)
        return found

    async def stream(self, name: str, request: msgspec.Struct) -> AsyncGenerator[Any]:
        """Makes a call with a stream of answers."""
        answers = self.door.stream(self._noted(name, request), request, self.arrival())
        try:
            async for one in answers:
                yield one
        finally:
            await answers.aclose()

    def serves(self, service: str) -> bool:
        return any(name.startswith(f"{service}.") for name in self.served)

    def arrival(self) -> Arrival:
        headers: dict[str, str] = {}
        if self.session is not None:
            headers["authorization"] = f"Bearer {self.session.api_key}"
        return Arrival(
            headers=headers, request_id=self.exchange.request_id, protocol=PROTOCOL, source=self.exchange.source
        )

    def _noted(self, name: str, request: msgspec.Struct) -> ServedMethod:
        served = self.served.get(name)
        if served is None:
            raise UnimplementedError(f"this server does not serve {name}")
        command = call_command(name, served.method, request, self.origin, with_key=self.asks_who)
        if sum(one.name == name for one in self.commands) < COMMANDS_PER_METHOD and command not in self.commands:
            self.commands.append(command)
        return served


@dataclass(frozen=True, kw_only=True)
class Page:
    """A page to show: the name of its template and what the template is given."""

    template: str
    values: Mapping[str, Any]
    status: int = 200


@dataclass(frozen=True, kw_only=True)
class Moved:
    """Another address to look at."""

    to: str
    cookie: str = ""
    """What the browser is to keep, as a header says it."""
