"""How the command line writes: one console for tables, messages on standard error, text of records made harmless."""

import sys
from functools import cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.console import Console

PIPED_WIDTH = 100


@cache
def console(*, error: bool = False) -> "Console":
    """The console of standard output (or error). 100 columns wide where it is no terminal; NO_COLOR is honoured."""
    from rich.console import Console

    stream = sys.stderr if error else sys.stdout
    terminal = stream.isatty()
    return Console(file=stream, width=None if terminal else PIPED_WIDTH, highlight=False, soft_wrap=False)


def speaks_unicode() -> bool:
    """Whether standard output can show box-drawing characters."""
    encoding = (getattr(sys.stdout, "encoding", None) or "ascii").lower().replace("-", "")
    return encoding.startswith("utf")


def say(message: str) -> None:
    """One line for a person, on standard error, so that standard output stays data."""
    print(message, file=sys.stderr, flush=True)


def figure(value: float | None, digits: int = 3) -> str:
    """A number for a table: fixed digits near 1, more where it is small, grouped where it is large; "–" for none."""
    if value is None:
        return "–" if speaks_unicode() else "-"
    size = abs(value)
    if size >= 10_000:
        return f"{value:,.0f}"
    if size >= 100:
        return f"{value:,.1f}"
    if size and size < 0.001:
        return f"{value:.1e}"
    return f"{value:.{digits}f}"


def as_json(value: Any) -> str:
    """JSON for `--format json`: indented, keys in their own order, characters kept."""
    import msgspec

    return msgspec.json.format(msgspec.json.encode(value), indent=2).decode()
