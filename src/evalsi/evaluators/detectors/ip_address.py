"""IPv4 and IPv6 addresses that point at a machine somewhere.

Four-part version numbers, section numbers, clock times, C++ scopes and MAC addresses look alike and are left out; so are
loopback, unspecified and broadcast addresses and netmasks, which say nothing about anybody.
"""

import ipaddress
import re
from collections.abc import Iterator

from evalsi.evaluators.detectors.finding import Finding

_OCTET = r"(?:25[0-5]|2[0-4][0-9]|1[0-9][0-9]|[1-9]?[0-9])"
_V4 = re.compile(rf"(?<![0-9A-Za-z_.])(?:{_OCTET}\.){{3}}{_OCTET}(?![0-9A-Za-z_]|[.][0-9A-Za-z]|-[0-9A-Za-z])")
_V6 = re.compile(r"(?<![0-9A-Za-z_:.])[0-9A-Fa-f:][0-9A-Fa-f:.]{1,44}(?![0-9A-Za-z_:])")

_VERSION_WORD = (
    r"version|versions|ver|release|build|revision|rev|patch|firmware|driver|upgrade[ds]?|downgrade[ds]?"
    r"|versión|versão|versione|wersja|wersji|versie|sürüm|версия|версии|версию|バージョン|版本|버전|الإصدار|संस्करण"
)
_SECTION_WORD = r"section|sections|sec|chapter|clause|paragraph|para|appendix|step|kapitel|abschnitt|ziffer|article|§+"
_NO_ADDRESS = re.compile(
    rf"(?:(?<![^\W_])(?:{_VERSION_WORD}|{_SECTION_WORD})[.:#]?\s{{0,3}}(?:(?:to|is|of|number|no\.?|=|from|was)\s{{1,2}})?[\"'(v]?"
    r"|[=~<>!]=\s?|[A-Za-z_]/|[A-Za-z0-9_]-)\Z",
    re.IGNORECASE,
)


def detect_ip_addresses(text: str) -> Iterator[Finding]:
    """IP addresses in `text`, without port, prefix length or zone."""
    yield from _detect_v4(text)
    yield from _detect_v6(text)


def _detect_v4(text: str) -> Iterator[Finding]:
    for match in _V4.finditer(text):
        start, end = match.span()
        first = match[0].partition(".")[0]
        if first in ("0", "127", "255") or _NO_ADDRESS.search(text[max(0, start - 32) : start]):
            continue
        yield Finding(type="IP", start=start, end=end, text=match[0], detail="ipv4")


def _detect_v6(text: str) -> Iterator[Finding]:
    if "::" not in text and text.count(":") < 6:
        return
    for match in _V6.finditer(text):
        written = match[0].rstrip(".")
        if written.endswith(":") and not written.endswith("::"):
            written = written[:-1]
        if written.count(":") < 2:
            continue
        try:
            address = ipaddress.IPv6Address(written)
        except ValueError:
            continue
        if _is_assigned(address):
            end = match.start() + len(written)
            yield Finding(type="IP", start=match.start(), end=end, text=written, detail="ipv6")


def _is_assigned(address: ipaddress.IPv6Address) -> bool:
    """Whether it lies in a block that machines use, so that `a::b` in source code does not count. Source: RFC 4291."""
    leading = int(address) >> 112
    return (
        0x2000 <= leading <= 0x3FFF
        or 0xFC00 <= leading <= 0xFDFF
        or 0xFE80 <= leading <= 0xFEBF
        or leading >= 0xFF00
        or (address.ipv4_mapped is not None)
    )
