"""The report in short, as Markdown for a comment on a pull request.

Text of others is shown only inside code spans, code fences and `<code>`, where no renderer looks for markup, links,
images or mentions; the fence is always longer than any run of backticks inside. What always holds: every other
character of the comment is ours.
"""

import html
import re

from evalsi.core.inert import printable
from evalsi.report.case_view import CaseView, Passage, case_view, flip_view
from evalsi.report.figures import bounds, count, date, money, number, percent, plural, seconds, signed
from evalsi.report.findings import Findings, gather, sliced_by
from evalsi.report.metric_view import MetricView, directions_of
from evalsi.report.report_options import ReportOptions
from evalsi.report.verdict import Opening, Remark, opening
from evalsi.report.visible_text import one_line
from evalsi.results.graded_run import GradedRun
from evalsi.schema import MetricKind
from evalsi.stats import Interval

_MARKS = {
    "PASS": "✅",
    "FAIL": "❌",
    "NO DATA": "⚪",
    "NOTHING SCORED": "⚪",
    "STOPPED": "❌",
    "SCORED": "🔵",
    "IMPROVED": "✅",
    "REGRESSED": "❌",
    "UNCHANGED": "🔵",
    "INCONCLUSIVE": "❔",
    "NO DIRECTION": "🔵",
}
_SLICE_MARKS = {"": "", "above": "▲ ", "below": "▼ "}
_TICKS = re.compile(r"`+")
SHOWN_CHARACTERS = 600
MOST_CHARACTERS = 60_000
"""Hosts of code refuse comments of more than 65,536."""
_OPTIONS = ReportOptions(examples=3)


def write_markdown(run: GradedRun, *, options: ReportOptions = _OPTIONS) -> str:
    """The comment. Worst records are left out where they would make it longer than `MOST_CHARACTERS`."""
    findings = gather(run, options)
    said = opening(findings)
    facts = [_head(said), _change_table(findings), _metric_table(findings), _gate_table(said)]
    facts += [_trials(findings), _slices(findings), _failures(findings)]
    cases = [*_flips(findings), *_cases(findings)]
    while True:
        text = "\n\n".join(part for part in (*facts, *cases, _last_line(findings)) if part) + "\n"
        if len(text) <= MOST_CHARACTERS or not cases:
            return text
        cases.pop()


def code(text: str, most: int = 120) -> str:
    """Text of others on one line, as a code span that nothing inside can close. A bar is shown as ¦: in a table it
    would end the cell.
    """
    shown = one_line(printable(text[: 4 * most], one_line=True), most).replace("|", "¦") or "(empty)"
    fence = "`" * (_longest_run(shown) + 1)
    pad = " " if shown.startswith("`") or shown.endswith("`") else ""
    return f"{fence}{pad}{shown}{pad}{fence}"


def fenced(text: str, most: int = SHOWN_CHARACTERS) -> str:
    """Text of others as a block that nothing inside can close."""
    shown = printable(text[: most + 1])
    shown = shown if len(shown) <= most else shown[:most] + " …"
    fence = "`" * max(3, _longest_run(shown) + 1)
    return f"{fence}text\n{shown}\n{fence}"


def _longest_run(text: str) -> int:
    return max((len(run) for run in _TICKS.findall(text)), default=0)


def _head(said: Opening) -> str:
    metric = f"{code(said.metric)} " if said.metric else ""
    lines = [f"**{_MARKS.get(said.word, '⚪')} {said.word}** {metric}{said.sentence}"]
    lines += [f"- ⚠️ {_remark(one)}" for one in said.warnings[:6]]
    return "\n".join([lines[0], "", *lines[1:]]) if lines[1:] else lines[0]


def _remark(one: Remark) -> str:
    sentence = one.sentence if one.ours else code(one.sentence, 300)
    return f"{code(one.metric, 60)} {sentence}" if one.metric else sentence


def _metric_table(findings: Findings) -> str:
    head = f"| metric | scored | mean | {findings.level:.0%} interval | skipped | errors | coverage |"
    rule = "|:--|--:|--:|:-:|--:|--:|--:|"
    rows = [head, rule]
    for view in findings.metrics[:40]:
        summary = view.summary
        cells = [code(summary.metric, 60), count(summary.n), _mean(view), bounds(summary.ci)]
        cells += [count(summary.skipped), count(summary.errors), _coverage(view)]
        rows.append(f"| {' | '.join(cells)} |")
    if len(findings.metrics) > 40:
        rows.append(f"\n{plural(len(findings.metrics) - 40, 'more metric')} in the full report.")
    return "\n".join(rows) if findings.metrics else "No evaluator reported a metric."


