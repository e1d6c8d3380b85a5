"""Whether two mathematical texts mean the same. The verdict never depends on which of them is the reference.

Its own module because structures (tuples, sets, intervals, relations) are compared here and their members by value:
exactly where that decides, to sixty digits otherwise. A variable is equal to itself under its own name only; expressions
are equal where they agree at every point where both have real values (so sqrt(x^2) is |x| and not x, and x/x is 1).
"""

from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache
from typing import Any, Literal, TypeAlias, TypeGuard

import msgspec

from evalsi.evaluators.mathematics.exact_value import ExactPoint, UndefinedError
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
    Values,
    Words,
)
from evalsi.evaluators.mathematics.numeric_value import DIGITS, NumericPoint, load_numerics

PercentReading: TypeAlias = Literal["fraction", "either", "ignore"]
_POINTS = 8
_FEWEST_POINTS = 3
_INFINITY = Constant("infinity")


class MathTolerance(msgspec.Struct, frozen=True, kw_only=True):
    """What counts as the same value."""

    relative: float = 1e-6
    """As a fraction of the larger value, where one side is a decimal and so may be rounded. Whole numbers and fractions
    are exact: 1000000 is never 1000001."""
    percent: PercentReading = "fraction"
    """What 50% equals when only one side has a percent sign: 0.5, also 50 ("either"), or only 50 ("ignore")."""


class NeedsNumericsError(Exception):
    """Only a numeric comparison can decide."""


