"""The documents that describe an image, as far as they are read here; their field names are those of the specification."""

from typing import TypeVar

import msgspec

from evalsi.core.errors import ImageError

_T = TypeVar("_T")


class Platform(msgspec.Struct, frozen=True):
    architecture: str = ""
    os: str = "linux"


class Descriptor(msgspec.Struct, frozen=True, rename="camel"):
    """Names a blob or a manifest."""

    digest: str
    media_type: str = ""
    annotations: dict[str, str] | None = None
    platform: Platform | None = None


class Manifest(msgspec.Struct, frozen=True, rename="camel"):
    """A manifest, or an index, which has `manifests`."""

    config: Descriptor | None = None
    layers: list[Descriptor] = []
    manifests: list[Descriptor] | None = None


class ProcessConfiguration(msgspec.Struct, frozen=True, rename="pascal"):
    env: list[str] | None = None


class Configuration(msgspec.Struct, frozen=True):
    config: ProcessConfiguration | None = None


class SavedImage(msgspec.Struct, frozen=True, rename="pascal"):
    """An entry of the list in what `docker save` writes."""

    config: str
    layers: list[str]
    repo_tags: list[str] | None = None


class SignedImage(msgspec.Struct, frozen=True, rename="kebab"):
    docker_manifest_digest: str


class SignedClaims(msgspec.Struct, frozen=True):
    image: SignedImage


class SignedDocument(msgspec.Struct, frozen=True):
    """What a signature signs."""

    critical: SignedClaims


class Token(msgspec.Struct, frozen=True):
    token: str = ""
    access_token: str = ""


class Login(msgspec.Struct, frozen=True):
    auth: str = ""
    """"user:password" in base64."""


class Logins(msgspec.Struct, frozen=True):
    """A file as `docker login` writes it."""

    auths: dict[str, Login] = {}


def read(data: bytes, kind: type[_T], what: str) -> _T:
    """Raises: ImageError: it is no such document."""
    try:
        return msgspec.json.decode(data, type=kind)
    except (msgspec.MsgspecError, RecursionError) as error:
        raise ImageError(f"the {what} cannot be read: {error}") from error