def _change_table(findings: Findings) -> str:
    comparison = findings.comparison
    if comparison is None:
        return ""
    head = f"Against {code(comparison.baseline, 60)}, {plural(comparison.shared, 'shared record')}"
    rows = ["| metric | pairs | before | now | difference | interval | better / worse | verdict |"]
    rows.append("|:--|--:|--:|--:|--:|:-:|:-:|:--|")
    rows += [
        f"| {code(one.metric, 60)} | {count(one.pairs)} | {number(one.baseline_mean)} | {number(one.candidate_mean)} "
        f"| **{signed(one.difference)}** | {_signed_bounds(one.interval)} | {count(one.better)} / {count(one.worse)} "
        f"| {_MARKS.get(one.verdict, '⚪')} {code(one.verdict, 20)} |"
        for one in comparison.metrics[:40]
    ]
    return head + "\n\n" + "\n".join(rows)


def _signed_bounds(interval: Interval | None) -> str:
    return f"[{signed(interval.low)}, {signed(interval.high)}]" if interval is not None else "–"


def _flips(findings: Findings) -> list[str]:
    comparison = findings.comparison
    if comparison is None or not comparison.flips:
        return []
    parts: list[str] = []
    for view in map(flip_view, comparison.flips[: findings.options.examples]):
        values = f"{number(view.before)} → {number(view.after)}"
        parts.append(f"**{code(view.identifier, 60)}** {code(view.metric, 60)} {values}")
        parts += [f"{passage.label}\n\n{fenced(passage.text)}" for passage in view.passages]
    inside = "\n\n".join(parts)
    return [f"<details><summary>Records that changed</summary>\n\n{inside}\n\n</details>"]


def _mean(view: MetricView) -> str:
    summary = view.summary
    if summary.kind is MetricKind.LABEL:
        common = sorted(summary.labels.items(), key=lambda item: -item[1])[:3]
        return ", ".join(f"{code(label, 24)} {count(amount)}" for label, amount in common) or "–"
    return f"**{number(summary.mean)}**" if summary.mean is not None else "–"


def _coverage(view: MetricView) -> str:
    summary = view.summary
    share = percent(summary.n, summary.total)
    return share if summary.n == summary.total else f"{share} ({count(summary.n)}/{count(summary.total)})"


def _gate_table(said: Opening) -> str:
    if not said.gates:
        return ""
    rows = ["| gate | metric | asks for | measured | why |", "|:--|:--|:--|--:|:--|"]
    rows += [
        f"| {_MARKS[gate.word]} {gate.word} | {code(gate.name or gate.metric, 60)} | {gate.stat} {gate.limits} | {gate.value} "
        f"| {code(gate.why) if gate.why else ''} |"
        for gate in said.gates[:40]
    ]
    return "\n".join(rows)


def _trials(findings: Findings) -> str:
    """What the trials say in sentences; the grid is the page's."""
    lines = [f"- {code(grid.metric.name, 60)}: {grid.sentence}" for grid in findings.trials]
    return "\n".join([f"**Trials** ({findings.trials[0].trials} of each record)", "", *lines]) if lines else ""


def _slices(findings: Findings) -> str:
    slices = findings.slices
    if not slices.tables:
        return ""
    found = [
        f"- {'▲' if figure.mark == 'above' else '▼'} {code(table.key, 40)} = {code(one.label, 60)}: "
        f"{code(view.name, 60)} {number(figure.estimate.value)} {bounds(figure.estimate.interval)}, "
        f"{plural(figure.estimate.n, 'record')}"
        for table in slices.tables
        for one in table.slices
        for view, figure in zip(findings.headline, one.figures, strict=True)
        if figure.mark
    ]
    looked = f"{plural(slices.slices, 'slice')} of {plural(len(slices.tables), 'key')} were looked at"
    if sliced_by(findings.run, findings.options):
        return _slice_table(findings, looked)
    if not found:
        says = (
            "none differs from the rest beyond chance (Holm)"
            if slices.tests
            else "none is tested against the rest: they are too small, or their records depend on each other"
        )
        return f"**Slices**: {looked}; {says}."
    more = f"\n- and {plural(len(found) - 12, 'more slice')}" if len(found) > 12 else ""
    return f"**Slices that differ from the rest** ({looked}, Holm-adjusted)\n\n" + "\n".join(found[:12]) + more


