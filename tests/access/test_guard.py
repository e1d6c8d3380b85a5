"""The guard admits what roles allow, hides what a caller may not know of, and writes down what it must."""

import asyncio
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import evalsi.schema as types
from evalsi.access.audit_chain import verify
from evalsi.access.caller import Caller, everyone
from evalsi.access.gate import require, visible_projects
from evalsi.access.permissions import PERMISSIONS
from evalsi.access.roles import ROLES, grants_of, permissions_of
from evalsi.core.errors import EvalsiError, ForbiddenError, InvalidParamsError, NotFoundError, StoreError
from evalsi.schema import AuditEvent
from evalsi.testing.access_store_suite import every_event
from tests.access.calling import OWNER, Office, a_caller, an_office

VIEWER = a_caller({"default": ("viewer",)})
RUNNER = a_caller({"billing": ("runner",)})


def admit(folder: Path, caller: Caller, method: str, request: Any) -> tuple[EvalsiError | None, list[AuditEvent]]:
    """How the guard answered, and what the log holds afterwards."""
    with an_office(folder) as office:
        return _admitted(office, caller, method, request), every_event(office.store)


def _admitted(office: Office, caller: Caller, method: str, request: Any) -> EvalsiError | None:
    try:
        asyncio.run(office.guard.admit(caller, method, request))
    except EvalsiError as error:
        return error
    return None


def test_a_read_that_is_allowed_leaves_no_entry(tmp_path: Path) -> None:
    assert admit(tmp_path, VIEWER, "RunService.GetRun", types.GetRunRequest(id="run-of-default")) == (None, [])


def test_an_evaluation_leaves_no_entry(tmp_path: Path) -> None:
    caller = a_caller({"default": ("runner",)})
    assert admit(tmp_path, caller, "EvaluationService.Evaluate", types.EvaluateRequest()) == (None, [])


def test_a_change_is_in_the_log_with_who_what_and_where(tmp_path: Path) -> None:
    caller = a_caller({"default": ("runner",)})
    error, events = admit(tmp_path, caller, "RunService.CancelRun", types.CancelRunRequest(id="run-of-default"))
    assert error is None
    (event,) = events
    assert (event.principal, event.action, event.project, event.resource, event.allowed, event.request_id) == (
        "key:ci",
        "runs.cancel",
        "default",
        "run-of-default",
        True,
        "r-1",
    )
    assert event.procedure == "/evalsi.v1alpha1.RunService/CancelRun"


def test_a_refusal_names_the_permission_and_the_roles_and_is_in_the_log(tmp_path: Path) -> None:
    error, events = admit(tmp_path, VIEWER, "RunService.CreateRun", types.CreateRunRequest(name="n"))
    assert isinstance(error, ForbiddenError)
    assert "runs.create" in str(error)
    assert "'default'" in str(error)
    assert "viewer" in str(error)
    (event,) = events
    assert not event.allowed
    assert event.reason == error.message


@pytest.mark.parametrize("method", ["GetRun", "CancelRun", "DeleteRun", "WatchRun"])
def test_a_run_of_another_project_is_answered_like_one_that_is_not_there(tmp_path: Path, method: str) -> None:
    request = getattr(types, f"{method}Request")
    foreign, events = admit(tmp_path, VIEWER, f"RunService.{method}", request(id="run-of-billing"))
    absent, _ = admit(tmp_path, VIEWER, f"RunService.{method}", request(id="run-of-nobody"))
    assert isinstance(foreign, NotFoundError)
    assert str(foreign).replace("billing", "nobody") == str(absent)
    assert [event.allowed for event in events] == [False]


def test_a_comparison_needs_the_right_in_the_projects_of_both_runs(tmp_path: Path) -> None:
    request = types.CompareRunsRequest(baseline_run_id="run-of-default", candidate_run_id="run-of-billing")
    error, _ = admit(tmp_path, VIEWER, "RunService.CompareRuns", request)
    assert isinstance(error, NotFoundError)
    assert "run-of-billing" in str(error)
    both = a_caller({"default": ("viewer",), "billing": ("viewer",)})
    assert admit(tmp_path, both, "RunService.CompareRuns", request)[0] is None


