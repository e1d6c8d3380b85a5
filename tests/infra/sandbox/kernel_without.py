"""Kernels that refuse something, emulated for one process and its descendants; the host is untouched."""

import errno
import struct

from evalsi.guest import linux

WITHOUT_USER_NAMESPACES = (
    "unshare", "--user", "--map-root-user", "--mount", "sh", "-c",
    'echo 0 > /proc/sys/user/max_user_namespaces && exec "$@"', "sh",
)  # fmt: skip
"""Words before a command. The setting belongs to the user namespace that is made here."""


def refuse_landlock() -> None:
    """The three calls of Landlock are unknown from here on."""
    linux.forgo_privileges()
    load, jump, give = 0x20, 0x15, 0x06
    steps = [(load, 0, 0, 0)]
    for number in (444, 445, 446):
        steps += [(jump, 0, 1, number), (give, 0, 0, 0x00050000 | errno.ENOSYS)]
    steps.append((give, 0, 0, 0x7FFF0000))
    linux.Filter(b"".join(struct.pack("<HBBI", *step) for step in steps)).install()
