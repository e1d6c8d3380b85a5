"""No target at all: the outputs are in the dataset, and a run only grades them."""

from typing import Any

from evalsi.core.errors import MissingFieldError
from evalsi.infra.targets.answer_pieces import EMPTY_NOTE, is_empty
from evalsi.ports.target import CAPABILITIES, Answer, TargetTask
from evalsi.schema import Fault, Usage

CONNECTOR = "none"


class DatasetTarget:
    """Implements `ports.target.Target` by handing out the output that a record already has."""

    @property
    def identity(self) -> dict[str, Any]:
        """That there is none; the outputs belong to the dataset's digest."""
        return {"connector": CONNECTOR}

    @property
    def capabilities(self) -> frozenset[str]:
        """Anything may be in a dataset."""
        return frozenset(CAPABILITIES)

    @property
    def needs(self) -> frozenset[str]:
        """The output that it hands out."""
        return frozenset({"output"})

    async def check(self) -> str:
        """There is nobody to look for."""
        return ""

    async def answer(self, task: TargetTask) -> Answer:
        """The record's output. Raises: MissingFieldError: it has none."""
        record = task.record
        if record.output is None:
            raise MissingFieldError(
                "the record has no output, and no target is named to ask for one", fault=Fault.DATASET
            )
        notes = (EMPTY_NOTE,) if is_empty(record.output) else ()
        return Answer(output=record.output, usage=record.usage or Usage(), trajectory=record.trajectory, notes=notes)

    async def close(self) -> None:
        """Nothing to release."""
