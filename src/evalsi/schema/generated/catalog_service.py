# Generated from proto/evalsi/v1alpha1/catalog_service.proto by tools/generate_schema.py. Edit the source, then run `make generate`.
"""What this installation can do."""

from __future__ import annotations

import msgspec

from evalsi.schema.generated.evaluator import EvaluatorManifest

__all__ = [
    "CredentialGrant",
    "ListCredentialsRequest",
    "ListCredentialsResponse",
    "ListEvaluatorsRequest",
    "ListEvaluatorsResponse",
]


class ListEvaluatorsRequest(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, repr_omit_defaults=True, forbid_unknown_fields=True, gc=False):
    """Asks for the evaluators."""


class ListEvaluatorsResponse(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, repr_omit_defaults=True, forbid_unknown_fields=True):
    """The evaluators and judges at hand."""

    evaluators: list[EvaluatorManifest] = []
    """What each evaluator says about itself, by pack and name."""
    judges: list[str] = []
    """Names of the judges that are configured."""
    default_judge: str = ""
    """Name of the judge used when none is named; empty when naming one is required."""


class ListCredentialsRequest(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, repr_omit_defaults=True, forbid_unknown_fields=True, gc=False):
    """Asks for the credentials of a project."""

    project: str = ""
    """The project."""


class ListCredentialsResponse(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, repr_omit_defaults=True, forbid_unknown_fields=True, gc=False):
    """The credentials a project may use."""

    enforced: bool = False
    """True when credentials that are not listed are refused."""
    grants: list[CredentialGrant] = []
    """The credentials."""
    judges: list[str] = []
    """Names of the judges the project may use."""


class CredentialGrant(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, repr_omit_defaults=True, forbid_unknown_fields=True, gc=False):
    """A credential and where it may be sent."""

    env: str = ""
    """Name of the environment variable that holds it."""
    hosts: list[str] = []
    """Hosts it may be sent to."""
    allow_http: bool = False
    """True when it may travel unencrypted."""
    all_projects: bool = False
    """True when every project may use it."""
