"""JSON read slowly, to say what is wrong and where, or to accept what the fast decoder refuses for no good reason.

The fast decoder (msgspec) names byte positions at best and calls a lone surrogate a truncated input. A line comes here
only when it failed there or looks suspicious, so clean data never pays for precise words.
"""

import json
import math
import re
from typing import Any, NoReturn

from evalsi.core.lone_surrogates import SURROGATE, without_surrogates
from evalsi.datasets.rows import MAX_DEPTH, RowError

# A string may lack its end: otherwise each escaped quote in it would be tried as a beginning, and time be quadratic.
_TOKEN = re.compile(r'"(?:[^"\\]++|\\.)*+"?|[{}\[\],:]|[^\s{}\[\],:"]+', re.DOTALL)
_NOT_NUMBERS = ("NaN", "Infinity", "-Infinity")


def read_json(text: bytes) -> tuple[Any, bool]:
    r"""The value of `text`, and whether lone surrogates in it were replaced by their escapes (`\ud800` as six characters).

    Raises:
        RowError: `text` is no JSON in UTF-8, nests deeper than `MAX_DEPTH`, repeats a key, or holds NaN, an infinity or a
            number that no float or integer of 4,300 digits can hold.
    """
    decoded = _decode(text)
    try:
        value = json.loads(decoded, object_pairs_hook=_object, parse_constant=_refuse, parse_float=_finite)
    except json.JSONDecodeError as error:
        reason = error.msg[:1].lower() + error.msg[1:]
        fault = _fault(decoded[: error.pos]) or RowError(f"not JSON: {reason}", error.pos)
        raise fault from None
    except (_SuspicionError, RecursionError, ValueError):
        raise _fault(decoded) or RowError("a number has too many digits") from None
    if deeper_than(value, MAX_DEPTH):
        raise _fault(decoded) or RowError(_TOO_DEEP)
    if SURROGATE.search(decoded) or "\\ud" in decoded or "\\uD" in decoded:
        return without_surrogates(value)
    return value, False


def array_spans(text: str, keys: tuple[str, ...]) -> list[tuple[int, int]]:
    """Start and end, in characters, of each element of the list in `text`, or of the list under one of `keys`.

    Raises:
        RowError: `text` is no such list; the offset counts from its start.
    """
    scan = json.JSONDecoder().raw_decode
    try:
        json.loads(text)
        start = _skip_space(text, 0)
        if text[start] == "{":
            start = _start_of_list(text, start, keys)
        elif text[start] != "[":
            raise RowError("neither a list nor an object", start)
        spans: list[tuple[int, int]] = []
        at = _skip_space(text, start + 1)
        while text[at] != "]":
            _, end = scan(text, at)
            spans.append((at, end))
            at = _skip_space(text, end)
            if text[at] == ",":
                at = _skip_space(text, at + 1)
    except json.JSONDecodeError as error:
        raise RowError(f"not JSON: {error.msg[:1].lower()}{error.msg[1:]}", error.pos) from None
    except RecursionError:
        raise _fault(text) or RowError(_TOO_DEEP) from None
    except ValueError:
        raise RowError("a number has too many digits") from None
    return spans


_TOO_DEEP = f"nested deeper than {MAX_DEPTH} levels"


class _SuspicionError(Exception):
    """Something is wrong inside; `_fault` finds where."""


def _decode(text: bytes) -> str:
    try:
        return text.decode()
    except UnicodeDecodeError as error:
        before = text[: error.start].decode()
        raise RowError(
            f"byte 0x{text[error.start]:02x} at byte {error.start} of the row is not UTF-8", len(before)
        ) from None


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) != len(pairs):
        raise _SuspicionError
    return value


def _refuse(constant: str) -> NoReturn:
    raise _SuspicionError(constant)


def _finite(number: str) -> float:
    value = float(number)
    if not math.isfinite(value):
        raise _SuspicionError
    return value


def _fault(text: str) -> RowError | None:
    """The first thing in `text` that is JSON's grammar and still refused, found by walking its tokens."""
    keys: list[set[str] | None] = []
    key_next = False
    for token in _TOKEN.finditer(text):
        word = token[0]
        if word in "{[":
            keys.append(set() if word == "{" else None)
            key_next = word == "{"
            if len(keys) > MAX_DEPTH:
                return RowError(_TOO_DEEP, token.start())
        elif word in "}]":
            if keys:
                keys.pop()
            key_next = False
        elif word == ",":
            key_next = bool(keys) and keys[-1] is not None
        elif word.startswith('"') and key_next and keys and (seen := keys[-1]) is not None:
            key_next = False
            key = _unquote(word)
            if key in seen:
                return RowError(f"key {key!r} is there twice", token.start())
            seen.add(key)
        elif word in _NOT_NUMBERS:
            return RowError(f"{word} is no JSON value", token.start())
        elif word[0] in "-0123456789" and not _fits(word):
            return RowError(f"number {word[:20]}{'…' if len(word) > 20 else ''} is out of range", token.start())
    return None


def _unquote(word: str) -> str:
    try:
        return str(json.loads(word))
    except ValueError:
        return word


def _fits(number: str) -> bool:
    try:
        if set(number) & set(".eE"):
            return math.isfinite(float(number))
        int(number)
    except ValueError:
        return False
    return True


def deeper_than(value: Any, levels: int) -> bool:
    """Whether `value` nests deeper than `levels`."""
    if isinstance(value, dict):
        return levels == 0 or any(deeper_than(inner, levels - 1) for inner in value.values())  # pyright: ignore[reportUnknownVariableType,reportUnknownArgumentType]
    if isinstance(value, list):
        return levels == 0 or any(deeper_than(inner, levels - 1) for inner in value)  # pyright: ignore[reportUnknownVariableType,reportUnknownArgumentType]
    return False


def _skip_space(text: str, at: int) -> int:
    while text[at : at + 1] in (" ", "\t", "\n", "\r"):
        at += 1
    return at


def _start_of_list(text: str, start: int, keys: tuple[str, ...]) -> int:
    scan = json.JSONDecoder().raw_decode
    at = _skip_space(text, start + 1)
    while text[at : at + 1] == '"':
        key, at = scan(text, at)
        at = _skip_space(text, at)
        at = _skip_space(text, at + 1)
        if key in keys and text[at : at + 1] == "[":
            return at
        _, at = scan(text, at)
        at = _skip_space(text, at)
        if text[at : at + 1] != ",":
            break
        at = _skip_space(text, at + 1)
    raise RowError(f"an object without a list under {' or '.join(map(repr, keys))}", start)
