# pyright: basic
"""Makes golden traces of what guides for frameworks send: `python -m tests.traces.golden.making.guides NAME…`.

Each guide's app is run as its page has it, in an environment with what the page installs, against the stand-in model that
the tests of the guides use. What it exports is kept as OTLP JSON beside the versions that made it.
"""

import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.append(str(Path(__file__).parent))

import collector

from tests.docs.framework_guide import guide_of, install, run_app
from tests.docs.lamp_model import addresses_of, lamp_model

GOLDEN = Path(__file__).parents[1]


def make(name: str) -> None:
    guide = guide_of(name)
    with tempfile.TemporaryDirectory() as place, lamp_model() as model:
        folder = Path(place)
        python = install(guide, folder)
        collector.Collector.groups.clear()
        run_app(guide, python, folder, addresses_of(model), ADDRESS)
        time.sleep(2)
        told = "import importlib.metadata, sys; print(*map(importlib.metadata.version, sys.argv[1:]))"
        versions = subprocess.run(
            [str(python), "-c", told, *guide.packages], capture_output=True, text=True, check=True
        ).stdout.split()
    made_by = dict(zip(guide.packages, versions, strict=True))
    document = {"madeBy": made_by, "resourceSpans": list(collector.Collector.groups)}
    (GOLDEN / f"{name}.json").write_text(json.dumps(document, indent=1, ensure_ascii=False) + "\n")
    sys.stdout.write(f"{name}: {len(document['resourceSpans'])} exports, {made_by}\n")


if __name__ == "__main__":
    ADDRESS = collector.start()
    for chosen in sys.argv[1:]:
        make(chosen)
