"""Evaluates sources and selectors of mappings on a span: the interpreter of the grammar in `mapping`."""

import re
from collections.abc import Mapping as Dict
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, cast

import msgspec

from evalsi.traces.conversation import has_gap, unflattened
from evalsi.traces.json_in_text import decoded
from evalsi.traces.mapping import AnswerRule, Mapping, Redaction, Selector, Source, compiled, shipped_mappings
from evalsi.traces.span import Span
from evalsi.traces.span_conventions import Narrowing, SpanConventions

_MESSAGE_EVENTS = (
    "gen_ai.system.message",
    "gen_ai.user.message",
    "gen_ai.assistant.message",
    "gen_ai.tool.message",
    "gen_ai.choice",
)
_MOST_KNOWN = 4096
_MOST_TOLD = 512
_INDEXED = ("llm.input_messages", "llm.output_messages", "gen_ai.prompt", "gen_ai.completion")
_NOTHING: tuple[Any, ...] = ("", [], {})
_ANSWERS = ("assistant", "ai", "model")


class SpanInTrace(msgspec.Struct, frozen=True, gc=False):
    """A span with what stands above it, nearest first; a root stands below nothing."""

    span: Span
    ancestors: Sequence[Span] = ()
    """The nearest ones; of a very deep trace not all."""
    above_all: Span | None = None
    """The root, where that is another span."""

    @property
    def root(self) -> Span:
        return self.above_all or self.span


