"""`runs`, `catalog`, `init`, `doctor`, `judge`, `completion`, `version`, and help."""

import json
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from evalsi.cli.app import COMMANDS
from evalsi.core.version import __version__
from evalsi.evaluators.catalog import builtin_names
from tests.cli.run_folder import write_run
from tests.command_line import Ended, environment, evalsi

Cli = Callable[..., Ended]
DEMO = Path(__file__).resolve().parents[2] / "examples" / "demo" / "data"


def kept(cli: Cli, *names: str) -> None:
    for name in names:
        flags = ("--name", name, "--label", f"kind={name[0]}", "--quiet")
        assert cli("eval", "--data", "data.jsonl", "--evaluators", "exact-match", *flags).status == 0


def test_runs_are_listed_newest_first_and_by_label(cli: Cli) -> None:
    kept(cli, "alpha", "beta", "bravo")
    assert [run["name"] for run in json.loads(cli("runs", "list", "--format", "json").out)] == [
        "bravo",
        "beta",
        "alpha",
    ]
    found = json.loads(cli("runs", "list", "--label", "kind=b", "--limit", "1", "--format", "json").out)
    assert [run["name"] for run in found] == ["bravo"]
    assert "alpha" in cli("runs", "list").out
    assert cli("runs", "list", "--label", "kind").status == 2


def test_a_folder_without_runs_says_how_to_make_one(cli: Cli) -> None:
    ended = cli("runs", "list")
    assert "evalsi eval" in ended.err
    assert "Traceback" not in ended.err


def test_a_run_is_shown_by_any_name(cli: Cli) -> None:
    kept(cli, "alpha", "beta")
    (beta, alpha) = [run["id"] for run in json.loads(cli("runs", "list", "--format", "json").out)]
    for name in ("alpha", "latest~1", alpha, alpha[:-1]):
        assert json.loads(cli("runs", "show", name, "--manifest").out)["run_id"] == alpha
    assert json.loads(cli("runs", "show", "--manifest").out)["run_id"] == beta
    assert cli("runs", "show", "alpha", "--format", "csv").out.startswith("metric,n,mean")
    near = cli("runs", "show", "alpa")
    assert near.status == 1
    assert "did you mean" in near.err
    assert cli("runs", "show", "latest~7").status == 1


def test_runs_are_removed_once_however_often_they_are_named(cli: Cli) -> None:
    kept(cli, "alpha", "beta", "gamma")
    ended = cli("runs", "rm", "latest", "gamma", "alpha")
    assert ended.status == 0
    assert ended.err.count("removed") == 2
    assert [run["name"] for run in json.loads(cli("runs", "list", "--format", "json").out)] == ["beta"]
    assert cli("runs", "rm", "nothing").status == 1
    assert cli("runs", "rm").status == 2


@pytest.mark.parametrize("ending", ["json", "jsonl", "csv", "parquet"])
def test_a_run_is_exported(cli: Cli, folder: Path, ending: str) -> None:
    kept(cli, "alpha")
    assert cli("runs", "export", "alpha", f"x.{ending}").status == 0
    assert (folder / f"x.{ending}").stat().st_size > 50
    assert cli("runs", "export", "alpha", "x.doc").status == 2


def test_a_results_file_stands_for_a_run_everywhere(cli: Cli) -> None:
    kept(cli, "alpha")
    cli("runs", "export", "alpha", "x.json")
    assert json.loads(cli("runs", "show", "x.json", "--format", "json").out)[0]["n"] == 4
    assert cli("report", "x.json", "-o", "x.html").status == 0
    assert "there is no file 'y.json'; did you mean 'x.json'?" in cli("report", "y.json", "-o", "y.html").err
    assert cli("compare", "x.json", "alpha").status == 0


