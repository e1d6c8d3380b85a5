"""A reward that is loaded once and called by a trainer many times, from any thread, with or without an event loop.

reward = evalsi.rewards.load("reward.yaml")
trainer = GRPOTrainer(..., reward_funcs=reward.reward_funcs)

Its own module because it owns the one thing that lasts between calls: an event loop in a thread, and the workers in it.
Order always holds: the n-th reward belongs to the n-th completion, and a rollout without a reward is None, never 0.
"""

import asyncio
import threading
import warnings
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol, Self

from evalsi.core.errors import EvalsiError, UsageError
from evalsi.documents.named_outside import nowhere
from evalsi.ports.reward_scorer import RewardScorer
from evalsi.reward.rollouts import records_of
from evalsi.schema import Record, Reward, RewardSpec
from evalsi.settings import Settings
from evalsi.wiring.evaluator_programs import know_evaluator_programs
from evalsi.wiring.reward_spec import read_reward_document
from evalsi.wiring.rewarding import make_reward_scorer


class RewardFunction(Protocol):
    """What TRL calls: lists in, one number or None for each completion out. `__name__` is what it is logged as."""

    __name__: str

    def __call__(self, prompts: Sequence[Any], completions: Sequence[Any], **columns: Any) -> list[float | None]: ...


def load(
    source: Path | str | Mapping[str, Any] | RewardSpec,
    *,
    judge: Mapping[str, Any] | None = None,
    server: str = "",
    project: str = "",
    settings: Settings | None = None,
) -> "LoadedReward":
    """Loads a reward spec and everything that it needs.

    Args:
        source: A file, the text of a spec, a mapping, or a `RewardSpec`.
        judge: Which model judges, e.g. {"provider": "openai-compatible", "model": "…"}, for components that ask one.
        server: Address of a server that scores in place of this machine, e.g. "http://127.0.0.1:8080". Its key is that
            of EVALSI_API_KEY; evaluators and judges are those of the server.
        project: The project there.
        settings: By default those of the environment.

    Raises: EvalsiError: one sentence on what is wrong with the spec; nothing was started.
    """
    chosen = settings or Settings.from_environment()
    know_evaluator_programs(chosen)
    if isinstance(source, RewardSpec):
        spec, where = source, nowhere
    else:
        document = read_reward_document(source)
        spec, where = document.spec, document.where
    if server:
        if judge is not None:
            raise UsageError("a server asks its own judges", hint="name one of them in the spec: judge: NAME")
        from evalsi.wiring.remote_rewards import make_remote_scorer

        return LoadedReward(lambda: make_remote_scorer(spec, chosen, server=server, project=project))
    return LoadedReward(lambda: make_reward_scorer(spec, chosen, judge=judge, where=where))


