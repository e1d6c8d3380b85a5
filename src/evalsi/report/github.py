"""A run as GitHub Actions shows it: annotations on the changed files, and a summary of the job.

Annotations are workflow commands, lines that the runner reads in what a step prints. What always holds: text of others
can neither end such a line nor start one. (The runner looks for commands in every line that is printed: what else the
command line prints is made harmless by `core.inert.inert_log`.) The environment is not read here: paths come as
arguments.
"""

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from evalsi.core.errors import EvalsiError, InvalidSpecError
from evalsi.report.comparison import Comparison
from evalsi.report.figures import count, plural, signed
from evalsi.report.gate_line import GateLine, gate_line
from evalsi.report.markdown_report import code, write_markdown
from evalsi.report.report_options import ReportOptions
from evalsi.report.verdict import stopped_early
from evalsi.report.visible_text import one_line, plain
from evalsi.results.graded_run import GradedRun

Level = Literal["error", "warning", "notice"]
MOST_ANNOTATIONS = 10
"""GitHub shows ten of each level for a step and drops the rest without a word."""
MOST_SUMMARY_BYTES = 1_000_000
"""GitHub refuses the summary of a step above 1 MiB, the whole of it."""
_IN_DATA = {"%": "%25", "\r": "%0D", "\n": "%0A"}
_IN_PROPERTY = _IN_DATA | {":": "%3A", ",": "%2C"}

_FILE_AND_LINE = re.compile(r"(?P<file>.+?):(?P<line>\d{1,9})(?::\d+)?")


@dataclass(frozen=True, kw_only=True)
class Place:
    """A file of the repository, as GitHub knows it: relative to its root, with forward slashes. "" for none."""

    file: str = ""
    line: int | None = None


NOWHERE = Place()


@dataclass(frozen=True, kw_only=True)
class Annotation:
    """One message beside a file or the job. `title` and `message` may be text of others."""

    level: Level
    title: str
    message: str
    place: Place = NOWHERE

    def command(self) -> str:
        """The line that makes the runner show it."""
        properties = {
            "file": self.place.file,
            "line": str(self.place.line or ""),
            "title": one_line(plain(self.title), 120),
        }
        given = ",".join(f"{name}={_escaped(value, _IN_PROPERTY)}" for name, value in properties.items() if value)
        return f"::{self.level}{f' {given}' if given else ''}::{_escaped(plain(self.message), _IN_DATA)}"


def annotations(
    run: GradedRun,
    *,
    place: Place = NOWHERE,
    gate_places: Sequence[Place] = (),
    comparison: Comparison | None = None,
    gated: Collection[str] = (),
) -> list[Annotation]:
    """What a reader of the pull request must see, the worst first and no more than GitHub shows.

    Args:
        place: Where the run is written down, for example its spec.
        gate_places: Where each gate of the run is written down, in order; where that is nowhere, `place` is shown.
        comparison: The run against a baseline. A regression is a warning: whether it stops the build is a gate's
            business.
        gated: Metrics of `comparison` that a gate has judged already, so that no regression is said twice.
    """
    places = [gate_places[row] if row < len(gate_places) else NOWHERE for row in range(len(run.gates))]
    found = [
        _of_gate(line, place if where == NOWHERE else where)
        for line, where in zip(map(gate_line, run.gates), places, strict=True)
        if line.word != "PASS"
    ]
    stopped = stopped_early(run.manifest)
    if stopped:
        found.append(Annotation(level="error", title="The run did not finish", message=stopped, place=place))
    if run.summaries and not any(summary.n for summary in run.summaries):
        why = [kind for summary in run.summaries for kind in (*summary.error_kinds, *summary.skip_reasons)]
        message = f"No evaluator gave a score: {why[0]}" if why else "No evaluator gave a score."
        found.append(Annotation(level="error", title="Nothing was scored", message=message, place=place))
    if comparison is not None:
        found += [
            Annotation(
                level="warning",
                title=f"{metric.metric} regressed",
                message=f"{signed(metric.difference)}"
                + (f" [{signed(metric.interval.low)}, {signed(metric.interval.high)}]" if metric.interval else "")
                + f" against {comparison.baseline} over {plural(metric.pairs, 'shared record')}; "
                f"{count(metric.better)} rose, {count(metric.worse)} fell",
                place=place,
            )
            for metric in comparison.metrics
            if metric.verdict == "REGRESSED" and metric.metric not in gated
        ]
    return [kept for level in ("error", "warning", "notice") for kept in _shown(found, level)]


def append_summary(path: Path, run: GradedRun, *, comparison: Comparison | None = None) -> None:
    """Adds the report of `run`, with its differences against the baseline, to the summary of the job.

    Args:
        path: The file that `GITHUB_STEP_SUMMARY` names. Steps share it, so it is never replaced.
    """
    text = write_markdown(run, options=ReportOptions(examples=3, comparison=comparison))
    said = f"### {code(run.title, 80)}\n\n{text}\n".encode()
    there = path.stat().st_size if path.exists() else 0
    if there + len(said) > MOST_SUMMARY_BYTES:
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("ab") as file:
        file.write(said)


def error_annotations(error: EvalsiError, root: Path | None) -> list[Annotation]:
    """What stopped a command before there was a run: each mistake beside the line of the file that is to blame."""
    problems = error.problems if isinstance(error, InvalidSpecError) else (error,)
    found = [
        Annotation(level="error", title=f"evalsi: {one.code}", message=str(one), place=place_of(one.where or "", root))
        for one in problems
    ]
    return _shown(found, "error")


def place_of(where: str, root: Path | None) -> Place:
    """`where` as a place in the repository that is checked out at `root`; nowhere when it lies outside or is no file.

    Args:
        where: `file`, `file:line` or `file:line:column`, from the working folder.
        root: The folder that `GITHUB_WORKSPACE` names; None takes the working folder.
    """
    found = _FILE_AND_LINE.fullmatch(where)
    file, line = (found["file"], int(found["line"])) if found else (where, None)
    whole = Path(file).resolve() if file and "\0" not in file else Path("/")
    base = (root or Path.cwd()).resolve()
    if not (whole.is_file() and whole.is_relative_to(base)):
        return NOWHERE
    return Place(file=whole.relative_to(base).as_posix(), line=line)


def _of_gate(line: GateLine, place: Place) -> Annotation:
    interval = f" {line.bounds}" if line.bounds else ""
    measured = f"{line.measured} {line.value}{interval}, n = {count(line.n)}" if line.stat and line.value else ""
    titles = {"FAIL": "Gate not met", "NO DATA": "Gate has no data", "INCONCLUSIVE": "Gate not decided"}
    if line.word == "NO DATA":
        measured = ""
    return Annotation(
        level="warning" if line.met else "error",
        title=f"{titles[line.word]}: {line.title}",
        message="\n".join(part for part in (measured, line.reason) if part) or "no data",
        place=place,
    )


def _shown(found: list[Annotation], level: str) -> list[Annotation]:
    of_level = [one for one in found if one.level == level]
    if len(of_level) <= MOST_ANNOTATIONS:
        return of_level
    kept = of_level[: MOST_ANNOTATIONS - 1]
    left = of_level[MOST_ANNOTATIONS - 1 :]
    rest = "\n".join(one_line(one.title, 120) for one in left[:20])
    last = Annotation(level=left[0].level, title=f"and {count(len(left))} more", message=rest, place=left[0].place)
    return [*kept, last]


def _escaped(text: str, codes: dict[str, str]) -> str:
    return "".join(codes.get(character, character) for character in text)
