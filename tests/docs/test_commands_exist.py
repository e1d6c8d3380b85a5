"""Every command and flag that any page mentions exists."""

import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from evalsi.cli.app import COMMANDS, app
from tests.docs.pages import blocks_of, commands_of, name_of, pages, prose_of

FOREIGN_FLAGS = {"--check", "--frozen", "--no-sync", "--extra", "--port", "--latency", "--rerun", "--backup", "--all"}
"""Flags of other programs that prose mentions alone."""
_SPAN = re.compile(r"(?<!`)`([^`\n]+)`(?!`)")
_RUN_STEP = re.compile(r"^\s*-?\s*run:\s*(?:\|\s*)?(.*)$")


def find(words: list[str]) -> tuple[click.Command, list[str]] | str:
    """The command that `words` name and the words after it; else what is wrong."""
    context = click.Context(app, info_name="evalsi")
    command: click.Command = app
    rest = list(words)
    while isinstance(command, click.Group) and rest and not rest[0].startswith("-"):
        following = command.get_command(context, rest[0])
        if following is None:
            # A group's name in prose may be followed by a choice of its commands: `runs list|show|rm`.
            return f"{command.name} has no command {rest[0]!r}"
        command, rest = following, rest[1:]
    return command, rest


def flags_of(command: click.Command) -> set[str]:
    names = {"--help", "-h"}
    for parameter in command.params:
        names.update(parameter.opts + parameter.secondary_opts)
    return names


def every_flag() -> set[str]:
    found: set[str] = {"--version"}
    for name in COMMANDS:
        command = app.get_command(click.Context(app), name)
        assert command is not None
        found |= flags_below(command)
    return found


def flags_below(command: click.Command) -> set[str]:
    if not isinstance(command, click.Group):
        return flags_of(command)
    context = click.Context(command)
    inner = (command.get_command(context, name) for name in command.list_commands(context))
    return flags_of(command).union(*(flags_below(each) for each in inner if each is not None))


def problems_of(line: str) -> list[str]:
    """What is wrong with a line that begins with `evalsi`. Placeholders and pipes end what is checked."""
    line = re.split(r"\s(?:\||>|&&|\|\||#)\s?", line)[0]
    try:
        words = shlex.split(line.replace("…", " "))[1:]
    except ValueError:
        words = line.replace("…", " ").split()[1:]
    choices = words[1].split("|") if len(words) > 1 and "|" in words[1] else None
    if choices:
        return [problem for choice in choices for problem in problems_of(f"evalsi {words[0]} {choice}")]
    found = find(words)
    if isinstance(found, str):
        return [found]
    command, rest = found
    known = flags_of(command)
    flags = [word.partition("=")[0] for word in rest if re.fullmatch(r"--?[a-z][\w-]*(=.*)?", word, re.DOTALL)]
    return [f"{command.name} has no flag {flag}" for flag in flags if flag not in known]


def lines_of(page: Path) -> list[tuple[str, str]]:
    """(place, text) of everything on a page that begins with `evalsi `."""
    found: list[tuple[str, str]] = []
    for block in blocks_of(page):
        for command in commands_of(block):
            found += [(block.place, part.strip()) for part in re.split(r"&&|\|\||\|", command.line)]
        if block.language in ("yaml", "text"):
            found += [(block.place, match[1]) for line in block.text.splitlines() if (match := _RUN_STEP.match(line))]
            found += [(block.place, line.strip()) for line in block.text.splitlines()]
    for number, line in enumerate(prose_of(page).splitlines(), 1):
        found += [(f"{name_of(page)}:{number}", span) for span in _SPAN.findall(line)]
    return [(place, text) for place, text in found if text.startswith("evalsi ")]


@pytest.mark.parametrize("page", pages(), ids=name_of)
def test_every_command_that_a_page_mentions_exists(page: Path) -> None:
    problems = [f"{place}: {problem} ({text})" for place, text in lines_of(page) for problem in problems_of(text)]
    assert not problems, "\n".join(problems)


@pytest.mark.parametrize("page", pages(), ids=name_of)
def test_every_flag_that_prose_mentions_alone_exists(page: Path) -> None:
    known = every_flag() | FOREIGN_FLAGS
    flags = [flag for span in _SPAN.findall(prose_of(page)) for flag in re.findall(r"^--[a-z][\w-]*", span)]
    assert [flag for flag in flags if flag not in known] == []


def test_a_wrong_command_and_a_wrong_flag_are_found() -> None:
    assert problems_of("evalsi evla --data x") == ["app has no command 'evla'"]
    assert problems_of("evalsi eval --dta x") == ["eval has no flag --dta"]
    assert problems_of("evalsi runs list|shwo") == ["runs has no command 'shwo'"]


def commands_below(command: click.Command, above: click.Context | None, name: str) -> Iterator[tuple[str, str]]:
    """Every command with the help that it prints. A command remembers the names of its help flag from whoever asks first."""
    names = app.context_settings["help_option_names"]
    context = click.Context(command, parent=above, info_name=name, help_option_names=names)
    yield context.command_path, command.get_help(context)
    if isinstance(command, click.Group):
        for each in command.list_commands(context):
            inner = command.get_command(context, each)
            assert inner is not None
            yield from commands_below(inner, context, each)


def test_no_help_shows_what_is_meant_for_whoever_lays_it_out() -> None:
    assert [path for path, told in commands_below(app, None, "evalsi") if "\\b" in told] == []