class Comparison:
    """Compares meanings.

    Args:
        tolerance: What counts as the same value.
        exact_only: Raise `NeedsNumericsError` instead of computing what is not rational.
    """

    def __init__(self, tolerance: MathTolerance, *, exact_only: bool = False) -> None:
        self._tolerance = tolerance
        self._exact_only = exact_only

    def same(self, left: Meaning, right: Meaning) -> bool:
        """Whether both mean the same.

        Raises:
            NeedsNumericsError: with `exact_only`, where exact arithmetic cannot decide.
            UnreadableError: a value is too large to be evaluated.
            MissingExtraError: numbers are needed, and mpmath is not installed.
        """
        if left == right:
            return True
        left, right = _simplified(left), _simplified(right)
        if isinstance(left, (Relation, Chain)) != isinstance(right, (Relation, Chain)):
            return self._relation_and_other(left, right)
        return self._same_kind(left, right)

    def _same_kind(self, left: Meaning, right: Meaning) -> bool:
        match left, right:
            case Words(), Words():
                return left == right
            case (Words(), _) | (_, Words()):
                return False
            case Quantity(), Quantity():
                return left.unit == right.unit and self._values(left.value, right.value)
            case Quantity(value=value, unit=unit), other:
                return self._unit_and_other(value, unit, other)
            case other, Quantity(value=value, unit=unit):
                return self._unit_and_other(value, unit, other)
            case Matrix(), Matrix():
                return len(left.rows) == len(right.rows) and all(
                    self._in_order(mine, yours) for mine, yours in zip(left.rows, right.rows, strict=True)
                )
            case (Matrix(), _) | (_, Matrix()):
                return False
            case Relation(), Relation():
                return self._relations(left, right)
            case ((Relation() | Chain()), (Relation() | Chain())):
                return self._solution_sets(left, right)
            case _:
                return self._collections(left, right)

    def _collections(self, left: Meaning, right: Meaning) -> bool:
        match left, right:
            case Tuple(), Tuple():
                return self._in_order(left.items, right.items)
            case Interval(), Interval():
                return (left.low_closed, left.high_closed) == (right.low_closed, right.high_closed) and (
                    self._ends(left.low, right.low) and self._ends(left.high, right.high)
                )
            case (Interval(), Tuple()) | (Tuple(), Interval()):
                mine, yours = _interval_of(left), _interval_of(right)
                return mine is not None and yours is not None and self._collections(mine, yours)
            case Union(), Union():
                return self._matched(left.parts, right.parts)
            case (Union(), Values(items=())) | (Values(items=()), Union()):
                return False
            case (Values(is_list=True) as listed, Tuple() as tuple_) | (
                Tuple() as tuple_,
                Values(is_list=True) as listed,
            ):
                return self._in_order(listed.items, tuple_.items)
            case Values(), Values():
                return self._matched(left.items, right.items)
            case Values(items=(only,)), other:
                return self.same(only, other)
            case other, Values(items=(only,)):
                return self.same(only, other)
            case _:
                return _is_scalar(left) and _is_scalar(right) and self._ends(left, right)

    def _in_order(self, left: Sequence[Meaning], right: Sequence[Meaning]) -> bool:
        return len(left) == len(right) and all(self.same(mine, yours) for mine, yours in zip(left, right, strict=True))

    def _matched(self, left: Sequence[Meaning], right: Sequence[Meaning]) -> bool:
        """As sets: each item has an equal one on the other side."""
        return all(any(self.same(mine, yours) for yours in right) for mine in left) and all(
            any(self.same(mine, yours) for mine in left) for yours in right
        )

    def _unit_and_other(self, value: Scalar, unit: str, other: Meaning) -> bool:
        """A unit that one side leaves out is taken as meant; degrees also equal their radians."""
        if not _is_scalar(other):
            return False
        if self._values(value, other):
            return True
        return unit == "degree" and self._values(Call("degrees", (value,)), other)

    def _ends(self, left: Meaning, right: Meaning) -> bool:
        """Scalars, of which infinities are equal only to themselves."""
        if not (_is_scalar(left) and _is_scalar(right)):
            return False
        infinite = [_infinity_of(side) for side in (left, right)]
        if any(infinite):
            return infinite[0] == infinite[1]
        return self._values(left, right)

    # Relations

    def _relation_and_other(self, left: Meaning, right: Meaning) -> bool:
        related, other = (left, right) if isinstance(left, (Relation, Chain)) else (right, left)
        assert isinstance(related, (Relation, Chain))
        solved = _solved(related)
        if solved is not None:
            return self.same(solved, other)
        if (
            isinstance(related, Relation)
            and related.kind == "="
            and _is_scalar(related.left)
            and _is_scalar(related.right)
        ):
            # A statement such as 3 + 4 = 7 says its value, if it is true.
            return (
                not (_symbols(related.left) | _symbols(related.right))
                and self._values(related.left, related.right)
                and self.same(related.right, other)
            )
        return False

    def _solution_sets(self, left: Relation | Chain, right: Relation | Chain) -> bool:
        mine, yours = _solved(left), _solved(right)
        if mine is None or yours is None:
            return self._chains(left, right)
        return _solved_symbol(left) == _solved_symbol(right) and self.same(mine, yours)

    def _chains(self, left: Relation | Chain, right: Relation | Chain) -> bool:
        if isinstance(left, Chain) and isinstance(right, Chain) and len(left.links) == len(right.links):
            return all(self._relations(mine, yours) for mine, yours in zip(left.links, right.links, strict=True))
        return False

    def _relations(self, left: Relation, right: Relation) -> bool:
        if left.kind != right.kind:
            return False
        mine, yours = _solved(left), _solved(right)
        if mine is not None and yours is not None and _solved_symbol(left) == _solved_symbol(right):
            return self.same(mine, yours)
        sides = (left.left, left.right, right.left, right.right)
        scalars = [side for side in sides if _is_scalar(side)]
        if len(scalars) != len(sides):
            return self.same(left.left, right.left) and self.same(left.right, right.right)
        first = Operation("+", scalars[0], Negative(scalars[1]))
        second = Operation("+", scalars[2], Negative(scalars[3]))
        return self._proportional(first, second, either_sign=left.kind in ("=", "!="))

    def _proportional(self, first: Scalar, second: Scalar, *, either_sign: bool) -> bool:
        """Whether `first = 0` and `second = 0` say the same because one is a constant multiple of the other."""
        if not _symbols(first) or _symbols(first) != _symbols(second):
            return False
        ratio = Operation("/", first, second)
        ratios = self._values_at_points(ratio)
        if len(ratios) < _FEWEST_POINTS or ratios[0] == 0:
            return False
        if not all(self._close(each, ratios[0], 1) for each in ratios):
            return False
        return either_sign or _real(ratios[0]) > 0

    def _values_at_points(self, scalar: Scalar) -> list[Any]:
        points: list[Any] = []
        exact = True
        for number in range(_POINTS):
            point = ExactPoint(number)
            try:
                points.append(point.value(scalar))
            except UndefinedError:
                continue
            exact = exact and not point.atoms
        if exact:
            return points
        if self._exact_only:
            raise NeedsNumericsError
        context = _numerics()
        found: list[Any] = []
        for number in range(_POINTS):
            try:
                found.append(NumericPoint(context, number, is_complex=False).value(scalar).value)
            except UndefinedError:
                continue
        return found

    def _close(self, left: Any, right: Any, scale: Any) -> bool:
        if isinstance(left, Fraction):
            return left == right
        return bool(abs(left - right) <= max(abs(left), abs(right), scale) * _numerics().mpf(10) ** -DIGITS)

    # Values

    def _values(self, left: Scalar, right: Scalar) -> bool:
        """Two scalars without infinities, by their values."""
        left_percent, right_percent = _percent_of(left), _percent_of(right)
        if (left_percent is None) != (right_percent is None) and self._tolerance.percent != "fraction":
            written = left_percent if left_percent is not None else right_percent
            other = right if left_percent is not None else left
            assert written is not None
            if self._equal(written, other):
                return True
            if self._tolerance.percent == "ignore":
                return False
        return self._equal(left, right)

    def _equal(self, left: Scalar, right: Scalar) -> bool:
        allowed = self._tolerance.relative if _is_decimal(left) or _is_decimal(right) else 0.0
        symbols = _symbols(left) | _symbols(right)
        verdict = _equal_exactly(left, right, allowed, 1 if not symbols else _POINTS)
        if verdict is not None:
            return verdict
        if self._exact_only:
            raise NeedsNumericsError
        return _equal_numerically(left, right, allowed, has_symbols=bool(symbols))


