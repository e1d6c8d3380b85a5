# Generated from proto/evalsi/v1alpha1/evaluator.proto by tools/generate_schema.py. Edit the source, then run `make generate`.
"""What an evaluator says about itself, and how a user names one."""

from __future__ import annotations

import msgspec

from evalsi.schema.generated.record import IsolationLevel, Record
from evalsi.schema.generated.score import Score
from evalsi.schema.scalar_types import Int32, JsonObject, Seconds
from evalsi.schema.schema_enum import SchemaEnum

__all__ = [
    "EvaluatorExample",
    "EvaluatorManifest",
    "EvaluatorRef",
    "MetricSpec",
    "Requirements",
    "Scheduling",
    "Scope",
    "ScoreType",
]


class Scope(SchemaEnum):
    """What an evaluator looks at in one call."""

    UNSPECIFIED = "unspecified", 0, "SCOPE_UNSPECIFIED"
    """Not known."""
    SPAN = "span", 1, "SCOPE_SPAN"
    """One step of a trajectory."""
    RECORD = "record", 2, "SCOPE_RECORD"
    """One record."""
    SESSION = "session", 3, "SCOPE_SESSION"
    """All records of one session."""
    DATASET = "dataset", 4, "SCOPE_DATASET"
    """All records of a dataset together."""
    COMPARATIVE = "comparative", 5, "SCOPE_COMPARATIVE"
    """Two or more outputs for one input, side by side."""


class ScoreType(SchemaEnum):
    """Type of a score."""

    UNSPECIFIED = "unspecified", 0, "SCORE_TYPE_UNSPECIFIED"
    """Not known."""
    NUMBER = "number", 1, "SCORE_TYPE_NUMBER"
    """A finite number."""
    PASSED = "passed", 2, "SCORE_TYPE_PASSED"
    """A verdict."""
    LABEL = "label", 3, "SCORE_TYPE_LABEL"
    """One of a set of names."""
    STRUCTURED = "structured", 4, "SCORE_TYPE_STRUCTURED"
    """Any JSON value."""


class EvaluatorRef(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, repr_omit_defaults=True, forbid_unknown_fields=True):
    """A user's choice of one evaluator with its parameters."""

    ref: str = ""
    """Which evaluator: "exact-match", "builtin/exact-match" or "builtin/exact-match@1.0.0"."""
    params: JsonObject = {}
    """Parameters by name, checked against the evaluator's schema before any work starts."""
    name: str = ""
    """Name its results carry; by default the evaluator's own. Needed when one evaluator is used twice."""
    judge: str = ""
    """Judge for this evaluator, in place of the one chosen for the whole evaluation."""
    deadline: Seconds | None = None
    """Longest time one record may take; absent for the default. In seconds."""


class Requirements(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, repr_omit_defaults=True, forbid_unknown_fields=True, gc=False):
    """What a record must have, and what must be at hand, for an evaluator to apply."""

    input: bool = False
    """The record needs an input."""
    output: bool = False
    """The record needs an output."""
    reference: bool = False
    """The record needs a reference."""
    context: bool = False
    """The record needs context passages."""
    trajectory: bool = False
    """The record needs a trajectory."""
    judge: bool = False
    """A judge must be named."""
    isolation: IsolationLevel = IsolationLevel.UNSPECIFIED
    """Weakest sandbox the evaluator may run in; unspecified when it runs no foreign code."""
    usage: bool = False
    """The record needs measured usage."""
    check: bool = False
    """The record needs a checker's verdict."""
    metadata: list[str] = []
    """Metadata keys the record needs."""


class MetricSpec(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, repr_omit_defaults=True, forbid_unknown_fields=True, gc=False):
    """One output of an evaluator."""

    name: str = ""
    """Name of the output, unique within the evaluator."""
    type: ScoreType = ScoreType.UNSPECIFIED
    """Type of its values."""
    min: float | None = None
    """Smallest possible value; absent when there is no bound."""
    max: float | None = None
    """Largest possible value; absent when there is no bound."""
    higher_is_better: bool | None = None
    """Whether a higher value is better; absent when neither direction is."""
    description: str = ""
    """What the value says, in one sentence."""
    interval: str = ""
    """Interval method that suits the output, such as "wilson", "t" or "bootstrap"; empty to let the data decide."""
    unit: str = ""
    """Unit of the values, for example "s", "usd" or "tokens"; empty for plain numbers."""
    labels: list[str] = []
    """For a label: the names it can take; empty when any can occur."""


class Scheduling(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, repr_omit_defaults=True, forbid_unknown_fields=True, gc=False):
    """How an evaluator wants to be run."""

    pool: str = ""
    """Kind of worker: "cpu", "judge" or "sandbox"."""
    batchable: bool = False
    """True when it can take many records in one call."""
    max_batch: Int32 = 0
    """Most records it takes in one call; 0 for no limit."""


class EvaluatorManifest(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, repr_omit_defaults=True, forbid_unknown_fields=True):
    """What an evaluator says about itself."""

    name: str = ""
    """Name, unique within its pack, for example "exact-match"."""
    version: str = ""
    """Version of its meaning: equal versions give equal scores. Three numbers, for example "1.0.0"."""
    description: str = ""
    """What it measures: a first sentence for the catalogue, then the rest."""
    pack: str = ""
    """Pack that ships it, for example "core"."""
    scope: Scope = Scope.UNSPECIFIED
    """What it looks at in one call."""
    modalities: list[str] = []
    """Forms of content it understands: "text", "messages", "json", "row", "tensor", "media"."""
    requires: Requirements | None = None
    """What it needs."""
    outputs: list[MetricSpec] = []
    """What it gives, the primary output first."""
    params_schema: JsonObject = {}
    """JSON Schema (draft 2020-12) of its parameters."""
    scheduling: Scheduling | None = None
    """How it wants to be run."""
    tier: str = ""
    """How far it can be relied on: "builtin", "verified" or "community"."""
    runtime: str = ""
    """What runs it: "python" or "wasm"."""
    entry_point: str = ""
    """Entry point it was found by, for example "evalsi_echo:Echo"; empty for built-in ones."""
    example: EvaluatorExample | None = None
    """A small example that works, shown in the catalogue and run by the tests."""
    distribution: str = ""
    """Distribution that ships it with its version, for example "evalsi 1.0.0"."""
    deprecated: str = ""
    """What replaces it; empty unless it is deprecated."""


class EvaluatorExample(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, repr_omit_defaults=True, forbid_unknown_fields=True):
    """A record, parameters, and the scores they give."""

    record: Record | None = None
    """The record."""
    params: JsonObject = {}
    """Parameters by name."""
    scores: list[Score] = []
    """The scores the evaluator gives."""
