"""AuthService behind the guard: what each role may see and give, and that a key is shown once."""

import asyncio
from pathlib import Path
from typing import Any

import msgspec
import pytest

import evalsi.schema as types
from evalsi.access.audit_chain import sealed
from evalsi.access.caller import Caller, everyone
from evalsi.core.errors import (
    AlreadyExistsError,
    EvalsiError,
    ForbiddenError,
    InvalidParamsError,
    NotFoundError,
    UnimplementedError,
    UnknownNameError,
)
from evalsi.schema import CreateAPIKeyRequest, CreateBindingRequest, RevokeAPIKeyRequest, RoleBinding, RoleList
from evalsi.testing.access_store_suite import an_event
from tests.access.calling import OWNER, Office, a_caller, an_office

ADMIN = a_caller({"billing": ("admin",)}, name="boss")


def call(office: Office, method: str, request: Any, caller: Caller = OWNER) -> Any:
    return asyncio.run(office.call(method, request, caller))


def new_key(name: str = "ci", roles: dict[str, list[str]] | None = None, **more: Any) -> CreateAPIKeyRequest:
    listed = {project: RoleList(roles=names) for project, names in (roles or {"default": ["runner"]}).items()}
    return CreateAPIKeyRequest(name=name, roles=listed, **more)


def with_billing(office: Office) -> None:
    call(office, "CreateProject", types.CreateProjectRequest(name="billing"))


def test_a_new_key_is_shown_once_and_opens_the_door(tmp_path: Path) -> None:
    with an_office(tmp_path) as office:
        made = call(office, "CreateAPIKey", new_key(ttl=60.0))
        listed = call(office, "ListAPIKeys", types.ListAPIKeysRequest()).keys
        door = office.authenticator.authenticate({"authorization": f"Bearer {made.secret}"})
        me = call(office, "WhoAmI", types.WhoAmIRequest(), asyncio.run(door))
    assert [key.name for key in listed] == ["ci"]
    assert made.secret not in str(listed)
    assert (me.principal.kind, me.principal.subject, me.owner, me.auth_enabled) == ("key", "key:ci", False, True)
    assert me.access[0].roles == ["runner"]


def test_whoever_calls_without_authentication_is_an_owner_and_told_so(tmp_path: Path) -> None:
    with an_office(tmp_path) as office:
        me = call(office, "WhoAmI", types.WhoAmIRequest(), everyone())
    assert (me.principal.kind, me.owner, me.auth_enabled) == ("anonymous", True, False)
    assert "runs.delete" in me.access[0].permissions


