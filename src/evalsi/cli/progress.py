"""The live line of a running job, and the switch that Ctrl-C throws.

The line is written to standard error only where that is a terminal, at most ten times a second.
"""

import contextlib
import os
import signal
import sys
import time
from types import FrameType
from typing import Any, Self


class ProgressLine:
    """One line, rewritten in place: done/total, rate, the first metric, errors, spend, time left."""

    def __init__(self, *, enabled: bool) -> None:
        self._enabled = enabled and sys.stderr.isatty()
        self._started_s = time.monotonic()
        self._width = 0
        self._first: int | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.clear()

    @property
    def is_shown(self) -> bool:
        """Whether there is anybody to show a line to."""
        return self._enabled

    def clear(self) -> None:
        """Takes the line off the terminal."""
        if self._width:
            sys.stderr.write("\r" + " " * self._width + "\r")
            sys.stderr.flush()
            self._width = 0

    def show(self, progress: Any) -> None:
        """Rewrites the line for a `Progress`."""
        if not self._enabled:
            return
        if self._first is None:
            self._first = _seen(progress)
            self._started_s = time.monotonic()
        text = progress_text(progress, time.monotonic() - self._started_s, _seen(progress) - self._first)
        with contextlib.suppress(OSError):
            text = text[: os.get_terminal_size(sys.stderr.fileno()).columns - 1]
            sys.stderr.write("\r" + text.ljust(self._width))
            sys.stderr.flush()
            self._width = len(text)


def _seen(progress: Any) -> int:
    """Rows that are answered where a target is asked, for they are graded and stored by the chunk; else rows that are done."""
    return progress.done if progress.asked is None else max(progress.asked, progress.done)


def progress_text(progress: Any, elapsed_s: float, since: int) -> str:
    """The line's text; `since` rows were seen to in the time."""
    seen = _seen(progress)
    share = seen / progress.total if progress.total else 1.0
    parts = [f"{seen:,}/{progress.total:,} {100 * share:3.0f}%"]
    if progress.done < seen == progress.total:
        parts.append("all are answered and being graded")
    elif elapsed_s > 0.5 and since > 0:
        rate = since / elapsed_s
        parts.append(f"{rate:,.0f}/s" if rate >= 10 else f"{rate:.1f}/s")
        parts.append(f"{_duration((progress.total - seen) / rate)} left")
    if progress.headline:
        parts.append(progress.headline)
    if progress.outcomes.get("errors"):
        parts.append(f"{progress.outcomes['errors']:,} errors")
    spent = progress.spent
    if spent is not None:
        tokens = (spent.input_tokens or 0) + (spent.output_tokens or 0)
        cost = "cost unknown" if spent.cost_usd is None else f"${spent.cost_usd:.4f}"
        parts.append(f"{tokens:,} tokens, {cost}")
    return " · ".join(parts)


def _duration(seconds: float) -> str:
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    minutes, rest = divmod(whole, 60)
    return f"{minutes}:{rest:02d} min" if minutes < 60 else f"{minutes // 60}:{minutes % 60:02d} h"


class StopSwitch:
    """Ctrl-C once asks the job to finish what is in flight and save; twice interrupts at once."""

    def __init__(self) -> None:
        self._on = False
        self._before: Any = None

    def is_on(self) -> bool:
        return self._on

    def __enter__(self) -> Self:
        with contextlib.suppress(ValueError):  # only the main thread may handle signals
            self._before = signal.signal(signal.SIGINT, self._throw)
        return self

    def __exit__(self, *_: object) -> None:
        if self._before is not None:
            signal.signal(signal.SIGINT, self._before)

    def _throw(self, _signal: int, _frame: FrameType | None) -> None:
        if self._on:
            raise KeyboardInterrupt
        self._on = True
        # Not through sys.stderr: this may have interrupted a write to it.
        with contextlib.suppress(OSError):
            os.write(2, b"\nstopping: what is in flight and ends within seconds is saved; Ctrl-C again stops at once\n")
