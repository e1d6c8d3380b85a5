"""`evalsi sandbox serve`: reads its options, starts a host of sandboxes, and stays until it is told to stop.

It stands with the server rather than with the other commands because faces do not import each other; the command line
knows it by name.
"""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import click

from evalsi.core.errors import UsageError
from evalsi.core.extra_needed import extra_needed
from evalsi.server.listen_address import listen_address
from evalsi.server.quiet_forks import keep_forks_quiet
from evalsi.server.tls_options import tls_cert_option, tls_key_option
from evalsi.settings import Settings
from evalsi.settings.read_server_settings import placed_server_settings
from evalsi.settings.server import ServerSettings
from evalsi.settings.server_sandboxes import sandboxes_of

_LISTEN = "127.0.0.1:8090"


@dataclass(frozen=True, kw_only=True)
class SandboxServeOptions:
    """The options of the command, by their names."""

    config: Path | None
    listen: str
    tls_cert: Path | None
    tls_key: Path | None
    client_ca: Path | None
    allow_client: tuple[str, ...]
    until_stdin_eof: bool


@click.command()
@click.option(
    "--config",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Settings of the server, YAML, of which the part `sandbox` counts.",
)
@click.option(
    "--listen",
    metavar="HOST:PORT",
    default=_LISTEN,
    show_default=True,
    help="Address to listen on; port 0 takes any free one.",
)
@tls_cert_option
@tls_key_option
@click.option(
    "--client-ca",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Authority that signed the certificates of those who may call, PEM. Needed to listen beyond this machine.",
)
@click.option(
    "--allow-client",
    multiple=True,
    metavar="NAME",
    help="Only certificates with this name may call; repeatable.",
)
@click.option("--until-stdin-eof", is_flag=True, help="Stop when standard input ends.")
def serve(**given: Any) -> None:
    """Lend sandboxes of this machine to others, over gRPC.

    Whoever may call runs programs here, fenced in: beyond this machine every caller must show a certificate. Set
    EVALSI_SANDBOX_ADDR and its relatives where programs are to run here. The log is a JSON object a line on standard error.

    \b
    evalsi sandbox serve
    evalsi sandbox serve --listen 0.0.0.0:8090 --tls-cert host.pem --tls-key host.key --client-ca clients.pem
    """  # noqa: D301
    options = SandboxServeOptions(**given)
    files = (options.tls_cert, options.tls_key, options.client_ca)
    if any(files) and not all(files):
        raise UsageError("--tls-cert, --tls-key and --client-ca belong together", hint="give all three or none")
    server = ServerSettings() if options.config is None else placed_server_settings(options.config)
    local = Settings.from_environment()
    settings = replace(local, sandbox=sandboxes_of(server, local.sandbox))
    keep_forks_quiet()
    with extra_needed("a host of sandboxes", "server"):
        import uvloop

        from evalsi.server.client_certificates import MutualTls
        from evalsi.server.journal import Journal
        from evalsi.server.sandbox_leases import LeaseLimits
        from evalsi.server.sandbox_server import SandboxServePlan, serve_sandboxes
    from evalsi.wiring.sandboxing import make_ladder

    journal = Journal(server.log.level, server.log.format)
    journal.take_over("evalsi")
    tls = None
    if options.tls_cert is not None and options.tls_key is not None and options.client_ca is not None:
        tls = MutualTls(chain=options.tls_cert, key=options.tls_key, client_ca=options.client_ca)
    host, port = listen_address(options.listen)
    plan = SandboxServePlan(
        host=host,
        port=port,
        tls=tls,
        allowed=options.allow_client,
        limits=LeaseLimits(most=server.sandbox.max_sandboxes, idle_s=server.sandbox.idle_timeout_s),
    )
    plan.check()

    async def run() -> None:
        # The ladder belongs to the event loop that uses it.
        await serve_sandboxes(plan, make_ladder(settings), journal, until_stdin_ends=options.until_stdin_eof)

    uvloop.run(run())
