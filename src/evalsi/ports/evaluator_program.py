"""Evaluators that live in a program of their own: another interpreter, another language, another set of packages."""

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from evalsi.schema import EvaluationResult, EvaluatorManifest, Record


class EvaluatorProgram(Protocol):
    """A program that grades records.

    What always holds: nothing that the program does, or fails to do, touches anything but the records it was given. It is
    started when it is first needed, started again after it died, and gone when this process is.
    """

    @property
    def name(self) -> str:
        """What its evaluators are called by: `name/evaluator`."""
        ...

    def describe(self) -> Sequence[EvaluatorManifest]:
        """What it says its evaluators are. Waits until it is up, so it is not for an event loop with other work.

        Raises: PluginError: it cannot be started, or says nothing. MissingExtraError: gRPC is not installed.
        """
        ...

    async def grade(self, manifest: EvaluatorManifest, params: Mapping[str, Any], record: Record) -> EvaluationResult:
        """What one of its evaluators says of a record, as it said it. Cancelled, it may stop the program.

        Raises: MeasurementError: it said nothing of the record, or died over it twice.
        """
        ...