def test_a_comparison_says_how_its_gates_ended_and_where_too_little_changed_to_tell(cli: Cli, folder: Path) -> None:
    kept(cli, "before")
    (folder / "data.jsonl").write_text((folder / "data.jsonl").read_text().replace("Kyoto", "Tokyo"))
    kept(cli, "after")
    better = cli("compare", "before", "after", "--gate", "exact-match:0.05")
    assert "too few records changed for a difference to be found with 80% power: exact-match" in better.out
    assert "gate on exact-match passed: exact-match changed by +0.250 [" in better.err
    worse = cli("compare", "after", "before", "--gate", "exact-match:0.05")
    assert (worse.status, ", which may be chance" in worse.err) == (0, True)
    assert "gate on exact-match inconclusive" in worse.err
    assert "gate on" not in cli("compare", "before", "after", "--gate", "exact-match:0.05", "--format", "json").err


def test_the_catalog_shows_every_evaluator_and_each_has_a_page(cli: Cli) -> None:
    manifests = json.loads(cli("catalog", "--format", "json").out)
    assert {manifest["name"] for manifest in manifests} >= set(builtin_names())
    table = cli("catalog").out
    lines = cli("catalog", "--format", "md").out.splitlines()
    assert len(lines) == 2 + len(manifests)
    for manifest in manifests:
        title = f"{manifest['pack']}/{manifest['name']}"
        assert title in table
        page = cli("catalog", title)
        assert page.status == 0
        assert page.out.startswith(f"# {title} {manifest['version']}")
        for key in manifest["params_schema"].get("properties", {}):
            assert f"- `{key}`: " in page.out
    one = json.loads(cli("catalog", "contains", "--format", "json").out)
    assert one["requires"]["input"] is False, "false is printed"


def test_a_pack_is_listed_alone(cli: Cli) -> None:
    manifests = json.loads(cli("catalog", "--pack", "ml-classic", "--format", "json").out)
    assert {manifest["pack"] for manifest in manifests} == {"ml-classic"}


def test_what_init_writes_runs_as_it_says(cli: Cli, folder: Path) -> None:
    ended = cli("init", "my evals")
    assert ended.status == 0
    line = re.search(r"next: (.*)", ended.err)
    assert line
    shell = line[1].replace("evalsi ", f"{shlex.quote(sys.executable)} -m evalsi ")
    done = subprocess.run(["bash", "-euc", shell], cwd=folder, env=environment(), capture_output=True, text=True, check=False)  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "short-enough" in done.stdout
    again = cli("init", "my evals")
    assert again.status == 2
    assert "is already there" in again.err


def test_init_writes_through_no_link_that_leads_elsewhere(cli: Cli, folder: Path) -> None:
    (folder / "run.yaml").symlink_to(folder.parent / "elsewhere.yaml")
    ended = cli("init", ".")
    assert (ended.status, "is already there" in ended.err) == (2, True)
    assert not (folder.parent / "elsewhere.yaml").exists()


