"""A plugin whose evaluators do what evaluators must not do, laid down as if it had been installed."""

from pathlib import Path

CODE = '''
import ctypes, os, re, sys, time
from evalsi.evaluators.api import evaluator


def _wants(record, word):
    return record.output is not None and record.output.text == word


@evaluator
def backtracks(record) -> bool:
    if _wants(record, "bad"):
        re.match(r"(a+)+$", "a" * 60 + "b")
    return True


@evaluator
def crashes(record) -> bool:
    if _wants(record, "bad"):
        ctypes.string_at(0)
    return True


@evaluator
def exits(record) -> bool:
    if _wants(record, "bad"):
        os._exit(0)
    return True


@evaluator
def hoards(record) -> bool:
    kept = []
    while _wants(record, "bad"):
        kept.append(bytes(3 << 30))
    return True


@evaluator
class StuckAtSetup:
    """Never gets ready."""

    def setup(self):
        time.sleep(3600)

    def evaluate(self, record) -> bool:
        return True


@evaluator
def sleeps(record) -> bool:
    time.sleep(0.05)
    return True


@evaluator
def waits_for_file(record) -> bool:
    while not os.path.exists(record.output.text):
        time.sleep(0.01)
    return True
'''
NAMES = {
    "backtracks": "backtracks",
    "crashes": "crashes",
    "exits": "exits",
    "hoards": "hoards",
    "stuck-at-setup": "StuckAtSetup",
    "sleeps": "sleeps",
    "waits-for-file": "waits_for_file",
}


def install_hostile_plugin(folder: Path) -> Path:
    """Lays the plugin down; the folder that PYTHONPATH has to name."""
    site = folder / "site"
    about = site / "hostile-1.0.dist-info"
    about.mkdir(parents=True)
    (site / "hostile.py").write_text(CODE)
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: hostile\nVersion: 1.0\n")
    points = "\n".join(f"{name} = hostile:{attribute}" for name, attribute in NAMES.items())
    (about / "entry_points.txt").write_text(f"[evalsi.evaluators]\n{points}\n")
    return site
