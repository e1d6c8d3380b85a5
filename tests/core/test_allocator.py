"""What a server does to glibc's allocator, in a process of its own: it stays so until the process ends."""

import subprocess
import sys

import pytest

PROGRAM = """
import sys
from evalsi.core.allocator import tune_allocator
if sys.argv[1] == "tuned":
    tune_allocator()
import resource, threading

def bodies():
    kept = bytes(1_000)
    for _ in range(200):
        pieces = [b"x" * 60_000 for _ in range(20)]
        kept = b"".join(pieces)  # 1.2 MB, which is given back at once
        del pieces

def faults():
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    threads = [threading.Thread(target=bodies) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before

print(min(faults() for _ in range(6)))  # what else runs may ask for pages, too
"""


def faults(how: str) -> int:
    done = subprocess.run([sys.executable, "-c", PROGRAM, how], capture_output=True, text=True, timeout=60, check=True)
    return int(done.stdout)


@pytest.mark.skipif(sys.platform != "linux", reason="glibc")
def test_a_body_is_read_into_the_memory_of_the_one_before() -> None:
    assert faults("tuned") * 3 < faults("as it is")