def test_the_agent_that_init_writes_is_evaluated_by_its_tools(
    cli: Cli, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert cli("init", "helper", "--template", "agent").status == 0
    monkeypatch.chdir(folder / "helper")
    ended = cli("run", "run.yaml", "--format", "json")
    assert ended.status == 0, ended.err
    means = {each["metric"]: each.get("mean") for each in json.loads(ended.out)}
    assert means["tool-call-accuracy.precision"] == 1.0
    assert means["tool-call-accuracy.recall"] == pytest.approx(5 / 6)


@pytest.mark.slow
def test_doctor_finds_what_is_there_and_what_is_wrong(cli: Cli, folder: Path) -> None:
    checks = {check["name"]: check for check in json.loads(cli("doctor", "--format", "json").out)}
    assert checks["evalsi"]["detail"] == __version__
    assert checks["store"]["state"] == "missing"
    assert checks["judge"]["state"] == "missing"
    needed = {"server": "extra server", "agent": "sandbox"}
    for purpose, name in needed.items():
        found = cli("doctor", "--require", purpose, "--format", "json")
        states = {check["name"]: check["state"] for check in json.loads(found.out)}
        there = checks[name]["state"] == "ok"
        assert (states[name], found.status) == (("ok", 0) if there else ("failed", 1))
    kept(cli, "alpha")
    assert "1 run\n" in cli("doctor").out
    (folder / ".evalsi" / "evalsi.db").write_bytes(b"not a database" * 100)
    broken = cli("doctor")
    assert broken.status == 1
    assert "failed" in broken.out


def test_a_judge_is_calibrated_on_the_demo(cli: Cli) -> None:
    judge = (
        "--judge-provider",
        "recorded",
        "--judge-recording",
        str(DEMO / "judge_recording.jsonl"),
        "--name",
        "birch",
    )
    data = ("--data", str(DEMO / "birch.jsonl"), "--evaluators", "correctness")
    assert cli("eval", *data, *judge).status == 0
    labels = ("--labels", str(DEMO / "human_labels.jsonl"), "--metric", "correctness", "--where", "metadata.assistant == 'birch'")  # fmt: skip
    ended = cli("judge", "calibrate", "birch", *labels, "--passing-from", "0.75", "--format", "json")
    assert ended.status == 0, ended.err
    found = json.loads(ended.out)["calibration"]
    assert found["compared"] > 20
    assert 0.5 < found["agreement"]["value"] <= 1
    assert "agreement with people" in cli("judge", "calibrate", "birch", *labels, "--passing-from", "0.75").out
    for wrong, said in (
        ((*labels, "--metric", "corectness"), "did you mean 'correctness'"),
        ((*labels, "--label-column", "pased"), "did you mean 'passed'"),
        (("--labels", "none.jsonl", "--metric", "correctness"), "none.jsonl"),
    ):
        ended = cli("judge", "calibrate", "birch", *wrong)
        assert ended.status in (1, 2)
        assert said in ended.err


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_completion_script_is_accepted_by_its_shell(cli: Cli, folder: Path, shell: str) -> None:
    script = cli("completion", shell)
    assert script.status == 0
    assert "_EVALSI_COMPLETE" in script.out
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not installed")
    (folder / "script").write_text(script.out)
    subprocess.run([shell, "-n", "script"] if shell != "fish" else [shell, "--no-execute", "script"], cwd=folder, check=True)  # fmt: skip


@pytest.mark.parametrize(("words", "expected"), [("ev", "eval"), ("eval --out", "--output"), ("nonsense --x", "")])
def test_words_are_completed(tmp_path: Path, words: str, expected: str) -> None:
    given = ["evalsi", *words.split()]
    env = {"_EVALSI_COMPLETE": "bash_complete", "COMP_WORDS": " ".join(given), "COMP_CWORD": str(len(given) - 1)}
    ended = evalsi(cwd=tmp_path, env=env)
    assert expected in ended.out
    assert "Traceback" not in ended.err
    assert "unknown" not in ended.err


@pytest.mark.parametrize("arguments", [("version",), ("--version",)])
def test_the_version_is_printed(cli: Cli, arguments: tuple[str, ...]) -> None:
    ended = cli(*arguments)
    assert (ended.status, ended.out.strip()) == (0, __version__)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (
            ("eval", "--dta", "data.jsonl"),
            "error: no such option '--dta'; did you mean '--data', '--map', '--set'?; see: evalsi eval",
        ),
        (
            ("eval", "--evaluator", "x"),
            "error: no such option '--evaluator'; did you mean '--evaluators'?; see: evalsi eval",
        ),
        (("rewards", "scor"), "error: no such command 'scor'; did you mean 'score'?; see: evalsi rewards --help"),
        (
            ("eval",),
            "error: missing option '--data', as in: evalsi eval --data outputs.jsonl --evaluators exact-match,",
        ),
        (("report",), "error: missing option '-o' / '--out', as in: evalsi report latest -o report.html; see: evalsi"),
        (
            ("compare",),
            "error: missing argument 'BASELINE', as in: evalsi compare latest~1 latest; see: evalsi compare",
        ),
        (("eval", "--data", "x", "--evaluators", "y", "--format", "foo"), "error: invalid value for '--format': 'foo'"),
        (("runs", "shw"), "error: no such command 'shw'"),
        (("run", "a", "b"), "error: got unexpected extra argument (b); see: evalsi run --help"),
        (
            ("eval", "--data", "data.jsonl", "--evaluators", "exact-match,", "contains"),
            "error: got unexpected extra argument (contains); write a list without blanks, as in a,b; see: evalsi eval",
        ),
        (
            ("eval", "--data", "data.jsonl", "--evaluators", "exact-match", "--gate", "x"),
            "error: no such option '--gate'; gates are decided by evalsi run and evalsi compare; see: evalsi eval",
        ),
        (("serve", "--port", "80"), "error: no such option '--port'; write --listen 127.0.0.1:PORT; see: evalsi serve"),
    ],
)
def test_a_mistake_in_the_words_of_a_command_is_one_sentence(
    cli: Cli, arguments: tuple[str, ...], sentence: str
) -> None:
    ended = cli(*arguments)
    assert (ended.status, ended.out) == (2, "")
    (line,) = ended.err.splitlines()
    assert line.startswith(sentence)
    assert "--help" in line


