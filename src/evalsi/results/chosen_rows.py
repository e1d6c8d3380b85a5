"""Some rows of a batch, as a batch of their own.

Its own module because slices are cut alike where gates look at them and where they are summed up.
"""

import numpy as np
import numpy.typing as npt

from evalsi.engine.columns import Column, EvaluatorColumns
from evalsi.results.stored_rows import GradedRows


def chosen_rows(rows: GradedRows, chosen: npt.NDArray[np.bool_]) -> GradedRows:
    """The rows where `chosen`, of shape (rows,), is true."""
    kept = np.flatnonzero(chosen).tolist()
    lines = rows.record_lines
    columns = [_chosen_columns(each, kept) for each in rows.columns]
    return GradedRows(rows.first_row, b"".join(lines[row] + b"\n" for row in kept), columns)


def _chosen_columns(columns: EvaluatorColumns, kept: list[int]) -> EvaluatorColumns:
    return EvaluatorColumns(
        evaluator=columns.evaluator,
        ref=columns.ref,
        primary=columns.primary,
        outcomes=bytearray(columns.outcomes[row] for row in kept),
        columns={
            output: Column(
                output=column.output,
                kind=column.kind,
                values=[column.values[row] for row in kept],
                objects=[column.objects[row] for row in kept] if column.objects is not None else None,
            )
            for output, column in columns.columns.items()
        },
        notes={place: columns.notes[row] for place, row in enumerate(kept) if row in columns.notes},
    )
