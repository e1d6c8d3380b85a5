"""`evalsi serve`: reads its options, starts a server, and stays until it is told to stop.

It stands with the server rather than with the other commands because faces do not import each other; the command line
knows it by name.
"""

import ipaddress
from dataclasses import replace
from pathlib import Path

import click

from evalsi.core.errors import MissingExtraError, UsageError
from evalsi.settings import Settings


@click.command()
@click.option(
    "--listen",
    default="127.0.0.1:8080",
    metavar="HOST:PORT",
    show_default=True,
    help="Address to listen on; port 0 takes any free one.",
)
@click.option(
    "--data-dir",
    type=click.Path(path_type=Path),
    metavar="FOLDER",
    help="Folder of the store. By default EVALSI_DIR, or .evalsi.",
)
@click.option(
    "--no-auth",
    is_flag=True,
    help="Let everybody who can reach the address do everything. Needed to listen beyond this machine.",
)
@click.option(
    "--tls-cert",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Certificate chain, PEM. Read again when it changes.",
)
@click.option("--tls-key", type=click.Path(path_type=Path), metavar="FILE", help="Key of the certificate, PEM.")
@click.option(
    "--workers",
    type=click.IntRange(1, 256),
    metavar="N",
    help="Processes for evaluators that may be slow. By default one for each processor.",
)
@click.option(
    "--log-level",
    type=click.Choice(("debug", "info", "warning", "error")),
    default="info",
    show_default=True,
    help="Least grave lines of the log on standard error.",
)
def serve(
    listen: str,
    data_dir: Path | None,
    no_auth: bool,
    tls_cert: Path | None,
    tls_key: Path | None,
    workers: int | None,
    log_level: str,
) -> None:
    r"""Serve evaluations over gRPC, REST, gRPC-Web and Connect, all on one port.

    The log is a JSON object a line on standard error. SIGTERM and Ctrl-C stop the server within five seconds; calls
    under way are finished first.

    \b
    evalsi serve
    evalsi serve --listen 127.0.0.1:9000 --workers 4
    """
    host, port = address_of(listen)
    if not (is_loopback(host) or no_auth):
        raise UsageError(
            f"{listen} can be reached from other machines, and everybody there could do everything",
            hint="listen on 127.0.0.1, or say --no-auth if that is what you want",
        )
    if (tls_cert is None) != (tls_key is None):
        raise UsageError("--tls-cert and --tls-key belong together; give both or none")
    run(host, port, data_dir, tls_cert, tls_key, workers, log_level)


def run(
    host: str,
    port: int,
    data_dir: Path | None,
    tls_cert: Path | None,
    tls_key: Path | None,
    workers: int | None,
    log_level: str,
) -> None:
    try:
        import uvloop

        from evalsi.server.journal import LEVELS, Journal
        from evalsi.server.serve import ServePlan, serve_until_told
        from evalsi.server.tls import Certificates
        from evalsi.wiring.serving import serving_parts
    except ImportError as error:
        if error.name is not None and error.name.startswith("evalsi"):
            raise
        raise MissingExtraError("a server", "server") from error
    settings = Settings.from_environment()
    if data_dir is not None:
        settings = replace(settings, directory=data_dir)
    certificates = Certificates(chain=tls_cert, key=tls_key) if tls_cert is not None and tls_key is not None else None
    journal = Journal(next(level for level in LEVELS if level == log_level))
    if not is_loopback(host):
        journal.note("warning", "open", reason="everybody who can reach the address may do everything")
    plan = ServePlan(host=host, port=port, certificates=certificates)
    uvloop.run(serve_until_told(plan, serving_parts(settings, workers=workers or 0), journal))


def address_of(listen: str) -> tuple[str, int]:
    """Host and port of "host:port", "[::1]:port" or ":port". Raises: UsageError."""
    host, colon, port = listen.rpartition(":")
    host = host.removeprefix("[").removesuffix("]") or "0.0.0.0"  # noqa: S104 - what ":port" means
    if not colon or not port.isdecimal() or int(port) > 65535:
        raise UsageError(f"{listen!r} is no address to listen on", hint="write HOST:PORT, for example 127.0.0.1:8080")
    return host, int(port)


def is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
