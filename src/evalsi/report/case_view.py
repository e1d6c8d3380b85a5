"""A record laid out for reading: who said what, what was wanted, and what each evaluator made of it.

Its own module because six forms of content and a trajectory become one shape here, so the page has one way to show
them. Text is cut to a length a page can carry; how much is missing is said.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

import msgspec

from evalsi.core.content import json_text, text_of
from evalsi.engine.columns import Note
from evalsi.report.comparison import ChangedRecord
from evalsi.report.figures import money, number, seconds
from evalsi.report.first_difference import Comparison, compare_texts
from evalsi.report.verdict_word import is_good, verdict_word
from evalsi.report.visible_text import one_line, shortened
from evalsi.report.worst_cases import Case, Verdict
from evalsi.schema import Content, Message, Record, Score, Step

JSON_CHARACTERS = 40_000
MOST_PASSAGES = 20
MOST_STEPS = 100
MOST_MESSAGES = 200

Directions = Mapping[str, bool | None]
"""By metric: whether it is better to be high. One that is not there is one of which nobody said."""


@dataclass(frozen=True, kw_only=True)
class Passage:
    """A piece of text with its speaker. `mark` is a span to highlight; `cut` counts characters left off."""

    label: str
    text: str
    kind: str = "text"
    """"text", "code" (JSON, arguments) or "empty"."""
    mark: tuple[int, int] = (0, 0)
    found: bool = False
    cut: int = 0
    folded: bool = False
    failed: bool = False
    aside: str = ""


@dataclass(frozen=True, kw_only=True)
class ScoreLine:
    """One score, or why there is none."""

    metric: str
    value: str
    outcome: str
    explanation: str = ""
    detail: str = ""
    confidence: str = ""
    highlighted: bool = False


@dataclass(frozen=True, kw_only=True)
class CaseView:
    """One case on the page."""

    anchor: str
    identifier: str
    row: int
    headline: str
    excerpt: str
    why: str
    """The beginning of what the evaluator of `headline` said."""
    passages: list[Passage]
    difference: str
    context: list[Passage]
    steps: list[Passage]
    scores: list[ScoreLine]
    metadata: list[tuple[str, str]]
    json: str
    json_cut: int = 0
    notes: list[str] = field(default_factory=list[str])


def case_view(case: Case, directions: Directions, *, metric: str, anchor: str) -> CaseView:
    """`case` as it is shown under `metric`."""
    record = case.record()
    lines = [line for verdict in case.verdicts for line in score_lines(verdict, metric, directions)]
    compared = compare_texts(text_of(record.output), text_of(record.reference))
    asked = [] if _repeats(record.output, record.input) else _passages("input", record.input)
    passages = [*asked, *_answer(record.output, compared)]
    passages += _reference(record.reference, compared)
    raw, cut = shortened(_pretty(case.line), JSON_CHARACTERS)
    return CaseView(
        anchor=anchor,
        identifier=record.id,
        row=case.row,
        headline=next((line.value for line in lines if line.metric == metric), ""),
        excerpt=one_line(text_of(record.output), 160) or "no output",
        why=next((one_line(line.explanation, 160) for line in lines if line.metric == metric), ""),
        passages=passages,
        difference=compared.says if compared is not None else "",
        context=_context(record),
        steps=_steps(record),
        scores=sorted(lines, key=lambda line: not line.highlighted),
        metadata=_facts(record),
        json=raw,
        json_cut=cut,
        notes=record.notes,
    )


@dataclass(frozen=True, kw_only=True)
class FlipView:
    """A record whose value changed between two runs."""

    identifier: str
    metric: str
    before: float
    after: float
    excerpt: str
    why: str
    passages: list[Passage]
    difference: str


def flip_view(flip: ChangedRecord) -> FlipView:
    """Both answers, with the first difference marked in each."""
    compared = compare_texts(flip.candidate_output, flip.baseline_output)
    parted = compared is not None and not compared.found and compared.output[0] > 0
    passages: list[Passage] = []
    for label, text, span in (
        ("input", flip.input, (0, 0)),
        ("before", flip.baseline_output, compared.reference if compared and parted else (0, 0)),
        ("now", flip.candidate_output, compared.output if compared and parted else (0, 0)),
        ("reference", flip.reference, (0, 0)),
    ):
        shown, cut = shortened(text)
        if text or label in ("before", "now"):
            passage = Passage(label=label, text=shown or "no output", cut=cut, kind="text" if text else "empty")
            passages.append(_with_mark(passage, span, found=False) if text else passage)
    return FlipView(
        identifier=flip.record_id,
        metric=flip.metric,
        before=flip.before,
        after=flip.after,
        excerpt=one_line(flip.candidate_output, 160) or "no output",
        why=one_line(flip.explanation, 160),
        passages=passages,
        difference="the same text" if compared is not None and flip.candidate_output == flip.baseline_output else "",
    )


def score_lines(verdict: Verdict, highlighted: str, directions: Directions) -> list[ScoreLine]:
    """What one evaluator said, a line per output."""
    note = verdict.note or Note()
    if verdict.outcome != "scored":
        kind = f"{verdict.outcome}: {note.error_kind}" if verdict.outcome == "error" else verdict.outcome
        return [
            ScoreLine(
                metric=verdict.evaluator,
                value=kind,
                outcome=verdict.outcome,
                explanation=note.reason,
                detail=note.detail,
                highlighted=verdict.evaluator == highlighted,
            )
        ]
    return [
        ScoreLine(
            metric=verdict.metric(score.name),
            value=score_text(score, better=directions.get(verdict.metric(score.name))),
            outcome="scored",
            explanation=score.explanation,
            detail=json_text(score.metadata) if score.metadata else "",
            confidence=f"{score.confidence:.0%}" if score.confidence is not None else "",
            highlighted=verdict.metric(score.name) == highlighted,
        )
        for score in verdict.scores
    ]


def score_text(score: Score, *, better: bool | None) -> str:
    """A score's value in a word; `better` says whether it is better to be high."""
    if score.passed is not None:
        good = is_good(score.passed, better=better)
        mark = "" if good is None else "✓ " if good else "✕ "
        return mark + verdict_word(score.passed, better=better)
    if score.number is not None:
        return number(score.number)
    if score.label is not None:
        return one_line(score.label, 60)
    return one_line(json_text(score.structured), 60) if score.structured is not msgspec.UNSET else ""


