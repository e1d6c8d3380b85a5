"""The flags that choose traces, the same for every command that lists, follows or exports them."""

import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, TypeVar

import click

if TYPE_CHECKING:
    from evalsi.schema import TraceFilter

F = TypeVar("F", bound=Callable[..., Any])

_UNITS = {"m": "minutes", "h": "hours", "d": "days", "w": "weeks"}
_LENGTH = re.compile(r"(\d{1,9}(?:\.\d{1,6})?)(ms|s|m|h)")
_SECONDS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0}
_OPTIONS = (
    click.option("--service", default="", metavar="NAME", help="Only traces of this service."),
    click.option("--text", default="", metavar="WORDS", help="Only traces whose question or answer has these words."),
    click.option("--session", "session_id", default="", metavar="ID", help="Only traces of this session."),
    click.option("--user", "user_id", default="", metavar="ID", help="Only traces done for this person."),
    click.option("--model", default="", metavar="NAME", help="Only traces that this model answered."),
    click.option("--version", default="", metavar="VERSION", help="Only traces of this version of the service."),
    click.option(
        "--label", "--labels", "labels", multiple=True, metavar="KEY=VALUE", help="Only with this label. Repeatable."
    ),
    click.option(
        "--score",
        "scores",
        multiple=True,
        metavar="CONDITION",
        help="Only with such a score: 'tone<0.5', 'tone>=0.8', or 'tone' for any. Repeatable.",
    ),
    click.option("--policy", default="", metavar="NAME", help="Only traces in which this policy found something."),
    click.option("--errors", is_flag=True, help="Only traces that failed as a whole."),
    click.option("--failed-steps", is_flag=True, help="Only traces in which a step failed, even if the whole did not."),
    click.option(
        "--disliked", is_flag=True, help="Only traces that people did not like: the mean of what they said is below 0."
    ),
    click.option("--min-duration", default="", metavar="TIME", help="Only as long or longer: 500ms, 2s, 5m."),
    click.option("--max-duration", default="", metavar="TIME", help="Only as long or shorter."),
    click.option(
        "--min-cost", "min_cost_usd", type=click.FloatRange(min=0), help="Only those of this cost or more, in USD."
    ),
    click.option("--max-cost", "max_cost_usd", type=click.FloatRange(min=0), help="Only those of this cost or less."),
    click.option("--since", default="", metavar="TIME", help="Only begun since: a time in ISO 8601, or 30m, 12h, 7d."),
    click.option("--until", default="", metavar="TIME", help="Only begun before: a time, or how long ago."),
)


def trace_choice_options(command: F) -> F:
    """Adds the flags to a command, which receives them as words for `choice_of`."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def choice_of(given: dict[str, Any]) -> "TraceFilter":
    """The choice that the flags state. Raises: UsageError: one of them cannot be read."""
    from evalsi.schema import TraceFilter
    from evalsi.traces.trace_choice import label_condition, score_condition

    for label in given["labels"]:
        label_condition(label)
    for score in given["scores"]:
        score_condition(score)
    return TraceFilter(
        **{name: given[name] for name in ("service", "text", "session_id", "user_id", "model", "version", "policy")},
        labels=list(given["labels"]),
        scores=list(given["scores"]),
        error=True if given["errors"] else None,
        failed_step=True if given["failed_steps"] else None,
        negative_feedback=True if given["disliked"] else None,
        min_duration=_length(given["min_duration"], "--min-duration"),
        max_duration=_length(given["max_duration"], "--max-duration"),
        min_cost_usd=given["min_cost_usd"],
        max_cost_usd=given["max_cost_usd"],
        since=moment_ago(given["since"], "--since"),
        until=moment_ago(given["until"], "--until"),
    )


def _length(text: str, flag: str) -> float | None:
    """Seconds, from a length of time such as "500ms" or "2s"; None for nothing. Raises: UsageError."""
    from evalsi.core.errors import UsageError

    if not text:
        return None
    found = _LENGTH.fullmatch(text)
    if found is None:
        raise UsageError(f"{flag} {text!r} is no length of time", hint="write e.g. 500ms, 2s or 5m")
    return float(found[1]) * _SECONDS[found[2]]


def moment_ago(text: str, flag: str) -> datetime | None:
    """A time in ISO 8601, or how long ago, such as "12h"; None for nothing. Raises: UsageError."""
    from evalsi.core.clock import moment_of_text
    from evalsi.core.errors import UsageError

    if not text:
        return None
    number, unit = text[:-1], text[-1]
    if unit in _UNITS and number.isdecimal() and len(number) <= 5:
        return datetime.now(UTC) - timedelta(**{_UNITS[unit]: int(number)})
    if text.isdecimal():
        raise UsageError(f"{flag} {text!r} has no unit", hint=f"write e.g. {text}h, {text}d, or 2026-01-31T12:00:00Z")
    return moment_of_text(text, flag, hint="write e.g. 24h, 7d, or 2026-01-31T12:00:00Z")
