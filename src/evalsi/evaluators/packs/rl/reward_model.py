"""`reward-model`: what a served reward model says about the output."""

from typing import Annotated

import msgspec

from evalsi.core.content import text_of
from evalsi.core.errors import UsageError
from evalsi.evaluators.api import EvalContext, Record, evaluator, output
from evalsi.ports.reward_model import Protocols, RewardModelService, RewardQuestion
from evalsi.schema import Content

_PLACES = ("{prompt}", "{completion}")


class RewardModelParams(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which reward model, and how it is asked."""

    url: Annotated[str, msgspec.Meta(min_length=1)]
    """Its address: of `openrlhf` the whole one, of the others without the path."""
    api: Protocols = "openrlhf"
    """`openrlhf`, `vllm` (pooling; the server applies the model's own template) or `sglang` (classification)."""
    model: str = ""
    """Its name, where the server has several."""
    api_key_env: str = ""
    """Name of the environment variable with the key; empty for none."""
    template: str = "{prompt}{completion}"
    """The text that `openrlhf` and `sglang` get. Put the model's own template around {prompt} and {completion}."""
    timeout_s: Annotated[float, msgspec.Meta(gt=0, le=600)] = 60.0
    """Seconds that one request may take."""
    max_batch: Annotated[int, msgspec.Meta(ge=1, le=4096)] = 64
    """Most completions of one request."""
    wait_ms: Annotated[float, msgspec.Meta(ge=0, le=1000)] = 5.0
    """How long a request waits for more completions."""


@evaluator(
    name="reward-model",
    version="1.1.0",
    requires=["input", "output", "reward-model"],
    params=RewardModelParams,
    outputs=[output("reward-model", description="What the reward model says; its scale is its own.")],
)
class RewardModel:
    """The number that a served reward model gives for the output, given the input.

    The model runs elsewhere: behind OpenRLHF's protocol, vLLM's pooling or SGLang's classification. Completions of several
    records go together. Where the model gives a number for each token, the last counts. A service that does not answer,
    or not with one finite number for each completion, is an ERROR.
    """

    def __init__(self, params: RewardModelParams, context: EvalContext) -> None:
        for place in _PLACES:
            if params.template.count(place) != 1:
                raise ValueError(f"`template` must hold {place} once")
        if params.template.index("{prompt}") > params.template.index("{completion}"):
            raise ValueError("`template` must hold {prompt} before {completion}")
        if context.reward_models is None:
            raise UsageError(
                "reward-model asks an address, and users of this server may not name one",
                hint="score on your own machine, or let the server's operator do it",
            )
        self._models = context.reward_models
        self._template = params.template
        self._service = RewardModelService(
            url=params.url,
            api=params.api,
            model=params.model,
            api_key_env=params.api_key_env,
            timeout_s=params.timeout_s,
            max_batch=params.max_batch,
            wait_ms=params.wait_ms,
        )
        self._models.check(self._service)

    async def evaluate(self, record: Record) -> float:
        messages = [*_messages(record.input, "user"), *_messages(record.output, "assistant")]
        prompt, completion = text_of(record.input), text_of(record.output)
        before, _, rest = self._template.partition("{prompt}")
        between, _, after = rest.partition("{completion}")
        question = RewardQuestion(
            prompt=before + prompt + between,
            text=before + prompt + between + completion + after,
            messages=tuple(messages),
        )
        return await self._models.score(self._service, question)


def _messages(content: Content | None, role: str) -> list[tuple[str, str]]:
    """A conversation as it is; anything else as one message of `role`."""
    if content is not None and content.messages is not None:
        return [(message.role, message.content) for message in content.messages.messages]
    return [(role, text_of(content))]