def _answer(output: Content | None, compared: Comparison | None) -> list[Passage]:
    if output is None:
        return [Passage(label="output", text="no output", kind="empty")]
    passages = _passages("output", output)
    if compared is None or not passages:
        return passages
    # The text that was compared is the last one that says anything.
    place = next((i for i in reversed(range(len(passages))) if passages[i].text == shortened(text_of(output))[0]), None)
    if place is not None:
        passages[place] = _with_mark(passages[place], compared.output, found=compared.found)
    return passages


def _reference(reference: Content | None, compared: Comparison | None) -> list[Passage]:
    if reference is None:
        return []
    text, cut = shortened(text_of(reference))
    passage = Passage(label="reference", text=text, cut=cut, kind="text" if text else "empty")
    if compared is None or compared.found:
        return [passage]
    return [_with_mark(passage, compared.reference, found=False)]


def _with_mark(passage: Passage, span: tuple[int, int], *, found: bool) -> Passage:
    end = len(passage.text)
    start, stop = min(span[0], end), min(span[1], end)
    if start == stop:
        return passage
    return Passage(
        label=passage.label,
        text=passage.text,
        kind=passage.kind,
        mark=(start, stop),
        found=found,
        cut=passage.cut,
        folded=passage.folded,
        failed=passage.failed,
        aside=passage.aside,
    )


