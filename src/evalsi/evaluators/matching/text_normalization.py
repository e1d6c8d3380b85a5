"""What counts as the same text: invisible differences vanish, visible ones stay unless somebody asks.

Its own module because exact match, containment, token overlap and the JSON checks must agree on it. What always holds:
a normaliser is idempotent, and texts that differ only in composed or decomposed characters become equal.

Most text is ASCII, where Unicode has nothing to normalise, so every normaliser first asks `str.isascii`.
"""

import re
import string
import unicodedata
from collections.abc import Callable
from typing import Literal, TypeAlias

import msgspec

Normalizer: TypeAlias = Callable[[str], str]

_INVISIBLE = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164"
    "\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufff8\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0001\U000e0100-\U000e01ef]"
)
"""Default_Ignorable_Code_Point (Unicode, DerivedCoreProperties) without the tags that tell flags apart."""

_MARKS_AT_ONCE = 30
_LONG_MARKS = re.compile(rf"[^\w\s\x00-\x7f]{{{_MARKS_AT_ONCE + 1}}}")
"""A run in which there may be that many combining marks; none of them is a word character."""
_ARTICLES = frozenset({"a", "an", "the"})
_PUNCTUATION_BYTES = string.punctuation.encode()
_LOWER_BYTES = bytes(range(256)).lower()
_MARKS = r"!-,/:-@\[-`{-~"
_PUNCTUATION = re.compile(
    # A mark goes unless it stands between digits ("3,14", "10:30"). A point or hyphen also stays in front of a digit
    # (".5", "-7") unless it only joins it to a word: without that, -7 and 7 would be the same answer.
    rf"(?<![0-9])[{_MARKS}]|[{_MARKS}](?![0-9])|[-.](?![0-9])|(?<=[^\W\d])[-.]"
)


class Normalization(msgspec.Struct, frozen=True, kw_only=True):
    """Which differences between two texts are no differences."""

    normalize: bool = True
    """Unify Unicode forms (NFC), blanks and line ends; strip; drop invisible characters."""
    ignore_case: bool = False
    """Compare case-folded: STRASSE is straße."""
    ignore_punctuation: bool = False
    """Leave out punctuation, but not the marks inside a number."""
    squad_normalize: bool = False
    """Lower-case, and leave out punctuation and the articles a, an, the (Rajpurkar et al. 2016)."""


def compose(text: str) -> str:
    """`text` in Unicode normal form NFC."""
    return text if text.isascii() else _normal_form("NFC", text)


def compatible(text: str) -> str:
    """`text` in Unicode normal form NFKC: full-width and other presentation forms as the plain characters."""
    return text if text.isascii() else _normal_form("NFKC", text)


def collapse(text: str) -> str:
    """The default normal form: NFC, no invisible characters, single blanks, none at the ends."""
    if text.isascii():
        if text.isprintable() and "  " not in text:
            return text.strip(" ")
        return " ".join(text.split())
    return " ".join(_normal_form("NFC", _INVISIBLE.sub("", text)).split())


def fold_case(text: str) -> str:
    """Canonical caseless form (Unicode, section 3.13, D145), composed."""
    if text.isascii():
        return text.lower()
    return _normal_form("NFC", _normal_form("NFD", text).casefold())


def drop_punctuation(text: str) -> str:
    """`text` without punctuation; blanks are left as they fall. Marks inside a number stay."""
    if not text.isascii():
        text = text.replace("\u2212", "-")
        text = "".join(mark for mark in text if mark.isascii() or unicodedata.category(mark)[0] != "P")
    return _PUNCTUATION.sub("", text)


def squad_words(text: str) -> list[str]:
    """Lower-case words without punctuation and articles.

    Source: Rajpurkar et al. (2016), "SQuAD", the official script's answer normalisation; punctuation of other scripts
    is left out too.
    """
    if not text.isascii():
        text = _normal_form("NFC", _INVISIBLE.sub("", text)).casefold()
        text = "".join(mark for mark in text if unicodedata.category(mark)[0] != "P")
    kept = text.encode("utf-8", "surrogatepass").translate(
        _LOWER_BYTES, _PUNCTUATION_BYTES
    )  # bytes: five times as fast
    return [word for word in kept.decode("utf-8", "surrogatepass").split() if word not in _ARTICLES]


def normalizer(options: Normalization) -> Normalizer:
    """The function that brings a text into the form in which `options` compares it."""
    if options.squad_normalize:
        return _squad_form
    if not options.ignore_case and not options.ignore_punctuation:
        return collapse if options.normalize else _as_it_is
    if not options.ignore_punctuation:
        return _collapse_folded if options.normalize else fold_case
    case: Normalizer = fold_case if options.ignore_case else _as_it_is
    blanks: Normalizer = collapse if options.normalize else _as_it_is
    return lambda text: blanks(drop_punctuation(case(blanks(text))))


def _normal_form(form: Literal["NFC", "NFD", "NFKC"], text: str) -> str:
    """A normal form in linear time: long runs of combining marks, which take quadratic time to sort, are cut.

    Source: Unicode Standard Annex 15, section 13, the Stream-Safe Text Process.
    """
    if len(text) > _MARKS_AT_ONCE and _LONG_MARKS.search(text):
        pieces: list[str] = []
        marks = 0
        for mark in text:
            marks = marks + 1 if unicodedata.combining(mark) else 0
            if marks > _MARKS_AT_ONCE:
                pieces.append("\u034f")
                marks = 1
            pieces.append(mark)
        text = "".join(pieces)
    return unicodedata.normalize(form, text)


def _as_it_is(text: str) -> str:
    return text


def _collapse_folded(text: str) -> str:
    return fold_case(collapse(text))


def _squad_form(text: str) -> str:
    return " ".join(squad_words(text))
