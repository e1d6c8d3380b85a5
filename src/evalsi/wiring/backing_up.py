"""Backups of what a server keeps, found by its settings.

A module of its own because the command line needs it without a server, running or not.
"""

from pathlib import Path

from evalsi.infra.objects import open_objects
from evalsi.infra.promoted_files import PromotedFiles
from evalsi.infra.store.backup import BackupAccount, KeptPlaces, restore_backup, write_backup
from evalsi.settings import Settings
from evalsi.settings.server import ServerSettings
from evalsi.wiring.run_serving import order_of


def back_up(server: ServerSettings, settings: Settings, path: Path) -> BackupAccount:
    """Writes everything that the server keeps to `path`; it may be running. Raises: as `write_backup`."""
    return write_backup(_places(server, settings), path)


def restore(server: ServerSettings, settings: Settings, path: Path) -> BackupAccount:
    """Puts a backup where the settings say that a server keeps everything. Raises: as `restore_backup`."""
    return restore_backup(path, _places(server, settings))


def _places(server: ServerSettings, settings: Settings) -> KeptPlaces:
    order = order_of(server, settings)
    return KeptPlaces(
        database=order.store,
        objects=open_objects(order.objects, cache=Path(order.cache), options=order.object_options),
        cases=PromotedFiles(Path(order.datasets)),
    )
