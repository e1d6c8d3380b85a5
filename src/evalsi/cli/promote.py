"""`evalsi promote`: records of a server's run become a file of cases there."""

import click

from evalsi.cli.server_options import client_of, server_needed, server_options
from evalsi.cli.terminal import say
from evalsi.core.figure import counted


@click.command()
@click.argument("run_id", metavar="RUN")
@click.option("--dataset", required=True, metavar="NAME", help="Name of the file of cases.")
@click.option(
    "--when", required=True, metavar="CEL", help="Which records: a condition, such as score('exact-match') < 1."
)
@click.option("--include-outputs", is_flag=True, help="Keep what the target said, too.")
@server_options
def promote(run_id: str, dataset: str, when: str, *, include_outputs: bool) -> None:
    """Add records of RUN on a server to a file of cases there, those already in it left out.

    \b
    evalsi promote latest --dataset misses --when "score('exact-match') < 1"

    Runs read the file as dataset: {path: promoted/PROJECT/NAME.jsonl}. It grows; for a version that never changes, store
    it with `evalsi dataset put`.
    """  # noqa: D301
    from evalsi.schema import PromoteResultsRequest
    from evalsi.settings import Settings
    from evalsi.wiring.run_libraries import server_runs

    settings = Settings.from_environment()
    server = server_needed(settings)
    with client_of(server) as client:
        row = server_runs(client, server.project, settings).find(run_id)
        request = PromoteResultsRequest(run_id=row.id, dataset=dataset, when=when, include_outputs=include_outputs)
        answer = client.promote_results(request)
    say(f"{counted(answer.promoted, 'record')} added to {answer.path}")
