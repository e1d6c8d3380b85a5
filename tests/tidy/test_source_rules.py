"""Rules that a reviewer would repeat, kept by a machine."""

import ast
import functools
import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
SRC = ROOT / "src"
GENERATED = SRC / "evalsi/schema/generated"
WIRE = SRC / "evalsi/schema/wire"
MODULES = sorted(path for folder in (SRC, *ROOT.glob("adapters/*/src")) for path in folder.rglob("*.py"))
WRITTEN = [path for path in MODULES if not {GENERATED, WIRE} & set(path.parents)]
"""What people write; the rest is generated."""
TESTS = sorted(
    path for folder in (ROOT / "tests", *ROOT.glob("adapters/*/tests")) for path in folder.rglob("test_*.py")
)
VAGUE = {"util", "utils", "helper", "helpers", "common", "manager", "managers", "misc"}
SECRET = re.compile(r"api_key(?!_env)|secret|password|bearer", re.IGNORECASE)


@functools.cache
def tree_of(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def name_of(path: Path) -> str:
    return str(path.relative_to(ROOT))


def test_only_settings_reads_the_environment() -> None:
    readers = [
        name_of(path)
        for path in MODULES
        if path.parent.name != "guest"  # inside a sandbox the environment is the program's, and ours to fill
        for node in ast.walk(tree_of(path))
        if isinstance(node, ast.Attribute)
        and node.attr in ("environ", "environb", "getenv", "getenvb")
        and isinstance(node.value, ast.Name)
        and node.value.id == "os"
    ]
    assert set(readers) == {"src/evalsi/settings/local.py"}


def test_no_module_has_a_vague_name() -> None:
    vague = [name_of(path) for path in MODULES if VAGUE & set(re.split(r"_", path.stem))]
    assert vague == []


def test_every_module_begins_with_what_it_is() -> None:
    silent = [name_of(path) for path in MODULES if len((ast.get_docstring(tree_of(path)) or "").split()) < 3]
    assert silent == []


def test_nothing_secret_is_printed_or_logged() -> None:
    """No value whose name says that it is a secret goes to print, a log, or an error."""
    found: list[str] = []
    for path in WRITTEN:
        for node in ast.walk(tree_of(path)):
            if isinstance(node, ast.Call) and called(node) in {
                "print", "say", "echo", "debug", "info", "warning", "error", "exception", "write",
            }:  # fmt: skip
                for part in ast.walk(node):
                    name = (
                        part.id if isinstance(part, ast.Name) else part.attr if isinstance(part, ast.Attribute) else ""
                    )
                    if SECRET.search(name):
                        found.append(f"{name_of(path)}:{node.lineno} {name}")
    assert found == []


def called(node: ast.Call) -> str:
    target = node.func
    return target.attr if isinstance(target, ast.Attribute) else target.id if isinstance(target, ast.Name) else ""


def test_the_names_of_tests_are_sentences() -> None:
    short = [
        f"{name_of(path)}: {node.name}"
        for path in TESTS
        for node in ast.walk(tree_of(path))
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
        and node.name.startswith("test_")
        and (len(node.name.split("_")) < 4 or "_works" in node.name)
    ]
    assert short == []
