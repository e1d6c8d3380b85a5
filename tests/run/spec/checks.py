"""Evaluators that specs of these tests name."""

from evalsi.evaluators.api import Record, evaluator, output


@evaluator(name="undeclared")
def undeclared(record: Record) -> float:
    """Declares nothing about what it returns."""
    return float(len(record.id))


@evaluator(name="mood", outputs=[output("mood", "label")])
def mood(record: Record) -> str:
    """One of a set of names."""
    return "calm" if record.id else "none"
