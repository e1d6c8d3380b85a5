"""How a record becomes a question: what a target may see of it, and how templates are filled with it.

Two things always hold. The reference and whatever else tells the right answer is never seen by a target. And a record's
fields are data: a template is filled once, and what fills it is never read as a template again.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Any
from urllib.parse import quote

import msgspec

from evalsi.core.content import text_of
from evalsi.core.errors import InvalidSpecError, MeasurementError, MissingFieldError
from evalsi.judges.prompt import BareTemplate, numbered, text_at
from evalsi.ports.chat_model import ChatMessage
from evalsi.schema import Content, ErrorKind, Fault, FewShotExample, Message, Record, Target

_ADDRESS_CHARACTERS = "%/:?#[]@!$&'()*+,;="
VISIBLE = ("id", "input", "context", "metadata")
"""Fields of a record that templates may name."""


def visible_values(record: Record) -> dict[str, Any]:
    """What templates may name of a record. A field that the record lacks is absent, not empty."""
    values: dict[str, Any] = {"id": record.id}
    if record.input is not None:
        values["input"] = record.input
    if record.context:
        values["context"] = numbered([text_of(passage) for passage in record.context])
    if record.metadata:
        values["metadata"] = record.metadata
    return values


def visible_record(record: Record) -> Record:
    """The record as a target may see it: id, input, context and metadata."""
    return Record(id=record.id, input=record.input, context=record.context, metadata=record.metadata)


def input_text(record: Record) -> str:
    """The input as text. Raises: MeasurementError: there is none, or it is no text."""
    content = record.input
    if content is None:
        raise MissingFieldError("the record has no input to ask about", fault=Fault.DATASET)
    if content.media is not None or content.tensor is not None:
        form = "a file" if content.media is not None else "an array"
        raise MeasurementError(
            f"the input is {form}, which this target cannot be sent", kind=ErrorKind.INVALID_FIELD, fault=Fault.DATASET
        )
    return text_of(content)


def input_value(record: Record) -> Any:
    """The input as a JSON value: text as a string, a conversation as a list of messages."""
    text = input_text(record)
    content = record.input
    assert content is not None
    if content.text is not None:
        return text
    if content.messages is not None:
        return [plain_message(message) for message in content.messages.messages]
    if content.row is not None:
        return msgspec.to_builtins(content.row)
    return content.json


def plain_message(message: Message) -> dict[str, Any]:
    """A message in the form of OpenAI's chat protocol, which most agents read."""
    plain: dict[str, Any] = {"role": message.role, "content": message.content}
    if message.tool_calls:
        plain["tool_calls"] = [
            {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}
            for call in message.tool_calls
        ]
    if message.tool_call_id:
        plain["tool_call_id"] = message.tool_call_id
    if message.name:
        plain["name"] = message.name
    return plain


def needs_of(names: Iterable[str]) -> frozenset[str]:
    """What a record must have for templates that name these: fields, or `metadata.NAME`. An id is always there."""
    roots = (name.split(".") for name in names)
    return frozenset(".".join(root[:2]) if root[0] == "metadata" else root[0] for root in roots if root[0] != "id")


def record_template(text: str, *, where: str) -> BareTemplate:
    """A template that names fields of a record. Raises: InvalidSpecError: it names something else, e.g. the reference."""
    template = BareTemplate(text, where=where)
    for name in sorted(template.variables):
        root = name.split(".")[0]
        if root not in VISIBLE:
            hidden = root in ("reference", "output", "expected")
            raise InvalidSpecError(
                f"{{{{ {name} }}}} cannot be put into a question"
                + (": the target must not see the right answer" if hidden else ""),
                where=where,
                hint="placeholders are {{ input }}, {{ context }}, {{ id }} and {{ metadata.NAME }}",
            )
    return template


