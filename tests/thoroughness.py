"""How long tests that repeat go on: `make test` repeats enough to see a fault that is there, `make thorough` hunts for rare ones.

Its own module so that there is one switch: the variable EVALSI_THOROUGH, set to anything.
"""

import os

THOROUGH = bool(os.environ.get("EVALSI_THOROUGH"))


def repeats(usual: int, thorough: int) -> int:
    """How often, or for how many seconds, a test repeats what it does."""
    return thorough if THOROUGH else usual
