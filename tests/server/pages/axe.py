"""axe-core, the checker of accessibility, from the npm registry: used by tests, shipped with nothing."""

import io
import shutil
import subprocess
import tarfile
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

VERSION = "4.14.1"
_REPORT = """axe.run().then((found) => JSON.stringify(found.violations.map(
    (one) => [one.id, one.nodes.map((node) => node.html.slice(0, 200))])))"""


@cache
def axe_script() -> str | None:
    """The source of axe-core; None where npm is missing or reaches no registry."""
    npm = shutil.which("npm")
    if npm is None:
        return None
    with TemporaryDirectory() as folder:
        command = [npm, "pack", f"axe-core@{VERSION}", "--silent"]
        try:
            done = subprocess.run(command, cwd=folder, capture_output=True, timeout=60, check=False)
        except subprocess.TimeoutExpired:
            return None
        packed = Path(folder) / f"axe-core-{VERSION}.tgz"
        if done.returncode or not packed.exists():
            return None
        with tarfile.open(fileobj=io.BytesIO(packed.read_bytes())) as archive:
            file = archive.extractfile("package/axe.min.js")
            assert file is not None
            return file.read().decode()


def report_expression() -> str:
    """What gives the violations on a page with axe-core, as JSON: (rule, elements)."""
    return _REPORT
