"""What grades the batches of a scoring job: the engine of this process, or a server.

Its own module because it is the seam between the two: reading the dataset, writing the run down, continuing it and summing
it up are the same, wherever the evaluators are.
"""

from collections.abc import AsyncIterator, Iterable, Sequence
from typing import Protocol

from evalsi.engine.columns import EvaluatorColumns
from evalsi.engine.evaluate import GradedBatch, RecordBatch
from evalsi.engine.summary import Summarized


class Grader(Protocol):
    """Grades one dataset, once. `engine.evaluate.Evaluation` is one."""

    @property
    def evaluators(self) -> Sequence[Summarized]:
        """The evaluators, in the order of their results."""
        ...

    def observe(self, batch: RecordBatch) -> None:
        """Takes notice of a batch that is graded already, for evaluators of whole sessions or datasets."""
        ...

    def grade(self, batches: Iterable[RecordBatch]) -> AsyncIterator[GradedBatch]:
        """Grades batches and yields each as it is finished. Raises: EvalsiError: no batch can be graded any more."""
        ...

    async def finish(self) -> list[EvaluatorColumns]:
        """The results of dataset and session scope, once every batch was graded or observed."""
        ...
