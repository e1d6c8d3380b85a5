"""Writes which files of tests `make check` leaves out, from how long they took.

    uv run pytest -n auto --dist loadgroup -m "not slow" --junitxml=report.xml
    uv run python tools/mark_slow_files.py report.xml

Reads one report of all tests and writes tests/slow_files.txt: the files that take longest, as many as must go so that the rest
fits the time that a person waits. A file that is not named there is quick, so new ones are until this is run again. Those with the
longest tests come first, as they are run.
"""

import sys
import xml.etree.ElementTree as ET
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).parents[1]
ALWAYS = {"tests/tidy/test_source_rules.py"}
"""Quick whatever it takes: it finds what every change may do wrong."""
SHARE_KEPT = 0.02
"""Of the time that all files take together, what the quick ones may take: two fifths of the tests fit into a fiftieth of it."""


def seconds_by_file(report: Path) -> dict[str, list[float]]:
    """Seconds of processor-bound and waiting time of each test, by file, relative to the root."""
    took: dict[str, list[float]] = defaultdict(list)
    for case in ET.parse(report).getroot().iter("testcase"):
        parts = case.get("classname", "").split(".")
        while parts and not ROOT.joinpath(*parts).with_suffix(".py").is_file():
            parts.pop()  # a class of tests stands below its file
        if parts:
            took["/".join(parts) + ".py"].append(float(case.get("time", "0")))
    return took


def main() -> None:
    took = seconds_by_file(Path(sys.argv[1]))
    left = SHARE_KEPT * sum(map(sum, took.values()))
    slow: list[str] = []
    for file, seconds in sorted(took.items(), key=lambda item: sum(item[1])):
        left -= sum(seconds)
        if left < 0 and file not in ALWAYS:
            slow.append(file)
    heading = "# Files that `make check` leaves out and `make test` runs. Written by tools/mark_slow_files.py.\n"
    (ROOT / "tests" / "slow_files.txt").write_text(
        heading + "".join(f"{file}\n" for file in sorted(slow, key=lambda file: -max(took[file])))
    )
    print(f"{len(slow)} of {len(took)} files are left out")


if __name__ == "__main__":
    main()
