"""The parts that decide who may do what on a server, and the first key of a new one.

A module of its own because the command line needs it without a server, and at no cost of one.
"""

from collections.abc import Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, field

from evalsi.access.audit_chain import sealed
from evalsi.access.authenticator import Authenticator, OpenDoor
from evalsi.access.caller import EVERY_PROJECT
from evalsi.access.guard import Guard, ProjectOfRun
from evalsi.access.key_authenticator import KeyAuthenticator
from evalsi.access.key_making import MadeKey, made_key
from evalsi.core.clock import Clock, SystemClock
from evalsi.core.errors import AlreadyExistsError
from evalsi.infra.store.open_stores import open_access_store
from evalsi.ports.access_store import AccessStore, StoredKey
from evalsi.schema import AuditEvent, CreateAPIKeyRequest, Project, RoleBinding
from evalsi.settings import Settings
from evalsi.settings.server import ServerSettings
from evalsi.settings.server_rights import configured_bindings, configured_keys, configured_projects
from evalsi.wiring.store_address import store_address

THIS_MACHINE = "local"
"""Who did what was done with `--local`: whoever may write the store."""


@dataclass(frozen=True, kw_only=True)
class AccessParts:
    """What a server asks before a call, and what its AuthService is made of."""

    store: AccessStore
    authenticator: Authenticator
    guard: Guard
    clock: Clock
    keys: Sequence[StoredKey] = field(default_factory=list[StoredKey])
    """Of the configuration file."""
    bindings: Sequence[RoleBinding] = field(default_factory=list[RoleBinding])
    """Of the configuration file."""

    def forget(self) -> None:
        """Has keys and bindings looked up again."""
        if isinstance(self.authenticator, KeyAuthenticator):
            self.authenticator.forget()


def access_parts(
    server: ServerSettings, store: AccessStore, project_of_run: ProjectOfRun, *, no_auth: bool = False
) -> AccessParts:
    """The parts, over an open store. Projects of the configuration file are made where they are not there yet.

    Args:
        no_auth: Whether nobody is asked, whatever the configuration says.
    """
    clock = SystemClock()
    keys, bindings = configured_keys(server), configured_bindings(server)
    for name, description in configured_projects(server).items():
        project = Project(
            name=name, description=description, source="config", created_at=clock.now(), created_by="config"
        )
        with suppress(AlreadyExistsError):
            store.add_project(project)
    asks = server.auth is not None and server.auth.mode == "required" and not no_auth
    authenticator = KeyAuthenticator(store, clock, keys=keys, bindings=bindings) if asks else OpenDoor()
    guard = Guard(store, clock, project_of_run)
    return AccessParts(store=store, authenticator=authenticator, guard=guard, clock=clock, keys=keys, bindings=bindings)


def make_local_key(asked: CreateAPIKeyRequest, settings: Settings, server: ServerSettings) -> MadeKey:
    """A key made by whoever may write the store of a server: how the first owner gets in. It is in the audit log.

    Raises: InvalidParamsError, UnknownNameError, AlreadyExistsError: as the server would. StoreError: see the store.
    """
    now = SystemClock().now()
    made = made_key(asked, now, THIS_MACHINE)
    projects = sorted(made.stored.key.roles)
    event = AuditEvent(
        time=now,
        principal=THIS_MACHINE,
        subject=THIS_MACHINE,
        action="access.manage",
        project=projects[0] if len(projects) == 1 else EVERY_PROJECT,
        resource=made.stored.key.name,
        allowed=True,
        procedure="evalsi auth keys create --local",
    )
    with closing(open_access_store(store_address(server, settings))) as store:
        store.append_audit(event, sealed)
        store.add_key(made.stored)
    return made
