"""`evalsi report`: a run as one HTML file, or as Markdown."""

import click

from evalsi.cli.server_options import server_here, server_options
from evalsi.cli.terminal import say


@click.command()
@click.argument("run", default="latest")
@click.option(
    "-o",
    "--out",
    required=True,
    metavar="FILE",
    help="Where to write: .html (one file, no network), .md or .xml (JUnit); - prints Markdown.",
)
@click.option("--baseline", metavar="RUN", help="Show the comparison with this run too.")
@click.option(
    "--examples", type=click.IntRange(min=0), default=5, show_default=True, help="Lowest records to show per metric."
)
@click.option(
    "--by",
    "slices",
    multiple=True,
    metavar="KEY",
    help="Metadata key to slice by; by default those with few values. Repeatable.",
)
@click.option("--title", default="", help="Title of the report.")
@server_options
def report(run: str, out: str, baseline: str | None, examples: int, slices: tuple[str, ...], title: str) -> None:
    """Write a report of RUN: a run id or its beginning, a name, latest, latest~1 or a results file.

    \b
    evalsi report latest -o report.html
    evalsi report results.json -o report.md --baseline base.json
    """  # noqa: D301
    import sys
    from contextlib import ExitStack
    from pathlib import Path

    from evalsi.compare.compare_runs import compare_runs
    from evalsi.core.inert import inert_log
    from evalsi.report.markdown_report import write_markdown
    from evalsi.report.report_options import ReportOptions
    from evalsi.report.write import check_report_path, write_report
    from evalsi.settings import Settings
    from evalsi.wiring.reading_runs import reading_run

    settings = Settings.from_environment()
    server = server_here(settings)
    if out != "-":
        check_report_path(Path(out))
    with ExitStack() as stack:
        graded = stack.enter_context(reading_run(run, settings, server, need="records"))
        comparison = None
        if baseline is not None:
            before = stack.enter_context(reading_run(baseline, settings, server, need="scores"))
            comparison = compare_runs(before, graded)
        options = ReportOptions(examples=examples, slices=list(slices) or None, title=title, comparison=comparison)
        if out == "-":
            sys.stdout.write(inert_log(write_markdown(graded, options=options)))
            return
        write_report(graded, Path(out), options)
    say(f"wrote {out}")
