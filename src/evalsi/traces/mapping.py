"""The grammar of mappings: where each convention of tracing keeps what a step needs, as data.

One grammar serves the conventions that are shipped (`conventions/*.json`) and those that users write. The first source
that gives a value that is not empty wins. Mappings are versioned: the name and version that read a trace are kept with it.
"""

import re
from collections.abc import Sequence
from functools import cache, cached_property
from importlib import resources
from typing import Annotated, Any, Literal, cast

import msgspec

from evalsi.core.errors import InvalidSpecError, UnknownNameError

MOST_NESTED = 50
"""Selectors in one another."""
_LONGEST_SHOWN = 100
KINDS = ("llm", "tool", "retrieval", "embedding", "guardrail", "handoff", "agent", "user", "generic")
"""The kinds of step that a mapping can tell, in the order they are tried."""

Where = Literal["span", "root", "resource", "any"]


class Source(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True, dict=True):
    """Where a value is looked for. Exactly one of `attr` (with or without `event`), `const`, `name`, `events`."""

    attr: str | None = None
    """Name of an attribute."""
    event: str | None = None
    """Name of the span event whose attribute is meant; the last such event counts."""
    events: bool = False
    """All events of the span that are messages, as a conversation."""
    const: Any = msgspec.UNSET
    """A value of its own."""
    name: bool = False
    """The span's name."""
    scope: Where = "span"
    """Whose attribute: the span's, the root span's, the resource's; "any" tries the span, its ancestors, the resource."""
    decode: Literal["json", "string", "indexed"] | None = None
    """"json" reads JSON out of text, "indexed" gathers `attr.0.…`, `attr.1.…` into a list, "string" makes text of it."""
    path: str | None = None
    """A dotted path into the decoded value, such as "usage.input_tokens"."""
    select: Literal["input", "output"] | None = None
    """Which side of a conversation that holds both: "output" is the last answer, "input" what came before it."""
    ignore: str | None = None
    """An expression; a text that it finds something in is no value, such as what a library writes in place of one."""

    def __post_init__(self) -> None:
        given = sum((self.attr is not None, self.const is not msgspec.UNSET, self.name, self.events))
        if given != 1:
            raise ValueError("a source names exactly one of attr, const, name, events")

    @cached_property
    def own_attr(self) -> str | None:
        """The attribute of the span itself that this is, as most are; None where more than that is looked at."""
        elsewhere = (
            self.scope != "span" or self.event is not None or self.decode == "indexed" or self.ignore is not None
        )
        return None if elsewhere else self.attr

    @cached_property
    def whole_attr(self) -> str | None:
        """That attribute, where all that it holds is the value, as it stands there or as JSON."""
        is_whole = self.decode in (None, "json") and self.path is None and self.select is None
        return self.own_attr if is_whole else None

    @cached_property
    def raw_attr(self) -> str | None:
        """That attribute, where what stands there is the value."""
        return self.whole_attr if self.decode is None else None


class Selector(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, rename={"among": "in"}):
    """Which spans are meant: one test of an attribute, of the name or of the scope, or a combination."""

    attr: str | None = None
    equals: Any = msgspec.UNSET
    among: list[Any] | None = None
    """Written `in`."""
    regex: str | None = None
    prefix: str | None = None
    exists: bool | None = None
    name_regex: str | None = None
    scope_name: str | None = None
    all: list["Selector"] | None = None
    any: list["Selector"] | None = None
    negated: "Selector | None" = msgspec.field(default=None, name="not")

    def __post_init__(self) -> None:
        tests = (self.equals is not msgspec.UNSET, self.among is not None, self.regex is not None)
        count = sum((*tests, self.prefix is not None, self.exists is not None))
        heads = sum(
            value is not None
            for value in (self.attr, self.name_regex, self.scope_name, self.all, self.any, self.negated)
        )
        if heads != 1 or count != (1 if self.attr is not None else 0):
            raise ValueError(
                "a selector is {attr, equals | in | regex | prefix | exists}, {name_regex}, {scope_name}, {all}, {any} or {not}"
            )


