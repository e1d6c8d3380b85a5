"""What OpenRLHF asks and expects, over HTTP and from a function alike: queries in, rewards and logs out.

Its own module because the function and the route of a server must mean the same. A query is a prompt and its completion in
one text; the prompt is cut off its beginning where it is told, so that evaluators see the completion alone.
"""

from collections.abc import Sequence
from typing import Any

import msgspec

from evalsi.core.errors import InvalidDataError
from evalsi.reward.reward_numbers import numbers_of
from evalsi.reward.rollouts import records_of
from evalsi.schema import Record, Reward


class OpenRlhfRequest(msgspec.Struct, kw_only=True):
    """A batch, as `--remote_rm_url` posts it."""

    query: list[str]
    """Prompt and completion together."""
    prompts: list[str] | None = None
    """The prompts alone; without them the whole query counts as completion."""
    labels: list[Any] | None = None
    """The references."""


def rollouts_of(request: OpenRlhfRequest, reference_field: str = "") -> list[Record]:
    """The batch as records, in order.

    Args:
        reference_field: What the reward calls the reference; "" where it does not care.
    Raises: InvalidDataError: the lists are not equally long.
    """
    prompts = request.prompts if request.prompts is not None else [""] * len(request.query)
    if len(prompts) != len(request.query):
        raise InvalidDataError(f"there are {len(request.query)} queries and {len(prompts)} prompts")
    completions = [query.removeprefix(prompt) for query, prompt in zip(request.query, prompts, strict=True)]
    columns = {} if request.labels is None else {reference_field or "reference": request.labels}
    return records_of(prompts, completions, columns, reference=reference_field)


def reply_of(rewards: Sequence[Reward]) -> dict[str, Any]:
    """Rewards as OpenRLHF takes them: "rewards" and "scores", one for each query, and "extra_logs" with a list for each
    part that was measured for all of them.

    Raises: RewardFailedError: a rollout has no reward. OpenRLHF has no way to mask one, and it is never a 0.
    """
    numbers = [numbers_of(reward) for reward in rewards]
    totals = [each.pop("score") for each in numbers]
    names = set(numbers[0]).intersection(*numbers) if numbers else set[str]()
    logs = {name: [each[name] for each in numbers] for name in sorted(names)}
    return {"rewards": totals, "scores": totals, "extra_logs": logs}
