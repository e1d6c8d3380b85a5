"""Everything that the interface lists is here by its name, or in one short list of what is not, with the reason.

The lists beside this file hold names only: commands with their flags, evaluators with params and outputs, settings, REST
addresses, methods, variables of the environment.
"""

import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import click
import msgspec
import pytest

import evalsi.schema
from evalsi.cli.app import app
from evalsi.core.errors import EvalsiError
from evalsi.evaluators.catalog import every_definition
from evalsi.schema.method import METHODS, SANDBOX_METHODS
from evalsi.settings.server_keys import server_keys
from tests.docs.test_settings_documented import variables_read

FOLDER = Path(__file__).parent


def lines(name: str) -> list[str]:
    return (FOLDER / f"{name}.txt").read_text(encoding="utf-8").splitlines()


@cache
def listed(kind: str) -> dict[str, str]:
    """What the interface lists of a kind: what it is called, and what it belongs to and is needless without."""
    found: dict[str, str] = {}
    match kind:
        case "command":
            for line in lines("commands"):
                name, _, flags = line.partition(":")
                name = "" if name == "(root)" else name
                found |= {name: ""} if name else {}
                found |= {f"{name} {flag}".strip(): name for flag in flags.split()}
        case "evaluator":
            for line in lines("evaluators"):
                name, _, rest = line.partition(":")
                params, _, outputs = rest.partition("->")
                found[name] = ""
                found |= {f"{name} param {each}": name for each in params.split()}
                found |= {f"{name} output {each}": name for each in outputs.split()}
        case "route":
            found = {line: line.split()[-1] for line in lines("routes")}
        case "method":
            found = dict.fromkeys(lines("methods"), "")
        case "setting":
            found = dict.fromkeys(lines("settings"), "")
        case _:
            found = dict.fromkeys(lines("variables"), "")
    return found


def commands(group: click.Group, above: str = "") -> Iterator[str]:
    """Every command with each of its flags."""
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command is not None
        path = f"{above} {name}".strip()
        yield path
        for parameter in command.params:
            if isinstance(parameter, click.Option):
                yield from (f"{path} {flag}" for flag in (*parameter.opts, *parameter.secondary_opts))
        if isinstance(command, click.Group):
            yield from commands(command, path)


def evaluators() -> Iterator[str]:
    for _, definition in every_definition():
        if isinstance(definition, EvalsiError):
            continue
        name = definition.name
        yield name
        yield from (f"{name} param {field.name}" for field in msgspec.structs.fields(definition.params))
        yield from (f"{name} output {output.name}" for output in definition.outputs)


def plugin_methods() -> Iterator[str]:
    """What the protocol of programs has, by its messages: it is spoken over pipes, so it stands in no table of methods."""
    for each in ("Describe", "Evaluate", "Reduce", "Generate", "LoadDataset", "RunTask"):
        if hasattr(evalsi.schema, f"Plugin{each}Request"):
            yield f"EvaluatorPluginService.{each}"


@cache
def present(kind: str) -> frozenset[str]:
    match kind:
        case "command":
            return frozenset({*commands(app), "--version"})
        case "evaluator":
            return frozenset(evaluators())
        case "route":
            return frozenset(
                f"{method.verb} {path} {method.service.rpartition('.')[2]}.{method.name}"
                for method in METHODS
                for path in (method.path, method.also)
            )
        case "method":
            named = {f"{each.service.rpartition('.')[2]}.{each.name}" for each in (*METHODS, *SANDBOX_METHODS)}
            return frozenset({*named, *plugin_methods()})
        case "setting":
            keys = [key.path for key in server_keys()]
            opened = {key[: at + 1].rstrip(".[") for key in keys for at, mark in enumerate(key) if mark in ".["}
            return frozenset({*keys, *opened})
        case _:
            return frozenset(variables_read())


@cache
def later() -> dict[str, list[str]]:
    """By kind, the names of what is not here."""
    document = tomllib.loads((FOLDER / "later.toml").read_text(encoding="utf-8"))
    assert all(len(entry["reason"].split()) > 3 for entries in document.values() for entry in entries)
    return {kind: [name for entry in entries for name in entry["names"]] for kind, entries in document.items()}


def stands_for(pattern: str, name: str) -> bool:
    if pattern.endswith(" *"):  # a group of commands, and the group itself
        return name == pattern[:-2] or name.startswith(pattern[:-1])
    return name.startswith(pattern[:-1]) if pattern.endswith("*") else name == pattern


def is_later(kind: str, name: str) -> bool:
    return any(stands_for(pattern, name) for pattern in later().get(kind, []))


KINDS = ("command", "evaluator", "route", "method", "setting", "variable")


@pytest.mark.parametrize("kind", KINDS)
def test_what_the_interface_lists_is_here_or_has_a_reason_not_to_be(kind: str) -> None:
    owner_kind = "method" if kind == "route" else kind
    missing = [
        name
        for name, owner in listed(kind).items()
        if name not in present(kind) and not is_later(kind, name) and not (owner and is_later(owner_kind, owner))
    ]
    assert missing == []


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_said_to_come_later_is_of_the_interface_and_does_not_exist_yet(kind: str) -> None:
    for pattern in later().get(kind, []):
        meant = [name for name in listed(kind) if stands_for(pattern, name)]
        assert meant, f"{pattern} is nothing that the interface lists"
        assert not [name for name in meant if name in present(kind)], f"{pattern} is here"
        assert not [name for name in present(kind) if stands_for(pattern, name)], f"{pattern} is here"


def test_the_lists_are_whole() -> None:
    """So that a line lost in a merge is noticed."""
    assert {kind: len(listed(kind)) for kind in KINDS} == {
        "command": 783,
        "evaluator": 312,
        "route": 88,
        "method": 110,
        "setting": 265,
        "variable": 30,
    }
