"""`evalsi eval`: exit statuses, messages for mistakes, formats, files."""

import csv
import io
import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from evalsi.cli.app import run
from evalsi.evaluators.builtin import OF_OTHER_TOOLS
from evalsi.evaluators.catalog import load
from tests.command_line import DATA, Ended, command, environment, evalsi, write_jsonl

Cli = Callable[..., Ended]
EVAL = ("eval", "--data", "data.jsonl", "--evaluators")


def _too_long() -> str:
    """A condition of 10^7 steps."""
    condition = "true"
    for variable in "abcdefg":
        condition = f"[0,1,2,3,4,5,6,7,8,9].all({variable}, {condition})"
    return condition


def test_scored_records_end_with_0_and_say_what_to_do_next(cli: Cli) -> None:
    ended = cli(*EVAL, "exact-match,numeric-match")
    assert ended.status == 0
    assert "exact-match" in ended.out
    assert re.search(r"next: evalsi report [0-9a-z]{8} -o report.html", ended.err)


def test_the_hint_that_is_printed_can_be_used(cli: Cli, folder: Path) -> None:
    hint = re.search(r"next: evalsi (.*)", cli(*EVAL, "exact-match").err)
    assert hint
    assert cli(*hint[1].split()).status == 0
    assert (folder / "report.html").read_text().startswith("<!doctype html>")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((*EVAL, "exactmatch"), "unknown evaluator 'exactmatch'; did you mean 'exact-match'?"),
        ((*EVAL, "llm-rubric"), "unknown evaluator 'llm-rubric'; see: evalsi catalog"),
        ((*EVAL, "./polite.py"), "write ./polite.py:NAME; it has polite"),
        ((*EVAL, "./polite.py:of_output"), "asks for an argument 'output' that nothing provides"),
        ((*EVAL, "./polite.py:of_output"), "write record.output"),
        ((*EVAL, "./polite.py:of_row"), "call its argument record, not row"),
        ((*EVAL, "exact-match@9.0.0"), "version 9.0.0 is not installed"),
        ((*EVAL, "core/exact-mach"), "did you mean"),
        ((*EVAL, "contains,contains", "--param", "contains.substring=x"), "two evaluators report as 'contains'"),
        ((*EVAL, "contains", "--param", "contains.substrin=x"), "unknown param of contains 'substrin'; did you mean"),
        ((*EVAL, "exact-match", "--param", "exactmatch.x=1"), "did you mean 'exact-match'?"),
        ((*EVAL, "exact-match", "--param", "nonsense"), "write evaluator.key=value"),
        ((*EVAL, "token-f1", "--param", 'token-f1.normalize="maybe"'), "token-f1"),
        ((*EVAL, "regex-match", "--param", "regex-match.pattern=("), "regex-match"),
        ((*EVAL, "exact-match", "--map", "input=questoin"), "questoin"),
        ((*EVAL, "exact-match", "--map", "inptu=input"), "inptu"),
        ((*EVAL, "exact-match", "--map", "input"), "write field=column"),
        ((*EVAL, "exact-match", "--where", "metadata.topic =="), "where"),
        ((*EVAL, "exact-match", "--where", "row.nonsense == 1"), "nonsense"),
        ((*EVAL, "exact-match", "--set", "concurency=3"), "did you mean 'concurrency'?"),
        ((*EVAL, "exact-match", "--set", "concurrency=0"), "concurrency: a number above 0 is needed"),
        ((*EVAL, "exact-match", "--set", "deadline_s=-1"), "deadline_s"),
        ((*EVAL, "exact-match", "--set", "deadline_s=soon"), "deadline_s"),
        ((*EVAL, "exact-match", "--set", "plan.level=2"), "confidence"),
        ((*EVAL, "exact-match", "--set", "dataset.limit=0"), "limit must be at least 1"),
        ((*EVAL, "exact-match", "--set", "judge.max_usd=-3"), "judge.max_usd"),
        ((*EVAL, "exact-match", "--set", "nothing"), "write path=value"),
        ((*EVAL, "exact-match", "--cluster-by", "topik"), "did you mean 'topic'?"),
        ((*EVAL, "exact-match", "--label", "x"), "write key=value"),
        ((*EVAL, "exact-match", "--output", "r.xls"), "use one of .json, .jsonl, .csv, .parquet"),
        ((*EVAL, "exact-match", "--output", "data.jsonl/r.json"), "data.jsonl"),
        ((*EVAL, "exact-match", "--report", "r.pdf"), "r.pdf"),
        ((*EVAL, "exact-match", "--confidence", "1.5"), "1.5"),
        ((*EVAL, "exact-match", "--limit", "x"), "'x' is not a valid integer"),
        ((*EVAL, "exact-match", "--formt", "json"), "--format"),
        ((*EVAL, ","), "no evaluator was named"),
        ((*EVAL, "llm-judge"), "there is no default judge"),
        ((*EVAL, "llm-judge", "--judge-provider", "openai-compatible"), "--judge-model NAME"),
        ((*EVAL, "llm-judge", "--judge-provider", "anthropic", "--judge-model", "m"), "ANTHROPIC_API_KEY is not set"),
        ((*EVAL, "llm-judge", "--judge-provider", "recorded"), "--judge-recording FILE"),
        (("evl",), "did you mean 'eval'?"),
        (("eval", "--data", "data.jsonl"), "--evaluators"),
        ((*EVAL, "exact-match", "--data", "other.jsonl"), "--data was given twice"),
        ((*EVAL, "exact-match", "--limit", "1", "--limit", "2"), "--limit was given twice"),
        ((*EVAL, "exact-match", "--output", "data.jsonl"), "data.jsonl would be replaced"),
        ((*EVAL, "exact-match", "--where", _too_long()), "cannot be evaluated: Iteration budget exceeded"),
        (("eval", "--data", "https://example.org/x.jsonl", "--evaluators", "exact-match"), "example.org"),
        (("runs", "lst"), "lst"),
        (("catalog", "exact-mach"), "did you mean 'exact-match'?"),
        (("catalog", "--pack", "txt"), "did you mean 'text'?"),
    ],
)
def test_a_mistake_is_one_sentence_that_names_the_way_out(
    cli: Cli, folder: Path, arguments: tuple[str, ...], said: str
) -> None:
    (folder / "polite.py").write_text(
        "from evalsi import evaluator\n\n@evaluator\ndef polite(record):\n    return True\n\n"
        "def of_output(output):\n    return True\n\ndef of_row(row, strict):\n    return True\n"
    )
    ended = cli(*arguments)
    assert ended.status == 2
    assert said in ended.err
    assert "Traceback" not in ended.err
    assert ended.out == ""


