"""`evalsi inbox`: the commands of `evalsi failures` under the names that other tools of this interface use.

Its own module because these are names and nothing else: whatever one of them does is done in `failures`.
"""

import click

from evalsi.cli.failures import failures

_NAMES = {
    "list": "list",
    "capture": "capture",
    "get": "show",
    "edit": "update",
    "review": "review",
    "history": "events",
    "export": "export",
    "delete": "delete",
}


@click.group()
def inbox() -> None:
    """The same as `evalsi failures`; get is its show, edit its update, history its events."""


for _name, _meant in _NAMES.items():
    inbox.add_command(failures.commands[_meant], _name)
