"""The action table is complete, and roles allow what the published interface says."""

from typing import Any

import pytest

import evalsi.schema as types
from evalsi.access.actions import ACTIONS, Action, Scope, name_of, rule_of
from evalsi.access.permissions import PERMISSIONS
from evalsi.access.roles import ROLES, permissions_of, role_named
from evalsi.core.errors import UnimplementedError, UnknownNameError
from evalsi.schema.field import fields_of
from evalsi.schema.method import METHODS, Method

NAMES = {permission.name for permission in PERMISSIONS}


def test_every_method_of_the_schema_has_a_line_and_every_line_a_method() -> None:
    assert {name_of(method) for method in METHODS} == set(ACTIONS)


@pytest.mark.parametrize("method", METHODS, ids=name_of)
def test_what_a_line_says_of_a_request_is_in_the_request(method: Method) -> None:
    _, action = rule_of(name_of(method))
    if action.scope in (Scope.NAMED, Scope.VISIBLE) and name_of(method) not in WITHOUT_PROJECT:
        assert leads_somewhere(asked_with(method), action.project)
    for field in action.runs:
        assert leads_somewhere(asked_with(method), field)
    assert method.action in NAMES


WITHOUT_PROJECT = {"CatalogService.ListEvaluators"}


@pytest.mark.parametrize("method", METHODS, ids=name_of)
def test_a_request_that_can_name_a_project_is_asked_about_in_that_project(method: Method) -> None:
    """No method whose request has a project is admitted by looking elsewhere alone."""
    action: Action = ACTIONS[name_of(method)]
    if "project" in {field.name for field in fields_of(asked_with(method))}:
        assert action.scope in (Scope.NAMED, Scope.VISIBLE) or action.runs


def asked_with(method: Method) -> str:
    """The message that says what a call is about."""
    if not method.client_streams:
        return method.request
    return next(field.type_name for field in fields_of(method.request) if field.name == "config")


def leads_somewhere(message: str, path: str) -> bool:
    for step in path.split("."):
        known = {field.name: field for field in fields_of(message)}
        if step not in known:
            return False
        message = known[step].type_name
    return True


def test_a_method_without_a_line_can_be_called_by_nobody() -> None:
    with pytest.raises(UnimplementedError, match="DropEverything"):
        rule_of("AuthService.DropEverything")


def test_roles_name_known_permissions_and_contain_one_another() -> None:
    for role in ROLES:
        assert set(role.permissions) <= NAMES | {"*"}
    assert (
        permissions_of(["viewer"]) < permissions_of(["runner"]) < permissions_of(["editor"]) < permissions_of(["admin"])
    )
    assert permissions_of(["ingest"]) == {"traces.write"}
    assert permissions_of(["owner"]) == {"*"}


@pytest.mark.parametrize(
    ("role", "allowed", "refused"),
    [
        ("viewer", "runs.read", "runs.create"),
        ("runner", "runs.create", "datasets.write"),
        ("editor", "datasets.write", "access.manage"),
        ("admin", "access.manage", "projects.manage"),
        ("guard", "guardrails.check", "guardrails.read"),
    ],
)
def test_a_role_allows_what_the_interface_says_and_no_more(role: str, allowed: str, refused: str) -> None:
    permissions = permissions_of([role])
    assert allowed in permissions
    assert refused not in permissions


def test_a_role_that_does_not_exist_is_named_with_the_nearest() -> None:
    with pytest.raises(UnknownNameError, match="did you mean 'runner'"):
        role_named("runer")


def test_the_permissions_are_those_of_the_interface_and_the_right_to_delete_traces() -> None:
    assert len(NAMES - {"traces.delete"}) == len(PERMISSIONS) - 1 == 36
    unused: set[Any] = {method.action for method in METHODS} - NAMES
    assert not unused
    assert types.Permission(name="projects.manage", description="Make projects", install_wide=True) in PERMISSIONS
