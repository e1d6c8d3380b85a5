"""What a gate may call its baseline: a file, `latest`, `latest(label=value)`, or a run as `evalsi runs` names it.

Only the reading of the words; opening is the caller's, who has the store.
"""

import re
from dataclasses import dataclass, field

from evalsi.core.errors import InvalidSpecError

__all__ = ["BaselineReference", "baseline_reference"]

_LATEST = re.compile(r"latest\(\s*(.*?)\s*\)\Z", re.DOTALL)
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
    labelled = _LATEST.match(text)
    if labelled is None:
        if "(" in text and not _FILE.match(text):
            raise InvalidSpecError(
                f"{text!r} is no baseline", hint="write latest(label=value), e.g. latest(branch=main)"
            )
        return BaselineReference(path=text) if _FILE.match(text) else BaselineReference(run=text)
    labels: dict[str, str] = {}
    for part in labelled[1].split(","):
        key, separator, value = part.partition("=")
        if not (separator and key.strip() and value.strip()):
            raise InvalidSpecError(
                f"{text!r} is no baseline: {part.strip()!r} is no label",
                hint="write latest(label=value), e.g. latest(branch=main)",
            )
        labels[key.strip()] = value.strip()
    return BaselineReference(run="latest", labels=labels)