class Conversation:
    """Turns records into messages as a spec says: system prompt, examples, then the input or the templates around it.

    Without templates a text becomes the user's message, and a conversation goes as it is. `prompt` is the template of the
    user's message; examples are put through it when it names nothing but the input. `messages` are templates of the whole
    conversation; examples stand behind its system messages.

    Raises: InvalidSpecError: a template is wrong, or `prompt` and `messages` are both given.
    """

    def __init__(self, spec: Target, *, where: str = "target") -> None:
        if spec.prompt and spec.messages:
            raise InvalidSpecError("prompt and messages are both given", where=where, hint="keep one of them")
        _check_literal(spec.system_prompt, where=f"{where}.system_prompt")
        self._prompt = record_template(spec.prompt, where=f"{where}.prompt") if spec.prompt else None
        self._templates = [
            (message, record_template(message.content, where=f"{where}.messages[{position}].content"))
            for position, message in enumerate(spec.messages)
        ]
        self._before: list[ChatMessage] = []
        if spec.system_prompt:
            self._before.append(ChatMessage(role="system", content=spec.system_prompt))
        self._examples = list(self._shown(spec.few_shot))

    @property
    def needs(self) -> frozenset[str]:
        """What a record must have to be asked about; see `ports.target.Target.needs`."""
        if self._templates:
            return needs_of(name for _, template in self._templates for name in template.variables)
        return frozenset({"input"}) if self._prompt is None else needs_of(self._prompt.variables)

    def messages(self, record: Record) -> tuple[ChatMessage, ...]:
        """The question about one record. Raises: MeasurementError: the record lacks what the question needs."""
        if self._templates:
            return self._filled(record)
        content = record.input
        if self._prompt is None and content is not None and content.messages is not None:
            given = [_chat_message(message) for message in content.messages.messages]
            first = _leading(given)
            return (*self._before, *given[:first], *self._examples, *given[first:])
        text = input_text(record) if self._prompt is None else self._prompted(record)
        return (*self._before, *self._examples, ChatMessage(role="user", content=text))

    def text(self, record: Record) -> str:
        """The question as one text, for targets that take no conversation."""
        messages = self.messages(record)
        return "\n\n".join(message.content for message in messages if message.content)

    def _prompted(self, record: Record) -> str:
        assert self._prompt is not None
        if "input" in self._prompt.variables:
            input_text(record)
        return _filled(self._prompt, visible_values(record))

    def _filled(self, record: Record) -> tuple[ChatMessage, ...]:
        values = visible_values(record)
        filled = [
            ChatMessage(
                role=message.role or "user",
                content=_filled(template, values),
                tool_calls=tuple(message.tool_calls),
                tool_call_id=message.tool_call_id,
                name=message.name,
            )
            for message, template in self._templates
        ]
        first = _leading(filled)
        return (*self._before, *filled[:first], *self._examples, *filled[first:])

    def _shown(self, examples: Iterable[FewShotExample]) -> Iterable[ChatMessage]:
        through = self._prompt is not None and self._prompt.variables == frozenset({"input"})
        for example in examples:
            asked = self._prompt.fill({"input": example.input}) if through and self._prompt else example.input
            yield ChatMessage(role="user", content=asked)
            yield ChatMessage(role="assistant", content=example.output)


Encode = Callable[[Any, bool], str]


class PlacedTemplate:
    """A template whose places are filled in the notation that surrounds them, so that data cannot leave its place.

    `json_body` and `address` make them.
    """

    def __init__(self, pieces: list[tuple[str, str | None, bool]], encode: Encode) -> None:
        self._pieces = pieces
        self._encode = encode

    @property
    def fixed(self) -> str:
        """What stands before the first place."""
        return self._pieces[0][0]

    @property
    def needs(self) -> frozenset[str]:
        """What a record must have: whole, the context and the metadata may also be empty."""
        named = needs_of(name for _, name, _ in self._pieces if name is not None)
        return named - {"context", "metadata"}

    def fill(self, record: Record) -> str:
        """Raises: MeasurementError: the record lacks what a place needs."""
        values = visible_values(record)
        found: list[str] = []
        for literal, name, quoted in self._pieces:
            found.append(literal)
            if name is not None:
                found.append(self._encode(_value_at(record, values, name), quoted))
        return "".join(found)


