"""Canonical JSON and digests: equal values give equal bytes, on every machine and in every version.

Message bytes are never hashed: equal protobuf maps may encode to different bytes.
"""

import hashlib
import json
from typing import Any

import msgspec

_ENCODER = json.JSONEncoder(sort_keys=True, separators=(",", ":"), allow_nan=False)


def canonical_json(value: Any) -> bytes:
    """`value` as JSON with sorted keys, no spaces and ASCII escapes.

    Args:
        value: JSON values or msgspec Structs, nested as they like. 1 and 1.0 stay different.

    Raises:
        ValueError: NaN or an infinity is inside: it has no JSON form.
    """
    plain = msgspec.to_builtins(value, order="sorted")
    return _ENCODER.encode(plain).encode("ascii")


def digest(value: Any) -> str:
    """`sha256:<64 hex digits>` of the canonical JSON of `value`."""
    return "sha256:" + hashlib.sha256(canonical_json(value)).hexdigest()
