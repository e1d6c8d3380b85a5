"""Names to addresses for aiohttp, behind a fence: what is resolved here is checked, and is what is connected to.

Its own module because models, targets and whatever else calls a user's address share it. A name is resolved once per
connection, so an answer that changes between checking and connecting has no effect (DNS rebinding); one bad address among
good ones refuses the name.
"""

import ipaddress
import socket

from aiohttp.abc import AbstractResolver, ResolveResult
from aiohttp.resolver import ThreadedResolver

from evalsi.core.address_fence import AddressFence
from evalsi.core.errors import InvalidSpecError, ProviderError
from evalsi.schema import ErrorKind


class FencedResolver(AbstractResolver):
    """Implements aiohttp's resolver. Raises ProviderError, which is not tried again, for a refused address."""

    def __init__(self, fence: AddressFence, resolver: AbstractResolver | None = None) -> None:
        self._fence = fence
        self._resolver = resolver or ThreadedResolver()

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_INET
    ) -> list[ResolveResult]:
        found = await self._resolver.resolve(host, port, family)
        for result in found:
            try:
                self._fence.check_address(
                    host.rstrip(".").lower(), ipaddress.ip_address(result["host"].partition("%")[0])
                )
            except InvalidSpecError as refusal:
                raise ProviderError(str(refusal), kind=ErrorKind.PROVIDER_REJECTED) from None
        return found

    async def close(self) -> None:
        await self._resolver.close()
