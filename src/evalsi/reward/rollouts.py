"""What trainers hand over, as records: the one normal form of prompts and completions.

Its own module because trainers disagree about forms, and the same trainer about them between versions. A prompt or
completion is a text, or a conversation in any form that datasets may have (OpenAI, Anthropic, Responses, OpenTelemetry);
it becomes `Content` with text or with messages, and evaluators read the last message with text. Nothing is cut off.
"""

from collections.abc import Mapping, Sequence
from typing import Any, cast

import msgspec

from evalsi.core.errors import InvalidDataError
from evalsi.datasets.record_of_row import content_of
from evalsi.schema import Record, Usage

REFERENCE_COLUMNS = ("reference", "answer", "solution", "ground_truth", "label", "target")
"""Columns that hold the reference where the spec names none, in the order in which they are looked for."""
_TOKENS = "completion_ids"
_OF_TRAINERS = frozenset({_TOKENS, "trainer_state", "log_extra", "log_metric", "environments"})
"""What TRL hands over beside the columns of the dataset."""


def records_of(
    prompts: Sequence[Any], completions: Sequence[Any], columns: Mapping[str, Any], *, reference: str = ""
) -> list[Record]:
    """One record for each completion, in order; its id is its place.

    Args:
        columns: Lists as long as the completions. Values that are no JSON are left out.
        reference: The column that holds the reference; "" for the first of `REFERENCE_COLUMNS` that is there.

    Raises: InvalidDataError: a column is missing, or is not as long as the completions.
    """
    count = len(completions)
    if len(prompts) != count:
        raise InvalidDataError(f"there are {count} completions and {len(prompts)} prompts")
    if reference and reference not in columns:
        raise InvalidDataError(f"the batch has no column {reference!r}", hint=f"it has {', '.join(columns) or 'none'}")
    column = reference or next((name for name in REFERENCE_COLUMNS if columns.get(name) is not None), "")
    kept = {name: values for name, values in columns.items() if name not in _OF_TRAINERS and values is not None}
    for name, values in kept.items():
        if not isinstance(values, Sequence) or isinstance(values, str) or len(cast("Sequence[Any]", values)) != count:
            raise InvalidDataError(f"the column {name!r} is no list of {count} values, as there are completions")
    references = kept.pop(column, None)
    tokens = columns.get(_TOKENS)
    return [
        Record(
            id=str(row),
            input=content_of(prompts[row]),
            output=content_of(completions[row]),
            reference=content_of(references[row]) if references is not None else None,
            usage=Usage(output_tokens=len(tokens[row])) if tokens is not None else None,
            metadata={name: plain for name, values in kept.items() if (plain := _plain(values[row])) is not None},
        )
        for row in range(count)
    ]


def _plain(value: Any) -> Any:
    """The value where it is JSON, else None: a tensor in a column is no evaluator's business."""
    if isinstance(value, (str, bool, int, float)) or value is None:
        return value
    try:
        return msgspec.json.decode(msgspec.json.encode(value))
    except (TypeError, ValueError, OverflowError, RecursionError):
        return None
