"""The numbers that policies' results hold, by the names that lists and filters use. Pure.

A module of its own because every store fills its index of scores with it.
"""

from collections.abc import Iterable, Iterator

from evalsi.schema import EvaluationResult, Outcome, PolicyResults

_SCORED = Outcome.SCORED  # as a member of its class it is found in ten times as long


def score_values(policies: Iterable[PolicyResults]) -> dict[str, float]:
    """The newest value of each score: "evaluator" for the only or main output, else "evaluator.output".

    A verdict is 1 or 0; labels and structured values have no number. What was found in the trace as a whole goes before what
    was found in its steps, of which the mean counts: a leak in one of them must show.
    """
    whole: dict[str, float] = {}
    of_steps: dict[str, float] = {}
    for policy in sorted(policies, key=lambda policy: policy.time.timestamp() if policy.time else 0.0):
        steps: dict[str, list[float]] = {}
        for result in policy.results:
            for name, value in _values(result):
                if result.span_id:
                    steps.setdefault(name, []).append(value)
                else:
                    whole[name] = value
        of_steps.update((name, sum(values) / len(values)) for name, values in steps.items())
    return of_steps | whole


def _values(result: EvaluationResult) -> Iterator[tuple[str, float]]:
    if result.outcome is not _SCORED:
        return
    for score in result.scores:
        value = float(score.passed) if score.passed is not None else score.number
        if value is not None:
            main = len(result.scores) == 1 or _is_main(result, score.name)
            yield (result.evaluator if main else f"{result.evaluator}.{score.name}"), value


def _is_main(result: EvaluationResult, output: str) -> bool:
    own_name = result.evaluator_ref.rpartition("/")[2].partition("@")[0]
    return output in ("", own_name, result.evaluator)
