"""Virtual machines for tests: with an emulated processor, on the kernel that `EVALSI_SANDBOX_KERNEL` names or /boot has."""

import os
import shutil
from pathlib import Path

from evalsi.infra.sandbox.images import default_image_folder
from evalsi.infra.sandbox.machine import QemuOptions
from evalsi.infra.sandbox.machine.guest_kernel import find_kernel

_named = os.environ.get("EVALSI_SANDBOX_KERNEL")
KERNEL = Path(_named) if _named else None
MACHINES = QemuOptions(folder=default_image_folder().parent / "machines", kernel=KERNEL, allow_emulation=True)
"""One folder for all tests, as users have one: the first test waits for a machine to start, the others get copies of it."""


def missing_for_machines() -> str:
    """What this machine lacks to run others; "" where it lacks nothing."""
    if shutil.which("qemu-system-x86_64") is None:
        return "QEMU is not installed"
    return "" if find_kernel(KERNEL) is not None else "there is no kernel for machines: set EVALSI_SANDBOX_KERNEL"


def kept_packages() -> Path:
    """A folder as `pip install --target` fills it, with one package; the same for all tests, since machines are made for it."""
    folder = MACHINES.folder.parent / "packages-of-tests"
    package = folder / "chosen_package"
    package.mkdir(parents=True, exist_ok=True)
    module = package / "__init__.py"
    if not module.exists() or module.read_text(encoding="utf-8") != "VALUE = 41\n":
        module.write_text("VALUE = 41\n", encoding="utf-8")
    for each in (folder, package):
        each.chmod(0o755)
    return folder