@pytest.mark.parametrize("name", ["./checks.py", "no_such_module"])
def test_evaluators_that_are_not_there_are_a_mistake_in_what_was_asked(cli: Cli, name: str) -> None:
    ended = cli(*EVAL, f"{name}:polite")
    assert ended.status == 2
    assert f"'{name.removeprefix('./')}'" in ended.err
    assert ended.out == ""


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("eval", "--data", "dta.jsonl", "--evaluators", "exact-match"), "dta.jsonl"),
        (("compare", "a", "b"), "evalsi eval"),
        (("report", "nothing", "-o", "r.html"), "evalsi eval"),
    ],
)
def test_what_is_not_there_is_named_and_ends_with_1(cli: Cli, arguments: tuple[str, ...], said: str) -> None:
    ended = cli(*arguments)
    assert ended.status == 1
    assert said in ended.err
    assert ended.out == ""


def test_nothing_is_kept_of_a_run_that_was_refused(cli: Cli) -> None:
    cli(*EVAL, "exact-match", "--cluster-by", "topik")
    assert cli("runs", "list").err.startswith("no runs yet")


def test_a_request_that_cannot_be_read_does_not_even_make_a_store(cli: Cli, folder: Path) -> None:
    cli(*EVAL, "contains,contains")
    assert not (folder / ".evalsi").exists()


@pytest.mark.parametrize(
    ("text", "where"),
    [
        ('{"id": "a", "output": "x"}\n{"id": "b", "output": }\n', "broken.jsonl:2:"),
        ('{"id": "a", "output": "x"}\n[1, 2]\n', "broken.jsonl:2"),
        ('{"id": "a"}\n{"id": "a"}\n', "broken.jsonl:2"),
        ("", "broken.jsonl"),
    ],
)
def test_a_broken_line_is_named_by_file_line_and_column(cli: Cli, folder: Path, text: str, where: str) -> None:
    (folder / "broken.jsonl").write_text(text)
    ended = cli("eval", "--data", "broken.jsonl", "--evaluators", "exact-match")
    assert ended.status == 2
    assert where in ended.err


