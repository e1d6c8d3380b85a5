"""`python -m evalsi.worker rewards <socket> <parent>`: scores batches of rollouts for a server, a call at a time."""

from collections.abc import Sequence

from evalsi.reward.reward_call import answer_reward_call
from evalsi.settings import Settings
from evalsi.wiring.rewarding import reward_workshop
from evalsi.worker.answering import answer_calls


def main(arguments: Sequence[str]) -> int:
    descriptor, parent = map(int, arguments)
    workshop = reward_workshop(Settings.from_environment())
    answer_calls(descriptor, parent, lambda body: answer_reward_call(body, workshop), workshop.close)
    return 0
