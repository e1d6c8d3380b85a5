"""Finding evaluators: references, files, plugins; a broken one breaks only itself, and nothing is imported unasked."""

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from evalsi.core.errors import EvalsiError, PluginError, UnknownNameError, UsageError
from evalsi.evaluators.api import Definition
from evalsi.evaluators.catalog import builtin_names, every_definition, load, packs
from tests.command_line import environment


@pytest.mark.parametrize("reference", ["exact-match", "core/exact-match", "builtin/exact-match", "exact-match@1.0.0"])
def test_a_built_in_has_several_names(reference: str) -> None:
    assert load(reference).name == "exact-match"
    assert load(reference).pack == "core"


@pytest.mark.parametrize(
    ("reference", "error", "said"),
    [
        ("exact-mach", UnknownNameError, "did you mean 'exact-match'"),
        ("text/exact-match", UnknownNameError, "text/exact-match"),
        ("", UnknownNameError, "unknown evaluator ''"),
        ("exact-match@2.0.0", UsageError, "1.0.0 is"),
        ("no_such_module:x", UnknownNameError, "unknown module 'no_such_module'"),
        ("./none.py:x", UnknownNameError, "unknown file 'none.py'"),
        (":x", PluginError, "cannot be imported"),
        ("json:dumps_", UnknownNameError, "dumps_"),
        ("json:__version__", UsageError, "neither a function nor a class|is no evaluator|unknown"),
    ],
)
def test_a_reference_that_leads_nowhere_says_so(reference: str, error: type[EvalsiError], said: str) -> None:
    with pytest.raises(error, match=said):
        load(reference)


def test_a_module_of_the_current_folder_is_found_and_a_mistyped_one_is_named_with_the_nearest(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [each for each in sys.path if each])
    (tmp_path / "my_short_checks.py").write_text("import no_such_package\n\ndef it(record):\n    return True\n")
    with pytest.raises(UnknownNameError, match="did you mean 'my_short_checks'"):
        load("my_shrt_checks:it")
    with pytest.raises(UnknownNameError, match=r"did you mean 'my_short_checks\.py'"):
        load("my_shrt_checks.py:it")
    with pytest.raises(PluginError, match="No module named 'no_such_package'"):
        load("my_short_checks:it")


def test_a_plain_function_of_a_module_is_an_evaluator() -> None:
    assert load("json:dumps").name == "dumps"


def test_a_file_is_executed_once_per_content_and_apart_from_others_of_its_name(tmp_path: Path) -> None:
    for folder, value in (("a", 1), ("b", 2)):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "checks.py").write_text(f"def it(record):\n    return {value}\n")
    one, two = (load(f"{tmp_path / folder / 'checks.py'}:it") for folder in ("a", "b"))
    assert (one.code(None), two.code(None)) == (1, 2)
    assert load(f"{tmp_path / 'a' / 'checks.py'}:it").code is one.code
    (tmp_path / "a" / "checks.py").write_text("def it(record):\n    return 3\n")
    assert load(f"{tmp_path / 'a' / 'checks.py'}:it").code(None) == 3
    assert not (tmp_path / "a" / "__pycache__").exists()


@pytest.mark.parametrize(
    "text", ["import no_such", "def x(:", "raise SystemExit(3)", "1/0", "\x00", "b'\\xff'.decode()"]
)
def test_a_file_that_cannot_be_executed_is_a_plugin_error(tmp_path: Path, text: str) -> None:
    (tmp_path / "bad.py").write_text(text)
    with pytest.raises(PluginError, match=r"bad\.py cannot be loaded"):
        load(f"{tmp_path / 'bad.py'}:x")


