"""Deciding gates: which figure of a run a gate asks for, whether the run meets it, and the exit status."""

from evalsi.run.gates.baseline import BaselineReference, baseline_reference
from evalsi.run.gates.condition import GateCondition
from evalsi.run.gates.decide import GatePlan, decide_gates, plan_of
from evalsi.run.gates.exit_status import exit_status
from evalsi.run.gates.figure_ask import FigureAsk
from evalsi.run.gates.figures import Figure, figures_of

__all__ = [
    "BaselineReference",
    "Figure",
    "FigureAsk",
    "GateCondition",
    "GatePlan",
    "baseline_reference",
    "decide_gates",
    "exit_status",
    "figures_of",
    "plan_of",
]
