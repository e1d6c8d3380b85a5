"""One-word verdicts: a label that stands alone on the first or last line, or after an anchor such as `Verdict:`.

Whole labels only: INCORRECT is not CORRECT, "partially correct" is neither, and a label inside a sentence says nothing.
"""

import re
from collections.abc import Callable, Sequence
from functools import lru_cache

from evalsi.core.errors import InvalidParamsError
from evalsi.judges.replies.own_words import final_text, own_lines, unquoted, unreadable
from evalsi.ports.chat_model import ChatReply

ANCHORS = ("verdict", "label", "answer", "judgment", "judgement", "decision", "classification", "result", "grade")
_TAIL = re.compile(r"\s*(?:$|[.,;:!(\u2013\u2014])|\s+-\s")
_MARKUP = " *_`\"'[]()"


def read_label(
    reply: ChatReply,
    labels: Sequence[str],
    *,
    anchors: Sequence[str] = ANCHORS,
    material: Sequence[str] = (),
) -> str:
    """The label as it was offered.

    Raises: ReplyError: no label, several different ones, cut off, or refused.
    """
    lines = own_lines(final_text(reply), material)
    found = choices_in(lines, tuple(labels), tuple(anchors), alone=True)
    return the_one(reply, found, f"a last line 'Verdict: LABEL' with LABEL one of {', '.join(labels)}")


def label_reader(labels: Sequence[str], *, material: Sequence[str] = ()) -> Callable[[ChatReply], str]:
    """`read_label` as a function of the reply alone. Raises: InvalidParamsError: fewer than two distinct labels."""
    check_labels(labels)
    return lambda reply: read_label(reply, labels, material=material)


def check_labels(labels: Sequence[str]) -> None:
    """Raises InvalidParamsError unless there are two or more labels that differ after case and spaces are ignored."""
    if len({comparable(label) for label in labels}) != len(labels) or len(labels) < 2:
        raise InvalidParamsError(f"a judge needs two or more labels that differ, not {list(labels)!r}", where="labels")


def choices_in(
    lines: Sequence[str], choices: tuple[str, ...], anchors: tuple[str, ...], *, alone: bool
) -> list[str | None]:
    """What the anchored lines (else, when `alone`, the first and last line) say; None for something not offered.

    An anchor inside a later line ("On reflection, GRADE: I") is no verdict of its own but speaks against another one.
    """
    offered = _offered(choices)
    anchor = _anchor_pattern(anchors)
    found: list[str | None] = []
    for line in lines:
        start = anchor.match(line)
        if start:
            found.append(_choice_at(line[start.end() :], offered))
        elif found:
            found += _second_thoughts(line, anchors, offered)
    if not found and alone and lines:
        edges = (lines[0], lines[-1]) if len(lines) > 1 else (lines[0],)
        found = [offered[key] for line in edges if (key := comparable(line)) in offered]
    return found


def _second_thoughts(line: str, anchors: tuple[str, ...], offered: dict[str, str]) -> list[str]:
    text = unquoted(line)
    choices = (_choice_at(text[found.end() :], offered) for found in _mention_pattern(anchors).finditer(text))
    return [choice for choice in choices if choice is not None]


def comparable(label: str) -> str:
    """A label without case, Markdown, final stop, or the difference between spaces, hyphens and underscores."""
    trimmed = label.strip(_MARKUP).rstrip(".!").strip(_MARKUP)
    return re.sub(r"(?<=\w)[\s_-]+(?=\w)", " ", trimmed).casefold()


def _choice_at(rest: str, offered: dict[str, str]) -> str | None:
    trimmed = rest.lstrip(_MARKUP)
    whole = comparable(trimmed)
    if whole in offered:
        return offered[whole]
    # Longest first, so that "not correct" is never read as the "not" of another label.
    for key in sorted(offered, key=len, reverse=True):
        words = r"[\s_-]+".join(map(re.escape, key.split(" ")))
        start = re.match(rf"{words}[*_`\"'\])]*", trimmed, re.IGNORECASE)
        if start and _TAIL.match(trimmed, start.end()):
            return offered[key]
    return None


def the_one(reply: ChatReply, found: Sequence[str | None], wanted: str) -> str:
    """The single choice that was found.

    Raises: ReplyError: none, several different ones, or the last is one that was not offered.
    """
    distinct = {choice for choice in found if choice is not None}
    if len(distinct) > 1:
        raise unreadable(reply, wanted, why="the judge's reply holds verdicts that contradict each other")
    if not distinct or found[-1] is None:
        raise unreadable(reply, wanted)
    return distinct.pop()


@lru_cache(maxsize=256)
def _offered(choices: tuple[str, ...]) -> dict[str, str]:
    """By what is compared. Only read."""
    return {comparable(choice): choice for choice in choices}


@lru_cache(maxsize=64)
def _anchor_pattern(anchors: tuple[str, ...]) -> re.Pattern[str]:
    words = "|".join(re.escape(anchor) for anchor in sorted(anchors, key=len, reverse=True))
    return re.compile(
        rf"(?:(?:the|my|final|overall|own|judge['’]s)\s+){{0,3}}(?:{words})[\s*_]*(?:[:=\u2013\u2014]|-\s|\bis\b:?)[\s*_]*",
        re.IGNORECASE,
    )


@lru_cache(maxsize=64)
def _mention_pattern(anchors: tuple[str, ...]) -> re.Pattern[str]:
    return re.compile(rf"(?<!\w)(?:{'|'.join(map(re.escape, anchors))})[*_]{{0,4}}[:=]", re.IGNORECASE)
