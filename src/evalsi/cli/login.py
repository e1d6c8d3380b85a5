"""`evalsi login`, `logout` and `whoami`: the key that is shown to a server."""

from dataclasses import replace

import click

from evalsi.cli.format_option import format_option
from evalsi.cli.server_options import key_options
from evalsi.cli.terminal import as_json, say


@click.command()
@click.option("--server", default="", metavar="URL", help="Address of the server. By default EVALSI_SERVER.")
@click.option(
    "--browser", is_flag=True, help="Sign in with a browser. Needs single sign-on, which servers do not have yet."
)
@click.option("--device", is_flag=True, help="Sign in with a code on another device. Needs single sign-on too.")
def login(server: str, *, browser: bool, device: bool) -> None:
    """Keep an API key for a server, after trying it.

    The key is asked for, or read from standard input where that is no terminal.
    """
    import sys

    from evalsi.access.api_key import looks_like_key
    from evalsi.cli.kept_keys import keep_key
    from evalsi.cli.server_options import client_of, named_server
    from evalsi.core.errors import UsageError
    from evalsi.schema import WhoAmIRequest
    from evalsi.settings import Settings

    if browser or device:
        raise UsageError(
            f"{'--browser' if browser else '--device'} needs single sign-on (OIDC), which servers do not have yet",
            hint="keep an API key instead: evalsi login without the flag",
        )
    settings = Settings.from_environment()
    address = named_server(server, settings)
    typed = click.prompt("API key", hide_input=True, err=True) if sys.stdin.isatty() else sys.stdin.readline()
    key = str(typed).strip()
    if not looks_like_key(key):
        raise UsageError(
            "this is no API key: one begins with evk_", hint="ask somebody who manages your project for one"
        )
    with client_of(replace(address, api_key=key)) as client:
        me = client.who_am_i(WhoAmIRequest())
    if not me.auth_enabled:
        say("note: this server needs no API key")
    path = keep_key(address.url, key, settings)
    name = me.principal.subject if me.principal else ""
    say(f"logged in to {address.url} as {name}; the key is kept in {path}")


@click.command()
@click.option("--server", default="", metavar="URL", help="Address of the server. By default EVALSI_SERVER.")
def logout(server: str) -> None:
    """Forget the API key that is kept for a server. The key itself stays good: see 'evalsi auth keys revoke'."""
    from evalsi.cli.kept_keys import drop_key
    from evalsi.cli.server_options import named_server
    from evalsi.settings import Settings

    settings = Settings.from_environment()
    address = named_server(server, settings).url
    dropped = drop_key(address, settings)
    say(f"the key for {address} is forgotten" if dropped else f"no key is kept for {address}")


@click.command()
@click.option("--server", default="", metavar="URL", help="Address of the server. By default EVALSI_SERVER.")
@key_options
@format_option()
def whoami(server: str, output_format: str) -> None:
    """Show who the server takes you for, and what you may do."""
    from evalsi.cli.server_options import client_of, named_server
    from evalsi.cli.table import number, print_table, text
    from evalsi.schema import WhoAmIRequest
    from evalsi.settings import Settings

    settings = Settings.from_environment()
    with client_of(named_server(server, settings)) as client:
        me = client.who_am_i(WhoAmIRequest())
    if output_format == "json":
        print(as_json(me))
        return
    say(f"{me.principal.subject if me.principal else ''}{'' if me.auth_enabled else ' (this server needs no key)'}")
    print_table(
        (text("project"), text("roles"), number("permissions")),
        [(each.project, ", ".join(each.roles), str(len(each.permissions))) for each in me.access],
    )
