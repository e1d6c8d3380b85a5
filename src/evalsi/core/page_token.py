"""Page tokens: where a list goes on, as a text that clients hand back unread.

A token holds the position of the last entry that was shown, never a count, so entries that come or go meanwhile neither
repeat nor hide others. It also holds a digest of the query, so that a token is not followed through another list.
"""

import base64
import binascii
from collections.abc import Sequence
from typing import TypeVar, cast

import msgspec

from evalsi.core.canonical import digest
from evalsi.core.errors import UsageError

T = TypeVar("T")

_DIGEST_LETTERS = 12
_INT64 = 1 << 63


def write_page_token(query: object, position: object) -> str:
    """The token that leads past `position` (JSON values, nested as they like) in the list that `query` asks for."""
    body = msgspec.msgpack.encode((_mark(query), position))
    return base64.urlsafe_b64encode(body).rstrip(b"=").decode()


def read_page_token(token: str, query: object, kind: type[T]) -> T | None:
    """The position in `token`; None for the empty token, which asks for the first page.

    Raises: UsageError: it is no token, or one of another query.
    """
    if not token:
        return None
    try:
        body = base64.b64decode(token + "=" * (-len(token) % 4), altchars=b"-_", validate=True)
        mark, packed = msgspec.msgpack.decode(body, type=tuple[str, msgspec.Raw])
        position = msgspec.msgpack.decode(packed, type=kind)
    except (binascii.Error, ValueError, msgspec.MsgspecError) as error:
        raise UsageError("this is no page token", hint="hand back next_page_token as it was given") from error
    if not _is_storable(position):
        raise UsageError("this is no page token", hint="hand back next_page_token as it was given")
    if mark != _mark(query):
        raise UsageError("this page token belongs to another query", hint="begin again without a page token")
    return position


def _is_storable(position: object) -> bool:
    """Whether a database can be asked for it: no number is beyond 64 bits."""
    if isinstance(position, Sequence) and not isinstance(position, str):
        return all(_is_storable(each) for each in cast("Sequence[object]", position))
    return not isinstance(position, int) or -_INT64 <= position < _INT64


def _mark(query: object) -> str:
    return digest(query).removeprefix("sha256:")[:_DIGEST_LETTERS]
