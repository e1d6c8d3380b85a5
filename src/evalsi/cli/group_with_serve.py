"""A group of commands whose `serve` stands with the server: faces do not import each other, so it is known by name.

Its own module because every group that has one finds it alike, when it is called and no sooner.
"""

import importlib
from typing import Any

import click


class GroupWithServe(click.Group):
    """Its own commands, and `serve` of the module `serve_in`."""

    def __init__(self, *args: Any, serve_in: str, **attributes: Any) -> None:
        super().__init__(*args, **attributes)
        self._serve_in = serve_in

    def list_commands(self, ctx: click.Context) -> list[str]:
        return [*super().list_commands(ctx), "serve"]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name != "serve":
            return super().get_command(ctx, cmd_name)
        command = importlib.import_module(self._serve_in).serve
        assert isinstance(command, click.Command)
        return command
