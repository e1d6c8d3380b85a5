"""A line of a log: an object for machines, or words for a person.

Its own module because a server and the processes that work for it write into one stream, which must stay in one form.
"""

import logging
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, Literal, TypeAlias

import msgspec

LogFormat: TypeAlias = Literal["json", "text"]


def log_line(log_format: LogFormat, level: str, event: str, facts: Mapping[str, Any]) -> bytes:
    """The line, with the time and its end. Whatever stands in the facts, it is one line."""
    now = datetime.now(UTC)
    if log_format == "json":
        time = now.isoformat(timespec="milliseconds").replace("+00:00", "Z")
        return msgspec.json.encode({"time": time, "level": level, "event": event, **facts}) + b"\n"
    words = " ".join(f"{name}={_word(value)}" for name, value in facts.items() if value != "")
    return f"{now:%H:%M:%S} {level:7} {event} {words}".rstrip().encode() + b"\n"


class LogLines(logging.Formatter):
    """Formats what modules log, as `log_line` does: the name of the part, and what it says."""

    def __init__(self, log_format: LogFormat) -> None:
        super().__init__()
        self._format: LogFormat = log_format

    def format(self, record: logging.LogRecord) -> str:
        facts = {"part": record.name.removeprefix("evalsi."), "reason": record.getMessage()}
        if record.exc_info:
            facts["trace"] = self.formatException(record.exc_info)
        return log_line(self._format, record.levelname.lower(), "note", facts).decode().rstrip("\n")


def _word(value: Any) -> str:
    text = value if isinstance(value, str) else msgspec.json.encode(value).decode()
    plain = text.isprintable() and " " not in text and '"' not in text
    return text if plain else msgspec.json.encode(text).decode()
