"""`evalsi traces`: what is imported is found, shown, exported and removed, here and on a server."""

import io
import json
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import msgspec
import pytest

from evalsi.cli.trace_text import cells_of, print_trace
from evalsi.infra.store.open_stores import open_trace_store
from evalsi.schema import (
    EvaluationResult,
    Feedback,
    GetTraceResponse,
    Outcome,
    PolicyResults,
    Record,
    Score,
    Step,
    StepType,
    TraceSummary,
    Trajectory,
)
from tests.case_files import CASES, case
from tests.command_line import Ended, evalsi_here
from tests.server.running_server import RunningServer, running_server

H01 = str(CASES / case("H01")["input"]["file"])
H02 = str(CASES / case("H02")["input"]["file"])
ATIF = f"atif://{CASES / case('P02')['files'][0]}"


class Here:
    """The command line in an empty folder."""

    def __init__(self, capsys: pytest.CaptureFixture[str]) -> None:
        self._capsys = capsys

    def traces(self, *arguments: str) -> Ended:
        return evalsi_here(self._capsys, "traces", *arguments)

    def ids(self, *options: str) -> list[str]:
        return [trace["trace_id"] for trace in json.loads(sound(self.traces("list", "--format", "json", *options)))]


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Here:
    monkeypatch.chdir(tmp_path)
    return Here(capsys)


def sound(ended: Ended) -> str:
    assert ended.status == 0, ended.err
    return ended.out


def test_what_is_imported_is_found_by_word_service_and_session(here: Here) -> None:
    ended = here.traces("import", H01, H02)
    assert ended.status == 0, ended.err
    assert "2 traces" in ended.err
    assert len(here.ids()) == 2
    (found,) = here.ids("--text", "HALL lamp")
    assert here.ids("--service", "lamp-app") == here.ids("--session", "conv-1") == [found]
    assert here.ids("--since", "1h") == []
    assert here.ids("--errors") == []
    assert len(here.ids("--limit", "1")) == 1
    table = sound(here.traces("list"))
    assert found[:8] in table
    assert "Is the hall lamp on?" in table


def test_a_trace_in_which_only_a_step_failed_is_found_by_that(here: Here, tmp_path: Path) -> None:
    def span(number: int, parent: str, code: int) -> dict[str, Any]:
        at = 1_700_000_000_000_000_000 + number * 1_000_000
        begun = {"startTimeUnixNano": str(at), "endTimeUnixNano": str(at + 500_000)}
        ids = {"traceId": "a" * 32, "spanId": f"{number:016x}", "parentSpanId": parent}
        return {**ids, **begun, "name": f"step {number}", "kind": 1, "attributes": [], "status": {"code": code}}

    spans = [span(1, "", 0), span(2, f"{1:016x}", 2)]
    (tmp_path / "spans.json").write_text(json.dumps({"resourceSpans": [{"scopeSpans": [{"spans": spans}]}]}))
    sound(here.traces("import", "spans.json"))
    sound(here.traces("import", H01))
    assert here.ids("--failed-steps") == ["a" * 32]
    assert here.ids("--errors") == []
    assert "no traces match; --failed-steps finds" in here.traces("list", "--errors").err


def test_traces_are_found_by_how_long_they_took_what_they_cost_and_what_people_said(here: Here, tmp_path: Path) -> None:
    def trace(number: int, seconds: float, usd: float) -> dict[str, Any]:
        at = 1_700_000_000_000_000_000
        ids = {"traceId": f"{number:032x}", "spanId": f"{number:016x}", "name": "chat"}
        begun = {"startTimeUnixNano": str(at), "endTimeUnixNano": str(at + int(seconds * 1e9))}
        said = {"openinference.span.kind": {"stringValue": "LLM"}, "llm.cost.total": {"doubleValue": usd}}
        said |= {"llm.token_count.prompt": {"intValue": "9"}}
        event = {"name": "gen_ai.evaluation.result", "timeUnixNano": str(at), "attributes": []}
        return {**ids, **begun, "attributes": [{"key": k, "value": v} for k, v in said.items()], "events": [event]}

    spans = [trace(1, 0.2, 0.001), trace(2, 3, 0.02), trace(3, 90, 0.5)]
    (tmp_path / "spans.json").write_text(json.dumps({"resourceSpans": [{"scopeSpans": [{"spans": spans}]}]}))
    sound(here.traces("import", "spans.json"))

    def found(*options: str) -> set[int]:
        return {int(name, 16) for name in here.ids(*options)}

    assert found() == {1, 2, 3}
    assert found("--min-duration", "2s") == {2, 3}
    assert found("--min-duration", "2.5s", "--max-duration", "1m") == {2}
    assert found("--max-duration", "500ms") == {1}
    assert found("--min-cost", "0.02") == {2, 3}
    assert found("--min-cost", "0.01", "--max-cost", "0.1") == {2}
    assert found("--disliked") == set()
    wrong = here.traces("list", "--min-duration", "long")
    assert (wrong.status, "--min-duration 'long' is no length of time" in wrong.err) == (2, True)


