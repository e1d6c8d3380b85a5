"""The words around a place in a text: what stands directly before a number often says what the number is.

Words are found with plain substring search and looked up in sets, because a pattern of a hundred alternatives tried at
every character is what makes a scan slow.
"""

import re
from collections.abc import Iterable, Iterator

_WORD = re.compile(r"[^\W\d_]+|§+|#")


def lower(text: str) -> str:
    """`text` in lower case and of the same length ("İ" would become two characters)."""
    return text.replace("İ", "i").lower()


def words_before(text: str, at: int, *, reach: int = 40, count: int = 3) -> list[str]:
    """The last `count` words on the same line within `reach` characters before `at`, nearest first, in lower case."""
    line = lower(text[max(0, at - reach) : at]).rpartition("\n")[2]
    return _WORD.findall(line)[: -count - 1 : -1]


def occurrences(text: str, words: Iterable[str]) -> Iterator[tuple[int, str]]:
    """Each place where one of `words` stands in `text`, word by word."""
    for word in words:
        at = text.find(word)
        while at >= 0:
            yield at, word
            at = text.find(word, at + len(word))
