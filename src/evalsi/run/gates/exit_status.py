"""The exit status that a run's gates mean, so that every door ends alike."""

from collections.abc import Sequence

from evalsi.schema import GateResult, GateVerdict, OnInconclusive

__all__ = ["exit_status"]


def exit_status(results: Sequence[GateResult], on_inconclusive: OnInconclusive, *, finished: bool = True) -> int:
    """0 all gates are met, 1 the run did not finish, 3 a gate is not met, 4 undecided.

    Args:
        results: As `decide_gates` gives them. No gates at all is 0.
        finished: False for a run that was stopped: by an error, a budget or a person. What its gates say of the part
            that was done is then no verdict on the whole.

    A gate without data is not met. An undecided one is 4 only where the spec asks for that and no gate fails.
    """
    if not finished:
        return 1
    undecided = [result for result in results if result.verdict is GateVerdict.INCONCLUSIVE]
    if any(not result.passed for result in results if result not in undecided):
        return 3
    if not undecided or on_inconclusive is OnInconclusive.PASS:
        return 0
    if on_inconclusive is OnInconclusive.EXIT4:
        return 4
    if on_inconclusive is OnInconclusive.FAIL:
        return 3
    return 0 if all(result.passed for result in undecided) else 3
