"""What the rows of one segment took: the target's answers and the judges' verdicts, added up when they are stored.

Its own module because a run that is continued must know what was spent before it asks on, and looking through a million
records for that would take longer than asking the first hundred questions. What always holds: answers and verdicts that
came out of a store took nothing.
"""

from collections.abc import Iterable, Sequence
from dataclasses import astuple
from typing import TypeAlias

import msgspec

from evalsi.engine.columns import EvaluatorColumns
from evalsi.judges.spend import Spend
from evalsi.schema import Record, Usage


class UsageOnly(msgspec.Struct):
    """The part of a stored record that tells what its answer took."""

    usage: Usage | None = None


Used: TypeAlias = Record | UsageOnly


class SegmentSpend(msgspec.Struct, frozen=True, array_like=True):
    """The fields of a `Spend` in their order, twice: a new field of it goes to its end."""

    answers: tuple[float, ...]
    verdicts: tuple[float, ...]

    def asked(self) -> Spend:
        """What the target used."""
        return Spend.of_values(self.answers)

    def judged(self) -> Spend:
        """What judges used."""
        return Spend.of_values(self.verdicts)


def spend_of(columns: Sequence[EvaluatorColumns], records: Iterable[Used]) -> SegmentSpend:
    """Adds up what `records` and the notes of `columns` say."""
    answers, verdicts = Spend(), Spend()
    for record in records:
        if record.usage is not None:
            answers.add_answer(record.usage)
    for each in columns:
        for note in each.notes.values():
            if note.usage is not None and not note.usage.cached:
                verdicts.add_call(note.usage, retries=0)
    return SegmentSpend(astuple(answers), astuple(verdicts))
