"""Spans of evalsi's own work, for whoever watches evalsi itself: calls, evaluators, judges, runs.

Its own module because every layer marks what it does, and none may know who listens. Like a log it is a fact about the
process: `trace_with` is called once where the process begins, and without it nothing is kept and next to nothing is spent.
What always holds: attributes are names, counts and codes; no text of a record, no prompt, no secret is one.
"""

from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from typing import Protocol

Attribute = str | int | float | bool


class Span(Protocol):
    """A piece of work under way."""

    def set(self, name: str, value: Attribute) -> None:
        """Says something more about it."""
        ...

    def fail(self, code: str) -> None:
        """Says that it failed; `code` is one of the error tree, or the name of a class."""
        ...


class Tracer(Protocol):
    """Takes spans. It may be used from every thread and task."""

    def span(
        self, name: str, attributes: Mapping[str, Attribute], parent: str, *, is_call: bool
    ) -> AbstractContextManager[Span]:
        """A span that lasts as long as the context; below `parent`, a W3C traceparent, else below the one around it."""
        ...

    def traceparent(self) -> str:
        """The W3C traceparent of the span around; empty where there is none."""
        ...


class _Nothing:
    def set(self, name: str, value: Attribute) -> None:
        """Nobody listens."""

    def fail(self, code: str) -> None:
        """Nobody listens."""


_NOTHING: AbstractContextManager[Span] = nullcontext(_Nothing())
_tracer: Tracer | None = None


def trace_with(tracer: Tracer | None) -> None:
    """Has spans of this process taken by a tracer; None for nobody."""
    global _tracer
    _tracer = tracer


def span(
    name: str, attributes: Mapping[str, Attribute] | None = None, *, parent: str = "", is_call: bool = False
) -> AbstractContextManager[Span]:
    """A span around some work.

    Args:
        parent: The W3C traceparent of who asked for it, where that was another process.
        is_call: Whether it answers a call over the network.
    """
    return _NOTHING if _tracer is None else _tracer.span(name, attributes or {}, parent, is_call=is_call)


def traceparent() -> str:
    """What is sent along when other processes are asked; empty where nothing is traced."""
    return "" if _tracer is None else _tracer.traceparent()