def json_body(text: str, *, where: str) -> PlacedTemplate:
    """A JSON text with places. Within quotation marks a place takes text, escaped; elsewhere it takes a JSON value.

    `{"q": "About {{ metadata.topic }}: {{ input }}", "messages": {{ input }}}`

    Raises: InvalidSpecError: the text is no JSON, whatever fills it.
    """
    template = record_template(text, where=where)
    pieces: list[tuple[str, str | None, bool]] = []
    quoted = False
    for literal, name in template.pieces:
        quoted = _ends_quoted(literal, quoted)
        pieces.append((literal, name, quoted))
    sample = "".join(literal + ("" if name is None else "x" if inside else "null") for literal, name, inside in pieces)
    try:
        msgspec.json.decode(sample)
    except msgspec.DecodeError as error:
        raise InvalidSpecError(
            f"this is no JSON once it is filled: {error}",
            where=where,
            hint='write it as {"question": {{ input }}} or {"question": "About {{ metadata.topic }}: {{ input }}"}',
        ) from error
    return PlacedTemplate(pieces, _as_json)


def address(text: str, *, where: str) -> PlacedTemplate:
    """A URL with places, which are percent-encoded. Raises: InvalidSpecError: a place stands where the host is decided."""
    template = record_template(text, where=where)
    pieces = [(quote(literal, safe=_ADDRESS_CHARACTERS), name, False) for literal, name in template.pieces]
    start = pieces[0][0]
    if len(pieces) > 1 and "/" not in start.partition("://")[2]:
        raise InvalidSpecError("a record must not decide which host is asked", where=where)
    return PlacedTemplate(pieces, lambda value, _: quote(_as_text(value), safe=""))


def _value_at(record: Record, values: Mapping[str, Any], name: str) -> Any:
    if name == "input":
        return input_value(record)
    if name == "context":
        return [text_of(passage) for passage in record.context]
    if name == "metadata":
        return record.metadata
    return _text_at(values, name) if name == "id" else _json_at(values, name)


def _json_at(values: Mapping[str, Any], name: str) -> Any:
    _text_at(values, name)  # Refuses what is not there, with the names that are.
    found: Any = values
    for key in name.split("."):
        found = found.json[key] if isinstance(found, Content) else found[key]
    return found


def _text_at(values: Mapping[str, Any], name: str) -> str:
    try:
        return text_at(values, name)
    except MissingFieldError as error:
        error.fault = Fault.DATASET
        raise


def _filled(template: BareTemplate, values: Mapping[str, Any]) -> str:
    try:
        return template.fill(values)
    except MissingFieldError as error:
        error.fault = Fault.DATASET
        raise


def _as_json(value: Any, quoted: bool) -> str:
    if not quoted:
        return msgspec.json.encode(value).decode()
    return msgspec.json.encode(_as_text(value)).decode()[1:-1]


def _as_text(value: Any) -> str:
    return value if isinstance(value, str) else msgspec.json.encode(value).decode()


def _ends_quoted(literal: str, quoted: bool) -> bool:
    """Whether a place behind `literal` stands within quotation marks."""
    escaped = False
    for character in literal:
        if escaped:
            escaped = False
        elif quoted and character == "\\":
            escaped = True
        elif character == '"':
            quoted = not quoted
    return quoted


def _leading(messages: list[ChatMessage]) -> int:
    return next(
        (position for position, message in enumerate(messages) if message.role not in ("system", "developer")),
        len(messages),
    )


def _chat_message(message: Message) -> ChatMessage:
    return ChatMessage(
        role=message.role,
        content=message.content,
        tool_calls=tuple(message.tool_calls),
        tool_call_id=message.tool_call_id,
        name=message.name,
    )


def _check_literal(text: str, *, where: str) -> None:
    """A system prompt is sent as it is; whoever puts places into it is told where they belong."""
    if "{{" not in text:
        return
    try:
        names = BareTemplate(text).variables
    except InvalidSpecError:
        return
    for name in sorted(names):
        if name.split(".")[0] in (*VISIBLE, "reference", "output"):
            raise InvalidSpecError(
                f"the system prompt is sent as it is, and holds {{{{ {name} }}}}",
                where=where,
                hint="write it as a message of role system under target.messages",
            )
