"""Identifiers: sortable by time, unguessable enough to be unique, short enough to type a prefix of."""

import os
import time

_ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"


def new_run_id(now_s: float | None = None) -> str:
    """A 20-character lower-case identifier: 9 characters of milliseconds, 11 of randomness (55 bits).

    Identifiers made later sort later; Crockford's base 32 has no letters that look like digits.
    """
    milliseconds = int((time.time() if now_s is None else now_s) * 1000)
    return _base32(milliseconds, 9) + _base32(int.from_bytes(os.urandom(7)) & ((1 << 55) - 1), 11)


def run_id_of_digest(digest: str, made_s: float | None) -> str:
    """An identifier of the same form for a run made elsewhere: the same digest gives the same identifier.

    Args:
        digest: At least 25 hexadecimal digits.
        made_s: When the run was made, seconds since 1970; where that is not known the identifier sorts anywhere.
    """
    if made_s is None:
        return _base32(int(digest[:25], 16), 20)
    return _base32(int(made_s * 1000), 9) + _base32(int(digest[:14], 16) & ((1 << 55) - 1), 11)


def _base32(number: int, length: int) -> str:
    digits: list[str] = []
    for _ in range(length):
        number, digit = divmod(number, 32)
        digits.append(_ALPHABET[digit])
    return "".join(reversed(digits))
