"""The agent as it is carried into a sandbox: an interpreter that the sandbox's user can run, and our modules, compiled.

Our own interpreter is often out of reach of that user (below /root, say), so the first of a few that works for it is
taken, by trying. Modules are compiled by that interpreter, since compiled code is of one version, and lie in a folder
that a sandbox sees and cannot change.
"""

import os
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass, replace
from pathlib import Path

from evalsi import guest
from evalsi.core.errors import SandboxError
from evalsi.guest import fence
from evalsi.infra.sandbox.held_place import Hold, hold_place, remove_unless_held

_COMPILE = """
import importlib.util, marshal, sys, os
for name in sys.argv[2:]:
    with open(os.path.join(sys.argv[1], name + ".py"), "rb") as file:
        code = compile(file.read(), "/.evalsi/" + name + ".py", "exec", dont_inherit=True, optimize=2)
    sys.stdout.buffer.write(name.encode() + b"\\0")
    data = importlib.util.MAGIC_NUMBER + bytes(12) + marshal.dumps(code)
    sys.stdout.buffer.write(len(data).to_bytes(4, "little") + data)
"""
_CARRY = """
import importlib.util, marshal, os, shutil, sys
sys.path.append(sys.argv[1])
import evalsi.guest.agent, signal, warnings, importlib, encodings.ascii, encodings.latin_1, encodings.utf_8, traceback
target = sys.argv[2]
library = target + "/lib/python%d.%d" % sys.version_info[:2]
os.makedirs(library + "/lib-dynload")
os.mkdir(target + "/bin")
shutil.copyfile(os.path.realpath(sys.executable), target + "/bin/python3")
print(os.path.realpath(sys.executable))
for name, module in sorted(sys.modules.items()):
    spec = getattr(module, "__spec__", None)
    if name.partition(".")[0] in ("evalsi", "__main__") or spec is None:
        continue
    file = spec.origin or ""
    if file == "frozen":
        file = getattr(spec.loader_state, "filename", None) or ""
    if file.endswith(".so"):
        shutil.copy(file, library + "/lib-dynload")
        print(file)
    elif file.endswith(".py"):
        place = library + "/" + spec.name.replace(".", "/") + ("/__init__" if file.endswith("__init__.py") else "") + ".pyc"
        os.makedirs(os.path.dirname(place), exist_ok=True)
        with open(file, "rb") as source, open(place, "wb") as compiled:
            code = compile(source.read(), os.path.basename(file), "exec", dont_inherit=True, optimize=1)
            compiled.write(importlib.util.MAGIC_NUMBER + bytes(12) + marshal.dumps(code))
"""
"""Copies the interpreter and what the agent imports, compiled, and prints every file that needs libraries."""
_ASK = (
    "import sys; assert sys.version_info >= (3, 10); print(sys.base_prefix, '%d.%d' % sys.version_info[:2], sep='\\n')"
)
_PATIENCE_S = 20.0
_BASE = "evalsi-sandbox-"
_PACKAGES = Path(fence.PACKAGES).name
"""An empty folder beside our modules, for what the operator provides to be shown in."""
_START = "import sys; sys.path.append({place!r}); from evalsi.guest.agent import main; main()"


@dataclass(frozen=True)
class CarriedAgent:
    """`python` runs it; `prefix` is the interpreter's own folder; `folder` holds the compiled modules.

    Where `brings_python`, all of that is below `folder`, with the libraries it needs and the loader that starts it. `packages`
    is the operator's folder of Python packages, for an interpreter of this `version` ("3.12").
    """

    python: str
    prefix: str
    folder: Path
    brings_python: bool = False
    loader: str = ""
    """Where `brings_python`: the name by which the interpreter asks for its loader."""
    packages: Path | None = None
    version: str = ""

    def command(self, place: str) -> list[str]:
        """The words that start the agent from a folder which the sandbox sees as `place`; its arguments follow."""
        words = [self.python]
        if self.brings_python:
            words = [f"{place}/lib/loader", "--library-path", f"{place}/lib", f"{place}/bin/python3"]
        return [*words, "-I", "-S", "-X", "utf8", "-c", _START.format(place=place)]


def carry_agent(base: Path, user: int | None, chosen: str | None = None) -> CarriedAgent:
    """Compiles the agent below `base`.

    Args:
        user: Who will run it; None for ourselves.
        chosen: An operator's interpreter, the only one tried.

    Raises: SandboxError: no interpreter works for that user.
    """
    tried: list[str] = []
    for python in [chosen] if chosen else _interpreters():
        folder = base / "agent"
        try:
            prefix, version = _compile(python, folder, user)
        except (OSError, subprocess.SubprocessError) as error:
            tried.append(f"{python} ({_why(error)})")
            continue
        return CarriedAgent(python=python, prefix=prefix, folder=folder, version=version)
    raise SandboxError(
        f"no Python that the sandbox's user can run: {', '.join(tried)}",
        hint="install python3 where every user can read it, or set EVALSI_SANDBOX_PYTHON",
    )


