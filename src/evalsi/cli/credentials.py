"""`evalsi credentials`: which keys of a server the runs of a project may use, by the names of their variables."""

import click

from evalsi.cli.format_option import format_option
from evalsi.cli.server_options import client_and_project, server_options
from evalsi.cli.terminal import as_json, say


@click.group()
def credentials() -> None:
    """Show which keys of a server runs may use."""


@credentials.command(name="list")
@format_option(("text", "json"))
@server_options
def list_credentials(output_format: str) -> None:
    """List the variables with keys that runs of the project may name, where they may be sent, and the judges."""
    from evalsi.schema import ListCredentialsRequest

    opened, project = client_and_project()
    with opened as client:
        found = client.list_credentials(ListCredentialsRequest(project=project))
    if output_format == "json":
        print(as_json(found))
        return
    for grant in found.grants:
        hosts = ", ".join(grant.hosts) or "any host"
        print(f"{grant.env}: {hosts}{' (http too)' if grant.allow_http else ''}")
    if found.judges:
        print(f"judges: {', '.join(found.judges)}")
    if not found.enforced:
        say("this server does not limit which variables a run may name")
    elif not found.grants:
        say("runs may name no variable; an operator grants them under credentials in evalsi.yaml")
