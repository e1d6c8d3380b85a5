"""`evalsi admin`: what the operator of a server does beside it, with its settings and without its port.

It stands with the server for the reason that `serve` does: both find everything by the same settings.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from evalsi.server.command import kept_settings

CommandT = TypeVar("CommandT", bound=Callable[..., Any])

_CONFIG = click.option(
    "--config", type=click.Path(path_type=Path), metavar="FILE", help="Settings of the server, YAML, as for 'serve'."
)
_DATA_DIR = click.option(
    "--data-dir",
    type=click.Path(path_type=Path),
    metavar="FOLDER",
    help="Folder of the store. By default that of the settings, EVALSI_DIR, or .evalsi.",
)
_FILE = click.argument("file", type=click.Path(path_type=Path), metavar="FILE")


def _of_a_server(command: CommandT) -> CommandT:
    return _FILE(_CONFIG(_DATA_DIR(command)))


@click.group()
def admin() -> None:
    """Back up and restore what a server keeps."""


@admin.command()
@_of_a_server
def backup(file: Path, config: Path | None, data_dir: Path | None) -> None:
    """Write everything that a server keeps to FILE, while it runs.

    FILE holds runs, traces, policies, failures, datasets that were uploaded, promoted cases, keys (as digests), roles,
    projects and the audit log. It does not hold caches, the settings, or files that you put below the folder of datasets.

    \b
    evalsi admin backup evalsi-backup.zip
    evalsi admin backup --config evalsi.yaml /backups/evalsi-backup.zip
    """  # noqa: D301 - click's mark for lines that stay as they are
    from evalsi.wiring.backing_up import back_up

    account = back_up(*kept_settings(config, data_dir), file)
    click.echo(f"{file}: the database and its objects ({account.objects}), {account.size_bytes:,} bytes", err=True)


@admin.command()
@_of_a_server
def restore(file: Path, config: Path | None, data_dir: Path | None) -> None:
    """Restore the backup FILE into an empty place: a folder without a store, or an empty PostgreSQL database.

    FILE is read to its end before anything is made, and may come from SQLite or PostgreSQL, whichever it goes into.
    Runs that were being worked on go on when a server is started. A restore that was killed leaves no store, and the
    same command does it again.

    \b
    evalsi admin restore evalsi-backup.zip --data-dir restored
    """  # noqa: D301 - click's mark for lines that stay as they are
    from evalsi.wiring.backing_up import restore as put_back

    account = put_back(*kept_settings(config, data_dir), file)
    click.echo(f"restored what {file} held on {account.created_at}, with its objects ({account.objects})", err=True)
