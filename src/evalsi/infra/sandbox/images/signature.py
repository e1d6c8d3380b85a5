"""Whether an image was signed by who holds a key: cosign's signatures, checked without asking anybody.

A signature lies beside its image under a tag that is made of the image's digest. It signs a small document that names this
digest, so the signature of one image says nothing of another.
"""

import base64
import binascii
from pathlib import Path

from evalsi.core.errors import ImageError, MissingExtraError
from evalsi.infra.sandbox.images.blobs import Source
from evalsi.infra.sandbox.images.documents import Manifest, SignedDocument, read

_PAYLOAD = "application/vnd.dev.cosign.simplesigning.v1+json"
_SIGNATURE = "dev.cosignproject.cosign/signature"


async def check_signature(source: Source, digest: str, key: Path) -> None:
    """Raises: ImageError: no signature of this image was made with the key. MissingExtraError."""
    try:
        manifest = read(await source.manifest(digest.replace(":", "-") + ".sig"), Manifest, "signature's manifest")
    except ImageError as error:
        raise ImageError(f"the image {digest} is not signed: {error}") from error
    for layer in manifest.layers:
        signature = (layer.annotations or {}).get(_SIGNATURE, "")
        if layer.media_type != _PAYLOAD or not signature:
            continue
        payload = (await source.blob(layer.digest)).read_bytes()
        if _was_signed(payload, signature, key) and _signed_digest(payload) == digest:
            return
    raise ImageError(f"the image {digest} has no signature that was made with the key of {key}")


def _signed_digest(payload: bytes) -> str:
    return read(payload, SignedDocument, "signed document").critical.image.docker_manifest_digest


def _was_signed(payload: bytes, signature: str, key: Path) -> bool:
    try:
        from cryptography.exceptions import InvalidSignature
        from cryptography.hazmat.primitives import hashes, serialization
        from cryptography.hazmat.primitives.asymmetric import ec, ed25519, padding, rsa
    except ImportError as error:
        raise MissingExtraError("checking the signature of an image", "sandbox") from error
    try:
        public = serialization.load_pem_public_key(key.read_bytes())
    except (OSError, ValueError) as error:
        raise ImageError(f"{key} holds no public key in PEM") from error
    try:
        signed = base64.b64decode(signature, validate=True)
        if isinstance(public, ec.EllipticCurvePublicKey):
            public.verify(signed, payload, ec.ECDSA(hashes.SHA256()))
        elif isinstance(public, ed25519.Ed25519PublicKey):
            public.verify(signed, payload)
        elif isinstance(public, rsa.RSAPublicKey):
            public.verify(signed, payload, padding.PKCS1v15(), hashes.SHA256())
        else:
            raise ImageError(f"{key} holds a key of a kind that images are not signed with")
    except (InvalidSignature, binascii.Error):
        return False
    return True
