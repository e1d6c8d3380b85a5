"""Whatever a key of another project asks, by whatever route, page or spelling, nothing of a project is told to it."""

import json
import re
from collections.abc import Generator
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode

import pytest

from evalsi import schema
from evalsi.schema.method import METHODS, Method
from tests.command_line import evalsi
from tests.server.pages.page_server import PageServer
from tests.server.pages.stored_runs import fill, opened
from tests.server.pages.stored_traffic import fill_traffic, opened_traffic
from tests.server.running_server import RunningServer, running_server

ROLES = ("viewer", "runner", "editor", "admin", "annotator", "ingest", "guard")
OWN = "other"
TOLD_TO_NOBODY = ("support-agent", "research-desk", "window.hit", "Asked by people", "שאלה", "kept-secret", "first 1")
"""What runs, traces, failures, datasets and policies of the default project hold, and no request here does."""


class Foreign:
    """A server with a project full of things, and keys of another project."""

    def __init__(self, server: RunningServer, root: str, ids: dict[str, str]) -> None:
        self.server = server
        self.root = root
        self.ids = ids
        self.keys = {role: self._key(role) for role in ROLES}

    def ask(self, key: str, verb: str, path: str, message: Any = None) -> tuple[int, str]:
        headers = {"Authorization": f"Bearer {key}", "Content-Type": "application/json"}
        body = None if message is None else json.dumps(message)
        status, _, content = self.server.request(verb, path, body, headers)
        return status, content.decode()

    def _key(self, role: str) -> str:
        asked = {"name": role, "roles": {OWN: {"roles": [role]}}}
        status, answer = self.ask(self.root, "POST", "/v1alpha1/apikeys", asked)
        assert status == 200, answer
        return str(json.loads(answer)["secret"])


@pytest.fixture(scope="module")
def foreign(tmp_path_factory: pytest.TempPathFactory) -> Generator[Foreign]:
    folder: Path = tmp_path_factory.mktemp("foreign")
    with opened(folder / "store") as stores:
        ids = fill(stores)
    with opened_traffic(folder / "store") as traces:
        ids |= fill_traffic(traces, 60)
    env = {"EVALSI_DIR": str(folder / "store")}
    made = evalsi("auth", "keys", "create", "root", "--role", "*=owner", "--local", cwd=folder, env=env)
    (folder / "evalsi.yaml").write_text(f"data_dir: store\nauth: {{}}\nprojects: {{{OWN}: {{}}}}\n", encoding="utf-8")
    with running_server(folder, ["--config", "evalsi.yaml"]) as server:
        found = Foreign(server, made.out.strip(), ids)
        rows = '{"id":"q1","input":"first 1"}\n{"id":"q2","input":"שאלה"}\n'
        headers = {"Authorization": f"Bearer {found.root}"}
        status, _, answer = server.request(
            "POST", "/v1/datasets/questions/upload?description=Asked+by+people", rows.encode(), headers
        )
        assert status == 201, answer
        capture = {"traceId": ids["hostile-trace"], "reason": "kept-secret"}
        status, captured = found.ask(found.root, "POST", "/v1/failures", capture)
        assert status == 200, captured
        ids["failure"] = json.loads(captured)["failure"]["id"]
        policy = {
            "name": "watching",
            "labels": {"a": "kept-secret"},
            "stages": [{"evaluators": [{"ref": "tool-errors"}]}],
        }
        status, applied = found.ask(found.root, "POST", "/v1alpha1/policies", policy)
        assert status == 200, applied
        yield found


def parts_of(method: Method, ids: dict[str, str]) -> dict[str, str]:
    """What stands in the place of the names in a path: things of the default project."""
    service = method.service.rpartition(".")[2]
    of_service = {
        "RunService": ids["hostile"],
        "FailureService": ids["failure"],
        "MonitorService": "watching",
        "DatasetCatalogService": "questions",
        "AuthService": "root",
    }
    return {
        "id": of_service.get(service, "x"),
        "run_id": ids["hostile"],
        "name": of_service.get(service, "x"),
        "version": "1",
        "trace_id": ids["hostile-trace"],
        "session_id": ids["session"],
    }