def test_broken_rows_can_be_left_out(cli: Cli, folder: Path) -> None:
    (folder / "broken.jsonl").write_text('{"id":"a","output":"x","reference":"x"}\n{oops\n')
    ended = cli("eval", "--data", "broken.jsonl", "--evaluators", "exact-match", "--skip-invalid", "--format", "json")
    assert ended.status == 0
    assert json.loads(ended.out)[0]["n"] == 1


def test_everything_skipped_is_an_error_with_the_commonest_reason(cli: Cli, folder: Path) -> None:
    rows = [{"id": "a"}, *({"id": str(i), "output": "x"} for i in range(3))]
    write_jsonl(folder / "bare.jsonl", rows)
    ended = cli("eval", "--data", "bare.jsonl", "--evaluators", "exact-match")
    assert ended.status == 1
    assert "nothing was scored; the commonest reason: the record has no reference" in ended.err
    assert "NaN" not in ended.out


def test_everything_failed_is_an_error_that_quotes_one_record(cli: Cli, folder: Path) -> None:
    (folder / "checks.py").write_text("def broken(record):\n    raise RuntimeError('no')\n")
    ended = cli(*EVAL, "./checks.py:broken")
    assert ended.status == 1
    assert "nothing was scored; the commonest reason: exception, e.g. record fr: RuntimeError: no" in ended.err


def test_one_failed_record_is_quoted(cli: Cli, folder: Path) -> None:
    (folder / "checks.py").write_text(
        "def picky(record):\n    assert record.id != 'jp', 'not\x1b[2J Tokyo'\n    return 1\n"
    )
    ended = cli(*EVAL, "./checks.py:picky")
    assert ended.status == 0
    assert (
        "1 result is an error (exception); it is in no mean\n  e.g. record jp: AssertionError: not\\x1b[2J Tokyo"
        in ended.err
    )


def test_a_field_that_no_record_has_is_answered_with_the_columns_there_are(cli: Cli, folder: Path) -> None:
    (folder / "qa.csv").write_text("question,answer\nCapital of Peru?,Lima\n")
    ended = cli("eval", "--data", "qa.csv", "--evaluators", "json-valid")
    assert ended.status == 1
    assert "other columns are question, answer; name the right one: --map output=answer" in ended.err


def test_every_field_that_is_missing_is_proposed_a_column_of_its_own(cli: Cli, folder: Path) -> None:
    (folder / "faq.csv").write_text("qid,Question,Ground Truth,bot_answer\n1,Capital of Peru?,Lima,Lima\n")
    ended = cli("eval", "--data", "faq.csv", "--evaluators", "exact-match")
    assert ended.status == 1
    assert "name the right ones: --map 'reference=Ground Truth' --map output=bot_answer" in ended.err
    mapped = ("--map", "reference=Ground Truth", "--map", "output=bot_answer")
    assert cli("eval", "--data", "faq.csv", "--evaluators", "exact-match", *mapped).status == 0


@pytest.mark.parametrize(("name", "meant"), sorted(OF_OTHER_TOOLS.items()))
def test_what_other_tools_call_an_evaluator_leads_to_ours(cli: Cli, folder: Path, name: str, meant: str) -> None:
    load(meant)
    ended = cli("eval", "--data", "data.jsonl", "--evaluators", name)
    assert (ended.status, f"did you mean {meant!r}?" in ended.err) == (2, True)


def test_evaluators_named_in_two_flags_are_both_used(cli: Cli) -> None:
    ended = cli(*EVAL, "exact-match,token-f1", "--evaluators", "numeric-match", "--format", "json")
    assert [summary["metric"] for summary in json.loads(ended.out)] == ["exact-match", "token-f1", "numeric-match"]


def test_closed_standard_streams_lose_nothing(folder: Path) -> None:
    line = " ".join([*command(*EVAL, "exact-match"), "--output", "out.json", "<&- >&- 2>&-"])
    assert subprocess.run(["sh", "-c", line], cwd=folder, env=environment(), check=False).returncode == 0
    assert json.loads((folder / "out.json").read_text())["summaries"][0]["n"] == 4
    assert evalsi("runs", "list", cwd=folder).out.count("exact-match 0.500") == 1


