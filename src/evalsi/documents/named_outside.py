"""Errors about what a spec names outside of itself (a file, a function, a program, a variable), told where it is named.

Its own module because whoever looks for such a thing knows neither the spec nor its field: a reader of files says which
file is not there, and a person needs the line that names it. A name that leads nowhere is a mistake in the spec.
"""

from collections.abc import Callable, Generator
from contextlib import contextmanager

from evalsi.core.errors import (
    EvalsiError,
    InvalidSpecError,
    MissingExtraError,
    NotFoundError,
    PluginError,
    UsageError,
)

__all__ = ["about_field", "named_at", "nowhere", "where_named"]


def nowhere(_path: str) -> str:
    """The places of a spec that nobody wrote: a request over the wire, a value in Python."""
    return ""


@contextmanager
def about_field(path: str) -> Generator[None]:
    """Makes every error of the block one about the field at `path`, unless it names a field further down itself.

    Args:
        path: As in `spec.target.python`. What the error said about its place goes into its sentence.
    """
    try:
        yield
    except EvalsiError as error:
        if not _is_within(error.where, path):
            error.message = f"{error.where}: {error.message}" if error.where else error.message
            error.where = path
        raise


@contextmanager
def named_at(where: Callable[[str], str], path: str) -> Generator[None]:
    """As `about_field`, with the place in the document: a name that leads nowhere becomes a mistake of the spec.

    Args:
        where: `file:line:column` of a field, by its path.

    Raises: InvalidSpecError: nothing is there, or it cannot be used. Errors about anything else keep their kind.
    """
    try:
        with about_field(path):
            yield
    except MissingExtraError as error:
        error.where = _placed(where, error.where or path)
        raise
    except (UsageError, NotFoundError, PluginError) as error:
        exact = error.where or path
        raise InvalidSpecError(f"{exact}: {error.message}", where=where(exact), hint=error.hint) from error
    except EvalsiError as error:
        error.where = _placed(where, error.where or path)
        raise


@contextmanager
def where_named(where: Callable[[str], str]) -> Generator[None]:
    """As `named_at`, where the error itself says which field of the spec it is about, as those of a server do."""
    try:
        yield
    except EvalsiError as error:
        if error.where is None or not _is_within(error.where, "spec"):
            raise
        with named_at(where, error.where):
            raise


def _placed(where: Callable[[str], str], path: str) -> str:
    return ": ".join(filter(None, (where(path), path)))


def _is_within(where: str | None, path: str) -> bool:
    return where is not None and (where == path or where.startswith((f"{path}.", f"{path}[")))
