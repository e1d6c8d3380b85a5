"""Certificates of the port, taken up anew when their files change.

Its own module because rotating certificates must not need a restart. A context that is in use can load a new chain:
connections that stand keep the old one, new ones get the new.
"""

import ssl
from dataclasses import dataclass, field
from pathlib import Path

from evalsi.core.errors import UsageError


@dataclass(kw_only=True)
class Certificates:
    """Files with the chain and its key, in PEM."""

    chain: Path
    key: Path
    _seen: tuple[int, int] | None = field(default=None, init=False)

    def context(self) -> ssl.SSLContext:
        """A context for a server.

        Browsers and curl offer both protocols and get HTTP/1.1, which stands first; gRPC offers HTTP/2 alone.

        Raises: UsageError: a file cannot be read, holds no certificate or key, or they do not match.
        """
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.minimum_version = ssl.TLSVersion.TLSv1_2
        context.set_alpn_protocols(["http/1.1", "h2"])
        for name, path in (("certificate", self.chain), ("key", self.key)):
            if not path.is_file():
                raise UsageError(f"the TLS {name} {path} is no file that can be read")
        try:
            context.load_cert_chain(self.chain, self.key)
        except OSError as error:  # an SSLError is one
            raise UsageError(
                f"the TLS certificate {self.chain} and the key {self.key} cannot be used: {error.strerror or error}",
                hint="both are PEM files, and the key is that of the certificate, without a password",
            ) from None
        self._seen = self._state()
        return context

    def reload_into(self, context: ssl.SSLContext) -> bool:
        """Loads the files again if they changed; whether they had. Raises: as `context`, which then stays as it was."""
        state = self._state()
        if state == self._seen:
            return False
        # Tried out first, so that files that do not match each other, as between two writes, change nothing.
        ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(self.chain, self.key)
        context.load_cert_chain(self.chain, self.key)
        self._seen = state
        return True

    def _state(self) -> tuple[int, int]:
        return self.chain.stat().st_mtime_ns, self.key.stat().st_mtime_ns
