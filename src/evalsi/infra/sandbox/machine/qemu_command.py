"""The command line of QEMU for one machine.

Its own module because a machine that is copied and its copies must be described alike, word for word, or the copy does
not start.
"""

import re
from dataclasses import dataclass
from pathlib import Path

from evalsi.infra.sandbox.machine.monitor_process import MachineFiles, kernel_words

KVM, TCG = "kvm", "tcg"
_TRANSLATED_MIB = 96
"""Of QEMU's own memory, for machine code that it has translated."""
_DENIED = "on,obsolete=deny,elevateprivileges=deny,spawn=deny,resourcecontrol=deny"


@dataclass(frozen=True, kw_only=True)
class MachineDescriptors:
    """What of ours a machine's process inherits.

    Args:
        control: The agent's connection.
        memory: A file in memory that is the machine's, or that it has a version of where it is a copy.
        monitor: The conversation about the machine.
    """

    control: int
    memory: int
    monitor: int
    is_copy: bool = False

    def all(self) -> list[int]:
        return [self.control, self.memory, self.monitor]


def qemu_command(
    program: Path, accelerator: str, memory_mib: int, files: MachineFiles, given: MachineDescriptors
) -> list[str]:
    """The words of the command. What the kernel says while a machine is first started goes to standard error."""
    command = [
        str(program), "-nodefaults", "-no-user-config", "-no-reboot", "-display", "none", "-sandbox", _DENIED,
        "-machine", "microvm,pit=on,pic=on,rtc=on,acpi=on,memory-backend=ram",
        "-accel", f"{accelerator},tb-size={_TRANSLATED_MIB}" if accelerator == TCG else accelerator,
        "-cpu", "max" if accelerator == TCG else "host", "-smp", "1", "-m", str(memory_mib),
        "-object",
        f"memory-backend-file,id=ram,size={memory_mib}M,mem-path=/proc/self/fd/{given.memory},share={'off' if given.is_copy else 'on'}",
        "-kernel", str(files.kernel), "-initrd", str(files.first_files),
        "-append", _kernel_words(accelerator, files),
        *_drive("disk", files.disk), *(_drive("packages", files.packages) if files.packages is not None else ()),
        "-chardev", "null,id=console" if given.is_copy else "file,id=console,path=/proc/self/fd/2",
        "-serial", "chardev:console",
        "-device", "virtio-serial-device",
        "-chardev", f"socket,id=control,fd={given.control}",
        "-device", "virtserialport,chardev=control,name=agent",
        "-chardev", f"socket,id=monitor,fd={given.monitor}", "-mon", "chardev=monitor,mode=control",
    ]  # fmt: skip
    if given.is_copy:
        command += ["-incoming", "defer"]
    return command


def _drive(name: str, file: Path) -> tuple[str, ...]:
    drive = f"file={file},if=none,id={name},format=raw,readonly=on,file.locking=off"
    return ("-drive", drive, "-device", f"virtio-blk-device,drive={name}")


def _kernel_words(accelerator: str, files: MachineFiles) -> str:
    words = kernel_words("serial", files)
    if accelerator != TCG:
        return words
    # Emulated, the clock cannot be measured at the start, and nothing is run ahead of time that could leak.
    return f"{words} tsc_early_khz={_clock_khz()} no_timer_check mitigations=off"


def _clock_khz() -> int:
    found = re.search(r"cpu MHz\s*:\s*([\d.]+)", Path("/proc/cpuinfo").read_text(encoding="utf-8"))
    return int(float(found[1]) * 1000) if found else 2_000_000
