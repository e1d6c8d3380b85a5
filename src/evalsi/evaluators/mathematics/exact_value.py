"""The value of a scalar as an exact fraction, at a point where every variable is a fraction.

Its own module because it needs nothing but Python and decides most comparisons: two rational expressions that agree at
several random points are equal (Schwartz 1980, Zippel 1979: a polynomial of degree d vanishes at a random point of a set
S with probability at most d/|S|). What is not rational (a root, pi, a sine) is an atom: a value of its own, the same
wherever the same thing stands, so that agreement still means equality and only a difference decides nothing.
"""

import hashlib
from fractions import Fraction
from math import comb, factorial, isqrt

from evalsi.evaluators.mathematics.expression import (
    Call,
    Constant,
    Negative,
    Number,
    Operation,
    Scalar,
    Symbol,
    UnreadableError,
)

MOST_BITS = 20_000
"""Size of the numerator and denominator of any value on the way."""
MOST_FACTORIAL = 1_000
TOO_LARGE = "too large to be evaluated"


class UndefinedError(ValueError):
    """The expression has no value at this point: it divides by zero, say."""


class ExactPoint:
    """One point: a fraction for every variable and atom, drawn from its name, so that equal names have equal values.

    `atoms` counts what was not rational.
    """

    def __init__(self, number: int) -> None:
        self.number = number
        self.atoms = 0

    def value(self, scalar: Scalar) -> Fraction:
        """Raises: UndefinedError: no value here. UnreadableError: a value on the way is too large."""
        match scalar:
            case Number(value=value):
                return value
            case Negative(of=inner):
                return -self.value(inner)
            case Symbol(name=name):
                return drawn(name, self.number)
            case Constant(name=name):
                self.atoms += 1
                return drawn(f"constant {name}", self.number)
            case Operation(kind="^", left=left, right=right):
                return self._power(scalar, left, right)
            case Operation(kind=kind, left=left, right=right):
                return _bounded(_combined(kind, self.value(left), self.value(right)))
            case Call(name=name, arguments=arguments):
                return self._called(scalar, name, arguments)

    def _atom(self, scalar: Scalar) -> Fraction:
        self.atoms += 1
        return drawn(repr(scalar), self.number)

    def _power(self, scalar: Scalar, left: Scalar, right: Scalar) -> Fraction:
        base, exponent = self.value(left), self.value(right)
        if exponent.denominator != 1:
            root = _root(base, exponent.denominator) if abs(exponent) < MOST_FACTORIAL else None
            return self._atom(scalar) if root is None else _whole_power(root, exponent.numerator)
        return _whole_power(base, exponent.numerator)

    def _called(self, scalar: Scalar, name: str, arguments: tuple[Scalar, ...]) -> Fraction:
        values = [self.value(argument) for argument in arguments]
        first = values[0] if values else Fraction(0)
        match name:
            case "percent":
                return first / 100
            case "abs":
                return abs(first)
            case "floor" if not self.atoms:
                return Fraction(first.__floor__())
            case "ceil" if not self.atoms:
                return Fraction(first.__ceil__())
            case "sqrt" | "root":
                index = values[1] if name == "root" else Fraction(2)
                if index.denominator != 1 or not 1 <= index <= 64:
                    return self._atom(scalar)
                root = _root(first, index.numerator)
                return self._atom(scalar) if root is None else root
            case "factorial":
                if first.denominator != 1 or first < 0:
                    return self._atom(scalar)
                if first > MOST_FACTORIAL:
                    raise UnreadableError(TOO_LARGE)
                return Fraction(factorial(first.numerator))
            case "binom":
                top, below = values
                if top.denominator == below.denominator == 1 and 0 <= below <= top:
                    if top > MOST_FACTORIAL:
                        raise UnreadableError(TOO_LARGE)
                    return Fraction(comb(top.numerator, below.numerator))
                return self._atom(scalar)
            case _:
                return self._atom(scalar)


def drawn(name: str, point: int) -> Fraction:
    """A fraction that looks random and depends on nothing but the name and the point; both signs occur."""
    noise = hashlib.sha256(f"{point}\0{name}".encode()).digest()
    size = Fraction(int.from_bytes(noise[:4]) | 1, (int.from_bytes(noise[4:8]) >> 2) | 1)
    negative = (point >> (hashlib.sha256(name.encode()).digest()[0] % 3)) & 1
    return -size if negative else size


def _combined(kind: str, left: Fraction, right: Fraction) -> Fraction:
    match kind:
        case "+":
            return left + right
        case "*":
            return left * right
        case _:
            if not right:
                raise UndefinedError("it divides by zero")
            return left / right


def _whole_power(base: Fraction, exponent: int) -> Fraction:
    if exponent < 0:
        if not base:
            raise UndefinedError("it divides by zero")
        base, exponent = 1 / base, -exponent
    if base not in (0, 1, -1):
        bits = max(base.numerator.bit_length(), base.denominator.bit_length())
        if exponent > MOST_BITS or bits * exponent > 2 * MOST_BITS:
            raise UnreadableError(TOO_LARGE)
    elif exponent > 1:
        exponent = 2 - exponent % 2
    return base**exponent


def _bounded(value: Fraction) -> Fraction:
    if max(value.numerator.bit_length(), value.denominator.bit_length()) > 2 * MOST_BITS:
        raise UnreadableError(TOO_LARGE)
    return value


def _root(value: Fraction, index: int) -> Fraction | None:
    """The real root where it is a fraction, else None."""
    if value < 0 or index > 64:
        return None
    roots = [_whole_root(part, index) for part in (value.numerator, value.denominator)]
    return None if roots[0] is None or not roots[1] else Fraction(roots[0], roots[1])


def _whole_root(value: int, index: int) -> int | None:
    if index == 2:
        root = isqrt(value)
    else:
        low, high = 0, 1 << (value.bit_length() // index + 1)
        while low < high:
            middle = (low + high + 1) // 2
            low, high = (middle, high) if middle**index <= value else (low, middle - 1)
        root = low
    return root if root**index == value else None
