"""`evalsi catalog`: every evaluator, a pack, or one evaluator's page with params and an example."""

from typing import Any

import click

from evalsi.cli.format_option import format_option
from evalsi.cli.server_options import client_of, server_here, server_options
from evalsi.cli.table import excerpt, print_table, text
from evalsi.cli.terminal import as_json, say
from evalsi.core.figure import counted


@click.command()
@click.argument("name", required=False)
@click.option("--pack", metavar="PACK", help="Only the evaluators of this pack.")
@click.option("--search", default="", metavar="WORDS", help="Only those whose name or description has all these words.")
@format_option(("table", "json", "md"))
@server_options
def catalog(name: str | None, pack: str | None, search: str, output_format: str) -> None:
    """List evaluators, or show one with its params and an example.

    \b
    evalsi catalog --pack text
    evalsi catalog --search json
    evalsi catalog contains
    """  # noqa: D301
    from evalsi.settings import Settings

    server = server_here(Settings.from_environment())
    if server is None:
        _show(_here(name, pack), name, search, output_format)
    else:
        _show(_on_server(server, name, pack), name, search, output_format)


def _show(found: Any, name: str | None, search: str, output_format: str) -> None:
    rows, broken = found
    if name is not None:
        ((_, manifest, page),) = rows
        print(as_json(manifest) if output_format == "json" else page())
        return
    words = search.lower().split()
    rows = [(title, manifest) for title, manifest, _ in rows if _has(words, title, manifest)]
    if search and not rows:
        say(f"no evaluator has {' and '.join(words)} in its name or description")
        return
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
    from evalsi.client.server_catalog import manifest_named
    from evalsi.core.errors import UnknownNameError
    from evalsi.schema import ListEvaluatorsRequest

    with client_of(server) as client:
        manifests = client.list_evaluators(ListEvaluatorsRequest()).evaluators
    if name is not None:
        manifest = manifest_named(name, manifests)
        return [(name, manifest, lambda: _page_of_manifest(manifest))], []
    packs = sorted({manifest.pack for manifest in manifests})
    if pack is not None and pack not in packs:
        raise UnknownNameError("pack", pack, packs)
    wanted = [manifest for manifest in manifests if pack is None or manifest.pack == pack]
    return [(_title(manifest), manifest, None) for manifest in wanted], []


def _has(words: list[str], title: str, manifest: Any) -> bool:
    said = " ".join([title, manifest.description, *(f"{each.name} {each.description}" for each in manifest.outputs)])
    return all(word in said.lower() for word in words)


def _title(manifest: Any) -> str:
    return f"{manifest.pack}/{manifest.name}" if manifest.pack else manifest.name


def _print_table(rows: list[tuple[str, Any]]) -> None:
    from rich.text import Text

    columns = (text("evaluator"), text("needs"), excerpt("what it measures"))
    print_table(columns, [(Text(title, style="bold"), _needs(each), each.description) for title, each in rows])
    say(f"{counted(len(rows), 'evaluator')}; one in full: evalsi catalog NAME")


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
        default = (
            "required"
            if key in required
            else f"default {_json(schema['default'])}"
            if "default" in schema
            else "optional"
        )
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
