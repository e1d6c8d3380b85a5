"""What tests of access share: a store, a clock that is turned by hand, and callers with roles."""

from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from evalsi.access.actions import name_of
from evalsi.access.caller import Caller
from evalsi.access.guard import Guard
from evalsi.access.key_authenticator import KeyAuthenticator
from evalsi.access.roles import grants_of
from evalsi.infra.store.access_store import SqlAccessStore
from evalsi.infra.store.open_stores import open_access_store
from evalsi.schema.method import METHODS
from evalsi.server.services.auth_service import AuthService

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
RUNS = {"run-of-default": "default", "run-of-billing": "billing"}
PYTHON_NAME = {name_of(method): method.python_name for method in METHODS}


class TurnedClock:
    """Implements `Clock`; `turn` moves both of its times."""

    def __init__(self) -> None:
        self._passed_s = 0.0

    def now(self) -> datetime:
        return NOON + timedelta(seconds=self._passed_s)

    def monotonic_s(self) -> float:
        return self._passed_s

    def turn(self, seconds: float) -> None:
        self._passed_s += seconds


class Office:
    """Everything that decides about access, over one store."""

    def __init__(self, store: SqlAccessStore, clock: TurnedClock) -> None:
        self.store, self.clock = store, clock
        self.authenticator = KeyAuthenticator(store, clock)
        self.guard = Guard(store, clock, project_of_run)
        self.service = AuthService(store, clock, self.authenticator.forget)

    async def call(self, method: str, request: Any, caller: Caller) -> Any:
        """As a face does it: the guard, then the method."""
        name = f"AuthService.{method}"
        await self.guard.admit(caller, name, request)
        return await getattr(self.service, PYTHON_NAME[name])(request, caller)


@contextmanager
def an_office(folder: Path) -> Iterator[Office]:
    with closing(open_access_store(str(folder / "evalsi.db"))) as store:
        yield Office(store, TurnedClock())


async def project_of_run(run: str) -> str | None:
    return RUNS.get(run)


def a_caller(roles: Mapping[str, tuple[str, ...]], *, name: str = "ci") -> Caller:
    return Caller(
        principal=f"key:{name}", grants=grants_of(roles), roles=roles, key_name=name, method="apikey", request_id="r-1"
    )


OWNER = a_caller({"*": ("owner",)}, name="root")
