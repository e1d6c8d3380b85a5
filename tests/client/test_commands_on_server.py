"""Commands with `--server`: the same answers and exit statuses as on this machine."""

import json
import re
import threading
from collections.abc import Callable
from pathlib import Path

import pytest
from rich.cells import cell_len

from evalsi.testing.stand_in_model import Behaviour, Reply, StandInModel
from tests.command_line import DATA, Ended, evalsi_here, evalsi_shown, write_jsonl
from tests.server.running_server import RunningServer

Evalsi = Callable[..., Ended]

SPEC = """
apiVersion: evals.si/v1alpha1
kind: EvalRun
metadata: {name: NAME, labels: {team: search}}
spec:
  dataset: {DATASET}
  evaluators: [{ref: exact-match}]
  gates: [{metric: exact-match, min: GATE}]
"""
ROWS = [{"id": row["id"], "input": row["input"], "output": row["output"], "reference": row["reference"],
         "metadata": {"topic": row["topic"]}} for row in DATA]  # fmt: skip


@pytest.fixture
def evalsi(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Evalsi:
    for name in ("EVALSI_SERVER", "EVALSI_API_KEY", "EVALSI_PROJECT", "EVALSI_DIR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("EVALSI_CREDENTIALS", str(tmp_path / "credentials"))
    monkeypatch.chdir(tmp_path)
    write_jsonl(tmp_path / "data.jsonl", ROWS)
    return lambda *arguments: evalsi_here(capsys, *arguments)


def spec(folder: Path, name: str, dataset: str, gate: str = "0.1") -> str:
    path = folder / f"{name}.yaml"
    path.write_text(SPEC.replace("NAME", name).replace("DATASET", dataset).replace("GATE", gate))
    return str(path)


def without_times(text: str) -> str:
    return re.sub(r"\b[0-9a-z]{20}\b|\b[0-9a-z]{8}\b", "ID", text)


@pytest.mark.slow
def test_eval_gives_the_same_figures_files_and_status(evalsi: Evalsi, url: str, tmp_path: Path) -> None:
    command = ("eval", "--data", "data.jsonl", "--evaluators", "exact-match,near=fuzzy-match,bleu")
    here = evalsi(*command, "--output", "here.json", "--format", "json")
    there = evalsi(*command, "--output", "there.json", "--format", "json", "--server", url)
    assert (here.status, here.out) == (there.status, there.out)
    assert "--server local" in there.err
    for key in ("summaries", "records"):
        assert (
            json.loads((tmp_path / "here.json").read_text())[key]
            == json.loads((tmp_path / "there.json").read_text())[key]
        )
    results = [
        [
            {key: value for key, value in each.items() if key != "duration_ms"}
            for each in json.loads(path.read_text())["results"]
        ]
        for path in (tmp_path / "here.json", tmp_path / "there.json")
    ]
    assert results[0] == results[1]
    params = [
        [each["params"] for each in json.loads((tmp_path / name).read_text())["manifest"]["evaluators"]]
        for name in ("here.json", "there.json")
    ]
    assert params[0] == params[1]
    assert "different params" not in evalsi("compare", "here.json", "there.json").out


@pytest.mark.parametrize(
    ("flags", "words"),
    [
        (("--evaluators", "exact-mach"), "exact-match"),
        (("--evaluators", "contains", "--param", "contains.substrin=x"), "substring"),
        (("--evaluators", "exact-match", "--map", "input=question"), "question"),
        (("--evaluators", "./mine.py:f"), "installed"),
        (("--evaluators", "exact-match", "--judge-provider", "anthropic"), "--judge"),
        (("--evaluators", "exact-match", "--baseline", "data.jsonl"), "baseline"),
        (("--evaluators", "faithfulness", "--judge", "nobody"), "nobody"),
    ],
)
def test_a_mistake_is_said_before_anything_is_graded(
    evalsi: Evalsi, url: str, flags: tuple[str, ...], words: str
) -> None:
    ended = evalsi("eval", "--data", "data.jsonl", *flags, "--server", url)
    assert ended.status == 2, ended.err
    assert words in ended.err
    assert ended.out == ""


def test_one_rule_says_which_server(evalsi: Evalsi, url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert evalsi("eval", "--data", "data.jsonl", "--evaluators", "exact-match", "--name", "mine").status == 0
    monkeypatch.setenv("EVALSI_SERVER", url)
    assert "mine" not in evalsi("runs", "list").out
    assert "mine" in evalsi("runs", "list", "--server", "local").out
    for command in (
        ("compare", "mine", "mine"),
        ("runs", "show", "mine"),
        ("rescore", "mine", "--evaluators", "contains"),
    ):
        refused = evalsi(*command)
        assert refused.status == 1
        assert re.search(r"no run 'mine'.* of this machine is meant by it: say --server local", refused.err), (
            refused.err
        )
    assert "this machine" not in evalsi("runs", "show", "nobodys").err
    assert "no run on the server is labelled a=b" in evalsi("runs", "list", "--label", "a=b").err
    assert evalsi("runs", "list", "--server", "127.0.0.1:80").status == 2
    assert evalsi("runs", "list", "--server", "local", "--project", "x").status == 2
    ended = evalsi("runs", "list", "--api-key-env", "NOT_SET_ANYWHERE")
    assert (ended.status, "NOT_SET_ANYWHERE" in ended.err) == (2, True)
    monkeypatch.setenv("EVALSI_SERVER", "http://127.0.0.1:1")
    monkeypatch.setattr("evalsi.client.retrying.RetryPlan.wait_s", lambda *_: None)
    ended = evalsi("runs", "list")
    assert ended.status == 1
    assert "no server answers" in ended.err
    assert evalsi("dataset", "list", "--server", "local").status == 2


def test_datasets_are_stored_listed_fetched_and_compared(evalsi: Evalsi, url: str, tmp_path: Path) -> None:
    server = ("--server", url)
    assert "4 records" in evalsi("dataset", "put", "cities", "data.jsonl", "--label", "a=b", *server).err
    assert "already there" in evalsi("dataset", "put", "cities", "data.jsonl", "--label", "a=b", *server).err
    changed = [{**ROWS[0], "output": "Lyon"}, *ROWS[1:3], {**ROWS[3], "id": "new"}]
    write_jsonl(tmp_path / "changed.jsonl", changed)
    assert evalsi("dataset", "put", "cities", "changed.jsonl", "--version", "next", *server).status == 0
    listed = json.loads(evalsi("dataset", "list", "cities", "--format", "json", *server).out)
    assert [each["content"]["version"] for each in listed] == ["next", "1"]
    assert "cities@1: 4 records" in evalsi("dataset", "show", "cities@1", *server).out
    assert evalsi("dataset", "fetch", "cities@1", "back.jsonl", *server).status == 0
    back = [json.loads(line) for line in (tmp_path / "back.jsonl").read_text().splitlines()]
    assert [each["id"] for each in back] == [row["id"] for row in ROWS]
    different = evalsi("dataset", "diff", "cities", "1", "next", *server)
    assert different.status == 0
    assert different.out.splitlines() == ["+ new", "- é", "~ fr: output"]
    here = evalsi("dataset", "diff", "data.jsonl", "changed.jsonl", "--fail-on-change")
    assert (here.status, here.out, "1 changed" in here.err) == (3, different.out, True)
    assert evalsi("dataset", "diff", "cities", "1", "next", "--fail-on-change", *server).status == 3
    write_jsonl(tmp_path / "twice.jsonl", [ROWS[0], ROWS[0]])
    twice = evalsi("dataset", "put", "cities", "twice.jsonl", *server)
    assert twice.status == 2
    assert twice.err.startswith("error: twice.jsonl:1: id ")
    assert "also at twice.jsonl:2;" in twice.err
    assert evalsi("dataset", "diff", "cities", "1", "1", "--fail-on-change", *server).status == 0
    assert evalsi("dataset", "show", "cties", *server).status == 1
    assert evalsi("dataset", "put", "cities", "nothing.jsonl", *server).status == 1


@pytest.mark.parametrize("words", [("put", "asked"), ("upload", "--name", "asked"), ("import", "--name", "asked")])
def test_a_dataset_whose_columns_say_nothing_is_stored_with_a_warning_that_says_how_to_map_them(
    evalsi: Evalsi, url: str, tmp_path: Path, words: tuple[str, ...]
) -> None:
    (tmp_path / "qa.csv").write_text("question,answer,topic\nCapital of Peru?,Lima,cities\n")
    call = ("dataset", *words, "qa.csv", "--server", url)
    warned = evalsi(*call)
    assert warned.status == 0
    assert (
        "warning: no record has an input, output or reference; the columns are question, answer, topic; "
        "name the right ones: --map input=question --map reference=answer"
    ) in warned.err
    mapped = evalsi(*call, "--map", "input=question", "--map", "reference=answer")
    assert (mapped.status, "warning" in mapped.err) == (0, False)
    (tmp_path / "qa.csv").write_text("input,topic\nCapital of Peru?,cities\n")
    assert "warning" not in evalsi(*call).err


def test_versions_are_named_reviewed_and_fetched_part_by_part(evalsi: Evalsi, url: str, tmp_path: Path) -> None:
    server = ("--server", url, "--token", "evk_unused")
    assert evalsi("dataset", "upload", "data.jsonl", "--name", "towns", "--format", "jsonl", *server).status == 0
    assert "4 records" in evalsi("dataset", "import", "data.jsonl", "--name", "towns", *server).err
    about = ("--name", "towns", "--version", "two", "--owner", "ana", "--tag", "small", "--records", "data.jsonl")
    refused = evalsi("dataset", "publish", *about, "--sha256", "00", *server)
    assert (refused.status, "has the digest" in refused.err) == (1, True)
    assert evalsi("dataset", "publish", *about, *server).status == 0
    page = json.loads(
        evalsi("dataset", "versions", "--name", "towns", "--page-size", "1", "--format", "json", *server).out
    )
    (second,) = page["datasets"]
    assert (second["content"]["owner"], second["content"]["split"], second["state"]) == ("ana", "held-out", "draft")
    more = evalsi("dataset", "versions", "--name", "towns", "--page-token", page["next_page_token"], *server)
    assert "two" not in more.out
    named = ("towns", "two", "--sha256", second["sha256"])
    decided = ("--revision", "0", "--decision", "approved", "--note", "checked")
    assert evalsi("dataset", "review-version", *named, *decided, *server).status == 0
    history = evalsi("dataset", "version-history", "towns", "two", "--format", "json", *server)
    assert [each["state"] for each in json.loads(history.out)["events"]] == ["approved"]
    assert "approved" in evalsi("dataset", "version", "towns", "two", *server).out
    assert evalsi("dataset", "fetch-version", *named, "-o", "two.jsonl", *server).status == 0
    other = evalsi("dataset", "fetch-version", "towns", "two", "--sha256", "ab", "-o", "other.jsonl", *server)
    assert (other.status, (tmp_path / "other.jsonl").exists()) == (1, False)
    first = json.loads(evalsi("dataset", "version", "towns", "1", "--format", "json", *server).out)["sha256"]
    digests = ("--before-sha256", first, "--after-sha256", second["sha256"])
    same_records = evalsi("dataset", "version-diff", "towns", "1", "two", *digests, "--fail-on-change", *server)
    assert (same_records.status, same_records.out) == (3, "")
    assert "owner" in same_records.err


def test_runs_are_sent_put_away_promoted_and_removed_by_their_ids(evalsi: Evalsi, url: str, tmp_path: Path) -> None:
    server = ("--server", url)
    (tmp_path / "twice.yaml").write_text(
        SPEC.replace("NAME", "sent").replace("DATASET", "path: data.jsonl").replace("GATE", "0") + "  trials: 2\n"
    )
    assert evalsi("run", "twice.yaml", "--quiet").status == 0
    assert evalsi("runs", "export", "sent", "sent.zip").status == 0
    (row,) = json.loads(evalsi("runs", "import", "sent.zip", "--format", "json", *server).out)
    shown = [json.loads(evalsi("runs", "show", name, "--format", "json", *where).out)
             for name, where in (("sent", ()), (row["id"], server))]  # fmt: skip
    assert shown[0] == shown[1]
    added = evalsi("promote", row["id"], "--dataset", "misses", "--when", "score('exact-match') < 1", *server)
    assert "added to promoted/default/misses.jsonl" in added.err
    assert evalsi("archive-run", row["id"], *server).status == 2
    assert evalsi("archive-run", row["id"], "--yes", *server).status == 0
    assert row["id"] not in evalsi("runs", "list", "--format", "json", *server).out
    assert evalsi("runs", "archive", row["id"], "--restore", *server).status == 0
    assert row["id"] in evalsi("runs", "list", "--format", "json", *server).out
    assert evalsi("delete-run", row["id"], "--yes", "--idempotency-key", "once", *server).status == 0
    assert evalsi("runs", "show", row["id"], *server).status == 1


def test_what_runs_may_name_of_a_server_is_listed(evalsi: Evalsi, url: str) -> None:
    ended = evalsi("credentials", "list", "--server", url)
    assert (ended.status, "limit" in ended.err or "may name no" in ended.err) == (0, True), ended.err
    assert json.loads(evalsi("credentials", "list", "--format", "json", "--server", url).out)["enforced"] in (
        True,
        False,
    )


@pytest.mark.slow
def test_a_run_on_a_server_ends_as_one_on_this_machine(evalsi: Evalsi, url: str, tmp_path: Path) -> None:
    server = ("--server", url)
    evalsi("dataset", "put", "asked", "data.jsonl", *server)
    here = evalsi("run", spec(tmp_path, "once", "path: data.jsonl"), "--format", "json")
    there = evalsi("run", spec(tmp_path, "once", "catalog: {name: asked}"), "--format", "json", "--output", "out.csv",
                   "--report", "report.html", "--junit", "junit.xml", *server)  # fmt: skip
    assert (there.status, there.out) == (here.status, here.out)
    assert without_times(there.err.splitlines()[-1]) == without_times(here.err.splitlines()[-1])
    stored = json.loads(evalsi("dataset", "show", "asked", "--format", "json", *server).out)
    manifest = json.loads(evalsi("runs", "show", "once", "--manifest", *server).out)
    assert manifest["dataset"]["sha256"] == stored["sha256"], "a version has one digest"
    assert all((tmp_path / name).stat().st_size for name in ("out.csv", "report.html", "junit.xml"))
    failed = evalsi("run", spec(tmp_path, "strict", "catalog: {name: asked}", "0.99"), *server)
    assert failed.status == 3
    assert "FAIL" in failed.err
    wrong = evalsi(
        "run", spec(tmp_path, "wrong", "catalog: {name: asked}"), "--set", "spec.evaluators[0].ref=exact-mach", *server
    )
    assert wrong.status == 2
    assert "exact-match" in wrong.err
    assert evalsi("run", spec(tmp_path, "away", "path: ../../etc/passwd"), *server).status != 0
    mine = evalsi("run", spec(tmp_path, "mine", "path: My cases.v2.jsonl"), *server)
    assert "evalsi dataset put my-cases 'My cases.v2.jsonl'" in mine.err
    assert "dataset: {catalog: {name: my-cases}}" in mine.err
    assert evalsi("run", spec(tmp_path, "dry", "catalog: {name: asked}"), "--dry-run", *server).status == 0
    assert evalsi("runs", "show", "dry", *server).status == 1
    assert evalsi("run", spec(tmp_path, "x", "path: data.jsonl"), "--no-wait").status == 2


@pytest.mark.parametrize(
    ("dataset", "said"),
    [
        ("path: nope.jsonl", "6:19: spec.dataset.path: there is no 'nope.jsonl' below the root of datasets"),
        ("catalog: {name: nope}", "6:22: spec.dataset.catalog: there is no dataset 'nope'"),
        ("run: {run_id: nope}", "6:27: spec.dataset.run.run_id: no run 'nope'"),
    ],
)
def test_what_a_server_has_not_is_told_where_the_spec_names_it(
    evalsi: Evalsi, url: str, tmp_path: Path, dataset: str, said: str
) -> None:
    ended = evalsi("run", "-f", spec(tmp_path, "far", dataset), "--server", url)
    assert ended.status == 2, ended.err
    assert f"far.yaml:{said}" in ended.err


@pytest.mark.slow
def test_commands_on_runs_give_the_same_for_both(evalsi: Evalsi, url: str, tmp_path: Path) -> None:
    server = ("--server", url)
    worse = [{**row, "output": "wrong"} for row in ROWS[:2]] + ROWS[2:]
    write_jsonl(tmp_path / "worse.jsonl", worse)
    for name, data in (("base", "data.jsonl"), ("cand", "worse.jsonl")):
        evalsi("dataset", "put", name, data, *server)
        assert evalsi("run", spec(tmp_path, name, f"path: {data}")).status in (0, 3)
        asked = evalsi("run", spec(tmp_path, name, f"catalog: {{name: {name}}}"), "--no-wait", *server)
        assert asked.status == 0
        assert evalsi("runs", "watch", asked.out.strip(), *server).status == 0
    for command in (
        ("compare", "base", "cand", "--format", "json"),
        ("compare", "base", "cand", "--gate", "exact-match:0.02"),
        ("matrix", "base", "cand", "--metric", "exact-match"),
        ("runs", "show", "base", "--format", "json"),
        ("analyze", "slice", "exact-match", "--by", "metadata.topic", "--run", "base", "--run", "cand"),
        (
            "analyze",
            "query",
            "SELECT metric, count(*) n, avg(number) mean FROM scores GROUP BY metric",
            "--run",
            "base",
        ),
        ("report", "cand", "--baseline", "base", "-o", "report.md"),
        ("catalog", "--pack", "core", "--format", "json"),
        ("catalog", "--format", "md"),
    ):
        here, there = evalsi(*command), evalsi(*command, *server)
        assert here.status == there.status, there.err
        if command[0] == "catalog" and "json" in command:  # 0 and 0.0 are one number
            assert json.loads(here.out) == json.loads(there.out)
        else:
            assert without_times(here.out) == without_times(there.out), command
    for ending in ("json", "jsonl", "csv"):
        assert evalsi("runs", "export", "base", f"there.{ending}", *server).status == 0
        assert evalsi("runs", "export", "base", f"here.{ending}").status == 0
    assert (tmp_path / "here.csv").read_text() == (tmp_path / "there.csv").read_text()
    assert evalsi("runs", "export", "base", "there.zip", *server).status == 0
    assert evalsi("compare", "there.json", "base", *server).status == 0
    anew = evalsi("rescore", "base", "--evaluators", "contains", "--name", "anew", *server)
    assert anew.status == 0, anew.err
    assert "contains" in evalsi("runs", "show", "anew", *server).out
    own_judge = ("--judge-provider", "anthropic", "--judge-model", "m")
    assert "asks its own judges" in evalsi("rescore", "base", "--evaluators", "contains", *own_judge, *server).err
    again = evalsi("runs", "rerun", "base", "--name", "again", *server)
    assert again.status == 0, again.err
    assert evalsi("runs", "show", "again", *server).out == evalsi("runs", "show", "base", *server).out
    on_server = evalsi(
        "analyze", "slice", "exact-match", "--by", "metadata.topic", "--run", "base", "--on-server", *server
    )
    assert "cities" in on_server.out
    listed = json.loads(evalsi("runs", "list", "--label", "team=search", "--format", "json", *server).out)
    assert {"base", "cand"} <= {each["name"] for each in listed}
    latest = listed[0]["id"]
    assert latest in evalsi("runs", "show", latest[:12], *server).err
    assert evalsi("runs", "cancel", latest, *server).status == 2
    assert evalsi("runs", "rm", latest, *server).status == 0
    gone = evalsi("runs", "show", "bsae", *server)
    assert gone.status == 1
    assert "base" in gone.err


def test_a_run_that_its_budget_ended_is_an_error_on_a_server_too(evalsi: Evalsi, url: str, tmp_path: Path) -> None:
    server = ("--server", url)
    evalsi("dataset", "put", "asked", "data.jsonl", *server)
    usage = {"prompt_tokens": 7, "completion_tokens": 3, "total_tokens": 10}
    with StandInModel(Behaviour(replies=[Reply(text="x", usage=usage)])) as model:
        target = json.dumps(
            {"connector": "openai-compatible", "model": "m", "base_url": model.base_url, "max_concurrency": 1}
        )
        changes = (f"spec.target={target}", "spec.budget.max_target_tokens=15", "spec.gates[0].min=0")
        sets = [word for change in changes for word in ("--set", change)]
        ended = evalsi("run", spec(tmp_path, "capped", "catalog: {name: asked}"), *sets, *server)
        resumed = evalsi("runs", "resume", "latest", *server)
        assert model.stats.requests == 2
    assert "the budget of 15 target tokens is used up" in resumed.err, (
        "what it left out is not done by asking for it again"
    )
    assert "PASS" not in resumed.out + resumed.err
    assert "--retry-errors" not in ended.err, "here nothing takes it up with another budget"
    refused = evalsi("run", spec(tmp_path, "capped", "catalog: {name: asked}"), "--retry-errors", *server)
    assert (refused.status, "--retry-errors takes up a run in the store of this machine" in refused.err) == (2, True)
    assert ended.status == 1, ended.err
    assert "the budget of 15 target tokens is used up" in ended.err
    assert "PASS" not in ended.err
    (row,) = json.loads(evalsi("runs", "list", "--format", "json", *server).out)[:1]
    assert (row["status"], row["verdict"]) == ("error", "")
    assert "target tokens is used up" in row["error"]


@pytest.mark.slow
def test_a_run_under_way_is_watched_and_stopped_from_elsewhere(
    evalsi: Evalsi, url: str, tmp_path: Path, server: RunningServer
) -> None:
    rows = [{"id": str(number), "input": "x", "output": "x" * 5000, "reference": "y"} for number in range(2_000)]
    write_jsonl(tmp_path / "many.jsonl", rows)
    evalsi("dataset", "put", "many", "many.jsonl", "--server", url)
    path = spec(tmp_path, "long", "catalog: {name: many}")
    asked = evalsi(
        "run",
        path,
        "--set",
        "spec.evaluators[0].ref=fuzzy-match",
        "--set",
        "spec.gates=[]",
        "--no-wait",
        "--server",
        url,
    )
    assert asked.status == 0, asked.err
    run_id = asked.out.strip()
    stopping = threading.Timer(0.5, lambda: server.post(f"/v1/runs/{run_id}:cancel", {}))
    stopping.start()
    watched = evalsi("runs", "watch", run_id, "--server", url)
    stopping.join()
    assert watched.status == 1
    assert "runs resume" in watched.err
    resumed = evalsi("runs", "resume", run_id, "--server", url, "--quiet")
    assert resumed.status == 0, resumed.err
    assert "fuzzy-match" in resumed.out


@pytest.mark.slow
def test_a_run_of_a_server_travels_to_the_store_of_this_machine_as_one_file(
    evalsi: Evalsi, url: str, tmp_path: Path
) -> None:
    assert evalsi("dataset", "put", "travelling", "data.jsonl", "--server", url).status == 0
    dataset = "catalog: {name: travelling}"
    assert evalsi("run", "-f", spec(tmp_path, "travels", dataset), "--quiet", "--server", url).status == 0
    assert evalsi("runs", "export", "travels", "kept/travels.zip", "--server", url).status == 0
    shown = evalsi("runs", "show", "travels", "--format", "json", "--server", url)
    done = evalsi("runs", "import", "kept/travels.zip")
    assert done.status == 0, done.err
    assert (shown.status, evalsi("runs", "show", "travels", "--format", "json").out) == (0, shown.out)
    assert [row["status"] for row in json.loads(evalsi("runs", "list", "--format", "json").out)] == ["succeeded"]
    absent = evalsi("runs", "export", "nowhere", "kept/nowhere.zip", "--server", url)
    assert (absent.status, absent.err.count("\n")) == (1, 1)
    assert [each.name for each in (tmp_path / "kept").iterdir()] == ["travels.zip"]


POLICY = """
apiVersion: evals.si/v1alpha1
kind: OnlineEvalPolicy
metadata: {name: a-policy-with-a-name-that-goes-on-and-on}
spec:
  selector: 'service == "a-service-that-is-somewhere-else"'
  stages: [{evaluators: [pii-leak, tool-errors, system-prompt-leak]}]
"""


@pytest.mark.slow
def test_tables_of_a_server_fit_the_terminal_and_are_whole_in_a_pipe(
    evalsi: Evalsi, url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "policy.yaml").write_text(POLICY)
    assert evalsi("policy", "apply", "-f", "policy.yaml", "--server", url).status == 0
    assert evalsi("dataset", "put", "wide", "data.jsonl", "--description", "what " * 40, "--server", url).status == 0
    for arguments in (
        ("policy", "list"),
        ("policy", "stats", "a-policy-with-a-name-that-goes-on-and-on"),
        ("dataset", "list", "wide"),
        ("catalog", "--pack", "text"),
        ("auth", "roles", "list"),
        ("auth", "roles", "permissions"),
        ("auth", "projects", "list"),
        ("whoami",),
    ):
        piped = evalsi_shown(monkeypatch, None, *arguments, "--server", url)
        assert "…" not in piped
        assert not any(line.endswith(" ") for line in piped.splitlines())
        for width in (80, 60):
            narrow = evalsi_shown(monkeypatch, width, *arguments, "--server", url)
            assert all(cell_len(line) <= width for line in narrow.splitlines()), narrow
            if arguments[0] not in ("dataset", "catalog"):  # their descriptions are excerpts
                assert set("".join(narrow.split())) >= set("".join(piped.split()))
                assert len("".join(narrow.split())) >= len("".join(piped.split())) - 60
