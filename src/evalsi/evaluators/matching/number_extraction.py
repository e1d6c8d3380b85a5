"""Which number a text finally states, and when two stated numbers are the same.

Its own module because reading numbers is where graders are most often wrong. What always holds: a number is read whole
("711" is never 11, "80,000" never 80), with its sign; page numbers, labels, dates and versions are not the answer while
anything else is; and a text that states two alternatives states none.

The hot path is a short ASCII text with one number in it; Unicode, LaTeX and declarations are only looked at when there
is a trace of them.
"""

import re
import string
import unicodedata
from collections.abc import Callable
from decimal import Decimal, InvalidOperation, localcontext
from typing import Literal, TypeAlias

import msgspec

from evalsi.evaluators.matching.answer_anchors import boxed, declarations

PercentPolicy: TypeAlias = Literal["either", "fraction", "ignore"]
DecimalMark: TypeAlias = Literal[".", ","]


class Number(msgspec.Struct, frozen=True, gc=False):
    """A stated number, or a stated range of them when `high` is set."""

    value: Decimal
    percent: bool = False
    """Whether a percent sign or word followed it; `value` is what was written before it."""
    high: Decimal | None = None


class Tolerance(msgspec.Struct, frozen=True, kw_only=True):
    """How far apart two numbers may be and still count as the same."""

    relative: float = 1e-6
    """As a fraction of the larger one. Up to 1e-6 it stands for rounding in print, which whole numbers do not have: two
    different whole numbers are then different."""
    absolute: float = 1e-9
    percent: PercentPolicy = "either"
    """What "45%" is when the other side has no percent sign: "either" 45 or 0.45, only the "fraction" 0.45, or, when the
    sign is to be ignored, only 45."""


_RUN = re.compile(
    r"[0-9](?:[0-9]|[.,:/_'’](?=[0-9])|[-–](?=[0-9])| [-–] (?=[0-9])| (?=[0-9]{3}(?![0-9]))| ?/ ?(?=[0-9])"
    r"| (?=[0-9]+ ?/ ?[0-9]))*"
    r"(?:[eE][-+]?[0-9]+(?![0-9A-Za-z])|\s?(?:[x×*·]|\\times|\\cdot)\s?10\s?(?:\^|\*\*)\s?[{(]?[-+]?[0-9]+[)}]?"
    r"|(?:\^|\*\*)\{?-?[0-9]+\}?)?"
)
"""A digit and all that may belong to its number. It starts with a digit, so that the search skips ahead quickly; what
stands before the digit is looked at afterwards."""

_DIGIT = re.compile("[0-9]")
_DIGITS_AS_ZERO = bytes(ord("0") if chr(code) in string.digits else 0 for code in range(256))

