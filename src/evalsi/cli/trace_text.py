"""Traces as text for a terminal: a table of many, and one with its steps, scores and what was said about it."""

import sys
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from evalsi.access.gate import DEFAULT_PROJECT
from evalsi.cli.table import excerpt, number, print_table, text, whole
from evalsi.cli.terminal import console
from evalsi.core.figure import counted

if TYPE_CHECKING:
    from evalsi.schema import Feedback, GetTraceResponse, Record, Step, TraceSummary

_MOST_SCORES = 3


def print_traces(traces: Sequence["TraceSummary"]) -> None:
    """One line for each; with its project where one is of another than the default, since its id is found there alone."""
    projects = any(trace.project not in ("", DEFAULT_PROJECT) for trace in traces)
    columns = (
        *([whole("project")] if projects else []),
        whole("trace"),
        whole("when"),
        text("service"),
        number("took"),
        number("cost"),
        text("failed"),
        text("scores"),
        excerpt("input"),
    )
    print_table(columns, [(*([trace.project] if projects else []), *cells_of(trace)) for trace in traces])


def cells_of(trace: "TraceSummary") -> tuple[str, ...]:
    """What a line of a table shows of a trace."""
    from evalsi.report.figures import money

    scores = [f"{name} {value:.3g}" for name, value in sorted(trace.scores.items())]
    if len(scores) > _MOST_SCORES:
        scores[_MOST_SCORES:] = [f"+{len(scores) - _MOST_SCORES}"]
    if trace.feedback is not None:
        scores.append(f"feedback {trace.feedback:+.3g}")
    return (
        trace.trace_id[:8],
        trace.start_time.strftime("%Y-%m-%d %H:%M") if trace.start_time is not None else "",
        trace.service,
        _seconds(trace.duration),
        "" if trace.cost_usd is None else money(trace.cost_usd),
        "yes" if trace.error else counted(trace.failed_spans, "step") if trace.failed_spans else "",
        ", ".join(scores),
        trace.input or (trace.name if trace.complete else f"{trace.name} (not complete yet)"),
    )


def print_trace(found: "GetTraceResponse") -> None:
    """The whole trace."""
    out = console()
    shown = found.summary
    if shown is not None:
        for name, value in _facts(shown):
            _tell(out, f"{name:10} {value}")
    if found.record is not None and found.record.trajectory is not None:
        out.print()
        for line in _steps(found.record.trajectory.steps):
            _tell(out, line)
    trajectory = found.record.trajectory if found.record is not None else None
    steps = {step.span_id: f"{step.type.value} {step.name}" for step in trajectory.steps} if trajectory else {}
    for policy in found.policies:
        out.print()
        _tell(out, f"policy {policy.policy}")
        for result in policy.results:
            values = ", ".join(_named_value(result, place) for place in range(len(result.scores)))
            why = result.reason or next((score.explanation for score in result.scores if score.explanation), "")
            about = f"  ({steps[result.span_id]})" if result.span_id in steps else ""
            told = f"  {result.evaluator:20} {values or result.outcome.value}{f': {why}' if why else ''}{about}"
            _tell(out, told)
    if found.feedback:
        out.print()
    print_feedback(found.feedback)
    if found.feedback_page_token and shown is not None:
        more = f"the newest {len(found.feedback):,} of {found.feedback_total:,}"
        _tell(out, f"{more}; 'evalsi traces feedback {shown.trace_id}' lists the rest")


def print_feedback(feedback: "Sequence[Feedback]") -> None:
    """One line for each."""
    out = console()
    for said in feedback:
        when = said.time.strftime("%Y-%m-%d %H:%M") if said.time is not None else ""
        _tell(out, f"{when:16} {said.name or 'feedback':10} {_value(said)} {said.comment}".rstrip())


def line_of(record: "Record", form: str) -> bytes:
    """A trace in a file: as a record for evaluation, or as a trajectory of ATIF."""
    from evalsi.schema.json_codec import encode_file
    from evalsi.traces import atif_of_trajectory, encode_atif

    if form == "records":
        return encode_file(record) + b"\n"
    assert record.trajectory is not None
    return encode_atif(atif_of_trajectory(record.trajectory)) + b"\n"


