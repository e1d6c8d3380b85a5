# Generated from proto/evalsi/plugin/v1alpha1/evaluator_plugin.proto by tools/generate_schema.py. Edit the source, then run `make generate`.
"""What a program says and hears that grades records in place of code in this process."""

from __future__ import annotations

import msgspec

from evalsi.schema.generated.evaluator import EvaluatorManifest
from evalsi.schema.generated.record import Record
from evalsi.schema.generated.score import EvaluationResult
from evalsi.schema.scalar_types import JsonObject

__all__ = [
    "PluginDescribeRequest",
    "PluginDescribeResponse",
    "PluginEvaluateRequest",
    "PluginEvaluateResponse",
]


class PluginDescribeRequest(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, repr_omit_defaults=True, forbid_unknown_fields=True, gc=False):
    """Asks which evaluators the program has."""


class PluginDescribeResponse(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, repr_omit_defaults=True, forbid_unknown_fields=True):
    """The evaluators of the program."""

    evaluators: list[EvaluatorManifest] = []
    """What each says about itself; its pack is the name that the program was given."""


class PluginEvaluateRequest(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, repr_omit_defaults=True, forbid_unknown_fields=True):
    """A batch of records for one evaluator."""

    batch_id: str = ""
    """Comes back with the results."""
    evaluator: str = ""
    """Name of the evaluator in its manifest."""
    params: JsonObject = {}
    """Its params, as its schema has them."""
    records: list[Record] = []
    """The records; their ids are distinct."""
    judge: str = ""
    """Name of the judge to ask; always empty here, since programs are lent none."""


class PluginEvaluateResponse(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, repr_omit_defaults=True, forbid_unknown_fields=True):
    """The results of one batch."""

    batch_id: str = ""
    """The id of the batch."""
    results: list[EvaluationResult] = []
    """One for each record."""
