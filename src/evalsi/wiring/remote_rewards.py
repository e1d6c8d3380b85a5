"""Builds what scores rewards on a server. Its own module, so that a trainer with a server loads no evaluator and no store."""

from evalsi.core.errors import UsageError
from evalsi.infra.reward_server import RewardServer, RewardServerPlan
from evalsi.ports.reward_scorer import RewardScorer
from evalsi.schema import RewardSpec
from evalsi.settings import Settings


def make_remote_scorer(spec: RewardSpec, settings: Settings, *, server: str, project: str = "") -> RewardScorer:
    """A scorer that asks `server`, with the key of the settings; the caller closes it. Nothing is asked yet.

    Raises: UsageError, InvalidSpecError: it is no address of a server.
    """
    if not server.startswith(("http://", "https://")):
        raise UsageError(f"{server!r} is no address of a server", hint="write http:// or https:// before it")
    plan = RewardServerPlan(server=server.rstrip("/"), api_key=settings.api_key, project=project, spec=spec)
    return RewardServer(plan)