def test_importing_a_file_twice_changes_nothing(here: Here) -> None:
    for source in (H01, H01, ATIF, ATIF):
        sound(here.traces("import", source))
    found = json.loads(sound(here.traces("list", "--format", "json")))
    assert len(found) == 2
    assert all(trace["complete"] and trace["revision"] == 1 for trace in found)


def test_a_trace_is_shown_by_the_begin_of_its_id(here: Here) -> None:
    sound(here.traces("import", H01))
    (name,) = here.ids()
    for word in ("show", "get"):
        text = sound(here.traces(word, name[:6]))
        assert "tool lamp_state" in text
        assert "270 in, 23 out" in text
    whole = json.loads(sound(here.traces("show", name, "--format", "json")))
    assert whole["record"]["id"] == name
    assert here.traces("show", "ffffff").status == 1


def test_an_export_is_data_for_an_evaluation(here: Here) -> None:
    sound(here.traces("import", H01, H02))
    assert "2 traces" in here.traces("export", "-o", "traces.jsonl").err
    lines = [json.loads(line) for line in Path("traces.jsonl").read_text().splitlines()]
    assert {line["id"] for line in lines} == set(here.ids())
    sound(here.traces("export", "-o", "atif.jsonl", "--to", "atif", "--text", "hall"))
    (document,) = [json.loads(line) for line in Path("atif.jsonl").read_text().splitlines()]
    assert document["schema_version"].startswith("ATIF")


def test_what_is_removed_is_gone_and_what_to_remove_has_to_be_said(here: Here) -> None:
    sound(here.traces("import", H01, H02))
    assert here.traces("delete").status == 2
    assert here.traces("delete", "--session", "conv-1", "--yes").status == 0
    (left,) = here.ids()
    assert "removed 1 trace" in here.traces("delete", left[:8], "--yes").err
    assert here.ids() == []


def test_what_is_to_be_removed_is_named_before_it_is_and_nobody_is_waited_for(
    here: Here, monkeypatch: pytest.MonkeyPatch
) -> None:
    sound(here.traces("import", H01))
    (name,) = here.ids()
    monkeypatch.setattr("sys.stdin", io.StringIO(""))
    unanswered = here.traces("delete", "--session", "conv-1")
    assert unanswered.status == 2
    assert "Remove all traces of session conv-1 for good?" in unanswered.err
    assert "error: nobody answered, so nothing was removed; --yes removes without asking" in unanswered.err
    monkeypatch.setattr("sys.stdin", io.StringIO("n\n"))
    refused = here.traces("delete", name)
    assert (refused.status, f"Remove the trace {name[:8]} for good?" in refused.err) == (130, True)
    assert here.ids() == [name]
    monkeypatch.setattr("sys.stdin", io.StringIO("y\n"))
    assert here.traces("delete", name).status == 0
    assert here.ids() == []


def test_who_gets_only_the_newest_is_told_that_there_are_more(here: Here) -> None:
    sound(here.traces("import", H01, H02))
    more = "more traces match; --limit takes more than the newest 1"
    assert more in here.traces("list", "--limit", "1").err
    assert more in here.traces("export", "-o", "traces.jsonl", "--limit", "1").err
    assert len(Path("traces.jsonl").read_text().splitlines()) == 1
    assert "more traces match" not in here.traces("list", "--limit", "2").err
    assert "more traces match" not in here.traces("export", "-o", "traces.jsonl", "--limit", "2").err


def test_a_step_shows_which_tool_was_asked_for_with_what(here: Here) -> None:
    sound(here.traces("import", H01))
    (name,) = here.ids()
    lines = [" ".join(line.split()) for line in sound(here.traces("show", name)).splitlines()]
    steps = lines[lines.index("") + 1 :]
    assert 'calls lamp_state {"room": "hall"}' in steps
    assert any(line.startswith('tool lamp_state {"room": "hall"} ') for line in steps)
    assert "Is the hall lamp on?" not in steps


