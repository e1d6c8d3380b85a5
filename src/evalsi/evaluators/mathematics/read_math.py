r"""Reads mathematics as people and models write it: LaTeX, plain text, Unicode signs, mixed.

Its own module because reading is where graders are most often wrong: what cannot be read is an `UnreadableError`, and
nothing is ever dropped to make the rest readable (`4\sqrt(2)` is never 4). Reading takes time in proportion to the text,
and texts, nesting and structures are bounded.
"""

import re
from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache
from typing import NamedTuple, NoReturn

from evalsi.evaluators.mathematics.expression import (
    Call,
    Chain,
    Constant,
    Interval,
    Matrix,
    Meaning,
    Negative,
    Number,
    Operation,
    Quantity,
    Relation,
    Scalar,
    Symbol,
    Tuple,
    Union,
    UnreadableError,
    Values,
    Words,
)

MOST_CHARACTERS = 2000
"""Longest text that is read as one expression."""
DEEPEST = 40
"""Brackets, arguments and exponents within each other."""
MOST_ITEMS = 200
"""Items of one list, set or matrix."""
_LONGEST_NUMERAL = 400

_SIGNS = str.maketrans(
    {
        "−": "-", "–": "-", "—": "-", "×": r"\times ", "·": r"\cdot ", "⋅": r"\cdot ", "∗": "*", "÷": "/", "∕": "/",
        "≤": r"\le ", "⩽": r"\le ", "≥": r"\ge ", "⩾": r"\ge ", "≠": r"\ne ", "π": r"\pi ", "∞": r"\infty ",
        "√": r"\sqrt ", "∪": r"\cup ", "∈": r"\in ", "°": r"^\circ ", "±": r"\pm ", "∓": r"\mp ", "⁄": "/",
        "½": r"\frac{1}{2}", "¼": r"\frac{1}{4}", "¾": r"\frac{3}{4}", "⅓": r"\frac{1}{3}", "⅔": r"\frac{2}{3}",
        "∅": r"\emptyset ", "⟨": "(", "⟩": ")", "（": "(", "）": ")", "，": ",", "％": "%", "\u00a0": " ", "\u202f": " ",
        "\u2009": " ", "\u200b": "", "\ufeff": "", "。": ".",
    }
)  # fmt: skip
_SUPERSCRIPTS = {mark: str(digit) for digit, mark in enumerate("⁰¹²³⁴⁵⁶⁷⁸⁹")} | {"⁻": "-", "⁺": "+"}
_SUPERSCRIPT_RUN = re.compile("[⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁺]+")
_TOKEN = re.compile(
    r"(?P<space>(?:\s|~|\\[,;:! ]|\\(?:quad|qquad|displaystyle|textstyle|limits|left|right"
    r"|(?:b|B)igg?[lrm]?)(?![A-Za-z])\.?)+)"
    r"|(?P<number>(?:\d+(?:\{,\}\d{3}|\\,\d{3}(?!\d))*(?:\.(?:\d+|(?=\\overline)))?|\.\d+)(?:[eE][-+]?\d+(?![\dA-Za-z]))?)"
    r"|(?P<command>\\(?:begin|end)\s*\{[a-zA-Z*]+\}|\\[A-Za-z]+\*?|\\[^A-Za-z])"
    r"|(?P<letters>[A-Za-z\u0370-\u03ff\u0410-\u044f]+'*)"
    r"|(?P<sign><=|>=|!=|==|\*\*|[^\s])"
)
_GROUPED = re.compile(r"\d{1,3}(?:,\d{3})+(?![\d,])(?:\.\d+)?")
_SPACED = re.compile(r"\d{1,3}(?: \d{3})+(?![\d])(?:\.\d+)?")
_FUNCTIONS = {
    "sin", "cos", "tan", "cot", "sec", "csc", "sinh", "cosh", "tanh", "arcsin", "arccos", "arctan", "asin", "acos",
    "atan", "ln", "log", "lg", "exp", "sqrt", "abs", "floor", "ceil", "cbrt",
}  # fmt: skip
_SAME_FUNCTION = {"asin": "arcsin", "acos": "arccos", "atan": "arctan", "ln": "log"}
_INVERSES = {"sin": "arcsin", "cos": "arccos", "tan": "arctan"}
_TEXTS = {"\\text", "\\textbf", "\\textit", "\\textrm", "\\mbox", "\\textnormal", "\\texttt"}
_STYLES = {
    "\\mathrm",
    "\\mathbf",
    "\\mathit",
    "\\mathsf",
    "\\mathcal",
    "\\boldsymbol",
    "\\bm",
    "\\operatorname",
    "\\mathbb",
}
_BOXES = {"\\boxed", "\\fbox", "\\displaylines"}
_FRACTIONS = {"\\frac", "\\dfrac", "\\tfrac", "\\cfrac"}
_TIMES = {"\\times", "\\cdot", "*", "\\ast"}
_RELATIONS = {
    "=": "=", "==": "=", "\\equiv": "=", "<": "<", "\\lt": "<", ">": ">", "\\gt": ">", "<=": "<=", "\\le": "<=",
    "\\leq": "<=", "\\leqslant": "<=", ">=": ">=", "\\ge": ">=", "\\geq": ">=", "\\geqslant": ">=", "!=": "!=",
    "\\ne": "!=", "\\neq": "!=", "\\approx": "=",
}  # fmt: skip
_OPENING = {
    "(": ")",
    "[": "]",
    "\\{": "\\}",
    "{": "}",
    "\\lbrace": "\\rbrace",
    "\\lbrack": "\\rbrack",
    "\\langle": "\\rangle",
}
_CLOSING = {")", "]", "\\}", "}", "\\rbrace", "\\rbrack", "\\rangle"}
_GREEK = {
    "alpha", "beta", "gamma", "delta", "epsilon", "varepsilon", "zeta", "eta", "theta", "vartheta", "iota", "kappa",
    "lambda", "mu", "nu", "xi", "rho", "sigma", "tau", "upsilon", "phi", "varphi", "chi", "psi", "omega", "Gamma",
    "Delta", "Theta", "Lambda", "Xi", "Sigma", "Phi", "Psi", "Omega", "ell", "hbar",
}  # fmt: skip
_SEPARATING_WORDS = {"and", "or"}
_MATRICES = {"matrix", "pmatrix", "bmatrix", "smallmatrix", "array", "Bmatrix"}
_SHORT_UNITS = {
    "cm",
    "mm",
    "km",
    "kg",
    "mg",
    "ms",
    "min",
    "hr",
    "hrs",
    "ft",
    "lb",
    "lbs",
    "oz",
    "ml",
    "yd",
    "mph",
    "deg",
}
"""Units that are shorter than a word and no products of variables when they follow a space."""
_FEWEST_LETTERS_OF_A_WORD = 4


