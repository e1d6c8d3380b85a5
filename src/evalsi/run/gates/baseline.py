"""What a gate may call its baseline: a file, `latest`, `latest(label=value)`, or a run as `evalsi runs` names it.

Only the reading of the words; opening is the caller's, who has the store.
"""

import re
from dataclasses import dataclass, field

from evalsi.core.errors import InvalidSpecError, UsageError
from evalsi.core.run_reference import latest_labels

__all__ = ["BaselineReference", "baseline_reference"]

_FILE = re.compile(r"(\.{0,2}/|[A-Za-z]:\\)|.*\.(json|jsonl|html)\Z", re.IGNORECASE)


@dataclass(frozen=True, kw_only=True)
class BaselineReference:
    """Exactly one of `path` and `run` is set; `labels` are those that `latest(…)` asks for."""

    path: str = ""
    run: str = ""
    """An id, the beginning of one, a name, `latest` or `latest~2`."""
    labels: dict[str, str] = field(default_factory=dict[str, str])


def baseline_reference(text: str) -> BaselineReference:
    """What `text` means.

    Raises: InvalidSpecError: it is empty, or the labels of `latest(…)` cannot be read.
    """
    if not text.strip():
        raise InvalidSpecError("no baseline is named", hint="write a run id, a file, latest or latest(label=value)")
    try:
        labels = latest_labels(text)
    except UsageError as error:
        raise InvalidSpecError(error.message, hint=error.hint) from error
    if labels is not None:
        return BaselineReference(run="latest", labels=labels)
    if _FILE.match(text):
        return BaselineReference(path=text)
    if "(" in text:
        raise InvalidSpecError(f"{text!r} is no baseline", hint="write latest(label=value), e.g. latest(branch=main)")
    return BaselineReference(run=text)
