"""What is left of the conventions for spans that have attributes of certain names.

Its own module because this is what makes reading quick: most of what a convention names is not in a span, which its
attributes' names alone tell, and an app sends few different sets of them. Pure. What always holds: reading a span by what is
left gives what reading it by everything would give.
"""

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple, TypeVar, cast

import msgspec

from evalsi.traces.mapping import KINDS, Redaction, Selector, Source, sources_of
from evalsi.traces.mapping import Mapping as Convention

StructT = TypeVar("StructT", bound=msgspec.Struct)

_ALWAYS, _NEVER = Selector(all=[]), Selector(any=[])


@dataclass(frozen=True, kw_only=True)
class SpanConventions:
    """The conventions of spans with the same names of attributes."""

    mappings: Sequence[Convention]
    """In the order they are tried. `kinds` stand in the order of `KINDS`."""
    redactions: Sequence[Redaction]
    leaves_out: bool
    """Whether a convention leaves spans out that are no steps."""
    has_gap: bool = False
    """Whether indexed attributes lack a number below their highest."""
    looks_around: bool = True
    """Whether a source looks at more than the span itself: at what stands above it, or at what sent it."""
    told_kinds: dict[tuple[Any, ...], "ToldKind"] = field(
        default_factory=dict[tuple[Any, ...], "ToldKind"], repr=False, compare=False
    )
    """Kinds that have been told, by what decided: see `kinds_ask`."""
    _led: dict[int, Convention] = field(default_factory=dict[int, Convention], repr=False, compare=False)

    def led_by(self, place: int = 0) -> Convention:
        """All as one: for each field the sources of the convention at that place, then those of the others in order."""
        found = self._led.get(place)
        if found is None:
            others = [each for other, each in enumerate(self.mappings) if other != place]
            found = self._led[place] = _joined([*self.mappings[place : place + 1], *others] or [_NOTHING])
        return found

    @cached_property
    def whole(self) -> Convention:
        """All as one, led by none."""
        return self.led_by()

    @cached_property
    def tells_of_trace(self) -> bool:
        """Whether such a span may say whom the whole trace is of, or how it is labelled."""
        return bool(self.whole.user_id or self.whole.tags or self.whole.metadata)

    @cached_property
    def kinds_ask(self) -> tuple[str, ...]:
        """The attributes that decide which kind a span is."""
        return tuple(sorted({test.attr for test in self._kind_tests if test.attr is not None}))

    @cached_property
    def kinds_ask_names(self) -> bool:
        """Whether the names of span and scope decide too."""
        return any(test.name_regex is not None or test.scope_name is not None for test in self._kind_tests)

    @cached_property
    def _kind_tests(self) -> list[Selector]:
        return _all_of(test for each in self.mappings for tests in each.kinds.values() for test in tests)


class ToldKind(NamedTuple):
    """Which kind a span is, and how such spans are read."""

    kind: str
    says: Convention
    """All conventions as one, led by the one that told the kind."""
    told_by: str = ""
    """That one, as `name@revision`; empty where none did."""


class Narrowing:
    """Conventions, prepared to be narrowed."""

    def __init__(self, conventions: Sequence[Convention]) -> None:
        self._conventions = conventions
        self._marks = [frozenset(each.marks) for each in conventions]
        self._named: set[str] = set()
        self._indexed: set[str] = set()
        for each in conventions:
            _gather(each, self._named, self._indexed)

    def told_by(self, names: Collection[str]) -> frozenset[str]:
        """What of the names of attributes makes a difference: equal for spans that are read by the same rules."""
        told: set[str] = set()
        for name in names:
            told.add(name.split(".", 1)[0] + "/")
            if name in self._named:
                told.add(name)
        told.update(f"{prefix}.*" for prefix in self._indexed if any(name.startswith(f"{prefix}.") for name in names))
        return frozenset(told)

    def narrowed(self, told: frozenset[str], *, has_events: bool) -> SpanConventions:
        """The conventions for spans of which `told_by` gave `told`."""
        heads = {each.removesuffix("/") for each in told if each.endswith("/")}
        kept = [
            _narrowed(each, told, has_events=has_events)
            for each, marks in zip(self._conventions, self._marks, strict=True)
            if not marks or not marks.isdisjoint(heads)
        ]
        return SpanConventions(
            mappings=kept,
            redactions=[rule for each in kept for rule in each.redact],
            leaves_out=any(each.exclude_spans or each.include_spans for each in kept),
            looks_around=any(source.scope != "span" for each in kept for source in sources_of(each)),
        )


