"""Sandboxes from settings: the one ladder of this machine, for whoever runs programs that nobody trusts."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from evalsi.core.errors import UnknownNameError
from evalsi.infra.sandbox import DRIVERS, Ladder, LadderOptions
from evalsi.infra.sandbox.images import ImageOptions, default_image_folder
from evalsi.ports.sandbox import SandboxHost
from evalsi.settings import Settings


def make_sandbox_host(settings: Settings) -> SandboxHost:
    """A host that the caller closes, on the event loop that uses it. Nothing is started before it is needed.

    Raises: UnknownNameError: settings name a kind of sandbox that does not exist.
    """
    chosen = settings.sandbox
    for name in chosen.drivers:
        if name not in DRIVERS:
            raise UnknownNameError("sandbox driver", name, DRIVERS)
    options = LadderOptions(
        drivers=chosen.drivers,
        gvisor=chosen.gvisor,
        bubblewrap=chosen.bubblewrap,
        python=chosen.python or None,
        control_group=chosen.control_group,
        images=ImageOptions(
            folder=chosen.images or default_image_folder(),
            credentials=chosen.registry_credentials,
            key=chosen.image_key,
        ),
    )
    return Ladder(options)


@asynccontextmanager
async def sandbox_host(settings: Settings) -> AsyncGenerator[SandboxHost]:
    """As `make_sandbox_host`; everything in it is destroyed afterwards."""
    host = make_sandbox_host(settings)
    try:
        yield host
    finally:
        await host.close()
