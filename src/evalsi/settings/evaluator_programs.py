"""The programs that grade, as a file lists them for the operator of a machine or a server.

Its own module because command line, server and workers read the same file, by the same variable. What always holds: a
program sees of the environment what is named for it here, and nothing else that could be a secret.
"""

import re
from pathlib import Path

import msgspec

from evalsi.core.errors import InvalidSpecError, NotFoundError
from evalsi.documents.yaml_tree import read_yaml
from evalsi.evaluators.builtin import BUILTIN

_NAME = re.compile(r"[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\Z")


class ProgramSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A program that grades."""

    command: list[str]
    """Program and arguments. `--listen unix:///…` is added: where it has to serve the plugin protocol."""
    environment: list[str] = []
    """Names of environment variables that it is given beside PATH, HOME, LANG and TMPDIR."""
    folder: str = ""
    """Folder that it is started in; relative ones, and by default that of the file."""
    start_timeout_s: float = 60.0
    """Seconds that it has to get ready."""
    batch: int = 32
    """Most records that it is given at once, where an evaluator takes several."""


class _ProgramsFile(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    plugins: dict[str, ProgramSettings] = {}


def read_evaluator_programs(path: Path) -> dict[str, ProgramSettings]:
    """The programs in a YAML or JSON file, by name, with their folders made absolute.

    Raises: NotFoundError: there is no such file. InvalidSpecError: something in it is wrong.
    """
    try:
        text = path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise NotFoundError(f"the file of plugins {path} cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise InvalidSpecError("the file is not UTF-8", where=str(path)) from None
    try:
        found = msgspec.convert(read_yaml(text, str(path)).value, _ProgramsFile)
    except msgspec.ValidationError as error:
        raise InvalidSpecError(
            str(error), where=str(path), hint="a plugin has command, environment, folder, start_timeout_s and batch"
        ) from None
    for name, program in found.plugins.items():
        where = f"{path}: plugins.{name}"
        if not _NAME.match(name):
            raise InvalidSpecError("is no name", where=where, hint="use 1 to 63 lower-case letters, digits and dashes")
        if name in ("builtin", *BUILTIN):
            raise InvalidSpecError(
                "is the name of evaluators that come with evalsi", where=where, hint="choose another"
            )
        if not program.command:
            raise InvalidSpecError("names no program", where=f"{where}.command")
        if program.start_timeout_s <= 0 or program.batch < 1:
            raise InvalidSpecError("start_timeout_s must be above 0 and batch at least 1", where=where)
    folder = path.absolute().parent
    return {
        name: msgspec.structs.replace(program, folder=str(folder / program.folder))
        for name, program in found.plugins.items()
    }
