"""`evalsi analyze`, `evalsi matrix` and the exchange of runs, as a person types them."""

import csv
import io
import json
from pathlib import Path

import pytest

from tests.command_line import evalsi_here

DATA = Path(__file__).parents[2] / "examples" / "demo" / "data"


@pytest.fixture(scope="module", name="demo_folder")
def _demo_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the runs aster and birch in its store and as files."""
    from tests.command_line import evalsi

    folder = tmp_path_factory.mktemp("analyze")
    for name in ("aster", "birch"):
        done = evalsi(
            "eval", "--data", str(DATA / f"{name}.jsonl"), "--evaluators", "exact-match,token-f1", "--name", name,
            "--label", f"assistant={name}", "--output", f"{name}.json", "--quiet", cwd=folder,
        )  # fmt: skip
        assert done.status == 0, done.err
    return folder


@pytest.fixture(autouse=True)
def _there(demo_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(demo_folder)
    for variable in ("EVALSI_DIR", "EVALSI_STORE", "EVALSI_HOME"):
        monkeypatch.delenv(variable, raising=False)


BY_NAME = "SELECT name, avg(number) AS mean FROM scores JOIN runs USING (run_id) WHERE metric = 'token-f1' GROUP BY name ORDER BY name"


def test_a_query_prints_a_table_csv_and_json_of_the_same_rows(capsys: pytest.CaptureFixture[str]) -> None:
    parsed = json.loads(evalsi_here(capsys, "analyze", "query", BY_NAME, "--format", "json").out)
    assert [row["name"] for row in parsed] == ["aster", "birch"]
    rows = list(csv.DictReader(io.StringIO(evalsi_here(capsys, "analyze", "query", BY_NAME, "--format", "csv").out)))
    assert [float(row["mean"]) for row in rows] == [row["mean"] for row in parsed]
    table = evalsi_here(capsys, "analyze", "query", BY_NAME)
    assert table.status == 0
    assert f"{parsed[0]['mean']:.3f}" in table.out


def test_json_never_holds_nan_and_keeps_columns_of_one_name(capsys: pytest.CaptureFixture[str]) -> None:
    sql = (
        "SELECT 'nan'::DOUBLE AS a, 'inf'::DOUBLE AS a, 1.5::DECIMAL(9, 2) AS d, labels, [1, 2] AS l, {'k': 'nan'::DOUBLE} AS s, "
        "170141183460469231731687303715884105727::HUGEINT AS h, DATE '2026-01-02' AS t, '\\x00'::BLOB AS b FROM runs LIMIT 1"
    )
    (row,) = json.loads(evalsi_here(capsys, "analyze", "query", sql, "--format", "json", "--run", "aster").out)
    assert row == {
        "a": None,
        "a_2": None,
        "d": 1.5,
        "labels": {"assistant": "aster"},
        "l": [1, 2],
        "s": {"k": None},
        "h": 2**127 - 1,
        "t": "2026-01-02",
        "b": "00",
    }


def test_an_empty_answer_is_an_empty_list(capsys: pytest.CaptureFixture[str]) -> None:
    done = evalsi_here(capsys, "analyze", "query", "SELECT 1 WHERE false", "--format", "json")
    assert json.loads(done.out) == []


def test_formulas_and_control_characters_are_harmless(capsys: pytest.CaptureFixture[str]) -> None:
    sql = "SELECT '=1+1' AS x, chr(27) || '[2J' AS y"
    assert "'=1+1" in evalsi_here(capsys, "analyze", "query", sql, "--format", "csv").out
    assert "\x1b" not in evalsi_here(capsys, "analyze", "query", sql).out


def test_runs_are_chosen_by_name_label_number_and_file(capsys: pytest.CaptureFixture[str]) -> None:
    names = "SELECT string_agg(name, ',' ORDER BY started_at) AS n FROM runs"

    def chosen(*arguments: str) -> str:
        return json.loads(evalsi_here(capsys, "analyze", "query", names, "--format", "json", *arguments).out)[0]["n"]

    assert chosen() == "aster,birch"
    assert chosen("--run", "aster") == "aster"
    assert chosen("--label", "assistant=birch") == "birch"
    assert chosen("--limit", "1") == "birch"
    assert chosen("--results", "a*.json") == "aster"
    assert chosen("--results", "a*.json", "--run", "birch") == "aster,birch"
    for arguments in (("--run", "nobody"), ("--label", "assistant=x"), ("--results", "none*.json")):
        done = evalsi_here(capsys, "analyze", "query", names, *arguments)
        assert done.status == 1
        assert done.err.startswith("error: ")


def test_a_kept_database_is_filled_once_and_opens_anywhere(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    path = tmp_path / "kept.duckdb"
    assert "2 runs read, 0 already there" in evalsi_here(capsys, "analyze", "query", BY_NAME, "--db", str(path)).err
    assert "0 runs read, 2 already there" in evalsi_here(capsys, "analyze", "query", BY_NAME, "--db", str(path)).err
    import duckdb

    with duckdb.connect(str(path), read_only=True) as connection:
        assert connection.execute("SELECT count(*) FROM scores").fetchone() == (640,)


def test_a_slice_prints_every_group_and_its_notes(capsys: pytest.CaptureFixture[str]) -> None:
    done = evalsi_here(
        capsys, "analyze", "slice", "token-f1", "--by", "metadata.topic,metadata.difficulty", "--run", "aster"
    )
    assert done.status == 0
    assert "billing" in done.out
    assert "(Holm)" in done.err
    rows = json.loads(
        evalsi_here(capsys, "analyze", "slice", "token-f1", "--by", "topic", "--level", "0.9", "--format", "json").out
    )
    assert {row["level"] for row in rows} == {0.9}
    assert sum(row["n"] for row in rows) == 320


@pytest.mark.parametrize(
    ("arguments", "status", "said"),
    [
        (("query", "SELECT nope FROM scores"), 2, "error: query:1:8: "),
        (("query", "COPY runs TO 'x.csv'"), 2, "not COPY"),
        (("query", "SELECT * FROM read_csv('/etc/passwd')"), 2, "nothing else"),
        (("slice", "token-f2", "--by", "topic"), 2, "did you mean 'token-f1'?"),
        (("slice", "token-f1", "--by", "topik"), 2, "did you mean 'topic'?"),
        (("slice", "token-f1", "--by", ","), 2, "--by"),
    ],
)
def test_what_is_wrong_is_one_sentence(
    arguments: tuple[str, ...], status: int, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    done = evalsi_here(capsys, "analyze", *arguments)
    assert done.status == status
    assert said in done.err
    assert done.err.count("\n") == 1
    assert done.out == ""


def test_a_matrix_prints_in_every_format(capsys: pytest.CaptureFixture[str]) -> None:
    for output_format in ("table", "json", "csv", "md"):
        done = evalsi_here(capsys, "matrix", "aster", "birch", "--metric", "token-f1", "--format", output_format)
        assert done.status == 0
        assert "REGRESSED" in done.out
    (row, _) = csv.DictReader(
        io.StringIO(evalsi_here(capsys, "matrix", "aster", "birch", "--metric", "token-f1", "--format", "csv").out)
    )
    assert row["run"] == "aster"


def test_a_matrix_gate_exits_3_on_a_regression_beyond_its_limit(capsys: pytest.CaptureFixture[str]) -> None:
    gate = ("matrix", "aster", "birch", "--metric", "token-f1", "--gate")
    assert evalsi_here(capsys, *gate).status == 3
    assert evalsi_here(capsys, *gate, "--max-regression", "0.5").status == 0
    assert evalsi_here(capsys, "matrix", "birch", "aster", "--metric", "token-f1", "--gate").status == 0


@pytest.mark.parametrize(
    "arguments",
    [
        ("aster", "--metric", "token-f1"),
        ("aster", "birch", "--metric", "nope"),
        ("aster", "birch", "--metric", "token-f1", "--max-regression", "0.1"),
        ("aster", "birch", "--metric", "token-f1", "--gate", "--against", "best"),
        ("aster", "birch", "--metric", "token-f1", "--by", "topik"),
    ],
)
def test_a_matrix_that_cannot_be_made_exits_2(arguments: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> None:
    done = evalsi_here(capsys, "matrix", *arguments)
    assert done.status == 2
    assert done.err.count("\n") == 1


def test_a_run_travels_to_another_store_as_one_file(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "aster.evalsi.zip"
    assert evalsi_here(capsys, "runs", "export", "aster", str(file)).status == 0
    before = evalsi_here(capsys, "runs", "show", "aster", "--format", "json").out
    again = evalsi_here(capsys, "runs", "import", str(file))
    assert (again.status, again.err.count("\n")) == (2, 1)
    assert "already" in again.err
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    done = evalsi_here(capsys, "runs", "import", str(file))
    assert done.status == 0, done.err
    assert "160 records" in done.err
    assert evalsi_here(capsys, "runs", "show", "aster", "--format", "json").out == before


def test_what_is_no_exported_run_is_refused(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert evalsi_here(capsys, "runs", "import", "aster.json").status == 2
    assert evalsi_here(capsys, "runs", "import", "none.zip").status == 1
    done = evalsi_here(capsys, "runs", "export", "aster.json", str(tmp_path / "x.zip"))
    assert (done.status, done.err.count("\n")) == (2, 1)
