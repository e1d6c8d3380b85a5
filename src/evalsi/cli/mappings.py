"""`evalsi mappings`: how spans are read, checked before anything depends on it."""

from pathlib import Path

import click

from evalsi.cli.format_option import format_option


@click.group()
def mappings() -> None:
    """Check a mapping of spans and see what it reads."""


@mappings.command()
@click.argument("file", metavar="MAPPING")
@click.option("--traces", "source", metavar="FILE", help="OTLP to read with it, as a preview.")
@format_option()
def check(file: str, source: str | None, output_format: str) -> None:
    """Check a mapping, and show what it makes of the traces in a file.

    A span that no mapping tells the kind of is shown as a generic step: it is kept, and not judged.
    """
    from evalsi.cli.terminal import as_json, say
    from evalsi.cli.traces import tracing_of
    from evalsi.datasets.imports import ImportedSample, samples_of_otlp

    tracing = tracing_of((file,))
    mapping = tracing.mappers.mappings[0]
    if source is None:
        say(f"{mapping.name} revision {mapping.revision} is sound; --traces FILE shows what it reads")
        return
    samples = samples_of_otlp(Path(source.removeprefix("otlp://")), tracing)
    records = [sample.record for sample in samples if isinstance(sample, ImportedSample)]
    if output_format == "json":
        print(as_json(records))
        return
    from evalsi.cli.table import excerpt, print_table, text, whole
    from evalsi.core.content import text_of
    from evalsi.traces.step_of_span import FLAGS, MAPPING

    columns = (
        whole("trace"),
        whole("step"),
        text("name"),
        text("read by"),
        whole("tokens"),
        excerpt("output"),
        text("odd"),
    )
    rows: list[tuple[str, ...]] = []
    for record in records:
        assert record.trajectory is not None
        for step in record.trajectory.steps:
            usage = step.usage
            tokens = f"{usage.input_tokens}/{usage.output_tokens}" if usage is not None else ""
            cells = (
                record.id[:8],
                step.type.name.lower(),
                step.name,
                step.attributes.get(MAPPING, "-"),
                tokens,
                text_of(step.output),
                ", ".join(step.attributes.get(FLAGS, [])),
            )
            rows.append(tuple(map(str, cells)))
    print_table(columns, rows)
