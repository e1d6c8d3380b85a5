"""What a server that asks who is calling has beside one that does not: an authenticator, a guard, and AuthService.

Its own module because the parts are made where settings are known, and AuthService is a face's.
"""

from evalsi.server.serve import Extras
from evalsi.server.services.auth_service import AuthService
from evalsi.wiring.access import AccessParts


def authorized(access: AccessParts) -> Extras:
    """The extras of a server over these parts. Also for a server that asks nobody: what it does is in the audit log."""
    service = AuthService(access.store, access.clock, access.forget, access.keys, access.bindings)
    return Extras(services=[service], authenticator=access.authenticator, admission=access.guard)
