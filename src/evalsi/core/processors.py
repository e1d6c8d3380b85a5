"""How many processors there are for this process. Its own module because a server asks this and loads no engine."""

import os


def available_processors() -> int:
    """Processors this process may run on."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0)) or 1
    return os.cpu_count() or 1
