"""Keys that `evalsi login` keeps, by the address of their server, in a file that its owner alone may read.

Its own module because calls read it and two commands write it.
"""

import json
import os
import tempfile
from pathlib import Path
from typing import Any, cast

from evalsi.core.errors import UsageError
from evalsi.settings import Settings


def kept_key(server: str, settings: Settings) -> str:
    """The key for a server; empty when none is kept."""
    entry = _read(_file_of(settings)).get(server)
    return str(cast("dict[str, Any]", entry).get("api_key", "")) if isinstance(entry, dict) else ""


def keep_key(server: str, key: str, settings: Settings) -> Path:
    """Keeps the key and says where. The file is new at once or not at all."""
    path = _file_of(settings)
    _write(path, _read(path) | {server: {"api_key": key}})
    return path


def drop_key(server: str, settings: Settings) -> bool:
    """Forgets the key of a server; whether there was one."""
    path = _file_of(settings)
    kept = _read(path)
    if kept.pop(server, None) is None:
        return False
    _write(path, kept)
    return True


def _file_of(settings: Settings) -> Path:
    return settings.credentials.expanduser()


def _read(path: Path) -> dict[str, Any]:
    try:
        kept = json.loads(path.read_bytes())
    except FileNotFoundError:
        return {}
    except ValueError:
        kept = None
    if not isinstance(kept, dict):
        raise UsageError(f"the file of kept keys {path} cannot be read", hint="remove it and run 'evalsi login' again")
    return cast("dict[str, Any]", kept)


def _write(path: Path, kept: dict[str, Any]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    handle, name = tempfile.mkstemp(dir=path.parent)  # mkstemp lets nobody else read
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            json.dump(kept, file, indent=2)
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