class UsageSources(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Where token counts and cost are. `prompt` includes cached tokens, as OpenTelemetry asks."""

    prompt: list[Source] = []
    uncached: list[Source] = []
    """Input tokens without the cached ones, of a sender that counts them apart; used where `prompt` finds nothing."""
    completion: list[Source] = []
    cached: list[Source] = []
    cache_write: list[Source] = []
    reasoning: list[Source] = []
    cost: list[Source] = []


class LlmSources(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Where a model call keeps its parts."""

    model: list[Source] = []
    response_model: list[Source] = []
    response_id: list[Source] = []
    system: list[Source] = []
    input_messages: list[Source] = []
    output_messages: list[Source] = []
    output_tool_calls: list[Source] = []
    reasoning: list[Source] = []
    finish_reason: list[Source] = []
    usage: UsageSources = UsageSources()


class ToolSources(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Where a tool call keeps its parts."""

    name: list[Source] = []
    call_id: list[Source] = []
    arguments: list[Source] = []
    result: list[Source] = []
    error: list[Source] = []


class RetrievalSources(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Where a search keeps its parts."""

    query: list[Source] = []
    documents: list[Source] = []


class AgentSources(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Where an agent says who it is."""

    name: list[Source] = []
    version: list[Source] = []
    handed_to: list[Source] = []
    """Of a hand-over: the agent that gets the work."""


class ValueSources(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Where any other step keeps what went in and what came out."""

    input: list[Source] = []
    output: list[Source] = []


class AnswerRule(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, rename={"origin": "from"}):
    """One way to find the answer of a trace; `from` says which."""

    origin: Literal["last_llm_text", "root_attr", "tool_arg", "span_attr", "event"]
    tool: str | None = None
    arg: str | None = None
    attr: str | None = None
    event: str | None = None
    select: Selector | None = None
    decode: Literal["json", "string"] | None = None

    def __post_init__(self) -> None:
        needs = {
            "last_llm_text": (),
            "root_attr": ("attr",),
            "tool_arg": ("tool", "arg"),
            "span_attr": ("attr",),
            "event": ("event", "attr"),
        }
        for need in needs[self.origin]:
            if getattr(self, need) is None:
                raise ValueError(f"an answer from {self.origin!r} needs {need!r}")


class Redaction(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Text to replace in the attributes of a name before anything is read from them."""

    path: str
    """Name of an attribute; a trailing * means every name that begins so."""
    regex: str
    replace: str = "[redacted]"


class Mapping(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One convention."""

    version: Literal[1]
    """Of the grammar."""
    name: Annotated[str, msgspec.Meta(min_length=1, max_length=100)]
    revision: str = "1"
    """Of this mapping; a change of meaning is a new revision."""
    base: str | None = None
    """The shipped convention whose sources are tried after this mapping's own; all of them when it names none."""
    marks: list[str] = []
    """First segments of attribute names, one of which a span must have for this mapping to be tried; empty: every span."""
    session_id: list[Source] = []
    user_id: list[Source] = []
    tags: list[Source] = []
    metadata: list[Source] = []
    agent: AgentSources = AgentSources()
    kinds: dict[
        Literal["llm", "tool", "retrieval", "embedding", "guardrail", "handoff", "agent", "user", "generic"],
        list[Selector],
    ] = {}
    llm: LlmSources = LlmSources()
    tool: ToolSources = ToolSources()
    retrieval: RetrievalSources = RetrievalSources()
    values: ValueSources = ValueSources()
    exclude_spans: list[Selector] = []
    """Spans that are no steps; their children belong to their parents."""
    include_spans: list[Selector] = []
    """When given, the only spans that are steps."""
    answer: list[AnswerRule] = []
    redact: list[Redaction] = []


def read_mapping(text: bytes, where: str = "mapping") -> Mapping:
    """A mapping written in JSON.

    Raises:
        InvalidSpecError: it does not follow the grammar; names the field.
        UnknownNameError: `base` is no convention that is shipped.
    """
    try:
        mapping = msgspec.json.decode(text, type=Mapping)
    except msgspec.DecodeError as error:
        raise InvalidSpecError(f"the mapping is malformed: {error}", where=where) from None
    except RecursionError:
        raise _nested_too_deep(where) from None
    if mapping.base is not None and mapping.base not in shipped_mappings():
        raise UnknownNameError("base", mapping.base, shipped_mappings(), where=f"{where}.base")
    selectors = _selectors(mapping)
    if any(depth > MOST_NESTED for _, depth in selectors):
        raise _nested_too_deep(where)
    for pattern in _patterns(mapping, [selector for selector, _ in selectors]):
        try:
            compiled(pattern)
        except re.error as error:
            shown = pattern if len(pattern) <= _LONGEST_SHOWN else pattern[:_LONGEST_SHOWN] + "…"
            raise InvalidSpecError(f"the pattern {shown!r} cannot be read: {str(error)[:200]}", where=where) from None
    return mapping


@cache
def compiled(pattern: str) -> "re.Pattern[str]":
    """A user's pattern, run by RE2 in linear time; a pattern that RE2 cannot run is refused.

    Raises: re.error: it is no such pattern.
    """
    import re2 as untyped  # pyright: ignore[reportMissingTypeStubs]

    re2: Any = untyped
    options = re2.Options()
    options.log_errors = False
    try:
        return re2.compile(pattern, options)
    except re2.error as error:
        reason: Any = error.args[0] if error.args else "unknown"
        raise re.error(reason.decode() if isinstance(reason, bytes) else str(reason)) from None


SHIPPED = (
    "crewai",
    "openinference",
    "mlflow",
    "vercel-ai",
    "logfire",
    "traceloop",
    "langsmith",
    "claude-code",
    "evalsi",
    "genai",
)
"""The conventions that are shipped, in the order they are tried: the one that says most about a span first."""


@cache
def shipped_mappings() -> dict[str, Mapping]:
    """The conventions that come with this release, by name."""
    folder = resources.files("evalsi.traces").joinpath("conventions")
    return {name: msgspec.json.decode(folder.joinpath(f"{name}.json").read_bytes(), type=Mapping) for name in SHIPPED}


def _nested_too_deep(where: str) -> InvalidSpecError:
    return InvalidSpecError(f"the mapping has more than {MOST_NESTED} selectors in one another", where=where)


def _patterns(mapping: Mapping, selectors: Sequence[Selector]) -> list[str]:
    found = [redaction.regex for redaction in mapping.redact]
    found += [source.ignore for source in sources_of(mapping) if source.ignore is not None]
    return found + [pattern for each in selectors for pattern in (each.regex, each.name_regex) if pattern is not None]


def _selectors(mapping: Mapping) -> list[tuple[Selector, int]]:
    """Every selector of a mapping, and in how many others it is."""
    waiting = [*mapping.exclude_spans, *mapping.include_spans]
    waiting += [selector for selectors in mapping.kinds.values() for selector in selectors]
    waiting += [rule.select for rule in mapping.answer if rule.select is not None]
    found = [(selector, 0) for selector in waiting]
    for selector, depth in found:  # which grows on the way
        inner = [*(selector.all or ()), *(selector.any or ()), *([selector.negated] if selector.negated else ())]
        found += [(each, depth + 1) for each in inner]
    return found


def sources_of(part: Any) -> list[Source]:
    """Every source of a mapping, or of a part of one, however deep."""
    if isinstance(part, Source):
        return [part]
    if isinstance(part, list):
        return [source for item in cast("list[Any]", part) for source in sources_of(item)]
    if isinstance(part, msgspec.Struct):
        return [source for name in part.__struct_fields__ for source in sources_of(getattr(part, name))]
    return []
