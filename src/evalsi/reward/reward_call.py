"""A call for rewards as it crosses from a server to a worker process, and the answer back.

Its own module because both ends must agree and neither may know the other. A worker keeps the scorers of the specs that it
saw last: a trainer asks with one spec again and again, and its workers and sandboxes are warm from the second batch on.
"""

import time
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import msgspec

from evalsi.core.carried_error import CarriedError
from evalsi.core.errors import EvalsiError, UsageError
from evalsi.ports.reward_scorer import RewardScorer
from evalsi.schema import JudgeSpec, Record, Reward, RewardSpec

SCORERS_KEPT = 4


class RewardCall(msgspec.Struct, tag="reward", array_like=True):
    """Rollouts to score, and how."""

    spec: RewardSpec
    rollouts: list[Record]
    judges: dict[str, JudgeSpec] = {}
    """The judges that the spec may name."""
    default_judge: str = ""
    """The one that is asked where the spec names none; empty for that of the settings, where there is one."""


class RewardAnswer(msgspec.Struct, tag="rewards", array_like=True):
    rewards: list[Reward]
    seconds: float
    """How long the worker was at it."""


_CALLS = msgspec.msgpack.Decoder(RewardCall)
_ANSWERS = msgspec.msgpack.Decoder(RewardAnswer | CarriedError)


@dataclass(kw_only=True)
class RewardWorkshop:
    """What a worker scores with, on one event loop. `close` ends all of it."""

    make: Callable[[RewardSpec, Mapping[str, JudgeSpec], str], RewardScorer]
    """Makes a scorer from a spec, the judges it may name, and the default one. Raises: EvalsiError: the spec is wrong."""
    _kept: OrderedDict[bytes, RewardScorer] = field(default_factory=OrderedDict[bytes, RewardScorer])

    async def scorer_of(self, call: RewardCall) -> RewardScorer:
        key = msgspec.msgpack.encode((call.spec, call.judges, call.default_judge))
        scorer = self._kept.get(key)
        if scorer is None:
            scorer = self._kept[key] = self.make(call.spec, call.judges, call.default_judge)
            if len(self._kept) > SCORERS_KEPT:
                _, oldest = self._kept.popitem(last=False)
                await oldest.close()
        self._kept.move_to_end(key)
        return scorer

    async def close(self) -> None:
        while self._kept:
            _, scorer = self._kept.popitem()
            await scorer.close()


def packed_call(call: RewardCall) -> bytes:
    """The bytes a worker takes. Raises: UsageError: a number in it has more than 64 bits."""
    try:
        return msgspec.msgpack.encode(call)
    except OverflowError:
        raise UsageError(
            "a whole number in the rollouts or params has more than 64 bits", hint="send it as text"
        ) from None


async def answer_reward_call(body: bytes, workshop: RewardWorkshop) -> bytes:
    """What a worker answers. Errors of the tree become answers; all others end the process, which the server sees."""
    begun_s = time.perf_counter()
    call = _CALLS.decode(body)
    try:
        rewards = await (await workshop.scorer_of(call)).score(call.rollouts)
    except EvalsiError as error:
        return msgspec.msgpack.encode(CarriedError.of(error))
    return msgspec.msgpack.encode(RewardAnswer(rewards, time.perf_counter() - begun_s))


def read_rewards_answer(answer: bytes) -> RewardAnswer:
    """The rewards in an answer. Raises: EvalsiError: what the worker found wrong."""
    found = _ANSWERS.decode(answer)
    if isinstance(found, CarriedError):
        raise found.as_error()
    return found
