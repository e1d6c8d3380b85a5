"""The kernel of a virtual machine: found on this machine, with the parts that it has as modules, in the order they load.

Its own module because distributions differ in it: most build devices and overlays as modules, a kernel made for machines
has them built in, and both do.
"""

import gzip
import lzma
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from evalsi.core.errors import SandboxError

HOW_TO_GET_ONE = (
    "apt-get download the package that linux-image-cloud-amd64 depends on, unpack it by dpkg -x FILE FOLDER, "
    "and set EVALSI_SANDBOX_KERNEL=FOLDER"
)
_NEEDED = ("virtio_mmio", "virtio_console", "virtio_blk", "overlay")
_NEEDED_FOR_SOCKETS = (*_NEEDED, "vmw_vsock_virtio_transport")
_DEPENDS = re.compile(rb"\0depends=([^\0]*)\0")
_VERSION = re.compile(r"^(?:vmlinuz|vmlinux)-(.+)$")
_FORMS: dict[str, Callable[[bytes], bytes]] = {".ko": bytes, ".ko.xz": lzma.decompress, ".ko.gz": gzip.decompress}


@dataclass(frozen=True)
class GuestKernel:
    """`modules` is the folder with modules of this version; None where everything needed is built in."""

    file: Path
    version: str
    modules: Path | None

    def load_order(self, *, sockets: bool) -> list[tuple[str, bytes]]:
        """Names and contents of the modules to load, those that others need first.

        Args:
            sockets: Whether the host is reached by a socket of the machine's, instead of a serial port.

        Raises: SandboxError: one is missing.
        """
        if self.modules is None:
            return []
        names = self.modules / "modules.builtin"
        built_in = (
            {Path(line).stem for line in names.read_text(encoding="utf-8").split()} if names.exists() else set[str]()
        )
        files = {path.name.partition(".")[0].replace("-", "_"): path for path in self.modules.rglob("*.ko*")}
        order: dict[str, bytes] = {}

        def add(name: str) -> None:
            if name in order or name in built_in:
                return
            if name not in files:
                raise SandboxError(
                    f"the kernel {self.version} has no module {name} below {self.modules}", hint=HOW_TO_GET_ONE
                )
            data = _content(files[name])
            found = _DEPENDS.search(data)
            for needed in (found[1].decode() if found else "").split(","):
                if needed:
                    add(needed.replace("-", "_"))
            order[name] = data

        for name in _NEEDED_FOR_SOCKETS if sockets else _NEEDED:
            add(name)
        return list(order.items())


def find_kernel(chosen: Path | None) -> GuestKernel | None:
    """The kernel that an operator names, by its file or by the folder of an unpacked package; else the newest of this machine's
    that is made for clouds, else the newest. None where there is none.
    """
    if chosen is not None and chosen.is_file():
        return _kernel(chosen)
    folder = (chosen / "boot" if (chosen / "boot").is_dir() else chosen) if chosen is not None else Path("/boot")
    found = [path for pattern in ("vmlinuz-*", "vmlinux-*") for path in folder.glob(pattern)]
    found.sort(key=lambda path: ("cloud" in path.name, [int(word) for word in re.findall(r"\d+", path.name)]))
    return _kernel(found[-1]) if found else None


def _kernel(file: Path) -> GuestKernel:
    named = _VERSION.match(file.name)
    version = named[1] if named else file.name
    places = (
        file.parent.parent / "lib/modules" / version,
        file.parent / "modules" / version,
        Path("/lib/modules") / version,
    )
    return GuestKernel(file, version, next((place for place in places if place.is_dir()), None))


def _content(file: Path) -> bytes:
    form = file.name[file.name.index(".ko") :]
    if form not in _FORMS:
        raise SandboxError(
            f"{file} is compressed in a way that cannot be read here ({form.removeprefix('.ko')})", hint=HOW_TO_GET_ONE
        )
    return _FORMS[form](file.read_bytes())
