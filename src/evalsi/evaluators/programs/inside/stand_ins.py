"""What stands in the tests for the program that is not there: its names, its objects, its errors, answers that are to come.

Each use of one becomes a call of the current test, whose answer was brought in or is asked for. A test that needs an
answer which is not here yet goes on with a placeholder, to find what else it will ask.
"""

import sys
from collections.abc import Callable, Iterator
from typing import Any

from evalsi.evaluators.programs.inside.exchange import NotPlainError, decode, encode

_MOST_CALLS = 20_000
_MOST_GUESSES = 200


class Gone(BaseException):
    """The program gave no answer, or one with which the test cannot go on."""


class Unsupported(BaseException):
    """The tests need what cannot cross to the program."""


class CannotCrossError(Exception):
    """A value of the test cannot be sent to the program."""


class NotHereYetError(Exception):
    """A value is not known yet."""


class Case:
    """The calls of one test, and the answers it has."""

    def __init__(self, known: list[Any]) -> None:
        self.known = known
        self.calls: list[Any] = []
        self.pending = False
        self.guesses = 0

    def ask(self, op: str, target: list[Any], args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None) -> Any:
        try:
            given = [encode(value, handle_of) for value in args]
            named = {name: encode(value, handle_of) for name, value in (kwargs or {}).items()}
        except NotHereYetError:
            self.pending = True
            return Pending()
        except NotPlainError as error:
            raise Gone(f"answered what goes on for ever: {error}") if self.known else Unsupported(str(error)) from None
        except CannotCrossError as error:
            raise Unsupported(f"the tests pass {error}") from None
        call = {"op": op, "target": target, "args": given, "kwargs": named}
        place = len(self.calls)
        self.calls.append(call)
        if place >= _MOST_CALLS:
            why = f"the test makes more than {_MOST_CALLS} calls"
            raise Gone(f"answered so that {why}") if self.known else Unsupported(why)
        if self.pending or place >= len(self.known) or self.known[place][0] != call:
            self.pending = True
            return Pending()
        value = _answered(self.known[place][1], args, kwargs or {})
        if op == "call" and isinstance(value, Remote):
            value.__dict__["_is_own"] = str(target[-1])[:1].isupper()
        return value


class _Turn:
    """Whose turn it is: the case of the test that is running."""

    case = Case([])


turn = _Turn()


