"""Gates on a comparison: a proven loss fails, a possible one is said, and no data is never a pass."""

import pytest

from evalsi.compare.comparison import Comparison
from evalsi.compare.gates import check_gates, gate_of, gate_results
from evalsi.compare.paired_metric import PairedMetric, Verdict
from evalsi.core.errors import GateFailedError, NothingScoredError, UnknownNameError
from evalsi.schema import GateVerdict
from evalsi.stats import Interval


def comparison(
    difference: float | None, verdict: Verdict, *, higher_is_better: bool | None = True, pairs: int = 50
) -> Comparison:
    metric = PairedMetric(
        metric="m", binary=False, higher_is_better=higher_is_better, pairs=pairs, unpaired=0, baseline_mean=0.5,
        candidate_mean=None if difference is None else 0.5 + difference, difference=difference,
        interval=Interval(-0.2, 0.1, 0.95, "t"), p_value=0.5, p_adjusted=0.5, test="", better=1, worse=2,
        detectable=None, verdict=verdict,
    )  # fmt: skip
    return Comparison(baseline="a", candidate="b", metrics=[metric], shared=pairs, only_baseline=0, only_candidate=0)


@pytest.mark.parametrize(
    ("compared", "wanted"),
    [
        (comparison(-0.1, "REGRESSED"), GateVerdict.FAILED),
        (comparison(-0.01, "REGRESSED"), GateVerdict.PASSED),
        (comparison(-0.1, "INCONCLUSIVE"), GateVerdict.INCONCLUSIVE),
        (comparison(0.1, "IMPROVED"), GateVerdict.PASSED),
        (comparison(0.1, "REGRESSED", higher_is_better=False), GateVerdict.FAILED),
        (comparison(0.1, "INCONCLUSIVE", higher_is_better=False), GateVerdict.INCONCLUSIVE),
        (comparison(-0.1, "INCONCLUSIVE", higher_is_better=None), GateVerdict.PASSED),
        (comparison(None, "NO DATA", pairs=0), GateVerdict.NO_DATA),
    ],
)
def test_each_comparison_has_its_verdict_number_and_interval(compared: Comparison, wanted: GateVerdict) -> None:
    (result,) = gate_results([gate_of("m:0.02")], compared)
    assert result.verdict is wanted
    assert result.passed is (wanted in (GateVerdict.PASSED, GateVerdict.INCONCLUSIVE))
    if wanted is not GateVerdict.NO_DATA:
        assert result.ci is not None
        assert (result.n, result.ci.low, result.baseline_value) == (50, -0.2, 0.5)


def test_a_failed_gate_and_one_without_data_stop_the_command_and_an_unknown_one_is_a_mistake() -> None:
    with pytest.raises(GateFailedError, match=r"m regressed by 0\.100"):
        check_gates([gate_of("m")], comparison(-0.1, "REGRESSED"))
    with pytest.raises(NothingScoredError, match="no data"):
        check_gates([gate_of("m")], comparison(None, "NO DATA", pairs=0))
    with pytest.raises(UnknownNameError, match="unknown metric in --gate 'n'"):
        check_gates([gate_of("n")], comparison(-0.1, "REGRESSED"))
    assert check_gates([gate_of("m")], comparison(-0.1, "INCONCLUSIVE")) == 0
