"""From the settings of a server to those of its sandboxes, and to the environment of its workers.

Its own module because what a server allows its users differs from what a person is allowed on their own machine. What always
holds: what users may ask for (no fence, which images) is the word of the server's file alone, never of its environment.
"""

from dataclasses import replace
from pathlib import Path

from evalsi.settings.local import RemoteSandboxSettings, SandboxSettings
from evalsi.settings.server import ServerSettings


def sandboxes_of(server: ServerSettings, local: SandboxSettings) -> SandboxSettings:
    """The sandboxes of a server: what its file says, and where it says nothing what its environment does."""
    said, service = server.sandbox, server.worker.sandbox_service
    remote = RemoteSandboxSettings(
        address=service.address,
        tls_ca=_path(service.ca_file),
        tls_cert=_path(service.cert_file),
        tls_key=_path(service.key_file),
        server_name=service.server_name,
    )
    return replace(
        local,
        drivers=tuple(said.ladder) or local.drivers,
        prefer=said.prefer or local.prefer,
        allow_none=said.allow_none,
        allow_network=said.allow_network,
        allowed_images=None if "*" in said.allowed_images else tuple(said.allowed_images),
        allow_local_images=said.allow_local_images,
        image_key=_path(said.image_key) or local.image_key,
        image_cache_mb=said.image_cache_mb or local.image_cache_mb,
        packages=_path(said.packages_dir) or local.packages,
        bubblewrap=_path(said.bwrap_path) or local.bubblewrap,
        images=_path(said.cache_dir) or local.images,
        control_group=_path(said.cgroup) or local.control_group,
        firecracker=_path(said.firecracker.binary) or local.firecracker,
        kernel=_path(said.firecracker.kernel) or local.kernel,
        machine_memory_mib=said.firecracker.memory_mb or local.machine_memory_mib,
        remote=remote if service.address else local.remote,
    )


def sandbox_environment(sandboxes: SandboxSettings) -> dict[str, str]:
    """The variables by which a worker that reads its environment comes to the same settings."""
    remote = sandboxes.remote
    said = {
        "EVALSI_SANDBOX_DRIVERS": ",".join(sandboxes.drivers),
        "EVALSI_SANDBOX_PREFER": sandboxes.prefer,
        "EVALSI_SANDBOX_ALLOW_NONE": str(int(sandboxes.allow_none)),
        "EVALSI_SANDBOX_ALLOW_NETWORK": str(int(sandboxes.allow_network)),
        "EVALSI_SANDBOX_ALLOW_LOCAL_IMAGES": str(int(sandboxes.allow_local_images)),
        "EVALSI_SANDBOX_ALLOWED_IMAGES": "*"
        if sandboxes.allowed_images is None
        else ",".join(sandboxes.allowed_images) or "none",
        "EVALSI_SANDBOX_IMAGE_CACHE_MB": str(sandboxes.image_cache_mb),
        "EVALSI_SANDBOX_MACHINE_MEMORY": str(sandboxes.machine_memory_mib),
        "EVALSI_SANDBOX_ADDR": remote.address,
        "EVALSI_SANDBOX_TLS_SERVER_NAME": remote.server_name,
    }
    paths = {
        "EVALSI_SANDBOX_BWRAP": sandboxes.bubblewrap,
        "EVALSI_SANDBOX_IMAGES": sandboxes.images,
        "EVALSI_SANDBOX_IMAGE_KEY": sandboxes.image_key,
        "EVALSI_SANDBOX_CGROUP": sandboxes.control_group,
        "EVALSI_SANDBOX_PACKAGES": sandboxes.packages,
        "EVALSI_SANDBOX_FIRECRACKER": sandboxes.firecracker,
        "EVALSI_SANDBOX_KERNEL": sandboxes.kernel,
        "EVALSI_SANDBOX_TLS_CA": remote.tls_ca,
        "EVALSI_SANDBOX_TLS_CERT": remote.tls_cert,
        "EVALSI_SANDBOX_TLS_KEY": remote.tls_key,
    }
    return said | {name: "" if path is None else str(path) for name, path in paths.items()}


def _path(text: str) -> Path | None:
    return Path(text) if text else None
