"""One span as one step of a trajectory, by whichever conventions it follows. Pure; a span of no convention is generic.

Every raw attribute is kept. What we add beside them begins with `evalsi.`, except `tool_call_id`, by which calls of tools
are joined wherever a trajectory came from.
"""

import json
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, cast

import msgspec

from evalsi.judges.prices import PriceTable
from evalsi.schema import Content, Message, Messages, Step, StepType, Usage
from evalsi.traces.conversation import conversation_of, has_gap
from evalsi.traces.json_in_text import decoded, is_cut_json
from evalsi.traces.mapping import KINDS, Mapping, Source
from evalsi.traces.source_reading import SpanInTrace, first_value, matches
from evalsi.traces.span import Span

_TYPES = {
    "llm": StepType.LLM,
    "tool": StepType.TOOL,
    "retrieval": StepType.RETRIEVAL,
    "embedding": StepType.EMBEDDING,
    "guardrail": StepType.GUARDRAIL,
    "handoff": StepType.HANDOFF,
    "agent": StepType.AGENT,
    "user": StepType.USER,
    "generic": StepType.GENERIC,
}
_MAX_TOKENS = 2**53
_INDEXED = ("llm.input_messages", "llm.output_messages", "gen_ai.prompt", "gen_ai.completion")
_MOST_USD = 10_000.0
"""No single model call costs more. A larger figure is a count of tokens under the key of a cost."""

MODEL = "evalsi.model"
"""Attribute of a step with the model that was asked."""
RESPONSE_ID = "evalsi.response_id"
MAPPING = "evalsi.mapping"
"""Attribute of a step with the convention that told its kind, as `name@revision`."""
FLAGS = "evalsi.flags"
"""Attribute of a step with what is odd about its span, as a list of words."""
TOOL_CALL_ID = "tool_call_id"


@dataclass(frozen=True)
class _Reader:
    """What the mappings say about one span: for each field, the first source of the first mapping that has a value."""

    at: SpanInTrace
    mappings: Sequence[Mapping]

    def first(self, sources_of: Callable[[Mapping], Sequence[Source]]) -> Any:
        for mapping in self.mappings:
            sources = sources_of(mapping)
            value = first_value(sources, self.at) if sources else None
            if value is not None:
                return value
        return None

    def messages(self, sources_of: Callable[[Mapping], Sequence[Source]], role: str) -> list[Message]:
        """The first conversation that can be read: a source may hold something that is none."""
        for mapping in self.mappings:
            for source in sources_of(mapping):
                read = conversation_of(first_value([source], self.at), role)
                if read:
                    return read
        return []

    def text(self, sources_of: Callable[[Mapping], Sequence[Source]]) -> str:
        value = self.first(sources_of)
        return value if isinstance(value, str) else "" if value is None else json.dumps(value, ensure_ascii=False)

    def count(self, sources_of: Callable[[Mapping], Sequence[Source]]) -> int | None:
        return count_of(self.first(sources_of))


def step_of_span(at: SpanInTrace, mappings: Sequence[Mapping], prices: PriceTable) -> Step:
    """The step.

    Args:
        at: The span and what stands above it.
        mappings: Those that may apply, in the order they are tried.
        prices: What tokens cost; a model that is not in it costs an unknown amount, never 0.
    """
    kind, told_by = _kind(at.span, mappings)
    ordered = [told_by, *(mapping for mapping in mappings if mapping is not told_by)] if told_by else mappings
    reader = _Reader(at, ordered)
    span = at.span
    flags = _flags(span)
    added: dict[str, Any] = {MAPPING: f"{told_by.name}@{told_by.revision}"} if told_by else {}
    usage: Usage | None = None
    match kind:
        case "llm" | "embedding":
            name, given, said, usage = _llm(reader, prices, added, flags, span)
        case "tool":
            name, given, said = _tool(reader, added)
        case "retrieval":
            name, given, said = "", content_of(reader.first(lambda m: m.retrieval.query)), _passages(reader)
            said = said or content_of(reader.first(lambda m: m.values.output))
        case _:
            name = reader.text(lambda m: m.agent.name) if kind == "agent" else ""
            given = content_of(reader.first(lambda m: m.values.input), "user")
            said = content_of(reader.first(lambda m: m.values.output), "assistant")
    if flags:
        added[FLAGS] = flags
    start, end = span.start_ns, max(span.start_ns, span.end_ns)
    return Step(
        span_id=span.span_id,
        parent_span_id=span.parent_span_id,
        type=_TYPES[kind],
        name=name or span.name,
        input=given,
        output=said,
        start_time=moment(start),
        end_time=moment(end) if span.end_ns else None,
        usage=usage,
        error=_error(span, reader if kind == "tool" else None),
        attributes={**span.attributes, **added},
        duration=(end - start) / 1e9 if start and span.end_ns else None,
    )