def _equal_exactly(left: Scalar, right: Scalar, allowed: float, points: int) -> bool | None:
    """None where exact arithmetic cannot decide."""
    atoms = False
    agreed = 0
    for number in range(points):
        mine, yours = ExactPoint(number), ExactPoint(number)
        try:
            first, second = mine.value(left), yours.value(right)
        except UndefinedError:
            if points == 1:
                return None if mine.atoms or yours.atoms else False
            continue
        atoms = atoms or bool(mine.atoms or yours.atoms)
        if first != second:
            if atoms:
                return None
            if points == 1 and allowed and not first.denominator == second.denominator == 1:
                return abs(first - second) <= Fraction(allowed) * max(abs(first), abs(second))
            return False
        agreed += 1
    return agreed >= min(points, _FEWEST_POINTS) or None


def _equal_numerically(left: Scalar, right: Scalar, allowed: float, *, has_symbols: bool) -> bool:
    context = _numerics()
    complex_from_the_start = _has_imaginary(left) or _has_imaginary(right)
    for is_complex in (True,) if complex_from_the_start else (False, True):
        defined = 0
        for number in range(_POINTS if has_symbols else 1):
            point = NumericPoint(context, number, is_complex=is_complex)
            try:
                first, second = point.value(left), point.value(right)
            except UndefinedError:
                continue
            defined += 1
            apart = abs(first.value - second.value)
            scale = max(first.scale, second.scale)
            largest = max(abs(first.value), abs(second.value))
            if apart > scale * context.mpf(10) ** -DIGITS and (has_symbols or apart > largest * allowed):
                return False
        if defined >= (_FEWEST_POINTS if has_symbols else 1):
            return True
    return False


@lru_cache(maxsize=1)
def _numerics() -> Any:
    return load_numerics()


def _real(value: Any) -> Any:
    return value.real if hasattr(value, "real") else value


def _is_scalar(meaning: Meaning) -> TypeGuard[Scalar]:
    return isinstance(meaning, (Number, Symbol, Constant, Operation, Negative, Call))


def _walk(meaning: Meaning) -> list[Scalar]:
    """Every scalar within a scalar, itself included."""
    found: list[Scalar] = []
    stack: list[Any] = [meaning]
    while stack:
        here = stack.pop()
        match here:
            case Operation(left=left, right=right):
                stack += [left, right]
            case Negative(of=inner):
                stack.append(inner)
            case Call(arguments=arguments):
                stack += arguments
            case _:
                pass
        found.append(here)
    return found


def _symbols(scalar: Scalar) -> frozenset[str]:
    return frozenset(each.name for each in _walk(scalar) if isinstance(each, Symbol))


def _is_decimal(scalar: Scalar) -> bool:
    return any(isinstance(each, Number) and each.is_decimal for each in _walk(scalar))


def _has_imaginary(scalar: Scalar) -> bool:
    return any(each == Constant("i") for each in _walk(scalar))


def _percent_of(scalar: Scalar) -> Scalar | None:
    """What stands before the percent sign that closes the scalar."""
    if isinstance(scalar, Negative):
        inner = _percent_of(scalar.of)
        return None if inner is None else Negative(inner)
    return scalar.arguments[0] if isinstance(scalar, Call) and scalar.name == "percent" else None


