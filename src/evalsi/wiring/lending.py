"""What evaluators are lent while they work, where one of them needs it: sandboxes and reward models; and its return."""

from collections.abc import Awaitable, Callable, Sequence

from evalsi.core.errors import EvalsiError
from evalsi.evaluators.api import Definition
from evalsi.evaluators.catalog import load
from evalsi.ports.closable import Closable
from evalsi.ports.reward_model import RewardModels
from evalsi.ports.sandbox import SandboxHost
from evalsi.schema import EvaluatorRef
from evalsi.settings import Settings


def requires(choice: EvaluatorRef | Definition, need: str) -> bool:
    """Whether the evaluator says that it needs `need`. One that cannot be loaded needs nothing: binding says why."""
    try:
        definition = choice if isinstance(choice, Definition) else load(choice.ref)
    except EvalsiError:
        return False
    return need in definition.requires


def lent_sandbox(choices: Sequence[EvaluatorRef | Definition], settings: Settings) -> SandboxHost | None:
    """Where programs run, if any of the evaluators runs some. Nothing is started before it is needed."""
    if not any(requires(choice, "sandbox") for choice in choices):
        return None
    from evalsi.wiring.sandboxing import make_sandbox_host

    return make_sandbox_host(settings)


def lent_reward_models(choices: Sequence[EvaluatorRef | Definition], settings: Settings) -> RewardModels | None:
    """What asks reward models, if any of the evaluators has one asked. Nothing is asked yet."""
    if not any(requires(choice, "reward-model") for choice in choices):
        return None
    return make_reward_models(settings)


def make_reward_models(settings: Settings) -> RewardModels:
    from evalsi.infra.models.reward_models import RewardModelAccess, RewardModelClients

    return RewardModelClients(
        RewardModelAccess(secret=settings.secret, proxy=settings.proxy or None, fence=settings.fence)
    )


def closing(*lent: Closable | None) -> Callable[[], Awaitable[None]] | None:
    """Closes what evaluators were lent, on the loop that used it; None where there is nothing."""
    to_close = [each for each in lent if each is not None]
    if not to_close:
        return None

    async def close() -> None:
        for each in to_close:
            await each.close()

    return close
