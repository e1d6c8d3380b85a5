"""Writing to a file without a buffer, whole.

Its own module because such a write may take a part only: a disk that becomes full does, and says so only when it is asked for
the next.
"""

from io import FileIO


def write_all(file: FileIO, data: bytes) -> None:
    """Raises: OSError: not all of it could be written; a part may have been."""
    rest = memoryview(data)
    while rest:
        rest = rest[file.write(rest) or 0 :]
