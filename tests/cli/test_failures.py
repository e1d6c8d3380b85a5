"""`evalsi failures`: what goes wrong is said in a sentence, and a case is replaced as a whole or in part."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.case_files import CASES, case
from tests.command_line import Ended, evalsi_here
from tests.server.running_server import RunningServer, running_server

pytestmark = pytest.mark.slow
H01 = str(CASES / case("H01")["input"]["file"])


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    with running_server(tmp_path_factory.mktemp("failures")) as server:
        yield server


@pytest.fixture
def failures(server: RunningServer, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Any:
    monkeypatch.setenv("EVALSI_SERVER", f"http://{server.address}")

    def run(*arguments: str) -> Ended:
        return evalsi_here(capsys, "failures", *arguments)

    assert evalsi_here(capsys, "traces", "import", H01).status == 0
    (trace,) = json.loads(evalsi_here(capsys, "traces", "list", "--format", "json").out)
    assert run("capture", trace["trace_id"][:10], "--reason", "\x1b[31mred").status == 0
    return run


def test_a_failure_is_captured_shown_changed_decided_and_removed(
    failures: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def inbox(*arguments: str) -> Ended:
        return evalsi_here(capsys, "inbox", *arguments)

    shown = failures("show", "latest").out
    assert "\x1b" not in shown
    record = json.loads(failures("show", "latest", "--format", "json").out)["record"]
    wanted = {**record, "id": "lamp", "metadata": {"room": "hall"}}
    (tmp_path / "case.json").write_text(json.dumps(wanted))
    ended = failures("update", "latest", "--record", str(tmp_path / "case.json"), "--reference", "off")
    assert ended.status == 0, ended.err
    assert failures("review", "latest", "approved", "--revision", "1").status == 1
    assert inbox("review", "latest", "--revision", "2", "--decision", "approved", "--note", "seen").status == 0
    assert inbox("get", "latest").out == failures("show", "latest").out
    page = json.loads(inbox("history", "latest", "--page-size", "1", "--format", "json").out)
    assert [each["revision"] for each in page] == [1]
    lines = failures("export").out.splitlines()
    assert [json.loads(line)["id"] for line in lines] == ["lamp"]
    assert json.loads(lines[0])["reference"] == {"text": "off"}
    assert json.loads(lines[0])["metadata"] == {"room": "hall"}
    assert "lamp" in failures("export", "--dataset", "lamps").err
    assert inbox("delete", "latest", "--revision", "1").status == 1
    assert inbox("delete", "latest", "--revision", "3").status == 0
    assert "there is no failure yet" in failures("show", "latest").err


def test_what_was_asked_is_written_down_where_the_trace_does_not_say(
    failures: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    at = str(1_700_000_000_000_000_000)
    span = {"traceId": "b" * 32, "spanId": "c" * 16, "name": "lamps", "startTimeUnixNano": at, "endTimeUnixNano": at}
    file = tmp_path / "spans.json"
    file.write_text(json.dumps({"resourceSpans": [{"scopeSpans": [{"spans": [{**span, "status": {"code": 2}}]}]}]}))
    assert evalsi_here(capsys, "traces", "import", str(file)).status == 0
    assert failures("capture", "bbbb").status == 0
    refused = failures("review", "latest", "approved")
    assert (refused.status, "has no input" in refused.err) == (2, True)
    assert "write down first what was asked, as its input" in refused.err
    assert failures("update", "latest", "--input", "Is it on?").status == 0
    assert failures("review", "latest", "approved").status == 0
    assert json.loads(failures("export").out)["input"] == {"text": "Is it on?"}
    assert failures("delete", "latest", "--yes").status == 0
    assert evalsi_here(capsys, "traces", "delete", "bbbb", "--yes").status == 0


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (("show", "nobody"), "there is no failure 'nobody'"),
        (("capture", "0123"), "trace"),
        (("review", "latest"), "say once what is decided"),
        (("export", "x@soon"), "names no revision"),
        (("export", "--dataset", "x", "-o", "y.jsonl"), "two places"),
        (("update", "latest", "--record", "missing.json"), "missing.json"),
        (("list", "--server", "local"), "no server is named"),
    ],
)
def test_what_cannot_be_done_is_said_in_a_sentence(failures: Any, arguments: tuple[str, ...], reason: str) -> None:
    ended = failures(*arguments)
    assert ended.status != 0
    assert reason in ended.err
    assert "Traceback" not in ended.err


def test_a_record_that_is_none_is_named_with_its_place(failures: Any, tmp_path: Path) -> None:
    file = tmp_path / "case.json"
    file.write_text('{"id": 7}')
    ended = failures("update", "latest", "--record", str(file))
    assert ended.status == 2
    assert str(file) in ended.err
