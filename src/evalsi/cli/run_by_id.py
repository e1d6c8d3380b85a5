"""`evalsi delete-run` and `evalsi archive-run`: `runs rm` and `runs archive` for scripts, which know ids and nobody to ask.

Their own module because they take an id of a server and nothing else, and need --yes.
"""

from collections.abc import Callable
from typing import Any, TypeVar

import click

from evalsi.cli.server_options import client_of, server_needed, server_options
from evalsi.cli.terminal import say

F = TypeVar("F", bound=Callable[..., Any])


def _sure(command: F) -> F:
    return click.option("--yes", is_flag=True, required=True, help="That it is meant; nobody is asked.")(command)


@click.command(name="delete-run")
@click.argument("run_id", metavar="ID")
@_sure
@click.option("--idempotency-key", default="", metavar="KEY", help="The same key again does it once.")
@server_options
def delete_run(run_id: str, *, yes: bool, idempotency_key: str) -> None:
    """Remove the run ID from a server, as `evalsi runs rm` does."""
    from evalsi.schema import DeleteRunRequest

    _check(yes)
    with client_of(server_needed(_settings())) as client:
        client.delete_run(DeleteRunRequest(id=run_id), idempotency_key=idempotency_key)
    say(f"removed {run_id}")


@click.command(name="archive-run")
@click.argument("run_id", metavar="ID")
@_sure
@server_options
def archive_run(run_id: str, *, yes: bool) -> None:
    """Put the run ID of a server away, as `evalsi runs archive` does."""
    from evalsi.schema import ArchiveRunRequest

    _check(yes)
    with client_of(server_needed(_settings())) as client:
        client.archive_run(ArchiveRunRequest(id=run_id))
    say(f"archived {run_id}")


def _check(yes: bool) -> None:
    if not yes:
        raise click.UsageError("nothing is done without --yes.")


def _settings() -> Any:
    from evalsi.settings import Settings

    return Settings.from_environment()
