"""Which addresses a server may be sent to by what its users write: public ones, and those that the operator allows.

Its own module because everything that calls an address from a spec, a webhook or a source asks it, and because deciding
needs no network. What always holds: a host is judged by the address that is connected to, never by its name alone, so
whoever connects resolves once, shows the address here, and uses that one. Cases: M01.
"""

import ipaddress
import socket
from dataclasses import dataclass
from urllib.parse import urlsplit

from evalsi.core.errors import InvalidSpecError

IpAddress = ipaddress.IPv4Address | ipaddress.IPv6Address
IpNetwork = ipaddress.IPv4Network | ipaddress.IPv6Network

_SCHEMES = ("http", "https")
_NOT_PUBLIC = tuple(
    ipaddress.ip_network(network)
    for network in (
        "100.64.0.0/10",  # shared address space: clouds keep metadata services there
        "192.0.0.0/24",
        "192.88.99.0/24",
        "198.18.0.0/15",
        "fec0::/10",
    )
)
_EMBEDDED = (
    (ipaddress.IPv6Network("64:ff9b::/96"), 0),
    (ipaddress.IPv6Network("::/96"), 0),
    (ipaddress.IPv6Network("2002::/16"), 80),
)
"""IPv6 addresses that lead to an IPv4 one, and how many bits stand below it."""


@dataclass(frozen=True, kw_only=True)
class AddressFence:
    """Judges addresses.

    Args:
        allow_hosts: Names, with `*.example.com` for everything below one, that users may name wherever they lead.
        allow_networks: Networks that users may reach although they are not public.
        allow_urls: Addresses of the operator's own judges and targets, letter by letter: these are not judged.
    """

    allow_hosts: frozenset[str] = frozenset()
    allow_networks: tuple[IpNetwork, ...] = ()
    allow_urls: frozenset[str] = frozenset()

    def check_url(self, url: str, *, where: str | None = None) -> None:
        """Refuses an address by what can be seen of it: scheme, credentials, port, and a host that is a number.

        Raises: InvalidSpecError: it is refused. The message shows the host, never a user name or password.
        """
        host = host_of(url, where=where)
        if self.allows_host(host):
            return
        address = address_written_as(host)
        if address is not None:
            self.check_address(host, address, where=where)
        elif host == "localhost" or host.endswith((".localhost", ".local", ".internal")):
            raise _refusal(host, "names this machine or its own network", where)

    def check_address(self, host: str, address: IpAddress, *, where: str | None = None) -> None:
        """Refuses what `host` resolved to, unless it is public or allowed. To be asked before connecting.

        Raises: InvalidSpecError: it is refused.
        """
        if self.allows_host(host) or any(
            address.version == network.version and address in network for network in self.allow_networks
        ):
            return
        reason = why_not_public(address)
        if reason is not None:
            shown = f"{host} is" if host == str(address) else f"{host} leads to {address},"
            raise _refusal(shown, reason, where)

    def allows_host(self, host: str) -> bool:
        """Whether the operator lets users name this host wherever it leads."""
        if host in self.allow_hosts:
            return True
        parts = host.split(".")
        return any("*." + ".".join(parts[start:]) in self.allow_hosts for start in range(1, len(parts)))


def host_of(url: str, *, where: str | None = None) -> str:
    """The host of an http address, in lower case, without a dot at its end.

    Raises: InvalidSpecError: it is no http address, or holds credentials.
    """
    try:
        parts = urlsplit(url)
        host, port, user, password = parts.hostname, parts.port, parts.username, parts.password
    except ValueError:
        raise InvalidSpecError("is no address that can be read", where=where) from None
    if parts.scheme not in _SCHEMES or not host:
        raise InvalidSpecError("must be an address that begins with http:// or https://", where=where)
    if user is not None or password is not None:
        raise InvalidSpecError(f"the address of {host} holds a user name or password", where=where)
    if port == 0 or any(character in host for character in "\\%\t\r\n ") or any(c in url for c in "\t\r\n\0"):
        raise InvalidSpecError("is no address that can be read", where=where)
    return host.rstrip(".").lower()


def address_written_as(host: str) -> IpAddress | None:
    """The address that a host stands for without a look-up, in every spelling that a resolver would take for one:
    `2130706433`, `0x7f.1` and `0` are 127.0.0.1, 127.0.0.1 and 0.0.0.0. None for a name.
    """
    try:
        return ipaddress.ip_address(host)
    except ValueError:
        pass
    try:
        return ipaddress.IPv4Address(socket.inet_aton(host)) if host.isascii() else None
    except OSError:
        return None


def why_not_public(address: IpAddress) -> str | None:
    """What kind of address it is, when it is not one of the public network; None for a public one."""
    embedded = _embedded(address)
    if embedded is not None:
        return why_not_public(embedded)
    for holds, words in (
        (address.is_unspecified, "the unspecified address, which is this machine"),
        (address.is_loopback, "an address of this machine"),
        (address.is_link_local, "a link-local address, where clouds keep their metadata"),
        (address.is_multicast, "a multicast address"),
        (address.is_private, "a private address"),
        (not address.is_global or address.is_reserved, "no address of the public network"),
        (any(address.version == each.version and address in each for each in _NOT_PUBLIC), "a reserved address"),
    ):
        if holds:
            return words
    return None


def _embedded(address: IpAddress) -> ipaddress.IPv4Address | None:
    if isinstance(address, ipaddress.IPv4Address):
        return None
    if address.ipv4_mapped is not None:
        return address.ipv4_mapped
    if address.is_unspecified or address.is_loopback:
        return None
    for network, shift in _EMBEDDED:
        if address in network:
            return ipaddress.IPv4Address((int(address) >> shift) & 0xFFFFFFFF)
    return None


def _refusal(subject: str, reason: str, where: str | None) -> InvalidSpecError:
    return InvalidSpecError(
        f"{subject} {reason}; users of this server may not have it called",
        where=where,
        hint="the operator can allow it: outbound.allow_hosts in evalsi.yaml",
    )
