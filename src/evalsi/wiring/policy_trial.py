"""A policy tried on the traces of this machine. Its own module because it needs no server and no worker."""

from evalsi.core.clock import SystemClock
from evalsi.schema import OnlineEvalPolicy, TestPolicyResponse
from evalsi.settings import Settings
from evalsi.settings.server import OWN_MACHINE
from evalsi.watch.policy import checked_policy
from evalsi.watch.try_policy import try_policy
from evalsi.wiring.judging import prices_of
from evalsi.wiring.trace_serving import opened_traces


def try_here(policy: OnlineEvalPolicy, lookback_s: float, settings: Settings) -> TestPolicyResponse:
    """What the policy would have done. Raises: InvalidSpecError: it is wrong. StoreError: the store cannot be read."""
    checked = checked_policy(policy)
    prices = prices_of(settings)
    with opened_traces(OWN_MACHINE, settings) as traces:
        return try_policy(
            traces.store,
            checked,
            traces.tracing,
            SystemClock().now(),
            lookback_s=lookback_s,
            price=lambda usage: prices.cost(settings.judge.model, usage).usd,
        )