def test_a_file_that_cannot_be_written_is_named_and_the_run_is_kept(cli: Cli, folder: Path) -> None:
    limit = f"ulimit -f 400; exec {' '.join(command(*EVAL, 'wide=exact-match', '--output', 'out.jsonl'))}"
    write_jsonl(
        folder / "data.jsonl", [{"id": "é" * 400 + str(i), "output": "a", "reference": "a"} for i in range(1800)]
    )
    ended = subprocess.run(
        ["sh", "-c", limit], cwd=folder, env=environment(), capture_output=True, text=True, check=False
    )
    assert ended.returncode == 1
    assert "is kept; its results: evalsi runs export" in ended.stderr
    assert "error: out.jsonl: File too large" in ended.stderr
    assert not list(folder.glob("*out*"))


@pytest.mark.skipif(os.fsencode("é") != b"\xc3\xa9", reason="file names are not UTF-8 here")
def test_a_dataset_whose_name_is_no_unicode_is_graded_and_listed(folder: Path) -> None:
    name = b"caf\xe9.jsonl"
    with open(os.fsencode(folder) + b"/" + name, "wb") as file:  # noqa: PTH123 - the name is bytes
        file.write((folder / "data.jsonl").read_bytes())
    ended = subprocess.run(
        [*command("eval", "--data"), name, "--evaluators", "exact-match"],
        cwd=folder, env=environment(), capture_output=True, check=False,
    )  # fmt: skip
    assert ended.returncode == 0, ended.stderr
    assert "caf\ufffd.jsonl" in evalsi("runs", "list", "--format", "json", cwd=folder).out


def test_one_metric_without_data_beside_one_with_data_is_fine(cli: Cli) -> None:
    ended = cli(*EVAL, "exact-match,latency", "--format", "json")
    assert ended.status == 0
    summaries = {summary["metric"]: summary for summary in json.loads(ended.out)}
    assert summaries["latency"]["n"] == 0
    assert summaries["latency"].get("mean") is None


@pytest.mark.parametrize("output_format", ["json", "csv", "md", "table"])
def test_every_format_says_the_same(cli: Cli, output_format: str) -> None:
    ended = cli(*EVAL, "exact-match,contains", "--param", "contains.substring=4", "--format", output_format)
    match output_format:
        case "json":
            found = {s["metric"]: s["n"] for s in json.loads(ended.out)}
        case "csv":
            found = {row["metric"]: int(row["n"]) for row in csv.DictReader(io.StringIO(ended.out))}
        case "md":
            cells = [line.strip("| ").split(" | ") for line in ended.out.splitlines()[2:]]
            found = {row[0]: int(row[1]) for row in cells}
        case _:
            found = {line.split()[0]: int(line.split()[1]) for line in ended.out.splitlines()[1:]}
    assert found == {"exact-match": 4, "contains": 4}


@pytest.mark.parametrize("ending", [".json", ".jsonl", ".csv", ".parquet"])
def test_every_file_format_holds_every_record(cli: Cli, folder: Path, ending: str) -> None:
    path = folder / "deep" / "folder" / f"results{ending}"
    assert cli(*EVAL, "exact-match", "--output", str(path)).status == 0
    match ending:
        case ".json":
            document = json.loads(path.read_text())
            ids = [record["id"] for record in document["records"]]
            assert [result["record_id"] for result in document["results"]] == ids
        case ".jsonl":
            ids = [json.loads(line)["record_id"] for line in path.read_text().splitlines()]
        case ".csv":
            with path.open(encoding="utf-8", newline="") as file:
                ids = [row["record_id"] for row in csv.DictReader(file)]
        case _:
            import pyarrow.parquet as parquet

            ids = parquet.read_table(path).column("record_id").to_pylist()
    assert ids == [row["id"] for row in DATA]
    assert [each.name for each in path.parent.iterdir()] == [path.name]


def test_quiet_says_nothing_but_the_table(cli: Cli) -> None:
    ended = cli(*EVAL, "exact-match", "--quiet")
    assert ended.err == ""
    assert ended.out


def test_set_reaches_every_option_by_its_path(cli: Cli) -> None:
    ended = cli(*EVAL, "exact-match", "--set", "summary.level=0.8", "--set", "name=mine", "--set", "dataset.limit=2")
    assert "80% CI" in ended.out
    listed = json.loads(cli("runs", "list", "--format", "json").out)
    assert (listed[0]["name"], listed[0]["rows"]) == ("mine", 2)