class _Token(NamedTuple):
    kind: str
    text: str
    spaced: bool = False
    """Whether white space stood before it."""
    grouped: bool = False
    """A number whose thousands were set off."""


@lru_cache(maxsize=4096)
def read_math(text: str) -> Meaning:
    """What `text` says.

    Raises: UnreadableError: it is empty, no mathematics that we read, or beyond our bounds.
    """
    if len(text) > MOST_CHARACTERS:
        raise UnreadableError(f"longer than {MOST_CHARACTERS} characters")
    written = _tidied(text)
    if not written:
        raise UnreadableError("empty")
    tokens = _tokens(written)
    if any(token.text in ("\\pm", "\\mp") for token in tokens):
        return Values(tuple(_Reader(tokens, sign).read() for sign in (1, -1)))
    return _Reader(tokens, 1).read()


def plain_text(text: str) -> str:
    """`text` without spaces, dollar signs and wrappers: what has the same plain text is the same answer."""
    return (
        re.sub(r"\\[,;:! ]|\s+|\\left|\\right", "", _tidied(text))
        .replace("\\dfrac", "\\frac")
        .replace("\\tfrac", "\\frac")
    )


def _tidied(text: str) -> str:
    text = text.translate(_SIGNS).strip() if not text.isascii() else text.strip()
    if not text.isascii():
        text = _SUPERSCRIPT_RUN.sub(lambda run: "^{" + "".join(_SUPERSCRIPTS[mark] for mark in run[0]) + "}", text)
    before = None
    while text != before:
        before = text
        text = text.strip().strip("$").strip()
        for opening, closing in ((r"\(", r"\)"), (r"\[", r"\]"), ("**", "**"), ("`", "`")):
            if text.startswith(opening) and text.endswith(closing) and len(text) > len(opening):
                text = text[len(opening) : -len(closing)]
        text = text.removesuffix(".").removesuffix(r"\.").removesuffix(",").removesuffix(";")
        if text.startswith((r"\$", "$")):
            text = text.lstrip("\\$")
    return text


