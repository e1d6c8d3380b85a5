"""How long a server takes from its start until it is ready: the first 200 of /readyz, over ten starts.

python bench/server_ready.py [starts]
"""

import http.client
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

COMPILED = {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}
"""Modules are compiled, as those of installed programs are."""


def ready_s(folder: Path, port: int) -> float:
    """Seconds from the start of the process to the first answer that it is ready."""
    command = [sys.executable, "-m", "evalsi", "serve", "--listen", f"127.0.0.1:{port}", "--data-dir", str(folder)]
    begun_s = time.perf_counter()
    process = subprocess.Popen(command, stderr=subprocess.DEVNULL, env=COMPILED)
    try:
        while True:
            connection = http.client.HTTPConnection("127.0.0.1", port, timeout=5)
            try:
                connection.request("GET", "/readyz")
                if connection.getresponse().status == 200:
                    return time.perf_counter() - begun_s
            except OSError:
                time.sleep(0.005)
            finally:
                connection.close()
    finally:
        process.terminate()
        process.wait()


def main() -> None:
    starts = int(sys.argv[1]) if len(sys.argv) > 1 else 10
    with tempfile.TemporaryDirectory() as folder:
        times_s = [ready_s(Path(folder), 18_431 + number) for number in range(starts)]
    figures = {"median_s": statistics.median(times_s), "longest_s": max(times_s), "starts": starts}
    print(json.dumps({name: round(value, 3) for name, value in figures.items()}))


if __name__ == "__main__":
    main()
