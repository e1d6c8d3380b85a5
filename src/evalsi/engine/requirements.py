"""Whether a record carries what an evaluator needs; the reason when it does not."""

from collections.abc import Callable

from evalsi.schema import Record

Check = Callable[[Record], str | None]

_CHECKS: dict[str, Check] = {
    "input": lambda record: None if record.input is not None else "the record has no input",
    "output": lambda record: None if record.output is not None else "the record has no output",
    "reference": lambda record: None if record.reference is not None else "the record has no reference",
    "context": lambda record: None if record.context else "the record has no context",
    "trajectory": lambda record: None if record.trajectory is not None else "the record has no trajectory",
    "usage": lambda record: None if record.usage is not None else "the record has no usage",
}


def requirement_check(requires: frozenset[str]) -> Check | None:
    """One function for all requirements; None when there are none to check on the record."""
    checks = [check for name, check in _CHECKS.items() if name in requires]
    if not checks:
        return None
    if requires == frozenset({"output"}):
        return _CHECKS["output"]
    if requires == frozenset({"output", "reference"}):
        return _output_and_reference

    def check_all(record: Record) -> str | None:
        for check in checks:
            reason = check(record)
            if reason is not None:
                return reason
        return None

    return check_all


def _output_and_reference(record: Record) -> str | None:
    if record.output is None:
        return "the record has no output"
    return None if record.reference is not None else "the record has no reference"
