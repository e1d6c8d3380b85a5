"""`evalsi serve`: reads its options, starts a server, and stays until it is told to stop.

It stands with the server rather than with the other commands because faces do not import each other; the command line
knows it by name.
"""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import click
import msgspec

from evalsi.core.errors import MissingExtraError, UsageError
from evalsi.settings import Settings


@dataclass(frozen=True, kw_only=True)
class ServeOptions:
    """The options of the command, by their names."""

    config: Path | None
    listen: str | None
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
    "--config",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Settings of the server, YAML. The options here go before it.",
)
@click.option(
    "--listen",
    metavar="HOST:PORT",
    help="Address to listen on; port 0 takes any free one. By default 127.0.0.1:8080.",
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
    if (options.tls_cert is None) != (options.tls_key is None):
        raise UsageError("--tls-cert and --tls-key belong together", hint="give both or none")
    run(options)


def run(options: ServeOptions) -> None:
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
    from evalsi.settings.open_door import check_door
    from evalsi.settings.read_server_settings import read_server_settings
    from evalsi.settings.server import ServerSettings
    from evalsi.wiring.run_serving import opened_runs
    from evalsi.wiring.serving import ServingLimits, serving_parts

    server = read_server_settings(options.config) if options.config is not None else ServerSettings()
    if options.listen is not None:
        server = msgspec.structs.replace(server, listen=options.listen)
    host, port = address_of(server.listen)
    warnings = check_door(msgspec.structs.replace(server, listen=f"{host}:{port}"), no_auth=options.no_auth)
    settings = Settings.from_environment()
    if options.data_dir is not None or options.config is not None:
        settings = replace(settings, directory=options.data_dir or Path(server.data_dir))
    limits = ServingLimits(
        workers=options.workers or server.worker.concurrency,
        most_records=server.evaluate.max_records,
        record_deadline_s=options.record_deadline,
        call_deadline_s=options.call_deadline,
    )
    tls = server.auth.tls if server.auth is not None else None
    certificates = None
    if options.tls_cert is not None and options.tls_key is not None:
        certificates = Certificates(chain=options.tls_cert, key=options.tls_key)
    elif tls is not None:
        certificates = Certificates(chain=Path(tls.cert_file), key=Path(tls.key_file))
    journal = Journal(next(level for level in LEVELS if level == options.log_level))
    for warning in warnings:
        journal.note("warning", "open", reason=warning)
    plan = ServePlan(host=host, port=port, certificates=certificates)
    with opened_runs(server, settings) as runs:
        parts = serving_parts(settings, server, limits, no_auth=options.no_auth, project_of_run=runs.project_of_run)
        uvloop.run(serve_until_told(plan, parts, journal, Extras(services=run_services(runs))))


def address_of(listen: str) -> tuple[str, int]:
    """Host and port of "host:port", "[::1]:port" or ":port". Raises: UsageError."""
    host, colon, port = listen.rpartition(":")
    host = host.removeprefix("[").removesuffix("]") or "0.0.0.0"  # noqa: S104 - what ":port" means
    if not colon or not port.isdecimal() or int(port) > 65535:
        raise UsageError(f"{listen!r} is no address to listen on", hint="write HOST:PORT, for example 127.0.0.1:8080")
    return host, int(port)
