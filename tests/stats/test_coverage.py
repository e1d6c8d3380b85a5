"""Measured coverage keeps what the code claims, and the published table is the one the code makes."""

import importlib.util
import re
import sys
from pathlib import Path
from types import ModuleType

import pytest

from tests.thoroughness import THOROUGH

ROOT = Path(__file__).parents[2]


def load_tool() -> ModuleType:
    spec = importlib.util.spec_from_file_location("simulate_coverage", ROOT / "tools" / "simulate_coverage.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["simulate_coverage"] = module
    spec.loader.exec_module(module)
    return module


tool = load_tool()
ROWS = {row.name: row for row in tool.all_rows()}
QUICK = [
    name
    for name in ROWS
    if (
        name.startswith(("Proportions/", "Tests/mcnemar", "Paired/bonett-price"))
        and not name.endswith(("/100", "/300", "/1000"))
    )
    or re.fullmatch(r"Clusters/cluster-t/normal, geometric sizes, ICC 0.5/(3|10) clusters", name)
    or name in {"Means/t/uniform on [0, 1]/10", "Means/t/0.9, but 10% zero/10"}
]

GROUPS = sorted({name.partition("/")[0] for name in ROWS})
COSTLY = re.compile(r"Means/betting|Anytime/betting|Calibration/|Bootstrap/bootstrap-(bca|percentile)/")
"""Two thirds of the time for a seventh of the rows: usually one of each method is measured."""
FIRST_OF_METHOD = set({"/".join(name.split("/")[:2]): name for name in reversed(ROWS)}.values())


def broken_claims(name: str) -> list[str]:
    row = ROWS[name]
    found = row.measured()
    noise = 3 * found.error + 1e-9
    problems: list[str] = []
    if row.at_least is not None and found.rate < row.at_least - noise:
        problems.append(f"{name}: {found.rate:.3f}, claimed at least {row.at_least}")
    if row.at_most is not None and found.rate > row.at_most + noise:
        problems.append(f"{name}: {found.rate:.3f}, claimed at most {row.at_most}")
    return problems


def head(line: str) -> str:
    return " | ".join(line.split(" | ")[:3])


def numbers(line: str) -> list[float]:
    """Rate and mean width of a row."""
    return [float(cell) for cell in re.findall(r"\d+\.\d{3}", line.replace("*", "").removeprefix(head(line)))]


def test_every_row_has_a_name_of_its_own() -> None:
    assert len(ROWS) == len(tool.all_rows())


def test_a_small_grid_keeps_its_claims() -> None:
    assert [problem for name in QUICK for problem in broken_claims(name)] == []


@pytest.mark.slow
@pytest.mark.parametrize("group", GROUPS)
def test_the_full_grid_keeps_its_claims(group: str) -> None:
    names = [name for name in ROWS if name.startswith(f"{group}/")]
    if not THOROUGH:
        names = [name for name in names if not COSTLY.match(name) or name in FIRST_OF_METHOD]
    assert [problem for name in names for problem in broken_claims(name)] == []


def test_the_published_table_has_every_row_once_and_in_order() -> None:
    published = [
        line
        for line in tool.published().splitlines()
        if line.startswith("|") and line.endswith(("exact |", "simulated |"))
    ]
    wanted = [f"| {row.method} | {row.data} | {row.n} |" for row in ROWS.values()]
    assert [line[: len(start)] for line, start in zip(published, wanted, strict=True)] == wanted


def test_published_figures_are_the_measured_ones() -> None:
    published = {head(line): line for line in tool.published().splitlines() if line.startswith("|")}
    for name in QUICK:
        line = ROWS[name].line()
        # Another numpy may draw other numbers for simulated rows; enumerated ones hold to the last printed digit.
        slack = 0.03 if line.endswith("simulated |") else 0.0011
        assert numbers(line) == pytest.approx(numbers(published[head(line)]), abs=slack), name
