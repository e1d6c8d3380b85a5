"""Which images may be used at all, where it is not the operator who names them.

Its own module because a name is a user's word, and what it leads to is pulled, unpacked and run. What always holds: a pattern
is compared with what a name means (`python:3.12` is `docker.io/library/python:3.12`), so no other spelling gets past it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase

from evalsi.core.errors import ForbiddenError
from evalsi.infra.sandbox.images.reference import LocalReference, RegistryReference, is_digest, parse_reference

_HUB = "registry-1.docker.io"


@dataclass(frozen=True, kw_only=True)
class AllowedImages:
    """An operator's words.

    Args:
        patterns: `ghcr.io/acme/*` for every image below, `python:3.12`, `python@sha256:…`, `sha256:…` for these bytes from
            anywhere; None for everything.
        local: Whether images in files and folders of this machine may be used.
    """

    patterns: Sequence[str] | None = None
    local: bool = True

    def check(self, text: str, reference: RegistryReference | LocalReference) -> None:
        """Raises: ForbiddenError: the image is none that may be used."""
        if isinstance(reference, LocalReference):
            if not self.local:
                raise ForbiddenError(
                    f"the image {text!r} lies in a file or folder, and such images may not be used here",
                    hint="the operator allows them with allow_local_images",
                )
        elif self.patterns is not None and not any(_matches(pattern, reference) for pattern in self.patterns):
            raise ForbiddenError(
                f"the image {text!r} is not among those that may be used here",
                hint=f"these may: {', '.join(self.patterns) or 'none'}; the operator names them in allowed_images",
            )


def _matches(pattern: str, reference: RegistryReference) -> bool:
    if is_digest(pattern):
        return reference.version == pattern
    if "*" not in pattern:
        return parse_reference(pattern) == reference
    host = "docker.io" if reference.host == _HUB else reference.host
    name = f"{host}/{reference.repository}"
    separator = "@" if is_digest(reference.version) else ":"
    return fnmatchcase(name, pattern) or fnmatchcase(f"{name}{separator}{reference.version}", pattern)