def content_of(value: Any, role: str = "") -> Content | None:
    """A value of an attribute as content: a conversation where it is one, text, else JSON. None for nothing.

    Args:
        role: Who would have said it, where a conversation is looked for; empty: none is.
    """
    value = decoded(value)
    if value is None or value == "":
        return None
    if isinstance(value, str):
        return Content(text=value)
    if role and _is_conversation(value):
        messages = conversation_of(value, role)
        if messages:
            return said(messages)
    return Content(json=value)


def said(messages: list[Message]) -> Content:
    """A conversation; one message of plain text is its text."""
    if len(messages) == 1 and not messages[0].tool_calls and messages[0].role in ("user", "assistant"):
        return Content(text=messages[0].content)
    return Content(messages=Messages(messages=messages))


def moment(nanoseconds: int) -> datetime | None:
    """Nanoseconds since 1970 as a moment, to the microsecond; None for 0 or a year beyond 9999."""
    if nanoseconds <= 0:
        return None
    try:
        return datetime.fromtimestamp(0, UTC) + timedelta(microseconds=nanoseconds // 1000)
    except OverflowError:
        return None


def count_of(value: Any) -> int | None:
    """A count of tokens, also one written as text or as 12.0; None for what is none."""
    if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) <= 16:
        value = int(value)
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    sound = isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= _MAX_TOKENS
    return cast("int", value) if sound else None


def _kind(span: Span, mappings: Sequence[Mapping]) -> tuple[str, Mapping | None]:
    for mapping in mappings:
        for kind in KINDS:
            if any(matches(selector, span) for selector in mapping.kinds.get(kind, ())):
                return kind, mapping
    return "generic", None


def _llm(
    reader: _Reader, prices: PriceTable, added: dict[str, Any], flags: list[str], span: Span
) -> tuple[str, Content | None, Content | None, Usage | None]:
    model = reader.text(lambda m: m.llm.model)
    response_model = reader.text(lambda m: m.llm.response_model)
    response_id = reader.text(lambda m: m.llm.response_id)
    if model or response_model:
        added[MODEL] = model or response_model
    if response_id:
        added[RESPONSE_ID] = response_id
    asked = reader.messages(lambda m: m.llm.input_messages, "user")
    system = conversation_of(reader.first(lambda m: m.llm.system), "system")
    if system and not any(message.role == "system" for message in asked):
        asked = [*(Message(role="system", content=message.content) for message in system), *asked]
    answered = reader.messages(lambda m: m.llm.output_messages, "assistant")
    if not any(message.tool_calls for message in answered):
        answered = _with_calls(answered, _calls_apart(reader))
    usage, odd = _usage(reader, prices, response_model, model)
    flags += odd
    given = Content(messages=Messages(messages=asked)) if asked else content_of(reader.first(lambda m: m.values.input))
    return model or response_model, given, said(answered) if answered else _unread_output(reader, span), usage


def _calls_apart(reader: _Reader) -> list[Message]:
    """The messages of calls that stand beside the answer: a list of calls, or messages that hold them."""
    value: Any = decoded(reader.first(lambda m: m.llm.output_tool_calls))
    if not isinstance(value, list):
        return []
    items = cast("list[Any]", value)
    holds = any(
        isinstance(item, dict) and not {"tool_calls", "function_call"}.isdisjoint(cast("dict[str, Any]", item))
        for item in items
    )
    read = conversation_of(items if holds else [{"role": "assistant", "tool_calls": items}], "assistant")
    return [message for message in read if message.tool_calls]


def _with_calls(answered: list[Message], called: list[Message]) -> list[Message]:
    if not answered or not called:
        return answered or called
    text = "\n".join(message.content for message in answered if message.content)
    return [Message(role="assistant", content=text, tool_calls=[call for each in called for call in each.tool_calls])]


def _unread_output(reader: _Reader, span: Span) -> Content | None:
    """What a model call gave where its messages cannot be read; nothing for a call that failed."""
    return None if span.is_error else content_of(reader.first(lambda m: m.values.output))


