"""The limits of a run over all tries at it."""

import pytest

from evalsi.core.clock import SystemClock
from evalsi.engine.columns import SCORED, EvaluatorColumns, Note
from evalsi.judges.spend import Spend
from evalsi.results.zones import decode_spend, encode_zones
from evalsi.run.budget_watch import BudgetWatch, RunBudget
from evalsi.schema import Record, Usage


def judged(usage: Usage) -> Spend:
    """What a segment remembers of a verdict that took so much."""
    columns = EvaluatorColumns("judge", "judge", "", bytearray([SCORED]), notes={0: Note(usage=usage)})
    spent = decode_spend(encode_zones([columns], [Record(id="r")]))
    assert spent is not None
    return spent.judged()


@pytest.mark.parametrize("budget", [RunBudget(judge_tokens=100), RunBudget(usd=1.0)])
def test_what_judges_used_in_an_earlier_try_counts_and_what_a_cache_gave_does_not(budget: RunBudget) -> None:
    now = Usage(input_tokens=30, output_tokens=20, cost_usd=0.5)
    watch = BudgetWatch(budget, SystemClock(), lambda: now)
    watch.add_judged_before(judged(Usage(input_tokens=900, output_tokens=100, cost_usd=10.0, cached=True)))
    assert watch.judging_ended() is None
    watch.add_judged_before(judged(Usage(input_tokens=40, output_tokens=20, cost_usd=0.6)))
    assert "is used up" in (watch.judging_ended() or "")
