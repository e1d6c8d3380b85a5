"""What nobody is to see, taken out of spans and records: by the names of attributes, by patterns, and by detectors.

Pure, and one for both uses: what is received is redacted before it is stored, and what a policy hides before its evaluators
see it. What always holds: what is found is found in every form it takes (JSON within text to any depth, escapes, numbers,
names of keys, a text cut into pieces); the ids of traces and spans stay; what holds nothing to redact is given back as the
same object. The time is linear in the text.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple, TypeVar, cast

import msgspec

from evalsi.core.errors import InvalidSpecError, UnknownNameError
from evalsi.core.lone_surrogates import without_surrogates
from evalsi.evaluators.detectors import EVERY_KIND, Kind, find
from evalsi.evaluators.detectors.presidio import presidio_detector
from evalsi.schema import Record
from evalsi.traces import Span
from evalsi.traces.log_event import EVENT_OF, OWN_SCORE
from evalsi.traces.mapping import compiled
from evalsi.traces.trace_parts import PROJECT_ATTRIBUTE
from evalsi.watch.hidden_text import resolved
from evalsi.watch.redaction_rules import RedactionRules

REDACTED = "[REDACTED]"
"""What stands for a match of a pattern and for the value of a key; a detector's find becomes its kind, as "[EMAIL]"."""
DETECTORS = tuple(sorted(kind.lower() for kind in EVERY_KIND))
"""Names of the detectors."""
_DEEPEST = 64
_TOO_DEEP = "[nested too deep to be redacted]"
_LONGEST_NAMED = 300
"""Of a value that is looked at together with its name, as in `password=…`."""
_SHORTEST_NUMBER = 10**8
"""A smaller whole number is no card, account or telephone number."""
_MOST_NAMES = 10_000
_LARGEST_NUMBER = 10**40
_KEPT_FIELDS = frozenset({"id", "trace_id", "span_id", "parent_span_id"})
_OF_PLACE = frozenset({PROJECT_ATTRIBUTE, EVENT_OF, OWN_SCORE})
"""What we read to know where something belongs stays, also where a list says what stays; only its own name leaves it out."""
_TEXT_KEYS = ("text", "content")
StructT = TypeVar("StructT", bound=msgspec.Struct)


class _Find(NamedTuple):
    start: int
    end: int
    mark: str


class _Name(NamedTuple):
    """What the rules say of the name of an attribute, or of a key."""

    shown: str
    stays: bool
    hides: bool
    """Whether its value is replaced whole."""


def redact_spans(spans: Sequence[Span], rules: RedactionRules) -> list[Span]:
    """The spans with everything taken out that `rules` name: in attributes, events, resources, names and status messages.

    Raises: as `redactor_of`.
    """
    redactor = redactor_of(rules)
    return [redactor.span(span) for span in spans]


def redact_record(record: Record, rules: RedactionRules) -> Record:
    """The record likewise; names of attributes are those of its steps and the keys of its metadata.

    Raises: as `redactor_of`.
    """
    return redactor_of(rules).struct(record)


@lru_cache(maxsize=256)
def redactor_of(rules: RedactionRules) -> "Redactor":
    """The rules, ready to be used.

    Raises:
        UnknownNameError: there is no such detector, or no such entity of Presidio's.
        InvalidSpecError: a pattern is none that RE2 can run, or a model for Presidio is missing.
        MissingExtraError: Presidio is asked for and not installed.
    """
    return Redactor(rules)


