"""What a person may call a run: its id, the beginning of its id, its name, `latest`, `latest~2`, `latest(branch=main)`.

And the labels by which a run names another one. One place, so that every store and every command understands the same words and answers a wrong one alike.
"""

import difflib
import re
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple, TypeVar

from evalsi.core.errors import NotFoundError, UsageError

REPLAY_OF = "evals.si/replay-of"
"""Label of a run whose answers are those of another one: its id."""
RESCORED_FROM = "evals.si/rescored-from"
"""Label of a run that grades another one's answers: its id."""
_LATEST = re.compile(r"latest(?:~(\d{1,9}))?", re.ASCII)
_LABELLED = re.compile(r"latest\(\s*(.*?)\s*\)", re.DOTALL)
_SHOWN = 5

RunT = TypeVar("RunT")


class RunIdentity(NamedTuple):
    """What tells runs apart in a list. `created_at` is ISO 8601 UTC."""

    id: str
    name: str
    created_at: str


def latest_steps(reference: str) -> int | None:
    """How many runs before the latest is meant: 0 for `latest`, 2 for `latest~2`; None for another kind of name."""
    latest = _LATEST.fullmatch(reference)
    return int(latest[1] or 0) if latest is not None else None


def latest_labels(reference: str) -> dict[str, str] | None:
    """The labels of the run that is meant by `latest(branch=main, team=docs)`; None for another kind of name.

    Raises: UsageError: the labels cannot be read.
    """
    labelled = _LABELLED.fullmatch(reference)
    if labelled is None:
        return None
    labels: dict[str, str] = {}
    for part in labelled[1].split(","):
        key, separator, value = part.partition("=")
        if not (separator and key.strip() and value.strip()):
            raise UsageError(
                f"{reference!r} names no run: {part.strip()!r} is no label",
                hint="write latest(label=value), e.g. latest(branch=main)",
            )
        labels[key.strip()] = value.strip()
    return labels


def newest_labelled(reference: str, newest: Callable[[dict[str, str]], Sequence[RunT]]) -> RunT | None:
    """The run that is meant by `latest(branch=main)`; None for another kind of name.

    Args:
        newest: The newest run with these labels, if there is one.

    Raises: NotFoundError: no run bears the labels. UsageError: they cannot be read.
    """
    labels = latest_labels(reference)
    if labels is None:
        return None
    found = newest(labels)
    if not found:
        raise none_labelled(labels)
    return found[0]


def none_labelled(labels: Mapping[str, str], subject: str = "run") -> NotFoundError:
    """The error where no run bears these labels."""
    wanted = ", ".join(f"{key}={value}" for key, value in labels.items())
    return NotFoundError(f"no {subject} is labelled {wanted}", hint="'evalsi runs list' shows all")


def resolve_run(reference: str, runs: Sequence[RunIdentity]) -> str:
    """The id of the run that `reference` means.

    Tried in this order: `latest` or `latest~n` (n runs before the latest), an id, a name (the newest run that bears
    it), the beginning of exactly one id.

    Args:
        reference: What was written.
        runs: Every run there is, newest first.

    Raises:
        NotFoundError: No run is meant; names the nearest ones.
        UsageError: Nothing was written, or several ids begin so.
    """
    if not reference:
        raise UsageError("a run must be named", hint="give its id, the beginning of its id, its name or 'latest'")
    if not runs:
        raise NotFoundError(f"no run {reference!r}: there are no runs yet", hint="'evalsi eval' makes one")
    back = latest_steps(reference)
    if back is not None:
        if back >= len(runs):
            raise NotFoundError(f"no run {reference!r}", hint=f"the oldest of {len(runs)} is latest~{len(runs) - 1}")
        return runs[back].id
    if exact := [run.id for run in runs if run.id == reference] or [run.id for run in runs if run.name == reference]:
        return exact[0]
    beginning = [run for run in runs if run.id.startswith(reference.lower())]
    if len(beginning) == 1:
        return beginning[0].id
    if beginning:
        more = f" and {len(beginning) - _SHOWN} more" if len(beginning) > _SHOWN else ""
        shown = ", ".join(_described(run) for run in beginning[:_SHOWN])
        raise UsageError(f"{len(beginning)} runs begin with {reference!r}: {shown}{more}", hint="write more of the id")
    raise NotFoundError(f"no run {reference!r}", hint=_nearest(reference, runs))


def _nearest(reference: str, runs: Sequence[RunIdentity]) -> str:
    recent = runs[:1000]
    by_word = {word: run for run in reversed(recent) for word in (run.name, run.id) if word}
    if difflib.get_close_matches(reference, [*by_word, "latest"], n=1, cutoff=0.6) == ["latest"]:
        return f"did you mean 'latest', which is {_described(runs[0])}?"
    near = difflib.get_close_matches(reference, by_word, n=3, cutoff=0.6)
    if near:
        return "did you mean " + " or ".join(dict.fromkeys(_described(by_word[word]) for word in near)) + "?"
    return f"the latest is {_described(runs[0])}; 'evalsi runs list' shows all"


def _described(run: RunIdentity) -> str:
    return f"{run.id} ({run.name}, {run.created_at})" if run.name else f"{run.id} ({run.created_at})"