def message_of(method: Method, ids: dict[str, str], project: str) -> dict[str, Any]:
    """Something that the method would take, about the default project's things."""
    asked: dict[str, dict[str, Any]] = {
        "CompareRuns": {"baselineRunId": ids["hostile"], "candidateRunId": ids["candidate"]},
        "SliceRuns": {"runIds": [ids["hostile"]], "metric": "label", "by": "metadata.lang"},
        "CaptureFailure": {"traceId": ids["hostile-trace"]},
        "DeleteTraces": {"traceIds": [ids["hostile-trace"]]},
        "ExportFailures": {"selections": [{"id": ids["failure"], "revision": 1}]},
        "UpdateFailure": {"expectedRevision": 1, "title": "mine"},
        "ReviewFailure": {"expectedRevision": 1, "decision": "FAILURE_STATUS_DISMISSED"},
        "PublishDatasetVersion": {
            "content": {"name": "mine", "project": project},
            "failures": [{"id": ids["failure"], "revision": 1}],
        },
        "PromoteResults": {"dataset": "mine", "includeOutputs": True},
        "CreateShadowReplay": {"candidate": {"dataset": {"traces": {"project": "default"}}}},
        "SubmitFeedback": {"feedback": [{"traceId": ids["hostile-trace"], "passed": False}]},
        "Evaluate": {"records": [{"id": "1"}], "evaluators": [{"ref": "length"}]},
        "ScoreRewards": {"spec": {"components": [{"ref": "length", "weight": 1}]}, "rollouts": []},
        "DiffDatasetVersions": {"name": "questions", "beforeVersion": "1", "afterVersion": "1"},
        "GetRecordEvidence": {"record_id": "1"},
        "TestPolicy": {"policy": {"name": "mine", "project": project, "stages": [{"evaluators": [{"ref": "length"}]}]}},
        "ApplyPolicy": {"name": "watching", "stages": [{"evaluators": [{"ref": "length"}]}]},
        "CreateBinding": {"subject": "key:viewer", "project": project, "role": "owner"},
        "DeleteBinding": {"subject": "key:root", "project": "*", "role": "owner"},
        "CreateAPIKey": {"name": f"more-{project}", "roles": {project or "default": {"roles": ["viewer"]}}},
    }
    found = dict(asked.get(method.name, {}))
    if project and "project" in getattr(schema, method.request).__struct_fields__:
        found["project"] = project
    return found


SCHEMA_TOOK_IT = frozenset({"CreateShadowReplay", "CreateRun", "CreateRole", "UpdateRole"})
"""Methods whose message here is no whole one: they may say so instead."""


LISTED = [method for method in METHODS if method.path and not method.client_streams and not method.server_streams]


def test_whoever_may_read_it_is_told_all_of_it(foreign: Foreign) -> None:
    visitor = PageServer(foreign.server)
    visitor.send("/ui/sign-in", {"key": foreign.root}, page="/ui/sign-in")
    seen = "".join(
        visitor.get("/ui/" + template.format(**foreign.ids)) for template in ("traces", "failures/{failure}")
    )
    seen += "".join(
        foreign.ask(foreign.root, "GET", path.format(**foreign.ids))[1]
        for path in (
            "/v1alpha1/traces/{hostile-trace}",
            "/v1alpha1/traces?page_size=500",
            "/v1alpha1/dataset-versions/questions/1",
            "/v1alpha1/policies",
        )
    )
    assert [word for word in TOLD_TO_NOBODY if word not in seen] == []


