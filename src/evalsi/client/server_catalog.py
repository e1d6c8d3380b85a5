"""An evaluator of a server by the name that people write: `exact-match`, `core/exact-match`, `exact-match@1.0.0`."""

from collections.abc import Sequence

from evalsi.core.errors import UnknownNameError
from evalsi.schema import EvaluatorManifest

OWN_PACK = "builtin"
"""The word for the packs that come with evalsi."""


def manifest_named(ref: str, manifests: Sequence[EvaluatorManifest]) -> EvaluatorManifest:
    """What the evaluator says about itself.

    Raises: UnknownNameError: the server has none of that name, pack and version.
    """
    pack_and_name, _, version = ref.partition("@")
    pack, _, name = pack_and_name.rpartition("/")
    for manifest in manifests:
        if manifest.name == name and pack in ("", OWN_PACK, manifest.pack) and version in ("", manifest.version):
            return manifest
    raise UnknownNameError("evaluator", ref, [manifest.name for manifest in manifests])