def test_a_list_without_a_project_is_for_whoever_may_see_any(tmp_path: Path) -> None:
    request = types.ListRunsRequest()
    assert admit(tmp_path, RUNNER, "RunService.ListRuns", request)[0] is None
    ingest = a_caller({"default": ("ingest",)})
    assert isinstance(admit(tmp_path, ingest, "RunService.ListRuns", request)[0], ForbiddenError)
    elsewhere = types.ListRunsRequest(project="default")
    assert isinstance(admit(tmp_path, RUNNER, "RunService.ListRuns", elsewhere)[0], ForbiddenError)


def test_a_project_that_is_not_there_is_refused_with_the_nearest(tmp_path: Path) -> None:
    error, events = admit(tmp_path, OWNER, "RunService.CreateRun", types.CreateRunRequest(project="defualt"))
    assert isinstance(error, NotFoundError)
    assert "did you mean 'default'" in str(error)
    assert events == []


def test_without_authentication_a_change_in_a_new_project_makes_it(tmp_path: Path) -> None:
    with an_office(tmp_path) as office:
        assert _admitted(office, everyone(), "RunService.CreateRun", types.CreateRunRequest(project="new")) is None
        assert [project.name for project in office.store.projects()] == ["default", "new"]


def test_what_cannot_be_written_down_is_not_done(tmp_path: Path) -> None:
    with an_office(tmp_path) as office:
        office.store.close()
        error = _admitted(office, OWNER, "AuthService.CreateProject", types.CreateProjectRequest(name="a"))
    assert isinstance(error, StoreError)


def test_the_log_of_many_calls_verifies(tmp_path: Path) -> None:
    with an_office(tmp_path) as office:
        for _ in range(20):
            _admitted(office, OWNER, "RunService.CreateRun", types.CreateRunRequest())
            _admitted(office, VIEWER, "RunService.CreateRun", types.CreateRunRequest())
        report = verify(every_event(office.store), office.store.audit_head())
    assert (report.ok, report.checked) == (True, 40)


ROLE_NAMES = st.sampled_from([role.name for role in ROLES])
GRANTS = st.dictionaries(st.sampled_from(["*", "default", "billing"]), st.lists(ROLE_NAMES, min_size=1).map(tuple))


@given(GRANTS, st.sampled_from(PERMISSIONS), st.sampled_from(["default", "billing", "other"]))
def test_the_gate_is_the_union_of_the_roles_here_and_everywhere(
    roles: dict[str, tuple[str, ...]], permission: types.Permission, project: str
) -> None:
    held = permissions_of((*roles.get("*", ()), *roles.get(project, ())))
    caller = Caller(principal="key:x", grants=grants_of(roles), roles=roles, method="apikey")
    visible = visible_projects(caller, permission.name)
    if permission.name in held or "*" in held:
        require(caller, permission.name, project)
        assert visible is None or project in visible
    else:
        assert visible is not None
        assert project not in visible
        with pytest.raises(ForbiddenError, match=permission.name):
            require(caller, permission.name, project)


@pytest.mark.parametrize("name", ["..", "../up", "a/b", "p\0", "x" * 64, "Ünï", "-", " "])
def test_a_project_that_is_made_by_being_named_has_a_name_that_a_project_can_have(tmp_path: Path, name: str) -> None:
    with an_office(tmp_path) as office:
        for method, request in (
            ("RunService.CreateRun", types.CreateRunRequest(project=name)),
            ("DatasetCatalogService.UploadDatasetVersion", types.DatasetUploadConfig(project=name, name="cases")),
        ):
            error = _admitted(office, everyone(), method, request)
            assert isinstance(error, InvalidParamsError)
            assert error.where == "project"
        assert [project.name for project in office.store.projects()] == ["default"]
