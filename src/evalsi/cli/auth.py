"""`evalsi auth`: keys, roles, bindings, projects and the audit log of a server."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click
import msgspec

from evalsi.cli.format_option import format_option
from evalsi.cli.server_options import key_options
from evalsi.cli.table import number, print_table, text, whole
from evalsi.cli.terminal import as_json, say, when
from evalsi.core.errors import UsageError

if TYPE_CHECKING:
    from evalsi.client.client import Client
    from evalsi.settings import Settings
    from evalsi.settings.server import ServerSettings

ResponseT = TypeVar("ResponseT")
CommandT = TypeVar("CommandT", bound=Callable[..., Any])

_SERVER = click.option("--server", default="", metavar="URL", help="Address of the server. By default EVALSI_SERVER.")
_PROJECT = click.option("--project", default="", metavar="NAME", help="Only what concerns this project.")


def _asking(command: CommandT) -> CommandT:
    return _SERVER(key_options(format_option()(command)))


def _call(ask: "Callable[[Client], ResponseT]", server: str) -> ResponseT:
    from evalsi.cli.server_options import client_of, named_server
    from evalsi.settings import Settings

    with client_of(named_server(server, Settings.from_environment())) as client:
        return ask(client)


@click.group()
def auth() -> None:
    """Manage who may do what on a server."""


@auth.group()
def keys() -> None:
    """Make, list and revoke API keys."""


@keys.command(name="create")
@click.argument("name")
@click.option(
    "--role",
    "roles",
    multiple=True,
    required=True,
    metavar="PROJECT=ROLE[,ROLE]",
    help="Roles in a project; '*' is every project. Repeatable.",
)
@click.option(
    "--label", "labels", multiple=True, metavar="KEY=VALUE", help="What else is to be known of it. Repeatable."
)
@click.option(
    "--ttl", default="", metavar="TIME", help="How long it is good for, such as 720h or 30d. By default for ever."
)
@click.option(
    "--local", is_flag=True, help="Put it into the store of this machine, where no server need run: the first key."
)
@click.option(
    "--config",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="With --local: the settings of the server whose store it is. By default that in EVALSI_DIR or .evalsi.",
)
@_asking
def create_key(
    name: str,
    roles: tuple[str, ...],
    labels: tuple[str, ...],
    ttl: str,
    local: bool,
    config: Path | None,
    server: str,
    output_format: str,
) -> None:
    """Make an API key. It is shown now and never again.

    \b
    evalsi auth keys create root --role '*=owner' --local --config evalsi.yaml
    evalsi auth keys create ci --role default=runner --ttl 90d
    """  # noqa: D301 - click's mark for lines that stay as they are
    from evalsi.cli.eval import labels_of
    from evalsi.schema import CreateAPIKeyRequest, CreateAPIKeyResponse

    request = CreateAPIKeyRequest(
        name=name, roles=_roles_of(roles), labels=labels_of(labels), ttl=_lifetime_s(ttl) if ttl else None
    )
    if config is not None and not local:
        raise UsageError("--config belongs to --local", hint="a running server is named with --server")
    if local:
        from evalsi.wiring.access import make_local_key

        made = make_local_key(request, *_settings_of(config))
        answer = CreateAPIKeyResponse(key=made.stored.key, secret=made.text)
    else:
        answer = _call(lambda client: client.create_api_key(request), server)
    if output_format == "json":
        print(as_json(answer))
        return
    say(f"the key {name}, shown now and never again:")
    shown = answer.secret
    print(shown)


@keys.command(name="list")
@_PROJECT
@_asking
def list_keys(project: str, server: str, output_format: str) -> None:
    """List API keys, never what they are."""
    from evalsi.schema import ListAPIKeysRequest

    answer = _call(lambda client: client.list_api_keys(ListAPIKeysRequest(project=project)), server)
    if output_format == "json":
        print(as_json(answer.keys))
        return
    rows = [
        (
            key.name,
            f"{key.prefix}…" if key.prefix else "-",
            "; ".join(f"{where}: {', '.join(listed.roles)}" for where, listed in key.roles.items()),
            when(key.expires_at),
            when(key.last_used_at),
            "revoked" if key.revoked else key.source,
        )
        for key in answer.keys
    ]
    columns = (text("name"), whole("key"), text("roles"), whole("expires"), whole("last used"), whole("state"))
    print_table(columns, rows, nothing="no keys")


@keys.command(name="revoke")
@click.argument("name")
@_asking
def revoke_key(name: str, server: str, output_format: str) -> None:
    """Revoke an API key. It is refused from the next call on."""
    from evalsi.schema import RevokeAPIKeyRequest

    answer = _call(lambda client: client.revoke_api_key(RevokeAPIKeyRequest(name=name)), server)
    _done(answer, f"the key {name} is revoked", output_format)


@auth.group()
def roles() -> None:
    """List roles and what they allow."""


@roles.command(name="list")
@_PROJECT
@_asking
def list_roles(project: str, server: str, output_format: str) -> None:
    """List the roles."""
    from evalsi.schema import ListRolesRequest

    answer = _call(lambda client: client.list_roles(ListRolesRequest(project=project)), server)
    if output_format == "json":
        print(as_json(answer.roles))
        return
    rows = [
        (role.name, role.description, ", ".join([*(f"all of {each}" for each in role.inherits), *role.permissions]))
        for role in answer.roles
    ]
    print_table((whole("role"), text("what for"), text("allows")), rows)


@roles.command(name="permissions")
@_asking
def list_permissions(server: str, output_format: str) -> None:
    """List everything that a role can allow."""
    from evalsi.schema import ListPermissionsRequest

    answer = _call(lambda client: client.list_permissions(ListPermissionsRequest()), server)
    if output_format == "json":
        print(as_json(answer.permissions))
        return
    rows = [(each.name, each.description) for each in answer.permissions]
    print_table((whole("permission"), text("lets a caller")), rows)


@auth.group()
def bindings() -> None:
    """Give roles to keys and take them away."""


@bindings.command(name="list")
@_PROJECT
@_asking
def list_bindings(project: str, server: str, output_format: str) -> None:
    """List who has which role where, beside the roles that keys were made with."""
    from evalsi.schema import ListBindingsRequest

    answer = _call(lambda client: client.list_bindings(ListBindingsRequest(project=project)), server)
    if output_format == "json":
        print(as_json(answer.bindings))
        return
    rows = [(each.project, each.role, each.subject, each.source, each.created_by) for each in answer.bindings]
    columns = (text("project"), whole("role"), text("subject"), whole("from"), text("given by"))
    print_table(columns, rows, nothing="no bindings")


def _binding(command: CommandT) -> CommandT:
    for option in (
        click.option("--subject", required=True, metavar="SUBJECT", help="Who: key:<name>."),
        click.option("--role", required=True, metavar="ROLE", help="The role."),
        click.option("--project", required=True, metavar="NAME", help="The project; '*' is every one."),
    ):
        command = option(command)
    return command


@bindings.command(name="create")
@_binding
@_asking
def create_binding(project: str, role: str, subject: str, server: str, output_format: str) -> None:
    """Give a role to a key."""
    from evalsi.schema import CreateBindingRequest, RoleBinding

    request = CreateBindingRequest(binding=RoleBinding(project=project, role=role, subject=subject))
    answer = _call(lambda client: client.create_binding(request), server)
    _done(answer, f"{subject} has the role {role} in {project}", output_format)


@bindings.command(name="delete")
@_binding
@_asking
def delete_binding(project: str, role: str, subject: str, server: str, output_format: str) -> None:
    """Take a role from a key."""
    from evalsi.schema import DeleteBindingRequest, RoleBinding

    request = DeleteBindingRequest(binding=RoleBinding(project=project, role=role, subject=subject))
    answer = _call(lambda client: client.delete_binding(request), server)
    _done(answer, f"{subject} has the role {role} in {project} no longer", output_format)


@auth.group()
def projects() -> None:
    """List and make projects."""


@projects.command(name="list")
@_asking
def list_projects(server: str, output_format: str) -> None:
    """List the projects that you may see."""
    from evalsi.schema import ListProjectsRequest

    answer = _call(lambda client: client.list_projects(ListProjectsRequest()), server)
    if output_format == "json":
        print(as_json(answer.projects))
        return
    rows = [(each.name, each.description, when(each.created_at), each.created_by) for each in answer.projects]
    print_table((text("project"), text("what for"), whole("made"), text("by")), rows, nothing="no projects")


@projects.command(name="create")
@click.argument("name")
@click.option("--description", default="", metavar="TEXT", help="What it is for.")
@_asking
def create_project(name: str, description: str, server: str, output_format: str) -> None:
    """Make a project."""
    from evalsi.schema import CreateProjectRequest

    request = CreateProjectRequest(name=name, description=description)
    _done(_call(lambda client: client.create_project(request), server), f"created the project {name}", output_format)


@auth.command()
@click.argument("what", type=click.Choice(["list", "verify"]), default="list")
@_PROJECT
@click.option("--action", default="", metavar="PERMISSION", help="Only calls that needed this permission.")
@click.option("--denied", is_flag=True, help="Only calls that were refused.")
@click.option("--limit", type=click.IntRange(1, 1000), default=50, show_default=True, help="How many, newest first.")
@_asking
def audit(what: str, project: str, action: str, denied: bool, limit: int, server: str, output_format: str) -> int:
    """List refused and changing calls, or verify that nothing was taken out of their log.

    `verify` ends with exit status 3 where the chain is broken.
    """
    from evalsi.schema import VerifyAuditLogRequest

    if what == "list":
        _list_audit(project, action, denied, limit, server, output_format)
        return 0
    report = _call(lambda client: client.verify_audit_log(VerifyAuditLogRequest()), server)
    if output_format == "json":
        print(as_json(report))
    elif report.ok:
        say(f"the audit log is intact: {report.checked} entries, the last is {report.last_sequence}")
    else:
        say(f"the audit log is broken at entry {report.break_sequence}: {report.problem}")
    return 0 if report.ok else 3


def _list_audit(project: str, action: str, denied: bool, limit: int, server: str, output_format: str) -> None:
    from evalsi.schema import ListAuditEventsRequest

    request = ListAuditEventsRequest(project=project, action=action, denied_only=denied, page_size=limit)
    answer = _call(lambda client: client.list_audit_events(request), server)
    if output_format == "json":
        print(as_json(answer.events))
        return
    rows = [
        (
            str(event.sequence),
            when(event.time),
            event.principal,
            event.action,
            event.project,
            event.resource or "-",
            "allowed" if event.allowed else "refused",
        )
        for event in answer.events
    ]
    columns = (
        number("entry"),
        whole("when"),
        *(text(each) for each in ("who", "what", "project", "about")),
        whole("answer"),
    )
    print_table(columns, rows, nothing="no entries")


@auth.command(name="hash-key")
def hash_key() -> None:
    """Print the digest of an API key for the configuration file. The key is read from standard input.

    \b
    printenv EVALSI_API_KEY | evalsi auth hash-key
    """  # noqa: D301 - click's mark for lines that stay as they are
    import sys

    from evalsi.access.api_key import digest_of_key, looks_like_key
    from evalsi.core.errors import UsageError

    typed = click.prompt("API key", hide_input=True, err=True) if sys.stdin.isatty() else sys.stdin.readline()
    key = str(typed).strip()
    if not looks_like_key(key):
        raise UsageError("this is no API key: one begins with evk_", hint="make one with: evalsi auth keys create")
    print(digest_of_key(key))


@auth.command()
@_SERVER
@key_options
def token(server: str) -> None:
    """Print the key that calls to a server are made with, for another program: that of EVALSI_API_KEY, else of `evalsi login`.

    \b
    curl -H "Authorization: Bearer $(evalsi auth token --server https://…)" https://…/v1alpha1/whoami
    """  # noqa: D301
    from evalsi.cli.server_options import named_server
    from evalsi.core.errors import NotFoundError
    from evalsi.settings import Settings

    address = named_server(server, Settings.from_environment())
    if not address.api_key:
        raise NotFoundError(f"no key is kept for {address.url}", hint="keep one with: evalsi login")
    what_was_asked_for = address.api_key
    print(what_was_asked_for)


def _done(answer: msgspec.Struct, sentence: str, output_format: str) -> None:
    if output_format == "json":
        print(as_json(answer))
    else:
        say(sentence)


def _roles_of(written: tuple[str, ...]) -> dict[str, Any]:
    from evalsi.core.errors import UsageError
    from evalsi.schema import RoleList

    found: dict[str, list[str]] = {}
    for each in written:
        project, equals, names = each.partition("=")
        if not equals or not project:
            raise UsageError(f"{each!r} is no role in a project", where="--role", hint="write it as default=runner")
        found.setdefault(project, []).extend(name.strip() for name in names.split(",") if name.strip())
    return {project: RoleList(roles=names) for project, names in found.items()}


def _lifetime_s(text: str) -> float:
    from evalsi.core.errors import UsageError
    from evalsi.schema.json_text import parse_duration

    number, unit = text[:-1], text[-1:]
    seconds = float(number) * 86400 if unit == "d" and number.isdecimal() else parse_duration(text)
    if seconds is None or seconds <= 0:
        raise UsageError(f"{text!r} is no length of time", where="--ttl", hint="write it as 720h or 30d")
    return seconds


def _settings_of(config: Path | None) -> "tuple[Settings, ServerSettings]":
    """The settings of this machine and of a server on it."""
    from evalsi.settings import Settings
    from evalsi.settings.server import ServerSettings

    settings = Settings.from_environment()
    if config is None:
        return settings, ServerSettings()
    from evalsi.settings.read_server_settings import placed_server_settings

    server = placed_server_settings(config)
    return replace(settings, directory=Path(server.data_dir)), server
