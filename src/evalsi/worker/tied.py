"""`python -m evalsi.worker tied <parent> <command> …`: becomes a command that ends when the process that started it does.

Its own module because a program of others does not know our processes, and must not outlive them.
"""

import os
import sys
from collections.abc import Sequence

from evalsi.core.parent_process import die_with


def main(arguments: Sequence[str]) -> int:
    parent, *command = arguments
    die_with(int(parent))
    try:
        os.execvp(command[0], command)  # noqa: S606 - the operator named it
    except OSError as error:
        print(f"{command[0]} cannot be started: {error.strerror}", file=sys.stderr)
        return 127
