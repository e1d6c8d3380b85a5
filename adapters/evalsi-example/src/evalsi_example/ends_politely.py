"""`ends-politely`: does an answer end with thanks or an offer of help?

One evaluator with a typed param and an example that the catalog shows; see the entry points in pyproject.toml.
"""

import msgspec

from evalsi import Record, SkipRecord, evaluator, output, text_of


class Closings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What counts as a polite end."""

    phrases: tuple[str, ...] = ("thank you", "thanks", "happy to help", "let me know")
    """Looked for in the last sentence, in any case."""


@evaluator(
    name="ends-politely",
    version="1.0.0",
    requires=["output"],
    params=Closings,
    outputs=[output("ends-politely", "passed", description="The last sentence thanks or offers help.")],
    bounded=True,
    example={
        "record": {"id": "1", "output": "It is in the shed. Thank you for asking!"},
        "expected": {"ends-politely": True},
    },
)
def ends_politely(record: Record, params: Closings) -> bool:
    """Whether the last sentence of the answer holds a polite phrase. An empty answer is skipped."""
    text = text_of(record.output).strip().casefold()
    if not text:
        raise SkipRecord("the answer is empty")
    sentences = [part for part in text.replace("!", ".").replace("?", ".").split(".") if part.strip()]
    return any(phrase.casefold() in sentences[-1] for phrase in params.phrases) if sentences else False
