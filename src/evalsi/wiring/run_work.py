"""Working on the runs that a server was asked for: take one, carry it out, say how it ended, take the next.

The same `running.prepared` and `execute_run_now` as on the command line do the work. What always holds: a run is in one
worker's hands at a time, a worker that lost its run writes nothing more, and a run that could not be finished for a
reason that may pass goes back in line.
"""

import logging
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import Self

import msgspec

from evalsi.core.errors import NO_ROOM, EvalsiError, LeaseLostError, StoreError
from evalsi.core.outward_words import outward_words, without_paths
from evalsi.core.own_traces import span
from evalsi.judges.spend import Spend
from evalsi.judges.spend_so_far import SpendSoFar
from evalsi.ports.project_stores import ProjectStores
from evalsi.ports.run_queue import Claim, RunQueue, TokenQuota
from evalsi.ports.spent import Spent
from evalsi.results.recorder import Progress
from evalsi.run.execute_run import execute_run_now
from evalsi.run.run_job import Executed
from evalsi.schema import EvalRun, RunManifest, RunMetadata, RunSpec, Usage
from evalsi.settings import Settings
from evalsi.settings.server_rights import environment_of, fence_of, rights_of
from evalsi.settings.server_sandboxes import sandboxes_of
from evalsi.settings.server_sinks import sinks_of_run
from evalsi.wiring.accounts import RunEnded, RunSpent, WorkNews
from evalsi.wiring.run_options import RunOptions, Served
from evalsi.wiring.run_order import RunProgress, RunWorkerOrder, opened_stores
from evalsi.wiring.running import prepared
from evalsi.wiring.scores_of_runs import hand_over_scores
from evalsi.wiring.served_spec import read_served_spec
from evalsi.wiring.tokens_of_day import used_up_tokens, utc_day
from evalsi.wiring.trace_records import records_of_traces

logger = logging.getLogger(__name__)

POLL_S = 0.1
"""After how long a worker that has just become idle looks for work again; from then on it takes twice as long each time."""
AFTER_TROUBLE_S = 5.0
"""How long a worker waits when the store could not be used."""


@dataclass(frozen=True, kw_only=True)
class RunWork:
    """What a worker is to do, and how long."""

    order: RunWorkerOrder
    stopped: threading.Event
    """Ends the work."""
    woken: threading.Event
    """Says that there may be a run; set with `stopped` too."""
    ends_after_s: float | None = None
    """Ends the work after so many seconds without any; None for never."""
    tell: Callable[[WorkNews], None] = lambda _news: None
    """Takes what happens to runs."""


def serve_runs(work: RunWork, settings: Settings) -> None:
    """Works on the runs of a store until it is stopped."""
    stores = opened_stores(work.order)
    try:
        work_on_runs(stores, work, settings)
    finally:
        stores.close()


def work_on_runs(stores: ProjectStores, work: RunWork, settings: Settings) -> None:
    """Works until it is stopped; the run in hand goes back in line then, with everything it has stored."""
    pause_s, idle_s = POLL_S, 0.0
    while not work.stopped.is_set():
        try:
            # Before looking: who wakes us while we look has something newer than what we see.
            work.woken.clear()
            if work.stopped.is_set():
                return
            claim = stores.queue.claim(work.order.limits, lease_s=work.order.lease_s)
            if claim is not None:
                pause_s, idle_s = POLL_S, 0.0
                if not _carry_out(claim, stores, work, settings):
                    work.stopped.wait(AFTER_TROUBLE_S)
                continue
            if work.ends_after_s is not None and idle_s >= work.ends_after_s:
                return
            if work.woken.wait(pause_s):
                pause_s = POLL_S
            else:
                idle_s += pause_s
                pause_s = min(2 * pause_s, work.order.adopt_s)
        except StoreError as error:
            logger.warning("the store cannot be used: %s", error)
            work.stopped.wait(AFTER_TROUBLE_S)


