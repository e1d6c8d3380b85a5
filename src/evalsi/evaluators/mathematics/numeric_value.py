"""The value of a scalar to sixty digits, for what is not rational: roots, pi, sines, logarithms.

Its own module because it needs mpmath, which the extra `math` brings. Every value comes with the size of what was added
on the way to it, so that a difference can be told from what rounding leaves: `sqrt(2)^2 - 2` is 1e-60 and means nothing,
`2^-99 - 2^-98` means everything. Sizes are bounded before each operation, so no expression takes long.
"""

import warnings
from typing import Any, NamedTuple

from evalsi.core.errors import MissingExtraError
from evalsi.evaluators.mathematics.exact_value import (
    MOST_BITS,
    MOST_FACTORIAL,
    TOO_LARGE,
    UndefinedError,
    drawn,
)
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

_BITS = 320
DIGITS = 60
"""Digits that two values must share to be called equal; about 96 are computed."""


class Measured(NamedTuple):
    """A value and the largest magnitude that was added or taken away on the way to it."""

    value: Any
    scale: Any


def load_numerics() -> Any:
    """A context of mpmath of our precision. Raises: MissingExtraError: it is not installed."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            import mpmath  # pyright: ignore[reportMissingTypeStubs]
    except ImportError:
        raise MissingExtraError("comparing what is not rational", "math") from None
    context: Any = mpmath.mp.clone()
    context.prec = _BITS
    return context


class NumericPoint:
    """One point, as `ExactPoint`, in real or complex numbers.

    Args:
        context: What `load_numerics` gave.
        is_complex: Whether roots and logarithms of negative numbers have values.
    """

    def __init__(self, context: Any, number: int, *, is_complex: bool) -> None:
        self._context = context
        self._number = number
        self._is_complex = is_complex

    def value(self, scalar: Scalar) -> Measured:
        """Raises: UndefinedError: no value here. UnreadableError: a value on the way is too large."""
        context = self._context
        match scalar:
            case Number(value=value):
                exact = context.mpf(value.numerator) / value.denominator
                return Measured(exact, abs(exact))
            case Symbol(name=name):
                drawn_value = drawn(name, self._number)
                number = context.mpf(drawn_value.numerator) / drawn_value.denominator
                # Of moderate size and irrational, so that functions of it neither vanish nor overflow.
                number = context.sign(number) * context.sqrt(context.frac(abs(number)) * 7 + context.mpf(1) / 3)
                return Measured(number, abs(number))
            case Constant(name="infinity"):
                raise UndefinedError("infinity is no number")
            case Constant(name="i"):
                return Measured(context.mpc(0, 1), context.mpf(1))
            case Constant(name=name):
                number = +getattr(context, name)
                return Measured(number, number)
            case Negative(of=inner):
                found = self.value(inner)
                return Measured(-found.value, found.scale)
            case Operation(kind=kind, left=left, right=right):
                return self._checked(self._combined(kind, self.value(left), self.value(right)))
            case Call(name=name, arguments=arguments):
                return self._checked(self._called(name, [self.value(argument) for argument in arguments]))

    def _combined(self, kind: str, left: Measured, right: Measured) -> Measured:
        context = self._context
        match kind:
            case "+":
                total = left.value + right.value
                return Measured(total, max(left.scale, right.scale, abs(total)))
            case "*":
                product = left.value * right.value
                return Measured(product, max(abs(product), left.scale * right.scale))
            case "/":
                if self._vanishes(right):
                    raise UndefinedError("it divides by zero")
                quotient = left.value / right.value
                spread = (right.scale / abs(right.value)) * (left.scale / abs(right.value))
                return Measured(quotient, max(abs(quotient), spread))
            case _:
                return self._power(context, left, right)

    def _power(self, context: Any, left: Measured, right: Measured) -> Measured:
        base, exponent = left.value, right.value
        if self._vanishes(left):
            if context.re(exponent) <= 0 and exponent != 0:
                raise UndefinedError("it divides by zero")
            return Measured(context.mpf(0 if exponent != 0 else 1), context.mpf(1))
        if abs(exponent) * abs(context.log(abs(base), 2)) > MOST_BITS:
            raise UnreadableError(TOO_LARGE)
        if context.im(base) == 0 and context.re(base) < 0 and not context.isint(exponent):
            odd = self._odd_root(exponent)
            if odd is not None and not self._is_complex:
                power = -(abs(base) ** exponent) if odd else abs(base) ** exponent
                return Measured(power, abs(power))
            self._need_complex()
        power = base**exponent
        growth = max(context.mpf(1), left.scale / abs(base)) * max(context.mpf(1), abs(exponent))
        return Measured(power, abs(power) * growth)

    def _odd_root(self, exponent: Any) -> bool | None:
        """For `x^(p/q)` with a small odd q: whether p is odd. None where it is no such exponent."""
        for q in (3, 5, 7, 9):
            p = exponent * q
            nearest = self._context.nint(p)
            if abs(p - nearest) < self._context.mpf(10) ** -50:
                return bool(int(nearest) % 2)
        return None

    def _called(self, name: str, given: list[Measured]) -> Measured:
        context = self._context
        first = given[0]
        x = first.value
        real = context.im(x) == 0
        match name:
            case "percent":
                return Measured(x / 100, first.scale / 100)
            case "degrees":
                return Measured(x * context.pi / 180, first.scale)
            case "abs":
                return Measured(abs(x), first.scale)
            case "floor" | "ceil" if real:
                nearest = context.nint(x)
                if abs(x - nearest) < first.scale * context.mpf(10) ** -DIGITS:
                    return Measured(nearest, first.scale)
                return Measured(getattr(context, name)(x), first.scale)
            case "sqrt" | "root":
                return self._root(first, given[1].value if name == "root" else context.mpf(2))
            case "factorial":
                if not real or x < 0:
                    raise UndefinedError("a factorial of a negative number")
                if x > MOST_FACTORIAL:
                    raise UnreadableError(TOO_LARGE)
                found = context.factorial(x)
                return Measured(found, found * max(context.mpf(1), first.scale))
            case "binom":
                if max(abs(each.value) for each in given) > MOST_FACTORIAL:
                    raise UnreadableError(TOO_LARGE)
                found = context.binomial(x, given[1].value)
                return Measured(found, abs(found))
            case "log":
                if self._vanishes(first):
                    raise UndefinedError("a logarithm of zero")
                if real and context.re(x) < 0:
                    self._need_complex()
                found = context.log(x)
                return Measured(found, max(abs(found), first.scale / abs(x)))
            case "sin" | "cos" | "tan" | "sinh" | "cosh" | "tanh" | "arctan":
                function = {"arctan": "atan"}.get(name, name)
                limit = 200 if name in ("sinh", "cosh") or not real else MOST_BITS
                if abs(x) > limit:
                    raise UnreadableError(TOO_LARGE)
                found = getattr(context, function)(x)
                return Measured(found, max(abs(found), first.scale, context.mpf(1)))
            case "cot" | "sec" | "csc":
                if abs(x) > MOST_BITS:
                    raise UnreadableError(TOO_LARGE)
                found = getattr(context, name)(x)
                return Measured(found, max(abs(found), first.scale, context.mpf(1)))
            case "arcsin" | "arccos":
                if real and abs(x) > 1:
                    self._need_complex()
                found = getattr(context, {"arcsin": "asin", "arccos": "acos"}[name])(x)
                return Measured(found, max(abs(found), context.mpf(1)))
            case _:
                raise UnreadableError(f"{name} has no value")

    def _root(self, of: Measured, index: Any) -> Measured:
        context = self._context
        x = of.value
        if index == 0:
            raise UndefinedError("a root with index 0")
        if self._vanishes(of):
            return Measured(context.mpf(0), context.mpf(1))
        if context.im(x) == 0 and context.re(x) < 0:
            if context.isint(index) and int(index) % 2 and not self._is_complex:
                found = -(abs(x) ** (1 / index))
                return Measured(found, abs(found))
            self._need_complex()
        found = x ** (1 / index)
        return Measured(found, abs(found) * max(context.mpf(1), of.scale / abs(x)))

    def _need_complex(self) -> None:
        if not self._is_complex:
            raise UndefinedError("no real value")

    def _vanishes(self, measured: Measured) -> bool:
        return abs(measured.value) <= measured.scale * self._context.mpf(10) ** -DIGITS and (
            measured.value == 0 or abs(measured.value) < measured.scale
        )

    def _checked(self, measured: Measured) -> Measured:
        context = self._context
        if not (context.isfinite(measured.value) and context.isfinite(measured.scale)):
            raise UndefinedError("no finite value")
        if measured.value != 0 and abs(context.mag(measured.value)) > MOST_BITS:
            raise UnreadableError(TOO_LARGE)
        return measured
