"""Test runs of DeepEval: the JSON it writes to its results folder or to `.deepeval`.

Each metric is a scorer with its score and, as a second output, whether the score met the threshold.
"""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from evalsi.core.chat import messages_of
from evalsi.core.errors import InvalidDataError
from evalsi.datasets.imports.agent_steps import steps_of
from evalsi.datasets.imports.foreign_fields import (
    count_of,
    list_of,
    number_of,
    object_of,
    objects_of,
    text_of,
    usage_or_none,
)
from evalsi.datasets.imports.imported_log import NOT_SCORED, ImportedLog, ImportedSample, UnreadableSample
from evalsi.datasets.imports.log_file import read_document
from evalsi.datasets.imports.log_json import finite
from evalsi.datasets.imports.scorer_result import failed, score_of, scored, skipped
from evalsi.schema import (
    Content,
    DatasetManifest,
    EvaluationResult,
    Fault,
    Messages,
    Provenance,
    Record,
    RunManifest,
    RunProvenance,
    RunStatus,
    Step,
    StepType,
    Trajectory,
    Usage,
)

PASSED = "passed"
"""The output of a metric that says whether the score met its threshold."""
_LISTS = ("testCases", "conversationalTestCases")


class _Document(msgspec.Struct):
    testRunData: Any = None  # noqa: N815
    testCases: Any = None  # noqa: N815
    conversationalTestCases: Any = None  # noqa: N815
    identifier: Any = None
    hyperparameters: Any = None
    testFile: Any = None  # noqa: N815


def read_deepeval_log(path: Path) -> list[ImportedLog]:
    """The test run in the file at `path`.

    Raises:
        NotFoundError: there is no such file.
        InvalidDataError: it is no test run, or holds no test case.
    """
    fields = _fields(path)
    count = sum(len(list_of(fields.get(name))) for name in _LISTS)
    if not count:
        raise InvalidDataError("holds no test case of DeepEval", where=str(path))
    name = text_of(fields.get("identifier")) or text_of(fields.get("testFile")) or path.stem
    settings = {name: text_of(value) for name, value in object_of(fields.get("hyperparameters")).items()}
    return [
        ImportedLog(
            label=name,
            path=path,
            tool="deepeval",
            tool_version="",
            manifest=RunManifest(
                name=name,
                dataset=DatasetManifest(source=str(path), records=count),
                status=RunStatus.SUCCEEDED,
                labels={name: value[:200] for name, value in settings.items() if value},
            ),
            read_samples=lambda: _samples(path),
            is_fraction=lambda _: True,
            higher_is_better=_directions(fields),
        )
    ]


def is_deepeval_log(head: bytes) -> bool:
    """Whether a file that begins so may be a test run."""
    return b'"testCases"' in head or b'"testRunData"' in head or b'"conversationalTestCases"' in head


def _fields(path: Path) -> dict[str, Any]:
    document = read_document(path, _Document)
    if inner := object_of(document.testRunData):
        return inner
    return {name: getattr(document, name) for name in document.__struct_fields__}


def _directions(fields: dict[str, Any]) -> dict[str, bool]:
    """Metrics of which less is better: a score below the threshold met it, or one above did not."""
    less: dict[str, bool] = {}
    for name in _LISTS:
        for case in objects_of(fields.get(name)):
            for metric in objects_of(case.get("metricsData")):
                score, threshold = number_of(metric.get("score")), number_of(metric.get("threshold"))
                met = metric.get("success")
                if score is None or threshold is None or score == threshold or not isinstance(met, bool):
                    continue
                less[text_of(metric.get("name"))] = (score > threshold) == met
    return {name: more for name, more in less.items() if not more}


def _samples(path: Path) -> Iterator[ImportedSample | UnreadableSample]:
    fields = _fields(path)
    seen: Counter[str] = Counter()
    for name in _LISTS:
        for number, case in enumerate(list_of(fields.get(name))):
            place = f"{path}: {name}[{number}]"
            if not isinstance(case, dict):
                yield UnreadableSample(place, "is not an object")
                continue
            sample = _sample(place, object_of(case), f"{name}-{number}", seen)
            yield sample


