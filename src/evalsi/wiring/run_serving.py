"""A server's runs from its settings: the stores, the workers, and who may hold how much.

Its own module because a server without runs need not open a store, and the access to it stands beside, not inside.
"""

import asyncio
import logging
import threading
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from pathlib import Path

import msgspec

from evalsi.access.outgoing_rights import OutgoingRights
from evalsi.core.clock import Clock, SystemClock
from evalsi.core.errors import NotFoundError, StoreError, UsageError
from evalsi.infra.objects import ALLOW_HTTP
from evalsi.infra.promoted_files import PromotedFiles
from evalsi.infra.run_workers import RunWorkers
from evalsi.infra.store.access_store import SqlAccessStore
from evalsi.infra.store.answer_store import SqlAnswerStore
from evalsi.infra.store.audit_outbox import SqlAuditOutbox
from evalsi.infra.store.database import StoreOptions
from evalsi.infra.store.project_stores import SqlProjectStores
from evalsi.ports.access_store import AccessStore
from evalsi.ports.answer_store import KEPT
from evalsi.ports.audit_outbox import AuditOutbox
from evalsi.ports.project_stores import ProjectStores
from evalsi.ports.run_queue import QueueLimits, TokenQuota
from evalsi.ports.run_store import RunQuery
from evalsi.schema import Record
from evalsi.settings import Settings
from evalsi.settings.server import AuditSettings, QuotaSettings, RunSettings, ServerSettings
from evalsi.settings.server_rights import rights_by_project
from evalsi.wiring.accounts import Accounts
from evalsi.wiring.run_order import RunWorkerOrder, opened_stores
from evalsi.wiring.store_address import store_address

logger = logging.getLogger(__name__)

TIDY_INTERVAL_S = 60.0
"""Between two looks for runs that have been there long enough."""
TIDY_STOP_S = 2.0
KNOWN_PROJECTS = 10_000
"""Runs of which a server remembers the project."""
ENDED = ("succeeded", "failed", "interrupted", "error")


@dataclass(frozen=True, kw_only=True)
class RunParts:
    """What the services of runs and datasets work with."""

    stores: ProjectStores
    datasets: Path
    """The root of datasets."""
    audit: AuditOutbox
    """How far sinks have the audit log."""
    add_cases: Callable[[str, str, Sequence[Record]], int]
    """Adds records to a dataset of a project below that root, those that are not in it; gives their number."""
    clock: Clock
    most_stored: Callable[[str], int | None]
    """How many runs a project may hold."""
    rights: Callable[[str], OutgoingRights]
    """What runs of a project may call."""
    default_judge: str
    has_usual_judge: bool
    """Whether runs that name no judge may find one in the environment."""
    tokens: Callable[[str], TokenQuota]
    """What a project may use in a day."""
    workers: RunWorkers | None = None
    """Who carries out runs; None where they wait for another server."""
    accounts: Accounts = field(default_factory=Accounts)
    """What work has used and how runs ended."""
    _projects: dict[str, str] = field(default_factory=dict[str, str], init=False)

    async def project_of_run(self, run_id: str) -> str | None:
        """The project of a run; None when there is no such run.

        It never changes, so that whoever follows a run asks the store once. Of a run that was deleted it may still be
        known; then the store says that there is none.
        """
        known = self._projects.get(run_id)
        if known is None:
            try:
                known = await asyncio.to_thread(self.stores.project_of, run_id)
            except NotFoundError:
                return None
            if len(self._projects) >= KNOWN_PROJECTS:
                self._projects.clear()
            self._projects[run_id] = known
        return known


@contextmanager
def opened_runs(server: ServerSettings, settings: Settings) -> Generator[RunParts]:
    """Opens the stores; leaving puts runs under way back in line. The workers are started by who has opened the port.

    Raises: StoreError: a store cannot be opened.
    """
    with opened_run_stores(server, settings) as parts:
        workers = RunWorkers(
            order=msgspec.json.encode(order_of(server, settings)),
            count=server.runs.max_concurrent,
            demand=lambda: sum(parts.stores.queue.depth().values()),
            hear=parts.accounts.hear,
        )
        stopped = threading.Event()
        tidying = threading.Thread(
            target=_keep_tidy, args=(parts.stores, server, parts.clock, stopped), name="tidy", daemon=True
        )
        tidying.start()
        try:
            yield replace(parts, workers=workers)
        finally:
            stopped.set()
            workers.stop()
            tidying.join(TIDY_STOP_S)


@contextmanager
def opened_run_stores(server: ServerSettings, settings: Settings) -> Generator[RunParts]:
    """Opens the stores alone: what is there can be looked at, and a run that is asked for waits for a server.

    Raises: StoreError: a store cannot be opened.
    """
    order = order_of(server, settings)
    datasets = Path(order.datasets)
    try:
        datasets.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StoreError(f"the folder of datasets {datasets} cannot be made: {error.strerror}") from error
    stores = opened_stores(order, StoreOptions(synchronous=server.storage.sqlite.synchronous))
    try:
        yield RunParts(
            stores=stores,
            audit=SqlAuditOutbox(stores.database),
            datasets=datasets,
            add_cases=PromotedFiles(datasets).add,
            clock=SystemClock(),
            most_stored=lambda project: server.quotas.of(project).max_stored_runs,
            rights=rights_by_project(server),
            default_judge=server.default_judge,
            has_usual_judge=bool(settings.judge.provider or settings.judge.model),
            tokens=lambda project: _tokens(server.quotas.of(project)),
        )
    finally:
        stores.close()