@pytest.mark.parametrize(("flag", "n"), [("--where", 2), ("--limit", 3), ("--sample", 2)])
def test_a_part_of_the_data_can_be_chosen(cli: Cli, flag: str, n: int) -> None:
    value = 'metadata.topic == "cities"' if flag == "--where" else str(n)
    ended = cli(*EVAL, "exact-match", flag, value, "--format", "json")
    assert json.loads(ended.out)[0]["n"] == n


def test_a_param_is_typed_by_what_the_evaluator_declares(cli: Cli) -> None:
    text = cli(*EVAL, "contains", "--param", "contains.substring=42", "--format", "json")
    assert json.loads(text.out)[0]["mean"] == 0.25
    quoted = cli(*EVAL, "contains", "--param", 'contains.substring="42"', "--format", "json")
    assert json.loads(quoted.out)[0]["mean"] == 0.25
    wrong = cli(*EVAL, "numeric-match", "--param", "numeric-match.tolerance=wide")
    assert wrong.status == 2
    assert "numeric-match" in wrong.err


def test_a_param_goes_by_the_evaluators_own_name_or_by_its_alias(cli: Cli, folder: Path) -> None:
    (folder / "checks.py").write_text(
        "import msgspec\nfrom evalsi import evaluator, text_of\n"
        "class P(msgspec.Struct, kw_only=True):\n    most: int = 100\n"
        "@evaluator(name='brief', params=P)\n"
        "def some_function(record, params):\n    return len(text_of(record.output)) <= params.most\n"
    )
    own = cli(*EVAL, "./checks.py:some_function", "--param", "brief.most=2", "--format", "json")
    assert [(s["metric"], s["mean"]) for s in json.loads(own.out)] == [("brief", 0.25)]
    alias = cli(*EVAL, "b=./checks.py:some_function", "--param", "b.most=2", "--format", "json")
    assert [(s["metric"], s["mean"]) for s in json.loads(alias.out)] == [("b", 0.25)]


def test_a_metric_keeps_its_alias_with_several_outputs(cli: Cli) -> None:
    ended = cli(*EVAL, "r=rouge", "--format", "json")
    assert {s["metric"] for s in json.loads(ended.out)} >= {"r.rouge1", "r.rougeL"}


def test_the_manifest_holds_the_command_without_credentials(cli: Cli) -> None:
    judge = ("--judge-provider", "openai-compatible", "--judge-model", "m", "--judge-base-url", "http://127.0.0.1:9/v1")
    cli(*EVAL, "exact-match", *judge, "--judge-max-tokens", "77", "--label", "api_key=hush")
    shown = cli("runs", "show", "--manifest").out
    manifest = json.loads(shown)
    assert manifest["argv"][:2] == ["evalsi", "eval"]
    assert manifest["argv"][manifest["argv"].index("--judge-max-tokens") + 1] == "77"
    assert "api_key=***" in manifest["argv"]


def test_an_address_with_credentials_is_refused_and_not_repeated(cli: Cli, folder: Path) -> None:
    judge = ("--judge-provider", "openai-compatible", "--judge-model", "m", "--judge-base-url", "http://me:hush@x/v1")
    ended = cli(*EVAL, "exact-match", *judge)
    assert ended.status == 2
    assert "hush" not in ended.err
    assert not (folder / ".evalsi").exists()


def test_a_default_judge_is_not_asked_for_its_key_by_evaluators_without_one(
    cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EVALSI_JUDGE_PROVIDER", "anthropic")
    monkeypatch.setenv("EVALSI_JUDGE_MODEL", "m")
    monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)
    assert cli(*EVAL, "exact-match").status == 0
    judged = cli(*EVAL, "llm-judge")
    assert judged.status == 2
    assert "ANTHROPIC_API_KEY" in judged.err


def test_data_comes_from_standard_input(tmp_path: Path) -> None:
    text = '{"id":"a","output":"x","reference":"x"}\n'
    ended = evalsi("eval", "--data", "-", "--evaluators", "exact-match", "--format", "json", cwd=tmp_path, stdin=text)
    assert ended.status == 0
    assert json.loads(ended.out)[0]["mean"] == 1


def test_piped_output_has_no_progress_and_no_escape_codes(tmp_path: Path) -> None:
    write_jsonl(tmp_path / "data.jsonl")
    ended = evalsi(*EVAL, "exact-match", cwd=tmp_path)
    assert ended.status == 0
    for text in (ended.out, ended.err):
        assert "\x1b" not in text
        assert "\r" not in text


