"""`evalsi login`, `logout` and `whoami`: the key that is shown to a server."""

from dataclasses import replace

import click

from evalsi.cli.terminal import as_json, say


@click.command()
@click.option("--server", default="", metavar="URL", help="Address of the server. By default EVALSI_SERVER.")
def login(server: str) -> None:
    """Keep an API key for a server, after trying it.

    The key is asked for, or read from standard input where that is no terminal.
    """
    import sys

    from evalsi.access.api_key import looks_like_key
    from evalsi.cli.kept_keys import keep_key
    from evalsi.cli.server_call import call, server_of
    from evalsi.core.errors import UsageError
    from evalsi.schema import WhoAmIRequest, WhoAmIResponse
    from evalsi.settings import Settings

    settings = Settings.from_environment()
    address = server_of(server, settings)
    typed = click.prompt("API key", hide_input=True, err=True) if sys.stdin.isatty() else sys.stdin.readline()
    key = str(typed).strip()
    if not looks_like_key(key):
        raise UsageError(
            "this is no API key: one begins with evk_", hint="ask somebody who manages your project for one"
        )
    me = call("AuthService/WhoAmI", WhoAmIRequest(), WhoAmIResponse, address, replace(settings, api_key=key))
    if not me.auth_enabled:
        say("note: this server asks nobody who is calling")
    path = keep_key(address, key, settings)
    name = me.principal.subject if me.principal else ""
    say(f"logged in to {address} as {name}; the key is kept in {path}")


@click.command()
@click.option("--server", default="", metavar="URL", help="Address of the server. By default EVALSI_SERVER.")
def logout(server: str) -> None:
    """Forget the API key that is kept for a server. The key itself stays good: see 'evalsi auth keys revoke'."""
    from evalsi.cli.kept_keys import drop_key
    from evalsi.cli.server_call import server_of
    from evalsi.settings import Settings

    settings = Settings.from_environment()
    address = server_of(server, settings)
    dropped = drop_key(address, settings)
    say(f"the key for {address} is forgotten" if dropped else f"no key is kept for {address}")


@click.command()
@click.option("--server", default="", metavar="URL", help="Address of the server. By default EVALSI_SERVER.")
@click.option("--format", "output_format", type=click.Choice(["table", "json"]), default="table", show_default=True)
def whoami(server: str, output_format: str) -> None:
    """Show who the server takes you for, and what you may do."""
    from evalsi.cli.auth_tables import print_rows
    from evalsi.cli.server_call import call, server_of
    from evalsi.schema import WhoAmIRequest, WhoAmIResponse
    from evalsi.settings import Settings

    settings = Settings.from_environment()
    me = call("AuthService/WhoAmI", WhoAmIRequest(), WhoAmIResponse, server_of(server, settings), settings)
    if output_format == "json":
        print(as_json(me))
        return
    say(f"{me.principal.subject if me.principal else ''}{'' if me.auth_enabled else ' (this server asks nobody)'}")
    print_rows(
        ("project", "roles", "permissions"),
        [(each.project, ", ".join(each.roles), str(len(each.permissions))) for each in me.access],
    )
