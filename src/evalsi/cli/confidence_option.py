"""`--confidence`, the same for every command that gives intervals.

Its own module because that is most of them, and a level of 0 or 1 is none anywhere.
"""

from collections.abc import Callable
from typing import Any, TypeVar

import click

F = TypeVar("F", bound=Callable[..., Any])


def confidence_option(*others: str, about: str = "Level of the intervals.") -> Callable[[F], F]:
    """Adds the flag to a command, which receives it as `confidence`.

    Args:
        others: Further names of the flag; the command's parameter is the first of all names.
        about: What the help says of it.
    """
    level = click.FloatRange(0, 1, min_open=True, max_open=True)
    return click.option("--confidence", *others, type=level, default=0.95, show_default=True, help=about)
