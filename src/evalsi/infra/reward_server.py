"""Scores rollouts on a server of evalsi, over its REST interface.

Implements `ports.reward_scorer`. A batch goes in portions, several at once. What always holds: the n-th reward belongs to
the n-th rollout; a server that is busy is asked again after the time it named, for as long as the deadline allows, and
what it refuses is an error here with the server's own sentence.
"""

import asyncio
import time
from collections.abc import Sequence
from dataclasses import dataclass

import msgspec

from evalsi.core.errors import ProviderError, RewardFailedError
from evalsi.infra.models.endpoint import Access, Endpoint, Incoming, Outgoing, Unreadable
from evalsi.infra.models.payload import inner
from evalsi.infra.models.retries import RetryPolicy
from evalsi.schema import Record, Reward, RewardSpec, ScoreRewardsRequest, ScoreRewardsResponse
from evalsi.schema.json_codec import decode, encode_file
from evalsi.schema.schema_error import SchemaError

PORTION = 1024
"""Rollouts of one call."""
_AT_ONCE = 4
_PATH = "/v1alpha1/rewards:score"
_FAILURES = 5
"""How often a portion is sent to a server that fails without saying that it is busy."""
_BUSY = "overloaded"


@dataclass(frozen=True, kw_only=True)
class RewardServerPlan:
    """Which server, and what of it."""

    server: str
    api_key: str = ""
    project: str = ""
    spec: RewardSpec
    deadline_s: float = 600.0
    """Seconds that a batch may take, waiting for a busy server included."""


class RewardServer:
    """See `ports.reward_scorer.RewardScorer`."""

    def __init__(self, plan: RewardServerPlan) -> None:
        self._plan = plan
        self._retries = RetryPolicy(attempts=1, attempt_s=plan.deadline_s, deadline_s=plan.deadline_s)
        headers = {"Authorization": f"Bearer {plan.api_key}"} if plan.api_key else {}
        access = Access(base_url=plan.server, api_key=plan.api_key or None, retries=self._retries)
        self._endpoint = Endpoint(access, provider="evalsi", path=_PATH, headers=headers)

    @property
    def name(self) -> str:
        return self._plan.spec.name or "reward"

    @property
    def part_names(self) -> Sequence[str]:
        return [part.name or _own_name(part.ref) for part in self._plan.spec.components]

    @property
    def reference_field(self) -> str:
        return self._plan.spec.reference_field

    async def score(self, rollouts: Sequence[Record]) -> list[Reward]:
        give_up_s = time.monotonic() + self._plan.deadline_s
        portions = [rollouts[first : first + PORTION] for first in range(0, len(rollouts), PORTION)]
        places = asyncio.Semaphore(_AT_ONCE)

        async def scored(portion: Sequence[Record]) -> list[Reward]:
            async with places:
                return await self._score(portion, give_up_s)

        tasks = [asyncio.get_running_loop().create_task(scored(portion)) for portion in portions]
        try:
            found = await asyncio.gather(*tasks)
        finally:
            for task in tasks:
                task.cancel()
        return [reward for rewards in found for reward in rewards]

    async def close(self) -> None:
        await self._endpoint.close()

    async def _score(self, portion: Sequence[Record], give_up_s: float) -> list[Reward]:
        plan = self._plan
        request = ScoreRewardsRequest(project=plan.project, spec=plan.spec, rollouts=list(portion))
        question = Outgoing(model="", body=encode_file(request))
        failures = attempts = 0
        while True:
            attempts += 1
            try:
                answer = await self._endpoint.ask(question, _read)
            except ProviderError as error:
                busy = _code_of(error) == _BUSY
                failures += not busy
                pause_s = self._retries.pause_s(attempts, error.retry_after_s)
                lasting = not error.may_retry or failures >= _FAILURES or _code_of(error) == RewardFailedError.code
                if lasting or time.monotonic() + pause_s >= give_up_s:
                    raise RewardFailedError(_sentence_of(error)) from error
                await asyncio.sleep(pause_s)
            else:
                if len(answer.body) != len(portion):
                    raise RewardFailedError(
                        f"{plan.server} gave {len(answer.body)} rewards for {len(portion)} rollouts"
                    )
                return answer.body


async def _read(incoming: Incoming) -> list[Reward]:
    content = await incoming.content()
    try:
        return decode(content, ScoreRewardsResponse).rewards
    except SchemaError as error:
        raise Unreadable(f"gave an answer that is none of this version: {error}", content) from error


def _code_of(error: ProviderError) -> str:
    return str(inner(_body_of(error), "error") or "")


def _sentence_of(error: ProviderError) -> str:
    """What the server said, else what became of asking it."""
    said = inner(_body_of(error), "message")
    return said if isinstance(said, str) else error.message


def _body_of(error: ProviderError) -> object:
    try:
        return msgspec.json.decode(error.detail or "null")
    except (msgspec.DecodeError, RecursionError):
        return None


def _own_name(ref: str) -> str:
    return ref.partition("@")[0].rpartition("/")[2]
