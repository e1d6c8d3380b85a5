"""Virtual machines: what they are started from, and the rungs that start them."""

from evalsi.infra.sandbox.machine.firecracker import Firecracker, FirecrackerOptions
from evalsi.infra.sandbox.machine.qemu import Qemu, QemuOptions

__all__ = ["Firecracker", "FirecrackerOptions", "Qemu", "QemuOptions"]
