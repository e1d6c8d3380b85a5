"""The file that was probably meant where there is none. Its own module because every reader of files says it alike."""

import difflib
from pathlib import Path


def nearest_file(path: Path) -> str | None:
    """A hint that names the file of the same folder whose name is nearest; None where none is near."""
    try:
        names = [file.name for file in path.parent.iterdir()]
    except OSError:
        return None
    near = difflib.get_close_matches(path.name, [name for name in names if name != path.name], n=1)
    return f"did you mean {str(path.with_name(near[0]))!r}?" if near else None
