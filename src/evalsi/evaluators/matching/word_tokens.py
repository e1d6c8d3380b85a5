"""Words of any script, one character at a time where a script writes no blanks between words.

Its own module because overlap metrics are only comparable when they cut text the same way, and cutting at blanks or at
[a-z0-9] makes one token, or none, of a Chinese sentence.
"""

import unicodedata

from evalsi.evaluators.matching.text_normalization import compose, squad_words

UNICODE_WORDS = "unicode-words"
"""The tokeniser's name in metadata."""

_BLANKLESS = (
    (0x0E00, 0x0EFF),  # Thai, Lao
    (0x0F00, 0x0FFF),  # Tibetan
    (0x1000, 0x109F),  # Myanmar
    (0x1780, 0x17FF),  # Khmer
    (0x2E80, 0x2FDF),  # CJK radicals
    (0x3005, 0x3007),
    (0x3021, 0x3029),
    (0x3040, 0x30FF),  # Hiragana, Katakana
    (0x3100, 0x312F),  # Bopomofo
    (0x31A0, 0x31FF),
    (0x3400, 0x4DBF),  # Han
    (0x4E00, 0x9FFF),
    (0xF900, 0xFAFF),
    (0xFF66, 0xFF9F),  # half-width Katakana
    (0x1B000, 0x1B16F),
    (0x20000, 0x3FFFF),
)


def is_blankless(code: int) -> bool:
    """Whether the character is of a script that is written without blanks between words."""
    return code >= 0x0E00 and any(low <= code <= high for low, high in _BLANKLESS)


class _Cutting(dict[int, str]):
    """A `str.translate` table that is filled as characters turn up: words stay, all else becomes a blank."""

    def __missing__(self, code: int) -> str:
        mark = chr(code)
        if unicodedata.category(mark)[0] not in "LNM":
            value = " "
        elif is_blankless(code):
            value = f" {mark} "
        else:
            value = mark
        self[code] = value
        return value


class _Spacing(dict[int, str]):
    """Leaves every character, with blanks around those of scripts that write none."""

    def __missing__(self, code: int) -> str:
        value = f" {chr(code)} " if is_blankless(code) else chr(code)
        self[code] = value
        return value


_TELLING = 40
"""Characters in which most texts have two words."""

_CUTTING = _Cutting()
_SPACING = _Spacing()


def unicode_words(text: str) -> list[str]:
    """Case-folded runs of letters, digits and their combining marks."""
    return compose(text).casefold().translate(_CUTTING).split()


def separate(text: str) -> str:
    """`text` with blanks around each character of a script that writes none."""
    return text if text.isascii() else text.translate(_SPACING)


def squad_tokens(text: str) -> list[str]:
    """SQuAD words, with one token per character in scripts without blanks."""
    return squad_words(text if text.isascii() else separate(compose(text)))


def has_squad_tokens(text: str) -> bool:
    """Whether `squad_tokens` finds any. The beginning tells, where it holds two: the first is whole wherever it is cut."""
    return (text.isascii() and len(squad_words(text[:_TELLING])) > 1) or bool(squad_tokens(text))


def count_words(text: str) -> int:
    """Words as a word processor counts them: between blanks, and each character of a script without blanks."""
    return len((text if text.isascii() else separate(text)).split())
