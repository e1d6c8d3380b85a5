"""Where the reasoning ends and the answer begins.

Its own module because every check of an answer must agree: reasoning is never the answer, and a block that was opened
and not closed means that the model stopped before it gave one. Records are read here and never changed, so the
reasoning stays visible on them.
"""

import re
from collections.abc import Callable, Sequence
from typing import TypeAlias

REASONING_TAGS = ["think", "thinking", "thought", "reasoning"]
"""Tags that models put around their reasoning, as `<think>`, `[THINK]` or `◁think▷`, in any case."""

AnswerFinder: TypeAlias = Callable[[str], str | None]


def answer_finder(tags: Sequence[str]) -> AnswerFinder:
    """A function that gives the text outside reasoning blocks: what follows the last one, or else what came before it.

    It returns None where a block was left open. A closing tag alone ends a block that the chat template had opened.
    Text without any block comes back as it is; otherwise the answer is stripped.

    Raises: ValueError: a tag is blank.
    """
    if not tags:
        return _whole
    if any(not tag.strip() for tag in tags):
        raise ValueError("`reasoning_tags` holds a blank tag; use [] to read outputs whole")
    names = "|".join(re.escape(tag.strip(" <>/[]")) for tag in tags)
    tag = re.compile(rf"[<\[◁](/?)(?:{names})(?:\s[^<>\[\]◁▷]{{0,200}})?[>\]▷]", re.IGNORECASE)

    def find(text: str) -> str | None:
        if "<" not in text and "[" not in text and "◁" not in text:
            return text
        answer = ""
        outside = 0
        is_open = False
        marks = 0
        for mark in tag.finditer(text):
            marks += 1
            if mark[1]:
                if not is_open:
                    answer = ""  # all that came before was reasoning
                is_open = False
                outside = mark.end()
            elif not is_open:
                answer = text[outside : mark.start()].strip() or answer
                is_open = True
        if not marks:
            return text
        return None if is_open else text[outside:].strip() or answer

    return find


def _whole(text: str) -> str | None:
    return text