def _sample(place: str, case: dict[str, Any], unnamed: str, seen: Counter[str]) -> ImportedSample:
    identifier = text_of(case.get("name")) or unnamed
    trial = seen[identifier]
    seen[identifier] += 1
    said = messages_of([_turn(turn) for turn in objects_of(case.get("turns"))] or None) or []
    metadata = dict(object_of(case.get("metadata", case.get("additionalMetadata"))))
    for name in ("tags", "expectedTools", "scenario", "expectedOutcome", "comments"):
        if case.get(name):
            metadata.setdefault(name, case[name])
    last = next((message.content for message in reversed(said) if message.role == "assistant"), None)
    output = case.get("actualOutput", last)
    record = Record(
        id=identifier,
        input=Content(messages=Messages(messages=said)) if said else _content(case.get("input")),
        output=_content(output),
        reference=_content(case.get("expectedOutput", case.get("expectedOutcome"))),
        context=[content for each in _passages(case) if (content := _content(each)) is not None],
        trajectory=_trajectory(case, said),
        usage=usage_or_none(
            Usage(cost_usd=_positive(case.get("tokenCost")), latency=_positive(case.get("completionTime")))
        ),
        metadata=finite(metadata),
        provenance=Provenance(run=RunProvenance(trial=trial)) if trial else None,
    )
    metrics = {text_of(metric.get("name")): metric for metric in objects_of(case.get("metricsData"))}
    return ImportedSample(
        place, record, [_result(name, metric) for name, metric in metrics.items() if name], NOT_SCORED
    )


def _passages(case: dict[str, Any]) -> list[Any]:
    """What was retrieved; where nothing was, the context the answer should rest on."""
    return list_of(case.get("retrievalContext")) or list_of(case.get("context"))


def _turn(turn: dict[str, Any]) -> dict[str, Any]:
    return {"role": text_of(turn.get("role")) or "user", "content": text_of(turn.get("content"))}


def _trajectory(case: dict[str, Any], said: list[Any]) -> Trajectory | None:
    steps = steps_of(said) if len(said) > 2 else []
    steps += [_tool(f"tool-{number}", tool) for number, tool in enumerate(objects_of(case.get("toolsCalled")))]
    return Trajectory(steps=steps) if steps else None


def _tool(span_id: str, tool: dict[str, Any]) -> Step:
    return Step(
        span_id=span_id,
        type=StepType.TOOL,
        name=text_of(tool.get("name")),
        input=_content(tool.get("inputParameters"), as_json=True),
        output=_content(tool.get("output")),
    )


def _content(value: Any, *, as_json: bool = False) -> Content | None:
    if value is None:
        return None
    return Content(text=value) if isinstance(value, str) and not as_json else Content(json=finite(value))


def _positive(value: Any) -> float | None:
    number = number_of(value)
    return number if number is not None and number >= 0 else None


def _result(name: str, metric: dict[str, Any]) -> EvaluationResult:
    usage = usage_or_none(
        Usage(
            cost_usd=_positive(metric.get("evaluationCost")),
            input_tokens=count_of(metric.get("inputTokenCount")),
            output_tokens=count_of(metric.get("outputTokenCount")),
        )
    )
    judged = bool(text_of(metric.get("evaluationModel")))
    if metric.get("error"):
        return failed(name, text_of(metric["error"]), fault=Fault.JUDGE if judged else Fault.EVALUATOR, usage=usage)
    if metric.get("skipped") is True:
        return skipped(name, text_of(metric.get("reason")) or "skipped")
    details = {key: metric[key] for key in ("threshold", "evaluationModel", "strictMode") if metric.get(key)}
    value = metric.get("score")
    number = value if isinstance(value, int | float) and not isinstance(value, bool) else None
    scores = [score_of("", number, explanation=text_of(metric.get("reason")), metadata=details)]
    if number is not None and isinstance(metric.get("success"), bool):
        scores.append(score_of(PASSED, metric["success"]))
    result = scored(name, scores[:1], usage=usage)
    return msgspec.structs.replace(result, scores=scores) if result.scores else result
