"""Outputs, usage and trajectories as agents spell them, read as datasets are read, but kindly.

A dataset that is spelled wrongly is refused; an agent has answered by then, so what cannot be read of its usage is absent
and what cannot be read of its steps is a note. Its answer stands.
"""

from typing import Any, cast

import msgspec

from evalsi.datasets.record_of_row import content_of as read_content
from evalsi.datasets.record_of_row import trajectory_of as read_trajectory
from evalsi.datasets.record_of_row import usage_of as read_usage
from evalsi.datasets.rows import RowError
from evalsi.schema import Content, Trajectory, Usage

EMPTY_NOTE = "the answer is empty"


def content_of(value: Any) -> Content:
    """An output: text as text, a conversation as messages, anything else as JSON."""
    return read_content(value) or Content(json=value)


def is_empty(content: Content) -> bool:
    """Whether nothing was said at all."""
    if content.text is not None:
        return not content.text.strip()
    if content.messages is not None:
        return not any(message.content.strip() or message.tool_calls for message in content.messages.messages)
    return False


def usage_of(value: Any) -> Usage:
    """What an agent says that it used; what it does not say, or says in a way of its own, is absent."""
    given = cast("dict[str, Any]", value) if isinstance(value, dict) else {}
    try:
        return read_usage({name: number for name, number in given.items() if _is_readable(name, number)}) or Usage()
    except RowError:
        return Usage()


def trajectory_of(value: Any) -> tuple[Trajectory | None, str]:
    """The steps that an agent hands out, or None and why they cannot be read."""
    if value is None or value is msgspec.UNSET:
        return None, ""
    try:
        return read_trajectory(value), ""
    except RowError as error:
        return None, f"the trajectory cannot be read: {error}"


def _is_readable(name: str, number: Any) -> bool:
    try:
        read_usage({name: number})
    except RowError:
        return False
    return True
