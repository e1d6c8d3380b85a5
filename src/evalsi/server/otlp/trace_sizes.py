"""How many spans the traces of late had, so that one that never ends cannot grow without bound.

Its own module because it is a guess on purpose: it knows the last `REMEMBERED` traces or more and forgets all with a restart,
and a request that was stored and is sent again counts again. The limit it keeps is a guard, not a promise.
"""

import threading

REMEMBERED = 50_000


class TraceSizes:
    """Spans by trace, of each project its own: nobody fills a trace of others by knowing its id. Any thread may call."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._young: dict[tuple[str, bytes], int] = {}
        self._old: dict[tuple[str, bytes], int] = {}

    def add(self, trace: tuple[str, bytes], spans: int, most: int) -> bool:
        """Counts spans of a trace of a project; False when it would have more than `most`, and then they do not count."""
        with self._lock:
            size = self._young.get(trace)
            if size is None:
                size = self._old.get(trace, 0)
                if len(self._young) >= REMEMBERED:
                    self._old, self._young = self._young, {}
            fits = size + spans <= most
            self._young[trace] = size + spans if fits else size
            return fits

    def take_back(self, trace: tuple[str, bytes], spans: int) -> None:
        """Undoes `add` of spans that could not be stored and will be sent again."""
        with self._lock:
            for sizes in (self._young, self._old):
                if trace in sizes:
                    sizes[trace] = max(0, sizes[trace] - spans)
                    return
