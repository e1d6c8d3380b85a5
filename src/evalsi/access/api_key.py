"""API keys: how they look, how they are made, and what of them is kept.

What always holds: the key itself exists in the answer that made it and in the hands of its owner; the server keeps its
SHA-256, which cannot be turned back because the key has 256 random bits.
"""

import hashlib
import hmac
import re
import secrets
from typing import NamedTuple

MARK = "evk_"
"""How every key begins, so that scanners of repositories find one that was committed."""
DIGEST_MARK = "sha256:"

_KEY = re.compile(r"evk_[A-Za-z0-9_-]{20,200}\Z")
_DIGEST = re.compile(r"sha256:[0-9a-f]{64}\Z")
_SHOWN = len(MARK) + 6


class NewKey(NamedTuple):
    """A key that was just made."""

    key: str
    """To be shown once."""
    digest: str
    """`sha256:<64 hex digits>`: what is kept."""
    prefix: str
    """The first characters, by which people tell keys apart in a list."""

    def __repr__(self) -> str:
        return f"NewKey({self.prefix}…)"


def make_key() -> NewKey:
    key = MARK + secrets.token_urlsafe(32)
    return NewKey(key, digest_of_key(key), key[:_SHOWN])


def digest_of_key(key: str) -> str:
    return DIGEST_MARK + hashlib.sha256(key.encode("utf-8", "surrogatepass")).hexdigest()


def looks_like_key(text: str) -> bool:
    return _KEY.match(text) is not None


def is_digest(text: str) -> bool:
    """Whether `text` is what a configuration file may hold: `sha256:` and 64 hex digits."""
    return _DIGEST.match(text) is not None


def is_key_of(key: str, digest: str) -> bool:
    """Whether `digest` is that of `key`; takes the same time whatever differs."""
    return hmac.compare_digest(digest_of_key(key), digest)
