"""`python -m evalsi.worker <kind> …`: one module for each kind of worker, imported only when it is wanted."""

import sys
from importlib import import_module

KINDS = {"grading": "evalsi.worker.grading", "rewards": "evalsi.worker.rewards", "runs": "evalsi.worker.runs"}
"""Kind -> the module whose `main(arguments)` serves it."""


def main() -> int:
    kind, *arguments = sys.argv[1:]
    status: int = import_module(KINDS[kind]).main(arguments)
    return status


if __name__ == "__main__":
    sys.exit(main())