def on_a_terminal(cwd: Path, *arguments: str, env: dict[str, str] | None = None) -> str:
    """What a command writes to a terminal that is its output and error at once."""
    import pty

    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        command(*arguments), cwd=cwd, env=environment({"TERM": "xterm"} | (env or {})), stdin=theirs, stdout=theirs, stderr=theirs
    )  # fmt: skip
    os.close(theirs)
    said = b""
    while True:
        try:
            piece = os.read(ours, 65536)
        except OSError:
            break
        if not piece:
            break
        said += piece
    os.close(ours)
    assert process.wait(timeout=30) == 0
    return said.decode()


def test_a_terminal_gets_colours_unless_they_are_not_wanted(tmp_path: Path) -> None:
    write_jsonl(tmp_path / "data.jsonl")
    assert "\x1b[1m" in on_a_terminal(tmp_path, *EVAL, "exact-match")
    plain = on_a_terminal(tmp_path, *EVAL, "exact-match", env={"NO_COLOR": "1"})
    assert not re.search(r"\x1b\[3\dm", plain)


def test_a_reader_that_stops_early_is_no_error_of_ours(tmp_path: Path) -> None:
    rows = "\n".join(f'{{"id":"{i}","output":"x","reference":"y"}}' for i in range(2000))
    (tmp_path / "data.jsonl").write_text(rows)
    for arguments in ("catalog", "--help", f"{' '.join(EVAL)} exact-match"):
        # Nothing reads the pipe: every write into it fails, the first as well as the last at exit.
        line = f"{sys.executable} -u -m evalsi {arguments} > >(exec true)"
        done = subprocess.run(
            ["bash", "-c", line],
            cwd=tmp_path,
            env=environment(),
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        assert not re.search("Traceback|Exception ignored|error", done.stderr), done.stderr


def test_a_full_disk_is_a_sentence(tmp_path: Path) -> None:
    if not Path("/dev/full").exists():
        pytest.skip("there is no /dev/full here")
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            command("catalog", "--format", "json"), cwd=tmp_path, env=environment(), stdout=full, stderr=subprocess.PIPE,
            text=True, timeout=60, check=False,
        )  # fmt: skip
    assert done.returncode != 0
    assert "Traceback" not in done.stderr
    assert "No space left" in done.stderr


COMMANDS_THAT_PRINT = (
    (*EVAL, "exact-match,latency"),
    ("compare", "latest~1", "latest"),
    ("compare", "latest~1", "latest", "--format", "md"),
    ("compare", "latest~1", "latest", "--format", "json"),
    ("runs", "list"),
    ("runs", "show", "--format", "md"),
    ("report", "latest", "-o", "-"),
    ("catalog",),
    ("catalog", "exact-match"),
    ("doctor",),
)


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "cp1252"])
@pytest.mark.parametrize("arguments", COMMANDS_THAT_PRINT, ids=" ".join)
def test_any_encoding_of_standard_output_will_do(
    cli: Cli, monkeypatch: pytest.MonkeyPatch, encoding: str, arguments: tuple[str, ...]
) -> None:
    for name in ("a", "b"):
        cli(*EVAL, "exact-match", "--name", f"run–{name}→é")
    written = io.BytesIO()
    with monkeypatch.context() as patch:
        patch.setattr(sys, "stdout", io.TextIOWrapper(written, encoding=encoding))
        patch.setattr(sys, "stderr", io.TextIOWrapper(io.BytesIO(), encoding=encoding))
        assert run(arguments) == 0
        sys.stdout.flush()
        said = written.getvalue().decode(encoding)
        sys.stdout.detach()  # type: ignore[union-attr]
    assert said.strip()
    if arguments[0] == "eval":
        assert "o" in said.splitlines()[1]
    if "json" in arguments:
        assert json.loads(said)["candidate"] == "run–b→é"


def test_an_ascii_terminal_is_told_by_the_environment(tmp_path: Path) -> None:
    write_jsonl(tmp_path / "data.jsonl")
    env = {"PYTHONIOENCODING": "ascii"}
    ended = evalsi(*EVAL, "exact-match", "--name", "–", cwd=tmp_path, env=env, encoding="ascii")
    assert ended.status == 0
    assert re.search(r"\[-*o-*\]", ended.out)


