"""An address to listen on, as people write it, read in one place for every command that serves."""

from evalsi.core.errors import UsageError


def listen_address(listen: str) -> tuple[str, int]:
    """Host and port of "host:port", "[::1]:port" or ":port". Raises: UsageError."""
    host, colon, port = listen.rpartition(":")
    host = host.removeprefix("[").removesuffix("]") or "0.0.0.0"  # noqa: S104 - what ":port" means
    if not colon or not port.isdecimal() or int(port) > 65535:
        raise UsageError(f"{listen!r} is no address to listen on", hint="write HOST:PORT, for example 127.0.0.1:8080")
    return host, int(port)
