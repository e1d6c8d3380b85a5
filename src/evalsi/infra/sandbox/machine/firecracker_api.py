"""Firecracker's API, as far as one machine needs it: what is asked, in which order, over the monitor's unix socket.

Its own module because the requests are the contract: they are those of the published description of the API (firecracker.yaml,
versions 1.0 to 1.17), and the tests hold them against it.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from evalsi.core.errors import SandboxError
from evalsi.infra.sandbox.machine.monitor_process import MachineFiles, kernel_words

GUEST_ADDRESS = 3
"""The machine's address among those of its sockets: the smallest that is not taken."""
PORT = 1024
_PATIENCE_S = 10.0
_DONE = 204


@dataclass(frozen=True)
class Request:
    """One PUT and its body."""

    path: str
    body: dict[str, Any]


def requests_for(files: MachineFiles, memory_mib: int, sockets: Path) -> Sequence[Request]:
    """What makes a machine and starts it.

    Args:
        sockets: The path by which the monitor connects a socket of the machine's to one of the host's: to `PATH_PORT`.
    """
    return (
        Request("/machine-config", {"vcpu_count": 1, "mem_size_mib": memory_mib}),
        Request(
            "/boot-source",
            {
                "kernel_image_path": str(files.kernel),
                "initrd_path": str(files.first_files),
                "boot_args": kernel_words(f"vsock:{PORT}", files),
            },
        ),
        _drive("disk", files.disk),
        *([_drive("packages", files.packages)] if files.packages is not None else []),
        Request("/vsock", {"guest_cid": GUEST_ADDRESS, "uds_path": str(sockets)}),
        Request("/actions", {"action_type": "InstanceStart"}),
    )


def _drive(name: str, file: Path) -> Request:
    body = {"drive_id": name, "path_on_host": str(file), "is_root_device": False, "is_read_only": True}
    return Request(f"/drives/{name}", body)


async def send_all(api: Path, requests: Sequence[Request]) -> None:
    """Sends requests one after the other, once the monitor listens. Raises: SandboxError: it does not, or refuses one."""
    import aiohttp

    await _listening(api)
    timeout = aiohttp.ClientTimeout(total=_PATIENCE_S)
    try:
        async with aiohttp.ClientSession(connector=aiohttp.UnixConnector(path=str(api)), timeout=timeout) as session:
            for request in requests:
                async with session.put(f"http://localhost{request.path}", json=request.body) as answer:
                    if answer.status != _DONE:
                        said = await answer.text()
                        raise SandboxError(f"Firecracker refuses {request.path}: {said[:500]}")
    except (aiohttp.ClientError, TimeoutError) as error:
        raise SandboxError(f"Firecracker does not answer: {error}") from error


async def _listening(api: Path) -> None:
    until = asyncio.get_running_loop().time() + _PATIENCE_S
    while True:
        try:
            _, writer = await asyncio.open_unix_connection(api)
        except OSError as error:
            if asyncio.get_running_loop().time() > until:
                raise SandboxError("Firecracker does not open its API") from error
            await asyncio.sleep(0.005)
        else:
            writer.close()
            return
