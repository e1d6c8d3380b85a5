"""A server that asks who is calling, over every protocol; one off this machine that would not is refused."""

import json
import secrets
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest

from tests.command_line import evalsi
from tests.server.running_server import EXACT, RunningServer, running_server, wait_until


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("asking")


@pytest.fixture(scope="module")
def root(folder: Path) -> str:
    env = {"EVALSI_DIR": str(folder / "store")}
    made = evalsi("auth", "keys", "create", "root", "--role", "*=owner", "--local", cwd=folder, env=env)
    return made.out.strip()


@pytest.fixture(scope="module")
def asking(folder: Path, root: str) -> Generator[RunningServer]:
    assert root
    (folder / "evalsi.yaml").write_text("data_dir: store\nauth: {}\nprojects: {billing: {}}\n", encoding="utf-8")
    with running_server(folder, ["--config", "evalsi.yaml"]) as running:
        yield running


def with_key(key: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {key}", "Content-Type": "application/json"}


def said(server: RunningServer, verb: str, path: str, key: str, message: Any = None) -> tuple[int, Any]:
    body = None if message is None else json.dumps(message)
    status, _, content = server.request(verb, path, body, with_key(key) if key else {})
    return status, json.loads(content)


def new_key(server: RunningServer, root: str, name: str, role: str) -> str:
    asked = {"name": name, "roles": {"default": {"roles": [role]}}}
    status, answer = said(server, "POST", "/v1alpha1/apikeys", root, asked)
    assert status == 200, answer
    return str(answer["secret"])


def test_without_a_key_nothing_is_answered_but_health(asking: RunningServer) -> None:
    for path in ("/v1alpha1/evaluators", "/v1alpha1/whoami", "/v1alpha1/audit"):
        status, answer = said(asking, "GET", path, "")
        assert (status, answer["code"]) == (401, 16)
    assert said(asking, "POST", "/v1alpha1/evaluate", "", EXACT)[0] == 401
    assert said(asking, "POST", "/evalsi.v1alpha1.EvaluationService/Evaluate", "evk_" + "x" * 43, EXACT)[0] == 401
    assert asking.request("GET", "/healthz")[0] == 200


def test_roles_decide_over_rest_and_connect(asking: RunningServer, root: str) -> None:
    viewer, runner = new_key(asking, root, "viewer", "viewer"), new_key(asking, root, "runner", "runner")
    for path in ("/v1alpha1/evaluate", "/evalsi.v1alpha1.EvaluationService/Evaluate"):
        assert said(asking, "POST", path, runner, EXACT)[0] == 200
        status, answer = said(asking, "POST", path, viewer, EXACT)
        assert status == 403
        assert "evaluations.run" in answer["message"]
    assert said(asking, "POST", "/v1alpha1/evaluate", runner, EXACT | {"project": "billing"})[0] == 403
    assert said(asking, "POST", "/v1alpha1/evaluate", root, EXACT | {"project": "biling"})[0] == 404


def test_metrics_need_a_key_that_may_read_them(asking: RunningServer, root: str) -> None:
    runner = new_key(asking, root, "no-monitor", "runner")
    made = {"name": "prometheus", "roles": {"*": {"roles": ["monitor"]}}}
    monitor = str(said(asking, "POST", "/v1alpha1/apikeys", root, made)[1]["secret"])
    assert asking.request("GET", "/metrics")[0] == 401
    assert asking.request("GET", "/metrics", headers=with_key(runner))[0] == 403
    for key in (monitor, root):
        status, _, body = asking.request("GET", "/metrics", headers=with_key(key))
        assert status == 200
        assert b"evalsi_audit_write_failures_total 0.0" in body
        assert b"evalsi_unauthenticated_total" in body
    assert said(asking, "GET", "/v1alpha1/runs", monitor)[0] == 403


def test_a_credential_that_was_not_granted_is_refused_and_counted(asking: RunningServer, root: str) -> None:
    target = {"connector": "openai-compatible", "model": "m", "apiKeyEnv": "HOME", "baseUrl": "https://example.com/v1"}
    spec = {"dataset": {"path": "x.jsonl"}, "target": target, "evaluators": [{"ref": "exact-match"}]}
    status, answer = said(asking, "POST", "/v1alpha1/runs", root, {"spec": spec})
    assert (status, answer["error"]) == (403, "credential-denied")
    _, _, body = asking.request("GET", "/metrics", headers=with_key(root))
    assert b"evalsi_credential_denied_total 1.0" in body


def test_roles_decide_over_grpc(asking: RunningServer, root: str) -> None:
    grpc = pytest.importorskip("grpc")
    from evalsi.schema import EvaluateRequest, EvaluatorRef, Record
    from evalsi.schema.proto_codec import encode

    request = encode(EvaluateRequest(records=[Record(id="1")], evaluators=[EvaluatorRef(ref="exact-match")]))
    viewer = new_key(asking, root, "viewer-of-grpc", "viewer")
    with grpc.insecure_channel(asking.address) as channel:
        method: Any = channel.unary_unary("/evalsi.v1alpha1.EvaluationService/Evaluate")
        for key, code in (("", "UNAUTHENTICATED"), (viewer, "PERMISSION_DENIED")):
            metadata = [("authorization", f"Bearer {key}")] if key else []
            with pytest.raises(grpc.RpcError) as refusal:
                method(request, metadata=metadata, timeout=10)
            assert refusal.value.code().name == code
        assert method(request, metadata=[("authorization", f"Bearer {root}")], timeout=10)


def test_refusals_are_in_the_log_and_keys_in_none(asking: RunningServer, root: str) -> None:
    viewer = new_key(asking, root, "refused", "viewer")
    said(asking, "POST", "/v1alpha1/evaluate", viewer, EXACT)
    _, answer = said(asking, "GET", "/v1alpha1/audit?deniedOnly=true", root)
    newest = answer["events"][0]
    assert (newest["principal"], newest["action"], newest["allowed"]) == ("key:refused", "evaluations.run", False)
    _, report = said(asking, "GET", "/v1alpha1/audit:verify", root)
    assert report["ok"] is True
    assert viewer not in json.dumps(asking.lines)
    assert root not in json.dumps(asking.lines)


def test_the_address_of_a_caller_is_in_log_and_audit_whatever_the_protocol(asking: RunningServer, root: str) -> None:
    grpc = pytest.importorskip("grpc")
    who = f"from-{secrets.token_hex(4)}"
    viewer = new_key(asking, root, who, "viewer")
    said(asking, "POST", "/v1alpha1/evaluate", viewer, EXACT)
    for name in ("first", "x\n" * 100):  # the second is no id that may stand in a log
        with grpc.insecure_channel(asking.address, options=[("grpc.use_local_subchannel_pool", 1)]) as channel:
            method: Any = channel.unary_unary("/evalsi.v1alpha1.EvaluationService/Evaluate")
            metadata = [("authorization", f"Bearer {viewer}"), ("x-request-id", name.replace("\n", "_,"))]
            with pytest.raises(grpc.RpcError):
                method(b"", metadata=metadata, timeout=10)
    _, answer = said(asking, "GET", "/v1alpha1/audit?deniedOnly=true", root)
    mine = [event for event in answer["events"] if event["principal"] == f"key:{who}"]
    assert [event["source"] for event in mine] == ["127.0.0.1"] * 3
    assert mine[1]["requestId"] == "first"
    assert len(mine[0]["requestId"]) == 16

    def logged() -> set[tuple[str, str]]:
        return {(line["protocol"], line["source"]) for line in asking.lines if line.get("caller") == f"key:{who}"}

    # A line is written after the answer.
    assert wait_until(lambda: logged() == {("rest", "127.0.0.1"), ("grpc", "127.0.0.1")})


def test_the_command_line_speaks_to_it(asking: RunningServer, root: str, folder: Path) -> None:
    env = {"EVALSI_SERVER": f"http://{asking.address}", "EVALSI_API_KEY": root}
    me = evalsi("whoami", "--format", "json", cwd=folder, env=env)
    assert (me.status, json.loads(me.out)["owner"]) == (0, True), me.err
    refused = evalsi("whoami", cwd=folder, env=env | {"EVALSI_API_KEY": "evk_" + "x" * 43})
    assert (refused.status, "not accepted" in refused.err) == (1, True)


@pytest.mark.parametrize(
    ("text", "options", "message"),
    [
        ("", ("--listen", "0.0.0.0:0"), "nobody would be asked"),
        ("listen: 0.0.0.0:0\nauth: {}", (), "unencrypted"),
        ("listn: x", (), "evalsi.yaml:1:1: unknown key listn; did you mean 'listen'?"),
    ],
)
def test_a_server_that_should_not_start_does_not(
    tmp_path: Path, text: str, options: tuple[str, ...], message: str
) -> None:
    (tmp_path / "evalsi.yaml").write_text(text, encoding="utf-8")
    ended = evalsi("serve", "--config", "evalsi.yaml", *options, cwd=tmp_path)
    assert ended.status == 2
    assert message in ended.err
