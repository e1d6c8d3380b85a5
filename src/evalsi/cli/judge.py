"""`evalsi judge`: check a judge against people's labels."""

from typing import Any

import click

from evalsi.cli.confidence_option import confidence_option
from evalsi.cli.format_option import format_option
from evalsi.cli.table import number, print_table, text
from evalsi.cli.terminal import as_json, say
from evalsi.core.figure import figure


@click.group()
def judge() -> None:
    """Check a judge against people's labels."""


@judge.command()
@click.argument("run", default="latest")
@click.option("--labels", required=True, metavar="FILE", help="Labels: one row per record and person.")
@click.option("--metric", required=True, metavar="NAME", help="The judged metric.")
@click.option(
    "--record-column", default="record_id", show_default=True, metavar="NAME", help="Column of the record's id."
)
@click.option(
    "--person-column", default="annotator", show_default=True, metavar="NAME", help="Column that says who labelled."
)
@click.option("--label-column", default="passed", show_default=True, metavar="NAME", help="Column of the label.")
@click.option(
    "--where", metavar="CEL", help="Only labels for which this holds, e.g. 'metadata.assistant == \"birch\"'."
)
@click.option(
    "--passing-from",
    type=float,
    metavar="X",
    help="From which value on the judge passes; needed where people said pass or fail.",
)
@confidence_option()
@format_option()
def calibrate(run: str, **flags: Any) -> None:
    """Compare the judged METRIC of RUN with people's labels of the same records.

    \b
    evalsi judge calibrate birch --labels labels.jsonl --metric correctness --passing-from 0.75

    The calibration is kept beside the store; a gate on a judge without one is warned about.
    """  # noqa: D301
    from evalsi.core.clock import SystemClock
    from evalsi.datasets import DatasetOptions, open_dataset
    from evalsi.score.calibrate_judge import LabelColumns, calibrate_judge, read_labels
    from evalsi.settings import Settings
    from evalsi.wiring.calibrations import keep_calibration
    from evalsi.wiring.reading_runs import reading_run

    settings = Settings.from_environment()
    columns = LabelColumns(record=flags["record_column"], person=flags["person_column"], label=flags["label_column"])
    labels = read_labels(open_dataset(flags["labels"], options=DatasetOptions(where=flags["where"])), columns)
    with reading_run(run, settings) as graded:
        record = calibrate_judge(
            graded,
            flags["metric"],
            labels,
            passing_from=flags["passing_from"],
            level=flags["confidence"],
            now=SystemClock().now(),
        )
    keep_calibration(record, settings)
    missing = len(labels) - record.calibration.cases
    if missing:
        say(f"note: {missing} of {len(labels)} labelled records are not in the run, and are left out")
    if flags["output_format"] == "json":
        print(as_json(record))
        return
    _print(record)


ROWS = (
    ("agreement", "agreement with people"),
    ("kappa", "Cohen's kappa"),
    ("ac1", "Gwet's AC1"),
    ("people_alpha", "people among themselves (alpha)"),
    ("rank_correlation", "rank correlation"),
    ("difference", "judge minus people"),
    ("false_pass", "passes what people fail"),
    ("false_fail", "fails what people pass"),
    ("order_consistency", "same verdict in both orders"),
    ("position_bias", "position bias"),
    ("length_bias", "length bias"),
)


def _print(record: Any) -> None:
    found = record.calibration
    say(
        f"{record.evaluator} by {record.judge or 'an unknown judge'}: {found.compared} cases compared, {found.people} {'person' if found.people == 1 else 'people'}, "
        f"{found.errors} without a verdict, {found.split} on which people are split"
    )
    rows: list[tuple[str, ...]] = []
    for key, title in ROWS:
        shown = getattr(found, key)
        if shown is None:
            continue
        interval = shown.reason or figure(None)
        if shown.low is not None and shown.high is not None:
            interval = f"[{figure(shown.low)}, {figure(shown.high)}]"
        rows.append((title, figure(shown.value), f"{shown.n:,}", interval))
    print_table((text("figure"), number("value"), number("n"), text("interval")), rows)
