"""The results in an answer as columns, which is how results travel everywhere else."""

from collections.abc import Mapping, Sequence

import msgspec

from evalsi.engine.columns import EvaluatorColumns
from evalsi.results.document import result_dict
from evalsi.results.result_lines import ResultLine, columns_of_results
from evalsi.schema import BoundRunEvaluator, EvaluationResult


def outputs_of(evaluators: Sequence[BoundRunEvaluator]) -> dict[str, list[str]]:
    """The outputs of each evaluator by its name, as far as they are declared."""
    return {
        bound.name: [spec.name for spec in bound.manifest.outputs] for bound in evaluators if bound.manifest is not None
    }


def result_columns(results: Sequence[EvaluationResult], outputs: Mapping[str, Sequence[str]]) -> list[EvaluatorColumns]:
    """The results of consecutive records in columns, one for each evaluator, in the order in which they first occur.

    Args:
        outputs: As `outputs_of` gives them.
    """
    lines: dict[str, list[ResultLine]] = {}
    for each in results:
        lines.setdefault(each.evaluator, []).append(msgspec.convert(result_dict(each), ResultLine))
    return [columns_of_results(group, outputs) for group in lines.values()]
