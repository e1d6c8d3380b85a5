"""Record files of OpenAI's evals (`oaieval … --record_path`): JSON Lines of a spec, events and a final report.

Events of one sample lie anywhere in the file, since samples run side by side; they are gathered by `sample_id`. Events
`match` and `metrics` are scores, `sampling` and `raw_sample` say what was asked and answered, `error` that it failed.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec

from evalsi.core.chat import messages_of
from evalsi.core.errors import InvalidDataError
from evalsi.datasets.imports.foreign_fields import (
    count_of,
    list_of,
    moment_of,
    number_of,
    object_of,
    text_of,
    usage_or_none,
)
from evalsi.datasets.imports.imported_log import (
    NOT_SCORED,
    ImportedLog,
    ImportedSample,
    ReportedMetric,
    UnreadableSample,
)
from evalsi.datasets.imports.log_file import lines_of
from evalsi.datasets.imports.log_json import finite, read_log_json
from evalsi.datasets.imports.scorer_result import failed, score_of, scored
from evalsi.datasets.rows import RowError
from evalsi.schema import (
    Content,
    DatasetManifest,
    ErrorKind,
    EvaluationResult,
    Messages,
    Record,
    RunManifest,
    RunStatus,
    Score,
    Usage,
)

MATCH = "match"
"""The scorer of events that say whether the answer matched. The final report calls its mean accuracy."""
_DIGITS = re.compile(r"[0-9]+")


class _Line(msgspec.Struct):
    spec: Any = None
    final_report: Any = None
    sample_id: Any = None
    type: Any = None
    data: Any = None


@dataclass(slots=True)
class _Events:
    """All events of one sample, in order, by type."""

    place: str
    by_type: dict[str, list[dict[str, Any]]] = field(default_factory=dict[str, list[dict[str, Any]]])

    def of(self, kind: str) -> list[dict[str, Any]]:
        return self.by_type.get(kind, [])


def read_openai_evals_log(path: Path) -> list[ImportedLog]:
    """The run in the file at `path`.

    Raises:
        NotFoundError: there is no such file.
        InvalidDataError: it is no such file, or holds no events of a sample.
    """
    spec: dict[str, Any] = {}
    report: dict[str, Any] | None = None
    samples: set[str] = set()
    for place, line in lines_of(path):
        try:
            read = read_log_json(line, _Line)
        except RowError as fault:
            if not spec and not samples:
                raise InvalidDataError(fault.reason, where=place) from None
            continue
        spec = object_of(read.spec) or spec
        report = report if read.final_report is None else object_of(read.final_report)
        if isinstance(read.sample_id, str) and read.sample_id:
            samples.add(read.sample_id)
    if not samples:
        raise InvalidDataError("holds no events of OpenAI evals", where=str(path))
    models = ", ".join(text_of(name) for name in list_of(spec.get("completion_fns")))
    accuracy = number_of((report or {}).get("accuracy"))
    name = text_of(spec.get("eval_name")) or path.stem
    return [
        ImportedLog(
            label=name,
            path=path,
            tool="openai-evals",
            tool_version="",
            manifest=RunManifest(
                name=name,
                started_at=moment_of(spec.get("created_at")),
                dataset=DatasetManifest(source=_dataset(spec) or str(path), records=len(samples)),
                # A run writes its report when it ends.
                status=RunStatus.SUCCEEDED if report is not None else RunStatus.CANCELLED,
                labels={"model": models} if models else {},
            ),
            read_samples=lambda: _samples(path),
            reported=[ReportedMetric(evaluator=MATCH, output="", mean=accuracy, n=0)] if accuracy is not None else [],
        )
    ]


def is_openai_evals_log(head: bytes) -> bool:
    """Whether a file that begins so may be such a record."""
    return head.lstrip().startswith(b'{"spec"') or (b'"sample_id"' in head and b'"event_id"' in head)


def _dataset(spec: dict[str, Any]) -> str:
    args = object_of(object_of(object_of(spec.get("run_config")).get("eval_spec")).get("args"))
    return text_of(args.get("samples_jsonl"))


def _samples(path: Path) -> Iterator[ImportedSample | UnreadableSample]:
    found: dict[str, _Events] = {}
    for place, line in lines_of(path):
        try:
            read = read_log_json(line, _Line)
        except RowError as fault:
            yield UnreadableSample(place, fault.reason)
            continue
        if isinstance(read.sample_id, str) and read.sample_id and isinstance(read.type, str):
            events = found.setdefault(read.sample_id, _Events(place))
            events.by_type.setdefault(read.type, []).append(object_of(read.data))
    for identifier in sorted(found, key=_in_order):
        yield _sample(identifier, found[identifier])


def _in_order(identifier: str) -> tuple[str, int, str]:
    """`name.dev.10` after `name.dev.9`."""
    stem, _, number = identifier.rpartition(".")
    return (stem, int(number[:18]), identifier) if _DIGITS.fullmatch(number) else (identifier, -1, identifier)


def _sample(identifier: str, events: _Events) -> ImportedSample:
    asked = events.of("sampling") + events.of("raw_sample")
    matches = events.of("match")
    first = asked[0] if asked else {}
    sampled = first.get("sampled", matches[0].get("sampled") if matches else None)
    answer = next(iter(list_of(sampled)), None) if isinstance(sampled, list) else sampled
    expected = matches[0].get("expected") if matches else first.get("ideal")
    metadata: dict[str, Any] = {}
    if len(list_of(sampled)) > 1:
        metadata["sampled"] = sampled
    record = Record(
        id=identifier,
        input=_prompt(first.get("prompt", first.get("input"))),
        output=Content(text=text_of(answer)) if answer is not None else None,
        reference=_expected(expected),
        usage=usage_or_none(_usage(asked)),
        metadata=finite(metadata),
    )
    otherwise = NOT_SCORED
    if errors := events.of("error"):
        reason = text_of(errors[0].get("message")) or text_of(errors[0].get("type")) or "the sample failed"
        otherwise = failed("", reason, kind=ErrorKind.TARGET)
    return ImportedSample(events.place, record, list(_results(events)), otherwise)


def _prompt(value: Any) -> Content | None:
    if isinstance(value, list):
        messages = messages_of(finite(value))
        return Content(messages=Messages(messages=messages)) if messages else Content(json=finite(value))
    return Content(text=text_of(value)) if value is not None else None


def _expected(value: Any) -> Content | None:
    items = list_of(value)
    if len(items) == 1:
        value = items[0]
    elif items:
        return Content(json=finite(items))
    return Content(text=text_of(value)) if value is not None and value != [] else None


def _usage(asked: list[dict[str, Any]]) -> Usage:
    used = [object_of(each.get("usage")) for each in asked]
    known = [usage for usage in used if usage]
    if not known:
        return Usage()
    return Usage(
        input_tokens=sum(count_of(usage.get("prompt_tokens")) or 0 for usage in known),
        output_tokens=sum(count_of(usage.get("completion_tokens")) or 0 for usage in known),
    )


def _results(events: _Events) -> Iterator[EvaluationResult]:
    matches = events.of("match")
    if matches:
        yield scored(MATCH, [_match(matches)])
    for name, values in _metrics(events.of("metrics")).items():
        # Of several values the last: an eval that records a metric again corrects it.
        yield scored(name, [score_of("", values[-1])])


def _match(matches: list[dict[str, Any]]) -> Score:
    """Whether the answer matched; of several answers the share that did."""
    verdicts = [match.get("correct") for match in matches]
    sound = [verdict for verdict in verdicts if isinstance(verdict, bool)]
    details = {name: matches[0][name] for name in ("picked", "options") if matches[0].get(name) is not None}
    if len(sound) == 1:
        return score_of("", sound[0], metadata=details)
    return score_of("", sum(sound) / len(sound) if sound else None, metadata={"answers": len(sound)})


def _metrics(events: list[dict[str, Any]]) -> dict[str, list[Any]]:
    found: dict[str, list[Any]] = {}
    for event in events:
        for name, value in event.items():
            if isinstance(value, bool | int | float | str):
                found.setdefault(name if name != MATCH else "match metric", []).append(value)
    return found
