"""A trajectory written out for a judge: what was asked, each step, what came of it; long ones without their middle."""

from collections.abc import Sequence

from evalsi.core.content import json_text, text_of
from evalsi.schema import Content, Record, Step, StepType

_STEP_CHARS = 4_000
_MOST_CHARS = 60_000
_NAMES = {
    StepType.LLM: "model",
    StepType.TOOL: "tool",
    StepType.RETRIEVAL: "search",
    StepType.AGENT: "agent",
    StepType.HANDOFF: "hand-over to",
    StepType.USER: "user",
    StepType.GUARDRAIL: "guardrail",
}


def transcript_of(record: Record) -> str:
    """The steps of a record, one paragraph each; "" when there is none worth showing."""
    steps = record.trajectory.steps if record.trajectory is not None else []
    return shortened([text for step in steps if (text := _step(step))])


def conversation_of_session(records: Sequence[Record]) -> str:
    """The turns of a session: what each record was given and what it answered, in order."""
    turns: list[str] = []
    for record in records:
        for speaker, content in (("user", record.input), ("assistant", record.output)):
            text = text_of(content)
            if text:
                turns.append(f"{speaker}: {_cut(text)}")
    return shortened(turns)


def shortened(paragraphs: Sequence[str]) -> str:
    """The paragraphs, numbered; of very many the first and the last, with a line that says how many are left out."""
    lines = [f"{number}. {text}" for number, text in enumerate(paragraphs, 1)]
    if sum(map(len, lines)) <= _MOST_CHARS:
        return "\n\n".join(lines)
    first: list[str] = []
    last: list[str] = []
    left = _MOST_CHARS
    start, end = 0, len(lines)
    while start < end and left > 0:
        first.append(lines[start])
        left -= len(lines[start])
        start += 1
        if start < end and left > 0:
            end -= 1
            last.insert(0, lines[end])
            left -= len(lines[end])
    return "\n\n".join([*first, f"[{end - start} steps left out]", *last] if end > start else [*first, *last])


def _step(step: Step) -> str:
    name = _NAMES.get(step.type)
    if name is None:
        return ""
    parts = [f"{name} {step.name}".strip()]
    if step.type in (StepType.TOOL, StepType.RETRIEVAL) and step.input is not None:
        parts.append(f"given: {_cut(text_of(step.input))}")
    said = _said(step.output)
    if said:
        parts.append(f"{'result' if step.type is StepType.TOOL else 'says'}: {_cut(said)}")
    if step.error:
        parts.append(f"failed: {_cut(step.error)}")
    return "\n".join(parts) if len(parts) > 1 or step.type is StepType.HANDOFF else ""


def _said(content: Content | None) -> str:
    if content is None or content.messages is None:
        return text_of(content)
    lines: list[str] = []
    for message in content.messages.messages:
        lines += [message.content] if message.content else []
        lines += [f"calls {call.name}({json_text(call.arguments)})" for call in message.tool_calls]
    return "\n".join(lines)


def _cut(text: str) -> str:
    return text if len(text) <= _STEP_CHARS else f"{text[: _STEP_CHARS // 2]} […] {text[-_STEP_CHARS // 2 :]}"
