"""Files that appear only when they are whole: written beside their place, then put there in one step.

Its own module because every file that people read afterwards, results and reports, is written so.
"""

import os
from collections.abc import Generator, Iterable
from contextlib import contextmanager, suppress
from pathlib import Path

from evalsi.core.errors import UsageError


@contextmanager
def whole_file(path: Path) -> Generator[Path]:
    """Gives the path to write to. When the block ends well the file is at `path`; otherwise nothing is left behind.

    Two processes that write the same file do not meet before the last step, and the later one wins.

    Raises:
        OSError: as the system says it, with `path` as its file name, also where a write failed and not an open.
    """
    unfinished = path.with_name(f".{path.stem[:40]}-{os.getpid()}.unfinished")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        yield unfinished
        unfinished.replace(path)  # from here on a file of that name is another's, who writes the same in this process
    except BaseException as error:
        unfinished.unlink(missing_ok=True)
        if not isinstance(error, OSError) or error.errno is None or error.filename not in (None, str(unfinished)):
            raise
        raise OSError(error.errno, error.strerror, str(path)) from error


def sync_folder(folder: Path) -> None:
    """Sees that the names in a folder survive a power failure. Raises: OSError."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def check_place(path: Path, inputs: Iterable[str | Path] = ()) -> None:
    """Refuses, before any work, a place where `whole_file` would fail after it, or would replace what is read.

    Args:
        inputs: Files that the work reads.
    """
    if path.is_dir():
        raise UsageError(f"{path} is a folder", hint="name a file")
    folder = next((folder for folder in path.absolute().parents if folder.exists()), path)
    if not folder.is_dir() or not os.access(folder, os.W_OK):
        raise UsageError(f"{path} cannot be written: {folder} is no folder that may be written to")
    for name in inputs:
        same = False
        with suppress(OSError, ValueError):  # an input that is no file: a pattern, an address, a text of any length
            same = path.samefile(name)
        if same:
            raise UsageError(f"{path} would be replaced, and it is what is read", hint="name another file")
