"""The one question that commands which remove something ask. Its own module so that none of them waits for nobody."""

import sys

import click


def ask(question: str) -> None:
    """Asks on standard error, and returns when the answer is yes.

    Raises:
        UsageError: nobody is there to answer.
        click.Abort: the answer is no, or Ctrl-C.
    """
    from evalsi.core.errors import UsageError
    from evalsi.core.inert import printable

    try:
        agreed = click.confirm(printable(question, one_line=True), err=True)
    except click.Abort:
        if sys.stdin.isatty():
            raise
        click.echo(err=True)
        raise UsageError("nobody answered, so nothing was removed", hint="--yes removes without asking") from None
    if not agreed:
        raise click.Abort
