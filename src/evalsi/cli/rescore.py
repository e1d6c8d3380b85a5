"""`evalsi rescore`: other evaluators for the answers that a run already has."""

from typing import Any

import click

from evalsi.cli.judge_options import judge_choice_of, judge_options
from evalsi.cli.run_ending import Ending, carry_out, ending_options
from evalsi.cli.server_options import server_here, server_options


@click.command()
@click.argument("run")
@click.option("--evaluators", required=True, metavar="LIST", help="Comma-separated references, as for evalsi eval.")
@click.option(
    "--param",
    "params",
    multiple=True,
    metavar="EVALUATOR.KEY=VALUE",
    help="A param of an evaluator; VALUE is JSON where it can be read so. Repeatable.",
)
@click.option("--name", default="", help="What the new run is called; by default RUN's name and -rescored.")
@click.option("--label", "labels", multiple=True, metavar="KEY=VALUE", help="A label of the new run. Repeatable.")
@click.option(
    "--resume/--no-resume", default=True, show_default=True, help="Continue an interrupted run of the same work."
)
@judge_options
@ending_options
@server_options
def rescore(run: str, **flags: Any) -> int:
    """Grade the answers of RUN with other evaluators; its target is not called.

    \b
    evalsi rescore latest --evaluators exact-match,numeric-match
    evalsi rescore nightly --evaluators faithfulness --judge-provider anthropic --judge-model NAME

    A new run is made, with the trials of RUN and the label evals.si/rescored-from. Rows that failed stay errors.
    """  # noqa: D301
    from evalsi.evaluators.choose import chosen_by_flags
    from evalsi.schema import OnInconclusive
    from evalsi.settings import Settings
    from evalsi.wiring.rescoring import RescoreRequest, rescoring

    settings = Settings.from_environment()
    judge = judge_choice_of(flags)
    server = server_here(settings)
    if server is not None:
        from evalsi.cli.run_on_server import rescore_on_server

        return rescore_on_server(run, judge, server, settings, flags)
    request = RescoreRequest(run=run, evaluators=chosen_by_flags(flags["evaluators"], flags["params"]), judge=judge)
    ending = Ending(on_inconclusive=OnInconclusive.UNSPECIFIED)
    return carry_out(lambda options: rescoring(request, settings, options), ending, settings, flags)
