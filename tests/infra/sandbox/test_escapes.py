"""No hostile program gets out, sees, stays, takes all or lies: on every rung, as root and as an ordinary user, with and
without control groups, user namespaces and Landlock.

Each way of running is one process that runs all programs, and its findings are kept; the tests look into them. A rung
that this machine has and that does not work here is a failure, not a skip.
"""

import functools
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from evalsi.guest import landlock
from evalsi.infra.sandbox.control_groups import find_control_groups
from tests.infra.sandbox import hostile_programs as hostile
from tests.infra.sandbox.kernel_without import WITHOUT_USER_NAMESPACES
from tests.infra.sandbox.machines import missing_for_machines
from tests.thoroughness import THOROUGH

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("sandbox")]

ROOT = Path(__file__).parents[3]
NOBODY = 65534
IS_ROOT = os.geteuid() == 0
HAS_GROUPS = find_control_groups(None).groups is not None

WAYS: dict[str, tuple[str, ...]] = {
    "qemu": ("qemu",),
    "gvisor": ("gvisor",),
    "bubblewrap": ("bubblewrap",),
    "bubblewrap, no groups": ("bubblewrap", "--without-groups"),
    "bubblewrap, no Landlock": ("bubblewrap", "--without-landlock"),
    "bubblewrap, ordinary user": ("bubblewrap", "--user", str(NOBODY)),
    "landlock": ("landlock",),
    "landlock, no groups": ("landlock", "--without-groups"),
    "landlock, ordinary user": ("landlock", "--user", str(NOBODY)),
    "landlock, no namespaces": ("landlock", "--without-namespaces"),
}
RUNG_WITHOUT_ITS_KERNEL: dict[str, tuple[str, ...]] = {
    "bubblewrap": ("bubblewrap", "--without-namespaces"),
    "landlock": ("landlock", "--without-landlock"),
}


def missing(words: tuple[str, ...]) -> str:
    """What this machine lacks for a way of running; "" where it lacks nothing."""
    if words[0] == "firecracker" and shutil.which("firecracker") is None:
        return "Firecracker is not installed"
    if words[0] == "qemu":
        return missing_for_machines()
    if words[0] == "gvisor" and shutil.which("runsc") is None:
        return "gVisor is not installed"
    if words[0] == "gvisor" and not IS_ROOT:
        return "gVisor needs root"
    if words[0] == "gvisor" and not HAS_GROUPS:
        return "there are no control groups"
    if words[0] == "bubblewrap" and shutil.which("bwrap") is None:
        return "bubblewrap is not installed"
    if (
        words[0] == "bubblewrap"
        and Path("/proc/sys/user/max_user_namespaces").read_text(encoding="utf-8").strip() == "0"
    ):
        return "user namespaces are switched off"
    if words[0] == "landlock" and not landlock.version():
        return "the kernel has no Landlock"
    if "--user" in words and not IS_ROOT:
        return "this is an ordinary user already"
    if "--user" in words and not all(path.stat().st_mode & 1 for path in (ROOT, *ROOT.parents)):
        return "an ordinary user cannot read this checkout"
    if "--without-namespaces" in words and shutil.which("unshare") is None:
        return "unshare is not installed"
    return ""


@functools.cache
def found(words: tuple[str, ...]) -> dict[str, Any]:
    before = WITHOUT_USER_NAMESPACES if "--without-namespaces" in words else ()
    rest = [word for word in words if word != "--without-namespaces"]
    ended = subprocess.run(
        [*before, sys.executable, "-m", "tests.infra.sandbox.escape_attempts", *rest],
        cwd=ROOT, capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip
    assert ended.returncode == 0, ended.stderr[-2000:]
    return json.loads(ended.stdout)


def findings(way: str) -> dict[str, Any]:
    words = WAYS[way]
    reason = missing(words)
    if not reason and way == "qemu" and not THOROUGH:
        # Where the processor is emulated every program takes seconds; what the port promises is tested in any case.
        reason = "`make thorough` has machines run every hostile program"
    if reason:
        pytest.skip(reason)
    everything = found(words)
    assert "programs" in everything, f"this machine has the rung, and it does not work: {everything}"
    return everything


def has_groups(way: str) -> bool:
    return HAS_GROUPS and "no groups" not in way and "ordinary" not in way


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", hostile.EVERY)
def test_a_hostile_program_gets_nothing(way: str, name: str) -> None:
    result = findings(way)["programs"][name]
    if name in hostile.LIMITED_DISK and not way.startswith(("bubblewrap", "qemu")):
        pytest.skip("files are not counted, as the report says")
    if name in hostile.HARMLESS_IN_A_KERNEL_OF_ITS_OWN and way == "gvisor":
        pytest.skip("what it gets is of its own kernel, and the host is seen to be unchanged")
    assert result["leaks"] == [], result
    assert not result["told"], result
    assert result["outcome"] != "runner_failure", result


@pytest.mark.parametrize("way", WAYS)
def test_nothing_on_the_host_has_changed_and_nothing_lives_on(way: str) -> None:
    assert findings(way)["effects"] == []


@pytest.mark.parametrize("way", WAYS)
def test_programs_after_hostile_ones_find_an_interpreter_as_new(way: str) -> None:
    said = set(findings(way)["sane"])
    late = (
        {""} if way == "gvisor" else set[str]()
    )  # its kernel starts slowly: on a busy machine one may run out of time
    assert "[1, 2]\n" in said
    assert said <= {"[1, 2]\n"} | late


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", hostile.LYING)
def test_only_the_kernels_word_says_how_a_program_ended(way: str, name: str) -> None:
    result = findings(way)["programs"][name]
    assert (result["outcome"], result["code"]) == ("exit", 9)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(
    "name", ["storm_of_forks", "every_signal_ignored", "stopped_by_itself", "processor", "processor_and_no_signal"]
)
def test_what_does_not_end_is_ended(way: str, name: str) -> None:
    result = findings(way)["programs"][name]
    # Who is refused processes without end is ended for that, where a control group counts and time does not run out before.
    ends = ("timeout", "denied") if name == "storm_of_forks" and has_groups(way) else ("timeout",)
    assert result["outcome"] in ends, result
    assert result["duration_s"] < 20


@pytest.mark.parametrize("way", WAYS)
def test_a_program_cannot_end_its_watcher(way: str) -> None:
    result = findings(way)["programs"]["stops_the_watcher"]
    assert (result["outcome"], result["code"], result["said"]) == ("exit", 0, "still here\n")


@pytest.mark.parametrize("way", WAYS)
def test_memory_that_many_processes_take_is_counted_together_or_the_report_says_that_it_is_not(way: str) -> None:
    everything = findings(way)
    if has_groups(way):
        for name in hostile.COUNTED if way.startswith("bubblewrap") else ("memory_of_many_processes",):
            # With a kernel of its own pages are slow to come by, so time may be what runs out; uncounted, it would end well.
            allowed = ("oom", "timeout") if way in ("gvisor", "qemu") else ("oom",)
            assert everything["programs"][name]["outcome"] in allowed, name
        assert not any("per process, not" in note for note in everything["notes"])
    else:
        assert any("memory is limited per process" in note for note in everything["notes"])


@pytest.mark.parametrize("rung", RUNG_WITHOUT_ITS_KERNEL)
def test_a_rung_that_the_kernel_refuses_is_not_used_and_says_why(rung: str) -> None:
    words = RUNG_WITHOUT_ITS_KERNEL[rung]
    reason = missing(words)
    if reason:
        pytest.skip(reason)
    everything = found(words)
    assert everything["unavailable"], everything
    assert everything["effects"] == []
