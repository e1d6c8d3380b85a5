"""The flags that choose traces, the same for every command that lists, follows or exports them."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, TypeVar

import click

if TYPE_CHECKING:
    from evalsi.schema import TraceFilter

F = TypeVar("F", bound=Callable[..., Any])

_UNITS = {"m": "minutes", "h": "hours", "d": "days", "w": "weeks"}
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
        since=moment_ago(given["since"], "--since"),
        until=moment_ago(given["until"], "--until"),
    )


def moment_ago(text: str, flag: str) -> datetime | None:
    """A time in ISO 8601, or how long ago, such as "12h"; None for nothing. Raises: UsageError."""
    from evalsi.core.clock import moment_of_text

    if not text:
        return None
    number, unit = text[:-1], text[-1]
    if unit in _UNITS and number.isdecimal() and len(number) <= 5:
        return datetime.now(UTC) - timedelta(**{_UNITS[unit]: int(number)})
    return moment_of_text(text, flag)
