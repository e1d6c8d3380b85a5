"""The JUnit file: what CI systems are told of a run, and that nothing in a record can break the file."""

import tracemalloc
from datetime import timedelta
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalsi.compare.compare_runs import compare_runs
from evalsi.engine.columns import ERROR, SCORED, SKIPPED, pack
from evalsi.evaluators.api import evaluator, output
from evalsi.report.junit import write_junit
from evalsi.report.write import write_report
from evalsi.results.graded_run import GradedRun
from evalsi.results.stored_rows import GradedRows, encode_records
from evalsi.schema import (
    ConfidenceInterval,
    Content,
    Gate,
    GateResult,
    GateVerdict,
    MetricSummary,
    Provenance,
    Record,
    RunManifest,
    RunProvenance,
)
from tests.graded_runs import HOSTILE, demo_run, gate, graded_run, hostile_run, outcome_columns, reader

# The part of the two common schemas (Jenkins' and Ant's) that holds for both: children in order, and attributes.
CHILDREN = {
    "testsuites": (["testsuite"], []),
    "testsuite": (["properties", "testcase", "system-out", "system-err"], ["properties", "system-out", "system-err"]),
    "properties": (["property"], []),
    "testcase": (["skipped", "error", "failure"], []),
}
NEEDED = {
    "testsuite": {"id", "package", "name", "timestamp", "hostname", "tests", "failures", "errors", "time"},
    "testcase": {"name", "classname", "time"},
    "property": {"name", "value"},
    "failure": {"type"},
    "error": {"type"},
}
ALLOWED = {
    "testsuite": NEEDED["testsuite"] | {"skipped"},
    "failure": {"type", "message"},
    "error": {"type", "message"},
    "skipped": {"message"},
}


def written(run: GradedRun, folder: Path, **options: object) -> ET.Element:
    path = folder / "junit.xml"
    write_junit(run, path, **options)  # type: ignore[arg-type]
    root = ET.fromstring(path.read_bytes())
    assert_valid(root)
    return root


def assert_valid(element: ET.Element) -> None:
    order, needed = CHILDREN.get(element.tag, ([], []))
    tags = [child.tag for child in element]
    assert set(tags) <= set(order), element.tag
    assert [order.index(tag) for tag in tags] == sorted(order.index(tag) for tag in tags), element.tag
    for tag in needed:
        assert tags.count(tag) == 1, tag
    assert NEEDED.get(element.tag, set()) <= set(element.attrib)
    assert set(element.attrib) <= ALLOWED.get(element.tag, NEEDED.get(element.tag, set()))
    for child in element:
        assert_valid(child)
    if element.tag == "testsuite":
        cases = element.findall("testcase")
        assert int(element.attrib["tests"]) == len(cases)
        for attribute, tag in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
            assert int(element.attrib[attribute]) == sum(case.find(tag) is not None for case in cases)


def cases_of(root: ET.Element, group: str) -> list[ET.Element]:
    return [case for case in root.iter("testcase") if case.attrib["classname"].endswith(f".{group}")]


def ending_of(case: ET.Element) -> tuple[str, str, str]:
    if len(case) == 0:
        return "passed", "", ""
    (child,) = case
    return child.tag, child.get("type", ""), child.get("message", "")


def outcome_run(outcomes: list[tuple[int, float | None]], **facts: object) -> GradedRun:
    records = [Record(id=f"r{row}", input=Content(text=f"question {row}")) for row in range(len(outcomes))]
    held = [(0, encode_records(records), pack([outcome_columns("check", outcomes)]))]
    summaries = facts.pop("summaries", [])
    return GradedRun(
        source="made",
        manifest=RunManifest(run_id="1", name="made"),
        summaries=summaries,  # type: ignore[arg-type]
        read_rows=reader(held),
        **facts,  # type: ignore[arg-type]
    )