@pytest.fixture
def plugins(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder on sys.path with an installed distribution: a good evaluator, a broken one, a pack, a broken pack."""
    info = tmp_path / "nice_checks-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: nice-checks\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(
        "[evalsi.evaluators]\npolite = nice_checks:polite\nbroken = broken_checks:it\nexits = exiting_checks:it\n"
        "number = nice_checks:NUMBER\n"
        "[evalsi.packs]\nnice = nice_checks\nbadpack = broken_checks\nempty = nice_checks:NUMBER\n"
    )
    (tmp_path / "nice_checks.py").write_text(
        "from evalsi import evaluator\nNUMBER = 3\n"
        "@evaluator(name='polite', version='2.1.0')\ndef polite(record):\n    '''Is it polite?'''\n    return True\n"
        "evaluators = [polite]\n"
    )
    (tmp_path / "broken_checks.py").write_text("raise RuntimeError('broken at import')\n")
    (tmp_path / "exiting_checks.py").write_text("raise SystemExit(0)\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    yield tmp_path
    for name in ("nice_checks", "broken_checks", "exiting_checks"):
        sys.modules.pop(name, None)


def test_a_third_party_is_found_by_entry_point(plugins: Path) -> None:
    assert load("polite").pack == "nice-checks"
    assert load("nice-checks/polite@2.1.0").version == "2.1.0"
    assert load("nice/polite").pack == "nice"
    assert {"nice", "badpack", "core"} <= set(packs())
    assert plugins.is_dir()


def test_a_broken_plugin_breaks_only_itself(plugins: Path) -> None:
    assert plugins.is_dir()
    found = dict(every_definition())
    assert isinstance(found["core/exact-match"], Definition)
    assert isinstance(found["nice/polite"], Definition)
    wrong = {title: each for title, each in found.items() if isinstance(each, EvalsiError)}
    assert set(wrong) == {"nice-checks/broken", "nice-checks/exits", "nice-checks/number", "badpack", "empty"}
    assert "broken at import" in str(wrong["nice-checks/broken"])
    with pytest.raises(PluginError, match="nice-checks cannot be loaded: RuntimeError: broken at import"):
        load("broken")
    assert load("exact-match").name == "exact-match"


def test_the_command_line_lists_what_loads_and_names_what_does_not(plugins: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "evalsi", "catalog", "--format", "json"],
        env=environment({"PYTHONPATH": str(plugins)}), capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert "polite" in {manifest["name"] for manifest in json.loads(done.stdout)}
    assert "broken is left out" in done.stderr
    assert "Traceback" not in done.stderr


def test_nothing_is_imported_until_it_is_named(plugins: Path) -> None:
    code = (
        "import sys\nfrom evalsi.evaluators.catalog import load, packs\npacks()\nload('exact-match')\n"
        "print(*sorted(name for name in sys.modules if name.startswith('evalsi.evaluators.packs.') or 'checks' in name))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment({"PYTHONPATH": str(plugins)}), capture_output=True, text=True, check=True
    )  # fmt: skip
    loaded = done.stdout.split()
    assert all(name.startswith("evalsi.evaluators.packs.core") for name in loaded), loaded


def test_importing_every_pack_starts_nothing_and_writes_nothing(tmp_path: Path) -> None:
    code = (
        "import sys, threading, os\n"
        "def hook(event, arguments):\n"
        "    if event in ('socket.connect', 'subprocess.Popen', 'os.fork', 'os.remove', 'os.mkdir'):\n"
        "        raise AssertionError(event)\n"
        "    if event == 'open' and isinstance(arguments[1], str) and set(arguments[1]) & set('wax+'):\n"
        "        raise AssertionError(arguments)\n"
        "sys.dont_write_bytecode = True\n"
        "sys.addaudithook(hook)\n"
        "before = dict(os.environ)\n"
        "from evalsi.evaluators.builtin import BUILTIN\n"
        "from evalsi.evaluators.catalog import load\n"
        "print(len([load(f'{pack}/{name}') for pack in BUILTIN for name in BUILTIN[pack]]), threading.active_count(), before == dict(os.environ))\n"
        "print(*(name for name in ('sklearn', 'torch', 'pandas', 'aiohttp', 'sqlite3') if name in sys.modules))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, env=environment(), capture_output=True, text=True, check=True
    )
    first, second = done.stdout.splitlines()
    assert first == f"{len(builtin_names())} 1 True"
    assert second == ""
    assert list(tmp_path.iterdir()) == []