def _tokens(text: str) -> list[_Token]:
    found: list[_Token] = []
    place = 0
    spaced = False
    brackets: list[int] = []
    while place < len(text):
        if text[place].isdigit() and text[place].isascii():
            grouped = _grouped_at(text, place, brackets)
            if grouped is not None:
                found.append(_Token("number", re.sub("[, ]", "", grouped), spaced, grouped=True))
                place += len(grouped)
                spaced = False
                continue
        match = _TOKEN.match(text, place)
        if match is None:  # pragma: no cover - the last alternative takes any sign
            raise UnreadableError("a character that is no mathematics")
        kind, written = match.lastgroup or "", match[0]
        place = match.end()
        if kind == "space":
            spaced = True
            continue
        if kind == "number":
            plain = written.replace("{,}", "").replace("\\,", "")
            found.append(_Token(kind, plain, spaced, grouped=plain != written))
        else:
            if written in _OPENING:
                brackets.append(place)
            elif written in _CLOSING and brackets:
                brackets.pop()
            found.append(_Token(kind, written, spaced))
        spaced = False
    return found


def _grouped_at(text: str, place: int, brackets: list[int]) -> str | None:
    """A numeral with set-off thousands. Within brackets commas separate, unless separators there have spaces."""
    match = _SPACED.match(text, place)
    if match is not None:
        return match[0]
    match = _GROUPED.match(text, place)
    if match is None or (place and text[place - 1] in ".,") or (brackets and ", " not in text[brackets[-1] :]):
        return None
    return match[0]


