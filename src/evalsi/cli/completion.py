"""`evalsi completion`: the script that a shell evaluates to complete our commands."""

import click


@click.command()
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def completion(shell: str) -> None:
    """Print the completion script of SHELL.

    \b
    bash: eval "$(evalsi completion bash)"
    zsh:  eval "$(evalsi completion zsh)"
    fish: evalsi completion fish | source
    """  # noqa: D301
    from click.shell_completion import get_completion_class

    from evalsi.cli.app import app

    kind = get_completion_class(shell)
    assert kind is not None
    print(kind(app, {}, "evalsi", "_EVALSI_COMPLETE").source())
