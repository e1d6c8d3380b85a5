"""What a user may say about how a dataset is read. One noun, because every door hands all of it on."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from evalsi.core.errors import InvalidSpecError, UnknownNameError
from evalsi.datasets.mapping import FIELDS

Format = Literal["jsonl", "json", "csv", "tsv", "parquet"]
FORMATS: tuple[Format, ...] = ("jsonl", "json", "csv", "tsv", "parquet")


@dataclass(frozen=True, kw_only=True)
class DatasetOptions:
    """Rows are mapped, then filtered by `where`, then cut by `limit`, then sampled.

    Raises:
        UnknownNameError: `format` or `on_invalid` is none of the choices.
        InvalidSpecError: `limit` or `sample` is below 1.
    """

    mapping: Mapping[str, str] = field(default_factory=dict[str, str])
    """Record field to column, nested path (`data.q`, `messages.0.content`) or template (`Q: {question}`)."""
    on_invalid: Literal["stop", "skip"] = "stop"
    """What an unreadable row does: refuse the dataset, or be left out and listed in `Dataset.skipped`."""
    limit: int | None = None
    """Only the first rows that match; rows after them are neither read nor checked."""
    sample: int | None = None
    """Only so many of the matching rows, drawn at random without replacement, in their own order."""
    seed: int = 0
    """Of the sample: equal data, seed and size give equal rows."""
    where: str | None = None
    """CEL condition over id, input, output, reference, metadata, usage and row (the columns as read)."""
    format: str | None = None
    """One of `FORMATS`; by default told from the name and, failing that, from the content."""

    def __post_init__(self) -> None:
        if self.format is not None and self.format not in FORMATS:
            raise UnknownNameError("dataset format", self.format, FORMATS)
        if self.on_invalid not in ("stop", "skip"):
            raise UnknownNameError("choice for invalid rows", self.on_invalid, ("stop", "skip"))
        for name, size in (("limit", self.limit), ("sample", self.sample)):
            if size is not None and size < 1:
                raise InvalidSpecError(f"{name} must be at least 1, not {size}")


_SEVERAL = re.compile(rf"[^{{}}]*,\s*(?:{'|'.join(FIELDS)})\s*=")
"""`question,output=answer`: what a comma-separated list leaves behind the first `=`. Templates may hold anything."""


def mapping_of_flags(flags: Sequence[str]) -> dict[str, str]:
    """Flags such as `input=question` as a mapping; only the first `=` separates.

    Raises:
        InvalidSpecError: a flag without `=`, with an empty side, or a field mapped twice.
    """
    mapping: dict[str, str] = {}
    for flag in flags:
        target, separator, expression = flag.partition("=")
        target = target.strip()
        if not (separator and target and expression):
            raise InvalidSpecError(f"{flag!r} is no mapping", hint="write field=column, for example input=question")
        if target in mapping:
            raise InvalidSpecError(f"{target!r} is mapped twice: to {mapping[target]!r} and to {expression!r}")
        if _SEVERAL.match(expression):
            raise InvalidSpecError(
                f"{flag!r} maps several fields", hint="give the flag once for each: --map id=qid --map input=question"
            )
        mapping[target] = expression
    return mapping