class Redactor:
    """Takes out what its rules name. Any thread may use it."""

    def __init__(self, rules: RedactionRules) -> None:
        for place, name in enumerate(rules.detectors):
            if name not in DETECTORS:
                raise UnknownNameError("detector", name, DETECTORS, where=f"detectors[{place}]")
        self._kinds: frozenset[Kind] = frozenset(kind for kind in EVERY_KIND if kind.lower() in rules.detectors)
        self._patterns = [_pattern(pattern, place) for place, pattern in enumerate(rules.patterns)]
        self._hidden_key = _names(rules.keys, last_part=True)
        self._dropped = _names(rules.drop_attributes)
        self._kept = _names(rules.keep_attributes) if rules.keep_attributes else _every
        self._presidio = presidio_detector(rules.presidio) if rules.presidio is not None else None
        self._known: dict[str, _Name] = {}

    def text(self, text: str, depth: int = 0) -> str:
        """The text with every find replaced."""
        inner = _json_in(text)
        if inner is not msgspec.UNSET:
            cleaned = self.value(inner, depth + 1)
            if cleaned is not inner:
                text = msgspec.json.encode(cleaned).decode()
        # The whole text as well: JSON that names a key twice has a value that its reader does not see.
        finds = self._finds(text)
        if self._presidio is not None and inner is msgspec.UNSET:
            finds += [_Find(each.start, each.end, f"[{each.type}]") for each in self._presidio.find(text)]
        return _replaced(text, finds)

    def value(self, value: Any, depth: int = 0) -> Any:
        """A JSON value with every find replaced, in its keys too."""
        if depth > _DEEPEST:
            return _TOO_DEEP
        match value:
            case str():
                return self.text(value, depth)
            case dict():
                return self._mapping(cast("dict[str, Any]", value), depth)
            case list():
                return self._list(cast("list[Any]", value), depth)
            case bool():
                return value
            case int() | float():
                return self._number(value)
            case _:
                return value

    def attributes(self, attributes: Mapping[str, Any]) -> Mapping[str, Any]:
        """Attributes with values redacted, and without those that are to be left out."""
        stay = {name: value for name, value in attributes.items() if self.keeps(name)}
        found = self._mapping(stay, 0)
        return attributes if found is stay and len(stay) == len(attributes) else found

    def keeps(self, name: str) -> bool:
        """Whether the attribute of this name stays."""
        return self._name(name).stays

    def span(self, span: Span) -> Span:
        """The span, redacted."""
        events = [
            msgspec.structs.replace(
                event, name=self.text(event.name), attributes=dict(self.attributes(event.attributes))
            )
            for event in span.events
        ]
        return msgspec.structs.replace(
            span,
            name=self.text(span.name),
            attributes=dict(self.attributes(span.attributes)),
            events=events,
            status_message=self.text(span.status_message),
            resource=self.attributes(span.resource),
        )

    def struct(self, struct: StructT) -> StructT:
        """A message of our schema with its texts redacted."""
        return self._struct(struct, 0)

    def _struct(self, struct: StructT, depth: int) -> StructT:
        changed: dict[str, Any] = {}
        for name in struct.__struct_fields__:
            if name in _KEPT_FIELDS:
                continue
            value = getattr(struct, name)
            is_open = name in ("attributes", "metadata") and isinstance(value, dict)
            cleaned = self.attributes(cast("dict[str, Any]", value)) if is_open else self._part(value, depth + 1)
            if cleaned is not value:
                changed[name] = cleaned
        return msgspec.structs.replace(struct, **changed) if changed else struct

    def _part(self, value: Any, depth: int) -> Any:
        if isinstance(value, msgspec.Struct):
            return _TOO_DEEP if depth > _DEEPEST else self._struct(value, depth)
        items = _structs_in(value)
        if items:
            cleaned = [self._part(item, depth) for item in items]
            return value if _all_same(items, cleaned) else cleaned
        return self.value(value, depth) if type(value) in (str, int, dict, list) else value

    def _mapping(self, value: dict[str, Any], depth: int) -> dict[str, Any]:
        found: dict[str, Any] = {}
        changed = False
        for key, item in value.items():
            known = self._name(key)
            cleaned = REDACTED if known.hides and item not in (None, "") else self._named(key, item, depth)
            name = known.shown
            changed = changed or cleaned is not item or name != key
            while name in found:  # two keys that were both redacted
                name += "'"
            found[name] = cleaned
        pieces = _pieces_by_index(found)
        for keys in pieces:
            joined = self._joined([found[key] for key in keys])
            if joined is not None:
                changed = True
                found.update(zip(keys, joined, strict=True))
        return found if changed else value

    def _name(self, name: str) -> "_Name":
        """What the rules say of a name. Names come again and again, and are few."""
        known = self._known.get(name)
        if known is None:
            stays = (self._kept(name) or name in _OF_PLACE) and not self._dropped(name)
            known = _Name(_replaced(name, self._finds(name)), stays, self._hidden_key(name))
            if len(self._known) >= _MOST_NAMES:
                self._known.clear()
            self._known[name] = known
        return known

    def _named(self, name: str, value: Any, depth: int) -> Any:
        """A value whose name may say what it is."""
        cleaned = self.value(value, depth + 1)
        if "SECRET" in self._kinds and cleaned is value and isinstance(value, str) and len(value) <= _LONGEST_NAMED:
            begin = f"{name.rpartition('.')[2]}="
            if any(find.start >= len(begin) for find in self._finds(begin + value)):
                return "[SECRET]"
        return cleaned

    def _list(self, value: list[Any], depth: int) -> list[Any]:
        cleaned: list[Any] = [self.value(item, depth + 1) for item in value]
        texts = [text for item in cleaned if (text := _piece(item)) is not None]
        if len(texts) == len(cleaned) > 1:
            joined = self._joined(texts)
            if joined is not None:
                return list(map(_with_piece, cleaned, joined))
        return value if _all_same(value, cleaned) else cleaned

    def _joined(self, pieces: Sequence[str]) -> list[str] | None:
        """Pieces of one text with what is found across their bounds taken out; None when nothing is."""
        whole = "".join(pieces)
        bounds: list[tuple[int, int]] = []
        for piece in pieces:
            begin = bounds[-1][1] if bounds else 0
            bounds.append((begin, begin + len(piece)))
        finds = [find for find in self._finds(whole) if not any(a <= find.start and find.end <= b for a, b in bounds)]
        if not finds:
            return None
        cleaned: list[str] = []
        for piece, (begin, end) in zip(pieces, bounds, strict=True):
            inside = [
                _Find(max(find.start, begin) - begin, min(find.end, end) - begin, find.mark)
                for find in finds
                if find.start < end and find.end > begin
            ]
            cleaned.append(_replaced(piece, inside))
        return cleaned

    def _number(self, value: float) -> Any:
        if not _SHORTEST_NUMBER <= abs(value) < _LARGEST_NUMBER or value != int(value):
            return value
        finds = self._finds(str(int(value)))
        return finds[0].mark if finds else value

    def _finds(self, text: str) -> list[_Find]:
        if not text:
            return []
        finds = self._plain_finds(text)
        spelled = resolved(text)
        if spelled is not None:
            finds += [
                _Find(*spelled.span_of(each.start, each.end), each.mark) for each in self._plain_finds(spelled.text)
            ]
        return finds

    def _plain_finds(self, text: str) -> list[_Find]:
        found = [
            _Find(match.start(), match.end(), REDACTED)
            for pattern in self._patterns
            for match in pattern.finditer(text)
            if match.end() > match.start()
        ]
        if self._kinds:
            found += [_Find(each.start, each.end, f"[{each.type}]") for each in find(text, self._kinds)]
        return found


