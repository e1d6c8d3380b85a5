"""Measures a batch of rollouts and composes their rewards, each rollout and part within its own deadline.

Its own module because here the door meets the engine: gates are measured first, and only what passes them is measured
further; equal rollouts are measured once; what was measured whole is kept by a digest of its content. A failed part is
never kept, so a retry of the same batch measures it again and finds the rest.
"""

import asyncio
import hashlib
import struct
from collections import OrderedDict
from collections.abc import Sequence
from math import isnan, nan
from typing import NamedTuple

import msgspec

from evalsi.core.errors import RewardFailedError
from evalsi.engine.columns import CANCELLED, ERROR, SCORED, EvaluatorColumns, Note
from evalsi.engine.evaluate import Evaluation, Lanes, RecordBatch
from evalsi.engine.panel import Panel
from evalsi.ports.closable import Closable
from evalsi.ports.reply_cache import ReplyCache
from evalsi.reward.reward_plan import GATE_FAILED, RewardPart, RewardPlan
from evalsi.schema import (
    IsolationReport,
    Record,
    Reward,
    RewardComponentResult,
    RewardComponentStatus,
    RewardOnError,
)

_BATCH = 256
"""Rollouts that one worker takes at a time."""
_KEPT_IN_MEMORY = 1 << 17
"""Rollouts whose values this process remembers beside the shared cache."""
_SKIPPED_BY_GATE = RewardComponentResult(status=RewardComponentStatus.SKIPPED, reason=GATE_FAILED)

_FENCES = msgspec.msgpack.Decoder(list[IsolationReport | None])

Results = dict[str, RewardComponentResult]


class _Kept(NamedTuple):
    """What is remembered of a rollout: a value for each part, NaN for one that a gate kept from being measured."""

    values: tuple[float, ...]
    fences: tuple[IsolationReport | None, ...] | None
    """How the programs of each part were fenced in; None where no part ran any."""


class BatchScorer:
    """Implements `ports.reward_scorer.RewardScorer` in this process. `close` ends its workers.

    Args:
        plan: What is measured and how it is composed.
        panel: A panel of all the plan's evaluators: its limits are applied to the gates and to the rest.
        cache: Where values are shared with other processes; None keeps nothing, not in memory either.
        lent: What evaluators were lent, closed with the scorer.
    """

    def __init__(
        self, plan: RewardPlan, panel: Panel, cache: ReplyCache | None, *, lent: Sequence[Closable] = ()
    ) -> None:
        self.plan = plan
        self._lent = lent
        self._cache = cache
        self._fingerprint = plan.fingerprint().encode()
        self._packing = struct.Struct(f"<{len(plan.parts)}d")
        self._memory: OrderedDict[bytes, _Kept] = OrderedDict()
        self._stages = [_Stage(parts, panel) for parts in (plan.gates, plan.others) if parts]

    @property
    def name(self) -> str:
        return self.plan.name

    @property
    def part_names(self) -> Sequence[str]:
        return [part.name for part in self.plan.parts]

    @property
    def reference_field(self) -> str:
        return self.plan.reference_field

    async def score(self, rollouts: Sequence[Record]) -> list[Reward]:
        """One reward for each rollout, in order.

        Raises: RewardFailedError: a part that counts failed, and the spec says raise.
        """
        keys: list[bytes] = []
        known: dict[bytes, Results] = {}
        missing: dict[bytes, Record] = {}
        for rollout in rollouts:
            key = self._key(rollout)
            keys.append(key)
            if key in known or key in missing:
                continue
            kept = self._kept(key)
            if kept is None:
                missing[key] = rollout
            else:
                known[key] = self._results_of(kept)
        if missing:
            measured = await self._measure(list(missing.values()))
            for key, results in zip(missing, measured, strict=True):
                known[key] = results
                self._keep(key, results)
        compose = self.plan.compose
        rewards = [compose(rollout.id, known[key]) for rollout, key in zip(rollouts, keys, strict=True)]
        if self.plan.on_error is not RewardOnError.NONE:
            self._raise_failure(rewards)
        return rewards

    async def close(self) -> None:
        for stage in self._stages:
            await stage.close()
        for each in self._lent:
            await each.close()
        if self._cache is not None:
            await asyncio.to_thread(self._cache.close)

    def _raise_failure(self, rewards: Sequence[Reward]) -> None:
        count, first = self.plan.failure(rewards)
        if count:
            raise RewardFailedError(
                f"{count} of {len(rewards)} rollouts have no reward, because a part of it failed: {first}",
                hint="score the batch again, or write onError: mask to go on without these rollouts",
            )

    async def _measure(self, rollouts: Sequence[Record]) -> list[Results]:
        found: list[Results] = [{} for _ in rollouts]
        open_rows = list(range(len(rollouts)))
        for stage in self._stages:
            measured = await stage.measure([rollouts[row] for row in open_rows])
            for row, results in zip(open_rows, measured, strict=True):
                found[row].update(results)
            open_rows = [row for row in open_rows if not self.plan.gate_fails(found[row])]
        for results in found:
            for part in self.plan.parts:
                results.setdefault(part.name, _SKIPPED_BY_GATE)
        return found

    # What is kept

    def _key(self, rollout: Record) -> bytes:
        """Digest of the plan and of all that an evaluator may read of the rollout; its identifier is not part of it."""
        content = msgspec.json.encode(msgspec.structs.replace(rollout, id="", provenance=None))
        return hashlib.sha256(self._fingerprint + content).digest()

    def _kept(self, key: bytes) -> _Kept | None:
        if self._cache is None:
            return None
        kept = self._memory.get(key)
        if kept is not None:
            return kept
        packed = self._cache.get(key.hex())
        if packed is None or len(packed) < self._packing.size:
            return None
        fences = packed[self._packing.size :]
        kept = _Kept(self._packing.unpack_from(packed), tuple(_FENCES.decode(fences)) if fences else None)
        self._remember(key, kept)
        return kept

    def _keep(self, key: bytes, results: Results) -> None:
        """Keeps a rollout of which everything was measured, or everything until a gate failed."""
        if self._cache is None:
            return
        values: list[float] = []
        for part in self.plan.parts:
            result = results[part.name]
            if result.value is None and result is not _SKIPPED_BY_GATE:
                return
            values.append(nan if result.value is None else result.value)
        fences = tuple(results[part.name].isolation for part in self.plan.parts)
        kept = _Kept(tuple(values), fences if any(fences) else None)
        self._remember(key, kept)
        packed = self._packing.pack(*values)
        self._cache.put(key.hex(), packed if kept.fences is None else packed + msgspec.msgpack.encode(kept.fences))

    def _remember(self, key: bytes, kept: _Kept) -> None:
        self._memory[key] = kept
        if len(self._memory) > _KEPT_IN_MEMORY:
            self._memory.popitem(last=False)

    def _results_of(self, kept: _Kept) -> Results:
        fences = kept.fences or (None,) * len(kept.values)
        return {
            part.name: _SKIPPED_BY_GATE
            if isnan(value)
            else RewardComponentResult(status=RewardComponentStatus.SCORED, value=value, cached=True, isolation=fence)
            for part, value, fence in zip(self.plan.parts, kept.values, fences, strict=True)
        }


