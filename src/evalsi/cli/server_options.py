"""The flags that send a command to a server, with one rule for all: `--server`, else EVALSI_SERVER, else this machine.

Its own module so that no command decides this by itself: a command adds the flags and asks `server_here`.
"""

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

import click

if TYPE_CHECKING:
    from evalsi.client.client import Client

F = TypeVar("F", bound=Callable[..., Any])

LOCAL = "local"
"""As the value of `--server`: this machine, whatever EVALSI_SERVER says."""
_KEPT = "evalsi.server_options"


def _keep(context: click.Context, parameter: click.Parameter, value: str | None) -> None:
    if value is not None:
        context.meta.setdefault(_KEPT, {})[parameter.name] = value


_KEY_OPTIONS = (
    click.option(
        "--api-key",
        "--token",
        "api_key",
        metavar="KEY",
        expose_value=False,
        callback=_keep,
        help="The key itself, for a script that has it in hand. Others on this machine can see it: prefer --api-key-env.",
    ),
    click.option(
        "--api-key-env",
        metavar="VAR",
        expose_value=False,
        callback=_keep,
        help="Environment variable that holds the key for the server. By default EVALSI_API_KEY, else 'evalsi login'.",
    ),
)
_OPTIONS = (
    click.option(
        "--server",
        metavar="URL",
        expose_value=False,
        callback=_keep,
        help=f"Have a server do it. By default EVALSI_SERVER; '{LOCAL}' is this machine.",
    ),
    click.option(
        "--project",
        metavar="NAME",
        expose_value=False,
        callback=_keep,
        help="Project on the server. By default EVALSI_PROJECT.",
    ),
    *_KEY_OPTIONS,
)


def server_options(command: F) -> F:
    """Adds the flags to a command, which receives none of them."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def key_options(command: F) -> F:
    """Adds the flags that name the key, for commands that have a `--server` of their own and ask `named_server`."""
    for option in reversed(_KEY_OPTIONS):
        command = option(command)
    return command


def server_here(settings: Any) -> Any:
    """The server that this command is sent to, as a `ServerAddress`; None for this machine.

    Args:
        settings: The settings of this machine.
    Raises: UsageError: the address is none, or a flag that concerns a server was given without one.
    """
    from evalsi.core.errors import UsageError

    given = _given()
    url = given.get("server", settings.server)
    if not url or url == LOCAL:
        for flag in ("project", "api_key", "api_key_env"):
            if flag in given:
                name = flag.replace("_", "-")
                raise UsageError(f"--{name} concerns a server, and none is named", hint="add --server URL")
        return None
    return address_of(url, given, settings)


def server_needed(settings: Any) -> Any:
    """As `server_here`, for commands that only a server can carry out.

    Raises: UsageError: none is named.
    """
    from evalsi.core.errors import UsageError

    server = server_here(settings)
    if server is None:
        raise UsageError("no server is named", hint="say --server https://…, or set EVALSI_SERVER")
    return server


def named_server(named: str, settings: Any) -> Any:
    """The server of a command that has a `--server` of its own: the one named, else that of EVALSI_SERVER.

    Raises: UsageError: there is none, or it is no http address.
    """
    from evalsi.core.errors import UsageError

    if not (url := named or settings.server):
        raise UsageError("no server is named", hint="say --server https://…, or set EVALSI_SERVER")
    return address_of(url, _given(), settings)


def client_of(server: Any) -> "Client":
    """The client of a `ServerAddress`, to be used as a context. Nothing is sent yet."""
    from evalsi.client.client import Client

    return Client.at(server)


def client_and_project() -> tuple[AbstractContextManager[Any], str]:
    """The client of the server that a command needs, to be used as a context, and the project that is meant there.

    The client is of any type, since a server always fills in the messages that its answers carry.

    Raises: UsageError: as `server_needed`.
    """
    from evalsi.settings import Settings

    server = server_needed(Settings.from_environment())
    return client_of(server), server.project


def _given() -> dict[str, str]:
    return click.get_current_context().meta.get(_KEPT, {})


def address_of(url: str, given: dict[str, str], settings: Any) -> Any:
    from evalsi.cli.kept_keys import kept_key
    from evalsi.client.server_address import ServerAddress, checked_url
    from evalsi.core.errors import UsageError

    url = checked_url(url)
    if "api_key" in given and "api_key_env" in given:
        raise UsageError("--api-key and --api-key-env both name the key", hint="give one of them")
    if "api_key" in given:
        settings = replace(settings, api_key=given["api_key"])
    elif "api_key_env" in given:
        settings = replace(settings, api_key=settings.secret(given["api_key_env"]))
    usual_project: str = settings.project
    return ServerAddress(
        url=url,
        api_key=settings.api_key or kept_key(url, settings),
        proxy=settings.proxy_for(url),
        project=given.get("project", usual_project),
    )