def test_a_gate_is_a_test_case_with_the_number_the_interval_and_n(tmp_path: Path) -> None:
    failed = GateResult(
        gate=Gate(metric="exact-match", min=0.9),
        passed=False,
        value=0.75,
        ci=ConfidenceInterval(low=0.6, high=0.86, level=0.95, method="wilson"),
        n=40,
        verdict=GateVerdict.FAILED,
        reason="at least 0.9 was asked",
    )
    root = written(outcome_run([(SCORED, 1.0)], gates=[failed, gate("latency", least=0.1, value=0.5)]), tmp_path)
    first, second = cases_of(root, "gates")
    assert first.attrib["name"] == "exact-match mean ≥ 0.9"
    assert ending_of(first) == (
        "failure",
        "gate",
        "mean 0.750 [0.600, 0.860], n = 40; asked for ≥ 0.9",
    )
    assert ending_of(second)[0] == "passed"


@pytest.mark.parametrize(
    ("verdict", "passed", "wanted"),
    [
        (GateVerdict.PASSED, True, ("passed", "")),
        (GateVerdict.FAILED, False, ("failure", "gate")),
        (GateVerdict.NO_DATA, False, ("error", "no-data")),
        (GateVerdict.NO_DATA, True, ("error", "no-data")),
        (GateVerdict.INCONCLUSIVE, False, ("failure", "inconclusive")),
        (GateVerdict.INCONCLUSIVE, True, ("skipped", "")),
    ],
)
def test_an_undecided_gate_ends_as_the_spec_decided_and_no_data_is_never_a_pass(
    tmp_path: Path, verdict: GateVerdict, passed: bool, wanted: tuple[str, str]
) -> None:
    result = GateResult(gate=Gate(cel="metric('a').mean > 0.5", name="good enough"), verdict=verdict, passed=passed)
    root = written(outcome_run([(SCORED, 1.0)], gates=[result]), tmp_path)
    (case,) = cases_of(root, "gates")
    assert case.attrib["name"] == "good enough"
    assert ending_of(case)[:2] == wanted


def test_a_verdict_that_is_not_a_pass_is_a_case_and_a_pass_is_none(tmp_path: Path) -> None:
    root = written(outcome_run([(SCORED, 1.0), (SCORED, 0.0), (SKIPPED, None), (ERROR, None)]), tmp_path)
    found = {case.attrib["name"]: ending_of(case) for case in cases_of(root, "check")}
    assert found == {
        "r1": ("failure", "verdict", "check did not pass"),
        "r2": ("skipped", "", "no reference"),
        "r3": ("error", "exception", "boom (fault: unspecified)"),
    }
    (failure,) = root.iter("failure")
    assert failure.text == "input: question 1"


def test_what_is_bad_when_true_fails_when_true_and_what_has_no_good_side_never_does(tmp_path: Path) -> None:
    @evaluator(name="leak", bounded=True, outputs=[output("leak", "passed", higher_is_better=False)])
    def leak(record: Record) -> bool:
        return record.id == "leaks"

    @evaluator(name="long", bounded=True, outputs=[output("long", "passed", higher_is_better=None)])
    def long(record: Record) -> bool:
        return record.id == "leaks"

    @evaluator(name="length", bounded=True, outputs=[output("length", low=0, high=1)])
    def length(record: Record) -> float:
        return 0.0

    root = written(graded_run([Record(id="leaks"), Record(id="fine")], [leak, long, length]), tmp_path)
    assert [(case.attrib["classname"].rpartition(".")[2], case.attrib["name"]) for case in root.iter("testcase")] == [
        ("leak", "leaks")
    ]


def test_repetitions_of_a_record_are_told_apart(tmp_path: Path) -> None:
    @evaluator(name="never", bounded=True, outputs=[output("never", "passed")])
    def never(record: Record) -> bool:
        return False

    records = [Record(id="a", provenance=Provenance(run=RunProvenance(trial=trial))) for trial in range(2)]
    root = written(graded_run(records, [never]), tmp_path)
    assert [case.attrib["name"] for case in cases_of(root, "never")] == ["a", "a (trial 1)"]


def test_failures_errors_and_skips_are_listed_up_to_a_limit_each_and_all_counted(tmp_path: Path) -> None:
    root = written(outcome_run([(SCORED, 0.0), (SKIPPED, None)] * 50), tmp_path, limit=3)
    (suite,) = root.iter("testsuite")
    assert (suite.attrib["failures"], suite.attrib["skipped"]) == ("3", "3")
    assert "50 failed verdicts of records, 3 of them listed" in (suite.findtext("system-out") or "")
    assert "50 skips of records, 3 of them listed" in (suite.findtext("system-out") or "")


