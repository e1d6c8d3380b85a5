"""What people and programs say about traffic, checked and identified before it is kept. Pure.

A module of its own because it comes by several doors (a service, a command, an event in a trace), which must take the
same. What always holds: what is accepted has an identifier, a time, something it is about, and one value.
"""

import math
import re
from collections.abc import Sequence
from datetime import datetime

import msgspec

from evalsi.core.errors import InvalidSpecError
from evalsi.schema import Feedback
from evalsi.traces.feedback_value import identified

MOST_AT_ONCE = 1000
_LONGEST_COMMENT = 10_000
_LONGEST_NAME = 1000
_TRACE = re.compile(r"[0-9a-f]{32}")
_SPAN = re.compile(r"[0-9a-f]{16}")


def accepted_feedback(said: Sequence[Feedback], now: datetime) -> list[Feedback]:
    """The feedback as it is kept.

    Args:
        said: As it was sent.
        now: When it came, for what has no time.

    Raises: InvalidSpecError: one cannot be taken, and then none is; names its field.
    """
    if len(said) > MOST_AT_ONCE:
        raise InvalidSpecError(f"{len(said)} at once, where {MOST_AT_ONCE} may be", where="feedback")
    return [_accepted(each, f"feedback[{place}]", now) for place, each in enumerate(said)]


def _accepted(said: Feedback, where: str, now: datetime) -> Feedback:
    about = msgspec.structs.replace(said, trace_id=said.trace_id.lower(), span_id=said.span_id.lower())
    if not (about.trace_id or about.session_id or about.key):
        raise InvalidSpecError("it is about nothing", where=where, hint="give trace_id, session_id or key")
    if about.trace_id and not _TRACE.fullmatch(about.trace_id):
        raise InvalidSpecError(f"{said.trace_id!r} is no trace id", where=f"{where}.trace_id", hint="32 hex digits")
    if about.span_id and not (about.trace_id and _SPAN.fullmatch(about.span_id)):
        raise InvalidSpecError(
            f"{said.span_id!r} is no span of a trace", where=f"{where}.span_id", hint="16 hex digits, with trace_id"
        )
    values = [value for value in (about.number, about.passed, about.label) if value is not None]
    if len(values) > 1 or not (values or about.comment):
        raise InvalidSpecError("it has no value", where=where, hint="give one of number, passed, label, or a comment")
    if about.number is not None and not math.isfinite(about.number):
        raise InvalidSpecError("it is no number", where=f"{where}.number", hint="give a finite number")
    for name in ("id", "session_id", "key", "name", "author", "label"):
        if len(getattr(about, name) or "") > _LONGEST_NAME:
            raise InvalidSpecError(f"more than {_LONGEST_NAME} letters", where=f"{where}.{name}")
    if len(about.comment) > _LONGEST_COMMENT:
        raise InvalidSpecError(f"more than {_LONGEST_COMMENT} letters", where=f"{where}.comment")
    known = identified(about)
    return known if known.time is not None else msgspec.structs.replace(known, time=now)
