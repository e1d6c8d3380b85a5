"""`evalsi` and `python -m evalsi`: hands over to the command line, which imports only what a command needs."""

import sys


def main() -> None:
    """Runs the command line and exits with its status. The version alone is printed without any of it."""
    if sys.argv[1:] in (["version"], ["--version"]):
        from evalsi.core.version import __version__

        print(__version__)
        return
    from evalsi.cli.supervision import is_watched, run_watched

    if is_watched(sys.argv[1:]):
        sys.exit(run_watched(_run))
    sys.exit(_run())


def _run() -> int:
    from evalsi.cli.app import run

    return run(sys.argv[1:])


if __name__ == "__main__":
    main()
