"""The tokens that judges may use for a project in a UTC day, whoever has them asked: runs, calls and policies together."""

from typing import NamedTuple, Protocol

from evalsi.ports.spent import Spent


class TokensLeft(NamedTuple):
    """What is left of a project's day."""

    tokens: int | None
    """None where there is no limit; 0 or less when nothing is left."""
    used_up: str = ""
    """What to say once nothing is left."""


class JudgeTokenQuota(Protocol):
    """Counts for all projects. Methods block."""

    def left(self, project: str) -> TokensLeft:
        """Raises: StoreError."""
        ...

    def add(self, spent: Spent) -> None:
        """Counts what judges used. Never raises: what cannot be counted is told to the operator."""
        ...


class NoQuota:
    """Implements `JudgeTokenQuota` where nobody limits anything."""

    def left(self, project: str) -> TokensLeft:
        del project
        return TokensLeft(None)

    def add(self, spent: Spent) -> None:
        del spent
