"""The log of the server: a JSON object a line, on standard error.

Its own module because what may stand in a line is a contract: names, numbers, ids and our own sentences. What always
holds: no body, no header and no credential of a call is written.
"""

import sys
import traceback
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any, Literal, TypeAlias

import msgspec

Level: TypeAlias = Literal["debug", "info", "warning", "error"]
LEVELS: tuple[Level, ...] = ("debug", "info", "warning", "error")


def _to_standard_error(line: bytes) -> None:
    sys.stderr.buffer.write(line)
    sys.stderr.buffer.flush()


class Journal:
    """Writes what is at least as grave as `level`."""

    def __init__(self, level: Level = "info", write: Callable[[bytes], None] = _to_standard_error) -> None:
        self._least = LEVELS.index(level)
        self._write = write

    def writes(self, level: Level) -> bool:
        return LEVELS.index(level) >= self._least

    def note(self, level: Level, event: str, **facts: Any) -> None:
        """Writes a line. A line that cannot be written is lost: the server does not stop for its log."""
        if not self.writes(level):
            return
        now = datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
        try:
            self._write(msgspec.json.encode({"time": now, "level": level, "event": event, **facts}) + b"\n")
        except (OSError, ValueError):
            return

    def crash(self, error: BaseException, **facts: Any) -> None:
        """Writes what is a bug of ours, with its traceback."""
        self.note("error", "crash", trace="".join(traceback.format_exception(error)), **facts)