@pytest.mark.parametrize(
    ("asked", "wrong"),
    [
        (new_key("Größe"), "name"),
        (new_key("a/../b"), "name"),
        (new_key("-a"), "name"),
        (new_key("a" * 64), "name"),
        (CreateAPIKeyRequest(name="ci"), "roles"),
        (new_key(roles={"default": []}), "roles.default"),
        (new_key(roles={"default": ["runer"]}), "roles.default"),
        (new_key(ttl=0.0), "ttl"),
        (new_key(ttl=1e300), "ttl"),
        (new_key(labels={"team": "x" * 2000}), "labels.team"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_key_that_makes_no_sense_is_refused_at_the_field(
    tmp_path: Path, asked: CreateAPIKeyRequest, wrong: str
) -> None:
    with an_office(tmp_path) as office:
        with pytest.raises((InvalidParamsError, UnknownNameError)) as refusal:
            call(office, "CreateAPIKey", asked)
        assert office.store.api_keys() == []
    assert refusal.value.where == wrong


@pytest.mark.parametrize(
    "roles", [{"billing": ["owner"]}, {"*": ["viewer"]}, {"billing": ["viewer"], "default": ["viewer"]}]
)
def test_nobody_gives_more_than_they_have(tmp_path: Path, roles: dict[str, list[str]]) -> None:
    with an_office(tmp_path) as office:
        with_billing(office)
        with pytest.raises(ForbiddenError):
            call(office, "CreateAPIKey", new_key(roles=roles), ADMIN)
        for project, names in roles.items():
            if project != "billing" or names == ["owner"]:
                binding = RoleBinding(project=project, role=names[0], subject="key:ci")
                with pytest.raises(ForbiddenError):
                    call(office, "CreateBinding", CreateBindingRequest(binding=binding), ADMIN)
        assert office.store.api_keys() == []
        assert office.store.bindings() == []


def test_an_admin_makes_lists_and_revokes_keys_of_the_project_alone(tmp_path: Path) -> None:
    with an_office(tmp_path) as office:
        with_billing(office)
        call(office, "CreateAPIKey", new_key("theirs"))
        call(office, "CreateAPIKey", new_key("shared", {"default": ["viewer"], "billing": ["viewer"]}))
        call(office, "CreateAPIKey", new_key("ours", {"billing": ["editor"]}), ADMIN)
        seen = call(office, "ListAPIKeys", types.ListAPIKeysRequest(), ADMIN).keys
        assert {key.name: sorted(key.roles) for key in seen} == {"ours": ["billing"], "shared": ["billing"]}
        with pytest.raises(ForbiddenError, match="default"):
            call(office, "RevokeAPIKey", RevokeAPIKeyRequest(name="shared"), ADMIN)
        for name in ("theirs", "nobody"):
            with pytest.raises(NotFoundError, match=name):
                call(office, "RevokeAPIKey", RevokeAPIKeyRequest(name=name), ADMIN)
        call(office, "RevokeAPIKey", RevokeAPIKeyRequest(name="ours"), ADMIN)
        revoked = {stored.key.name for stored in office.store.api_keys() if stored.key.revoked}
        assert revoked == {"ours"}


def test_a_revoked_key_is_refused_by_the_next_call(tmp_path: Path) -> None:
    with an_office(tmp_path) as office:
        made = call(office, "CreateAPIKey", new_key())
        headers = {"authorization": f"Bearer {made.secret}"}
        asyncio.run(office.authenticator.authenticate(headers))
        call(office, "RevokeAPIKey", RevokeAPIKeyRequest(name="ci"))
        with pytest.raises(EvalsiError, match="not accepted"):
            asyncio.run(office.authenticator.authenticate(headers))


def test_a_binding_changes_what_a_key_may_do_from_its_next_call_on(tmp_path: Path) -> None:
    with an_office(tmp_path) as office:
        with_billing(office)
        made = call(office, "CreateAPIKey", new_key())
        headers = {"authorization": f"Bearer {made.secret}"}
        binding = RoleBinding(project="billing", role="viewer", subject="key:ci")
        assert not asyncio.run(office.authenticator.authenticate(headers)).has("runs.read", "billing")
        call(office, "CreateBinding", CreateBindingRequest(binding=binding), ADMIN)
        assert asyncio.run(office.authenticator.authenticate(headers)).has("runs.read", "billing")
        call(office, "DeleteBinding", types.DeleteBindingRequest(binding=binding), ADMIN)
        assert not asyncio.run(office.authenticator.authenticate(headers)).has("runs.read", "billing")


@pytest.mark.parametrize(
    ("subject", "error"),
    [
        ("key:nobody", NotFoundError),
        ("user:google/ann", UnimplementedError),
        ("cel:true", UnimplementedError),
        ("ann", InvalidParamsError),
        ("", InvalidParamsError),
    ],
)
def test_a_role_is_bound_to_a_key_that_is_there(tmp_path: Path, subject: str, error: type[EvalsiError]) -> None:
    binding = RoleBinding(role="viewer", subject=subject)
    with an_office(tmp_path) as office, pytest.raises(error):
        call(office, "CreateBinding", CreateBindingRequest(binding=binding))


@pytest.mark.parametrize("method", ["CreateRole", "UpdateRole", "DeleteRole"])
def test_custom_roles_are_said_not_to_be_served(tmp_path: Path, method: str) -> None:
    request = getattr(types, f"{method}Request")()
    with an_office(tmp_path) as office, pytest.raises(UnimplementedError, match="built-in roles: viewer"):
        call(office, method, request)


def test_projects_are_listed_to_whoever_has_a_role_in_them(tmp_path: Path) -> None:
    with an_office(tmp_path) as office:
        with_billing(office)
        assert [each.name for each in call(office, "ListProjects", types.ListProjectsRequest()).projects] == [
            "billing",
            "default",
        ]
        seen = call(office, "ListProjects", types.ListProjectsRequest(), ADMIN).projects
        assert [each.name for each in seen] == ["billing"]
        with pytest.raises(AlreadyExistsError):
            with_billing(office)
        with pytest.raises(ForbiddenError):
            call(office, "CreateProject", types.CreateProjectRequest(name="mine"), ADMIN)


def test_the_log_is_read_page_by_page_and_by_project(tmp_path: Path) -> None:
    with an_office(tmp_path) as office:
        with_billing(office)
        for number in range(5):
            call(office, "CreateAPIKey", new_key(f"k{number}", {"billing": ["viewer"]}), ADMIN)
        found: list[str] = []
        request = types.ListAuditEventsRequest(page_size=2)
        while True:
            page = call(office, "ListAuditEvents", request, ADMIN)
            found += [event.resource for event in page.events]
            if not page.next_page_token:
                break
            request = msgspec.structs.replace(request, page_token=page.next_page_token)
        assert found == ["k4", "k3", "k2", "k1", "k0"]
        everything = call(office, "ListAuditEvents", types.ListAuditEventsRequest()).events
        assert [event.action for event in everything].count("projects.manage") == 1
        for wrong in ("x", "-1", "٣", "9" * 30):
            with pytest.raises(InvalidParamsError):
                call(office, "ListAuditEvents", types.ListAuditEventsRequest(page_token=wrong))


def test_the_log_of_thousands_of_calls_is_verified_by_the_owner_alone(tmp_path: Path) -> None:

    with an_office(tmp_path) as office:
        for number in range(1203):
            office.store.append_audit(an_event(number), sealed)
        report = call(office, "VerifyAuditLog", types.VerifyAuditLogRequest())
        assert (report.ok, report.checked, report.first_sequence, report.last_sequence) == (True, 1203, 1, 1203)
        with pytest.raises(ForbiddenError):
            call(office, "VerifyAuditLog", types.VerifyAuditLogRequest(), ADMIN)
