"""A decided gate in words: what it asks for, what was measured, how it ended.

Its own module because the page, the comment, the JUnit file and the annotations of a pull request must say the same of a
gate. What always holds: a gate without data is never PASS, and `met` is what the run itself took it for.
"""

from dataclasses import dataclass
from typing import Literal

from evalsi.report.figures import NONE, in_unit, signed_in_unit
from evalsi.schema import ConfidenceInterval, Gate, GateResult, GateStat, GateVerdict

GateWord = Literal["PASS", "FAIL", "NO DATA", "INCONCLUSIVE"]
_VERDICTS: dict[GateVerdict, GateWord] = {
    GateVerdict.PASSED: "PASS",
    GateVerdict.FAILED: "FAIL",
    GateVerdict.NO_DATA: "NO DATA",
    GateVerdict.INCONCLUSIVE: "INCONCLUSIVE",
}
_STATS: dict[GateStat, tuple[str, str]] = {
    GateStat.CI_LOW: ("lower bound", ""),
    GateStat.CI_HIGH: ("upper bound", ""),
    GateStat.ERROR_RATE: ("error rate", ""),
    GateStat.COVERAGE: ("coverage", ""),
    GateStat.N: ("scored values", ""),
    GateStat.PASS_AT_K: ("pass@k", ""),
    GateStat.PASS_HAT_K: ("pass^k", ""),
    GateStat.LATENCY_MEAN: ("mean latency", "s"),
    GateStat.LATENCY_P50: ("median latency", "s"),
    GateStat.LATENCY_P90: ("latency p90", "s"),
    GateStat.LATENCY_P95: ("latency p95", "s"),
    GateStat.LATENCY_P99: ("latency p99", "s"),
    GateStat.COST_MEAN: ("mean cost", "usd"),
    GateStat.COST_P95: ("cost p95", "usd"),
    GateStat.COST_TOTAL: ("total cost", "usd"),
}
"""The figure in words, and its unit."""


@dataclass(frozen=True, kw_only=True)
class GateLine:
    """A gate in words, for example stat "mean", limits "≥ 0.9".

    `metric`, `name` and `reason` are text of others: the metric with its slice, or the whole condition in CEL.
    """

    word: GateWord
    met: bool
    """Whether the run counts it as met; for INCONCLUSIVE that is what `on_inconclusive` decided."""
    metric: str
    stat: str
    limits: str
    value: str
    reason: str
    name: str = ""
    baseline: str = ""
    """The same figure in the baseline; "" where there is none."""
    is_condition: bool = False
    """Whether `metric` is a condition in CEL."""
    is_comparison: bool = False
    ci: ConfidenceInterval | None = None
    bounds: str = ""
    """The ends of `ci` as the value is written, [40 ms, 44 ms]; "" without one."""
    n: int = 0

    @property
    def asks(self) -> str:
        """What it asks for, without the metric."""
        return f"a loss {self.limits}" if self.is_comparison else self.limits

    @property
    def measured(self) -> str:
        """What the value is: the figure, or for a comparison its change, whose interval `ci` is then."""
        return "change" if self.is_comparison else self.stat

    @property
    def why(self) -> str:
        """What `reason` says beyond the limits, the figure and its interval, which stand beside it."""
        text = self.reason
        for word in ("inconclusive: ", "no data: "):
            text = text.removeprefix(word)
        if self.is_condition or self.word == "NO DATA" or self.value == NONE:
            return text
        if self.is_comparison:
            figures, _, rest = text.partition("; a loss of at most ")
            beyond = rest.partition(" was allowed")[2]
            return figures + beyond
        figures, asked, beyond = text.partition(" was asked")
        if not asked:
            return text
        scored = f"n = {self.n:,}" if self.n else ""
        return "; ".join(part for part in (scored, beyond.removeprefix(", and ")) if part)

    @property
    def title(self) -> str:
        """The gate's name, or what it asks for."""
        return self.name or " ".join(part for part in (self.metric, self.stat, self.limits) if part)


def gate_line(result: GateResult) -> GateLine:
    """Says how `result` ended. A result of before there were verdicts is read by its figure."""
    gate = result.gate or Gate()
    stat, unit = _STATS.get(gate.stat, ("mean", ""))
    if gate.k and gate.stat in (GateStat.PASS_AT_K, GateStat.PASS_HAT_K):
        stat = stat.replace("k", str(gate.k))
    limits = [f"≥ {gate.min:g}"] if gate.min is not None else []
    limits += [f"≤ {gate.max:g}"] if gate.max is not None else []
    if gate.max_drop is not None:
        stat, limits = "loss against the baseline", [f"≤ {gate.max_drop:g}"]
    if gate.cel:
        stat, limits = "", []
    value = in_unit(result.value, unit)
    is_comparison = gate.max_drop is not None and not gate.cel
    if is_comparison and result.value is not None and result.baseline_value is not None:
        value = signed_in_unit(result.value - result.baseline_value, unit)
    by_figure: GateWord = "NO DATA" if result.value is None else "PASS" if result.passed else "FAIL"
    word = _VERDICTS.get(result.verdict, by_figure)
    return GateLine(
        word=word,
        met=result.passed and word != "NO DATA",
        metric=_subject(gate),
        stat=stat,
        limits=" and ".join(limits),
        value=value,
        reason=result.reason,
        name=gate.name,
        baseline="" if result.baseline_value is None else in_unit(result.baseline_value, unit),
        is_condition=bool(gate.cel),
        is_comparison=is_comparison,
        ci=result.ci,
        bounds="" if result.ci is None else _bounds(result.ci, unit),
        n=result.n,
    )


def _bounds(ci: ConfidenceInterval, unit: str) -> str:
    return f"[{in_unit(ci.low, unit)}, {in_unit(ci.high, unit)}]"


def _subject(gate: Gate) -> str:
    if gate.cel:
        return " ".join(gate.cel.split())
    where = " and ".join(f"{path} = {value}" for path, value in sorted(gate.slice.items()))
    return f"{gate.metric or 'run'} where {where}" if where else gate.metric or "run"