def test_what_was_found_in_a_step_names_it(capsys: pytest.CaptureFixture[str]) -> None:
    why = "1 found: EMAIL at 4-25" + ", and more" * 20
    step = Step(span_id="b" * 16, type=StepType.TOOL, name="lamp_state")
    score = Score(name="pii-leak", passed=False, explanation=why)
    of_step = EvaluationResult(evaluator="pii-leak", span_id=step.span_id, outcome=Outcome.SCORED, scores=[score])
    of_all = msgspec.structs.replace(of_step, span_id="")
    print_trace(
        GetTraceResponse(
            record=Record(id="a", trajectory=Trajectory(steps=[step])),
            policies=[PolicyResults(policy="leaks", results=[of_step, of_all])],
        )
    )
    lines = [" ".join(line.split()) for line in capsys.readouterr().out.splitlines()]
    assert lines[-2:] == [f"pii-leak fail: {why} (tool lamp_state)", f"pii-leak fail: {why}"], (
        "a line of a pipe is whole"
    )


def test_a_list_tells_small_costs_failed_steps_scores_and_feedback_apart() -> None:
    shown = TraceSummary(
        trace_id="a" * 32,
        cost_usd=0.000048,
        failed_spans=2,
        feedback=-1.0,
        scores=dict.fromkeys(("tone", "length", "facts", "leaks"), 0.5),
    )
    cells = cells_of(shown)
    assert "$0.000048" in cells
    assert "2 steps" in cells
    assert "facts 0.5, leaks 0.5, length 0.5, +1, feedback -1" in cells
    assert "yes" in cells_of(msgspec.structs.replace(shown, error=True))


def test_mistakes_are_said_in_a_sentence(here: Here) -> None:
    assert "'evalsi traces import' takes them in, 'evalsi serve' receives them, and --server URL asks a server" in (
        here.traces("list").err
    )
    Path("policy.yaml").write_text("kind: OnlineEvalPolicy\nmetadata: {name: ö}\n" * 99)
    assert (
        "error: policy.yaml: no OTLP: text that is no JSON; OTLP is JSON," in here.traces("import", "policy.yaml").err
    )
    Path("damaged.pb").write_bytes(b"\n\xff\x01\x00")
    assert "the bytes are damaged or end early" in here.traces("import", "damaged.pb").err
    Path("records.jsonl").write_text('{"id": "1"}\n{"id": "2"}\n')
    assert "holds no span; OTLP JSON is an object with resourceSpans" in here.traces("import", "records.jsonl").err
    Path("none.json").write_text("{}")
    assert "nne.json: there is no such file; did you mean 'none.json'?" in here.traces("import", "nne.json").err
    for arguments in (
        ("import", "missing.json"),
        ("import", "none.json"),
        ("list", "--label", "env"),
        ("list", "--score", "tone<"),
        ("list", "--since", "yesterday"),
        ("list", "--project", "p"),
    ):
        if arguments[0] == "list" and not Path(".evalsi/traces.db").exists():
            sound(here.traces("import", H01))
        ended = here.traces(*arguments)
        assert ended.status in (1, 2)
        assert ended.err.startswith("error: ")
        assert "Traceback" not in ended.err
    assert "--since '24' has no unit; write e.g. 24h, 24d" in here.traces("list", "--since", "24").err
    assert "write e.g. 24h, 7d, or 2026-01-31" in here.traces("list", "--since", "yesterday").err


def test_a_trace_that_may_still_grow_says_so_where_its_question_will_stand() -> None:
    waiting = TraceSummary(trace_id="a" * 32, name="answer")
    assert cells_of(waiting)[-1] == "answer (not complete yet)"
    assert cells_of(msgspec.structs.replace(waiting, complete=True))[-1] == "answer"
    assert cells_of(msgspec.structs.replace(waiting, input="Is it on?"))[-1] == "Is it on?"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    folder = tmp_path_factory.mktemp("server")
    (folder / "evalsi.yaml").write_text("otlp: {grace: 100ms}\n")
    with running_server(folder, ("--config", "evalsi.yaml")) as running:
        yield running