_PLAIN = re.compile(r"[0-9]+(?:\.[0-9]+)?")
_COMMAS = re.compile(r"[0-9]{1,3}(?:,[0-9]{2,3})*,[0-9]{3}(?:\.[0-9]+)?")
_POINTS = re.compile(r"[0-9]{1,3}(?:\.[0-9]{3})+(?:,[0-9]+)|[0-9]{1,3}(?:\.[0-9]{3}){2,}")
_BLANKS = re.compile(r"[0-9]{1,3}(?:[ '’_][0-9]{3})+(?:[.,][0-9]+)?")
_DECIMAL_COMMA = re.compile(r"[0-9]+,[0-9]+")
_FRACTION = re.compile(r"(?:([0-9]+) )?([0-9.]+) ?/ ?([0-9.]+)")
_EXPONENT = re.compile(r"(?:[eE]|\s?(?:[x×*·]|\\times|\\cdot)\s?10\s?(?:\^|\*\*)\s?)[{(]?([-+]?[0-9]+)[)}]?$")
_POWER = re.compile(r"(?:\^|\*\*)\{?(-?[0-9]+)\}?$")
_RANGE = re.compile(r" ?[-–] ?")
_SPLIT = re.compile(r"[ ,:/]")
_PERCENT = re.compile(r"\s?(?:\\?%|percent\b|per cent\b|pct\b)", re.IGNORECASE)
_SCALE = re.compile(r"\s?(thousand|million|billion|trillion)\b", re.IGNORECASE)
_SHORT_SCALE = re.compile(r"\s?(k|m|mn|mio|b|bn|t|tn)\b", re.IGNORECASE)
_SCALES = {
    "thousand": 3, "k": 3, "million": 6, "m": 6, "mn": 6, "mio": 6,
    "billion": 9, "b": 9, "bn": 9, "trillion": 12, "t": 12, "tn": 12,
}  # fmt: skip
_SUFFIX_STARTS = frozenset("%\\pPtTmMbBkK")
_CURRENCY = "$€£¥₹₽₩₺₫฿₴₦₱₪₿¢"
_SIGNS = frozenset(_CURRENCY + "+-–")
_LABELS = frozenset(
    [
        "page",
        "pages",
        "p",
        "pp",
        "section",
        "sections",
        "sec",
        "chapter",
        "chapters",
        "ch",
        "figure",
        "figures",
        "fig",
        "table",
        "tables",
        "step",
        "steps",
        "line",
        "lines",
        "equation",
        "equations",
        "eq",
        "note",
        "notes",
        "footnote",
        "footnotes",
        "question",
        "questions",
        "problem",
        "problems",
        "option",
        "options",
        "example",
        "examples",
        "item",
        "items",
        "part",
        "parts",
        "no",
        "nos",
        "case",
        "version",
        "v",
        "seite",
        "schritt",
    ]
)
"""Words after which a number is a name."""
_ALTERNATIVE = re.compile(rf"\s?(?:or|oder|ou|или)\s(?:about\s)?[-+{_CURRENCY}]{{0,2}}[0-9]", re.IGNORECASE)
_EITHER = re.compile(rf"[0-9{_CURRENCY}%]\s(?:or|oder|ou|или)\s[-+{_CURRENCY}]{{0,2}}$", re.IGNORECASE)
_OR_STARTS, _OR_ENDS = frozenset("oOuUи"), frozenset("rRuUи")
_BETWEEN = re.compile(r"between\s([0-9][0-9.,]{0,30})\sand\s$", re.IGNORECASE)
_RANGE_WORD = re.compile(r"\s(?:and|to)\s")
_NEGATIVE_WORD = re.compile(r"(?<![0-9)]\s)(?<![^\W_])(?:minus|negative)\s$", re.IGNORECASE)
_NEGATIVE_ENDS = frozenset({"us", "ve", "US", "VE"})
_OPERATOR = re.compile(r"\s?(?:[-+*/×·]|\\times|\\cdot)\s?[0-9(]")
_ALGEBRA = re.compile(r"[A-Za-z}]\)?\s?[-+*/^]\s?[0-9]|[0-9]\s?[-+*/^]\s?\(?\\?[A-Za-z]")
_SENTENCE_END = re.compile(r"[.!?。！？](?:\s|$)|\n")
_BLANK_BEFORE_DECLARED = re.compile(r"[\s*_:=$\"'`(\[{>]*")

_EXPONENT_DIGITS = 5
"""Digits of an exponent, sign included, beyond which nothing is computed with it."""
_POWER_LENGTH = 40
_POWER_PRECISION = 400

_UNICODE = str.maketrans(
    {
        "\u2212": "-", "\ufe63": "-", "\uff0d": "-", "\u2010": "-", "\u2011": "-", "\u2012": "–",
        "\uff0b": "+", "\uff0c": ",", "\uff0e": ".", "\uff1a": ":", "\uff0f": "/", "\uff05": "%", "\uff04": "$",
        "\uffe5": "¥", "\uffe1": "£", "\u066a": "%", "\u066b": ".", "\u066c": ",", "\u2044": "/",
        "\u00a0": " ", "\u2007": " ", "\u2009": " ", "\u202f": " ", "\u3000": " ", "\u200b": "", "\ufeff": "",
        "\u2062": "", "\u200e": "", "\u200f": "", "\u061c": "",
    }
)  # fmt: skip
_OTHER_DIGITS = re.compile(r"[^\D0-9]")
_RAISED = re.compile(r"[⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁺]+")
_LOWERED_FROM_RAISED = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁺", "0123456789-+")
_VULGAR = re.compile(r"([0-9]?)\s?([¼-¾⅐-⅞↉])")
_LATEX_FRACTION = re.compile(r"([0-9]?)\s?\\[dtc]?frac\s?\{\s?([0-9.]{1,40})\s?\}\s?\{\s?([0-9.]{1,40})\s?\}")
_JOINS = frozenset("^_")
_ASIDE = 200
"""Characters before a number in which an open bracket makes it an aside."""


