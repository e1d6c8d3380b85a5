"""What a user writes to name an image, and what it means."""

import re
from dataclasses import dataclass
from pathlib import Path

from evalsi.core.errors import UsageError

_LOCAL = ("oci-layout", "docker-archive", "dir")
_NAME = re.compile(r"[a-z0-9]+(?:(?:[._]|__|-+|/)[a-z0-9]+)*")
_TAG = re.compile(r"\w[\w.-]{0,127}", re.ASCII)
_DIGEST = re.compile(r"sha256:[0-9a-f]{64}")


@dataclass(frozen=True, kw_only=True)
class RegistryReference:
    """An image in a registry. `version` is a tag, or a digest that begins with "sha256:"."""

    host: str
    repository: str
    version: str


@dataclass(frozen=True, kw_only=True)
class LocalReference:
    """An image in a file or folder. `version` is a tag, or "" for the only one there."""

    kind: str
    path: Path
    version: str


def parse_reference(text: str) -> RegistryReference | LocalReference:
    """Forms: `python:3.12`, `host:5000/name@sha256:…`, `oci-layout:folder[:tag]`, `docker-archive:file[:tag]`, `dir:folder`.

    A name without a host is one of Docker Hub, as everywhere. Raises: UsageError.
    """
    kind, _, rest = text.partition(":")
    if kind in _LOCAL and rest and not rest.startswith(("/" * 3,)):
        path, _, tag = rest.partition(":") if kind != "dir" else (rest, "", "")
        return LocalReference(kind=kind, path=Path(path), version=tag)
    name, _, digest = text.partition("@")
    first, slash, others = name.partition("/")
    has_host = bool(slash) and ("." in first or ":" in first or first == "localhost")
    host, path = (first, others) if has_host else ("registry-1.docker.io", name)
    repository, _, tag = path.partition(":")
    if not has_host and "/" not in repository:
        repository = f"library/{repository}"
    version = digest or tag or "latest"
    if not _NAME.fullmatch(repository) or not (_DIGEST if digest else _TAG).fullmatch(version):
        raise UsageError(
            f"{text!r} names no image",
            where="image",
            hint="write name:tag, host/name@sha256:…, oci-layout:folder, docker-archive:file or dir:folder",
        )
    return RegistryReference(host=host, repository=repository, version=version)


def is_digest(text: str) -> bool:
    return _DIGEST.fullmatch(text) is not None
