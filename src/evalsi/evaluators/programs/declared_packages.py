"""Python packages that a spec says programs may count on: whether the sandbox has them, and which one a program missed.

Its own module because both say whose fault a failed import is. What always holds: whether a declared package is there is found out
by a program of ours, never taken from what a graded program prints.
"""

import re

import msgspec

_ASK = """
import importlib, json
missing = {}
for name in json.loads(input()):
    try:
        importlib.import_module(name)
    except BaseException as error:
        missing[name] = f"{type(error).__name__}: {error}"[:200]
print(json.dumps(missing))
"""
_MISSING = re.compile(rb"ModuleNotFoundError: No module named '([\w.]{1,100})'")


def asking_program(packages: tuple[str, ...]) -> tuple[str, bytes]:
    """A program, and its standard input, that says which of these modules cannot be imported."""
    return _ASK, msgspec.json.encode(packages)


def told_missing(stdout: bytes) -> dict[str, str] | None:
    """The missing ones and why, as that program said it; None where it said nothing of the kind."""
    try:
        return msgspec.json.decode(stdout, type=dict[str, str])
    except msgspec.DecodeError:
        return None


def missed_module(said: bytes) -> str:
    """A sentence about the module that a program could not import, from the end of what it said; "" where it is no such end."""
    found = _MISSING.search(said.rstrip().rpartition(b"\n")[2])
    if found is None:
        return ""
    name = found[1].decode()
    return f"it imports {name}, which its sandbox does not have; a spec that means programs to have it says packages: [{name}]"
