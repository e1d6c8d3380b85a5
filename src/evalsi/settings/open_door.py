"""Whether a server may start with the door that it was told to have.

Its own module because it is the one rule that keeps an evaluation server from being open to a network by accident.
"""

from evalsi.core.address_fence import address_written_as
from evalsi.core.errors import UsageError
from evalsi.settings.server import ServerSettings


def is_on_this_machine(listen: str) -> bool:
    """Whether an address such as `127.0.0.1:8080` or `[::1]:8080` can be reached from this machine alone."""
    host = listen.rpartition(":")[0].strip("[]")
    address = address_written_as(host)
    return host == "localhost" or (address is not None and address.is_loopback)


def check_door(settings: ServerSettings, *, no_auth: bool) -> list[str]:
    """Refuses to open a door that nobody watches.

    Args:
        settings: With the addresses that the server will listen on.
        no_auth: Whether the operator said `--no-auth`.
    Returns: Sentences to warn the operator with.
    Raises: UsageError: off this machine, and nobody is asked who is calling, or keys would travel unencrypted.
    """
    asks = settings.auth is not None and settings.auth.mode == "required" and not no_auth
    listens = (settings.listen, settings.otlp.http_listen, settings.otlp.grpc_listen)
    beyond = [listen for listen in listens if listen and not is_on_this_machine(listen)]
    if not beyond:
        return []
    if not asks:
        if no_auth:
            return [f"everybody who reaches {listen} may do everything: --no-auth" for listen in beyond]
        raise UsageError(
            f"{beyond[0]} can be reached from other machines, and nobody would be asked who is calling",
            hint="add 'auth: {}' to the configuration and make a key with 'evalsi auth keys create --local', or say --no-auth",
        )
    assert settings.auth is not None
    if settings.auth.tls is None and not settings.auth.allow_plaintext:
        raise UsageError(
            f"keys would travel unencrypted to {beyond[0]}",
            hint="name a certificate in auth.tls, or set auth.allow_plaintext where a proxy ends TLS",
        )
    return []