def test_latest_is_a_name_that_is_found_when_it_is_misspelt(cli: Cli) -> None:
    kept(cli, "laster")
    ended = cli("report", "latst", "-o", "x.html")
    assert ended.status == 1
    assert re.search(r"no run 'latst'; did you mean 'latest', which is [0-9a-z]{20} \(laster, ", ended.err)


def test_who_takes_an_output_for_a_text_is_told_how_to_get_it(cli: Cli, folder: Path) -> None:
    (folder / "checks.py").write_text("def loud(record):\n    return record.output.isupper()\n")
    ended = cli("eval", "--data", "data.jsonl", "--evaluators", "./checks.py:loud")
    assert ended.status == 1
    assert "evalsi.text_of(record.output)" in ended.err


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_help(cli: Cli, name: str) -> None:
    for flag in ("--help", "-h"):
        ended = cli(name, flag)
        assert ended.status == 0
        assert ended.out.startswith("Usage: evalsi")


def test_examples_in_help_stand_on_lines_of_their_own(cli: Cli) -> None:
    pages = DEMO.parents[2] / "docs" / "reference" / "cli.md"
    assert "\\b" not in pages.read_text(encoding="utf-8")
    assert "\n  evalsi sandbox serve\n" in cli("sandbox", "serve", "--help").out


def test_help_lists_every_command_without_importing_one(tmp_path: Path) -> None:
    code = "import sys\nfrom evalsi.cli.app import run\nrun(['--help'])\nprint('numpy' in sys.modules, 'rich' in sys.modules, 'msgspec' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], env=environment(), cwd=tmp_path, capture_output=True, text=True, check=True)  # fmt: skip
    assert all(f"  {name} " in done.stdout for name in COMMANDS)
    assert done.stdout.splitlines()[-1] == "False False False"


