"""`evalsi rewards serve`: a server for trainers, with one reward spec behind OpenRLHF's protocol.

It stands with the server rather than with the other commands because faces do not import each other; the command line
knows it by name.
"""

from pathlib import Path
from typing import Any

import click
import msgspec

from evalsi.server.command import ServeOptions, options_of_a_server, run, server_settings, settings_of
from evalsi.settings.open_door import check_door


@click.command()
@click.option("--spec", required=True, metavar="FILE", help="The reward spec, YAML or JSON.")
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on.")
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=5000,
    show_default=True,
    help="Port to listen on; 0 takes any free one.",
)
@options_of_a_server
def serve(spec: str, host: str, port: int, **given: Any) -> None:
    """Serve rewards: OpenRLHF's remote protocol at /get_reward, and everything that `evalsi serve` has.

    OpenRLHF sends no key, so beyond this machine the address is for a network where everybody is trusted.

    \b
    evalsi rewards serve --spec reward.yaml
    """  # noqa: D301 - click's mark for lines that stay as they are
    from evalsi.wiring.reward_spec import read_reward_document
    from evalsi.wiring.rewarding import check_served_reward

    document = read_reward_document(Path(spec))
    address = f"[{host}]" if ":" in host else host
    options = ServeOptions(listen=f"{address}:{port}", **given)
    server = server_settings(options)
    # Nobody is asked at /get_reward, so an `auth` in the settings does not make this door a closed one.
    warnings = check_door(msgspec.structs.replace(server, auth=None), no_auth=options.no_auth)
    settings = settings_of(server, options.config, options.data_dir)
    check_served_reward(document.spec, server, settings, where=document.where)
    run(server, settings, options, warnings, reward=document.spec)
