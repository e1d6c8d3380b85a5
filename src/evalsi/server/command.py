"""`evalsi serve`: reads its options, starts a server, and stays until it is told to stop.

It stands with the server rather than with the other commands because faces do not import each other; the command line
knows it by name.
"""

import os
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import click
import msgspec

from evalsi.core.errors import MissingExtraError, UsageError
from evalsi.schema import RewardSpec
from evalsi.settings import Settings
from evalsi.settings.open_door import check_door, is_on_this_machine
from evalsi.settings.read_server_settings import placed_server_settings
from evalsi.settings.server import OWN_MACHINE, AuthSettings, LogSettings, ServerSettings, TlsSettings
from evalsi.settings.server_rights import fence_of


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
    log_level: str | None


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
    help="Address to listen on; port 0 takes any free one. By default that of the settings, or 127.0.0.1:8080.",
)
@click.option(
    "--data-dir",
    type=click.Path(path_type=Path),
    metavar="FOLDER",
    help="Folder of the store. By default that of the settings, EVALSI_DIR, or .evalsi.",
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
    help="Least grave lines of the log on standard error. By default that of the settings, or info.",
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
    server = server_settings(options)
    host, port = address_of(server.listen)
    warnings = check_door(msgspec.structs.replace(server, listen=f"{host}:{port}"), no_auth=options.no_auth)
    run(server, settings_of(server, options.config, options.data_dir), options, warnings)


def server_settings(options: ServeOptions) -> ServerSettings:
    """The configuration, with what the command line says in its place."""
    if options.config is not None:
        server = placed_server_settings(options.config)
    else:
        server = OWN_MACHINE if is_on_this_machine(options.listen or OWN_MACHINE.listen) else ServerSettings()
    if options.listen is not None:
        server = msgspec.structs.replace(server, listen=options.listen)
    if options.tls_cert is not None and options.tls_key is not None:
        auth = server.auth or AuthSettings(mode="off")
        tls = TlsSettings(cert_file=str(options.tls_cert), key_file=str(options.tls_key))
        server = msgspec.structs.replace(server, auth=msgspec.structs.replace(auth, tls=tls))
    return server


def settings_of(server: ServerSettings, config: Path | None, data_dir: Path | None) -> Settings:
    """The settings of this machine for a server: its folder, and where addresses of its users may lead."""
    settings = replace(Settings.from_environment(), fence=fence_of(server))
    folder = data_dir
    if folder is None and config is not None:
        folder = Path(server.data_dir)
    return settings if folder is None else replace(settings, directory=folder)


def kept_settings(config: Path | None, data_dir: Path | None) -> tuple[ServerSettings, Settings]:
    """Where a server with this configuration file and folder keeps everything. Raises: as reading the file."""
    server = OWN_MACHINE if config is None else placed_server_settings(config)
    return server, settings_of(server, config, data_dir)


def run(
    server: ServerSettings,
    settings: Settings,
    options: ServeOptions,
    warnings: list[str],
    *,
    reward: RewardSpec | None = None,
) -> None:
    """Serves until the process is told to stop.

    Args:
        reward: What OpenRLHF's protocol is answered with; None for a server without it.
    Raises: EvalsiError, OSError: it could not begin.
    """
    # A worker that is started is a fork for a moment, of which gRPC would write lines into the log that are no JSON.
    os.putenv("GRPC_ENABLE_FORK_SUPPORT", "0")
    try:
        import uvloop
        from prometheus_client import CollectorRegistry

        from evalsi.server.journal import LEVELS, Journal, Level
        from evalsi.server.make_services import reward_service, run_services
        from evalsi.server.openrlhf_route import PATH, OpenRlhfRoute
        from evalsi.server.run_measures import RunMeasures, SpentMeasures
        from evalsi.server.serve import Extras, ServePlan, serve_until_told
        from evalsi.server.tls import Certificates
    except ImportError as error:
        if error.name is not None and error.name.startswith("evalsi"):
            raise
        raise MissingExtraError("a server", "server") from error
    from evalsi.wiring.run_serving import opened_runs
    from evalsi.wiring.serving import ServingLimits, serving_parts

    limits = ServingLimits(
        workers=options.workers or server.worker.concurrency,
        most_records=server.evaluate.max_records,
        stream_batch=server.evaluate.batch_size,
        stream_batches=server.evaluate.parallelism,
        record_deadline_s=options.record_deadline,
        call_deadline_s=options.call_deadline,
    )
    tls = server.auth.tls if server.auth is not None else None
    certificates = Certificates(chain=Path(tls.cert_file), key=Path(tls.key_file)) if tls is not None else None
    level: Level = next(level for level in LEVELS if level == (options.log_level or server.log.level))
    server = msgspec.structs.replace(server, log=LogSettings(level=level, format=server.log.format))
    journal = Journal(level, server.log.format)
    journal.take_over("evalsi")
    for warning in warnings:
        journal.note("warning", "open", reason=warning)
    host, port = address_of(server.listen)
    plan = ServePlan(host=host, port=port, certificates=certificates, shows_pages=not server.ui.disabled)
    with opened_runs(server, settings) as runs:
        parts = serving_parts(settings, server, limits, runs.project_of_run, no_auth=options.no_auth)
        registry = CollectorRegistry(auto_describe=True)
        rewards = reward_service(parts, server, registry)
        extras = Extras(
            services=[*run_services(runs), rewards],
            mounts={} if reward is None else {PATH: OpenRlhfRoute(rewards, reward)},
            collectors=[registry, RunMeasures(runs), SpentMeasures(runs.accounts)],
            account=runs.accounts.add,
        )
        uvloop.run(serve_until_told(plan, parts, journal, extras))


def address_of(listen: str) -> tuple[str, int]:
    """Host and port of "host:port", "[::1]:port" or ":port". Raises: UsageError."""
    host, colon, port = listen.rpartition(":")
    host = host.removeprefix("[").removesuffix("]") or "0.0.0.0"  # noqa: S104 - what ":port" means
    if not colon or not port.isdecimal() or int(port) > 65535:
        raise UsageError(f"{listen!r} is no address to listen on", hint="write HOST:PORT, for example 127.0.0.1:8080")
    return host, int(port)
