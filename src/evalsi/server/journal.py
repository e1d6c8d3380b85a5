"""The log of the server, a line for each thing that happened, on standard error.

Its own module because what may stand in a line is a contract: names, numbers, ids and our own sentences. What always
holds: no body, no header and no credential of a call is written.
"""

import logging
import sys
import traceback
from collections.abc import Callable
from typing import Any, Literal, TypeAlias

from evalsi.core.log_line import LogFormat, LogLines, log_line

Level: TypeAlias = Literal["debug", "info", "warning", "error"]
LEVELS: tuple[Level, ...] = ("debug", "info", "warning", "error")


def _to_standard_error(line: bytes) -> None:
    sys.stderr.buffer.write(line)
    sys.stderr.buffer.flush()


class Journal:
    """Writes what is at least as grave as `level`."""

    def __init__(
        self,
        level: Level = "info",
        log_format: LogFormat = "json",
        write: Callable[[bytes], None] = _to_standard_error,
    ) -> None:
        self._least = LEVELS.index(level)
        self._format: LogFormat = log_format
        self._write = write

    def writes(self, level: Level) -> bool:
        return LEVELS.index(level) >= self._least

    def note(self, level: Level, event: str, **facts: Any) -> None:
        """Writes a line. A line that cannot be written is lost: the server does not stop for its log."""
        if not self.writes(level):
            return
        try:
            self._write(log_line(self._format, level, event, facts))
        except (OSError, ValueError):
            return

    def take_over(self, name: str) -> None:
        """Has what modules below `name` log through `logging` written here, in the same form."""
        handler = logging.StreamHandler(sys.stderr)
        handler.setFormatter(LogLines(self._format))
        logger = logging.getLogger(name)
        logger.handlers, logger.propagate = [handler], False
        logger.setLevel(LEVELS[self._least].upper())

    def crash(self, error: BaseException, **facts: Any) -> None:
        """Writes what is a bug of ours, with its traceback."""
        self.note("error", "crash", trace="".join(traceback.format_exception(error)), **facts)