class _Reader:
    r"""One pass over the tokens. `sign` is what a `\pm` stands for."""

    def __init__(self, tokens: list[_Token], sign: int) -> None:
        self._tokens = list(tokens)
        self._place = 0
        self._depth = 0
        self._sign = sign
        self._bars = 0

    def read(self) -> Meaning:
        found = self._list(self._at_end)
        if not self._at_end():
            self._fail(f"{self._peek().text!r} stands where nothing fits")
        return found

    # Structures

    def _list(self, ends: Callable[[], bool]) -> Meaning:
        """Members separated by commas or words; alone it is its only member."""
        members = [self._union()]
        while not ends() and self._separator():
            if ends():
                break
            members.append(self._union())
            if len(members) > MOST_ITEMS:
                self._fail(f"more than {MOST_ITEMS} items")
        if len(members) == 1:
            return members[0]
        if any(isinstance(member, (Interval, Union)) for member in members):
            return Union(tuple(members))
        return Values(tuple(members), is_list=True)

    def _separator(self) -> bool:
        token = self._peek()
        if token.text in (",", ";", "\\lor", "\\vee", "\\land", "\\wedge"):
            self._place += 1
            word = self._word_ahead()
            if word in _SEPARATING_WORDS:
                self._skip_word()
            return True
        if self._word_ahead() in _SEPARATING_WORDS:
            self._skip_word()
            return True
        return False

    def _word_ahead(self) -> str:
        if self._at_end():
            return ""
        token = self._peek()
        if token.kind == "letters":
            return token.text.lower()
        if token.text in _TEXTS:
            return self._raw_group(self._place + 1)[0].strip().strip(",").strip().lower()
        return ""

    def _skip_word(self) -> None:
        self._place = self._raw_group(self._place + 1)[1] if self._peek().text in _TEXTS else self._place + 1

    def _union(self) -> Meaning:
        parts = [self._related()]
        while not self._at_end() and self._peek().text in ("\\cup", "\\bigcup"):
            self._place += 1
            parts.append(self._related())
        if len(parts) == 1:
            return parts[0]
        return Union(tuple(parts))

    def _related(self) -> Meaning:
        sides = [self._side()]
        kinds: list[str] = []
        while not self._at_end() and (kind := _RELATIONS.get(self._peek().text)) is not None:
            self._place += 1
            kinds.append(kind)
            sides.append(self._side())
        if not self._at_end() and self._peek().text == "\\in" and len(sides) == 1 and isinstance(sides[0], Symbol):
            self._place += 1
            return self._union()
        if not kinds:
            return sides[0]
        links = tuple(_relation(kind, sides[index], sides[index + 1]) for index, kind in enumerate(kinds))
        return links[0] if len(links) == 1 else Chain(links)

    def _side(self) -> Meaning:
        token = self._peek_or_fail()
        if token.text in _BOXES:
            return self._boxed()
        words = self._words()
        if words is not None:
            return words
        structure = self._structure()
        if structure is not None:
            return structure
        scalar = self._sum()
        return self._with_unit(scalar)

    def _boxed(self) -> Meaning:
        self._place += 1
        self._expect("{")
        found = self._list(lambda: self._peek_or_fail().text == "}")
        self._expect("}")
        return found

    def _words(self) -> Words | None:
        """Words, where the side begins with text that is no mathematics."""
        token = self._peek()
        if token.text in _TEXTS:
            inner, after = self._raw_group(self._place + 1)
            inner = inner.strip().strip("()").strip()
            if len(inner) > 1 and not inner[:1].isdigit() and re.fullmatch(r"[^\d\\=+*/^<>]+", inner):
                self._place = after
                return Words(_folded(" ".join([inner, *self._following_words()])))
            return None
        if token.kind == "letters" and self._is_word(token.text):
            return Words(_folded(" ".join(self._following_words())))
        return None

    def _following_words(self) -> list[str]:
        found: list[str] = []
        while not self._at_end():
            token = self._peek()
            if token.text in _TEXTS:
                inner, self._place = self._raw_group(self._place + 1)
                found.append(inner)
            elif token.kind in ("letters", "number") and token.text.lower() not in _SEPARATING_WORDS:
                self._place += 1
                found.append(token.text)
            else:
                break
        return found

    def _is_word(self, letters: str) -> bool:
        name = letters.rstrip("'")
        return (
            len(name) >= _FEWEST_LETTERS_OF_A_WORD
            and name.isascii()
            and name.lower() not in _FUNCTIONS
            and name not in _GREEK
            and _split_function(name) is None
        )

    def _is_unit(self, letters: str) -> bool:
        return letters in _SHORT_UNITS or self._is_word(letters)

    def _structure(self) -> Meaning | None:
        """A tuple, set, interval or matrix, where the side begins with one. None leaves the place as it was."""
        token = self._peek()
        if token.text.startswith("\\begin"):
            return self._matrix()
        if token.text in ("\\emptyset", "\\varnothing"):
            self._place += 1
            return Values(())
        if token.text not in _OPENING:
            return None
        start = self._place
        self._place += 1
        self._enter()
        is_set = token.text in ("\\{", "\\lbrace") or (token.text == "{" and self._is_top_group(start))
        if is_set and not self._at_end() and self._peek().text in _CLOSING:
            self._place += 1
            self._depth -= 1
            return Values(())
        bars, self._bars = self._bars, 0
        items = [self._union()]
        while not self._at_end() and self._peek().text in (",", ";"):
            self._place += 1
            items.append(self._union())
            if len(items) > MOST_ITEMS:
                self._fail(f"more than {MOST_ITEMS} items")
        self._bars = bars
        closing = self._peek_or_fail().text
        if closing not in _CLOSING:
            self._fail(f"a bracket {token.text!r} that is not closed")
        self._depth -= 1
        if len(items) == 1 and not is_set:
            self._place = start  # brackets around a scalar are part of an expression
            return None
        self._place += 1
        if is_set:
            return Values(tuple(items))
        if len(items) == 2 and (token.text, closing) != ("(", ")") and token.text in "([" and closing in ")]":
            low, high = items
            return Interval(_scalar(low), _scalar(high), token.text == "[", closing == "]")
        if _OPENING[token.text] != closing:
            self._fail(f"a bracket {token.text!r} that {closing!r} closes")
        return Tuple(tuple(items))

    def _is_top_group(self, place: int) -> bool:
        """Whether a bare brace opens the whole text: `{1,2,3}` is how sets are typed."""
        return place == 0 and self._tokens[-1].text == "}"

    def _matrix(self) -> Matrix:
        name = re.sub(r"\\begin\s*|[{}]", "", self._peek().text)
        if name not in _MATRICES:
            self._fail(f"the environment {name!r} is not read")
        self._place += 1
        if name == "array" and not self._at_end() and self._peek().text == "{":
            self._place = self._raw_group(self._place)[1]
        self._enter()
        rows: list[tuple[Scalar, ...]] = []
        row: list[Scalar] = []
        cells = 0
        while True:
            token = self._peek_or_fail()
            if token.text.startswith("\\end"):
                self._place += 1
                break
            row.append(self._sum())
            cells += 1
            if cells > MOST_ITEMS:
                self._fail(f"more than {MOST_ITEMS} items")
            token = self._peek_or_fail()
            if token.text == "&":
                self._place += 1
            elif token.text == "\\\\":
                self._place += 1
                rows.append(tuple(row))
                row = []
            elif not token.text.startswith("\\end"):
                self._fail(f"{token.text!r} in a matrix")
        if row:
            rows.append(tuple(row))
        self._depth -= 1
        if not rows or len({len(each) for each in rows}) != 1:
            self._fail("a matrix whose rows differ in length")
        return Matrix(tuple(rows))

    def _with_unit(self, scalar: Scalar) -> Meaning:
        if isinstance(scalar, Call) and scalar.name == "degrees":
            return Quantity(scalar.arguments[0], "degree")
        if isinstance(scalar, Call) and scalar.name == "based":
            base = scalar.arguments[1]
            assert isinstance(base, Number)
            return Quantity(scalar.arguments[0], f"base {base.value}")
        if self._at_end():
            return scalar
        token = self._peek()
        if token.text in _TEXTS or token.text == "\\mathrm":
            inner, after = self._raw_group(self._place + 1)
            if _folded(inner).strip(" ,") in _SEPARATING_WORDS or not re.search(r"[^\W\d_]|%", inner):
                return scalar
            self._place = after
            if not self._at_end() and self._peek().text == "^":
                self._place += 1
                inner += f"^{self._argument_text()}"
            return Quantity(scalar, _unit(inner))
        if token.kind == "letters" and token.spaced and self._is_unit(token.text):
            return Quantity(scalar, _unit(" ".join(self._following_words())))
        return scalar

    # Scalars

    def _sum(self) -> Scalar:
        self._enter()
        found = self._signed()
        while not self._at_end():
            text = self._peek().text
            if text not in ("+", "-", "\\pm", "\\mp"):
                break
            self._place += 1
            term = self._product()
            found = Operation("+", found, Negative(term) if self._is_minus(text) else term)
        self._depth -= 1
        return found

    def _signed(self) -> Scalar:
        minus = False
        while not self._at_end() and self._peek().text in ("+", "-", "\\pm", "\\mp"):
            minus ^= self._is_minus(self._peek().text)
            self._place += 1
        found = self._product()
        return Negative(found) if minus else found

    def _is_minus(self, text: str) -> bool:
        return text == "-" or (text == "\\pm" and self._sign < 0) or (text == "\\mp" and self._sign > 0)

    def _product(self) -> Scalar:
        found = self._factor()
        while not self._at_end():
            token = self._peek()
            if token.text in _TIMES:
                self._place += 1
                found = Operation("*", found, self._signed_factor())
            elif token.text in ("/", "\\div"):
                self._place += 1
                divisor = self._signed_factor()
                found = _mixed(found, divisor) or Operation("/", found, divisor)
            elif self._begins_factor(token):
                found = self._juxtaposed(found, token)
            else:
                break
        return found

    def _juxtaposed(self, found: Scalar, token: _Token) -> Scalar:
        r"""`2x`, `1\frac{1}{2}` (a mixed number), `1 1/2` (another)."""
        whole = isinstance(found, Number) and not found.is_decimal and found.value.denominator == 1
        right = self._factor()
        if whole and token.text in _FRACTIONS and _is_proper(right):
            return Operation("+", found, right)
        if token.kind == "number" and isinstance(found, Number):
            if whole and not self._at_end() and self._peek().text == "/" and token.spaced:
                return Operation("*", found, right)  # `_mixed` makes a mixed number of it once the divisor is known
            self._fail("two numbers beside each other")
        return Operation("*", found, right)

    def _begins_factor(self, token: _Token) -> bool:
        if token.kind == "letters":
            return token.text.lower() not in _SEPARATING_WORDS and not (token.spaced and self._is_unit(token.text))
        if token.kind == "number" or token.text in ("(", "{", "[", "\\{"):
            return token.text not in ("[", "\\{")
        if token.text == "|":
            return not self._bars
        if token.kind != "command":
            return False
        name = token.text[1:]
        return (
            token.text in _FRACTIONS
            or token.text in _STYLES
            or name in _FUNCTIONS
            or name in _GREEK
            or name in ("pi", "infty", "binom", "dbinom", "tbinom", "lfloor", "lceil", "lvert", "overline")
        )

    def _signed_factor(self) -> Scalar:
        if self._peek_or_fail().text in ("+", "-"):
            minus = self._peek().text == "-"
            self._place += 1
            found = self._signed_factor_within()
            return Negative(found) if minus else found
        return self._factor()

    def _signed_factor_within(self) -> Scalar:
        self._enter()
        found = self._signed_factor()
        self._depth -= 1
        return found

    def _factor(self) -> Scalar:
        """A primary with its exponents, factorials, percent and degree signs."""
        found = self._primary()
        while not self._at_end():
            text = self._peek().text
            if text in ("^", "**"):
                self._place += 1
                if not self._at_end() and self._peek().text == "\\circ":
                    self._place += 1
                    found = Call("degrees", (found,))
                    continue
                exponent = self._argument()
                is_degree = exponent == Call("circ", ())
                found = Call("degrees", (found,)) if is_degree else Operation("^", found, exponent)
            elif text == "!":
                self._place += 1
                found = Call("factorial", (found,))
            elif text in ("%", "\\%"):
                self._place += 1
                found = Call("percent", (found,))
            elif text == "\\degree":
                self._place += 1
                found = Call("degrees", (found,))
            elif text == "_" and isinstance(found, Number):
                self._place += 1
                base = self._argument()
                if not (isinstance(base, Number) and base.value.denominator == 1):
                    self._fail("a number with a subscript")
                found = Call("based", (found, base))
            else:
                break
        return found

    def _primary(self) -> Scalar:
        token = self._peek_or_fail()
        self._place += 1
        match token.kind:
            case "number":
                return self._number(token)
            case "letters":
                return self._letters(token)
            case "command":
                return self._command(token)
            case _:
                pass
        if token.text in ("(", "{", "["):
            return self._bracketed(token.text)
        if token.text == "|":
            return self._between_bars("|")
        self._place -= 1
        return self._fail(f"{token.text!r} stands where a value should")

    def _number(self, token: _Token) -> Number:
        if len(token.text) > _LONGEST_NUMERAL:
            self._fail(f"a numeral of more than {_LONGEST_NUMERAL} digits")
        _, e, exponent = token.text.lower().partition("e")
        if e and abs(int(exponent)) > _LONGEST_NUMERAL:
            self._fail("a numeral too large to be evaluated")
        value = Fraction(token.text.removesuffix("."))
        is_decimal = "." in token.text or bool(e)
        if not self._at_end() and self._peek().text == "\\overline" and "e" not in token.text:
            return self._repeating(token, value)
        return Number(value, is_decimal)

    def _repeating(self, token: _Token, value: Fraction) -> Number:
        r"""`0.1\overline{6}`, exactly."""
        if "." not in token.text:
            self._fail("a bar over digits before the decimal point")
        digits, self._place = self._raw_group(self._place + 1)
        if not digits.isdecimal() or len(digits) > _LONGEST_NUMERAL:
            self._fail("a bar over what is no digits")
        places = len(token.text.partition(".")[2])
        return Number(value + Fraction(int(digits), (10 ** len(digits) - 1) * 10**places))

    def _letters(self, token: _Token) -> Scalar:
        text = token.text
        name = text.rstrip("'")
        lowered = name.lower()
        if lowered in _FUNCTIONS and len(name) > 1:
            return self._applied(lowered)
        if lowered == "pi":
            return Constant("pi")
        if lowered in ("inf", "infinity"):
            return Constant("infinity")
        function = _split_function(name)
        if function is not None:
            self._place -= 1
            rest = name[len(function) :]
            self._tokens[self._place : self._place + 1] = [
                _Token("letters", function, token.spaced),
                _Token("letters", rest),
            ]
            return self._primary()
        if self._is_word(text):
            self._fail(f"the word {text[:40]!r} in an expression")
        if len(text) > 1 and name != text[:1]:
            self._place -= 1
            parts = [*name[:-1], text[len(name) - 1 :]]
            self._tokens[self._place : self._place + 1] = [
                _Token("letters", part, token.spaced and not index) for index, part in enumerate(parts)
            ]
            self._place += 1
            return self._symbol(parts[0])
        return self._symbol(text)

    def _symbol(self, name: str) -> Scalar:
        if not self._at_end() and self._peek().text == "_":
            self._place += 1
            return Symbol(f"{name}_{self._argument_text()}")
        if name == "e":
            return Constant("e")
        if name == "i":
            return Constant("i")
        return Symbol(name)

    def _command(self, token: _Token) -> Scalar:
        text = token.text
        name = text[1:].rstrip("*")
        if text in _FRACTIONS:
            top = self._argument(one_digit=True)
            return Operation("/", top, self._argument(one_digit=True))
        if name in ("binom", "dbinom", "tbinom"):
            top = self._argument(one_digit=True)
            return Call("binom", (top, self._argument(one_digit=True)))
        if name in _FUNCTIONS:
            return self._applied(name)
        if name == "pi":
            return Constant("pi")
        if name == "infty":
            return Constant("infinity")
        if name in _GREEK:
            return self._symbol(name)
        if text in _STYLES:
            return self._styled()
        if text in _TEXTS:
            return self._text_value()
        if text in _BOXES:
            self._expect("{")
            found = self._sum()
            self._expect("}")
            return found
        if name in ("lfloor", "lceil", "lvert"):
            function, closing = {
                "lfloor": ("floor", "\\rfloor"), "lceil": ("ceil", "\\rceil"), "lvert": ("abs", "\\rvert"),
            }[name]  # fmt: skip
            found = self._sum()
            self._expect(closing)
            return Call(function, (found,))
        if text == "\\|":
            self._fail("a norm")
        if name == "circ":
            return Call("circ", ())
        self._place -= 1
        return self._fail(f"{text!r} is not read")

    def _styled(self) -> Scalar:
        r"""`\mathrm{e}`, `\operatorname{lcm}`: the letters inside, a function where they name one."""
        inner, after = self._raw_group(self._place)
        inner = inner.strip()
        self._place = after
        if inner.lower() in _FUNCTIONS:
            return self._applied(inner.lower())
        if inner == "i" or inner == "e" or (len(inner) == 1 and inner.isalpha()):
            return self._symbol(inner)
        if inner.isalpha():
            return self._symbol(f"{inner}")
        return self._inner_value(inner)

    def _text_value(self) -> Scalar:
        inner, after = self._raw_group(self._place)
        self._place = after
        return self._inner_value(inner.strip().strip("()"))

    def _inner_value(self, inner: str) -> Scalar:
        if not inner:
            self._fail("an empty text")
        self._enter()
        found = _Reader(_tokens(inner), self._sign).read()
        self._depth -= 1
        return _scalar(found)

    def _applied(self, name: str) -> Scalar:
        r"""A function with its index, exponent and argument: `\log_2 8`, `\sin^2 x`, `\sqrt[3]{x}`, `\sqrt(2)`."""
        name = _SAME_FUNCTION.get(name, name)
        index: Scalar | None = None
        power: Scalar | None = None
        if name == "sqrt" and not self._at_end() and self._peek().text == "[":
            self._place += 1
            index = self._sum()
            self._expect("]")
        while not self._at_end() and self._peek().text in ("_", "^") and name != "sqrt":
            is_index = self._peek().text == "_"
            self._place += 1
            if is_index:
                index = self._argument()
            else:
                power = self._argument()
        argument = self._function_argument(name)
        if name == "log" and index is not None:
            found: Scalar = Operation("/", Call("log", (argument,)), Call("log", (index,)))
        elif name == "lg":
            found = Operation("/", Call("log", (argument,)), Call("log", (Number(Fraction(10)),)))
        elif name == "sqrt" and index is not None:
            found = Call("root", (argument, index))
        elif name == "cbrt":
            found = Call("root", (argument, Number(Fraction(3))))
        elif name == "exp":
            found = Operation("^", Constant("e"), argument)
        elif index is not None:
            self._fail(f"{name} with an index")
        elif power == Negative(Number(Fraction(1))) and name in _INVERSES:
            return Call(_INVERSES[name], (argument,))
        else:
            found = Call(name, (argument,))
        return found if power is None else Operation("^", found, power)

    def _function_argument(self, name: str) -> Scalar:
        token = self._peek_or_fail()
        if token.text in ("(", "{", "["):
            self._place += 1
            return self._bracketed(token.text)
        if name == "sqrt":
            return self._primary()
        self._enter()
        found = self._factor()
        while not self._at_end():  # \sin 2x is the sine of 2x
            token = self._peek()
            name_ahead = token.text.lstrip("\\").lower()
            if not self._begins_factor(token) or name_ahead in _FUNCTIONS or token.text in ("(", "|"):
                break
            found = Operation("*", found, self._factor())
        self._depth -= 1
        return found

    def _bracketed(self, opening: str) -> Scalar:
        self._enter()
        bars, self._bars = self._bars, 0
        found = self._sum()
        self._bars = bars
        self._expect(_OPENING[opening])
        self._depth -= 1
        return found

    def _between_bars(self, closing: str) -> Scalar:
        self._enter()
        self._bars += 1
        found = self._sum()
        self._bars -= 1
        self._expect(closing)
        self._depth -= 1
        return Call("abs", (found,))

    def _argument(self, *, one_digit: bool = False) -> Scalar:
        r"""A braced argument, or the one token after it. TeX takes one digit: `\frac12` is a half."""
        token = self._peek_or_fail()
        if token.text == "{":
            self._place += 1
            return self._bracketed("{")
        if one_digit and token.kind == "number" and len(token.text) > 1 and token.text.isdecimal():
            self._tokens[self._place : self._place + 1] = [
                _Token("number", token.text[0]),
                _Token("number", token.text[1:]),
            ]
        elif one_digit and token.kind == "letters" and len(token.text) > 1:
            self._tokens[self._place : self._place + 1] = [
                _Token("letters", token.text[0]),
                _Token("letters", token.text[1:]),
            ]
        if token.text in ("+", "-"):
            self._place += 1
            found = self._primary()
            return Negative(found) if token.text == "-" else found
        self._enter()
        found = self._primary()
        self._depth -= 1
        return found

    def _argument_text(self) -> str:
        """A subscript or an exponent of a unit, as text."""
        if self._peek_or_fail().text == "{":
            inner, self._place = self._raw_group(self._place)
            return inner.strip()
        self._place += 1
        return self._tokens[self._place - 1].text

    def _raw_group(self, place: int) -> tuple[str, int]:
        """The text of the braced group at `place`, and the place after it."""
        if place >= len(self._tokens) or self._tokens[place].text != "{":
            self._fail("a text without its braces")
        depth = 0
        parts: list[str] = []
        for index in range(place, len(self._tokens)):
            token = self._tokens[index]
            if token.text == "{":
                depth += 1
                if depth == 1:
                    continue
            elif token.text == "}":
                depth -= 1
                if not depth:
                    return "".join(parts), index + 1
            parts.append(f" {token.text}" if token.spaced else token.text)
        return self._fail("a brace that is not closed")

    # Places

    def _at_end(self) -> bool:
        return self._place >= len(self._tokens)

    def _peek(self) -> _Token:
        return self._tokens[self._place]

    def _peek_or_fail(self) -> _Token:
        if self._at_end():
            self._fail("it ends where a value should follow")
        return self._peek()

    def _expect(self, text: str) -> None:
        if self._peek_or_fail().text != text:
            self._fail(f"{self._peek().text!r} where {text!r} should close")
        self._place += 1

    def _enter(self) -> None:
        self._depth += 1
        if self._depth > DEEPEST * 3:
            self._fail("nested too deep")

    def _fail(self, why: str) -> NoReturn:
        raise UnreadableError(why)


