"""Microseconds per record of the deterministic evaluators, on records of about 100 characters.

    python bench/evaluators.py [name ...]

One process, the evaluator called as the engine calls it; CPU time, the best of five rounds. Budgets are printed where there is one.
"""

import sys
import timeit
from time import process_time

from evalsi.core.errors import EvalsiError
from evalsi.evaluators import catalog
from evalsi.evaluators.api import Definition, EvalContext
from evalsi.evaluators.binding import bind
from evalsi.schema import Content, Record, Scope, Usage

BUDGETS_US = {"exact-match": 1.2, "contains": 1.5, "token-f1": 7.0, "numeric-match": 4.0, "length": 1.0}
OUTPUT = "The warehouse holds a large number of wooden boxes, and in the end the total came to $1,250 at closing."
REFERENCE = "In the end the warehouse held a very large number of wooden boxes, and the total at closing was 1250."
REFERENCES = {
    "contains": "came to",
    "numeric-match": "1250",
    "choice-match": "C",
    "starts-with": "The",
    "json-equal": "{}",
}
OUTPUTS = {
    "choice-match": "The first two options are distractors that do not fit the question. The correct answer is (C).",
    "json-valid": '{"name": "warehouse", "boxes": [1, 2, 3, 4, 5, 6, 7, 8], "total": 1250.0, "closed": true, "note": null}',
}
PARAMS = {
    "regex-match": {"pattern": r"total \w+ to \$[\d,]+"},
    "json-schema": {"schema": {"type": "object"}},
    "contains-any": {"substrings": ["total"]},
    "contains-all": {"substrings": ["total"]},
    "equals": {"value": REFERENCE},
    "ends-with": {"suffix": "."},
}
ROUNDS = 5


def record_for(name: str) -> Record:
    return Record(
        id="r",
        output=Content(text=OUTPUTS.get(name, OUTPUTS["json-valid"] if name.startswith("json") else OUTPUT)),
        reference=Content(text=REFERENCES.get(name, REFERENCE)),
        usage=Usage(input_tokens=30, output_tokens=20, cost_usd=0.001, latency=0.8),
    )


def microseconds(definition: Definition) -> float:
    """Time of one record, the best of several rounds of about 0.1 s."""
    bound = bind(definition, context=EvalContext(), params=PARAMS.get(definition.name))
    record = record_for(definition.name)
    call = bound.call
    assert call is not None
    timer = timeit.Timer(lambda: call(record), timer=process_time)
    timer.timeit(3)
    number = max(10, int(0.1 / (timer.timeit(20) / 20)))
    return min(timer.repeat(ROUNDS, number)) / number * 1e6


def main() -> None:
    wanted = set(sys.argv[1:])
    print(f"{'evaluator':<22}{'µs/record':>10}{'budget':>8}  in process")
    for pack in ("core", "text"):
        for reference, definition in catalog.every_definition(pack):
            name = reference.rpartition("/")[2]
            if (
                isinstance(definition, EvalsiError)
                or definition.scope is not Scope.RECORD
                or (wanted and name not in wanted)
            ):
                continue
            try:
                time_us = microseconds(definition)
            except EvalsiError as error:
                print(f"{name:<22}{'-':>10}          {error}")
                continue
            budget = BUDGETS_US.get(name)
            print(f"{name:<22}{time_us:>10.2f}{budget or '':>8}  {'yes' if definition.bounded else 'worker'}")


if __name__ == "__main__":
    main()
