"""`python -m evalsi.worker grading <seconds for a record> <socket> <parent>`: grades records for a server, a call at a time.

What always holds: nothing of a call is left over for the next but judges and sandboxes that are warm.
"""

from collections.abc import Sequence

from evalsi.score.grading_call import answer_call
from evalsi.settings import Settings
from evalsi.wiring.serving import grading_tools
from evalsi.worker.answering import answer_calls


def main(arguments: Sequence[str]) -> int:
    record_deadline_s, descriptor, parent = float(arguments[0]), int(arguments[1]), int(arguments[2])
    tools = grading_tools(Settings.from_environment(), record_deadline_s=record_deadline_s)
    answer_calls(descriptor, parent, lambda body: answer_call(body, tools), tools.close)
    return 0