@pytest.mark.parametrize("project", ["default", "", OWN])
@pytest.mark.parametrize("role", ROLES)
def test_no_route_tells_a_key_of_another_project_anything(foreign: Foreign, role: str, project: str) -> None:
    for method in LISTED:
        for template in filter(None, (method.path, method.also)):
            path = template
            for name, value in parts_of(method, foreign.ids).items():
                path = path.replace("{" + name + "}", quote(value, safe=""))
            message = message_of(method, foreign.ids, project)
            if method.verb in ("GET", "DELETE"):
                flat = {name: value for name, value in message.items() if isinstance(value, str)}
                status, body = foreign.ask(foreign.keys[role], method.verb, f"{path}?{urlencode(flat)}")
            else:
                status, body = foreign.ask(foreign.keys[role], method.verb, path, message)
            shown = (role, project, method.verb, path, status, body[:600])
            assert status < 500 or status == 501, shown
            assert not any(word in body for word in TOLD_TO_NOBODY), shown
            if project == "default" and method.action not in ("self.read", "catalog.read"):
                assert status in (401, 403, 404) or (status == 400 and method.name in SCHEMA_TOOK_IT), shown


PAGES = (
    "runs runs/{hostile} runs/{hostile}/record?record=1 runs/{hostile}/live compare?a={hostile}&b={candidate} traces "
    "traces?project=default traces?text=refund traces/facets traces/{hostile-trace} traces/{hostile-trace}?project=default "
    "traces/compare?a={hostile-trace}&b={long} sessions/{session} sessions/{session}?project=default policies "
    "policies/watching policies/watching?project=default failures failures?project=default failures/{failure} "
    "failures/{failure}?project=default datasets datasets?project=default datasets/questions/1 "
    "datasets/questions/1?project=default&against=1 catalog settings"
).split()


@pytest.mark.parametrize("role", ROLES)
def test_no_page_shows_a_key_of_another_project_anything(foreign: Foreign, role: str) -> None:
    visitor = PageServer(foreign.server)
    visitor.send("/ui/sign-in", {"key": foreign.keys[role]}, page="/ui/sign-in")
    assert visitor.cookie
    for template in PAGES:
        for project in ("", f"{'&' if '?' in template else '?'}project={OWN}"):
            path = "/ui/" + template.format(**foreign.ids) + ("" if "project=" in template else project)
            status, _, body = foreign.server.request("GET", path, headers={"cookie": visitor.cookie})
            shown = (role, path, status)
            assert status < 500 or status == 501, shown
            assert not any(word in body.decode() for word in TOLD_TO_NOBODY), shown


@pytest.mark.parametrize(
    "odd",
    [
        "%00",
        "%2e%2e",
        "..%2f..%2fetc",
        "%ff%fe",
        "a" * 3000,
        "%F0%9F%98%80",
        "%0d%0aSet-Cookie:x=1",
        "'%20OR%201=1--",
        "%25%30%30",
    ],
)
def test_an_odd_name_in_a_path_is_an_answer_of_ours(foreign: Foreign, odd: str) -> None:
    for method in LISTED:
        if "{" not in method.path or method.verb != "GET":
            continue
        path = re.sub(r"\{\w+\}", lambda _: odd, method.path)
        status, headers, body = foreign.server.request("GET", path, headers={"Authorization": f"Bearer {foreign.root}"})
        assert status in (400, 403, 404, 414, 501), (path[:100], status, body[:300])
        assert "set-cookie" not in headers
        assert json.loads(body)["message"]
    visitor = PageServer(foreign.server)
    visitor.send("/ui/sign-in", {"key": foreign.root}, page="/ui/sign-in")
    for page in ("runs", "traces", "sessions", "policies", "failures", "datasets/x", "datasets/questions"):
        status, headers, body = foreign.server.request("GET", f"/ui/{page}/{odd}", headers={"cookie": visitor.cookie})
        assert status in (200, 303, 400, 403, 404, 414), (page, status, body[:300])
        assert "set-cookie" not in headers
