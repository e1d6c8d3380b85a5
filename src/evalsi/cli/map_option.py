"""The flag `--map`, the same for every command that reads a dataset. Its own module so that none calls it otherwise."""

from collections.abc import Callable
from typing import Any, TypeVar

import click

F = TypeVar("F", bound=Callable[..., Any])


def map_option(command: F) -> F:
    """Adds the flag to a command, which receives it as `mappings`, for `evalsi.datasets.mapping_of_flags`."""
    return click.option(
        "--map",
        "mappings",
        multiple=True,
        metavar="FIELD=COLUMN",
        help="Where a record field comes from: a column, a path (data.q) or a template ('Q: {q}'). Repeatable.",
    )(command)
