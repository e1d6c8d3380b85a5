"""The seam between a face and whatever proves who is calling.

Its own module because faces need the Protocol alone. API keys stand behind it today; bearer tokens of an identity
provider would be a second implementation, and nothing on either side would change.
"""

from collections.abc import Mapping
from typing import Protocol

from evalsi.access.caller import Caller, everyone


class Authenticator(Protocol):
    """Finds out who is calling. Any task of the event loop may call it; it never blocks the loop."""

    @property
    def enabled(self) -> bool:
        """False where everybody may do everything."""
        ...

    async def authenticate(self, headers: Mapping[str, str], *, request_id: str = "", source: str = "") -> Caller:
        """The caller of a request.

        Args:
            headers: Names in lower case. gRPC metadata are headers.
            request_id: Identifier of the request.
            source: Address it came from.
        Raises: UnauthenticatedError: no credential, or one that is unknown, expired or revoked; the message does not
            say which.
        """
        ...


class OpenDoor:
    """Implements `Authenticator` where authentication is off: everybody is `anonymous` and may do everything."""

    enabled = False

    async def authenticate(self, headers: Mapping[str, str], *, request_id: str = "", source: str = "") -> Caller:
        del headers  # nobody is asked
        return everyone(request_id=request_id, source=source)
