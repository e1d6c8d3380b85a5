"""A report as a file, by its ending: `.html` is one file that needs nothing else, `.md` a comment, `.xml` JUnit's form."""

from pathlib import Path

from evalsi.core.errors import UsageError
from evalsi.core.whole_file import check_place, whole_file
from evalsi.report.report_options import ReportOptions
from evalsi.results.graded_run import GradedRun

ENDINGS = (".html", ".htm", ".md", ".xml")


def write_report(run: GradedRun, path: Path, options: ReportOptions | None = None) -> None:
    """Writes the report of `run` to `path`. Raises: UsageError: an ending that is none of `ENDINGS`."""
    from evalsi.report.html_report import write_html
    from evalsi.report.junit import write_junit
    from evalsi.report.markdown_report import write_markdown

    check_report_path(path)
    chosen = options or ReportOptions()
    with whole_file(path) as unfinished:
        match path.suffix.lower():
            case ".md":
                unfinished.write_text(write_markdown(run, options=chosen), encoding="utf-8")
            case ".xml":
                write_junit(run, unfinished, comparison=chosen.comparison)
            case _:
                write_html(run, unfinished, options=chosen)


def check_report_path(path: Path) -> None:
    """Refuses, before any work, a path that `write_report` would refuse after it."""
    if path.suffix.lower() not in ENDINGS:
        raise UsageError(f"{path.name}: a report is written as {' or '.join(ENDINGS)}")
    check_place(path)