def test_a_metric_that_regressed_against_the_baseline_is_a_failure(tmp_path: Path) -> None:
    aster, birch = demo_run("aster"), demo_run("birch")
    comparison = compare_runs(aster, birch)
    root = written(birch, tmp_path, comparison=comparison)
    found = {case.attrib["name"]: ending_of(case)[0] for case in cases_of(root, "baseline")}
    wanted = {"REGRESSED": "failure", "INCONCLUSIVE": "skipped", "IMPROVED": "passed"} | dict.fromkeys(
        ("NO DATA", "NO DIRECTION"), "skipped"
    )
    assert found == {metric.metric: wanted[metric.verdict] for metric in comparison.metrics}
    assert "failure" in found.values()


def test_hostile_text_is_shown_and_does_nothing(tmp_path: Path) -> None:
    root = written(hostile_run(), tmp_path)
    assert {child.tag for case in root.iter("testcase") for child in case} <= {"failure", "error", "skipped"}
    text = (tmp_path / "junit.xml").read_text("utf-8")
    assert "<script" not in text
    for hidden in ("\x1b", "\x00", "\u202e", "\u2028"):
        assert hidden not in text
    assert any(HOSTILE[0] in case.attrib["name"] for case in root.iter("testcase"))


@given(st.text(alphabet=st.characters(codec=None), min_size=1, max_size=40))
def test_the_file_is_well_formed_whatever_a_record_holds(tmp_path_factory: pytest.TempPathFactory, text: str) -> None:
    columns = outcome_columns("check", [(ERROR, None)])
    columns.evaluator = text
    columns.notes[0].reason = columns.notes[0].detail = text
    clean = text.encode("utf-8", "replace").decode()  # a record of JSON holds no lone surrogate
    record = Record(id=clean, input=Content(text=clean))
    run = GradedRun(
        source="made",
        manifest=RunManifest(name=text),
        summaries=[],
        read_rows=lambda: iter([GradedRows(0, encode_records([record]), [columns])]),
        gates=[GateResult(gate=Gate(cel=text), reason=text)],
    )
    written(run, tmp_path_factory.mktemp("junit"))


def test_the_times_of_the_suite_and_of_cases_are_seconds(tmp_path: Path) -> None:
    run = demo_run("aster", limit=20)
    root = written(run, tmp_path)
    (suite,) = root.iter("testsuite")
    assert run.manifest.started_at is not None
    assert run.manifest.finished_at is not None
    spent = run.manifest.finished_at - run.manifest.started_at
    assert timedelta(seconds=float(suite.attrib["time"])) == spent
    assert suite.attrib["timestamp"] == run.manifest.finished_at.strftime("%Y-%m-%dT%H:%M:%S")


def test_a_report_whose_name_ends_in_xml_is_the_junit_file(tmp_path: Path) -> None:
    write_report(demo_run("aster", limit=10), tmp_path / "ci" / "junit.xml")
    assert ET.parse(tmp_path / "ci" / "junit.xml").getroot().tag == "testsuites"


@pytest.mark.slow
def test_memory_does_not_grow_with_the_run(tmp_path: Path) -> None:
    rows = 1_000
    records = encode_records([Record(id=f"r{row}", output=Content(text="x" * 200)) for row in range(rows)])
    packed = pack([outcome_columns("check", [(SCORED, float(row % 2)) for row in range(rows)])])

    def peak(batches: int) -> int:
        run = GradedRun(
            source="made",
            manifest=RunManifest(),
            summaries=[MetricSummary(metric="check", higher_is_better=True)],
            read_rows=reader([(0, records, packed)] * batches),
        )
        tracemalloc.start()
        write_junit(run, tmp_path / "large.xml", limit=10**9)
        _, most = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        return most

    few, many = peak(2), peak(100)
    assert (tmp_path / "large.xml").stat().st_size > 10_000_000
    assert many < 2 * few
