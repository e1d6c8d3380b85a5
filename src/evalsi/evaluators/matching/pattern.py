r"""A user's regular expression, run in linear time where its language allows that.

Its own module because two engines have to mean the same thing. A pattern is written in Python's syntax. RE2 runs it
where it can, rewritten so that `\w`, `\d` and `\s` are Unicode-aware and `$` also stands before a last line end, as in
Python. What RE2 cannot run (lookaround, backreferences), or would run differently (`\b` beyond ASCII), Python's `re`
runs; `is_linear` then is False and the caller must be able to kill the search.
"""

import re
import warnings
from dataclasses import dataclass
from typing import Any

from evalsi.evaluators.matching.text_normalization import compose

_UNICODE_CLASSES = {
    "d": r"\p{Nd}",
    "w": r"\p{L}\p{M}\p{N}_",
    "s": r"\s\x0b\x1c-\x1f\x85\p{Z}",
}
_RUN_BY_PYTHON = frozenset("bBAZ")


@dataclass(frozen=True, kw_only=True)
class Pattern:
    """A compiled pattern."""

    is_linear: bool
    """Whether every search takes time proportional to the text."""
    _fast: Any
    _slow: re.Pattern[str] | None
    _full_match: bool

    def found_in(self, text: str) -> bool:
        """Whether the pattern matches somewhere, or the whole text when it was compiled so."""
        text = compose(text)
        if self._fast is not None and (self._slow is None or text.isascii()):
            return self._found_by_re2(text)
        assert self._slow is not None
        found = self._slow.fullmatch(text) if self._full_match else self._slow.search(text)
        return found is not None

    def _found_by_re2(self, text: str) -> bool:
        run = self._fast.fullmatch if self._full_match else self._fast.search
        try:
            return run(text) is not None
        except UnicodeEncodeError:  # a lone surrogate has no UTF-8 form
            return run(text.encode("utf-8", "replace").decode()) is not None


def compile_pattern(
    source: str, *, ignore_case: bool = False, multiline: bool = False, full_match: bool = False
) -> Pattern:
    """Compiles `source`.

    Raises: ValueError: it is no regular expression, with what is wrong and where.
    """
    source = compose(source)
    slow = _compile_python(source, ignore_case, multiline)
    rewritten = _for_re2(source, multiline=multiline, full_match=full_match)
    same_meaning = rewritten is not None
    fast = _compile_re2(rewritten if rewritten is not None else source, ignore_case, multiline)
    if isinstance(slow, str):
        if fast is None:
            raise ValueError(f"`pattern` is no regular expression: {slow}")
        return Pattern(is_linear=True, _fast=fast, _slow=None, _full_match=full_match)
    if fast is not None and same_meaning:
        return Pattern(is_linear=True, _fast=fast, _slow=None, _full_match=full_match)
    return Pattern(is_linear=False, _fast=fast, _slow=slow, _full_match=full_match)


def _compile_python(source: str, ignore_case: bool, multiline: bool) -> re.Pattern[str] | str:
    """The pattern, or what is wrong with it."""
    flags = (re.IGNORECASE if ignore_case else 0) | (re.MULTILINE if multiline else 0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return re.compile(source, flags)
        except (re.error, OverflowError, RecursionError) as error:
            return str(error) or type(error).__name__


def _compile_re2(source: str, ignore_case: bool, multiline: bool) -> Any:
    import re2 as untyped  # pyright: ignore[reportMissingTypeStubs]

    re2: Any = untyped
    options = re2.Options()
    options.case_sensitive = not ignore_case
    options.log_errors = False
    try:
        return re2.compile(("(?m)" if multiline else "") + source, options)
    except re2.error:
        return None


def _for_re2(source: str, *, multiline: bool, full_match: bool) -> str | None:
    """`source` so that RE2 reads it as Python would; None where that cannot be written."""
    if re.search(r"\(\?[a-zA-Z]*[xauL]", source):
        return None
    keep_dollar = multiline or full_match or re.search(r"\(\?[a-z]*m", source) is not None
    written: list[str] = []
    in_class = False
    place = 0
    while place < len(source):
        mark = source[place]
        if mark == "\\" and place + 1 < len(source):
            code = source[place + 1]
            place += 2
            if code in _RUN_BY_PYTHON and not in_class:
                if code not in "AZ":
                    return None
                written.append(r"\A" if code == "A" else r"\z")
            elif code.lower() in _UNICODE_CLASSES and (code.islower() or not in_class):
                inside = _UNICODE_CLASSES[code.lower()]
                written.append(inside if in_class else f"[{'^' if code.isupper() else ''}{inside}]")
            elif code.lower() in _UNICODE_CLASSES:
                return None
            else:
                written.append("\\" + code)
            continue
        if in_class:
            in_class = mark != "]"
            if mark == "[":
                mark = r"\["
        elif mark == "[":
            in_class = True
            opening = re.compile(r"\[\^?\]?").match(source, place)
            assert opening is not None
            written.append(opening[0].replace("]", r"\]"))
            place = opening.end()
            continue
        elif mark == "$" and not keep_dollar:
            mark = r"(?:\n?\z)"
        written.append(mark)
        place += 1
    return "".join(written)