def carry_python(agent: CarriedAgent, base: Path) -> CarriedAgent:
    """The agent with its interpreter, for trees that have none, or one that cannot be relied on.

    Raises: SandboxError: the interpreter cannot be carried.
    """
    folder = base / "agent-with-python"
    try:
        carry = [agent.python, "-I", "-S", "-c", _CARRY, str(agent.folder), str(folder)]
        linked = _run(carry, None).decode().splitlines()
        loader = ""
        for needed in libraries_of(linked):
            name = Path(needed).name
            if name.startswith("ld-"):
                loader, name = name, "loader"
            shutil.copyfile(needed, folder / "lib" / name)
        shutil.copytree(agent.folder / "evalsi", folder / "evalsi")
        (folder / _PACKAGES).mkdir()
    except (OSError, subprocess.SubprocessError, ValueError) as error:
        raise SandboxError(f"{agent.python} cannot be carried into an image: {_why(error)}") from error
    for each in (folder, *folder.rglob("*")):
        each.chmod(0o755 if each.is_dir() or each.parent.name == "bin" or each.name == "loader" else 0o644)
    return replace(
        agent, python=f"{folder}/bin/python3", prefix="/usr", folder=folder, brings_python=True, loader=loader
    )


def libraries_of(files: list[str]) -> set[str]:
    """The libraries that these programs and libraries need, and the loader; a script adds none. Raises: OSError."""
    found: set[str] = set()
    told = subprocess.run(["ldd", *files], capture_output=True, text=True, env={}, cwd="/", check=False)
    for line in told.stdout.splitlines():
        words = line.split()
        path = words[2] if "=>" in words and len(words) > 2 else words[0] if words else ""
        if path.startswith("/") and not path.endswith(":"):
            found.add(path)
    return found


def library_of(agent: CarriedAgent) -> Path:
    """The folder with the interpreter's library. Raises: OSError, subprocess.SubprocessError."""
    return Path(
        _run([agent.python, "-I", "-S", "-c", "import os; print(os.path.dirname(os.__file__))"], None).decode().strip()
    )


def make_base() -> tuple[Path, Hold]:
    """A folder of our own that every user may enter, for what sandboxes see. Those of processes that died are removed."""
    for left in Path(tempfile.gettempdir()).glob(f"{_BASE}*"):
        owner = left.name.removeprefix(_BASE).partition("-")[0]
        try:
            is_ours = left.lstat().st_uid == os.geteuid() and owner.isdigit()
        except OSError:
            continue
        # One whose owner is not to be seen may be of another container; it holds its folder all the same.
        if is_ours and not Path(f"/proc/{owner}").exists():
            remove_unless_held(left)
    base = Path(tempfile.mkdtemp(prefix=f"{_BASE}{os.getpid()}-"))
    base.chmod(0o711)
    return base, hold_place(base)


def _interpreters() -> list[str]:
    ours = Path(sys.base_prefix) / "bin" / f"python{sys.version_info[0]}.{sys.version_info[1]}"
    found = [str(ours), shutil.which("python3", path="/usr/bin:/usr/local/bin:/bin") or ""]
    return [path for path in dict.fromkeys(found) if path and os.access(path, os.X_OK)]


def _compile(python: str, folder: Path, user: int | None) -> tuple[str, str]:
    """The interpreter's own folder, and its version."""
    asked = _run([python, "-I", "-S", "-c", _ASK], user)
    source = Path(guest.__file__).parent
    names = sorted(path.stem for path in source.glob("*.py"))
    rest = _run([python, "-I", "-S", "-c", _COMPILE, str(source), *names], None)
    target = folder / "evalsi" / "guest"
    target.mkdir(parents=True, exist_ok=True)
    (folder / _PACKAGES).mkdir(exist_ok=True)
    while rest:
        name, _, rest = rest.partition(b"\0")
        length = int.from_bytes(rest[:4], "little")
        (target / f"{name.decode()}.pyc").write_bytes(rest[4 : 4 + length])
        rest = rest[4 + length :]
    for each in (folder, *folder.rglob("*")):
        each.chmod(0o755 if each.is_dir() else 0o644)
    prefix, version = asked.decode().split("\n")[:2]
    return prefix, version


def _run(command: list[str], user: int | None) -> bytes:
    """What it prints, run as `user`. Raises: OSError, CalledProcessError, TimeoutExpired."""
    ended = subprocess.run(
        command,
        capture_output=True,
        check=True,
        timeout=_PATIENCE_S,
        env={},
        cwd="/",
        user=user,
        group=user,
        extra_groups=None if user is None else [],
    )
    return ended.stdout


def _why(error: Exception) -> str:
    if isinstance(error, OSError):
        return error.strerror or str(error)
    return "it does not run" if isinstance(error, subprocess.CalledProcessError) else str(error)
