"""What a grading worker works with: judges and a sandbox, lent by name.

Its own module because workers import it at every start, and it must cost them only what they use.
"""

from collections.abc import Mapping

import msgspec

from evalsi.engine.panel import Panel
from evalsi.evaluators.api import EvalContext
from evalsi.judges.spend import Spend
from evalsi.judges.spend_so_far import SpendSoFar
from evalsi.ports.spent import Spent
from evalsi.schema import JudgeSpec
from evalsi.score.grading_call import GradingTools
from evalsi.score.request import JudgeChoice
from evalsi.settings import Settings


def grading_tools(settings: Settings, *, record_deadline_s: float, use_cache: bool) -> GradingTools:
    """What a grading worker works with.

    Args:
        record_deadline_s: Seconds one computing evaluator may take over one record; then that record alone is an ERROR.
        use_cache: Whether a judge that was asked before is not asked again.
    """
    from evalsi.wiring.sandboxing import make_sandbox_host

    sandbox = make_sandbox_host(settings)
    made: dict[bytes, EvalContext] = {}
    spends: list[Spend] = []
    told = SpendSoFar()

    def lend(names: set[str], judges: Mapping[str, JudgeSpec]) -> Mapping[str, EvalContext]:
        lent = {"": EvalContext(sandbox=sandbox)}
        for name in names:
            spec = judges.get(name)
            if spec is None and (name or not (settings.judge.provider or settings.judge.model)):
                continue  # binding says that there is no such judge
            key = msgspec.json.encode(spec)
            if key not in made:
                from evalsi.wiring.judging import judge_choice, make_judge

                judge = make_judge(judge_choice(spec) if spec else JudgeChoice(), settings, use_cache=use_cache)
                spends.append(judge.spend)
                made[key] = EvalContext(judge=judge, sandbox=sandbox)
            lent[name] = made[key]
        return lent

    def spent(project: str) -> Spent:
        return told.since(spends, project)

    limits = Panel(evaluators=(), deadline_s=record_deadline_s)
    return GradingTools(lend=lend, spent=spent, limits=limits, lent=(sandbox,))
