"""Small graded runs whose every value is known, and the same values as pandas frames."""

from collections.abc import Sequence
from math import isnan, nan
from typing import Any

import numpy as np
import numpy.typing as npt

from evalsi.engine.columns import CANCELLED, ERROR, SCORED, SKIPPED, Column, EvaluatorColumns, Note, pack, unpack
from evalsi.results.graded_run import GradedRun
from evalsi.results.stored_rows import GradedRows, encode_records
from evalsi.schema import (
    BoundRunEvaluator,
    Content,
    ErrorKind,
    EvaluatorManifest,
    Fault,
    MetricKind,
    MetricSpec,
    MetricSummary,
    Provenance,
    Record,
    RunManifest,
    RunProvenance,
    ScoreType,
    Usage,
)

TOPICS = ("billing", "refunds", "tariffs")
LEVELS = ("t1", "t2", "t10")


def drawn_values(n: int, *, seed: int, share: float = 0.7) -> dict[str, npt.NDArray[np.float64]]:
    """A verdict and a score from 0 to 1 for each record; some are not scored."""
    draw = np.random.default_rng(seed)
    passed = (draw.random(n) < share).astype(np.float64)
    score = np.clip(draw.normal(share, 0.2, n), 0, 1)
    passed[::17] = nan
    return {"passes": passed, "score": score}


def made_record(row: int, *, trials: int = 1, tells_trial: bool = False, **facts: Any) -> Record:
    record, trial = divmod(row, trials)
    metadata: dict[str, Any] = {
        "topic": TOPICS[record % 3],
        "deep": {"level": LEVELS[record % 4 % 3]},
        "even": record % 2 == 0,
    }
    if record % 7 == 0:
        del metadata["topic"]
    given: dict[str, Any] = {
        "id": f"r{record}",
        "input": Content(text=f"question {record}"),
        "output": Content(text=f"answer {row}"),
        "metadata": metadata,
        "usage": Usage(cost_usd=0.001 * (record % 5), latency=0.5 + record % 3, input_tokens=10, output_tokens=row % 9),
        "provenance": Provenance(run=RunProvenance(trial=trial)) if tells_trial else None,
    }
    return Record(**(given | facts))


def made_run(
    values: dict[str, npt.NDArray[np.float64]],
    *,
    run_id: str = "run-a",
    records: Sequence[Record] | None = None,
    batch_rows: int = 50,
    **facts: Any,
) -> GradedRun:
    """A run of two evaluators; NaN in `passes` is an error, a skip or a cancellation, in turn."""
    n = len(next(iter(values.values())))
    records = records or [made_record(row) for row in range(n)]
    held: list[tuple[int, bytes, bytes]] = []
    for start in range(0, n, batch_rows):
        rows = slice(start, start + batch_rows)
        columns = [_columns(name, array[rows]) for name, array in values.items()]
        held.append((start, encode_records(list(records[rows])), pack(columns)))
    return GradedRun(
        source=run_id,
        manifest=RunManifest(
            run_id=run_id,
            name=facts.pop("name", run_id),
            evaluators=[
                BoundRunEvaluator(
                    name=name,
                    manifest=EvaluatorManifest(
                        name=name, outputs=[MetricSpec(name=name, type=ScoreType.NUMBER, min=0, max=1)]
                    ),
                )
                for name in values
            ],
            **facts,
        ),
        summaries=[
            MetricSummary(
                metric=name,
                evaluator=name,
                evaluator_ref=f"test/{name}@1.0.0",
                kind=MetricKind.PROPORTION if name == "passes" else MetricKind.NUMBER,
                n=int((~np.isnan(array)).sum()),
                mean=float(np.nanmean(array)),
                higher_is_better=True,
            )
            for name, array in values.items()
        ],
        read_rows=lambda: (GradedRows(start, lines, unpack(packed)) for start, lines, packed in held),
    )


def _columns(name: str, values: npt.NDArray[np.float64]) -> EvaluatorColumns:
    columns = EvaluatorColumns(name, f"test/{name}@1.0.0", name, bytearray([SCORED]) * len(values), duration_s=0.5)
    columns.columns[name] = Column(name, "passed" if name == "passes" else "number", values.tolist())
    for row, value in enumerate(values.tolist()):
        if isnan(value):
            code = (ERROR, SKIPPED, CANCELLED)[row % 3]
            columns.outcomes[row] = code
            columns.notes[row] = Note(
                reason=f"because of {row}",
                error_kind=ErrorKind.JUDGE_PARSE if code == ERROR else ErrorKind.UNSPECIFIED,
                fault=Fault.JUDGE if code == ERROR else Fault.UNSPECIFIED,
            )
        elif row % 11 == 0:
            columns.notes[row] = Note(explanations={name: "why"}, usage=Usage(cost_usd=0.25), duration_s=2.0)
    return columns