def _slice_table(findings: Findings, looked: str) -> str:
    """Every slice of keys that were asked for, and how their number is accounted for."""
    slices, views = findings.slices, findings.headline
    names = " | ".join(
        f"{code(view.name, 60)} | 95% interval".replace("95%", f"{findings.level:.0%}") for view in views
    )
    lines = [f"| slice | records | {names} |", "|:--|--:|" + "--:|:-:|" * len(views)]
    for table in slices.tables:
        for one in table.slices:
            figures = " | ".join(
                f"{_SLICE_MARKS[figure.mark]}{number(figure.estimate.value)} | {bounds(figure.estimate.interval)}"
                for figure in one.figures
            )
            lines.append(f"| {code(table.key, 40)} = {code(one.label, 60)} | {count(one.rows)} | {figures} |")
    if slices.tests:
        said = f"▲ above and ▼ below the rest of the run, Holm-adjusted for {plural(slices.tests, 'test')}"
    else:
        said = "none is tested against the rest: they are too small, or their records depend on each other"
    return "\n".join([f"**Slices** ({looked}; {said})", "", *lines])


def _failures(findings: Findings) -> str:
    errors = [group for group in findings.failures if group.outcome == "error"]
    if not errors:
        return ""
    lines = [
        f"- {count(group.count)} × {code(group.kind, 40)} in {code(group.evaluator, 60)}, fault of "
        f"{group.fault if group.fault != 'unspecified' else 'nobody known'}: {code(group.reason)}"
        for group in errors[:6]
    ]
    more = f"\n- and {plural(len(errors) - 6, 'more kind')} of error" if len(errors) > 6 else ""
    return "**Errors**\n\n" + "\n".join(lines) + more


def _cases(findings: Findings) -> list[str]:
    parts: list[str] = []
    for found in findings.worst[:2]:
        word = "Lowest" if found.metric.higher_is_better is not False else "Highest"
        directions = directions_of(findings.metrics)
        views = [case_view(case, directions, metric=found.metric.name, anchor="") for case in found.cases[:5]]
        title = f"{word} by {_html_code(found.metric.name, 60)}"
        inside = "\n\n".join(_case(view) for view in views)
        parts.append(f"<details><summary>{title}</summary>\n\n{inside}\n\n</details>")
    return parts


def _case(view: CaseView) -> str:
    lines = [
        f"**{code(view.identifier, 60)}** {code(view.headline)}" + (f" ({view.difference})" if view.difference else "")
    ]
    lines += [f"{_speaker(passage)}\n\n{fenced(passage.text)}" for passage in view.passages[-4:]]
    said = [
        f"- {code(line.metric, 60)} {code(line.value)}"
        + (f": {code(line.explanation, 300)}" if line.explanation else "")
        for line in view.scores[:8]
    ]
    return "\n\n".join([*lines, "\n".join(said)])


def _speaker(passage: Passage) -> str:
    return passage.label if passage.label in ("input", "output", "reference") else code(passage.label, 40)


def _html_code(text: str, most: int) -> str:
    """For inside an HTML block, where Markdown is not read."""
    return f"<code>{html.escape(one_line(printable(text[: 4 * most], one_line=True), most))}</code>"


def _last_line(findings: Findings) -> str:
    manifest = findings.run.manifest
    facts = [f"run {code(manifest.run_id or findings.run.source, 60)}"]
    if manifest.dataset is not None:
        digest = f" {code(manifest.dataset.sha256[:12])}" if manifest.dataset.sha256 else ""
        facts.append(f"dataset {code(manifest.dataset.source, 60)}{digest}, {plural(findings.records, 'record')}")
    if manifest.judges:
        facts.append("judge " + ", ".join(code(judge.model or judge.name, 40) for judge in manifest.judges[:4]))
    if manifest.judge_usage is not None and manifest.judge_usage.cost_usd is not None:
        facts.append(f"judged for {money(manifest.judge_usage.cost_usd)}")
    latency = next((f for f in findings.usage.figures if (f.source, f.measure) == ("", "latency")), None)
    if latency is not None:
        facts.append(f"latency median {seconds(latency.median.value)}, p95 {seconds(latency.p95.value)}")
    first = next((f for f in findings.usage.figures if (f.source, f.measure) == ("", "time_to_first_token")), None)
    if first is not None:
        facts.append(f"first token median {seconds(first.median.value)}, p95 {seconds(first.p95.value)}")
    if manifest.unpinned:
        facts.append(f"{plural(len(manifest.unpinned), 'thing')} could not be pinned")
    facts.append(date(manifest.finished_at or manifest.started_at))
    facts.append(f"evalsi {code(manifest.evalsi_version, 20)}" if manifest.evalsi_version else "evalsi")
    return f"<sub>{' · '.join(facts)}</sub>"
