"""Loads Python that a user names, "module" or "path/to/file.py": the one place where foreign code enters by name."""

import importlib
import importlib.util
import sys
from collections.abc import Generator
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from typing import Any

from evalsi.core.errors import PluginError, UnknownNameError, described
from evalsi.core.overdue import OverdueError, ended_after

ANYTHING = (Exception, SystemExit)
"""What the code of others may raise while it is called; it must not end our process."""
IMPORT_DEADLINE_S = 120.0


@contextmanager
def importing(what: str, *, deadline_s: float = IMPORT_DEADLINE_S) -> Generator[None]:
    """Types whatever the import of others' code in the block raises, and ends one that does not end.

    Args:
        what: What is imported and cannot be, as a sentence begins: "module 'x' cannot be imported".

    Raises: PluginError: says what it raised, or that it took too long.
    """
    try:
        with ended_after(deadline_s):
            yield
    except SystemExit as stop:
        raise PluginError(
            f"{what}: {who_exits(stop)} when it is imported; put what a program does below if __name__ == '__main__'"
        ) from stop
    except Exception as error:
        raise PluginError(f"{what}: {described(error)}") from error
    except OverdueError:
        raise PluginError(f"{what}: its import has not ended after {deadline_s:g} s") from None


def who_exits(stop: SystemExit) -> str:
    """Which file called sys.exit, with the line, and with what; its own words where it exits with some."""
    if isinstance(stop.code, str):
        return described(stop)
    last = stop.__traceback__
    while last is not None and last.tb_next is not None:
        last = last.tb_next
    place = f"{last.tb_frame.f_code.co_filename}:{last.tb_lineno}" if last is not None else "it"
    return f"{place} calls sys.exit({'' if stop.code is None else repr(stop.code)})"


def load_module(place: str, *, folder: Path | None = None, deadline_s: float = IMPORT_DEADLINE_S) -> Any:
    """The module that `place` names.

    Args:
        folder: What relative files are relative to, and where modules are looked for after everything installed; the
            current folder when None.

    Raises:
        UnknownNameError: there is no such file or module.
        PluginError: it cannot be imported; says what it raised, or that it took longer than `deadline_s`.
    """
    home = str((folder or Path.cwd()).resolve())
    if home not in sys.path:
        sys.path.append(home)
    if place.endswith(".py"):
        return _load_file(Path(place) if folder is None else folder / place, deadline_s)
    with importing(f"module {place!r} cannot be imported", deadline_s=deadline_s):
        try:
            return importlib.import_module(place)
        except ModuleNotFoundError as error:
            if error.name is None or not f"{place}.".startswith(f"{error.name}."):
                raise
            missing = error.name
    raise UnknownNameError("module", missing, [path.stem for path in Path(home).glob("*.py")])


def _load_file(path: Path, deadline_s: float) -> Any:
    """The module of a file, executed once per content: files of one name in two folders are two modules."""
    if not path.is_file():
        raise UnknownNameError("file", str(path), [str(each) for each in path.parent.glob("*.py")])
    try:
        content = path.read_bytes()
    except OSError as error:
        raise PluginError(f"{path} cannot be read: {error.strerror}") from error
    name = f"evalsi_file_{path.stem}_{sha256(str(path.resolve()).encode() + content).hexdigest()[:12]}"
    if name in sys.modules:
        return sys.modules[name]
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        with importing(f"{path} cannot be loaded", deadline_s=deadline_s):
            # Compiled here: the loader's bytecode cache goes by seconds, and a file edited within one would run as it was.
            exec(compile(content, str(path), "exec"), module.__dict__)  # noqa: S102 - running the file is what was asked
    except PluginError:
        del sys.modules[name]
        raise
    return module
