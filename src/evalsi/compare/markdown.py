"""A comparison as Markdown, for a comment on a pull request. Text of records is quoted so that it can do nothing."""

from collections.abc import Sequence

from evalsi.compare.comparison import Comparison
from evalsi.compare.comparison_text import titled
from evalsi.core.errors import InvalidSpecError
from evalsi.core.figure import figure, interval_heading, signed
from evalsi.core.inert import markdown_text


def as_markdown(comparison: Comparison, *, max_flips: int = 5) -> str:
    """Verdict, table of metrics, and the records that changed, folded away."""
    level = interval_heading(metric.interval.level for metric in comparison.metrics if metric.interval is not None)
    lines = [
        f"**{comparison.verdict}**: {markdown_text(comparison.candidate)} against {markdown_text(comparison.baseline)}, "
        f"{comparison.shared} shared records",
        "",
        f"| metric | pairs | baseline | candidate | difference | {level} | p (Holm) | verdict |",
        "|---|--:|--:|--:|--:|:-:|--:|---|",
    ]
    for metric in comparison.metrics:
        interval = metric.interval
        lines.append(
            f"| {markdown_text(titled(metric.metric, metric.unit))} | {metric.pairs} | {figure(metric.baseline_mean)} "
            f"| {figure(metric.candidate_mean)} | {signed(metric.difference)} "
            f"| {'–' if interval is None else f'[{signed(interval.low)}, {signed(interval.high)}]'} "
            f"| {figure(metric.p_adjusted)} | {metric.verdict} |"
        )
    if max_flips and comparison.flips:
        lines += ["", "<details><summary>Records that changed</summary>", ""]
        for flip in comparison.flips[:max_flips]:
            lines += [
                f"**{markdown_text(flip.record_id)}** {markdown_text(flip.metric)} {figure(flip.before)} → {figure(flip.after)}",
                *([f"- input: {markdown_text(flip.input[:300])}"] if flip.input.strip() else []),
                f"- baseline: {_said(flip.baseline_output)}",
                f"- candidate: {_said(flip.candidate_output)}",
                "",
            ]
        lines.append("</details>")
    lines += [f"\n> {markdown_text(warning)}" for warning in comparison.warnings]
    return "\n".join(lines)


def margins_of(flags: Sequence[str]) -> dict[str, float]:
    """`metric=difference` flags as margins. Raises: InvalidSpecError."""
    margins: dict[str, float] = {}
    for flag in flags:
        metric, separator, text = flag.rpartition("=")
        try:
            margin = float(text)
        except ValueError:
            margin = -1.0
        if not separator or not 0 < margin < float("inf"):
            raise InvalidSpecError(f"{flag!r} is no margin", hint="write metric=difference, e.g. exact-match=0.02")
        margins[metric] = margin
    return margins


def _said(output: str) -> str:
    return markdown_text(output[:300]) if output.strip() else "*no output*"
