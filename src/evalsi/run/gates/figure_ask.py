"""Which figure of a run a gate asks for, in one word for all forms of gates.

Structured gates, names such as `task-success.pass^3` and CEL conditions all come down to a `FigureAsk`, so a figure
means the same wherever it is written.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from evalsi.schema import Gate, GateStat

__all__ = ["RUN_STATS", "SHARES", "FigureAsk", "ask_of", "described", "described_metric", "split_metric"]

Stat = GateStat

RUN_STATS = frozenset(
    {
        Stat.LATENCY_MEAN,
        Stat.LATENCY_P50,
        Stat.LATENCY_P90,
        Stat.LATENCY_P95,
        Stat.LATENCY_P99,
        Stat.COST_MEAN,
        Stat.COST_P95,
        Stat.COST_TOTAL,
    }
)
"""Figures of the answers, which belong to no metric."""

SHARES = frozenset({Stat.ERROR_RATE, Stat.COVERAGE, Stat.PASS_AT_K, Stat.PASS_HAT_K})
"""Figures that lie between 0 and 1 whatever the metric."""

_WORDS = {
    Stat.MEAN: "mean",
    Stat.CI_LOW: "lower bound",
    Stat.CI_HIGH: "upper bound",
    Stat.ERROR_RATE: "error rate",
    Stat.COVERAGE: "coverage",
    Stat.N: "number of scored values",
    Stat.LATENCY_MEAN: "mean latency",
    Stat.LATENCY_P50: "median latency",
    Stat.LATENCY_P90: "90th percentile of the latency",
    Stat.LATENCY_P95: "95th percentile of the latency",
    Stat.LATENCY_P99: "99th percentile of the latency",
    Stat.COST_MEAN: "mean cost",
    Stat.COST_P95: "95th percentile of the cost",
    Stat.COST_TOTAL: "total cost",
}
_PASS_SUFFIX = re.compile(r"(.+)\.pass([@^])(\d{1,6})\Z", re.DOTALL)


@dataclass(frozen=True, kw_only=True)
class FigureAsk:
    """One figure. `metric` is empty for a figure of the whole run; `slice` is empty for all records."""

    stat: GateStat
    metric: str = ""
    k: int = 0
    """Tries that PASS_AT_K and PASS_HAT_K look at; 0 for the number of trials."""
    slice: tuple[tuple[str, str], ...] = ()
    """The value wanted for each path, as text."""
    of_baseline: bool = False


def ask_of(gate: Gate) -> FigureAsk:
    """What a structured gate asks for; `x.pass^3` with the mean is PASS_HAT_K of `x` with k = 3."""
    stat = gate.stat if gate.stat is not Stat.UNSPECIFIED else Stat.MEAN
    metric, k = gate.metric, gate.k
    base, kind, tries = split_metric(metric)
    if kind and stat in (Stat.MEAN, Stat.CI_LOW, Stat.CI_HIGH):
        metric, k = base, tries
        if stat is Stat.MEAN:
            stat = Stat.PASS_AT_K if kind == "@" else Stat.PASS_HAT_K
        else:
            metric = gate.metric
    return FigureAsk(stat=stat, metric=metric, k=k, slice=slice_of(gate.slice))


def split_metric(metric: str) -> tuple[str, str, int]:
    """`x.pass@3` as ("x", "@", 3); any other name as (name, "", 0)."""
    match = _PASS_SUFFIX.match(metric)
    return (match[1], match[2], int(match[3])) if match else (metric, "", 0)


def slice_of(wanted: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    return tuple(sorted(wanted.items()))


def described_metric(ask: FigureAsk) -> str:
    """What a structured gate looks at, in a few words: its metric, and the records where these are not all."""
    name = ask.metric or described(ask)
    if ask.stat in (Stat.PASS_AT_K, Stat.PASS_HAT_K):
        name += f".pass{'@' if ask.stat is Stat.PASS_AT_K else '^'}{ask.k or 'k'}"
    where = " and ".join(f"{path} = {value}" for path, value in ask.slice)
    return f"{name} where {where}" if where else name


def described(ask: FigureAsk) -> str:
    """The figure as the subject of a sentence."""
    if ask.stat in (Stat.PASS_AT_K, Stat.PASS_HAT_K):
        sign = "@" if ask.stat is Stat.PASS_AT_K else "^"
        text = f"pass{sign}{ask.k or 'k'} of {ask.metric}"
    else:
        text = _WORDS[ask.stat] + (f" of {ask.metric}" if ask.metric else "")
    if ask.slice:
        text += " where " + " and ".join(f"{path} is {value}" for path, value in ask.slice)
    return f"{text} in the baseline" if ask.of_baseline else text