def _carry_out(claim: Claim, stores: ProjectStores, work: RunWork, settings: Settings) -> bool:
    """Whether all went well; False asks for a pause before the next run."""
    logger.info("run %s of project %s begins", claim.run_id, claim.project)
    queue = stores.queue

    def settle(status: str, error: str = "") -> None:
        queue.settle(claim, status, error=error)
        work.tell(RunEnded(claim.project, status))

    with _Lease(claim, queue, work) as lease:
        try:
            with span("run", {"evalsi.run": claim.run_id, "evalsi.project": claim.project}):
                executed = _execute(claim, stores, work.order, settings, lease)
                if not executed.interrupted and not lease.lost:
                    _hand_over(claim, stores, work.order)
        except StoreError as error:
            if lease.lost:
                logger.warning("run %s was given to another worker", claim.run_id)
                return True
            # A full disk, a database that restarts: what is stored is stored, and the rest is done when it is back.
            logger.warning("run %s waits: %s", claim.run_id, error)
            _tell(lambda: queue.release(claim), claim, work.stopped)
            return False
        except EvalsiError as error:
            why = outward_words(error)
        except Exception as error:
            if isinstance(error, OSError) and error.errno in NO_ROOM:
                logger.warning("run %s waits: %s", claim.run_id, error)
                _tell(lambda: queue.release(claim), claim, work.stopped)
                return False
            logger.exception("run %s failed", claim.run_id)
            why = without_paths(f"internal error: {type(error).__name__}: {error}")
        else:
            status, why = ("", "") if lease.lost else _ending(executed, lease)
            if status:
                _tell(lambda: settle(status, why), claim, work.stopped)
            elif not lease.lost:
                _tell(lambda: queue.release(claim), claim, work.stopped)
            return True
        _tell(lambda: settle("failed", why), claim, work.stopped)
    return True


def _tell(say: Callable[[], None], claim: Claim, stopped: threading.Event) -> None:
    """Says how it stands with a run, as soon as the store takes it: until then nobody else should begin with the run."""
    while True:
        try:
            say()
        except LeaseLostError:
            return  # its new holder says so
        except StoreError as error:
            logger.warning("the state of run %s cannot be stored: %s", claim.run_id, error)
            if stopped.wait(AFTER_TROUBLE_S):
                return  # the run is adopted when this process is gone
        else:
            return


def _execute(
    claim: Claim, stores: ProjectStores, order: RunWorkerOrder, settings: Settings, lease: "_Lease"
) -> Executed:
    store = stores.of(claim.project)
    manifest = store.manifest(claim.run_id)
    spec = manifest.spec
    assert spec is not None, claim.run_id
    rights = rights_of(order.server, claim.project)
    usual_url = settings.judge.base_url

    def may_send(variable: str, url: str) -> bool:
        return (bool(url) and url == usual_url) or rights.may_send(variable, url)

    ready = read_served_spec(
        document_of(manifest),
        name=f"run {claim.run_id}",
        root=Path(order.datasets),
        rights=rights,
        default_judge=order.server.default_judge,
    )
    settings = replace(
        settings,
        fence=fence_of(order.server),
        sandbox=sandboxes_of(order.server, settings.sandbox),
        environment=environment_of(order.server, claim.project, settings.environment),
        may_send=may_send,
    )
    options = RunOptions(
        continues=claim.run_id,
        replay=spec.dataset.run.run_id if _grades_again(spec) and spec.dataset and spec.dataset.run else "",
        served=Served(
            spec=ready.spec,
            version_path=stores.datasets(claim.project).path_of,
            version_sha256=lambda ref: stores.datasets(claim.project).version(ref.name, ref.version or "latest").sha256,
            traces=lambda source: records_of_traces(
                order.store,
                claim.project,
                source,
                datetime.fromisoformat(store.run(claim.run_id).created_at),
                order.server.traces.mappings,
            ),
        ),
        on_progress=lease.note,
        on_judges=lease.know_judges,
        use_cache=not order.server.worker.no_cache,
        stopped=lease.is_over,
    )
    return execute_run_now(prepared(ready.document, settings, options, store))


def _hand_over(claim: Claim, stores: ProjectStores, order: RunWorkerOrder) -> None:
    """Puts the scores of a run that has ended in line for its sinks. Raises: StoreError."""
    if not order.server.sinks:
        return
    store = stores.of(claim.project)
    spec = store.manifest(claim.run_id).spec or RunSpec()
    sinks = sinks_of_run(order.server, claim.project, [sink.name for sink in spec.sinks if sink.name])
    hand_over_scores(order.store, store, claim.project, claim.run_id, sinks)


def _grades_again(spec: RunSpec) -> bool:
    """Whether the answers of another run are graded in every trial: they then stand in for a target."""
    return (
        spec.target is None
        and spec.dataset is not None
        and spec.dataset.run is not None
        and spec.dataset.run.all_trials
    )


def document_of(manifest: RunManifest) -> EvalRun:
    """The run that a manifest describes, as a specification would have."""
    metadata = RunMetadata(name=manifest.name, project=manifest.project, labels=manifest.labels)
    return EvalRun(metadata=metadata, spec=manifest.spec)


def _ending(executed: Executed, lease: "_Lease") -> tuple[str, str]:
    """How a run ended, and why it failed; no word for one that goes back in line."""
    if not executed.interrupted:
        return ("failed", executed.budget_reached) if executed.budget_reached else ("done", "")
    if lease.cancelled:
        return "cancelled", ""
    why = executed.budget_reached or lease.used_up
    return ("failed", why) if why else ("", "")