def test_a_fault_of_ours_says_that_it_is_one(cli: Cli, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:  # fmt: skip
    monkeypatch.setattr("evalsi.cli.doctor.CHECKS", (lambda: 1 / 0,))
    with pytest.raises(ZeroDivisionError):
        cli("doctor")
    assert "this is a fault of evalsi" in capsys.readouterr().err


def test_labels_of_records_that_are_not_in_the_run_are_counted(cli: Cli, folder: Path) -> None:
    assert cli("eval", "--data", "data.jsonl", "--evaluators", "exact-match").status == 0
    (folder / "labels.csv").write_text("id,label\nfr,pass\njp,fail\ngone,pass\n")
    labels = ("judge", "calibrate", "--labels", "labels.csv", "--metric", "exact-match", "--passing-from", "0.5")
    wrong = cli(*labels)
    assert wrong.status == 2
    assert "name the right one: --record-column NAME; columns: id, label" in wrong.err
    ended = cli(*labels, "--record-column", "id", "--label-column", "label")
    assert ended.status == 0
    assert "note: 1 of 3 labelled records are not in the run" in ended.err


def test_an_exported_run_does_not_replace_its_dataset(cli: Cli, folder: Path) -> None:
    before = (folder / "data.jsonl").read_bytes()
    assert cli("eval", "--data", "data.jsonl", "--evaluators", "exact-match").status == 0
    ended = cli("runs", "export", "latest", "./data.jsonl")
    assert ended.status == 2
    assert "it is what is read" in ended.err
    assert (folder / "data.jsonl").read_bytes() == before


def test_a_specification_may_be_named_without_a_flag_but_only_one(cli: Cli, folder: Path) -> None:
    write_run(folder, right=2, wrong=0)
    assert cli("run", "run.json", "--quiet").status == 0
    two = cli("run", "run.json", "-f", "other.json")
    assert two.status == 2
    assert "two specifications" in two.err


def test_the_catalog_is_not_cut_where_nobody_looks_at_a_terminal(cli: Cli) -> None:
    listed = cli("catalog").out
    assert not any(line.rstrip().endswith("…") for line in listed.splitlines())
    assert all(each.description in listed for each in _definitions())


@pytest.mark.parametrize("flag", ["--seed", "--limit", "--sample"])
def test_a_number_beyond_64_bits_is_refused_by_its_flag(cli: Cli, flag: str) -> None:
    ended = cli("eval", "--data", "data.jsonl", "--evaluators", "exact-match", flag, "1" * 25)
    assert ended.status == 2
    assert f"{flag} is a number of 25 digits" in ended.err


def test_a_run_is_told_by_its_name_and_a_name_is_no_document(cli: Cli) -> None:
    graded = ("eval", "--data", "data.jsonl", "--evaluators", "exact-match", "--name")
    assert " (nightly) kept" in cli(*graded, "nightly").err
    refused = cli(*graded, "x" * 100_000)
    assert refused.status == 2
    assert len(refused.err) < 300


def _definitions() -> list[Any]:
    from evalsi.evaluators.catalog import every_definition

    return [each for _, each in every_definition("core")]


def test_the_catalog_is_searched_by_words(cli: Cli) -> None:
    found = cli("catalog", "--search", "JSON schema")
    assert "core/json-schema" in found.out
    assert "1 evaluator;" in found.err
    assert "core/json-valid" in cli("catalog", "--search", "json", "--pack", "core").out
    assert "no evaluator has nothing and such" in cli("catalog", "--search", "nothing such").err


def test_one_command_of_two_names_is_listed_once(cli: Cli) -> None:
    assert not re.search("^ +get ", cli("traces", "--help").out, re.MULTILINE)
    assert "Show TRACE" in cli("traces", "get", "--help").out


def test_an_empty_answer_is_shown_among_the_records_that_changed(cli: Cli, folder: Path) -> None:
    kept(cli, "before")
    rows = [json.loads(line) for line in (folder / "data.jsonl").read_text().splitlines()]
    rows[0]["output"] = ""
    (folder / "data.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    kept(cli, "after")
    assert re.search(r"baseline +Paris\n +candidate +no output", cli("compare", "before", "after").out)
    assert "- candidate: *no output*" in cli("compare", "before", "after", "--format", "md").out


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("runs", "list", "--label", "kind=z"), "no run is labelled kind=z; without --label all are listed"),
        (("runs", "show", "right", "--errors"), "no result is an error"),
        (("runs", "show", "right", "--failed"), "no verdict failed"),
        (("runs", "show", "right", "--errors", "--failed"), "no result is an error, and no verdict failed"),
    ],
)
def test_an_empty_answer_says_what_there_is_none_of(
    cli: Cli, folder: Path, arguments: tuple[str, ...], said: str
) -> None:
    (folder / "right.jsonl").write_text(json.dumps({"id": "a", "output": "x", "reference": "x"}))
    assert cli("eval", "--data", "right.jsonl", "--evaluators", "exact-match", "--name", "right").status == 0
    ended = cli(*arguments)
    assert (ended.status, ended.err) == (0, f"{said}\n")


def test_who_imports_a_results_file_is_told_what_to_import_and_how_to_write_it(cli: Cli) -> None:
    kept(cli, "alpha")
    assert cli("runs", "export", "alpha", "alpha.json").status == 0
    refused = cli("runs", "import", "alpha.json")
    assert refused.status != 0
    assert "'evalsi runs export RUN FILE.zip'" in refused.err
    assert ".zip, the whole run" in cli("runs", "export", "alpha", "alpha.txt").err
