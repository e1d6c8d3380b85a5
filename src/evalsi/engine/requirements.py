"""Which records lack what an evaluator needs, and the reason, which is what such a row is skipped with."""

from collections.abc import Callable, Sequence

from evalsi.schema import Record

# A batch at a time: a call per record and requirement would cost more than the quickest evaluators themselves.
_LACKING: dict[str, Callable[[Sequence[Record]], list[int]]] = {
    "input": lambda records: [row for row, record in enumerate(records) if record.input is None],
    "output": lambda records: [row for row, record in enumerate(records) if record.output is None],
    "reference": lambda records: [row for row, record in enumerate(records) if record.reference is None],
    "context": lambda records: [row for row, record in enumerate(records) if not record.context],
    "trajectory": lambda records: [row for row, record in enumerate(records) if record.trajectory is None],
    "usage": lambda records: [row for row, record in enumerate(records) if record.usage is None],
}


def unmet(requires: frozenset[str], records: Sequence[Record]) -> dict[int, str]:
    """Why a record cannot be measured, by row, of those that cannot."""
    reasons: dict[int, str] = {}
    for name, lacking in _LACKING.items():
        if name in requires:
            for row in lacking(records):
                reasons.setdefault(row, f"the record has no {name}")
    return reasons
