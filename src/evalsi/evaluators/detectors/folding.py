"""One character for another: digits, letters, spaces and dashes of every script as their plain ASCII forms.

A number written in full-width or Arabic digits is the same number. The fold never changes the length of a text, so
offsets in the folded text are offsets in the original.
"""

import unicodedata

_SPACES = "\u00a0\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u202f\u205f\u3000"
_DASHES = "\u2010\u2011\u2012\u2013\u2014\u2015\u2212\ufe58\ufe63"


class _Folds(dict[int, str]):
    """The fold of each code point, worked out when it is first met."""

    def __missing__(self, code: int) -> str:
        folded = self[code] = _fold_character(chr(code))
        return folded


def _fold_character(character: str) -> str:
    if character in _SPACES:
        return " "
    if character in _DASHES:
        return "-"
    if "\uff01" <= character <= "\uff5e":
        return chr(ord(character) - 0xFEE0)
    if character.isdecimal():
        return str(unicodedata.decimal(character))
    return character


_folds = _Folds()


def fold(text: str) -> str:
    """`text` with the same length and the ASCII form of whatever has one."""
    return text if text.isascii() else text.translate(_folds)
