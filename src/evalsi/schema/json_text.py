"""How times look in JSON text: durations and timestamps, both ways. Written by hand.

Shared by the generated writers and by the reader in `json_codec`.
"""

import re
from datetime import UTC, datetime

_DURATION = re.compile(r"(?P<sign>-?)(?P<parts>(?:\d+(?:\.\d+)?(?:h|ms|us|m|s))+)\Z", re.ASCII)
_PART = re.compile(r"(\d+(?:\.\d+)?)(h|ms|us|m|s)", re.ASCII)
_UNIT_SECONDS = {"h": 3600.0, "m": 60.0, "s": 1.0, "ms": 1e-3, "us": 1e-6}


def duration_text(seconds: float) -> str:
    """Seconds as standard proto3 JSON writes a duration: `1.5` is "1.5s"."""
    text = f"{seconds:.9f}".rstrip("0").rstrip(".")
    return f"{'0' if text == '-0' else text}s"


def milliseconds(seconds: float) -> float:
    """Seconds as milliseconds to the nanosecond, without digits that only binary fractions bring."""
    return round(seconds * 1000, 6)


def parse_duration(text: str) -> float | None:
    """Seconds of "1.5s", "5m", "1h30m" or "250ms"; None when the text is no duration."""
    found = _DURATION.match(text.strip())
    if found is None:
        return None
    total = sum(float(number) * _UNIT_SECONDS[unit] for number, unit in _PART.findall(found["parts"]))
    return -total if found["sign"] else total


def timestamp_text(moment: datetime) -> str:
    """The moment in RFC 3339 and UTC, ending in "Z". A moment without a time zone is taken as UTC."""
    utc = moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
    return utc.isoformat().replace("+00:00", "Z")


def parse_timestamp(text: str) -> datetime | None:
    """The moment of an RFC 3339 text in UTC; None when it is none or names no time zone."""
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return None
    try:
        return None if moment.tzinfo is None else moment.astimezone(UTC)
    except OverflowError:
        return None
