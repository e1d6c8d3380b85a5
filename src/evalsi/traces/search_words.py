"""The words that search knows a text by. Pure.

A module of its own because databases cut text into words each in their way, and a search must find the same in all of
them: they are given words, not text. Scripts that put no space between words are cut into single characters.
"""

import re
import unicodedata

_UNSPACED = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
"""Thai, Lao, Burmese, Khmer, kana and Chinese characters."""
_WORD = re.compile(rf"[{_UNSPACED}]|[^\W_{_UNSPACED}]+")
_ASCII_WORDS = bytes(ord(chr(code).lower()) if chr(code).isalnum() and code < 128 else 32 for code in range(256))
"""For each byte of ASCII text what it is in a word; a space for what is in none."""
_LONGEST = 64
"""Letters of a word that count: longer ones are data, such as base64."""


def search_words(text: str) -> list[str]:
    """Each word of a text once, without regard to case and form; in order of first occurrence."""
    if text.isascii():  # in a tenth of the time
        found = dict.fromkeys(text.encode().translate(_ASCII_WORDS).decode().split())
    else:
        found = dict.fromkeys(_WORD.findall(unicodedata.normalize("NFKC", text).casefold()))
    if max(map(len, found), default=0) <= _LONGEST:
        return list(found)
    return list(dict.fromkeys(word[:_LONGEST] for word in found))
