"""The flag `--format`, the same for every command that prints figures or lists.

Its own module so that no command decides by itself how the flag is called and what it takes when it is not given.
"""

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import click

F = TypeVar("F", bound=Callable[..., Any])


def format_option(forms: Sequence[str] = ("table", "json"), *, about: str | None = None) -> Callable[[F], F]:
    """Adds the flag to a command, which receives it as `output_format`. The first of the forms is the usual one.

    Args:
        about: What the help says of it.
    """
    return click.option(
        "--format", "output_format", type=click.Choice(forms), default=forms[0], show_default=True, help=about
    )
