"""Tables of the command line: whatever the width, no figure and no id is cut; a file or pipe gets everything."""

import ast
import json
import os
import re
from collections.abc import Generator
from pathlib import Path

import pytest
from rich.cells import cell_len

from evalsi.cli.app import run
from evalsi.cli.table import excerpt, lay_out, number, plot, text, whole
from evalsi.cli.terminal import console
from tests.cli.run_folder import write_run
from tests.command_line import DATA, evalsi_shown, write_jsonl

SOURCE = Path(__file__).parents[2] / "src/evalsi"
CASE = Path(__file__).parents[1] / "cases/files/H01_genai.json"
BEFORE, AFTER = "the-nightly-run-of-the-main-branch", "the-nightly-run-of-another-branch"
METRIC = "a-metric-with-a-name-that-goes-on-and-on-and-on"
FIGURE = re.compile(r"[-+]?\d[\d,]*(?:\.\d+)?%?")


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Generator[Path]:
    """A folder with runs, a trace, a run's specification and rewards, with long names everywhere."""
    folder, before = tmp_path_factory.mktemp("tables"), Path.cwd()
    os.chdir(folder)
    write_jsonl(folder / "data.jsonl")
    (folder / "checks.py").write_text(
        "import evalsi\n\n\n"
        f'@evalsi.evaluator(name="{METRIC}", version="1", requires=["output"])\n'
        "def checked(record: evalsi.Record) -> bool:\n"
        '    """Is the answer short?"""\n'
        "    return len(evalsi.text_of(record.output)) < 6\n"
    )
    for name in (BEFORE, AFTER):
        chosen = "exact-match,tool-errors,./checks.py:checked"
        assert run(("eval", "--data", "data.jsonl", "--evaluators", chosen, "--name", name, "--quiet")) == 0
    assert run(("traces", "import", str(CASE))) == 0
    write_run(folder)
    (folder / "labels.csv").write_text("id,label\nfr,pass\njp,fail\nsum,pass\n")
    mapping = {"version": 1, "name": "house", "kinds": {"generic": [{"name_regex": "^chat "}]}}
    (folder / "house.json").write_text(json.dumps(mapping))
    (folder / "reward.yaml").write_text("components:\n  - ref: exact-match\n")
    write_jsonl(folder / "rollouts.jsonl", [dict(row, step=n % 2, heldout=n % 2) for n, row in enumerate(DATA)])
    scored = ("--data", "rollouts.jsonl", "--output", "rewards.jsonl")
    assert run(("rewards", "score", "--spec", "reward.yaml", *scored)) == 0
    os.chdir(before)
    yield folder


@pytest.fixture
def used(prepared: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(prepared)
    return prepared


COMMANDS = [
    ("eval", "--data", "data.jsonl", "--evaluators", "exact-match,tool-errors,./checks.py:checked"),
    ("runs", "list"),
    ("runs", "show", AFTER),
    ("compare", BEFORE, AFTER),
    ("matrix", BEFORE, AFTER, "--metric", "exact-match"),
    ("analyze", "slice", "exact-match", "--by", "topic", "--run", AFTER),
    ("analyze", "query", "SELECT * FROM observations"),
    ("traces", "list"),
    ("catalog", "--pack", "text"),
    ("run", "run.json", "--dry-run"),
    ("run", "run.json"),
    ("judge", "calibrate", AFTER, "--labels", "labels.csv", "--metric", "exact-match", "--passing-from", "0.5",
     "--record-column", "id", "--label-column", "label"),
    ("rewards", "diagnose", "--data", "rollouts.jsonl", "--rewards", "rewards.jsonl"),
    ("mappings", "check", "house.json", "--traces", str(CASE)),
    ("doctor",),
]  # fmt: skip
TITLES = {arguments: " ".join(arguments[:2]) for arguments in COMMANDS}


@pytest.mark.parametrize("arguments", COMMANDS, ids=TITLES.values())
def test_a_command_shows_the_same_figures_and_ids_at_every_width(
    used: Path, monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...]
) -> None:
    """Only what is an excerpt or a drawing may be less: no line is wider than the terminal, no figure is missing."""
    assert used.is_dir()
    again = ("--no-resume",) if arguments[0] == "run" else ()
    whole_text = evalsi_shown(monkeypatch, None, *arguments, *again)
    excerpts = arguments[:2] == ("analyze", "query") or arguments[0] in ("traces", "catalog", "mappings")
    assert "…" not in whole_text
    assert not any(line.endswith(" ") for line in whole_text.splitlines())
    for width in (80, 60):
        narrow = evalsi_shown(monkeypatch, width, *arguments, *again)
        assert all(cell_len(line) <= width for line in narrow.splitlines()), narrow
        assert excerpts or "…" not in narrow
        if not excerpts and arguments[0] not in ("eval", "run"):
            lost = set(FIGURE.findall(_without_plots(whole_text))) - set(FIGURE.findall(narrow))
            assert not lost, narrow


