"""The initial file system of a virtual machine: the agent, its interpreter and the kernel's modules, as one cpio archive.

Its own module because the format is: entries of the "new ASCII" form, one after the other, each of whose parts is filled
up to four bytes (Linux, Documentation/driver-api/early-userspace/buffer-format.rst).
"""

import stat
from collections.abc import Sequence
from pathlib import Path

from evalsi.guest import fence
from evalsi.infra.sandbox.carried_agent import CarriedAgent

_AGENT = ".evalsi"
_INIT = b"#!/.evalsi/bin/python3 -IS\nimport sys; sys.path.append('/.evalsi')\nimport runpy; runpy.run_module('evalsi.guest.boot', run_name='__main__')\n"
_FOLDERS = ("dev", "proc", "system", "modules", fence.GROUPS[1:], fence.PACKAGES[1:], *fence.MOUNT_POINTS)


def first_files(agent: CarriedAgent, modules: Sequence[tuple[str, bytes]]) -> bytes:
    """The archive. `agent` brings its interpreter; `modules` are loaded in their order."""
    entries: dict[str, tuple[int, bytes]] = {}
    for path in agent.folder.rglob("*"):
        if path.is_file():
            entries[f"{_AGENT}/{path.relative_to(agent.folder)}"] = (
                stat.S_IFREG | stat.S_IMODE(path.stat().st_mode),
                path.read_bytes(),
            )
    # The interpreter asks for its loader by the path that it was linked with, and the loader looks here for libraries.
    for place in ("lib", "lib64"):
        entries[place] = (stat.S_IFLNK | 0o777, f"{_AGENT}/lib".encode())
    entries[f"{_AGENT}/lib/{agent.loader}"] = (stat.S_IFLNK | 0o777, b"loader")
    entries["init"] = (stat.S_IFREG | 0o755, _INIT)
    for name, content in modules:
        entries[f"modules/{name}"] = (stat.S_IFREG | 0o644, content)
    entries["modules/order"] = (stat.S_IFREG | 0o644, " ".join(name for name, _ in modules).encode())
    folders = {str(above) for name in (*entries, *(f"{each}/x" for each in _FOLDERS)) for above in Path(name).parents}
    folders.discard(".")
    parts = [_entry(name, stat.S_IFDIR | 0o755, b"") for name in sorted(folders - entries.keys())]
    parts.append(_entry("dev/console", stat.S_IFCHR | 0o600, b"", device=(5, 1)))
    parts += [_entry(name, mode, content) for name, (mode, content) in sorted(entries.items())]
    return b"".join([*parts, _entry("TRAILER!!!", 0, b"")])


def _entry(name: str, mode: int, content: bytes, device: tuple[int, int] = (0, 0)) -> bytes:
    title = name.encode() + b"\0"
    numbers = (0, mode, 0, 0, 1, 0, len(content), 0, 0, *device, len(title), 0)
    head = b"070701" + b"".join(b"%08X" % number for number in numbers) + title
    return _filled(head) + _filled(content)


def _filled(part: bytes) -> bytes:
    return part + bytes(-len(part) % 4)
