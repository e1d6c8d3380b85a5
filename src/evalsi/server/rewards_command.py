"""`evalsi rewards serve`: a server for trainers, with one reward spec behind OpenRLHF's protocol.

It stands with the server rather than with the other commands because faces do not import each other; the command line
knows it by name.
"""

from pathlib import Path

import click
import msgspec

from evalsi.server.command import ServeOptions, run, server_settings, settings_of
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
@click.option(
    "--config",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Settings of the server, YAML. Its address is not used.",
)
@click.option(
    "--no-auth",
    is_flag=True,
    help="Let everybody who can reach the address have rollouts scored. Needed to listen beyond this machine.",
)
@click.option(
    "--call-deadline",
    type=click.FloatRange(0, min_open=True),
    default=600.0,
    metavar="SECONDS",
    show_default=True,
    help="Longest time a worker may take over one batch.",
)
def serve(spec: str, host: str, port: int, config: Path | None, no_auth: bool, call_deadline: float) -> None:
    r"""Serve rewards: OpenRLHF's remote protocol at /get_reward, and everything that `evalsi serve` has.

    OpenRLHF sends no key, so beyond this machine the address is for a network where everybody is trusted.

    \b
    evalsi rewards serve --spec reward.yaml
    """
    from evalsi.wiring.reward_spec import read_reward_spec

    read = read_reward_spec(Path(spec))
    address = f"[{host}]" if ":" in host else host
    options = ServeOptions(
        config=config,
        listen=f"{address}:{port}",
        data_dir=None,
        no_auth=no_auth,
        tls_cert=None,
        tls_key=None,
        workers=None,
        record_deadline=30.0,
        call_deadline=call_deadline,
        log_level=None,
    )
    server = server_settings(options)
    # Nobody is asked at /get_reward, so an `auth` in the settings does not make this door a closed one.
    warnings = check_door(msgspec.structs.replace(server, auth=None), no_auth=no_auth)
    run(server, settings_of(server, options.config, options.data_dir), options, warnings, reward=read)