def test_a_server_is_spoken_to_with_the_same_words(here: Here, server: RunningServer) -> None:
    at = ("--server", f"http://{server.address}")
    assert "4 spans" in here.traces("import", H01, *at).err
    (name,) = here.ids(*at)
    assert "tool lamp_state" in sound(here.traces("show", name[:8], *at))
    said = [{"traceId": name, "id": f"f{number}", "comment": f"remark {number}."} for number in range(60)]
    assert server.post("/v1alpha1/feedback", {"feedback": said})[0] == 200
    shown = sound(here.traces("show", name, *at))
    assert shown.count("remark") == 50
    assert f"the newest 50 of 60; 'evalsi traces feedback {name}' lists the rest" in shown.replace("\n", " ")
    for way in (at, ()):
        if not way:
            sound(here.traces("import", H01))
            with closing(open_trace_store(str(Path(".evalsi/evalsi.db")))) as store:
                told = [Feedback(id=f"f{number}", trace_id=name, comment=f"remark {number}.") for number in range(60)]
                store.add_feedback("default", told, now_ms=1, reconsider=False)
        assert sound(here.traces("feedback", name[:8], "--limit", "60", *way)).count("remark") == 60
        fewer = here.traces("feedback", name, "--limit", "7", *way)
        assert (sound(fewer).count("remark"), "there is more" in fewer.err) == (7, True)
        assert len(json.loads(sound(here.traces("feedback", name, "--format", "json", *way)))) == 50
        assert "nothing was said" in here.traces("feedback", "--session", "unheard", *way).err
        assert here.traces("feedback", *way).status == 2
    sound(here.traces("export", "-o", "traces.jsonl", *at))
    assert json.loads(Path("traces.jsonl").read_text())["id"] == name
    assert "removed 1 trace" in here.traces("delete", name, "--yes", *at).err
    assert here.ids(*at) == []


def test_traces_of_several_projects_are_listed_with_theirs_and_exported(here: Here, server: RunningServer) -> None:
    at = ("--server", f"http://{server.address}")
    assert server.post("/v1alpha1/projects", {"name": "lamps"})[0] == 200
    assert "4 spans" in here.traces("import", H01, *at, "--project", "lamps").err
    assert "imported" in here.traces("import", ATIF, *at).err
    listed = sound(here.traces("list", *at)).splitlines()
    assert [line.split()[0] for line in listed] == ["project", "default", "lamps"]
    assert "wrote all.jsonl: 2 traces" in here.traces("export", "-o", "all.jsonl", *at).err
    for project in ("default", "lamps"):
        assert (
            "removed 1 trace"
            in here.traces("delete", "--before", "2100-01-01T00:00:00Z", "--yes", *at, "--project", project).err
        )


SPEC = """\
apiVersion: evals.si/v1alpha1
kind: EvalRun
metadata: {name: traffic}
spec:
  dataset:
    traces: {service: lamp-app, lookback: LOOKBACK}
  evaluators:
    - ref: tool-errors
"""


def test_traces_are_a_dataset_of_runs(here: Here, capsys: pytest.CaptureFixture[str]) -> None:
    sound(here.traces("import", H01, H02))
    Path("run.yaml").write_text(SPEC.replace("LOOKBACK", "315360000s"))
    ended = evalsi_here(capsys, "run", "run.yaml", "--format", "json")
    assert ended.status == 0, ended.err
    (metric,) = [each for each in json.loads(ended.out) if each["metric"] == "tool-errors"]
    assert metric["total"] == 1
    Path("run.yaml").write_text(SPEC.replace("LOOKBACK", "60s"))
    ended = evalsi_here(capsys, "run", "run.yaml", "--format", "json")
    assert ended.status != 0
    assert ended.err.startswith("error: ")


def test_a_server_runs_over_its_traces(here: Here, server: RunningServer, capsys: pytest.CaptureFixture[str]) -> None:
    at = ("--server", f"http://{server.address}")
    sound(here.traces("import", H01, *at))
    deadline_s = time.monotonic() + 60
    while not all(trace["complete"] for trace in json.loads(sound(here.traces("list", "--format", "json", *at)))):
        assert time.monotonic() < deadline_s
        time.sleep(0.3)
    Path("run.yaml").write_text(SPEC.replace("LOOKBACK", "315360000s"))
    ended = evalsi_here(capsys, "run", "run.yaml", "--format", "json", *at)
    assert ended.status == 0, ended.err
    (metric,) = [each for each in json.loads(ended.out) if each["metric"] == "tool-errors"]
    assert metric["total"] == 1