def number_reader(decimal_mark: DecimalMark = ".") -> Callable[[str], Number | None]:
    r"""A function that gives the number a text finally states, or None.

    A box (`\boxed{18}`) or a declaration ("the answer is 18") decides; of other numbers the last one that is no aside
    in brackets, label, page number or list mark. With `decimal_mark` "," a single comma or point is read the European
    way: "1.250" is 1250 and "3,14" is 3.14.
    """
    european = decimal_mark == ","

    def read(text: str) -> Number | None:
        if text.isdecimal() and text.isascii():
            return Number(Decimal(text))
        if not text.isascii():
            text = _as_ascii_numbers(text)
        if "\\" in text:
            text = _without_latex(text)
            box = boxed(text)
            if box is not None and any(mark.isdigit() for mark in box):
                return None if _ALGEBRA.search(box) else _declared(box, 0, european)
        first = _first_digit(text)
        if first < 0:
            return None
        runs = list(_RUN.finditer(text, first))
        if len(runs) == 1:
            found = _read(text, runs[0], european)
            return found[0] if found is not None else None
        for start in declarations(text):
            number = _declared(text, start, european)
            if number is not None:
                return number
        return _last(text, runs, european)

    return read


def _first_digit(text: str) -> int:
    """Where the first ASCII digit is, -1 without one. On a sentence four times as fast as a regular expression."""
    if not text.isascii():
        found = _DIGIT.search(text)
        return found.start() if found is not None else -1
    return text.encode().translate(_DIGITS_AS_ZERO).find(b"0")


def same_number(a: Number, b: Number, tolerance: Tolerance) -> bool:
    """Whether two stated numbers are equal within `tolerance`. A range equals only the same range."""
    if a.high is not None or b.high is not None:
        if a.high is None or b.high is None:
            return False
        return _close(a.value, b.value, tolerance) and _close(a.high, b.high, tolerance)
    if a.percent is b.percent or tolerance.percent == "ignore":
        return _close(a.value, b.value, tolerance)
    if tolerance.percent == "either" and _close(a.value, b.value, tolerance):
        return True
    left = _shift(a.value, -2) if a.percent else a.value
    right = _shift(b.value, -2) if b.percent else b.value
    return _close(left, right, tolerance)


def _close(a: Decimal, b: Decimal, tolerance: Tolerance) -> bool:
    if a == b:
        return True
    # Floats settle what is far apart; what is within a hundredth of the tolerance goes on to exact decimals.
    near, far = float(a), float(b)
    if abs(near - far) > 1.01 * max(tolerance.absolute, tolerance.relative * max(abs(near), abs(far))) + 1e-12 * abs(
        near
    ):
        return False
    with localcontext() as context:
        context.prec = 60
        try:
            distance = abs(a - b)
            if distance <= Decimal(tolerance.absolute):
                return True
            if tolerance.relative <= 1e-6 and _is_whole(a) and _is_whole(b):
                return False
            return distance <= Decimal(tolerance.relative) * max(abs(a), abs(b))
        except ArithmeticError:  # exponents beyond what decimals hold: these two are not close
            return False


def _is_whole(value: Decimal) -> bool:
    exponent = value.as_tuple().exponent
    return isinstance(exponent, int) and (
        exponent >= 0 or (value.adjusted() < 60 and value == value.to_integral_value())
    )


def _shift(value: Decimal, places: int) -> Decimal:
    """Value * 10^places, with all its digits."""
    sign, digits, exponent = value.as_tuple()
    assert isinstance(exponent, int)
    return Decimal((sign, digits, exponent + places))


def _last(text: str, runs: list[re.Match[str]], european: bool) -> Number | None:
    """The last number that is more than a label; without one, the last of all."""
    reserve: Number | None = None
    for run in reversed(runs):
        found = _read(text, run, european)
        if found is None:
            continue
        number, start, is_weak = found
        if not is_weak and not _is_label(text, start, run.end()):
            low = _BETWEEN.search(text[max(0, start - 48) : start])
            if low is not None:
                below = _value(low[1], european)
                return Number(below.value, False, number.value) if below is not None else None
            return number if _is_decided(text, start, run.end()) else None
        if reserve is None:
            reserve = number
    return reserve


def _declared(text: str, start: int, european: bool) -> Number | None:
    """The number declared from `start` on: the first one of the clause, or what the clause's last `=` gives."""
    begin = _BLANK_BEFORE_DECLARED.match(text, start)
    assert begin is not None
    end_found = _SENTENCE_END.search(text, begin.end())
    end = end_found.start() if end_found is not None else len(text)
    first: tuple[Number, int, int] | None = None
    result: tuple[Number, int, int] | None = None
    for run in _RUN.finditer(text, begin.end(), max(end, begin.end())):
        found = _read(text, run, european)
        if found is None:
            continue
        number, at, _ = found
        before = text[max(start, at - 5) : at].rstrip().lower()
        if before.endswith(("not", "nicht")):
            continue
        if first is None:
            first = (number, at, run.end())
        elif before.endswith("=") and not _OPERATOR.match(text, run.end()):
            result = (number, at, run.end())
    chosen = result or first
    if chosen is None:
        return None
    number, at, stop = chosen
    if result is None:
        between = _ends_range(text, at, stop, european)
        if between is not None:
            return between
    return number if _is_decided(text, at, stop) else None


