"""What the stores ask of a SQL database: statements with `?` for parameters, read alone or changed together.

Its own module because two databases keep it (`database` for SQLite, `postgres` for PostgreSQL) and the stores above are
written once over both. Every statement is in the dialect that both understand.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Protocol, TypeVar

T = TypeVar("T")


class Cursor(Protocol):
    """What a statement gave."""

    @property
    def rowcount(self) -> int: ...

    def fetchone(self) -> Any: ...

    def fetchall(self) -> list[Any]: ...


class Transaction(Protocol):
    """An open transaction."""

    def execute(self, statement: str, parameters: Sequence[Any] = (), /) -> Cursor: ...

    def executemany(self, statement: str, parameters: Iterable[Sequence[Any]], /) -> object: ...


class SqlDatabase(Protocol):
    """A database that several processes share. Any thread may call. What it fails with is typed as StoreError."""

    @property
    def name(self) -> str:
        """Where it is, for people; without credentials."""
        ...

    @property
    def compression_level(self) -> int:
        """Of zstd, for bodies."""
        ...

    @property
    def writer_timeout_s(self) -> float:
        """How long after its last sign of life a writer that cannot be seen from here counts as gone."""
        ...

    @property
    def hold(self) -> str:
        """What is written behind a SELECT so that its rows stay as they are until the transaction has ended."""
        ...

    @property
    def read_only(self) -> bool: ...

    @property
    def is_open(self) -> bool:
        """Whether this process may use it: false once closed, and in a child made by a fork."""
        ...

    def read(self, statement: str, parameters: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """Every row that `statement` gives. No lock is held when this has returned."""
        ...

    def write(self, change: Callable[[Transaction], T], *, sync: bool = False, alone: bool = False) -> T:
        """Runs `change` as one transaction: committed when this has returned, undone when it raised.

        Args:
            change: Executes its statements. May run again, so it must have no other effect.
            sync: Waits until the disk has it, whatever the options say.
            alone: No other change that asks to be alone runs at the same time, so what it reads stays true until it is
                done. Without it a change must decide by the rows it updates.
        """
        ...

    def give_space_back(self) -> None:
        """Best effort: returns what deleted rows took."""
        ...

    def close(self) -> None: ...