def _structs_in(value: Any) -> list[Any]:
    """The items of a list of messages; empty for anything else."""
    items = cast("list[Any]", value) if isinstance(value, list) else []
    return items if any(isinstance(item, msgspec.Struct) for item in items) else []


def _every(_name: str) -> bool:
    return True


def _pattern(pattern: str, place: int) -> "re.Pattern[str]":
    try:
        return compiled(pattern)
    except re.error as error:
        raise InvalidSpecError(
            f"the pattern {pattern!r} cannot be run: {error}",
            where=f"patterns[{place}]",
            hint="patterns are RE2's: no lookaround and no references to groups",
        ) from None


def _names(globs: Iterable[str], *, last_part: bool = False) -> Callable[[str], bool]:
    """Whether a name is one of those; "*" stands for any text."""
    sources: list[str] = []
    for glob in globs:
        source = "".join(".*" if part == "*" else re.escape(part) for part in re.split(r"(\*)", glob))
        sources.append(rf"(?:.*\.)?{source}" if last_part and "." not in glob else source)
    if not sources:
        return lambda _name: False
    fits = compiled("(?is)^(?:" + "|".join(sources) + ")$")
    return lambda name: fits.search(name) is not None


def _replaced(text: str, finds: list[_Find]) -> str:
    """The text with the finds replaced; those that overlap are replaced together, by the mark of the first."""
    if not finds:
        return text
    parts: list[str] = []
    done = 0
    for start, end, mark in sorted(finds, key=lambda each: (each.start, -each.end)):
        if start >= done:
            parts += [text[done:start], mark]
        done = max(done, end)
    return "".join(parts) + text[done:]


def _json_in(text: str) -> Any:
    """What a text spells in JSON, where that is more than a number or word; `msgspec.UNSET` when nothing."""
    if not text.lstrip().startswith(("{", "[", '"')):
        return msgspec.UNSET
    try:
        value = msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError, UnicodeError):
        return msgspec.UNSET
    return without_surrogates(value)[0] if "\\ud" in text or "\\uD" in text else value


def _all_same(before: Sequence[Any], after: Sequence[Any]) -> bool:
    return all(one is other for one, other in zip(before, after, strict=True))


def _piece(item: Any) -> str | None:
    """The text of an item that is a piece of one: a text, or an object with a text that is no message of its own."""
    if isinstance(item, str):
        return item
    if isinstance(item, dict) and "role" not in item:
        values = [cast("dict[str, Any]", item).get(key) for key in _TEXT_KEYS]
        return next((value for value in values if isinstance(value, str)), None)
    return None


def _with_piece(item: Any, text: str) -> Any:
    if isinstance(item, str):
        return text
    fields = cast("dict[str, Any]", item)
    key = next(key for key in _TEXT_KEYS if isinstance(fields.get(key), str))
    return {**fields, key: text}


_NUMBERED = re.compile(r"(.*\.)([0-9]{1,6})(\..*)?", re.DOTALL)


def _pieces_by_index(values: Mapping[str, Any]) -> list[list[str]]:
    """Keys of texts that differ in one number alone, as pieces of a text do when they are flattened into attributes."""
    families: dict[tuple[str, str], list[tuple[int, str]]] = {}
    for key, value in values.items():
        match = _NUMBERED.fullmatch(key) if isinstance(value, str) else None
        if match is not None:
            families.setdefault((match[1], match[3] or ""), []).append((int(match[2]), key))
    return [
        [key for _, key in sorted(members)]
        for (begin, end), members in families.items()
        if len(members) > 1 and (not end or end.endswith((".text", ".content"))) and "contents" in begin + end
    ]
