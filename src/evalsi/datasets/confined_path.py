"""A path that a user of a server names, kept inside the folder that is theirs."""

import re
from pathlib import Path

from evalsi.core.errors import InvalidSpecError
from evalsi.core.inert import printable

_DRIVE = re.compile(r"[A-Za-z]:")


def confined_path(root: Path, user_path: str) -> Path:
    """`user_path` below `root`, with every symbolic link on the way followed and found to stay inside.

    The path is taken as written: percent signs are never decoded, `~` and variables never expanded. Open what is
    returned, not what was asked for. A folder whose links others can change while you open needs more than this.

    Args:
        root: An existing folder.
        user_path: Relative, with forward slashes. The file need not exist.

    Raises:
        InvalidSpecError: the path is empty, absolute, has a drive letter, a backslash or a control character, or leads
            out of `root` by `..` or by a symbolic link.
    """
    shown = repr(printable(user_path, one_line=True))
    if not user_path or any(ord(character) < 32 or ord(character) == 127 for character in user_path):
        raise InvalidSpecError(f"{shown} is no path: it is empty or has a control character")
    if "\\" in user_path or _DRIVE.match(user_path):
        raise InvalidSpecError(f"{shown} is a Windows path", hint="write it relative, with forward slashes")
    if user_path.startswith("/"):
        raise InvalidSpecError(f"{shown} is absolute", hint="write it relative to the folder of the project")
    inside = root.resolve()
    depth = 0
    for step in user_path.split("/"):
        depth += {"": 0, ".": 0, "..": -1}.get(step, 1)
        if depth < 0:
            raise InvalidSpecError(f"{shown} leads out of its folder")
    try:
        resolved = (inside / user_path).resolve()
    except (OSError, RuntimeError, ValueError) as error:
        raise InvalidSpecError(f"{shown} cannot be followed: {error}") from None
    if not resolved.is_relative_to(inside):
        raise InvalidSpecError(f"{shown} leads out of its folder through a symbolic link")
    return resolved
