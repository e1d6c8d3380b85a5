"""The tables hold what the runs hold, and a query can do nothing but read them."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from evalsi.analyze.choose_runs import ChosenRun
from evalsi.analyze.run_database import RunDatabase, run_database
from evalsi.analyze.run_tables import TABLES
from evalsi.core.errors import MissingExtraError, StoreError, UsageError
from evalsi.engine.columns import SCORED, Column, EvaluatorColumns
from evalsi.results.stored_rows import GradedRows
from evalsi.schema import Content, Message, Messages, RunManifest, Usage
from tests.analyze.made_runs import drawn_values, made_record, made_run
from tests.graded_runs import hostile_run

VALUES = drawn_values(120, seed=1)


@pytest.fixture(name="database", scope="module")
def _database() -> Iterator[RunDatabase]:
    with run_database(None) as database:
        database.load([ChosenRun(None, made_run(VALUES))])
        yield database


def rows_of(database: RunDatabase, sql: str) -> list[tuple[Any, ...]]:
    return [row for piece in database.ask(sql).pieces for row in piece]


def test_every_observation_and_score_is_a_row(database: RunDatabase) -> None:
    assert rows_of(database, 'SELECT count(*), count(DISTINCT record_id), max("row") FROM observations') == [
        (120, 120, 119)
    ]
    assert rows_of(database, "SELECT metric, count(*), count(number) FROM scores GROUP BY ALL ORDER BY ALL") == [
        ("passes", 120, 112),
        ("score", 120, 120),
    ]
    assert rows_of(database, "SELECT run_id, records, labels FROM runs") == [("run-a", 120, "{}")]


def test_numbers_are_those_of_the_run_to_the_last_bit(database: RunDatabase) -> None:
    for name, values in VALUES.items():
        found = rows_of(database, f"SELECT number FROM scores WHERE metric = '{name}' ORDER BY \"row\"")
        there = np.array([np.nan if number is None else number for (number,) in found])
        assert np.array_equal(there, values, equal_nan=True)


def test_what_was_not_scored_says_why_and_has_no_number(database: RunDatabase) -> None:
    found = rows_of(
        database,
        "SELECT outcome, count(*), count(number), bool_and(reason LIKE 'because of %'), any_value(error_kind), "
        "any_value(fault) FROM scores WHERE outcome <> 'scored' GROUP BY outcome ORDER BY outcome",
    )
    assert [row[2:4] for row in found] == [(0, True)] * 3
    assert {row[0]: row[4:] for row in found} == {
        "cancelled": (None, None),
        "error": ("judge_parse", "judge"),
        "skipped": (None, None),
    }


def test_durations_costs_and_explanations_of_evaluations_are_there(database: RunDatabase) -> None:
    found = rows_of(
        database,
        'SELECT duration_ms, cost_usd, explanation FROM scores WHERE metric = \'score\' AND "row" IN (0, 1) ORDER BY "row"',
    )
    assert found == [(2000.0, 0.25, "why"), (10.0, None, None)]


def test_observations_carry_texts_metadata_and_usage(database: RunDatabase) -> None:
    assert rows_of(
        database,
        "SELECT input, output, reference, metadata->>'topic', metadata->'deep'->>'level', cost_usd, latency_s, output_tokens "
        "FROM observations WHERE record_id = 'r4'",
    ) == [("question 4", "answer 4", None, "refunds", "t1", 0.004, 1.5, 4)]


def test_a_partly_priced_cost_is_no_cost() -> None:
    records = [made_record(row, usage=Usage(cost_usd=1.0, unpriced_requests=row)) for row in range(2)]
    run = made_run({"score": np.array([0.5, 0.5])}, records=records)
    with run_database(None) as database:
        database.load([ChosenRun(None, run)])
        assert rows_of(database, 'SELECT cost_usd FROM observations ORDER BY "row"') == [(1.0,), (None,)]


def test_messages_labels_structured_and_whole_results_are_rows_too() -> None:
    said = Content(
        messages=Messages(messages=[Message(role="user", content="hello"), Message(role="assistant", content="hi")])
    )
    run = made_run({"score": np.array([0.5, 0.5])}, records=[made_record(row, output=said) for row in range(2)])
    whole = EvaluatorColumns("f1", "test/f1@1.0.0", "f1", bytearray([SCORED]))
    whole.columns["f1"] = Column("f1", "number", [0.75])
    mixed = EvaluatorColumns("mixed", "test/mixed@1.0.0", "tone", bytearray([SCORED, SCORED]))
    nan = float("nan")
    mixed.columns["tone"] = Column("tone", "label", [nan, nan], ["polite", None])
    mixed.columns["parts"] = Column("parts", "structured", [nan, nan], [{"a": [1]}, None])
    rows = next(iter(run.read_rows()))
    rows.columns.append(mixed)
    with run_database(None) as database:
        database.load([ChosenRun(None, replace(run, read_rows=lambda: iter([rows]), whole=[whole]))])
        assert rows_of(database, "SELECT DISTINCT output FROM observations") == [("hi",)]
        assert rows_of(
            database,
            "SELECT metric, record_id, kind, label, structured, number FROM scores WHERE evaluator <> 'score' ORDER BY 1",
        ) == [
            ("f1", None, "number", None, None, 0.75),
            ("mixed", "r0", "label", "polite", None, None),
            ("mixed.parts", "r0", "structured", None, '{"a":[1]}', None),
        ]


@pytest.mark.parametrize("tells_trial", [True, False])
def test_trials_are_numbered_whether_records_tell_them_or_not(tells_trial: bool) -> None:
    values = drawn_values(60, seed=3)
    records = [made_record(row, trials=3, tells_trial=tells_trial) for row in range(60)]
    with run_database(None) as database:
        database.load([ChosenRun(None, made_run(values, records=records, trials=3))])
        for table in ("observations", "scores"):
            found = rows_of(database, f"SELECT record_id, list(DISTINCT trial ORDER BY trial) FROM {table} GROUP BY 1")
            assert len(found) == 20
            assert {tuple(trials) for _, trials in found} == {(0, 1, 2)}


def test_hostile_text_arrives_as_it_is() -> None:
    run = hostile_run()
    wanted = [record.id for rows in run.read_rows() for record in rows.records]
    with run_database(None) as database:
        database.load([ChosenRun(None, run)])
        assert [row[0] for row in rows_of(database, 'SELECT record_id FROM observations ORDER BY "row"')] == wanted


def test_a_kept_file_reads_a_run_once_and_a_changed_file_again(tmp_path: Path) -> None:
    path = tmp_path / "kept.duckdb"
    for share in (0.2, 0.9):
        values = drawn_values(40, seed=5, share=share)
        with run_database(path) as database:
            database.load([ChosenRun(None, made_run(values))])
            assert rows_of(database, "SELECT count(*) FROM runs") == [(1,)]
            (mean,) = rows_of(database, "SELECT avg(number) FROM scores WHERE metric = 'score'")[0]
            assert mean == pytest.approx(values["score"].mean(), rel=1e-12)
    assert list(tmp_path.iterdir()) == [path]


def test_a_run_that_breaks_while_it_is_read_leaves_nothing(tmp_path: Path) -> None:
    run = made_run(VALUES)

    def broken() -> Iterator[Any]:
        yield from list(run.read_rows())[:1]
        raise StoreError("the disk is gone")

    with run_database(tmp_path / "kept.duckdb") as database:
        with pytest.raises(StoreError, match="the disk is gone"):
            database.load([ChosenRun(None, replace(run, read_rows=broken))])
        assert rows_of(database, "SELECT (SELECT count(*) FROM scores), (SELECT count(*) FROM observations)") == [
            (0, 0)
        ]


def test_a_file_that_is_no_database_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "text.duckdb").write_text("hello" * 5000)
    with run_database(tmp_path / "text.duckdb") as database, pytest.raises(StoreError, match="no database"):
        database.load([])
    with pytest.raises(UsageError, match="no folder"), run_database(tmp_path / "absent" / "x.duckdb"):
        pass


def test_a_database_with_a_table_of_another_shape_is_refused(tmp_path: Path) -> None:
    import duckdb

    path = tmp_path / "other.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute("CREATE TABLE runs (a INTEGER)")
    with run_database(path) as database, pytest.raises(UsageError, match="'runs' with other columns"):
        database.load([])


HOSTILE = [
    "SELECT * FROM read_csv('/etc/passwd')",
    "SELECT * FROM read_text('/etc/passwd')",
    "SELECT * FROM read_blob('/etc/passwd')",
    "SELECT * FROM read_json_auto('/etc/hostname')",
    "SELECT * FROM parquet_scan('/etc/passwd')",
    "SELECT * FROM '/etc/passwd'",
    "SELECT * FROM glob('/etc/*')",
    "SELECT * FROM sqlite_scan('/etc/passwd', 'x')",
    "SELECT * FROM query('SELECT * FROM read_text(''/etc/passwd'')')",
    "SELECT getenv('HOME')",
    "SELECT * FROM HOSTILE",
    "WITH x AS (SELECT * FROM read_csv('/etc/passwd')) SELECT * FROM x",
    "COPY runs TO '{folder}/stolen.csv'",
    "COPY (SELECT 1) TO '{folder}/stolen.csv'",
    "EXPORT DATABASE '{folder}/stolen'",
    "INSTALL httpfs",
    "LOAD httpfs",
    "ATTACH '{folder}/other.duckdb' AS other",
    "ATTACH ':memory:' AS other",
    "DETACH runs",
    "USE memory",
    "PRAGMA database_list",
    "PRAGMA enable_external_access=true",
    "SET enable_external_access = true",
    "RESET enable_external_access",
    "CALL pragma_version()",
    "CREATE TABLE x AS SELECT 1",
    "CREATE TEMP TABLE x AS SELECT 1",
    "CREATE SECRET s (TYPE s3)",
    "INSERT INTO runs SELECT * FROM runs",
    "UPDATE scores SET number = 1",
    "DELETE FROM scores",
    "DROP TABLE scores",
    "TRUNCATE scores",
    "CHECKPOINT",
    "VACUUM",
    "SELECT 1; DROP TABLE scores",
    "PREPARE p AS SELECT 1",
    "BEGIN",
    "EXPLAIN ANALYZE COPY runs TO '{folder}/stolen.csv'",
    "EXPLAIN ANALYZE DELETE FROM scores",
    "",
    "   ;",
]


@pytest.mark.parametrize("sql", HOSTILE)
def test_a_query_that_wants_more_than_to_read_the_tables_is_refused(
    sql: str, database: RunDatabase, tmp_path: Path
) -> None:
    with pytest.raises(UsageError) as refused:
        rows_of(database, sql.format(folder=tmp_path))
    assert "\n" not in str(refused.value)
    assert list(tmp_path.iterdir()) == []
    assert rows_of(database, "SELECT count(*) FROM scores") == [(240,)]


@pytest.mark.parametrize(
    ("sql", "place", "word"),
    [
        ("SELECT nope FROM scores", "query:1:8", "nope"),
        ("SELECT 'é',\n  nope FROM scores", "query:2:3", "nope"),
        ("SELECT * FROM scorez", "query:1:15", "scores"),
        ("SELCT 1", "query:1:1", "SELCT"),
        ("SELECT sum(metric) FROM scores", "query:1:8", "sum"),
        ("SELECT 'a'::INT", "query:1:11", "convert"),
        ("SELECT metric::INT FROM scores", "query:1:14", "convert"),
    ],
)
def test_a_wrong_query_is_one_sentence_with_its_place(sql: str, place: str, word: str, database: RunDatabase) -> None:
    with pytest.raises(UsageError) as wrong:
        rows_of(database, sql)
    assert wrong.value.where == place
    assert word in str(wrong.value)
    assert "\n" not in str(wrong.value)


def test_a_placeholder_is_said_to_be_one(database: RunDatabase) -> None:
    with pytest.raises(UsageError, match="placeholder"):
        rows_of(database, "SELECT ?")


@pytest.mark.parametrize(
    "sql", ["DESCRIBE scores", "SUMMARIZE scores", "SHOW TABLES", "EXPLAIN SELECT 1", "FROM runs", "VALUES (1)"]
)
def test_looking_around_is_allowed(sql: str, database: RunDatabase) -> None:
    assert rows_of(database, sql)


def test_every_column_says_in_the_database_what_it_means(database: RunDatabase) -> None:
    found = rows_of(
        database,
        "SELECT table_name, column_name, comment FROM duckdb_columns() WHERE schema_name = 'main' AND NOT internal",
    )
    assert {(table, name): comment for table, name, comment in found} == {
        (table, column.name): column.meaning for table, columns in TABLES.items() for column in columns
    }


def test_a_large_answer_comes_in_pieces(database: RunDatabase) -> None:
    sizes = [len(piece) for piece in database.ask("SELECT i FROM range(5000) t(i)").pieces]
    assert sum(sizes) == 5000
    assert max(sizes) <= 1024


def test_without_the_extra_the_sentence_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    monkeypatch.setitem(sys.modules, "duckdb", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'evalsi\[analytics\]'"), run_database(None):
        pass


def test_a_run_without_a_manifest_bears_the_name_of_its_file() -> None:
    run = replace(made_run(VALUES), source="nightly/results.json", manifest=RunManifest())
    with run_database(None) as database:
        assert database.load([ChosenRun(None, run)]).run_ids == ["nightly/results.json"]


@pytest.mark.slow
def test_what_was_inserted_is_let_go_while_the_run_is_still_read() -> None:
    """By Arrow's own count: 100,000 outputs of 400 characters pass, a gathered batch of 16,384 is held."""
    import pyarrow as pa

    held: list[int] = []
    values = [0.5] * 1000

    def read() -> Iterator[GradedRows]:
        for segment in range(100):
            held.append(pa.total_allocated_bytes())
            lines = [f'{{"id":"{segment}-{row}","output":{{"text":"{"x" * 400}{row}"}}}}' for row in range(1000)]
            columns = EvaluatorColumns("score", "test/score@1.0.0", "score", bytearray([SCORED]) * 1000)
            columns.columns["score"] = Column("score", "number", values)
            yield GradedRows(segment * 1000, "\n".join(lines).encode(), [columns])

    run = replace(made_run({"score": np.array([0.5])}), read_rows=read)
    with run_database(None) as database:
        database.load([ChosenRun(None, run)])
        assert rows_of(database, "SELECT count(*), count(DISTINCT record_id) FROM observations") == [(100_000, 100_000)]
    assert max(held) - held[0] < 30_000_000
