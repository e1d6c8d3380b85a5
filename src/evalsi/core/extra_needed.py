"""Around imports of libraries that an extra brings: that they are absent is one sentence, a mistake of our own is not.

Its own module because an ImportError out of our own code must stay what it is, everywhere such libraries are loaded.
"""

from collections.abc import Generator
from contextlib import contextmanager

from evalsi.core.errors import MissingExtraError


@contextmanager
def extra_needed(purpose: str, extra: str) -> Generator[None]:
    """Raises: MissingExtraError: a library that is imported inside is not installed."""
    try:
        yield
    except ImportError as error:
        if error.name is not None and error.name.startswith("evalsi"):
            raise
        raise MissingExtraError(purpose, extra) from error
