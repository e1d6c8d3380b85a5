"""One span as one step of a trajectory, by whichever conventions it follows. Pure; a span of no convention is generic.

Every raw attribute is kept. What we add beside them begins with `evalsi.`, except `tool_call_id`, by which calls of tools
are joined wherever a trajectory came from.
"""

import json
import math
import re
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, cast

import msgspec

from evalsi.core.content import text_of
from evalsi.judges.prices import PriceTable
from evalsi.schema import Content, Message, Messages, Step, StepType, Usage
from evalsi.traces.conversation import conversation_of, plain_turns
from evalsi.traces.json_in_text import decoded, is_cut_json
from evalsi.traces.mapping import Mapping, Source, UsageSources
from evalsi.traces.source_reading import SpanInTrace, first_value, matches, value_of
from evalsi.traces.span import STATUS_ERROR, Span
from evalsi.traces.span_conventions import SpanConventions, ToldKind
from evalsi.traces.tool_result import unwrapped_result

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
_EPOCH, _MICROSECOND = datetime(1970, 1, 1, tzinfo=UTC), timedelta(microseconds=1)
_MAX_TOKENS = 2**53
_MOST_KNOWN = 512
_DECIMAL = re.compile(r"[0-9]{1,9}(\.[0-9]{1,30})?")
_MOST_USD = 10_000.0
"""No single model call costs more. A larger figure is a count of tokens under the key of a cost."""

MODEL = "evalsi.model"
"""Attribute of a step with the model that was asked."""
RESPONSE_ID = "evalsi.response_id"
MAPPING = "evalsi.mapping"
"""Attribute of a step with the convention that told its kind, as `name@revision`."""
FLAGS = "evalsi.flags"
"""Attribute of a step with what is odd about its span, as a list of words."""
SPAN_NAME = "evalsi.span_name"
"""Attribute of a step with the name of its span, where the step has a name of its own."""
TOOL_CALL_ID = "tool_call_id"
SAME_CALL_AS = "evalsi.same_call_as"
"""Attribute of a step that records the same call of a model or tool as another step, which it names and which counts."""


