"""What programs of a sandbox may reach: names and ports, as somebody wrote them down.

Its own module because deciding needs no network. A name is compared as it is written, in lower case and in its ASCII form;
where it leads is judged later, by the address.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass

from evalsi.core.address_fence import address_written_as
from evalsi.core.errors import UsageError

_DEFAULT_PORT = 443
_LABEL = re.compile(r"(?!-)[a-z0-9_-]{1,63}(?<!-)\Z")
_LONGEST_NAME = 253


@dataclass(frozen=True)
class _Rule:
    name: str
    """Without the star of a wildcard."""
    port: int
    is_wild: bool


@dataclass(frozen=True)
class Allowlist:
    """Made by `of`."""

    rules: tuple[_Rule, ...]

    @classmethod
    def of(cls, texts: Iterable[str]) -> "Allowlist":
        """Raises: UsageError: one names no host, or no port."""
        return cls(tuple(_rule(text) for text in texts))

    def allows(self, host: str, port: int) -> bool:
        """Whether a host, as `plain_host` gives it, may be named together with a port."""
        return any(
            rule.port == port and (host.endswith(f".{rule.name}") if rule.is_wild else host == rule.name)
            for rule in self.rules
        )


def plain_host(text: str) -> str | None:
    """A host in the one form that is compared: a name in lower case without a dot at its end, or an address as it is usually
    written, IPv6 without brackets. None where it is neither; a number that only some resolvers take for an address is neither.
    """
    if not text.isascii() or not text.isprintable() or "%" in text:
        return None
    if text.startswith("[") and text.endswith("]"):
        address = address_written_as(text[1:-1])
        return str(address) if address is not None and address.version == 6 else None
    name = text.removesuffix(".").lower()
    address = address_written_as(name)
    if address is not None:
        return name if str(address) == name and address.version == 4 else None
    labels = name.split(".")
    if len(name) > _LONGEST_NAME or not all(_LABEL.match(label) for label in labels):
        return None
    return None if re.fullmatch(r"\d+|0x[0-9a-f]*", labels[-1]) else name


def _rule(text: str) -> _Rule:
    host, port = _split(text)
    is_wild = host.startswith("*.")
    try:
        name = plain_host(
            host.removeprefix("*.").encode("idna").decode() if not host.isascii() else host.removeprefix("*.")
        )
    except UnicodeError:
        name = None
    if name is None or (is_wild and "." not in name) or not 0 < port < 65536:
        raise UsageError(
            f"{text!r} names no host that a sandbox can be allowed",
            where="allow_hosts",
            hint="write name, name:port or *.name.org:port",
        )
    return _Rule(name, port, is_wild)


def _split(text: str) -> tuple[str, int]:
    host, colon, port = text.rpartition(":")
    if not colon or (text.endswith("]") and text.startswith("[")):
        return text, _DEFAULT_PORT
    return host, int(port) if port.isascii() and port.isdigit() and len(port) < 6 else 0
