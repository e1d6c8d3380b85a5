"""`evalsi view`: the pages over the store of this machine, with nothing else running.

It stands with the server, as `evalsi serve` does, because faces do not import each other. What always holds: it listens on
this machine alone, carries out no run, and ends with its terminal.
"""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from evalsi.core.extra_needed import extra_needed
from evalsi.server.quiet_forks import keep_forks_quiet
from evalsi.settings import Settings
from evalsi.settings.server import OWN_MACHINE

if TYPE_CHECKING:
    from evalsi.server.serve import Running


@click.command()
@click.argument("run", required=False, default="")
@click.option(
    "--data-dir",
    type=click.Path(path_type=Path),
    metavar="FOLDER",
    help="Folder of the store. By default EVALSI_DIR, or .evalsi.",
)
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=0,
    metavar="PORT",
    help="Port to listen on. By default any free one.",
)
@click.option("--no-browser", is_flag=True, help="Print the address and open nothing.")
def view(run: str, data_dir: Path | None, port: int, no_browser: bool) -> None:
    """Look at the runs of this machine in a browser, or at RUN: an id, a name, latest.

    It prints its address and stays until Ctrl-C. Only this machine can reach it.

    \b
    evalsi view
    evalsi view latest --no-browser
    """  # noqa: D301
    settings = Settings.from_environment()
    if data_dir is not None:
        settings = replace(settings, directory=data_dir)
    _serve(settings, run, port, opens_browser=not no_browser)


def _serve(settings: Settings, run: str, port: int, *, opens_browser: bool) -> None:
    """Serves until the process is told to stop. Raises: EvalsiError, OSError: it could not begin."""
    keep_forks_quiet()
    with extra_needed("the pages", "server"):
        import uvloop

        from evalsi.server.journal import Journal
        from evalsi.server.make_services import run_services, trace_services
        from evalsi.server.serve import Extras, ServePlan, serve_until_told
    from evalsi.access.gate import DEFAULT_PROJECT
    from evalsi.wiring.run_serving import opened_run_stores
    from evalsi.wiring.serving import ServingLimits, serving_parts
    from evalsi.wiring.trace_serving import opened_traces
    from evalsi.wiring.watching import opened_watch

    with (
        opened_run_stores(OWN_MACHINE, settings) as runs,
        opened_traces(OWN_MACHINE, settings) as traces,
        opened_watch(OWN_MACHINE, settings, with_workers=False) as watch,
    ):
        page = f"runs/{runs.stores.of(DEFAULT_PROJECT).find(run).id}" if run else ""

        def show(running: "Running") -> None:
            address = f"http://{running.host}:{running.port}/ui/{page}"
            click.echo(f"{address}  (Ctrl-C stops it)")
            if opens_browser:
                click.launch(address)

        parts = serving_parts(settings, OWN_MACHINE, ServingLimits(workers=1), runs.project_of_run)
        plan = ServePlan(port=port)
        extras = Extras(services=[*run_services(runs, traces.failures, watch.outbox), *trace_services(traces, watch)])
        uvloop.run(serve_until_told(plan, parts, Journal("error"), extras, when_ready=show))