@dataclass(frozen=True)
class Mappers:
    """The mappings of a project in the order they are tried: its own first, then what is shipped."""

    mappings: Sequence[Mapping]
    _narrowing: Narrowing = field(init=False, repr=False, compare=False)
    _known: dict[tuple[bool, tuple[str, ...]], SpanConventions] = field(init=False, repr=False, compare=False)
    """By the names of a span's attributes: an app sends few different sets of them, and each span is asked about often."""
    _told: dict[tuple[bool, bool, frozenset[str]], SpanConventions] = field(init=False, repr=False, compare=False)
    """By those names that make a difference: long conversations in indexed attributes are many sets of them."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "_narrowing", Narrowing(self.mappings))
        object.__setattr__(self, "_known", {})
        object.__setattr__(self, "_told", {})

    @cached_property
    def answers(self) -> Sequence[AnswerRule]:
        """How the answer of a trace is found, before what is usual; most mappings leave it at that."""
        return [rule for mapping in self.mappings for rule in mapping.answer]

    def of_span(self, span: Span) -> SpanConventions:
        """The mappings that may say something about the span, judged by its attributes and never by its scope."""
        names = bool(span.events), tuple(span.attributes)
        known = self._known.get(names)
        if known is None:
            known = self._found(*names)
            if len(self._known) >= _MOST_KNOWN:
                self._known.clear()
            self._known[names] = known
        return known

    def _found(self, has_events: bool, names: tuple[str, ...]) -> SpanConventions:
        gap = any(has_gap(names, prefix) for prefix in _INDEXED)
        key = has_events, gap, self._narrowing.told_by(names)
        known = self._told.get(key)
        if known is None:
            known = replace(self._narrowing.narrowed(key[2], has_events=has_events), has_gap=gap)
            if len(self._told) >= _MOST_TOLD:
                self._told.clear()
            self._told[key] = known
        return known


def shipped_mappers(own: Sequence[Mapping] = ()) -> Mappers:
    """`own` mappings before the shipped ones; of those only the bases, where every own mapping names one."""
    shipped = shipped_mappings()
    bases = {mapping.base for mapping in own}
    chosen = [shipped[name] for name in shipped if name in bases] if own and None not in bases else [*shipped.values()]
    return Mappers([*own, *chosen])


def first_value(sources: Sequence[Source], at: SpanInTrace) -> Any:
    """The value of the first source that gives one that is not empty; None when none does."""
    for source in sources:
        name = source.raw_attr
        value = value_of(source, at) if name is None else at.span.attributes.get(name)
        # Numbers, of which 0 is a value, need not be compared with what is nothing.
        if value or (value is not None and value not in _NOTHING):
            return value
    return None


def value_of(source: Source, at: SpanInTrace) -> Any:
    """The value of a source; None when it gives none, or one that is empty."""
    if source.own_attr is None:
        value = _value_anywhere(source, at)
    else:
        value = at.span.attributes.get(source.own_attr)
        value = None if value is None else _read(source, value)
    return value if value or (value is not None and value not in _NOTHING) else None


def matches(selector: Selector, span: Span) -> bool:
    """Whether the span is one of those that are meant."""
    if selector.attr is not None:
        return _attribute_fits(selector, span.attributes)
    if selector.name_regex is not None:
        return compiled(selector.name_regex).search(span.name) is not None
    if selector.scope_name is not None:
        return span.scope_name == selector.scope_name
    if selector.all is not None:
        return all(matches(inner, span) for inner in selector.all)
    if selector.any is not None:
        return any(matches(inner, span) for inner in selector.any)
    return selector.negated is not None and not matches(selector.negated, span)


def redacted(span: Span, rules: Sequence[Redaction]) -> Span:
    """The span with what rules of its mappings redact replaced in its attributes and those of its events."""
    if not rules:
        return span

    def clean(attributes: Dict[str, Any]) -> dict[str, Any]:
        found = dict(attributes)
        for rule in rules:
            for key, value in found.items():
                fits = key.startswith(rule.path[:-1]) if rule.path.endswith("*") else key == rule.path
                if fits:
                    found[key] = _replaced(value, compiled(rule.regex), rule.replace)
        return found

    events = [msgspec.structs.replace(event, attributes=clean(event.attributes)) for event in span.events]
    return msgspec.structs.replace(span, attributes=clean(span.attributes), events=events)


def _replaced(value: Any, pattern: "re.Pattern[str]", by: str) -> Any:
    if isinstance(value, str):
        return pattern.sub(lambda _: by, value)
    if isinstance(value, list):
        return [_replaced(item, pattern, by) for item in cast("list[Any]", value)]
    if isinstance(value, dict):
        return {key: _replaced(item, pattern, by) for key, item in cast("dict[str, Any]", value).items()}
    return value


def _attribute_fits(selector: Selector, attributes: Dict[str, Any]) -> bool:
    assert selector.attr is not None
    value: Any = attributes.get(selector.attr)
    if selector.exists is not None:
        return (value is not None) == selector.exists
    value = decoded(value)
    if value is None:
        return False
    if selector.equals is not msgspec.UNSET:
        return value == selector.equals
    if selector.among is not None:
        return value in selector.among
    if selector.prefix is not None:
        return isinstance(value, str) and value.startswith(selector.prefix)
    assert selector.regex is not None
    return isinstance(value, str) and compiled(selector.regex).search(value) is not None


def _value_anywhere(source: Source, at: SpanInTrace) -> Any:
    if source.const is not msgspec.UNSET:
        return source.const
    if source.name:
        return at.span.name or None
    if source.events:
        return _selected(_event_list(at.span), source.select)
    return _read(source, _attribute(source, at))


def _read(source: Source, value: Any) -> Any:
    """What an attribute holds, as the source reads it."""
    if source.decode == "json" or source.path is not None:
        value = decoded(value)
    elif source.decode == "string" and value is not None and not isinstance(value, str):
        value = msgspec.json.encode(value).decode()
    if source.path is not None:
        value = _within(value, source.path)
    return _selected(value, source.select)


def _attribute(source: Source, at: SpanInTrace) -> Any:
    assert source.attr is not None
    if source.event is not None:
        found = [event for event in at.span.events if event.name == source.event]
        return found[-1].attributes.get(source.attr) if found else None
    match source.scope:
        case "span":
            places: list[Dict[str, Any]] = [at.span.attributes]
        case "root":
            places = [at.root.attributes]
        case "resource":
            places = [at.span.resource]
        case "any":
            above = [span.attributes for span in at.ancestors]
            places = [at.span.attributes, *above, at.span.resource]
    for place in places:
        value = unflattened(place, source.attr) if source.decode == "indexed" else place.get(source.attr)
        if value not in (None, "", []) and not _is_ignored(value, source):
            return value
    return None


def _is_ignored(value: Any, source: Source) -> bool:
    return source.ignore is not None and isinstance(value, str) and compiled(source.ignore).search(value) is not None


def _within(value: Any, path: str) -> Any:
    for part in path.split("."):
        if isinstance(value, dict):
            value = cast("dict[str, Any]", value).get(part)
        elif isinstance(value, list) and part.isascii() and part.isdigit():
            items = cast("list[Any]", value)
            value = items[int(part)] if int(part) < len(items) else None
        else:
            return None
    return value


def _event_list(span: Span) -> list[Any]:
    return [{"event.name": event.name, **event.attributes} for event in span.events if event.name in _MESSAGE_EVENTS]


def _selected(value: Any, side: str | None) -> Any:
    """One side of a conversation that holds both: the last answer, or what came before it."""
    if side is None or not isinstance(value, list):
        return value
    items = cast("list[Any]", value)
    end = len(items)
    while end and _is_answer(items[end - 1]):
        end -= 1
    return items[end:] if side == "output" else items[:end]


def _is_answer(item: Any) -> bool:
    if not isinstance(item, dict):
        return False
    fields = cast("dict[str, Any]", item)
    return fields.get("event.name") == "gen_ai.choice" or (
        fields.get("role") in _ANSWERS and fields.get("event.name") != "gen_ai.assistant.message"
    )
