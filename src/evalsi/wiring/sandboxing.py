"""Sandboxes from settings: the one ladder of this machine, or another machine's, for whoever runs programs that nobody trusts."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from evalsi.core.errors import UnknownNameError, UsageError
from evalsi.infra.sandbox import DRIVERS, UNFENCED, Ladder, LadderOptions, Preference
from evalsi.infra.sandbox.egress import EgressOptions
from evalsi.infra.sandbox.images import AllowedImages, ImageOptions, default_image_folder
from evalsi.infra.sandbox.machine import FirecrackerOptions, QemuOptions
from evalsi.ports.sandbox import SandboxHost
from evalsi.settings import RemoteSandboxSettings, Settings


def make_sandbox_host(settings: Settings) -> SandboxHost:
    """A host that the caller closes, on the event loop that uses it. Nothing is started before it is needed.

    Raises: UnknownNameError: settings name a kind of sandbox that does not exist.
    """
    remote = settings.sandbox.remote
    return make_ladder(settings) if not remote.address else make_remote_host(remote)


def make_remote_host(remote: RemoteSandboxSettings) -> SandboxHost:
    """Another machine's. Raises: UsageError: the address is none, or TLS is asked for by halves."""
    host, colon, port = remote.address.rpartition(":")
    if not colon or not host or not port.isdecimal():
        raise UsageError(
            f"{remote.address!r} is no address of a host of sandboxes",
            where="EVALSI_SANDBOX_ADDR",
            hint="write HOST:PORT",
        )
    if (remote.tls_cert is None) != (remote.tls_key is None) or (remote.tls_cert and not remote.tls_ca):
        raise UsageError(
            "EVALSI_SANDBOX_TLS_CA, _TLS_CERT and _TLS_KEY belong together", hint="give the first, or all three"
        )
    from evalsi.infra.sandbox.remote_connection import RemoteOptions
    from evalsi.infra.sandbox.remote_host import RemoteSandboxHost

    return RemoteSandboxHost(
        RemoteOptions(
            address=remote.address,
            authority=remote.tls_ca,
            certificate=remote.tls_cert,
            key=remote.tls_key,
            server_name=remote.server_name,
        )
    )


def make_ladder(settings: Settings) -> SandboxHost:
    """This machine's own. Raises: UnknownNameError: settings name a kind of sandbox that does not exist."""
    chosen = settings.sandbox
    for name in chosen.drivers:
        if name not in (*DRIVERS, UNFENCED):
            raise UnknownNameError("sandbox driver", name, DRIVERS)
    if chosen.prefer and chosen.prefer not in list(Preference):
        raise UnknownNameError("sandbox preference", chosen.prefer, list(Preference), where="EVALSI_SANDBOX_PREFER")
    images = chosen.images or default_image_folder()
    options = LadderOptions(
        drivers=chosen.drivers,
        prefer=Preference(chosen.prefer) if chosen.prefer else None,
        allows_none=chosen.allow_none,
        allows_network=chosen.allow_network,
        firecracker=FirecrackerOptions(
            folder=images.parent / "machines",
            program=chosen.firecracker,
            kernel=chosen.kernel,
            bubblewrap=chosen.bubblewrap,
            memory_mib=chosen.machine_memory_mib,
        ),
        machines=QemuOptions(
            folder=images.parent / "machines",
            program=chosen.qemu,
            kernel=chosen.kernel,
            bubblewrap=chosen.bubblewrap,
            memory_mib=chosen.machine_memory_mib,
            allow_emulation=chosen.emulation,
        ),
        packages=chosen.packages,
        gvisor=chosen.gvisor,
        bubblewrap=chosen.bubblewrap,
        python=chosen.python or None,
        control_group=chosen.control_group,
        egress=EgressOptions(networks=chosen.egress_networks),
        images=ImageOptions(
            folder=images,
            credentials=chosen.registry_credentials,
            key=chosen.image_key,
            allowed=AllowedImages(patterns=chosen.allowed_images, local=chosen.allow_local_images),
            most_bytes=chosen.image_cache_mb << 20,
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
