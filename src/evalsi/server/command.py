"""`evalsi serve`: reads its options, starts a server, and stays until it is told to stop.

It stands with the server rather than with the other commands because faces do not import each other; the command line
knows it by name.
"""

import ipaddress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import click

from evalsi.core.errors import MissingExtraError, UsageError
from evalsi.settings import Settings


@dataclass(frozen=True, kw_only=True)
class ServeOptions:
    """The options of the command, by their names."""

    listen: str
    data_dir: Path | None
    no_auth: bool
    tls_cert: Path | None
    tls_key: Path | None
    workers: int | None
    record_deadline: float
    call_deadline: float
    log_level: str


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
    "--record-deadline",
    type=click.FloatRange(0, min_open=True),
    default=30.0,
    metavar="SECONDS",
    show_default=True,
    help="Longest time an evaluator that computes may take over one record.",
)
@click.option(
    "--call-deadline",
    type=click.FloatRange(0, min_open=True),
    default=600.0,
    metavar="SECONDS",
    show_default=True,
    help="Longest time a worker may take over one call.",
)
@click.option(
    "--log-level",
    type=click.Choice(("debug", "info", "warning", "error")),
    default="info",
    show_default=True,
    help="Least grave lines of the log on standard error.",
)
def serve(**given: Any) -> None:
    r"""Serve evaluations over gRPC, REST, gRPC-Web and Connect, all on one port.

    The log is a JSON object a line on standard error. SIGTERM and Ctrl-C stop the server within five seconds; calls
    under way are finished first.

    \b
    evalsi serve
    evalsi serve --listen 127.0.0.1:9000 --workers 4
    """
    options = ServeOptions(**given)
    host, port = address_of(options.listen)
    if not (is_loopback(host) or options.no_auth):
        raise UsageError(
            f"{options.listen} can be reached from other machines, and everybody there could do everything",
            hint="listen on 127.0.0.1, or say --no-auth if that is what you want",
        )
    if (options.tls_cert is None) != (options.tls_key is None):
        raise UsageError("--tls-cert and --tls-key belong together", hint="give both or none")
    run(host, port, options)


def run(host: str, port: int, options: ServeOptions) -> None:
    """Serves until the process is told to stop. Raises: EvalsiError, OSError: it could not begin."""
    try:
        import uvloop

        from evalsi.server.journal import LEVELS, Journal
        from evalsi.server.run_services import run_services
        from evalsi.server.serve import Extras, ServePlan, serve_until_told
        from evalsi.server.tls import Certificates
    except ImportError as error:
        if error.name is not None and error.name.startswith("evalsi"):
            raise
        raise MissingExtraError("a server", "server") from error
    from evalsi.settings.server import ServerSettings
    from evalsi.wiring.run_serving import opened_runs
    from evalsi.wiring.serving import ServingLimits, serving_parts

    settings = Settings.from_environment()
    if options.data_dir is not None:
        settings = replace(settings, directory=options.data_dir)
    limits = ServingLimits(
        workers=options.workers or 0,
        record_deadline_s=options.record_deadline,
        call_deadline_s=options.call_deadline,
    )
    certificates = None
    if options.tls_cert is not None and options.tls_key is not None:
        certificates = Certificates(chain=options.tls_cert, key=options.tls_key)
    journal = Journal(next(level for level in LEVELS if level == options.log_level))
    if not is_loopback(host):
        journal.note("warning", "open", reason="everybody who can reach the address may do everything")
    plan = ServePlan(host=host, port=port, certificates=certificates)
    with opened_runs(ServerSettings(), settings) as runs:
        extras = Extras(services=run_services(runs))
        uvloop.run(serve_until_told(plan, serving_parts(settings, limits), journal, extras))


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
