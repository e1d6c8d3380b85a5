"""`evalsi catalog`: every evaluator, a pack, or one evaluator's page with params and an example."""

from typing import Any

import click

from evalsi.cli.server_options import server_here, server_options
from evalsi.cli.terminal import as_json, console, say

UNCUT_WIDTH = 1_000
"""Columns where nobody looks at a terminal: whoever reads the list from a pipe wants all of it."""


@click.command()
@click.argument("name", required=False)
@click.option("--pack", metavar="PACK", help="Only the evaluators of this pack.")
@click.option(
    "--format", "output_format", type=click.Choice(["table", "json", "md"]), default="table", show_default=True
)
@server_options
def catalog(name: str | None, pack: str | None, output_format: str) -> None:
    """List evaluators, or show one with its params and an example.

    \b
    evalsi catalog --pack text
    evalsi catalog contains
    """  # noqa: D301
    from evalsi.settings import Settings

    server = server_here(Settings.from_environment())
    if server is None:
        _show(_here(name, pack), name, output_format)
    else:
        _show(_on_server(server, name, pack), name, output_format)


def _show(found: Any, name: str | None, output_format: str) -> None:
    rows, broken = found
    if name is not None:
        ((_, manifest, page),) = rows
        print(as_json(manifest) if output_format == "json" else page())
        return
    rows = [(title, manifest) for title, manifest, _ in rows]
    if output_format == "json":
        print(as_json([manifest for _, manifest in rows]))
    elif output_format == "md":
        print("| evaluator | scope | needs | outputs | what it measures |\n|---|---|---|---|---|")
        for title, manifest in rows:
            cells = [title, str(manifest.scope), _needs(manifest), _outputs(manifest), manifest.description]
            print("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
    else:
        _print_table(rows)
    for title, error in broken:
        say(f"{title} is left out: {error}")


_Rows = tuple[list[tuple[str, Any, Any]], list[tuple[str, Exception]]]
"""Title, manifest and what makes the page of each evaluator; title and error of those that cannot be loaded."""


def _here(name: str | None, pack: str | None) -> _Rows:
    from evalsi.core.errors import EvalsiError, UnknownNameError
    from evalsi.evaluators.binding import manifest_of
    from evalsi.evaluators.catalog import every_definition, load, packs

    if name is not None:
        definition = load(name)
        return [(name, manifest_of(definition), lambda: page_of(definition))], []
    if pack is not None and pack not in packs():
        raise UnknownNameError("pack", pack, packs())
    rows: list[tuple[str, Any, Any]] = []
    broken: list[tuple[str, Exception]] = []
    for title, found in every_definition(pack):
        if isinstance(found, EvalsiError):
            broken.append((title, found))
        else:
            rows.append((title, manifest_of(found), None))
    return rows, broken


def _on_server(server: Any, name: str | None, pack: str | None) -> _Rows:
    from evalsi.client.client import Client
    from evalsi.client.server_catalog import manifest_named
    from evalsi.core.errors import UnknownNameError
    from evalsi.schema import ListEvaluatorsRequest

    with Client(server.url, api_key=server.api_key, proxy=server.proxy) as client:
        manifests = client.list_evaluators(ListEvaluatorsRequest()).evaluators
    if name is not None:
        manifest = manifest_named(name, manifests)
        return [(name, manifest, lambda: _page_of_manifest(manifest))], []
    packs = sorted({manifest.pack for manifest in manifests})
    if pack is not None and pack not in packs:
        raise UnknownNameError("pack", pack, packs)
    wanted = [manifest for manifest in manifests if pack is None or manifest.pack == pack]
    return [(_title(manifest), manifest, None) for manifest in wanted], []


def _title(manifest: Any) -> str:
    return f"{manifest.pack}/{manifest.name}" if manifest.pack else manifest.name


def _print_table(rows: list[tuple[str, Any]]) -> None:
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    table.add_column("evaluator", no_wrap=True)
    table.add_column("needs", no_wrap=True)
    table.add_column("what it measures", no_wrap=True, overflow="ellipsis")
    widest = max((len(title) for title, _ in rows), default=0) + max((len(_needs(each)) for _, each in rows), default=0)
    target = console(UNCUT_WIDTH)
    room = max(20, target.width - widest - 4)
    for title, manifest in rows:
        about = manifest.description
        about = about if len(about) <= room else about[: room - 1] + "…"
        table.add_row(Text(title, style="bold"), _needs(manifest), Text(about))
    target.print(table)
    say(f"{len(rows)} evaluators; one in full: evalsi catalog NAME")


def _needs(manifest: Any) -> str:
    requires = manifest.requires
    names = ("input", "output", "reference", "context", "trajectory", "judge")
    return " ".join(name for name in names if getattr(requires, name))


def _outputs(manifest: Any) -> str:
    return ", ".join(spec.name for spec in manifest.outputs) or manifest.name


def page_of(definition: Any) -> str:
    """One evaluator's page, as Markdown that reads well in a terminal."""
    import inspect

    from evalsi.evaluators.binding import manifest_of

    return _page(
        manifest_of(definition),
        about=inspect.getdoc(definition.code) or "",
        example=dict(definition.example),
        command=command_of(definition),
    )


def _page_of_manifest(manifest: Any) -> str:
    """The page of an evaluator that is on a server, from what it says of itself."""
    from evalsi.schema.json_codec import to_jsonable

    example = to_jsonable(manifest.example, camel=False) if manifest.example is not None else {}
    command = f"evalsi eval --data outputs.jsonl --evaluators {manifest.name} --server URL"
    return _page(manifest, about="", example=example, command=command)


def _page(manifest: Any, *, about: str, example: dict[str, Any], command: str) -> str:
    lines = [f"# {_title(manifest)} {manifest.version}", "", about or manifest.description, ""]
    lines += [f"Scope: {manifest.scope}. Needs: {_needs(manifest) or 'nothing'}.", "", "## Outputs", ""]
    for spec in manifest.outputs:
        low = "" if spec.min is None else f"{spec.min:g}"
        high = "" if spec.max is None else f"{spec.max:g}"
        span = f" [{low}, {high}]" if low or high else ""
        better = {True: "higher is better", False: "lower is better", None: "no better direction"}[
            spec.higher_is_better
        ]
        lines.append(f"- `{spec.name}`: {spec.type}{span}, {better}. {spec.description}".rstrip())
    if not manifest.outputs:
        lines.append(f"- `{manifest.name}`: typed by what it returns")
    properties: dict[str, Any] = manifest.params_schema.get("properties", {})
    lines += ["", "## Params", ""]
    required = manifest.params_schema.get("required", [])
    for key, schema in properties.items():
        default = "required" if key in required else f"default {_json(schema.get('default'))}"
        about = f" {schema['description']}" if "description" in schema else ""
        lines.append(f"- `{key}`: {_type_of(schema)}, {default}.{about}")
    if not properties:
        lines.append("None.")
    if example:
        lines += ["", "## Example", "", "```json", as_json(example), "```"]
    lines += ["", "## Run it", "", f"    {command}"]
    return "\n".join(lines)


def command_of(definition: Any) -> str:
    """A command line that runs the evaluator, with the params of its example."""
    command = f"evalsi eval --data outputs.jsonl --evaluators {definition.name}"
    for key, value in definition.example.get("params", {}).items():
        text = value if isinstance(value, str) else _json(value)
        command += f" --param '{definition.name}.{key}={text}'"
    if "judge" in definition.requires:
        command += " --judge-provider openai-compatible --judge-model NAME"
    return command


def _json(value: Any) -> str:
    import msgspec

    return msgspec.json.encode(value).decode()


def _type_of(schema: dict[str, Any]) -> str:
    if "enum" in schema:
        return " | ".join(_json(value) for value in schema["enum"])
    if "anyOf" in schema:
        return " | ".join(_type_of(each) for each in schema["anyOf"])
    if schema.get("type") == "array":
        return f"list of {_type_of(schema.get('items', {}))}"
    return str(schema.get("type", "any"))
