"""The parts of a server: settings in, pools of workers and access out. It grades nothing, and loads nothing that does."""

import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from evalsi.access.guard import ProjectOfRun
from evalsi.access.outgoing_rights import OutgoingRights
from evalsi.core.processors import available_processors
from evalsi.infra.store.access_store import SqlAccessStore
from evalsi.infra.store.answer_store import SqlAnswerStore
from evalsi.infra.store.open_stores import open_sql_database
from evalsi.infra.worker_processes import PoolPlan, WorkerProcesses
from evalsi.ports.answer_store import AnswerStore
from evalsi.schema import CredentialGrant
from evalsi.settings import Settings
from evalsi.settings.server import ServerSettings
from evalsi.settings.server_rights import granted_to, rights_by_project
from evalsi.settings.server_sandboxes import sandbox_environment
from evalsi.wiring.access import AccessParts, access_parts
from evalsi.wiring.store_address import store_address

JUDGE_POOL_WORKERS = 4
"""Processes of the judge pool. Each asks many judges at once; several keep long calls from holding up others."""
REWARD_POOL_WORKERS = 4
"""Processes of the reward pool, each at one batch. Several, so that a batch that takes long leaves room for others."""


@dataclass(frozen=True, kw_only=True)
class ServingLimits:
    """What a server's workers may do."""

    workers: int = 0
    """Most processes for evaluators that compute; 0 for as many as there are processors."""
    record_deadline_s: float = 30.0
    """Seconds one computing evaluator may take over one record; then that record alone is an ERROR."""
    most_records: int = 10_000
    """Records that one call may bring."""
    stream_batch: int = 32
    """Records of a stream that are graded at once."""
    stream_batches: int = 8
    """Batches of one stream that are graded side by side."""
    call_deadline_s: float = 600.0
    """Seconds a worker may take over a call, or over a batch of a stream."""


@dataclass(frozen=True, kw_only=True)
class ServingParts:
    """What a server is built from. The pools are not open yet."""

    pools: Mapping[str, WorkerProcesses]
    limits: ServingLimits
    access: AccessParts
    answers: AnswerStore
    """What was answered under an `Idempotency-Key`."""
    rights: Callable[[str], OutgoingRights]
    """What a project may call."""
    granted: Callable[[str], Sequence[CredentialGrant]] | None
    """The credentials that a project may name; None where it may name any."""
    judges: Sequence[str] = ()
    """Names of the judges there are."""
    default_judge: str = ""
    """The one used when none is named; empty when there is none."""


def serving_parts(
    settings: Settings,
    server: ServerSettings,
    limits: ServingLimits | None = None,
    project_of_run: ProjectOfRun | None = None,
    *,
    no_auth: bool = False,
) -> ServingParts:
    """The parts of a server.

    Args:
        project_of_run: Finds the project of a run; None for a server without runs.
        no_auth: Whether nobody is asked who is calling, whatever the settings say.
    Raises: StoreError: the store cannot be opened.
    """
    limits = limits or ServingLimits()
    environment = {
        **settings.environment,
        **sandbox_environment(settings.sandbox),
        "EVALSI_DIR": str(settings.directory.absolute()),
    }
    # The interpreter of this process, whatever PATH says.
    cache = "fresh" if server.worker.no_cache else "cached"
    grading = (sys.executable, "-m", "evalsi.worker", "grading", str(limits.record_deadline_s), cache)

    rewarding = (sys.executable, "-m", "evalsi.worker", "rewards")

    def pool(name: str, workers: int, spare: int, command: Sequence[str] = grading) -> WorkerProcesses:
        plan = PoolPlan(name=name, command=command, environment=environment, workers=workers, spare=spare)
        return WorkerProcesses(plan)

    pools = {
        "cpu": pool("cpu", limits.workers or available_processors(), 1),
        "judge": pool("judge", JUDGE_POOL_WORKERS, 0),
        "reward": pool("reward", REWARD_POOL_WORKERS, 0, rewarding),
    }
    database = open_sql_database(store_address(server, settings))
    access = access_parts(server, SqlAccessStore(database), project_of_run or _no_run, no_auth=no_auth)
    return ServingParts(
        pools=pools,
        limits=limits,
        access=access,
        answers=SqlAnswerStore(database),
        rights=rights_by_project(server),
        granted=(lambda project: granted_to(server, project)) if server.credentials.enforce else None,
        judges=sorted(server.judges),
        default_judge=server.default_judge,
    )


async def _no_run(run_id: str) -> str | None:
    """The project of a run, on a server that has none."""
    del run_id
    return None
