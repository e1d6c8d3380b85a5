"""The Porter stemmer for English, so that METEOR can match "running" with "runs" without a download.

Its own module because it is a published algorithm of its own. It follows Porter (1980), "An algorithm for suffix
stripping", with the later amendments that NLTK applies by default (short words in -ies and -ied, -fulli, -logi, a vowel
and a consonant as a whole word, a pool of irregular forms), so that scores compare with those of other tools.
"""

from collections.abc import Callable
from functools import lru_cache
from itertools import pairwise

_IRREGULAR = {
    "sky": "sky", "skies": "sky", "dying": "die", "lying": "lie", "tying": "tie", "news": "news", "inning": "inning",
    "innings": "inning", "outing": "outing", "outings": "outing", "canning": "canning", "cannings": "canning",
    "howe": "howe", "proceed": "proceed", "exceed": "exceed", "succeed": "succeed",
}  # fmt: skip
_STEP_2 = [
    ("ational", "ate"), ("tional", "tion"), ("enci", "ence"), ("anci", "ance"), ("izer", "ize"), ("bli", "ble"),
    ("alli", "al"), ("entli", "ent"), ("eli", "e"), ("ousli", "ous"), ("ization", "ize"), ("ation", "ate"),
    ("ator", "ate"), ("alism", "al"), ("iveness", "ive"), ("fulness", "ful"), ("ousness", "ous"), ("aliti", "al"),
    ("iviti", "ive"), ("biliti", "ble"), ("fulli", "ful"),
]  # fmt: skip
_STEP_3 = [
    ("icate", "ic"), ("ative", ""), ("alize", "al"), ("iciti", "ic"), ("ical", "ic"), ("ful", ""), ("ness", ""),
]  # fmt: skip
_STEP_4 = [
    "al", "ance", "ence", "er", "ic", "able", "ible", "ant", "ement", "ment", "ent", "ion", "ou", "ism", "ate", "iti",
    "ous", "ive", "ize",
]  # fmt: skip


_LONGEST = 40
"""Letters; what is longer is no English word, and is left alone."""


def stem(word: str) -> str:
    """The stem of a lower-case English word; other words come back with at most an ending cut."""
    return _stem(word) if 2 < len(word) <= _LONGEST else word


@lru_cache(maxsize=65536)
def _stem(word: str) -> str:
    if word in _IRREGULAR:
        return _IRREGULAR[word]
    word = _step_1c(_step_1b(_step_1a(word)))
    word = _step_4(_step_3(_step_2(word)))
    return _step_5b(_step_5a(word))


def _consonants(word: str) -> list[bool]:
    """Which letters are consonants; a y is one at the start and after a vowel."""
    kinds: list[bool] = []
    for letter in word:
        kinds.append(letter not in "aeiou" and (letter != "y" or not kinds or not kinds[-1]))
    return kinds


def _measure(base: str) -> int:
    """How often a vowel run is followed by a consonant run: m in [C](VC){m}[V]."""
    kinds = _consonants(base)
    return sum(1 for before, after in pairwise(kinds) if after and not before)


def _has_vowel(base: str) -> bool:
    return not all(_consonants(base))


def _ends_double(word: str) -> bool:
    return len(word) >= 2 and word[-1] == word[-2] and _consonants(word)[-1]


def _ends_cvc(word: str) -> bool:
    """Whether it ends in consonant, vowel, consonant (not w, x, y), or is a vowel and a consonant."""
    kinds = _consonants(word)
    if len(word) == 2:
        return kinds == [False, True]
    return kinds[-3:] == [True, False, True] and word[-1] not in "wxy"


def _step_1a(word: str) -> str:
    if word.endswith("ies") and len(word) == 4:
        return word[:-1]
    for suffix, replacement in (("sses", "ss"), ("ies", "i"), ("ss", "ss"), ("s", "")):
        if word.endswith(suffix):
            return word[: len(word) - len(suffix)] + replacement
    return word


def _step_1b(word: str) -> str:
    if word.endswith("ied"):
        return word[:-1] if len(word) == 4 else word[:-2]
    if word.endswith("eed"):
        return word[:-1] if _measure(word[:-3]) > 0 else word
    for suffix in ("ed", "ing"):
        if word.endswith(suffix):
            rest = word[: -len(suffix)]
            if not _has_vowel(rest):
                continue
            if rest.endswith(("at", "bl", "iz")):
                return rest + "e"
            if _ends_double(rest):
                return rest[:-1] if rest[-1] not in "lsz" else rest
            if _measure(rest) == 1 and _ends_cvc(rest):
                return rest + "e"
            return rest
    return word


def _step_1c(word: str) -> str:
    if word.endswith("y") and len(word) > 2 and _consonants(word)[-2]:
        return word[:-1] + "i"
    return word


def _step_2(word: str) -> str:
    if word.endswith("alli") and _measure(word[:-4]) > 0:
        return _step_2(word[:-2])
    if word.endswith("logi"):
        return word[:-1] if _measure(word[:-3]) > 0 else word
    return _replace_first(word, _STEP_2, lambda rest: _measure(rest) > 0)


def _step_3(word: str) -> str:
    return _replace_first(word, _STEP_3, lambda rest: _measure(rest) > 0)


def _step_4(word: str) -> str:
    for suffix in _STEP_4:
        if word.endswith(suffix):
            rest = word[: -len(suffix)]
            if suffix == "ion" and rest[-1:] not in ("s", "t"):
                return word
            return rest if _measure(rest) > 1 else word
    return word


def _step_5a(word: str) -> str:
    if word.endswith("e"):
        rest = word[:-1]
        measure = _measure(rest)
        if measure > 1 or (measure == 1 and not _ends_cvc(rest)):
            return rest
    return word


def _step_5b(word: str) -> str:
    return word[:-1] if word.endswith("ll") and _measure(word[:-1]) > 1 else word


def _replace_first(word: str, rules: list[tuple[str, str]], holds: Callable[[str], bool]) -> str:
    for suffix, replacement in rules:
        if word.endswith(suffix):
            rest = word[: -len(suffix)]
            return rest + replacement if holds(rest) else word
    return word
