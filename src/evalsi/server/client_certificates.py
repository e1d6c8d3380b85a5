"""Mutual TLS: the certificate of a host of sandboxes, who must show one of their own, and which of those may call.

Its own module because whoever reaches such a host runs programs on it, so that the certificate is the whole door. What always
holds: without a certificate of the client authority the handshake fails, before a byte of a call is read.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evalsi.access.caller import ANY_PERMISSION, EVERY_PROJECT, Caller
from evalsi.core.errors import ForbiddenError, UsageError

if TYPE_CHECKING:
    import grpc

_NAMES = ("x509_common_name", "x509_subject_alternative_name")


@dataclass(frozen=True, kw_only=True)
class MutualTls:
    """Files in PEM, read again when they change: our chain, its key, and the authority that signs clients' certificates."""

    chain: Path
    key: Path
    client_ca: Path

    def credentials(self) -> "grpc.ServerCredentials":
        """Raises: UsageError: a file cannot be read, or is no PEM."""
        import grpc

        seen = self._state()
        first = self._read()

        def newer() -> "grpc.ServerCertificateConfiguration | None":
            nonlocal seen
            try:
                state = self._state()
                if state == seen:
                    return None
                read = self._read()
            except (OSError, UsageError):
                return None  # between two writes; what is in use stays
            seen = state
            return read

        fetch: Any = newer  # its type leaves out that nothing new may be said
        return grpc.dynamic_ssl_server_credentials(first, fetch, require_client_authentication=True)

    def _read(self) -> "grpc.ServerCertificateConfiguration":
        import grpc

        texts: list[bytes] = []
        for name, path in (("certificate", self.chain), ("key", self.key), ("client authority", self.client_ca)):
            try:
                texts.append(path.read_bytes())
            except OSError as error:
                raise UsageError(f"the TLS {name} {path} cannot be read: {error.strerror}") from None
            if b"-----BEGIN " not in texts[-1]:
                raise UsageError(f"the TLS {name} {path} is no PEM file", hint="PEM begins with -----BEGIN")
        chain, key, authority = texts
        return grpc.ssl_server_certificate_configuration([(key, chain)], root_certificates=authority)

    def _state(self) -> tuple[int, ...]:
        return tuple(path.stat().st_mtime_ns if path.exists() else 0 for path in (self.chain, self.key, self.client_ca))


class ClientCertificates:
    """Implements `Authenticator`: the caller is who its certificate says, and one of `allowed`, where any are named.

    Args:
        allowed: Common names or alternative names; empty for every certificate of the authority.
        enabled: False where no TLS is spoken, and everybody on this machine may call.
    """

    def __init__(self, allowed: Iterable[str], *, enabled: bool) -> None:
        self.enabled = enabled
        self._allowed = frozenset(allowed)

    def source_of(self, context: Any) -> str:
        """The caller's name: the first of its certificate that is allowed, else its first; its address without TLS."""
        shown: Mapping[str, list[bytes]] = context.auth_context()
        names = [name.decode(errors="replace") for kind in _NAMES for name in shown.get(kind, ())]
        allowed = [name for name in names if name in self._allowed]
        return next(iter(allowed or names), str(context.peer()))

    async def authenticate(self, headers: Mapping[str, str], *, request_id: str = "", source: str = "") -> Caller:
        """Raises: ForbiddenError: the certificate bears none of the names."""
        del headers
        if self._allowed and source not in self._allowed:
            raise ForbiddenError(
                f"the certificate of {source!r} is none that may use these sandboxes",
                hint="whoever runs this host names it with --allow-client",
            )
        return Caller(
            principal=f"certificate:{source}" if self.enabled else "anonymous",
            grants={EVERY_PROJECT: frozenset({ANY_PERMISSION})},
            method="certificate" if self.enabled else "none",
            request_id=request_id,
            source=source,
        )