class _Lease:
    """Keeps a run in hand while it is worked on: a thread gives signs of life and hears what is wanted meanwhile."""

    def __init__(self, claim: Claim, queue: RunQueue, work: RunWork) -> None:
        self.lost = False
        self.cancelled = False
        self.used_up = ""
        """The quota that is used up, in words."""
        self._claim = claim
        self._queue = queue
        self._order = work.order
        self._stopped = work.stopped
        self._tell = work.tell
        self._judges: Mapping[str, Spend] = {}
        self._judges_told = SpendSoFar()
        # What the target answered an earlier try was counted then. Judges are counted by those who ask them.
        before = _target_spent_before(queue, claim)
        self._counted = (_total(before), 0)
        self._target_told = _spent_on(before)
        self._over = threading.Event()
        self._progress: Progress | None = None
        self._thread = threading.Thread(target=self._keep, name="lease", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._over.set()
        self._thread.join()
        # What was used since the last sign of life counts too.
        self._tell_spent()
        with suppress(StoreError):
            self._count_tokens()

    def note(self, progress: Progress) -> None:
        self._progress = progress

    def know_judges(self, judges: Mapping[str, Spend]) -> None:
        """Counts what these use."""
        self._judges = judges

    def is_over(self) -> bool:
        """Whether the run is to stop here."""
        return self.lost or self.cancelled or bool(self.used_up) or self._stopped.is_set()

    def _keep(self) -> None:
        every_s = min(1.0, self._order.lease_s / 4)
        while not self._over.wait(every_s):
            try:
                wanted = self._queue.renew(self._claim, lease_s=self._order.lease_s, progress=self._account())
                self.cancelled = self.cancelled or not wanted
                self._count_tokens()
                self._tell_spent()
            except LeaseLostError:
                self.lost = True
                return
            except StoreError as error:
                logger.warning("no sign of life could be given for run %s: %s", self._claim.run_id, error)

    def _account(self) -> bytes:
        progress = self._progress
        if progress is None:
            return b""
        return msgspec.json.encode(
            RunProgress(
                # What is answered: rows are graded and stored by the chunk, and a slow target would seem to stand still.
                done=max(progress.done, progress.asked or 0),
                total=progress.total,
                headline=progress.headline,
                outcomes=dict(progress.outcomes),
                spent=progress.spent,
                target_spent=progress.target_spent,
            )
        )

    def _tell_spent(self) -> None:
        project, news = self._claim.project, list[Spent]()
        if self._progress is not None:
            now, before = _spent_on(self._progress.target_spent), self._target_told
            self._target_told = now
            read, written, usd = (max(after - first, 0) for after, first in zip(now, before, strict=True))
            news.append(
                Spent(project=project, role="target", input_tokens=int(read), output_tokens=int(written), cost_usd=usd)
            )
        news.append(self._judges_told.since(self._judges.values(), project))
        for spent in news:
            if spent:
                self._tell(RunSpent(spent))

    def _count_tokens(self) -> None:
        progress, project = self._progress, self._claim.project
        used = self._counted if progress is None else _tokens(progress)
        target, judges = used[0] - self._counted[0], used[1] - self._counted[1]
        quota = self._order.quotas.get(project) or self._order.quotas.get("", TokenQuota())
        limited = quota.target_tokens_per_day is not None or quota.judge_tokens_per_day is not None
        if not (target or judges or limited):
            return
        day = utc_day(datetime.now(UTC))
        total = self._queue.add_usage(project, day, target_tokens=max(target, 0), judge_tokens=max(judges, 0))
        self._counted = used
        self.used_up = next(filter(None, used_up_tokens(project, day, quota, total)), "")


def _target_spent_before(queue: RunQueue, claim: Claim) -> Usage | None:
    """What the target had used when a sign of life was last given for the run."""
    entry = queue.entry(claim.run_id)
    if entry is None or not entry.progress:
        return None
    return msgspec.json.decode(entry.progress, type=RunProgress).target_spent


def _tokens(progress: Progress) -> tuple[int, int]:
    """Tokens of the target and of the judges."""
    target, spent = _total(progress.target_spent), _total(progress.spent)
    return target, spent - target


def _spent_on(usage: Usage | None) -> tuple[int, int, float]:
    """Tokens read, tokens written, US dollars."""
    return (0, 0, 0.0) if usage is None else (usage.input_tokens or 0, usage.output_tokens or 0, usage.cost_usd or 0.0)


def _total(usage: Usage | None) -> int:
    return 0 if usage is None else (usage.input_tokens or 0) + (usage.output_tokens or 0)
