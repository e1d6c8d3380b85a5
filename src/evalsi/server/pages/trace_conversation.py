"""A trajectory as a conversation: who said what, what each tool was asked and gave, in whose name. Pure.

Its own module because spans repeat the whole conversation with every call of a model, and a reader wants each line once.
What always holds: a message is shown where it was first said, a call of a tool once with its result, and a step that failed
always.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from msgspec import UNSET

from evalsi.core.content import has_text, json_text, text_of
from evalsi.report.figures import money, seconds
from evalsi.schema import Content, Message, Step, StepType, Trajectory
from evalsi.server.pages.trace_timeline import children_of
from evalsi.traces.step_of_span import SAME_CALL_AS
from evalsi.traces.tool_calls import ABSENT, MadeCall, tool_calls_of
from evalsi.traces.trajectory import root_of

MOST_DEPTH = 6
"""Agents within agents that are indented; deeper ones stand below the last."""
_MESSAGE_KEY_CHARACTERS = 4_000
"""Of a message, what tells it from others: longer ones that begin alike are the same."""


@dataclass(frozen=True, kw_only=True)
class Line:
    """A line of the conversation, with the texts as they are: whoever shows it shortens them."""

    kind: str
    """"message", "call" of a tool, "agent" at work, "search", "check" of a guardrail, or "step": anything else."""
    speaker: str
    """The role, or the name of the tool, agent or step."""
    span_id: str
    depth: int
    """Agents that it is within, the first one left out."""
    text: str = ""
    is_code: bool = False
    """Whether the text is JSON."""
    result: str | None = None
    """What a tool, a search or an agent gave; None where it is not known or stands elsewhere."""
    error: str = ""
    aside: str = ""
    """What else tells speakers apart, such as the model."""
    measured: str = ""
    """Time, tokens and money in a few words."""
    attempt: int = 1
    """Of a call: which try of the same tool in a row it is."""
    is_folded: bool = False


def conversation_of_steps(trajectory: Trajectory) -> list[Line]:
    """The lines, in the order of the tree: what an agent did stands together."""
    root = root_of(trajectory.steps)
    lines = list(_Reading(trajectory, root).lines())
    if root is None or root.type is StepType.LLM:
        return lines
    lines = _asked_first(lines, root)
    answered = text_of(root.output)
    if answered and not any(line.text == answered for line in lines if line.kind == "message"):
        lines.append(Line(kind="message", speaker="answer", span_id=root.span_id, depth=0, text=answered))
    if root.error and not any(line.error for line in lines if line.span_id == root.span_id):
        lines.append(Line(kind="step", speaker=root.name, span_id=root.span_id, depth=0, error=root.error))
    return lines


def measured(step: Step) -> str:
    """Time, tokens and money of a step, each where it is known."""
    parts = [seconds(step.duration)] if step.duration is not None else []
    usage = step.usage
    if usage is not None:
        tokens = [f"{count:,}" for count in (usage.input_tokens, usage.output_tokens) if count is not None]
        parts += [" → ".join(tokens) + " tokens"] if tokens else []
        parts += [money(usage.cost_usd)] if usage.cost_usd is not None else []
    return " · ".join(parts)


def _asked_first(lines: list[Line], root: Step) -> list[Line]:
    """The lines with what the root was asked before what was done for it: a model may be told of it last of all."""
    asked = _asked(root)
    if not asked:
        return lines
    begin = next((at for at, line in enumerate(lines) if not _is_said_by(line, "system")), len(lines))
    before, rest = lines[:begin], lines[begin:]
    wanted = {asked[-1].content.strip(), *_texts_within(root.input)}
    known = next(
        (at for at, line in enumerate(rest) if _is_said_by(line, "user") and line.text.strip() in wanted), None
    )
    if known is not None:  # with what the same step says came before it
        up_to = range(known + 1)
        moved = [at for at in up_to if rest[at].span_id == rest[known].span_id and rest[at].kind == "message"]
        return [*before, *(rest[at] for at in moved), *(line for at, line in enumerate(rest) if at not in moved)]
    is_json = root.input is not None and root.input.json is not UNSET
    if rest and _is_said_by(rest[0], "user") and (is_json or asked[-1].content in rest[0].text):
        return lines
    heard = {line.text for line in before}
    told = [
        Line(kind="message", speaker=said.role, span_id=root.span_id, depth=0, text=said.content)
        for said in asked
        if said.role != "system" or said.content not in heard
    ]
    return [*before, *told, *rest]


def _asked(root: Step) -> list[Message]:
    """What the root was told up to the last words of a person; what an agent did then is shown by its steps."""
    messages = [message for message in _messages(root.input, "user") if message.content and message.role != "tool"]
    last = max((at for at, message in enumerate(messages) if message.role == "user"), default=-1)
    return messages[: last + 1]


def _texts_within(content: Content | None) -> Iterator[str]:
    """The texts at any depth of content that is JSON, such as the arguments of a function."""
    waiting: list[Any] = [] if content is None or content.json is UNSET else [content.json]
    while waiting:
        value = waiting.pop()
        if isinstance(value, str) and value.strip():
            yield value.strip()
        waiting += value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()


def _is_said_by(line: Line, speaker: str) -> bool:
    return line.kind == "message" and line.speaker == speaker and line.depth == 0


@dataclass(frozen=True)
class _Place:
    """A step within the tree."""

    index: int
    depth: int
    agent: int
    """Index of the agent it is within; -1 for none."""


@dataclass
class _Scope:
    """What one agent has heard and said so far."""

    heard: Counter[Any] = field(default_factory=Counter[Any])
    last_call: Line | None = None


class _Reading:
    def __init__(self, trajectory: Trajectory, root: Step | None) -> None:
        self._root = root
        self._steps = trajectory.steps
        self._order = list(_in_order(trajectory.steps))
        self._calls: dict[int, list[MadeCall]] = {}
        for call in tool_calls_of(trajectory):
            self._calls.setdefault(call.ran_by if call.ran_by is not None else call.step, []).append(call)
        self._scopes: dict[int, _Scope] = {}
        self._speaking = {
            at.agent
            for at in self._order
            if self._steps[at.index].type is StepType.LLM and self._steps[at.index].output
        }

    def lines(self) -> Iterator[Line]:
        for at in self._order:
            yield from self._of(self._steps[at.index], at)

    def _of(self, step: Step, at: _Place) -> Iterator[Line]:
        match step.type:
            case StepType.LLM:
                yield from self._model(step, at)
            case StepType.TOOL:
                yield from (self._call(call, step, at) for call in self._calls.get(at.index, []))
            case StepType.AGENT if step is self._root:
                return
            case StepType.AGENT:
                says = at.index in self._speaking
                result = None if says or not has_text(step.output) else text_of(step.output)
                yield self._plain("agent", step, at, text=text_of(step.input), result=result, is_folded=True)
            case StepType.RETRIEVAL:
                yield self._plain("search", step, at, text=text_of(step.input), result=_passages(step.output))
            case StepType.USER:
                yield self._plain("message", step, at, speaker="user", text=text_of(step.output or step.input))
            case StepType.GUARDRAIL:
                yield self._plain("check", step, at, text=text_of(step.output))
            case StepType.HANDOFF:
                yield self._plain("step", step, at, text=text_of(step.output or step.input), aside="handed over")
            case _ if step is self._root or (not step.error and (SAME_CALL_AS in step.attributes or not _holds(step))):
                return
            case _:
                result = text_of(step.output) if has_text(step.output) else None
                yield self._plain("step", step, at, text=text_of(step.input), result=result, is_folded=True)

    def _plain(self, kind: str, step: Step, at: _Place, **about: Any) -> Line:
        told: dict[str, Any] = {
            "speaker": step.name or str(step.type),
            "error": step.error,
            "measured": measured(step),
            **about,
        }
        return Line(kind=kind, span_id=step.span_id, depth=at.depth, **told)

    def _model(self, step: Step, at: _Place) -> Iterator[Line]:
        scope = self._scopes.setdefault(at.agent, _Scope())
        yield from (_said(message, step, at) for message in _news(scope, _messages(step.input, "user")))
        answered = _messages(step.output, "assistant")
        for message in answered:
            scope.heard[_key(message)] += 1
        text = "\n\n".join(message.content for message in answered if message.content)
        asked = [call for message in answered for call in message.tool_calls]
        names = ", ".join(dict.fromkeys(call.name for call in asked))
        yield self._plain(
            "message" if text or step.error else "step",
            step,
            at,
            speaker="assistant",
            text=text,
            aside=f"{step.name} calls {names}" if names and not text else step.name,
        )
        # Calls that a step of their own shows running stand there.
        yield from (self._call(call, step, at) for call in self._calls.get(at.index, []))

    def _call(self, call: MadeCall, step: Step, at: _Place) -> Line:
        scope = self._scopes.setdefault(at.agent, _Scope())
        before = scope.last_call
        again = before is not None and before.speaker == call.name and bool(before.error)
        line = Line(
            kind="call",
            speaker=call.name,
            span_id=step.span_id,
            depth=at.depth,
            text="" if call.arguments is ABSENT or call.arguments == {} else json_text(call.arguments),
            is_code=not isinstance(call.arguments, str),
            result=None if call.result is ABSENT else json_text(call.result),
            error=call.error,
            measured=measured(step) if call.ran else "",
            attempt=before.attempt + 1 if again and before is not None else 1,
        )
        scope.last_call = line
        return line


def _holds(step: Step) -> bool:
    """Whether it says anything; what only took time stands in the timeline."""
    return has_text(step.input) or has_text(step.output)


def _in_order(steps: Sequence[Step]) -> Iterator[_Place]:
    """Every step after the one it belongs to, those that started earlier first."""
    children = children_of(steps)
    outermost = next((index for index, step in enumerate(steps) if step.type is StepType.AGENT), -1)
    waiting = [_Place(index, 0, -1) for index in reversed(children.get(-1, []))]
    while waiting:
        at = waiting.pop()
        yield at
        is_agent = steps[at.index].type is StepType.AGENT
        deeper = is_agent and at.index != outermost
        depth = min(at.depth + deeper, MOST_DEPTH)
        agent = at.index if is_agent else at.agent
        waiting += [_Place(child, depth, agent) for child in reversed(children.get(at.index, []))]


def _news(scope: _Scope, messages: Sequence[Message]) -> Iterator[Message]:
    """The messages that this agent has not heard; the answers of tools stand with their calls."""
    now = Counter[Any]()
    for message in messages:
        key = _key(message)
        now[key] += 1
        if now[key] > scope.heard[key] and message.role != "tool":
            yield message
    scope.heard |= now


def _said(message: Message, step: Step, at: _Place) -> Line:
    names = ", ".join(call.name for call in message.tool_calls)
    return Line(
        kind="message",
        speaker=message.role or "message",
        span_id=step.span_id,
        depth=at.depth,
        text=message.content,
        aside=f"calls {names}" if names else message.name,
        is_folded=message.role == "system",
    )


def _key(message: Message) -> Any:
    """What makes two records of a message one: of calls, which they are; else who said what."""
    calls = tuple(call.id or call.name for call in message.tool_calls)
    return calls or (message.role, message.tool_call_id, message.content[:_MESSAGE_KEY_CHARACTERS])


def _messages(content: Content | None, role: str) -> list[Message]:
    if content is None:
        return []
    if content.messages is not None:
        return content.messages.messages
    text = text_of(content)
    return [Message(role=role, content=text)] if text else []


def _passages(content: Content | None) -> str | None:
    if content is None:
        return None
    found: Any = content.json
    if not isinstance(found, list):
        return text_of(content)
    texts: list[str] = []
    for item in found:  # pyright: ignore[reportUnknownVariableType]
        value: Any = item.get("content", item) if isinstance(item, dict) else item  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]
        texts.append(json_text(value))
    return "\n\n".join(texts)
