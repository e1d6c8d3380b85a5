# Generated from proto/evalsi/v1alpha1/observation.proto by tools/generate_schema.py. Edit the source, then run `make generate`.
"""The unit of storage: one case, one configuration, one repetition."""

from __future__ import annotations

import msgspec

from evalsi.schema.generated.record import Record, Usage
from evalsi.schema.generated.score import ErrorKind, EvaluationResult, Fault, Outcome
from evalsi.schema.scalar_types import Int32, Timestamp

__all__ = [
    "Observation",
]


class Observation(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, repr_omit_defaults=True, forbid_unknown_fields=True):
    """One case under one configuration in one repetition, and everything measured on it. Never changes once stored;
    keyed by item digest, configuration digest and trial.
    """

    id: str = ""
    """Identifier of the observation."""
    run_id: str = ""
    """Identifier of the run it was made in."""
    record_id: str = ""
    """Identifier of the case."""
    trial: Int32 = 0
    """Number of the repetition, from 0."""
    item_digest: str = ""
    """Digest of what was asked: input, reference, context and the case's metadata, in lower-case hexadecimal."""
    config_digest: str = ""
    """Digest of who was asked and how: target, harness and environment, in lower-case hexadecimal."""
    outcome: Outcome = Outcome.UNSPECIFIED
    """How asking the target ended; SCORED when there is an output to score."""
    record: Record | None = None
    """The record, output and trajectory included."""
    results: list[EvaluationResult] = []
    """What each evaluator made of it."""
    usage: Usage | None = None
    """What the target used."""
    reason: str = ""
    """Why there is no output, in one sentence; empty when there is one."""
    error_kind: ErrorKind = ErrorKind.UNSPECIFIED
    """For ERROR: what went wrong."""
    fault: Fault = Fault.UNSPECIFIED
    """For ERROR: whose fault it was."""
    started_at: Timestamp | None = None
    """When the target was asked; absent when the output existed before."""
    finished_at: Timestamp | None = None
    """When the answer was complete."""
    project: str = ""
    """Project it belongs to."""
    labels: dict[str, str] = {}
    """Labels given by the user."""
