"""Traces as text for a terminal: a table of many, and one with its steps, scores and what was said about it."""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from evalsi.cli.table import excerpt, number, print_table, text, whole
from evalsi.cli.terminal import console

if TYPE_CHECKING:
    from evalsi.schema import Feedback, GetTraceResponse, Record, TraceSummary

_MOST_SCORES = 3


def print_traces(traces: Sequence["TraceSummary"]) -> None:
    """One line for each."""
    columns = (
        whole("trace"),
        whole("when"),
        text("service"),
        number("took"),
        number("cost"),
        text("scores"),
        excerpt("input"),
    )
    print_table(columns, [cells_of(trace) for trace in traces])


def cells_of(trace: "TraceSummary") -> tuple[str, ...]:
    """What a line of a table shows of a trace."""
    scores = [f"{name} {value:.3g}" for name, value in sorted(trace.scores.items())[:_MOST_SCORES]]
    return (
        trace.trace_id[:8],
        trace.start_time.strftime("%Y-%m-%d %H:%M") if trace.start_time is not None else "",
        trace.service,
        _seconds(trace.duration),
        "" if trace.cost_usd is None else f"${trace.cost_usd:.4f}",
        ", ".join((*(("failed",) if trace.error else ()), *scores)),
        trace.input or (trace.name if trace.complete else f"{trace.name} (not complete yet)"),
    )


def print_trace(found: "GetTraceResponse") -> None:
    """The whole trace."""
    out = console()
    shown = found.summary
    if shown is not None:
        for name, value in _facts(shown):
            out.print(_cell(f"{name:10} {value}"))
    if found.record is not None and found.record.trajectory is not None:
        out.print()
        for line in _steps(found.record.trajectory.steps):
            out.print(_cell(line))
    for policy in found.policies:
        out.print()
        out.print(_cell(f"policy {policy.policy}"))
        for result in policy.results:
            values = ", ".join(_named_value(result, place) for place in range(len(result.scores)))
            why = f": {result.reason}" if result.reason else ""
            out.print(_cell(f"  {result.evaluator:20} {values or result.outcome.value}{why}"))
    if found.feedback:
        out.print()
    print_feedback(found.feedback)
    if found.feedback_page_token and shown is not None:
        more = f"the newest {len(found.feedback):,} of {found.feedback_total:,}"
        out.print(_cell(f"{more}; 'evalsi traces feedback {shown.trace_id}' lists the rest"))


def print_feedback(feedback: "Sequence[Feedback]") -> None:
    """One line for each."""
    out = console()
    for said in feedback:
        when = said.time.strftime("%Y-%m-%d %H:%M") if said.time is not None else ""
        out.print(_cell(f"{when:16} {said.name or 'feedback':10} {_value(said)} {said.comment}".rstrip()))


def line_of(record: "Record", form: str) -> bytes:
    """A trace in a file: as a record for evaluation, or as a trajectory of ATIF."""
    from evalsi.schema.json_codec import encode_file
    from evalsi.traces import atif_of_trajectory, encode_atif

    if form == "records":
        return encode_file(record) + b"\n"
    assert record.trajectory is not None
    return encode_atif(atif_of_trajectory(record.trajectory)) + b"\n"


def _facts(shown: "TraceSummary") -> Iterable[tuple[str, str]]:
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
        ("cost", "" if shown.cost_usd is None else f"${shown.cost_usd:.6f}"),
        ("labels", ", ".join(f"{key}={value}" for key, value in sorted(shown.labels.items()))),
        ("state", "complete" if shown.complete else "not complete yet"),
        ("failed", "yes" if shown.error else ""),
        ("input", shown.input),
        ("output", shown.output),
    ):
        if value:
            yield name, value


def _steps(steps: Sequence[Any]) -> Iterable[str]:
    from evalsi.core.content import text_of

    parents = {step.span_id: step.parent_span_id for step in steps}
    for step in steps:
        depth, above = 0, step.parent_span_id
        while above in parents and depth < 20:
            depth, above = depth + 1, parents[above]
        said = text_of(step.output) or text_of(step.input)
        error = f" failed: {step.error}" if step.error else ""
        yield f"{'  ' * depth}{step.type.value} {step.name} {_seconds(step.duration)}{error}".rstrip()
        if said:
            yield f"{'  ' * depth}  {said}"


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


def _cell(text: str) -> Any:
    from rich.text import Text

    from evalsi.core.inert import printable

    shown = printable(text, one_line=True)
    return Text(shown)
