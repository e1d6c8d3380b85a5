"""Where the cases that a project makes of its runs and traffic lie below the root of datasets, and that it alone reads them.

Its own module because the root is shared by all projects of a server while these files are not: whoever writes there and
whoever follows a path from a specification must mean the same folder.
"""

import glob
from collections.abc import Iterator
from pathlib import Path

from evalsi.core.errors import InvalidSpecError
from evalsi.datasets.confined_path import confined_path

FOLDER = "promoted"


def promoted_path(project: str, dataset: str) -> str:
    """The path of a dataset of cases, as a specification names it."""
    return f"{FOLDER}/{project}/{dataset}.jsonl"


def check_own_files(root: Path, path: Path, project: str) -> None:
    """Sees that whatever `path` names lies below `root` and is no other project's.

    Args:
        path: Absolute, confined: a file, a folder with everything below it, or a pattern.

    Raises:
        InvalidSpecError: a file of a folder or pattern leads out through a symbolic link, or is of another project.
    """
    inside = root.resolve()
    promoted = inside / FOLDER
    own = promoted / project
    for file in _named(path):
        found = file.resolve()
        if not found.is_relative_to(inside):
            raise InvalidSpecError(f"{file.relative_to(inside)} leads out of its folder through a symbolic link")
        if found.is_relative_to(promoted) and not found.is_relative_to(own):
            raise InvalidSpecError(
                f"the path reaches into {FOLDER}/, where the cases of other projects are",
                hint=f"name a file or folder of this project: {FOLDER}/{project}/…",
            )


def confined_own_path(root: Path, user_path: str, project: str) -> Path:
    """As `confined_path`, of a path that a project names. Raises: as `confined_path` and `check_own_files`."""
    path = confined_path(root, user_path)
    check_own_files(root, path, project)
    return path


def _named(path: Path) -> Iterator[Path]:
    """The path itself, and the files that it stands for where it is a folder or a pattern."""
    yield path
    if path.is_dir():
        yield from (file for file in path.rglob("*") if file.is_file())
    elif glob.has_magic(str(path)) and not path.exists():
        for name in glob.iglob(str(path), recursive=True):  # noqa: PTH207
            yield Path(name)