def step_of_span(at: SpanInTrace, conventions: SpanConventions, prices: PriceTable) -> Step:
    """The step.

    Args:
        at: The span and what stands above it.
        conventions: Those that may apply.
        prices: What tokens cost; a model that is not in it costs an unknown amount, never 0.
    """
    span = at.span
    kind, says, told_by = _kind(span, conventions)
    flags = _flags(span, conventions)
    added: dict[str, Any] = {MAPPING: told_by} if told_by else {}
    usage: Usage | None = None
    told = ""
    match kind:
        case "llm" | "embedding":
            name, given, said, usage = _llm(at, says, prices, added, flags)
        case "tool":
            name, given, said, told = _tool(at, says, added)
        case "retrieval":
            name, given, said = "", content_of(first_value(says.retrieval.query, at)), _passages(at, says)
            said = said or content_of(first_value(says.values.output, at))
        case _:
            name = _text({"agent": says.agent.name, "handoff": says.agent.handed_to}.get(kind, []), at)
            given = _content(says.values.input, at, "user")
            said = _content(says.values.output, at, "assistant")
    if flags:
        added[FLAGS] = flags
    if name and name != span.name:
        added[SPAN_NAME] = span.name
    start, end = span.start_ns, span.end_ns
    ended = max(start, end) if end else 0
    return Step(
        span_id=span.span_id,
        parent_span_id=span.parent_span_id,
        type=_TYPES[kind],
        name=name or span.name,
        input=given,
        output=said,
        start_time=moment(start),
        end_time=moment(ended),
        usage=usage,
        error=(_failure(span, told) if span.status_code == STATUS_ERROR else told)
        or (_refusal(span.attributes) if kind in ("llm", "tool") else ""),
        attributes={**span.attributes, **added},
        duration=(ended - start) / 1e9 if start and end else None,
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
    try:
        return _EPOCH + nanoseconds // 1000 * _MICROSECOND if nanoseconds > 0 else None
    except OverflowError:
        return None


def count_of(value: Any) -> int | None:
    """A count of tokens, also one written as text or as 12.0; None for what is none."""
    if isinstance(value, str):
        value = int(value) if value.isascii() and value.isdigit() and len(value) <= 16 else None
    elif isinstance(value, float):
        value = int(value) if value.is_integer() else None
    elif not isinstance(value, int) or isinstance(value, bool):
        return None
    return value if value is not None and 0 <= value <= _MAX_TOKENS else None


def _kind(span: Span, conventions: SpanConventions) -> ToldKind:
    """The kind, and the mapping that told it. An app's spans have few kinds, which are told once each."""
    known = conventions.told_kinds
    asked = tuple(map(span.attributes.get, conventions.kinds_ask))
    if conventions.kinds_ask_names:
        asked = (span.name, span.scope_name, *asked)
    try:
        found = known.get(asked)
    except TypeError:  # a list, say
        return _told_kind(span, conventions)
    if found is None:
        found = _told_kind(span, conventions)
        if len(known) >= _MOST_KNOWN:
            known.clear()
        known[asked] = found
    return found


def _told_kind(span: Span, conventions: SpanConventions) -> ToldKind:
    for place, mapping in enumerate(conventions.mappings):
        for kind, selectors in mapping.kinds.items():
            for selector in selectors:
                if matches(selector, span):
                    return ToldKind(kind, conventions.led_by(place), f"{mapping.name}@{mapping.revision}")
    return ToldKind("generic", conventions.whole)


def _text(sources: Sequence[Source], at: SpanInTrace) -> str:
    """The first value, as text."""
    value = first_value(sources, at)
    return value if isinstance(value, str) else "" if value is None else json.dumps(value, ensure_ascii=False)


def _content(sources: Sequence[Source], at: SpanInTrace, role: str) -> Content | None:
    """The first value, as content; `role` as for `content_of`."""
    if not sources:
        return None
    turns = plain_turns(at.span.attributes.get(sources[0].whole_attr or ""))
    return said(turns) if turns else content_of(first_value(sources, at), role)


def _messages(sources: Sequence[Source], at: SpanInTrace, role: str) -> list[Message]:
    """The first conversation that can be read: a source may hold something that is none."""
    for source in sources:
        turns = plain_turns(at.span.attributes.get(source.whole_attr or ""))
        if turns:
            return turns
        value = value_of(source, at)
        read = conversation_of(value, role) if value is not None else ()
        if read:
            return read
    return []


def _talk(sources: Sequence[Source], at: SpanInTrace, role: str) -> list[Message]:
    """The first value that is a conversation through and through, where it might be anything else."""
    if not sources:
        return []
    value = decoded(first_value(sources, at))
    return conversation_of(value, role) if _is_conversation(value) else []


def _llm(
    at: SpanInTrace, says: Mapping, prices: PriceTable, added: dict[str, Any], flags: list[str]
) -> tuple[str, Content | None, Content | None, Usage | None]:
    llm, values = says.llm, says.values
    model = _text(llm.model, at) if llm.model else ""
    response_model = _text(llm.response_model, at) if llm.response_model else ""
    response_id = _text(llm.response_id, at) if llm.response_id else ""
    if model or response_model:
        added[MODEL] = model or response_model
    if response_id:
        added[RESPONSE_ID] = response_id
    asked = _messages(llm.input_messages, at, "user") or _talk(values.input, at, "user")
    plain = None if asked else content_of(first_value(values.input, at))
    system = conversation_of(first_value(llm.system, at), "system") if llm.system else []
    if system and plain is not None:
        asked = [Message(role="user", content=text_of(plain))]
    if system and not any(message.role == "system" for message in asked):
        asked = [*(Message(role="system", content=message.content) for message in system), *asked]
    answered = _messages(llm.output_messages, at, "assistant")
    if not answered and not at.span.is_error:
        answered = _talk(values.output, at, "assistant")
    if llm.output_tool_calls and not any(message.tool_calls for message in answered):
        answered = _with_calls(answered, _calls_apart(at, says))
    usage, odd = _usage(at, llm.usage, prices, response_model, model)
    flags += odd
    given = Content(messages=Messages(messages=asked)) if asked else plain
    return model or response_model, given, said(answered) if answered else _unread_output(at, says), usage


def _calls_apart(at: SpanInTrace, says: Mapping) -> list[Message]:
    """The messages of calls that stand beside the answer: a list of calls, or messages that hold them."""
    value: Any = decoded(first_value(says.llm.output_tool_calls, at))
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


def _unread_output(at: SpanInTrace, says: Mapping) -> Content | None:
    """What a model call gave where its messages cannot be read; nothing for a call that failed."""
    return None if at.span.is_error else content_of(first_value(says.values.output, at))


def _usage(at: SpanInTrace, says: UsageSources, prices: PriceTable, *models: str) -> tuple[Usage | None, list[str]]:
    """Tokens and cost. `input_tokens` includes cached ones; a sender that counts them apart is found out where it can be."""
    flags: list[str] = []
    # Most say little, and to look whether there is a source takes a tenth of a call.
    prompt = count_of(first_value(says.prompt, at)) if says.prompt else None
    completion = count_of(first_value(says.completion, at)) if says.completion else None
    reasoning = count_of(first_value(says.reasoning, at)) if says.reasoning else None
    cached = count_of(first_value(says.cached, at)) if says.cached else None
    written = count_of(first_value(says.cache_write, at)) if says.cache_write else None
    apart = (cached or 0) + (written or 0)
    uncached = count_of(first_value(says.uncached, at)) if says.uncached and prompt is None else None
    if uncached is not None:
        prompt = uncached + apart
    elif prompt is not None and apart > prompt:
        prompt += apart
        flags.append("cached tokens counted apart from input tokens")
    cost = first_value(says.cost, at) if says.cost else None
    reported: float | None = None
    if isinstance(cost, str) and _DECIMAL.fullmatch(cost):
        cost = float(cost)
    if (
        cost is not None
        and isinstance(cost, int | float)
        and not isinstance(cost, bool)
        and math.isfinite(cost)
        and cost >= 0
    ):
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
        unpriced_requests=0 if reported is not None else 1,
    )
    for model in models:
        if model and prices.find(model) is not None:
            usd = prices.cost(model, usage).usd
            if usd is not None and usd != reported:
                usage = msgspec.structs.replace(usage, cost_usd=usd, unpriced_requests=0)
            break
    return usage, flags