def _ends_range(text: str, start: int, end: int, european: bool) -> Number | None:
    """The range of "between 3 and 5", given the place of its first number."""
    head = text[max(0, start - 9) : start].lower().rstrip()
    if not head.endswith(("between", "from")):
        return None
    second = _RANGE_WORD.match(text, end)
    run = _RUN.search(text, second.end(), second.end() + 60) if second is not None else None
    low = _RUN.match(text, start)
    if run is None or low is None:
        return None
    a, b = _value(low[0], european), _value(run[0], european)
    return Number(a.value, False, b.value) if a is not None and b is not None else None


def _is_decided(text: str, start: int, end: int) -> bool:
    """Whether the number stands alone, not as one of "5 or 6"."""
    if text[end : end + 2].lstrip()[:1] in _OR_STARTS and _ALTERNATIVE.match(text, end):
        return False
    return text[start - 2 : start - 1] not in _OR_ENDS or _EITHER.search(text[max(0, start - 14) : start]) is None


def _is_label(text: str, start: int, end: int) -> bool:
    """Whether the number names something (page 12, [3], #4, "2." before a list item) or stands in an aside."""
    words = text[max(0, start - 14) : start].lower().split()
    if words:
        word = words[-1]
        if word[-1] in "#№":
            return word != "####"
        if word.rstrip(".") in _LABELS or (word == "of" and words[-2:-1] == ["out"]):
            return True
        if word[-1] == "[" and text[end : end + 1] == "]":
            return True
    line_start = text.rfind("\n", max(0, start - 8), start) + 1 if start else 0
    if (line_start or start < 8) and not text[line_start:start].strip(" *_") and text[end : end + 2] in (". ", ") "):
        return True
    opened = text.rfind("(", max(0, start - _ASIDE), start)
    if opened < 0 or text.find(")", opened, start) >= 0:
        return False
    closed = text.find(")", end, end + _ASIDE)
    if closed < 0:
        return False
    inside = text[opened + 1 : closed].strip(" *_%" + _CURRENCY)
    return len(inside) > end - start + 1


def _read(text: str, run: re.Match[str], european: bool) -> tuple[Number, int, bool] | None:
    """(the number, where it starts with sign and currency, whether it is glued to a word by a hyphen) of a run."""
    start = run.start()
    number = _value(run[0], european)
    if number is None:
        return None
    point = ""
    if start:
        mark = text[start - 1]
        if mark == "." and "." not in run[0]:
            earlier = text[start - 2] if start > 1 else " "
            if not earlier.isalnum() and earlier != ".":
                point = "."
                start -= 1
                mark = earlier if start else ""
        if mark != " " and (mark in _JOINS or (mark.isascii() and mark.isalpha())):
            return None  # part of a name: H2O, x2
    if point:
        fraction = _value("0." + run[0], european)
        if fraction is None:
            return None
        number = fraction
    negative = False
    is_weak = False
    has_currency = False
    place = start
    while start and text[place - 1 : place] in _SIGNS:
        mark = text[place - 1]
        if mark == "-" or mark == "–":
            earlier = text[place - 2] if place > 1 else ""
            if earlier.isalnum() or earlier in (")", "]", "%"):
                is_weak = earlier.isalpha() and earlier.isascii()
                break
            if mark == "–" and earlier not in ("", " ", "(", "[", "{", "*", "=", ":", "\n"):
                break
            if earlier != "-":
                negative = True
            place -= 1
            break
        place -= 1
        has_currency = has_currency or mark != "+"
    if (
        place > 5
        and text[place - 3 : place - 1] in _NEGATIVE_ENDS
        and _NEGATIVE_WORD.search(text[max(0, place - 12) : place])
    ):
        negative = not negative
    number = _with_suffix(text, run.end(), number, has_currency)
    if negative:
        value = number.value.copy_negate()
        number = Number(value, number.percent, number.high)
    return number, place, is_weak


