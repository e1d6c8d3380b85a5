"""Workers on a terminal: what reaches everybody on it, as Ctrl-C does, is for who started them."""

import subprocess
import sys
from pathlib import Path

WORKER = """
import sys
sys.argv = ["worker", "slow"]
sys.path.insert(0, {folder!r})
from evalsi.worker import __main__ as worker
worker.KINDS["slow"] = "slow_to_load"
sys.exit(worker.main())
"""
SLOW_TO_LOAD = """
import os, signal
os.kill(os.getpid(), signal.SIGINT)

def main(arguments):
    return 7
"""


def test_an_interrupt_while_a_worker_loads_is_left_to_who_started_it(tmp_path: Path) -> None:
    (tmp_path / "slow_to_load.py").write_text(SLOW_TO_LOAD)
    script = WORKER.format(folder=str(tmp_path))
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (7, "")