def _facts(shown: "TraceSummary") -> Iterable[tuple[str, str]]:
    from evalsi.report.figures import money

    tokens = [None if count is None else f"{count:,}" for count in (shown.input_tokens, shown.output_tokens)]
    yield "trace", shown.trace_id
    yield "begun", shown.start_time.isoformat(timespec="milliseconds") if shown.start_time is not None else ""
    yield "took", _seconds(shown.duration)
    for name, value in (
        ("service", f"{shown.service} {shown.version}".strip()),
        ("session", shown.session_id),
        ("user", shown.user_id),
        ("model", shown.model),
        ("tokens", f"{tokens[0] or '?'} in, {tokens[1] or '?'} out" if any(tokens) else ""),
        ("cost", "" if shown.cost_usd is None else money(shown.cost_usd)),
        ("labels", ", ".join(f"{key}={value}" for key, value in sorted(shown.labels.items()))),
        ("state", "complete" if shown.complete else "not complete yet"),
        ("failed", "yes" if shown.error else ""),
        ("input", shown.input),
        ("output", shown.output),
    ):
        if value:
            yield name, value


def _steps(steps: Sequence["Step"]) -> Iterable[str]:
    from evalsi.core.content import text_of
    from evalsi.schema import StepType

    parents = {step.span_id: step.parent_span_id for step in steps}
    for step in steps:
        depth, above = 0, step.parent_span_id
        while above in parents and depth < 20:
            depth, above = depth + 1, parents[above]
        is_tool = step.type is StepType.TOOL
        given = text_of(step.input)
        asked = f" {given}" if is_tool and given else ""
        error = f" failed: {step.error}" if step.error else ""
        yield f"{'  ' * depth}{step.type.value} {step.name}{asked} {_seconds(step.duration)}{error}".rstrip()
        called = [f"calls {call}" for call in _calls(step)]
        said = text_of(step.output) or ("" if is_tool or called else given)
        for line in (*([said] if said else []), *called):
            yield f"{'  ' * depth}  {line}"


def _calls(step: "Step") -> list[str]:
    """The tools that a model asked for in its answer, with their arguments."""
    messages = step.output.messages if step.output is not None else None
    if messages is None or not messages.messages:
        return []
    return [f"{call.name} {call.arguments}" for call in messages.messages[-1].tool_calls]


def _direction(result: Any, output: str) -> bool | None:
    """Whether it is better for an output to be high, as far as its evaluator is installed here."""
    from evalsi.core.errors import EvalsiError
    from evalsi.evaluators.catalog import load

    try:
        outputs = load(result.evaluator_ref or result.evaluator).outputs
    except EvalsiError:
        return None
    spec = next((spec for spec in outputs if spec.name == output), outputs[0] if len(outputs) == 1 else None)
    return spec.higher_is_better if spec is not None else None


def _named_value(result: Any, place: int) -> str:
    """A score of a result: the first as it is, others with their names."""
    score = result.scores[place]
    value = _value(score, _direction(result, score.name))
    return f"{score.name} {value}" if place and score.name else value


def _value(scored: Any, better: bool | None = True) -> str:
    from evalsi.report.verdict_word import verdict_word

    if scored.passed is not None:
        return verdict_word(scored.passed, better=better)
    if scored.number is not None:
        return f"{scored.number:.4g}"
    return scored.label or ""


def _seconds(duration_s: float | None) -> str:
    if duration_s is None:
        return ""
    return f"{duration_s * 1000:.0f} ms" if duration_s < 1 else f"{duration_s:.1f} s"


def _tell(out: Any, line: str) -> None:
    """Writes a line: whole into a file or a pipe; on a terminal, what does not fit goes on below its own begin."""
    from rich.padding import Padding
    from rich.text import Text

    from evalsi.core.inert import printable

    shown = printable(line, one_line=True)
    if not sys.stdout.isatty():
        out.print(Text(shown), soft_wrap=True)
        return
    words = shown.lstrip()
    indent = min(len(shown) - len(words), out.width // 2)
    out.print(Padding(Text(words), (0, 0, 0, indent), expand=False))
