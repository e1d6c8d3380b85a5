"""The files that a run writes: those of the flags and those of the specification's sinks."""

from collections.abc import Callable
from pathlib import Path
from typing import Any


def check_paths(flags: dict[str, Any]) -> None:
    """Refuses, before any work, paths that would be refused after it."""
    from evalsi.report.write import check_report_path
    from evalsi.results.save import check_path

    if flags["output"] is not None:
        check_path(Path(flags["output"]))
    if flags["report_path"] is not None:
        check_report_path(Path(flags["report_path"]))


def write_files(run: Any, document: Any, flags: dict[str, Any], comparison: Any = None) -> None:
    """Writes every file that was asked for; reports show `comparison`, the run against its baseline."""
    from functools import partial

    from evalsi.report import junit
    from evalsi.report import write as report
    from evalsi.report.report_options import ReportOptions
    from evalsi.results.save import save

    write_junit = partial(junit.write_junit, comparison=comparison)
    write_report = partial(report.write_report, options=ReportOptions(comparison=comparison))

    wanted: list[tuple[Callable[[Any, Path], None], str]] = []
    for flag, write in (("output", save), ("report_path", write_report), ("junit_path", write_junit)):
        if flags[flag] is not None:
            wanted.append((write, flags[flag]))
    for sink in document.spec.sinks:
        for name, write in (
            ("json", save),
            ("csv", save),
            ("html", write_report),
            ("markdown", write_report),
            ("junit", write_junit),
        ):
            path = getattr(sink, name)
            if path is not None:
                wanted.append((write, path))
    for write, path in wanted:
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        write(run, Path(path))
