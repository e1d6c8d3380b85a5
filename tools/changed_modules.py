"""Prints the Python files that a change touches, and those that import one of them, for checks that cannot look at all in a minute.

    uv run python tools/changed_modules.py | xargs -r uv run pyright

A change is what differs from the branch that this one is based on (`origin/main`, else the last commit), whether committed or not.
What imports something that imports a changed file is left to the check of everything: types seldom reach that far.
"""

import subprocess
from pathlib import Path

import grimp

ROOT = Path(__file__).parents[1]
CHECKED = ("src/", "tests/", "tools/", "adapters/")


def git(*words: str) -> list[str]:
    """The lines that git prints; none where it fails, as outside a checkout."""
    ended = subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True, check=False)
    return ended.stdout.splitlines() if ended.returncode == 0 else []


def changed_files() -> set[str]:
    base = git("merge-base", "HEAD", "origin/main") or ["HEAD"]
    differing = {*git("diff", "--name-only", base[0]), *git("ls-files", "--others", "--exclude-standard")}
    return {file for file in differing if file.endswith(".py") and file.startswith(CHECKED) and (ROOT / file).is_file()}


def importers(files: set[str]) -> set[str]:
    """The files of the package that import one of these themselves."""
    graph = grimp.build_graph("evalsi", cache_dir=None)
    found: set[str] = set()
    for file in files:
        module = file.removeprefix("src/").removesuffix(".py").removesuffix("/__init__").replace("/", ".")
        if module in graph.modules:
            found |= graph.find_modules_that_directly_import(module)
    return {path for module in found if (path := _file_of(module))}


def _file_of(module: str) -> str:
    place = "src/" + module.replace(".", "/")
    return next((path for path in (f"{place}.py", f"{place}/__init__.py") if (ROOT / path).is_file()), "")


if __name__ == "__main__":
    touched = changed_files()
    print(*sorted(touched | importers(touched)), sep="\n")
