"""The Python types that stand for protobuf's scalars and well-known messages in the generated Structs.

Written by hand. msgspec reads the bounds when it decodes, so a number that does not fit the wire is refused at the face.
"""

from datetime import datetime
from typing import Annotated, Any, TypeAlias

import msgspec

Int32: TypeAlias = Annotated[int, msgspec.Meta(ge=-(2**31), le=2**31 - 1)]
"""A whole number that fits 32 bits."""

Uint32: TypeAlias = Annotated[int, msgspec.Meta(ge=0, le=2**32 - 1)]
"""A whole number from 0 that fits 32 bits."""

Int64: TypeAlias = Annotated[int, msgspec.Meta(ge=-(2**63), le=2**63 - 1)]
"""A whole number that fits 64 bits."""

Seconds: TypeAlias = float
"""A length of time in seconds (`google.protobuf.Duration`)."""

Timestamp: TypeAlias = Annotated[datetime, msgspec.Meta(tz=True)]
"""A moment, always with a time zone (`google.protobuf.Timestamp`)."""

JsonValue: TypeAlias = Any
"""Any JSON value (`google.protobuf.Value`). `None` is JSON null; a single field that is absent holds `msgspec.UNSET`."""

JsonObject: TypeAlias = dict[str, Any]
"""Any JSON object (`google.protobuf.Struct`); absent and empty are the same."""