class _Stage:
    """Parts that are measured together, and the workers that measure them."""

    def __init__(self, parts: tuple[RewardPart, ...], panel: Panel) -> None:
        self._parts = parts
        self._evaluation = Evaluation(
            Panel(
                evaluators=tuple(part.evaluator for part in parts),
                deadline_s=panel.deadline_s,
                asking_deadline_s=panel.asking_deadline_s,
                concurrency=panel.concurrency,
                processes=panel.processes,
                worker_memory_mib=panel.worker_memory_mib,
            )
        )
        self._lanes: Lanes | None = None

    async def measure(self, rollouts: Sequence[Record]) -> list[Results]:
        if self._lanes is None:
            self._lanes = self._evaluation.lanes()
        batches = [
            RecordBatch(first, list(rollouts[first : first + _BATCH])) for first in range(0, len(rollouts), _BATCH)
        ]
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(self._evaluation.grade_one(batch, self._lanes)) for batch in batches]
        found: list[Results] = []
        for task in tasks:
            graded = task.result()
            for row in range(len(graded.records)):
                found.append(
                    {
                        part.name: _result_of(columns, part.output, row)
                        for part, columns in zip(self._parts, graded.columns, strict=True)
                    }
                )
        return found

    async def close(self) -> None:
        if self._lanes is not None:
            await self._lanes.close()
            self._lanes = None


def _result_of(columns: EvaluatorColumns, output: str, row: int) -> RewardComponentResult:
    outcome = columns.outcomes[row]
    note = columns.notes.get(row)
    if outcome == SCORED:
        column = columns.columns.get(output) if output else next(iter(columns.columns.values()), None)
        value = nan if column is None else column.values[row]
        if isnan(value):
            return RewardComponentResult(
                status=RewardComponentStatus.SKIPPED, reason=f"the evaluator gave no {output or 'number'}"
            )
        why = note.explanations.get(column.output, "") if note is not None and column is not None else ""
        return RewardComponentResult(
            status=RewardComponentStatus.SCORED, value=value, reason=why, isolation=_isolation(note)
        )
    status = RewardComponentStatus.ERROR if outcome in (ERROR, CANCELLED) else RewardComponentStatus.SKIPPED
    reason = note.reason if note is not None else ""
    if note is not None and outcome == ERROR:
        reason = f"{note.error_kind.value}: {reason}"
    return RewardComponentResult(status=status, reason=reason, isolation=_isolation(note))


def _isolation(note: Note | None) -> IsolationReport | None:
    return note.isolation if note is not None else None