WORDS = st.text(st.characters(codec="utf-8", exclude_characters="\x00"), max_size=12)
PIECES = st.lists(
    st.one_of(WORDS, st.sampled_from(["=", ".", "input", "exact-match", "contains.substring", "metadata.topic", "{", "}", '"', "[", "1", "-1", "null", "true", "1e999", "plan.level", "judge.max_usd", "dataset.mapping", "concurrency", "(", "==", "in", "size(", "🦑"])),
    max_size=6,
).map("".join)  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("flag", ["--where", "--map", "--param", "--set"])
def test_whatever_is_written_in_a_flag_is_answered_and_never_with_a_traceback(cli: Cli, flag: str) -> None:
    @settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
    @given(PIECES)
    def check(text: str) -> None:
        ended = cli(*EVAL, "exact-match,contains", "--param", "contains.ignore_case=true", "--limit", "2", flag, text)
        assert ended.status in (0, 1, 2)

    check()


def test_foreign_code_that_ends_the_process_is_never_a_success(cli: Cli, folder: Path) -> None:
    (folder / "checks.py").write_text(
        "class leaves:\n    def __init__(self): raise SystemExit(0)\n    def evaluate(self, record): return 1\n"
    )
    assert cli(*EVAL, "./checks.py:leaves").status == 1


def test_no_name_moves_the_cursor_of_a_terminal(cli: Cli, folder: Path) -> None:
    hostile = "\x1b[2J\u202ename"
    assert cli(*EVAL, "exact-match", "--name", hostile).status == 0
    (folder / f"{hostile}.jsonl").write_text("{oops")
    said = [
        cli("runs", "list"),
        cli("runs", "show"),
        cli("report", "nosuch", "-o", "x.html"),
        cli("runs", "rm", "latest"),
    ]
    said.append(cli("eval", "--data", f"{hostile}.jsonl", "--evaluators", "exact-match"))
    for ended in said:
        assert "\x1b" not in ended.out + ended.err
        assert "\u202e" not in ended.out + ended.err
        assert "\\x1b[2J\\u202ename" in ended.out + ended.err


def test_a_label_of_any_length_leaves_the_table_a_table(cli: Cli, folder: Path) -> None:
    (folder / "checks.py").write_text("def wordy(record):\n    return 'label' + 'x' * 100_000\n")
    ended = cli(*EVAL, "./checks.py:wordy")
    assert max(map(len, ended.out.splitlines())) <= 100
    assert "labelxxx" in ended.out


def test_rows_that_are_left_out_are_named_by_command_run_and_report(cli: Cli, folder: Path) -> None:
    rows = (folder / "data.jsonl").read_text()
    (folder / "data.jsonl").write_text(rows + '{"id": "fr", "output": "Lyon"}\n{bad\n')
    ended = cli(*EVAL, "exact-match", "--skip-invalid", "--report", "report.md", "--quiet")
    said = "2 rows are left out: data.jsonl:5: id 'fr' is already used at data.jsonl:1; data.jsonl:6:2: not JSON"
    assert f"warning: {said}" in ended.err
    assert said in cli("runs", "show").err
    assert "data.jsonl:5" in (folder / "report.md").read_text()
    assert json.loads(cli("runs", "show", "--manifest").out)["dataset"]["rejected"] == 2


def test_the_records_that_failed_are_listed_with_why(cli: Cli, folder: Path) -> None:
    (folder / "checks.py").write_text("def picky(record):\n    return 1 / (record.id != 'fr')\n")
    assert cli(*EVAL, "exact-match,./checks.py:picky").status == 0
    shown = cli("runs", "show")
    assert "1 result is an error (exception); it is in no mean" in shown.err
    assert "record fr: " in shown.err
    errors = cli("runs", "show", "--errors").out
    assert re.search(r"^fr +picky +exception +.*division by zero", errors, re.MULTILINE)
    assert "jp" not in errors
    failed = cli("runs", "show", "--failed").out
    assert re.search(r"^jp +exact-match +failed +output: Kyoto; reference: Tokyo$", failed, re.MULTILINE)
    assert "picky" not in failed
    both = cli("runs", "show", "--errors", "--failed", "--limit", "1")
    assert len(both.out.splitlines()) == 2
    assert "and 2 more" in both.err
    assert cli(*EVAL, "refusal", "--name", "undirected").status == 0
    assert "refusal" not in cli("runs", "show", "undirected", "--failed").out
