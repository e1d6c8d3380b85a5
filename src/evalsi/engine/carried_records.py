"""Records as bytes on their way to a forked worker, exactly as they are here.

Its own module because both kinds of workers carry them. MessagePack is quick and has no integer beyond 64 bits; a batch
with one goes as JSON. The first byte tells which it is: an array of MessagePack never begins with "[".
"""

from collections.abc import Callable
from typing import Any, TypeVar

import msgspec

T = TypeVar("T")


def carried(value: Any) -> bytes:
    """An array of anything that holds records, as bytes."""
    try:
        return msgspec.msgpack.encode(value)
    except OverflowError:
        return msgspec.json.encode(value)


def carried_decoder(kind: type[T]) -> Callable[[bytes], T]:
    """The inverse of `carried` for arrays of `kind`."""
    packed, text = msgspec.msgpack.Decoder(kind), msgspec.json.Decoder(kind)
    return lambda message: text.decode(message) if message[:1] == b"[" else packed.decode(message)
