"""Backups of what a server keeps, found by its settings.

A module of its own because the command line needs it without a server, running or not.
"""

from pathlib import Path

from evalsi.infra.objects import open_objects
from evalsi.infra.store.backup import BackupAccount, restore_backup, write_backup
from evalsi.settings import Settings
from evalsi.settings.server import ServerSettings
from evalsi.wiring.run_serving import order_of


def back_up(server: ServerSettings, settings: Settings, path: Path) -> BackupAccount:
    """Writes everything that the server keeps to `path`; it may be running. Raises: as `write_backup`."""
    order = order_of(server, settings)
    objects = open_objects(order.objects, cache=Path(order.cache), options=order.object_options)
    return write_backup(order.store, objects, path)


def restore(server: ServerSettings, settings: Settings, path: Path) -> BackupAccount:
    """Puts a backup where the settings say that a server keeps everything. Raises: as `restore_backup`."""
    order = order_of(server, settings)
    objects = open_objects(order.objects, cache=Path(order.cache), options=order.object_options)
    return restore_backup(path, order.store, objects)
