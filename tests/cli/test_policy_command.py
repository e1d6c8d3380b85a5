"""`evalsi policy`: what it says of a file, of a server, and of traces on this machine."""

from pathlib import Path

import pytest

from evalsi.cli.policy import alert_line
from evalsi.schema import Alert, AlertState, ConfidenceInterval
from tests.command_line import evalsi_here

RIGHT = """
apiVersion: evals.si/v1alpha1
kind: OnlineEvalPolicy
metadata: {name: answers}
spec:
  stages: [{evaluators: [pii-leak]}]
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("EVALSI_SERVER", raising=False)
    (tmp_path / "policy.yaml").write_text(RIGHT, encoding="utf-8")
    return tmp_path


def test_a_wrong_file_is_told_with_its_places_and_reaches_no_server(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "policy.yaml").write_text(RIGHT.replace("pii-leak", "pii-leek"), encoding="utf-8")
    ended = evalsi_here(capsys, "policy", "apply", "-f", "policy.yaml", "--server", "http://127.0.0.1:9")
    assert ended.status == 2
    assert "policy.yaml:6:26: spec.stages[0].evaluators[0].ref: unknown evaluator 'pii-leek'" in ended.err


def test_an_alert_says_how_sure_the_mean_is_that_it_looks_at() -> None:
    alert = Alert(metric="pii-leak", below=0.9)
    sure = ConfidenceInterval(low=0.71, high=0.88, level=0.95)
    assert alert_line(AlertState(alert=alert, firing=False, n=1204, mean=0.8, ci=sure)) == (
        "alert on pii-leak below 0.9 is quiet: mean 0.800 [0.710, 0.880] of 1,204 values"
    )
    assert alert_line(AlertState(alert=alert)).endswith("mean – of 0 values")


@pytest.mark.parametrize(
    "arguments",
    [("list",), ("show", "x"), ("stats", "x"), ("delete", "x"), ("backfill", "x"), ("apply", "-f", "policy.yaml")],
)
def test_what_only_a_server_does_asks_for_one(arguments: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> None:
    ended = evalsi_here(capsys, "policy", *arguments)
    assert ended.status == 2
    assert "no server is named" in ended.err


def test_a_policy_is_tried_on_the_traces_of_this_machine(capsys: pytest.CaptureFixture[str]) -> None:
    case = Path(__file__).parents[1] / "cases/files/H01_genai.json"
    assert evalsi_here(capsys, "traces", "import", str(case)).status == 0
    ended = evalsi_here(capsys, "policy", "test", "-f", "policy.yaml", "--lookback", "9000d", "--format", "json")
    assert ended.status == 0, ended.err
    assert '"sampled"' in ended.out
    named = evalsi_here(capsys, "policy", "test", "policy.yaml", "--lookback", "9000d")
    assert (named.status, "and evaluated 1, which would have cost nothing" in named.err) == (0, True)


@pytest.mark.parametrize("files", [(), ("policy.yaml", "-f", "policy.yaml")])
def test_a_policy_is_in_one_file(files: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> None:
    for command in ("test", "apply"):
        ended = evalsi_here(capsys, "policy", command, *files, "--server", "http://127.0.0.1:9")
        assert ended.status == 2
        assert "name its file, as in: evalsi policy apply policy.yaml" in ended.err


@pytest.mark.parametrize(
    ("choice", "told"),
    [
        ("1.4", "is no choice of traffic"),
        ("verison=1.4", "write version, since, until or label.<key>"),
        ("since=soon", "--baseline"),
    ],
)
def test_a_choice_of_traffic_that_cannot_be_read_is_explained(
    choice: str, told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ("compare", "x", "--baseline", choice, "--candidate", "version=2", "--server", "http://127.0.0.1:9")
    ended = evalsi_here(capsys, "policy", *arguments)
    assert ended.status == 2
    assert told in ended.err