def _answered(answer: dict[str, Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    if "gone" in answer:
        raise Gone(answer["gone"])
    if "raised" in answer:
        raise raised(answer)
    try:
        value = decode(answer["value"], _revived)
        after = [decode(each, _revived) for each in answer.get("args", [])]
        named = {name: decode(each, _revived) for name, each in answer.get("kwargs", {}).items()}
    except Exception:
        raise Gone("it answered what is no value") from None
    if value is None:  # what gives a value and changes its argument too could change what the test expects
        for given, changed in zip(args, after, strict=False):
            _update(given, changed)
        for name, changed in named.items():
            _update(kwargs.get(name), changed)
    return value


def _update(given: Any, changed: Any) -> None:
    """What the program did to an argument, done to the test's own."""
    if type(given) is not type(changed) or given == changed:
        return
    held: Any = given
    if isinstance(given, list):
        held[:] = changed
    elif isinstance(given, (dict, set)):
        held.clear()
        held.update(changed)


class ErrorOfProgram(Exception):
    """What a name of the program stands for where tests expect it to be raised: one class per name."""


_kinds: dict[str, type[Exception]] = {}


def error_kind(name: str) -> type[Exception]:
    """The class that `except NAME` and its like mean."""
    return _kinds.setdefault(name, type(name, (ErrorOfProgram,), {}))


def raised(answer: dict[str, Any]) -> Exception:
    """The error that the program raised, of a class that is caught by the same names. Raises: Gone: it was none."""
    try:
        names = [str(name) for name in answer["raised"]]
        message = str(answer.get("message", ""))
        attributes = {str(name): decode(value) for name, value in answer.get("attributes", {}).items()}
    except Exception:
        raise Gone("it raised what is no error") from None
    modules = [str(name) for name in answer.get("modules", [])] or ["builtins"] * len(names)
    known = [_standard_error(module, name) for module, name in zip(modules, names, strict=False)]
    base = next((each for each in known if each is not None), None)
    if base is None:
        raise Gone(f"it raised {names[:1]}")
    own = [name for name, module in zip(names, modules, strict=False) if module not in ("builtins", base.__module__)]
    kind: Any = base
    given = attributes.pop("args", (message,))
    try:
        if own or base.__module__ != "builtins":
            bases = (*(error_kind(name) for name in dict.fromkeys(own)), base)
            kind = type(names[0], bases, {"__str__": message.__str__, "__init__": _take_anything})
        error: Exception = kind(*given)
    except Exception:
        error = base(message) if base in (ValueError, TypeError) else Exception(message)
    error.__dict__.update(attributes, names=names)
    return error


def _take_anything(*_: Any) -> None:
    return None


def _standard_error(module: str, name: str) -> type[Exception] | None:
    """The class of that name in a module that is loaded here; none that has a meaning to what runs tests."""
    top = module.partition(".")[0]
    is_standard = top in sys.stdlib_module_names and top != "unittest"
    found = getattr(sys.modules.get(module), name, None) if is_standard else None
    return found if isinstance(found, type) and issubclass(found, Exception) else None


_NEVER_PASSED = {"coroutine", "builtin_function_or_method", "method-wrapper", "dict_keys", "dict_values", "dict_items"}
"""What a test comes to pass on by what the program answered."""


def handle_of(value: Any) -> Any:
    """How something of the program is named to it."""
    if isinstance(value, Remote):
        return {"p": value.__dict__["_target"]}
    if isinstance(value, Pending):
        raise NotHereYetError
    if id(value) in _iterations:
        iteration = _iterations[id(value)][1]
        return {"g": [*iteration.target[0], iteration.used]}
    kind: str = value.__class__.__name__
    if kind in _NEVER_PASSED and turn.case.known:
        raise Gone(f"answered so that the test passes on a {kind}")
    if isinstance(value, (int, str)):  # an enumeration of the test's that is a number or a text
        return encode(int.__int__(value) if isinstance(value, int) else str.__str__(value))
    raise CannotCrossError(f"a {kind}, which cannot cross to the program")


def _revived(value: Any) -> Any:
    kind, content = next(iter(value.items()))
    match kind:
        case "o":
            return Remote([[int(content[0]), int(content[1])]])
        case "e":
            path, name, plain = content
            return _Member([*map(str, path), str(name)], None if plain is None else decode(plain))
        case "g":
            place, number, items, end = content
            return _iterator([[int(place), int(number)]], [decode(each, _revived) for each in items], end)
        case "w":
            return awaited_value(decode(content, _revived))
        case _:
            raise NotPlainError("no value")


async def awaited_value(value: Any) -> Any:
    return value


class _Iteration:
    """How far a test has read an iterator of the program's."""

    def __init__(self, target: list[Any]) -> None:
        self.target = target
        self.used = 0


_iterations: dict[int, tuple[Any, _Iteration]] = {}


def _iterator(target: list[Any], items: list[Any], end: Any) -> Any:
    iteration = _Iteration(target)
    found = _items_of(iteration, items, end)
    _iterations[id(found)] = found, iteration
    return found


def _items_of(iteration: _Iteration, items: list[Any], end: Any) -> Iterator[Any]:
    """What an iterator of the program gives, fetched by and by."""
    while True:
        for item in items:
            iteration.used += 1
            yield item
        if end is not None:
            if end:
                raise raised(end)
            return
        taken: Any = turn.case.ask("take", iteration.target)
        if isinstance(taken, Pending):
            yield taken
            return
        try:
            items, end = taken
        except (TypeError, ValueError):
            raise Gone("answered what is no iterator") from None


class Pending:
    """Stands for an answer that is not here yet; whatever is done with it goes on."""

    def __bool__(self) -> bool:
        turn.case.guesses += 1
        if turn.case.guesses > _MOST_GUESSES:  # a loop that only an answer ends
            raise Gone("has not answered yet")
        return True

    def __iter__(self) -> Any:
        return iter(())

    def __next__(self) -> Any:
        return self or None

    def __len__(self) -> int:
        return 1

    def __hash__(self) -> int:
        return 0

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return self

    def __call__(self, *_: Any, **__: Any) -> Any:
        return self

    def __contains__(self, _: Any) -> bool:
        return True

    def __await__(self) -> Any:
        return self
        yield


def _pending_operation(self: Any, *_: Any) -> Any:
    return self


for _name in (
    "eq ne lt le gt ge add radd sub rsub mul rmul truediv rtruediv floordiv rfloordiv mod rmod pow rpow neg abs getitem "
    "round and rand or ror xor rxor enter exit"
).split():
    setattr(Pending, f"__{_name}__", _pending_operation)


class Remote:
    """Something in the program: a name, an attribute of one, or an object that a call gave.

    An object's own operators may decide nothing about a value of the test: it would be equal to whatever is expected, or
    the right distance from it. Only an object that the test itself made, of a class (a capitalized name), may be added to
    a value or asked whether it holds one; none is ever equal to, above or below a plain value, nor a distance from one.
    """

    def __init__(self, target: list[Any]) -> None:
        self.__dict__["_target"] = target
        self.__dict__["_is_own"] = False
        self.__dict__["_is_difference"] = False

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return Remote([*self._target, name])

    def __setattr__(self, name: str, value: Any) -> None:
        turn.case.ask("set", self._target, (name, value))

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return turn.case.ask("call", self._target, args, kwargs)

    def __instancecheck__(self, value: Any) -> bool:
        return bool(turn.case.ask("isinstance", self._target, (value,)))

    def __enter__(self) -> Any:
        return turn.case.ask("__enter__", self._target)

    def __exit__(self, kind: object, error: BaseException | None, _: object) -> bool:
        if isinstance(error, (Gone, Unsupported, AssertionError)):  # none of these is the program's to swallow
            return False
        name = "" if error is None else getattr(error, "names", [type(error).__name__])[0]
        return turn.case.ask("leave", self._target, (name, str(error or ""))) is True

    def __next__(self) -> Any:
        return turn.case.ask("__next__", self._target)

    def __eq__(self, other: object) -> Any:
        if isinstance(other, Remote) and self._target == other._target:
            return True
        mine = value_of(self)
        if not isinstance(mine, Remote):
            return mine == other
        if not isinstance(other, Remote):
            return mine.plain == other if isinstance(mine, _Member) and mine.plain is not None else False
        if self._is_own or other._is_own:
            return turn.case.ask("__eq__", self._target, (other,)) is True
        theirs = value_of(other)
        return isinstance(theirs, Remote) and mine._target == theirs._target

    def __ne__(self, other: object) -> Any:
        return not self == other

    def __hash__(self) -> int:
        return hash(str(self._target))

    def __bool__(self) -> bool:
        mine = value_of(self)
        return True if isinstance(mine, Remote) else bool(mine)


class _Member(Remote):
    """A member of an enumeration, which its name says; with the number or text that it is too, where it is one."""

    def __init__(self, target: list[Any], plain: Any) -> None:
        super().__init__(target)
        self.__dict__["plain"] = plain

    __hash__ = Remote.__hash__


def value_of(remote: Remote) -> Any:
    """The plain value that a name or attribute has, or a handle of what is none."""
    return remote if isinstance(remote, _Member) else turn.case.ask("value", remote.__dict__["_target"])


_INPUTS = {"__getitem__", "__setitem__", "__delitem__", "__round__", "__format__"}
"""Operators whose operand is an input, not a value that is expected."""
_DISTANCES = {"__sub__", "__rsub__"}
_MEASURES = {"__abs__", "__lt__", "__le__", "__gt__", "__ge__", "__float__", "__int__", "__round__"}


def _remote_operation(name: str) -> Callable[..., Any]:
    def operate(self: Remote, *args: Any) -> Any:
        mine = value_of(self)
        if isinstance(mine, _Member) and mine.plain is not None:
            return getattr(mine.plain, name)(*args)
        if not isinstance(mine, Remote):
            return getattr(mine, name)(*args)
        ordering = name in ("__lt__", "__le__", "__gt__", "__ge__")
        if args and name not in _INPUTS and (not self._is_own or (ordering and not isinstance(args[0], Remote))):
            raise TypeError("an object of the program's own, where the test has a value")
        if self._is_difference and name in _MEASURES:
            raise TypeError("the distance of an object of the program's own from a value")
        answer = turn.case.ask(name, self._target, args)
        if name == "__iter__":
            return iter(answer)
        if name in _DISTANCES and not isinstance(args[0], (Remote, Pending)) and not isinstance(answer, Pending):
            if not isinstance(answer, Remote):
                raise TypeError("the distance of an object of the program's own from a value")
            answer.__dict__["_is_difference"] = True
        return answer

    return operate


for _name in (
    "lt le gt ge add radd sub rsub mul rmul truediv floordiv mod pow neg abs getitem setitem len iter contains str repr "
    "int float round pos invert and rand or ror xor rxor lshift rshift matmul rmod rpow delitem format reversed"
).split():
    setattr(Remote, f"__{_name}__", _remote_operation(f"__{_name}__"))
