"""What a mathematical text says, as a tree: scalars below, structures (tuples, sets, intervals, relations) above.

Its own module because the reader makes it and two evaluations (exact and numeric) walk it. Trees are frozen and hashable,
so a scalar can stand for itself where its value is not known exactly.
"""

from fractions import Fraction
from typing import Literal, TypeAlias

import msgspec


class Number(msgspec.Struct, frozen=True, gc=False):
    """A written number, exactly."""

    value: Fraction
    is_decimal: bool = False
    """Whether it was written with a decimal point, and so may be rounded."""


class Symbol(msgspec.Struct, frozen=True, gc=False):
    """A variable, with its subscript: `x`, `x_1`."""

    name: str


class Constant(msgspec.Struct, frozen=True, gc=False):
    """A number with a name. Infinity occurs as an end of an interval or alone."""

    name: Literal["pi", "e", "i", "infinity"]


class Operation(msgspec.Struct, frozen=True):
    """Two operands: sum, product, quotient, power."""

    kind: Literal["+", "*", "/", "^"]
    left: "Scalar"
    right: "Scalar"


class Negative(msgspec.Struct, frozen=True):
    of: "Scalar"


class Call(msgspec.Struct, frozen=True):
    """A named function of its arguments, e.g. `sqrt`, `log` (natural), `binom`, `factorial`, `percent`, `degrees`."""

    name: str
    arguments: tuple["Scalar", ...]


Scalar: TypeAlias = Number | Symbol | Constant | Operation | Negative | Call


class Words(msgspec.Struct, frozen=True):
    """Text that is no mathematics: `even`, `no solution`. Case and spacing do not matter."""

    text: str


class Quantity(msgspec.Struct, frozen=True):
    """A scalar with a unit (or the base of a numeral), as words."""

    value: Scalar
    unit: str


class Tuple(msgspec.Struct, frozen=True):
    """Items in order. A pair in round brackets may also be meant as an open interval."""

    items: tuple["Meaning", ...]


class Values(msgspec.Struct, frozen=True):
    """Several values without an order: a set, `±4`, or a list without brackets."""

    items: tuple["Meaning", ...]
    is_list: bool = False
    """Written without braces, so that it may also be meant as a tuple."""


class Interval(msgspec.Struct, frozen=True):
    low: Scalar
    high: Scalar
    low_closed: bool
    high_closed: bool


class Union(msgspec.Struct, frozen=True):
    """A union of intervals and sets."""

    parts: tuple["Meaning", ...]


class Matrix(msgspec.Struct, frozen=True):
    """Rows of equal length."""

    rows: tuple[tuple[Scalar, ...], ...]


class Relation(msgspec.Struct, frozen=True):
    """`left kind right`. Greater-than is written the other way round; a chain is a `Chain`."""

    kind: Literal["=", "<", "<=", "!="]
    left: "Meaning"
    right: "Meaning"


class Chain(msgspec.Struct, frozen=True):
    """Several relations that share sides and all hold: `0 < x <= 3`, `x = 2 + 3 = 5`."""

    links: tuple[Relation, ...]


Meaning: TypeAlias = Scalar | Words | Quantity | Tuple | Values | Interval | Union | Matrix | Relation | Chain


class UnreadableError(ValueError):
    """A text is no mathematics that we read, or too long, too deep or too large to be evaluated. Says which."""