def _tool(at: SpanInTrace, says: Mapping, added: dict[str, Any]) -> tuple[str, Content | None, Content | None, str]:
    tool = says.tool
    call_id = _text(tool.call_id, at) if tool.call_id else ""
    if call_id:
        added[TOOL_CALL_ID] = call_id
    result = unwrapped_result(first_value(tool.result, at))
    if result.call_id:
        added.setdefault(TOOL_CALL_ID, result.call_id)
    told = (_text(tool.error, at) if tool.error else "") or (str(result.value) if result.is_error else "")
    given = content_of(_arguments(at, says)) if tool.arguments else None
    return _text(tool.name, at), given, content_of(result.value), told


def _arguments(at: SpanInTrace, says: Mapping) -> Any:
    """The first value that can be what a tool was called with: an object where there is one, and never a schema of it."""
    found: Any = None
    for source in says.tool.arguments:
        value = _by_name(decoded(value_of(source, at)))
        if isinstance(value, dict) and not _is_schema(cast("dict[str, Any]", value)):
            return cast("Any", value)
        found = value if found is None and not isinstance(value, dict) else found
    return found


def _is_schema(value: dict[str, Any]) -> bool:
    """Whether an object says which arguments a tool takes; some libraries put that beside what they were."""
    return value.get("type") == "object" and isinstance(value.get("properties"), dict)


def _by_name(arguments: Any) -> Any:
    """The arguments of a Python function by name, where a library records {"args": [], "kwargs": {…}} or the latter alone."""
    if isinstance(arguments, dict):
        fields = cast("dict[str, Any]", arguments)
        if (
            fields.keys() in ({"args", "kwargs"}, {"kwargs"})
            and not fields.get("args")
            and isinstance(fields["kwargs"], dict)
        ):
            return cast("Any", fields["kwargs"])
    return cast("Any", arguments)


def _passages(at: SpanInTrace, says: Mapping) -> Content | None:
    """The documents that a search gave, in their order."""
    documents: Any = first_value(says.retrieval.documents, at)
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


def _failure(span: Span, told: str) -> str:
    """Why a span that failed did. `told`: what a tool gave as its error."""
    thrown = [event.attributes for event in span.events if event.name == "exception"]
    kind = span.attributes.get("error.type", thrown[-1].get("exception.type") if thrown else None)
    message = span.status_message or (thrown[-1].get("exception.message") if thrown else None)
    parts = [str(part) for part in (kind, message or told) if part]
    return ": ".join(dict.fromkeys(parts)) or "the span ended in an error"


def _refusal(attributes: dict[str, Any]) -> str:
    """What a gateway tells of a call that was refused, whose span it does not mark as failed."""
    status = attributes.get("http.status", attributes.get("http.response.status_code"))
    return f"HTTP status {status}" if isinstance(status, int) and 400 <= status < 600 else ""


def _flags(span: Span, conventions: SpanConventions) -> list[str]:
    flags: list[str] = []
    if span.end_ns and span.end_ns < span.start_ns:
        flags.append("ended before it started")
    if span.dropped_attributes or conventions.has_gap:
        flags.append("attributes are missing")
    for value in span.attributes.values():
        if isinstance(value, str) and not value[:1].isalnum() and is_cut_json(value):
            flags.append("a value is cut")
            break
    return flags


def _is_conversation(value: Any) -> bool:
    """Whether a value has the marks of messages: roles, parts, or a known request or reply around them."""
    if value is None or isinstance(value, str):
        return False
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
