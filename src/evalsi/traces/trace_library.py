"""Where commands find traces: the store of this machine or a server, with one set of words.

Its own module because it is the seam between the two: a command that lists, shows, follows, exports or removes traces is
written once, against this, and prints the same for both.
"""

from collections.abc import Iterator, Sequence
from typing import Protocol

from evalsi.schema import DeleteTracesRequest, Feedback, GetTraceResponse, TraceFilter, TraceSummary
from evalsi.traces.span import Span


class TraceLibrary(Protocol):
    """Traces that were received or imported.

    A list may hold those of several projects; `project` of a trace that was listed is then given with its id. Where it is
    empty, the project that was named is meant, else the default one.

    Every method raises EvalsiError when the store or server cannot be used, and NotFoundError for a trace that is not there.
    """

    def traces(self, choice: TraceFilter, *, limit: int | None = None) -> Iterator[TraceSummary]:
        """Those of the choice, the newest begin first."""
        ...

    def get(self, trace_id: str, *, project: str = "") -> GetTraceResponse:
        """By its id, or the unique begin of one."""
        ...

    def feedback(self, *, trace_id: str = "", session_id: str = "", limit: int | None = None) -> Iterator[Feedback]:
        """What was said about a trace, by its id or the unique begin of one, or about a session; the newest first."""
        ...

    def spans(self, trace_id: str, *, project: str = "") -> Sequence[Span]:
        """What it was made of, by its id or the unique begin of one: as it was sent, with resources and events."""
        ...

    def follow(self, choice: TraceFilter, *, interval_s: float) -> Iterator[TraceSummary]:
        """Those of the choice that become complete from now on; it does not end."""
        ...

    def delete(self, request: DeleteTracesRequest) -> int:
        """Removes them with everything about them; how many there were."""
        ...

    def take(self, spans: Sequence[Span]) -> int:
        """Stores the spans; how many of them were accepted."""
        ...
