"""Every setting is documented, and every variable that a page names is a setting."""

import re
from dataclasses import fields
from pathlib import Path

import pytest

from evalsi.settings import JudgeDefaults, RemoteSandboxSettings, SandboxSettings, Settings
from tests.docs.pages import ROOT, name_of, pages

REFERENCE = ROOT / "docs" / "reference" / "settings.md"
_VARIABLE = re.compile(r"\bEVALSI_[A-Z_]*[A-Z]\b")
OTHERS = {"EVALSI_NAME", "EVALSI_TRIAL"}
"""`EVALSI_NAME` stands for a new setting in CONTRIBUTING.md; programs under evaluation are told `EVALSI_TRIAL`."""


class Watched(dict[str, str]):
    """An environment that remembers what was asked of it."""

    def __init__(self) -> None:
        super().__init__()
        self.asked: set[str] = set()

    def get(self, key: str, default: str | None = None) -> str | None:  # type: ignore[override]
        self.asked.add(key)
        return default


def variables_read() -> set[str]:
    environment = Watched()
    Settings.from_environment(environment)
    return {name for name in environment.asked if name.startswith("EVALSI_")}


def test_every_variable_that_is_read_is_on_the_page_of_settings() -> None:
    assert variables_read() == set(_VARIABLE.findall(REFERENCE.read_text(encoding="utf-8")))


def test_every_field_of_the_settings_says_what_it_decides() -> None:
    source = (ROOT / "src/evalsi/settings/local.py").read_text(encoding="utf-8")
    for kind in (Settings, JudgeDefaults, SandboxSettings, RemoteSandboxSettings):
        for field in (
            each for each in fields(kind) if each.name not in ("judge", "sandbox")
        ):  # a group, documented by its own class
            assert re.search(rf'^    {field.name}: .*\n    """', source, re.MULTILINE), field.name


@pytest.mark.parametrize("page", pages(), ids=name_of)
def test_every_variable_that_a_page_names_is_a_setting(page: Path) -> None:
    named = set(_VARIABLE.findall(page.read_text(encoding="utf-8")))
    assert named <= variables_read() | OTHERS