def _with_suffix(text: str, end: int, number: Number, has_currency: bool) -> Number:
    if end == len(text):
        return number
    following = text[end : end + 2]
    if following.lstrip()[:1] not in _SUFFIX_STARTS:
        return number
    if _PERCENT.match(text, end):
        return Number(number.value, True, number.high)
    scale = _SCALE.match(text, end)
    if scale is None and has_currency:
        scale = _SHORT_SCALE.match(text, end)
    if scale is None and following[0] == "k" and not following[1:].isalnum():
        scale = _SHORT_SCALE.match(text, end)
    if scale is None:
        return number
    places = _SCALES[scale[1].lower()]
    high = _shift(number.high, places) if number.high is not None else None
    return Number(_shift(number.value, places), number.percent, high)


def _value(run: str, european: bool) -> Number | None:
    """The number that a whole run is; None for dates, times, versions and lists."""
    try:
        if run.isdecimal():
            return Number(Decimal(run))
        if not european:
            if _PLAIN.fullmatch(run):
                return Number(Decimal(run))
            if _COMMAS.fullmatch(run):
                return Number(Decimal(run.replace(",", "")))
        return _structured(run, european)
    except (InvalidOperation, ZeroDivisionError, ArithmeticError):
        return None


def _structured(run: str, european: bool) -> Number | None:
    power = _POWER.search(run)
    exponent = _EXPONENT.search(run)
    if exponent is not None and not (power is not None and exponent.start() > power.start()):
        base = _mantissa(run[: exponent.start()], european)
        if len(exponent[1]) > _EXPONENT_DIGITS:
            return None
        return Number(_shift(base, int(exponent[1]))) if base is not None else None
    if power is not None:
        base = _mantissa(run[: power.start()], european)
        if base is None or len(run) > _POWER_LENGTH or len(power[1]) > 3:
            return None
        with localcontext() as context:
            context.prec = _POWER_PRECISION
            return Number(base ** int(power[1]))
    mixed = _FRACTION.fullmatch(run)
    if mixed is not None:
        whole = Decimal(mixed[1] or 0)
        return Number(whole + Decimal(mixed[2]) / Decimal(mixed[3]))
    value = _mantissa(run, european)
    if value is not None:
        return Number(value)
    ends = _RANGE.split(run)
    if len(ends) == 2:
        low, high = _mantissa(ends[0], european), _mantissa(ends[1], european)
        if low is not None and high is not None:
            return Number(low, False, high)
    last = _SPLIT.split(run)[-1] if "," in run or " " in run else ""
    if last and ":" not in run and "/" not in run and last != run:
        return _value(last, european)
    return None


def _mantissa(digits: str, european: bool) -> Decimal | None:
    """A number without exponent, sign or unit, with whatever groups its digits."""
    if digits.isdecimal():
        return Decimal(digits)
    if european:
        if _PLAIN.fullmatch(digits) or _POINTS.fullmatch(digits) or _DECIMAL_COMMA.fullmatch(digits):
            groups, _, rest = digits.partition(",")
            is_grouped = re.fullmatch(r"[0-9]{1,3}(?:\.[0-9]{3})+", groups) is not None
            return Decimal((groups.replace(".", "") if is_grouped else groups) + ("." + rest if rest else ""))
        return Decimal(digits.replace(" ", "").replace(",", ".")) if _BLANKS.fullmatch(digits) else None
    if _PLAIN.fullmatch(digits):
        return Decimal(digits)
    if _COMMAS.fullmatch(digits):
        return Decimal(digits.replace(",", ""))
    if _BLANKS.fullmatch(digits):
        return Decimal(re.sub(r"[ '’_]", "", digits).replace(",", "."))
    if _POINTS.fullmatch(digits):
        return Decimal(digits.replace(".", "").replace(",", "."))
    if _DECIMAL_COMMA.fullmatch(digits):
        return Decimal(digits.replace(",", "."))
    return None


def _as_ascii_numbers(text: str) -> str:
    text = text.translate(_UNICODE)
    text = _OTHER_DIGITS.sub(lambda found: str(unicodedata.decimal(found[0])), text)
    text = _RAISED.sub(lambda found: "^" + found[0].translate(_LOWERED_FROM_RAISED), text)
    return _VULGAR.sub(_vulgar_fraction, text)


def _vulgar_fraction(found: re.Match[str]) -> str:
    parts = unicodedata.normalize("NFKC", found[2]).replace("\u2044", "/")
    return f"{found[1]} {parts}" if found[1] else f"{found[0][:-1]}{parts}"


def _without_latex(text: str) -> str:
    text = text.replace("{,}", ",").replace("\\,", "").replace("\\!", "").replace("\\%", "%").replace("\\$", "$")
    return _LATEX_FRACTION.sub(lambda f: f"{f[1]} {f[2]}/{f[3]}" if f[1] else f"{f[2]}/{f[3]}", text)
