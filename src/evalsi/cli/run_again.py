"""`evalsi runs resume` and `evalsi runs rerun`: a run's own specification, carried on or repeated."""

from typing import Any

import click

from evalsi.cli.run_ending import ending_options, no_cache_option, retry_errors_option
from evalsi.cli.server_options import server_here, server_options
from evalsi.cli.terminal import say


@click.command()
@click.argument("run")
@retry_errors_option
@no_cache_option
@ending_options
@server_options
def resume(run: str, **flags: Any) -> int:
    """Continue RUN where it was stopped or killed; what was answered is not asked again.

    The specification is the one that RUN was started with, whatever its file says now.
    """
    from evalsi.cli.run import perform
    from evalsi.core.run_reference import REPLAY_OF
    from evalsi.settings import Settings
    from evalsi.wiring.kept_specs import kept_document

    settings = Settings.from_environment()
    server = server_here(settings)
    if server is not None:
        from evalsi.cli.run_on_server import resume_on_server

        return resume_on_server(run, server, settings, flags)
    document, manifest = kept_document(run, settings)
    replay = manifest.labels.get(REPLAY_OF, "")
    return perform(document, settings, {**flags, "continues": manifest.run_id, "replay": replay})


@click.command()
@click.argument("run")
@click.option("--name", default="", help="What the new run is called; by default as RUN.")
@click.option("--label", "labels", multiple=True, metavar="KEY=VALUE", help="A label of the new run. Repeatable.")
@no_cache_option
@ending_options
@server_options
def rerun(run: str, **flags: Any) -> int:
    """Repeat RUN exactly, as a new run: same specification, same seeds. Says what could not be pinned."""
    from evalsi.cli.run import perform
    from evalsi.core.run_reference import REPLAY_OF
    from evalsi.settings import Settings
    from evalsi.wiring.kept_specs import kept_document, what_changed

    settings = Settings.from_environment()
    server = server_here(settings)
    if server is not None:
        from evalsi.cli.run_on_server import rerun_on_server

        return rerun_on_server(run, server, settings, flags)
    document, manifest = kept_document(run, settings)
    if not flags["quiet"]:
        for change in what_changed(manifest, document.folder):
            say(f"note: {change}")
        for unpinned in manifest.unpinned:
            say(f"note: not pinned: {unpinned.what}: {unpinned.why}")
    return perform(document, settings, {**flags, "resume": False, "replay": manifest.labels.get(REPLAY_OF, "")})
