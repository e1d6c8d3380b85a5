"""`evalsi version`; `evalsi.__main__` answers it without coming here, unless there are more arguments."""

import click

from evalsi.core.version import __version__


@click.command()
def version() -> None:
    """Print the version."""
    click.echo(__version__)