def _without_plots(said: str) -> str:
    return re.sub(r"\b0 {19}1\b", "", said)


def test_intervals_and_ids_are_whole_on_a_terminal_of_80_columns(used: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert used.is_dir()
    ids = [row["id"][:8] for row in json.loads(evalsi_shown(monkeypatch, None, "runs", "list", "--format", "json"))]
    for width in (80, 60, 40):
        listed = evalsi_shown(monkeypatch, width, "runs", "list")
        assert all(each in listed for each in ids)
        metrics = evalsi_shown(monkeypatch, width, "runs", "show", AFTER)
        assert "[0.150, 0.850]" in metrics
        assert "INCONCLUSIVE" in evalsi_shown(monkeypatch, width, "compare", BEFORE, AFTER)
    assert "●" in evalsi_shown(monkeypatch, 140, "runs", "show", AFTER)
    assert "●" not in evalsi_shown(monkeypatch, 80, "runs", "show", AFTER)


def test_names_wrap_at_their_marks_and_numbers_never_break() -> None:
    columns = (text("metric"), number("mean"), whole("interval"))
    rows = [("left.right-middle.of.it [0.123, 0.456]", "0.250", "[0.123, 0.456]")]
    lines = [line.plain for line in lay_out(columns, rows, 43)]
    assert lines[1].split("  ")[0] == "left.right-middle."
    assert any(line.strip().endswith("[0.123, 0.456]") for line in lines[2:])


def test_excerpts_give_way_before_texts_and_a_plot_before_both() -> None:
    columns = (text("name"), plot("0        1"), excerpt("input"))
    rows = [("twenty-five-letters-long-", "----------", "x" * 40)]
    assert "----------" in lay_out(columns, rows, 80)[1].plain
    assert lay_out(columns, rows, 70)[1].plain == "twenty-five-letters-long-  " + "x" * 40
    assert lay_out(columns, rows, 50)[1].plain == "twenty-five-letters-long-  " + "x" * 22 + "…"
    assert "".join(line.plain.split("  ")[0] for line in lay_out(columns, rows, 40)[1:]) == "twenty-five-letters-long-"


def test_a_pipe_gets_every_cell_whole_and_no_line_is_filled_up() -> None:
    rows = [("a" * 300, "1"), ("b", "2")]
    lines = [line.plain for line in lay_out((excerpt("input"), number("n")), rows, None)]
    assert lines[1] == "a" * 300 + "  1"
    assert lines[2] == "b" + " " * 101 + "2"
    assert lines[0].rstrip() == lines[0]


def test_what_others_wrote_commands_no_terminal() -> None:
    assert lay_out((text("name"),), [("\x1b[31mred\nnext",)], None)[1].plain == "\\x1b[31mred\\nnext"


def test_a_name_between_colons_stays_as_it_is(capsys: pytest.CaptureFixture[str]) -> None:
    console().print("judge:smile:v2")
    assert capsys.readouterr().out == "judge:smile:v2\n"


def test_wide_characters_take_two_columns() -> None:
    rows = [("東京" * 20, "0.500")]
    for width in (80, 30, 12):
        assert all(line.cell_len <= width for line in lay_out((text("name"), number("mean")), rows, width))


def test_no_command_lays_a_table_out_by_itself() -> None:
    for path in (SOURCE / "cli").glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            assert not (isinstance(node, ast.ImportFrom) and node.module == "rich.table"), path.name