def _usage(reader: _Reader, prices: PriceTable, *models: str) -> tuple[Usage | None, list[str]]:
    """Tokens and cost. `input_tokens` includes cached ones; a sender that counts them apart is found out where it can be."""
    flags: list[str] = []

    def of(field: str) -> int | None:
        return reader.count(lambda m: getattr(m.llm.usage, field))

    prompt, completion, reasoning = of("prompt"), of("completion"), of("reasoning")
    cached, written = of("cached"), of("cache_write")
    apart = (cached or 0) + (written or 0)
    if prompt is not None and apart > prompt:
        prompt += apart
        flags.append("cached tokens counted apart from input tokens")
    cost = reader.first(lambda m: m.llm.usage.cost)
    reported: float | None = None
    if isinstance(cost, int | float) and not isinstance(cost, bool) and math.isfinite(cost) and cost >= 0:
        if cost <= _MOST_USD and (cost == 0 or cost != (prompt or 0) + (completion or 0)):
            reported = float(cost)
        else:
            flags.append("a cost that is no cost")
    if prompt is None and completion is None and reported is None:
        return None, flags
    usage = Usage(
        input_tokens=prompt,
        output_tokens=completion,
        cost_usd=reported,
        cached_input_tokens=cached,
        cache_write_tokens=written,
        reasoning_tokens=reasoning,
        requests=1,
    )
    known = [model for model in models if model and prices.find(model) is not None]
    usd = prices.cost(known[0] if known else "", usage).usd
    priced = {"cost_usd": usd, "unpriced_requests": 0 if usd is not None else 1}
    return msgspec.structs.replace(usage, **priced), flags


def _tool(reader: _Reader, added: dict[str, Any]) -> tuple[str, Content | None, Content | None]:
    call_id = reader.text(lambda m: m.tool.call_id)
    if call_id:
        added[TOOL_CALL_ID] = call_id
    arguments = content_of(_by_name(decoded(reader.first(lambda m: m.tool.arguments))))
    result = content_of(reader.first(lambda m: m.tool.result))
    return reader.text(lambda m: m.tool.name), arguments, result


def _by_name(arguments: Any) -> Any:
    """The arguments of a Python function by name, where a library records {"args": [], "kwargs": {…}}."""
    if isinstance(arguments, dict):
        fields = cast("dict[str, Any]", arguments)
        if set(fields) == {"args", "kwargs"} and not fields["args"] and isinstance(fields["kwargs"], dict):
            return cast("Any", fields["kwargs"])
    return cast("Any", arguments)


def _passages(reader: _Reader) -> Content | None:
    """The documents that a search gave, in their order."""
    documents: Any = reader.first(lambda m: m.retrieval.documents)
    if isinstance(documents, dict):
        inner = cast("dict[str, Any]", documents)
        documents = next(
            (inner[key] for key in ("documents", "results", "data") if isinstance(inner.get(key), list)), None
        )
    if not isinstance(documents, list) or not documents:
        return None
    return Content(json=[_passage(item) for item in cast("list[Any]", documents)])


def _passage(item: Any) -> Any:
    """A document without the wrapping and the prefixes that its convention puts around its fields."""
    if not isinstance(item, dict):
        return item
    fields = cast("dict[str, Any]", item)
    inner: Any = fields.get("document", fields)
    document = cast("dict[str, Any]", inner) if isinstance(inner, dict) else {"content": inner}
    content = next((document[key] for key in ("content", "page_content", "text") if document.get(key)), None)
    rest = {key: value for key, value in document.items() if key not in ("content", "page_content", "text")}
    return {**({"content": content} if content is not None else {}), **rest}


def _error(span: Span, tool: _Reader | None) -> str:
    told = tool.text(lambda m: m.tool.error) if tool is not None else ""
    if not span.is_error:
        return told
    thrown = [event.attributes for event in span.events if event.name == "exception"]
    kind = span.attributes.get("error.type", thrown[-1].get("exception.type") if thrown else None)
    message = span.status_message or (thrown[-1].get("exception.message") if thrown else None)
    parts = [str(part) for part in (kind, message or told) if part]
    return ": ".join(dict.fromkeys(parts)) or "the span ended in an error"


def _flags(span: Span) -> list[str]:
    flags: list[str] = []
    if span.end_ns and span.end_ns < span.start_ns:
        flags.append("ended before it started")
    if span.dropped_attributes or any(has_gap(span.attributes, prefix) for prefix in _INDEXED):
        flags.append("attributes are missing")
    if any(is_cut_json(value) for value in span.attributes.values()):
        flags.append("a value is cut")
    return flags


def _is_conversation(value: Any) -> bool:
    """Whether a value has the marks of messages: roles, parts, or a known request or reply around them."""
    if isinstance(value, list):
        items = cast("list[Any]", value)
        return bool(items) and all(_is_conversation(item) for item in items)
    if not isinstance(value, dict):
        return False
    fields = cast("dict[str, Any]", value)
    if fields.get("lc") == 1 and isinstance(fields.get("kwargs"), dict):
        return True
    listed = any(isinstance(fields.get(key), list) for key in ("messages", "choices", "generations"))
    talks = isinstance(fields.get("role"), str) and not fields.keys().isdisjoint(("content", "parts", "tool_calls"))
    return listed or talks or "event.name" in fields
