"""`python -m evalsi.worker grading <seconds for a record> <cached or fresh> <socket> <parent>`: grades records, a call at a time.

What always holds: nothing of a call is left over for the next but judges and sandboxes that are warm.
"""

from collections.abc import Sequence

from evalsi.score.grading_call import answer_call
from evalsi.settings import Settings
from evalsi.wiring.grading import grading_tools
from evalsi.worker.answering import answer_calls


def main(arguments: Sequence[str]) -> int:
    record_deadline_s, use_cache = float(arguments[0]), arguments[1] == "cached"
    descriptor, parent = int(arguments[2]), int(arguments[3])
    tools = grading_tools(Settings.from_environment(), record_deadline_s=record_deadline_s, use_cache=use_cache)
    answer_calls(descriptor, parent, lambda body: answer_call(body, tools), tools.close)
    return 0