class LoadedReward:
    """A reward that is ready. Calls may overlap. `close` ends its thread and workers; so does leaving a `with` block."""

    def __init__(self, make: Callable[[], RewardScorer]) -> None:
        self._scorer = make()
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="evalsi-reward", daemon=True)
        self._thread.start()
        self._closed = False
        self.__name__ = self._scorer.name
        """What TRL logs the reward as."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # Scoring

    def __call__(self, prompts: Sequence[Any], completions: Sequence[Any], **columns: Any) -> list[float | None]:
        """The totals, as TRL asks for them. See `RewardFunction`.

        Args:
            prompts: Texts or conversations, one for each completion.
            completions: Texts or lists of messages.
            columns: Lists as long as the completions: `reference` (or `answer`, `solution`, `ground_truth`, `label`),
                `completion_ids` for token counts; all others become metadata.

        Raises: RewardFailedError: a part failed, and the spec says raise.
        """
        rewards = self.score(records_of(prompts, completions, columns, reference=self._scorer.reference_field))
        _warn_where_none(rewards, columns)
        return [reward.total for reward in rewards]

    def score(self, rollouts: Sequence[Record]) -> list[Reward]:
        """One reward with its parts for each rollout, in order. Blocks; other threads go on.

        Raises: RewardFailedError: a part failed, and the spec says raise.
        """
        loop = self._running()
        return asyncio.run_coroutine_threadsafe(self._scorer.score(rollouts), loop).result()

    async def ascore(self, rollouts: Sequence[Record]) -> list[Reward]:
        """`score` for a running event loop: other tasks go on meanwhile."""
        loop = self._running()
        future = asyncio.run_coroutine_threadsafe(self._scorer.score(rollouts), loop)
        return await asyncio.wrap_future(future)

    async def acall(self, prompts: Sequence[Any], completions: Sequence[Any], **columns: Any) -> list[float | None]:
        """The totals, for a trainer that awaits its reward functions."""
        records = records_of(prompts, completions, columns, reference=self._scorer.reference_field)
        rewards = await self.ascore(records)
        _warn_where_none(rewards, columns)
        return [reward.total for reward in rewards]

    # For TRL

    @property
    def reward_funcs(self) -> list[RewardFunction]:
        """For TRL's `reward_funcs`: the total, then a function for each part, of weight 0, so that TRL logs the parts.

        The parts are those of the last batch that the total was asked for; a batch that it was not asked for is scored.
        """
        latest = _Latest(self)
        parts = [_PartFunction(name, latest) for name in self._scorer.part_names]
        return [_TotalFunction(self.__name__, latest), *parts]

    @property
    def reward_weights(self) -> list[float]:
        """For TRL's `reward_weights`: 1 for the total and 0 for every part."""
        return [1.0] + [0.0] * len(self._scorer.part_names)

    @property
    def part_names(self) -> list[str]:
        return list(self._scorer.part_names)

    @property
    def reference_field(self) -> str:
        """Which column holds the reference, where the spec says so."""
        return self._scorer.reference_field

    def close(self) -> None:
        """Ends the workers and the thread, and keeps what was cached. Calling it twice is fine."""
        if self._closed:
            return
        self._closed = True
        asyncio.run_coroutine_threadsafe(self._scorer.close(), self._loop).result()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def _running(self) -> asyncio.AbstractEventLoop:
        if self._closed:
            raise EvalsiError("this reward was closed", hint="load it again")
        return self._loop


def _warn_where_none(rewards: Sequence[Reward], columns: Mapping[str, Any]) -> None:
    """Warns of a batch in which no rollout has a reward: a misspelt column masks all of a training, and nothing fails."""
    if not rewards or any(reward.total is not None for reward in rewards):
        return
    without = (
        f"{name}: {part.reason or part.status}" for name, part in rewards[0].components.items() if part.value is None
    )
    warnings.warn(
        f"no rollout of a batch of {len(rewards)} has a reward; of the first, {'; '.join(without) or 'no part has a value'}"
        f"; the columns are {', '.join(sorted(columns)) or 'none'}",
        RuntimeWarning,
        stacklevel=3,
    )


class _Latest:
    """The rewards of the batch that was scored last, so that the parts cost nothing beside the total."""

    def __init__(self, reward: LoadedReward) -> None:
        self._reward = reward
        self._batch: tuple[Any, ...] = ()
        self._rewards: list[Reward] = []
        self._lock = threading.Lock()

    def rewards(self, prompts: Sequence[Any], completions: Sequence[Any], columns: Mapping[str, Any]) -> list[Reward]:
        with self._lock:
            batch = (prompts, completions, columns.get("completion_ids"))
            same = len(batch) == len(self._batch) and all(a is b for a, b in zip(batch, self._batch, strict=True))
            if not same:
                field = self._reward.reference_field
                self._rewards = self._reward.score(records_of(prompts, completions, columns, reference=field))
                self._batch = batch
                _warn_where_none(self._rewards, columns)
            return self._rewards


class _TotalFunction:
    def __init__(self, name: str, latest: _Latest) -> None:
        self.__name__ = name
        self._latest = latest

    def __call__(self, prompts: Sequence[Any], completions: Sequence[Any], **columns: Any) -> list[float | None]:
        return [reward.total for reward in self._latest.rewards(prompts, completions, columns)]


class _PartFunction:
    def __init__(self, name: str, latest: _Latest) -> None:
        self.__name__ = name
        self._latest = latest

    def __call__(self, prompts: Sequence[Any], completions: Sequence[Any], **columns: Any) -> list[float | None]:
        rewards = self._latest.rewards(prompts, completions, columns)
        return [reward.components[self.__name__].value for reward in rewards]
