"""RewardService: rollouts in, composed rewards out, for a trainer that waits.

A batch is scored in a worker process, with its sandboxes and judges. What always holds: what waits and what is scored is
bounded, by rollouts and by calls, and what goes beyond is told at once to come again; a rollout that hangs costs its own
deadline, a batch that brings its worker down costs itself.
"""

import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from evalsi.access.caller import Caller
from evalsi.access.gate import DEFAULT_PROJECT
from evalsi.core.errors import OverloadedError, QuotaError, UsageError
from evalsi.ports.worker_pool import WorkerPool
from evalsi.reward.reward_call import RewardCall, packed_call, read_rewards_answer
from evalsi.schema import JudgeSpec, Record, Reward, RewardSpec, ScoreRewardsRequest, ScoreRewardsResponse
from evalsi.score.grade_records import check_installed
from evalsi.server.reward_measures import RewardMeasures

_RETRY_AFTER_S = 2.0


@dataclass(frozen=True, kw_only=True)
class RewardLimits:
    """What calls may ask for."""

    most_rollouts: int = 16_384
    """In one call."""
    most_inflight: int = 65_536
    """Of all calls together, scored or waiting for it."""
    most_of_project: Callable[[str], int | None] = lambda _project: None
    """The same for one project; None for no limit."""
    deadline_s: float = 600.0
    """Seconds a worker may take over a batch."""


class RewardService:
    """Scores batches of rollouts.

    Args:
        pool: Workers of the kind "rewards".
        judges: The judges that a project may name.
        default_judge: The one that is asked where a spec names none.
    """

    service = "RewardService"

    def __init__(
        self,
        pool: WorkerPool,
        measures: RewardMeasures,
        limits: RewardLimits | None = None,
        *,
        judges: Callable[[str], Mapping[str, JudgeSpec]] = lambda _project: {},
        default_judge: str = "",
    ) -> None:
        self._pool = pool
        self._measures = measures
        self._limits = limits or RewardLimits()
        self._judges = judges
        self._default_judge = default_judge
        self._inflight = Counter[str]()

    async def score_rewards(self, request: ScoreRewardsRequest, caller: Caller) -> ScoreRewardsResponse:
        """One reward for each rollout, in order.

        Raises: EvalsiError: the spec is wrong, the server is busy, or a part failed and the spec says raise.
        """
        del caller
        if request.spec is None:
            raise UsageError("no reward is described", where="spec", hint="send the reward spec with its components")
        return ScoreRewardsResponse(
            rewards=await self.scored(request.spec, request.rollouts, request.project or DEFAULT_PROJECT)
        )

    async def scored(self, spec: RewardSpec, rollouts: Sequence[Record], project: str) -> list[Reward]:
        """The rewards of a batch. Raises: as `score_rewards`."""
        try:
            check_installed(spec.components, where="spec.components")
            self._check_room(len(rollouts), project)
        except (UsageError, OverloadedError, QuotaError):
            self._measures.refused()
            raise
        self._inflight[project] += len(rollouts)
        self._measures.taken(len(rollouts))
        try:
            return await self._measured(spec, rollouts, project)
        except BaseException:
            self._measures.failed()
            raise
        finally:
            self._inflight[project] -= len(rollouts)
            self._measures.left(len(rollouts))

    async def _measured(self, spec: RewardSpec, rollouts: Sequence[Record], project: str) -> list[Reward]:
        begun_s = time.perf_counter()
        judges = self._judges(project)
        default = self._default_judge if self._default_judge in judges else ""
        call = RewardCall(spec, list(rollouts), dict(judges), default)
        answer = read_rewards_answer(await self._pool.call(packed_call(call), deadline_s=self._limits.deadline_s))
        waited_s = time.perf_counter() - begun_s - answer.seconds
        self._measures.scored(answer.rewards, waited_s=waited_s, took_s=answer.seconds)
        return answer.rewards

    def _check_room(self, count: int, project: str) -> None:
        limits = self._limits
        if count > limits.most_rollouts:
            raise UsageError(
                f"{count} rollouts are more than the {limits.most_rollouts} that one call takes",
                where="rollouts",
                hint="send them in several calls",
            )
        inflight = self._inflight.total()
        if inflight and inflight + count > limits.most_inflight:
            raise OverloadedError(
                f"{inflight} rollouts are scored or wait for it, of at most {limits.most_inflight}",
                retry_after_s=_RETRY_AFTER_S,
            )
        most = limits.most_of_project(project)
        if most is not None and self._inflight[project] + count > most:
            raise QuotaError(
                f"the project {project} may have {most} rollouts scored at once, and {self._inflight[project]} are",
                hint="wait until they are done, or send fewer at once",
            )