def _narrowed(convention: Convention, told: frozenset[str], *, has_events: bool) -> Convention:
    def may_give(source: Source) -> bool:
        if source.events or source.event is not None:
            return has_events
        if source.attr is None or source.scope != "span":
            return True
        return (f"{source.attr}.*" if source.decode == "indexed" else source.attr) in told

    kinds: dict[Any, list[Selector]] = {}
    for kind in KINDS:
        tests = _possible(convention.kinds.get(kind, ()), told)
        if tests:
            kinds[kind] = tests
    return msgspec.structs.replace(
        _with_sources(convention, lambda sources: [each for each in sources if may_give(each)]),
        kinds=kinds,
        exclude_spans=_possible(convention.exclude_spans, told),
        include_spans=_possible(convention.include_spans, told) or ([_NEVER] if convention.include_spans else []),
    )


def _possible(selectors: Sequence[Selector], told: frozenset[str]) -> list[Selector]:
    """Those that such a span may pass; up to the first that every one passes."""
    found: list[Selector] = []
    for each in selectors:
        left = _decided(each, told)
        if left is False:
            continue
        found.append(_ALWAYS if left is True else left)
        if left is True:
            break
    return found


def _decided(selector: Selector, told: frozenset[str]) -> Selector | bool:
    """Whether such spans pass, or what is left to be asked of each."""
    if selector.attr is not None:
        return selector if selector.attr in told else selector.exists is False
    if selector.all is not None:
        parts = [_decided(each, told) for each in selector.all]
        left = [each for each in parts if isinstance(each, Selector)]
        if any(each is False for each in parts):
            return False
        return True if not left else left[0] if len(left) == 1 else Selector(all=left)
    if selector.any is not None:
        parts = [_decided(each, told) for each in selector.any]
        left = [each for each in parts if isinstance(each, Selector)]
        if any(each is True for each in parts):
            return True
        return False if not left else left[0] if len(left) == 1 else Selector(any=left)
    if selector.negated is not None:
        inner = _decided(selector.negated, told)
        return Selector(negated=inner) if isinstance(inner, Selector) else not inner
    return selector


def _joined(parts: Sequence[StructT]) -> StructT:
    """The first, with the sources of all in their order."""
    changed: dict[str, Any] = {}
    for name in parts[0].__struct_fields__:
        values = [getattr(each, name) for each in parts]
        if isinstance(values[0], msgspec.Struct):
            changed[name] = _joined(values)
        elif name not in _NO_SOURCES and isinstance(values[0], list):
            changed[name] = [source for value in values for source in value]
    return msgspec.structs.replace(parts[0], **changed)


def _with_sources(part: StructT, change: Callable[[list[Source]], list[Source]]) -> StructT:
    changed: dict[str, Any] = {}
    for name in part.__struct_fields__:
        value = getattr(part, name)
        if isinstance(value, msgspec.Struct):
            changed[name] = _with_sources(value, change)
        elif name not in _NO_SOURCES and isinstance(value, list):
            changed[name] = change(cast("list[Source]", value))
    return msgspec.structs.replace(part, **changed)


def _gather(convention: Convention, named: set[str], indexed: set[str]) -> None:
    """Adds the names of attributes that a convention looks at, and the begins of indexed ones."""
    for source in sources_of(convention):
        if source.attr is not None:
            (indexed if source.decode == "indexed" else named).add(source.attr)
    tests = [each for tests in convention.kinds.values() for each in tests]
    for selector in _all_of([*convention.exclude_spans, *convention.include_spans, *tests]):
        if selector.attr is not None:
            named.add(selector.attr)


def _all_of(selectors: Iterable[Selector]) -> list[Selector]:
    """These, and what they are made of."""
    found: list[Selector] = []
    waiting = list(selectors)
    while waiting:
        selector = waiting.pop()
        found.append(selector)
        waiting += [*(selector.all or ()), *(selector.any or ())]
        waiting += [selector.negated] if selector.negated is not None else []
    return found


_NO_SOURCES = frozenset({"marks", "exclude_spans", "include_spans", "answer", "redact"})
_NOTHING = Convention(version=1, name="none")