def _relation(kind: str, left: Meaning, right: Meaning) -> Relation:
    match kind:
        case ">":
            return Relation("<", right, left)
        case ">=":
            return Relation("<=", right, left)
        case "=" | "<" | "<=" | "!=":
            return Relation(kind, left, right)
        case _:  # pragma: no cover - `_RELATIONS` holds no other
            raise AssertionError(kind)


def _scalar(meaning: Meaning) -> Scalar:
    if isinstance(meaning, (Number, Symbol, Constant, Operation, Negative, Call)):
        return meaning
    raise UnreadableError(f"a {type(meaning).__name__.lower()} where a value should stand")


def _is_proper(fraction: Scalar) -> bool:
    """A fraction of two whole numbers below one, as mixed numbers have."""
    return (
        isinstance(fraction, Operation)
        and fraction.kind == "/"
        and isinstance(fraction.left, Number)
        and isinstance(fraction.right, Number)
        and 0 <= fraction.left.value < fraction.right.value
    )


def _mixed(found: Scalar, divisor: Scalar) -> Scalar | None:
    """`1 1/2`: what looked like a product of two numerals was a mixed number."""
    if not (isinstance(found, Operation) and found.kind == "*" and isinstance(divisor, Number)):
        return None
    if isinstance(found.left, Number) and isinstance(found.right, Number) and found.right.value < divisor.value:
        return Operation("+", found.left, Operation("/", found.right, divisor))
    return None


def _split_function(name: str) -> str | None:
    """The function that letters begin with: `sinx`, `lnx`."""
    for function in sorted(_FUNCTIONS, key=len, reverse=True):
        rest = name[len(function) :]
        if name.startswith(function) and 0 < len(rest) <= 1:
            return function
    return None


def _folded(words: str) -> str:
    return " ".join(re.sub(r"[^\w\s%/^.-]", " ", words).split()).casefold()


def _unit(words: str) -> str:
    unit = _folded(words).rstrip(".")
    return "degree" if unit in ("degrees", "degree", "deg") else unit
