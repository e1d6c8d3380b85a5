"""`evalsi serve`: reads its options, starts a server, and stays until it is told to stop.

It stands with the server rather than with the other commands because faces do not import each other; the command line
knows it by name.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click
import msgspec

from evalsi.core.errors import UsageError
from evalsi.core.extra_needed import extra_needed
from evalsi.schema import RewardSpec
from evalsi.server.listen_address import listen_address
from evalsi.server.quiet_forks import keep_forks_quiet
from evalsi.server.tls_options import tls_cert_option, tls_key_option
from evalsi.settings import Settings
from evalsi.settings.open_door import check_door, is_on_this_machine
from evalsi.settings.server import OWN_MACHINE, AuthSettings, LogSettings, ServerSettings, TlsSettings
from evalsi.settings.server_rights import fence_of
from evalsi.settings.server_sandboxes import sandboxes_of

if TYPE_CHECKING:
    from evalsi.server.journal import Level

CommandT = TypeVar("CommandT", bound=Callable[..., Any])


@dataclass(frozen=True, kw_only=True)
class ServeOptions:
    """The options of a command that serves, by their names."""

    config: Path | None
    listen: str | None
    data_dir: Path | None
    no_auth: bool
    tls_cert: Path | None
    tls_key: Path | None
    workers: int | None
    record_deadline: float
    call_deadline: float
    log_level: "Level | None"


_CONFIG = click.option(
    "--config",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Settings of the server, YAML. The options here go before it.",
)
_DATA_DIR = click.option(
    "--data-dir",
    type=click.Path(path_type=Path),
    metavar="FOLDER",
    help="Folder of the store. By default that of the settings, EVALSI_DIR, or .evalsi.",
)
_NO_AUTH = click.option(
    "--no-auth",
    is_flag=True,
    help="Let everybody who can reach the address do everything. Needed to listen beyond this machine.",
)
_WORKERS = click.option(
    "--workers",
    type=click.IntRange(1, 256),
    metavar="N",
    help="Processes for evaluators that may be slow. By default one for each processor.",
)
_RECORD_DEADLINE = click.option(
    "--record-deadline",
    type=click.FloatRange(0, min_open=True),
    default=30.0,
    metavar="SECONDS",
    show_default=True,
    help="Longest time an evaluator that computes may take over one record.",
)
_CALL_DEADLINE = click.option(
    "--call-deadline",
    type=click.FloatRange(0, min_open=True),
    default=600.0,
    metavar="SECONDS",
    show_default=True,
    help="Longest time a worker may take over one call.",
)
_LOG_LEVEL = click.option(
    "--log-level",
    type=click.Choice(("debug", "info", "warning", "error")),
    help="Least grave lines of the log on standard error. By default that of the settings, or info.",
)


def options_of_a_server(command: CommandT) -> CommandT:
    """The options of every command that serves, but its address; they fill `ServeOptions`."""
    tls, deadlines = (tls_key_option, tls_cert_option), (_CALL_DEADLINE, _RECORD_DEADLINE)
    for option in (_LOG_LEVEL, *deadlines, _WORKERS, *tls, _NO_AUTH, _DATA_DIR, _CONFIG):
        command = option(command)
    return command


@click.command()
@options_of_a_server
@click.option(
    "--listen",
    metavar="HOST:PORT",
    help="Address to listen on; port 0 takes any free one. By default that of the settings, or 127.0.0.1:8080.",
)
def serve(**given: Any) -> None:
    """Serve evaluations and pages, and take in traces, over gRPC, REST, gRPC-Web, Connect and OTLP, all on one port.

    The log is a JSON object a line on standard error. SIGTERM and Ctrl-C stop the server within five seconds; calls
    under way are finished first.

    \b
    evalsi serve
    evalsi serve --listen 127.0.0.1:9000 --workers 4
    """  # noqa: D301 - click's mark for lines that stay as they are
    options = ServeOptions(**given)
    server = server_settings(options)
    host, port = listen_address(server.listen)
    warnings = check_door(msgspec.structs.replace(server, listen=f"{host}:{port}"), no_auth=options.no_auth)
    run(server, settings_of(server, options.config, options.data_dir), options, warnings)


def server_settings(options: ServeOptions) -> ServerSettings:
    """The configuration, with what the command line says in its place. Raises: UsageError: half of a certificate."""
    if (options.tls_cert is None) != (options.tls_key is None):
        raise UsageError("--tls-cert and --tls-key belong together", hint="give both or none")
    if options.config is not None:
        from evalsi.settings.read_server_settings import placed_server_settings

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
    """The settings of this machine for a server: its folder, and what its users may reach and ask sandboxes for."""
    settings = Settings.from_environment()
    settings = replace(settings, fence=fence_of(server), sandbox=sandboxes_of(server, settings.sandbox))
    folder = data_dir
    if folder is None and config is not None:
        folder = Path(server.data_dir)
    return settings if folder is None else replace(settings, directory=folder)


def kept_settings(config: Path | None, data_dir: Path | None) -> tuple[ServerSettings, Settings]:
    """Where a server with this configuration file and folder keeps everything. Raises: as reading the file."""
    if config is None:
        return OWN_MACHINE, settings_of(OWN_MACHINE, None, data_dir)
    from evalsi.settings.read_server_settings import placed_server_settings

    server = placed_server_settings(config)
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
    keep_forks_quiet()
    with extra_needed("a server", "server"):
        from evalsi.server.journal import Journal
        from evalsi.server.whole_server import WholeServer
    from evalsi.wiring.serving import ServingLimits

    limits = ServingLimits(
        workers=options.workers or server.worker.concurrency,
        most_records=server.evaluate.max_records,
        stream_batch=server.evaluate.batch_size,
        stream_batches=server.evaluate.parallelism,
        record_deadline_s=options.record_deadline,
        call_deadline_s=options.call_deadline,
    )
    if options.log_level:
        server = msgspec.structs.replace(server, log=LogSettings(level=options.log_level, format=server.log.format))
    journal = Journal(server.log.level, server.log.format)
    journal.take_over("evalsi")
    journal.take_over("opentelemetry")
    for warning in warnings:
        journal.note("warning", "open", reason=warning)
    WholeServer(server=server, settings=settings, limits=limits, no_auth=options.no_auth, reward=reward).serve(journal)