def _passages(label: str, content: Content | None) -> list[Passage]:
    """A content as passages: a conversation becomes one for each message and tool call."""
    if content is None:
        return []
    if content.messages is not None:
        messages = content.messages.messages
        shown = [passage for message in messages[:MOST_MESSAGES] for passage in _message(message)]
        if len(messages) > MOST_MESSAGES:
            shown.append(Passage(label="", text=f"{len(messages) - MOST_MESSAGES} more messages", kind="empty"))
        return shown
    text, cut = shortened(text_of(content))
    if not text:
        return [Passage(label=label, text="empty" if content.tensor is None else "a tensor", kind="empty")]
    kind = "text" if content.text is not None or isinstance(content.json, str) else "code"
    return [Passage(label=label, text=text, cut=cut, kind=kind)]


def _repeats(output: Content | None, asked: Content | None) -> bool:
    """Whether the output is a conversation that begins with what was asked, so that it is shown once."""
    if output is None or asked is None or output.messages is None or asked.messages is None:
        return False
    before = asked.messages.messages
    return bool(before) and output.messages.messages[: len(before)] == before


def _message(message: Message) -> list[Passage]:
    passages: list[Passage] = []
    speaker = message.role or "message"
    aside = message.name
    if message.content:
        text, cut = shortened(message.content)
        folded = message.role in ("tool", "system")
        passages.append(Passage(label=speaker, text=text, cut=cut, folded=folded, aside=aside))
    for call in message.tool_calls:
        text, cut = shortened(call.arguments or "no arguments")
        passages.append(Passage(label="calls", text=text, cut=cut, kind="code", aside=call.name))
    if not passages:
        passages.append(Passage(label=speaker, text="empty", kind="empty", aside=aside))
    return passages


def _context(record: Record) -> list[Passage]:
    passages: list[Passage] = []
    for index, content in enumerate(record.context[:MOST_PASSAGES], start=1):
        text, cut = shortened(text_of(content))
        passages.append(Passage(label=f"{index}", text=text or "empty", cut=cut, kind="text" if text else "empty"))
    left = len(record.context) - MOST_PASSAGES
    if left > 0:
        passages.append(Passage(label="", text=f"{left} more passages", kind="empty"))
    return passages


def _steps(record: Record) -> list[Passage]:
    if record.trajectory is None:
        return []
    steps = record.trajectory.steps
    passages = [_step(step) for step in steps[:MOST_STEPS]]
    if len(steps) > MOST_STEPS:
        passages.append(Passage(label="", text=f"{len(steps) - MOST_STEPS} more steps", kind="empty"))
    return passages


def _step(step: Step) -> Passage:
    took = step.duration
    if took is None and step.start_time is not None and step.end_time is not None:
        took = (step.end_time - step.start_time).total_seconds()
    text = step.error or text_of(step.output) or text_of(step.input)
    text, cut = shortened(text, 2_000)
    return Passage(
        label=str(step.type),
        text=text or "nothing recorded",
        kind="text" if text else "empty",
        cut=cut,
        failed=bool(step.error),
        aside=" · ".join(part for part in (step.name, seconds(took) if took is not None else "") if part),
    )


def _facts(record: Record) -> list[tuple[str, str]]:
    """Metadata and usage in short pairs."""
    facts = [(key, one_line(json_text(value), 80)) for key, value in list(record.metadata.items())[:24]]
    usage = record.usage
    if usage is not None:
        facts += [("latency", seconds(usage.latency))] if usage.latency is not None else []
        first_token = usage.time_to_first_token
        facts += [("first token", seconds(first_token))] if first_token is not None else []
        facts += [("cost", money(usage.cost_usd))] if usage.cost_usd is not None else []
        tokens = [part for part in (usage.input_tokens, usage.output_tokens) if part is not None]
        facts += [("tokens", " → ".join(f"{part:,}" for part in tokens))] if tokens else []
    if record.stop_reason:
        facts.append(("stopped", record.stop_reason))
    return facts


def _pretty(line: bytes) -> str:
    return msgspec.json.format(line, indent=2).decode("utf-8", errors="replace")
