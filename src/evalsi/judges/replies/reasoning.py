"""Taking a model's reasoning out of its text, so that a draft is never read as the answer.

Blocks open with `<think>` or another of the given tags and end with the closing tag. Three rules cover what models do:
a closed block is removed wherever it stands; a closing tag without an opening one ends a block that the chat template
had opened, so everything before it goes; a block that is never closed means that the model stopped before it answered.
"""

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

DEFAULT_TAGS = ("think", "thinking", "thought", "reasoning", "scratchpad")


class Answer(NamedTuple):
    """`text` is None when a block was never closed: no answer was given. `reasoning` is what was taken out."""

    text: str | None
    reasoning: str


def without_reasoning(text: str, tags: Sequence[str] = DEFAULT_TAGS) -> Answer:
    """Splits `text` into what was answered and what was only thought. Time is linear in the text."""
    if "<" not in text or not tags:
        return Answer(text, "")
    kept: list[str] = []
    removed: list[str] = []
    end = 0
    inside = False
    for tag in _tag_pattern(tuple(tags)).finditer(text):
        closes = tag.group(1) == "/"
        if inside and closes:
            removed.append(text[end : tag.start()])
            end, inside = tag.end(), False
        elif inside:
            continue
        elif closes:
            removed += [*kept, text[end : tag.start()]]
            kept.clear()
            end = tag.end()
        else:
            kept.append(text[end : tag.start()])
            end, inside = tag.end(), True
    rest = text[end:]
    if inside:
        return Answer(None, "\n".join([*removed, rest]).strip())
    # A line break where a block stood, so that the words on both sides of it do not become one.
    return Answer("\n".join([*kept, rest]).strip(), "\n".join(removed).strip())


@lru_cache(maxsize=32)
def _tag_pattern(tags: tuple[str, ...]) -> re.Pattern[str]:
    return re.compile(rf"<(/?)(?:{'|'.join(map(re.escape, tags))})(?:\s[^<>]{{0,200}})?>", re.IGNORECASE)
