"""Scores on their way to somebody else's product, and who takes them there.

Its own module because whoever makes them, whoever keeps them until they have arrived and whoever speaks with the other
side agree on this alone. What always holds: the id of a score is the same on every try and for every revision of its
trace, so that what arrives twice or anew takes the place of what was there.
"""

from collections.abc import Sequence
from typing import Any, Literal, NamedTuple, Protocol

import msgspec

WITHDRAWN = "withdrawn"
RUN_PREFIX = "run/"
"""Begin of what stands in place of a policy's name for scores of a run; no policy is called so."""


class OutgoingScore(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One value, or why there is none."""

    id: str
    """32 hexadecimal digits."""
    metric: str
    """"evaluator", or "evaluator.output" beside the primary output."""
    evaluator_ref: str = ""
    """What exactly ran, with its version."""
    trace_id: str = ""
    """Empty for the value of a whole session."""
    span_id: str = ""
    """The step that was evaluated; the root for the value of a trace."""
    is_of_trace: bool = False
    """Whether it is about the trace as a whole."""
    session_id: str = ""
    response_id: str = ""
    """What the model called the answer that was evaluated, where that is known."""
    number: float | None = None
    passed: bool | None = None
    label: str | None = None
    structured: Any = None
    explanation: str = ""
    error_type: str = ""
    """Why the evaluation gave no value, in a word."""
    error: str = ""
    """The same in a sentence."""
    is_judged: bool = False
    """Whether a model gave it; otherwise code did."""

    @property
    def value(self) -> float | None:
        """As a number: a verdict is 1 or 0."""
        return self.number if self.passed is None else float(self.passed)

    @property
    def name_of_value(self) -> str:
        """A verdict or a name in a word; empty for a number."""
        return self.label or "" if self.passed is None else "pass" if self.passed else "fail"


class OutgoingMetric(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A metric over all records of a run."""

    metric: str
    n: int
    mean: float | None = None
    low: float | None = None
    high: float | None = None
    """Bounds of the interval for the mean."""
    skipped: int = 0
    errors: int = 0


class OutgoingRun(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A run as a whole."""

    id: str
    name: str
    began_ms: int
    ended_ms: int
    dataset_sha256: str = ""
    labels: dict[str, str] = {}
    metrics: list[OutgoingMetric] = []


class OutgoingScores(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What a policy found about one trace or session, or a run about one record, or a run as a whole."""

    project: str
    policy: str
    """Of a run: `RUN_PREFIX` and its id."""
    subject: str
    """As `PolicyMark.subject`; of a run, the trace that the record is of, or the place of the record."""
    record_id: str = ""
    """Of a run."""
    trial: int = 0
    run: OutgoingRun | None = None
    """The run as a whole; there are no scores beside it."""
    revision: int = 1
    began_ms: int
    """When the trace or session began, in milliseconds since 1970."""
    at_ms: int
    """When it was evaluated."""
    first_trace_id: str
    """The trace, or the first one of the session; empty where a run had no trace."""
    scores: list[OutgoingScore]
    withdrawn: list[OutgoingScore] = []
    """What was told of an earlier revision and is not there any more: without values; the label is `WITHDRAWN` where there
    was a number, a verdict or a label."""

    @property
    def run_id(self) -> str:
        """Whose scores they are; empty for those of a policy."""
        return self.policy.removeprefix(RUN_PREFIX) if self.policy.startswith(RUN_PREFIX) else ""


class SinkReceipt(NamedTuple):
    """What became of one score."""

    state: Literal["taken", "trouble", "missing", "refused"]
    """"trouble": the sink takes nothing at all just now. "missing": it does not know the trace, or not yet. "refused": the
    same again would be refused again."""
    error: str = ""
    """Why it was not taken, without any secret."""
    after_s: float | None = None
    """How long the sink asked to be left alone."""


TAKEN = SinkReceipt("taken")


class ScoreSink(Protocol):
    """Somebody else's product. For one event loop."""

    async def send(self, deliveries: Sequence[OutgoingScores]) -> Sequence[SinkReceipt]:
        """One attempt; what became of each delivery, in order. Never raises for what the other side does."""
        ...

    async def close(self) -> None: ...
