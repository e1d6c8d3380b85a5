"""The longest modules and functions, for a reader to judge. Prints, and fails for nothing: run it with `-s`."""

import ast

from tests.tidy.test_source_rules import WRITTEN, name_of, tree_of

SHOWN = 5


def test_the_longest_modules_and_functions_are_shown() -> None:
    modules = sorted(
        ((len(path.read_text(encoding="utf-8").splitlines()), name_of(path)) for path in WRITTEN), reverse=True
    )
    functions = sorted(
        (
            ((node.end_lineno or node.lineno) - node.lineno + 1, f"{name_of(path)}:{node.lineno} {node.name}")
            for path in WRITTEN
            for node in ast.walk(tree_of(path))
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
        ),
        reverse=True,
    )
    for title, rows in (("modules", modules), ("functions", functions)):
        print(f"\nlongest {title}:")
        for lines, name in rows[:SHOWN]:
            print(f"  {lines:5}  {name}")
    assert modules
    assert functions
