"""How spans are read where mappings of one's own come before those that are shipped: in commands, and on a server.

Its own module because only here files, conventions and prices meet.
"""

from collections.abc import Sequence
from pathlib import Path

from evalsi.core.errors import NotFoundError
from evalsi.judges.prices import shipped_prices
from evalsi.traces import Mapping, Tracing, default_tracing, read_mapping, shipped_mappers


def tracing_with(paths: Sequence[str]) -> Tracing:
    """The conventions and prices that are shipped, the mappings in these files before them.

    Raises: NotFoundError, InvalidSpecError, UnknownNameError: a file cannot be read, or holds no mapping.
    """
    if not paths:
        return default_tracing()
    return Tracing(shipped_mappers([_mapping(path) for path in paths]), shipped_prices())


def _mapping(path: str) -> Mapping:
    try:
        return read_mapping(Path(path).read_bytes(), path)
    except OSError as error:
        raise NotFoundError(f"the mapping cannot be read: {error.strerror}", where=path) from None