def _infinity_of(scalar: Meaning) -> int:
    """1 or -1 for an infinity, 0 for anything finite."""
    if scalar == _INFINITY:
        return 1
    return -_infinity_of(scalar.of) if isinstance(scalar, Negative) else 0


def _interval_of(meaning: Meaning) -> Interval | None:
    """A pair in round brackets, read as an open interval."""
    if isinstance(meaning, Interval):
        return meaning
    if isinstance(meaning, Tuple) and len(meaning.items) == 2:
        low, high = meaning.items
        if _is_scalar(low) and _is_scalar(high):
            return Interval(low, high, False, False)
    return None


def _simplified(meaning: Meaning) -> Meaning:
    """Sets of assignments become the values assigned; a union of unions one union."""
    match meaning:
        case Values(items=items) if len(items) > 1 and all(_assigned(item) is not None for item in items):
            pairs = [pair for item in items if (pair := _assigned(item)) is not None]
            names = {name for name, _ in pairs}
            values = tuple(value for _, value in pairs)
            return Values(values) if len(names) == 1 else Tuple(values)
        case Values(items=items) if len(items) > 1 and any(isinstance(item, (Relation, Chain)) for item in items):
            parts = [_solved(item) if isinstance(item, (Relation, Chain)) else None for item in items]
            if all(isinstance(part, (Interval, Union)) for part in parts):
                return Union(tuple(part for part in parts if part is not None))
            return meaning
        case Union(parts=parts):
            flat: list[Meaning] = []
            for part in parts:
                simple = _simplified(part)
                interval = _interval_of(simple)
                flat += simple.parts if isinstance(simple, Union) else (interval if interval is not None else simple,)
            return Union(tuple(flat))
        case _:
            return meaning


def _assigned(meaning: Meaning) -> tuple[str, Meaning] | None:
    """The name and the value of `x = 3`."""
    if isinstance(meaning, Relation) and meaning.kind == "=" and isinstance(meaning.left, Symbol):
        return meaning.left.name, meaning.right
    return None


def _solved_symbol(related: Relation | Chain) -> str:
    """The variable that a solved relation speaks of; "" where there is none."""
    links = related.links if isinstance(related, Chain) else (related,)
    names = {side.name for link in links for side in (link.left, link.right) if isinstance(side, Symbol)}
    return names.pop() if len(names) == 1 else ""


def _solved(related: Relation | Chain) -> Meaning | None:
    """What a solved relation allows its variable: `x = 5` a value, `x < 3` an interval, `x != 1` two."""
    if isinstance(related, Chain):
        return _solved_chain(related)
    left, right = related.left, related.right
    if related.kind == "=":
        if _is_name(left):
            return right
        return left if isinstance(right, Symbol) and not isinstance(left, Words) else None
    named_left = isinstance(left, Symbol)
    if named_left == isinstance(right, Symbol):
        return None
    bound = right if named_left else left
    if not _is_scalar(bound) or _symbols(bound):
        return None
    return _half_line(related.kind, bound, below=named_left)


def _half_line(kind: str, bound: Scalar, *, below: bool) -> Meaning:
    closed = kind == "<="
    if kind == "!=":
        return Union((_open(Negative(_INFINITY), bound), _open(bound, _INFINITY)))
    if below:
        return Interval(Negative(_INFINITY), bound, False, closed)
    return Interval(bound, _INFINITY, closed, False)


def _open(low: Scalar, high: Scalar) -> Interval:
    return Interval(low, high, False, False)


def _solved_chain(chain: Chain) -> Meaning | None:
    links = chain.links
    if all(link.kind == "=" for link in links):  # x = 2 + 3 = 5: the last side is the answer
        return links[-1].right if isinstance(links[0].left, Symbol) else None
    if len(links) != 2 or any(link.kind not in ("<", "<=") for link in links):
        return None
    upper, lower = (links[0], links[1]) if links[0].left == links[1].right else (links[1], links[0])
    if upper.left != lower.right or not isinstance(upper.left, Symbol):
        return None
    if not (_is_scalar(lower.left) and _is_scalar(upper.right)):
        return None
    return Interval(lower.left, upper.right, lower.kind == "<=", upper.kind == "<=")


def _is_name(side: Meaning) -> bool:
    """A variable, a function of variables (`f(x)`), or a tuple of variables: what stands before "=" in an answer."""
    match side:
        case Symbol():
            return True
        case Operation(kind="*", left=Symbol(), right=Symbol()):
            return True
        case Tuple(items=items):
            return all(isinstance(item, Symbol) for item in items)
        case Words():
            return True
        case _:
            return False