def order_of(server: ServerSettings, settings: Settings) -> RunWorkerOrder:
    """What the workers of this server are told."""
    folder = settings.directory.absolute()
    quotas = server.quotas
    named = {name: quotas.of(name) for name in quotas.projects}
    return RunWorkerOrder(
        store=store_address(server, settings),
        datasets=str(Path(server.datasets_dir).absolute() if server.datasets_dir else folder / "datasets"),
        objects=_objects(server, folder),
        object_options=_object_options(server, settings.environment),
        cache=str(folder / "cache"),
        limits=QueueLimits(
            total=server.runs.max_concurrent,
            per_project=quotas.default.max_concurrent_runs,
            projects={
                name: quota.max_concurrent_runs
                for name, quota in named.items()
                if quota.max_concurrent_runs is not None
            },
        ),
        quotas={"": _tokens(quotas.default), **{name: _tokens(quota) for name, quota in named.items()}},
        server=server,
        adopt_s=server.runs.adopt_interval,
        lease_s=server.runs.lease_ttl,
    )


def tidy_runs(stores: ProjectStores, plan: RunSettings, clock: Clock) -> int:
    """Puts away and deletes the runs that have been there long enough, by the rules of their projects; how many.

    Raises: StoreError: the store cannot be used; the rest is done next time.
    """
    now = clock.now()
    changed, removed = 0, False
    rules = (
        (plan.retention, plan.project_retention, None, True),
        (plan.archive_after, plan.project_archive_after, False, False),
    )
    for usual_s, own_s, archived, removes in rules:
        ages_s = [age_s for age_s in (usual_s, *own_s.values()) if age_s is not None]
        if not ages_s:
            continue
        until = (now - timedelta(seconds=min(ages_s))).isoformat()
        query = RunQuery(statuses=ENDED, until=until, archived=archived)
        token = ""
        while True:
            page = stores.page(None, query, size=500, token=token)
            for row in page.runs:
                age_s = own_s.get(row.project, usual_s)
                if age_s is None or row.finished_at is None or row.finished_at > _text(now - timedelta(seconds=age_s)):
                    continue
                with suppress(NotFoundError, UsageError):  # somebody was quicker, or goes on with it
                    if removes:
                        stores.of(row.project).delete(row.id, gives_space_back=False)
                        removed = True
                    else:
                        stores.of(row.project).archive(row.id, at=_text(now))
                    changed += 1
            token = page.next_token
            if not token:
                break
    if removed:
        stores.give_space_back()
    return changed


def tidy_audit(access: AccessStore, plan: AuditSettings, clock: Clock) -> int:
    """Removes the entries of the audit log that are older than is kept; how many. Raises: StoreError."""
    return access.trim_audit(older_than=clock.now() - timedelta(seconds=plan.retention))


def _keep_tidy(stores: SqlProjectStores, server: ServerSettings, clock: Clock, stopped: threading.Event) -> None:
    access, answers = SqlAccessStore(stores.database), SqlAnswerStore(stores.database)
    while not stopped.is_set():
        try:
            changed = tidy_runs(stores, server.runs, clock)
            if changed:
                logger.info("%d runs were put away or removed by the rules of their projects", changed)
            removed = tidy_audit(access, server.audit, clock)
            if removed:
                logger.info("%d entries of the audit log were removed by its retention", removed)
            answers.forget(older_than=clock.now() - KEPT)
        except StoreError as error:
            logger.warning("the store could not be tidied: %s", error)
        stopped.wait(TIDY_INTERVAL_S)


def _objects(server: ServerSettings, folder: Path) -> str:
    s3 = server.storage.s3
    if s3 is not None and s3.bucket:
        return f"s3://{s3.bucket}"
    # Servers that share a database need not share a disk.
    return f"file://{folder / 'objects'}" if server.storage.postgres is None else ""


def _object_options(server: ServerSettings, environment: Mapping[str, str]) -> dict[str, str]:
    s3 = server.storage.s3
    if s3 is None or not s3.bucket:
        return {}
    options = {
        "endpoint": s3.endpoint,
        "region": s3.region,
        "access_key_id": environment.get(s3.access_key_env, ""),
        "secret_access_key": environment.get(s3.secret_key_env, ""),
        "virtual_hosted_style_request": "" if s3.path_style or not s3.endpoint else "true",
        ALLOW_HTTP: "true" if s3.insecure else "",
    }
    return {name: value for name, value in options.items() if value}


def _tokens(quota: QuotaSettings) -> TokenQuota:
    return TokenQuota(
        target_tokens_per_day=quota.target_tokens_per_day, judge_tokens_per_day=quota.judge_tokens_per_day
    )


def _text(moment: datetime) -> str:
    return moment.isoformat(timespec="milliseconds")
