"""ARCHITECTURE.md is the map: its layers are those of the contract, and every path that a page names is there."""

import re
import tomllib
from pathlib import Path

import pytest

from tests.docs.pages import ROOT, name_of, pages, prose_of

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
_PATH = re.compile(r"`((?:src|docs|tests|tools|proto|adapters|examples|changes|bench)/[\w./-]*)`")


def layers_of_the_contract() -> list[set[str]]:
    contracts = PROJECT["tool"]["importlinter"]["contracts"]
    layers = next(contract["layers"] for contract in contracts if contract["type"] == "layers")
    rows = [{name for name in re.split(r"[\s|]+", row) if name and "(" not in name} for row in layers]
    return [row for row in rows if row]


def layers_of_the_map() -> list[set[str]]:
    text = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    section = text[text.index("## Layers") : text.index("## How one record walks")]
    rows = [line.split("|") for line in section.splitlines() if line.startswith("|")][2:]
    return [set(re.findall(r"`(\w+)`", cells[2])) for cells in rows]


def test_the_layers_on_the_map_are_those_that_are_checked() -> None:
    assert layers_of_the_map() == layers_of_the_contract()


def test_every_package_is_on_the_map() -> None:
    source = ROOT / "src/evalsi"
    packages = {path.parent.name for path in source.glob("*/__init__.py")} | {"settings", "wiring"}
    assert packages == set().union(*layers_of_the_map())


@pytest.mark.parametrize("page", pages(), ids=name_of)
def test_every_path_that_a_page_names_is_there(page: Path) -> None:
    named = _PATH.findall(prose_of(page))
    assert [path for path in named if not (ROOT / path).exists()] == []


def test_every_dependency_has_its_reason() -> None:
    decision = (ROOT / "docs/decisions/0002-dependencies.md").read_text(encoding="utf-8")
    needed = [re.split(r"[>=;\[ ]", each)[0] for each in PROJECT["project"]["dependencies"]]
    assert [name for name in needed if f"`{name}`" not in decision] == []
    assert [extra for extra in PROJECT["project"]["optional-dependencies"] if f"`{extra}`" not in decision] == []


def test_decisions_are_numbered_without_gaps_and_listed() -> None:
    folder = ROOT / "docs/decisions"
    found = sorted(path.name for path in folder.glob("[0-9]*.md"))
    assert [name[:4] for name in found] == [f"{number:04}" for number in range(1, len(found) + 1)]
    listed = (folder / "README.md").read_text(encoding="utf-8")
    for name in found:
        assert name in listed
        text = (folder / name).read_text(encoding="utf-8")
        for heading in ("## Context", "## Decision", "## Given up", "## Measured"):
            assert heading in text, f"{name} has no {heading}"


def test_change_fragments_have_a_kind_and_a_text() -> None:
    for path in (ROOT / "changes").glob("*.md"):
        if path.name == "README.md":
            continue
        assert re.fullmatch(r"[\w-]+\.(added|changed|fixed|removed|security)\.md", path.name), path.name
        text = path.read_text(encoding="utf-8").strip()
        assert text, path.name
        assert not text.startswith("#"), path.name
        assert text.endswith("."), path.name
