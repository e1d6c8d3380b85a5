"""Logs of lm-evaluation-harness: `samples_<task>_<time>.jsonl`, one per task, beside one `results_<time>.json`.

A document is there once per filter; here it is one record, and each metric has one output per filter, as the harness
names them (`exact_match,strict`). Metrics that the harness only aggregates, such as BLEU, have no value per sample and
are reported as it computed them.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec

from evalsi.core.errors import EvalsiError, InvalidDataError
from evalsi.datasets.imports.foreign_fields import (
    list_of,
    number_of,
    object_of,
    text_of,
)
from evalsi.datasets.imports.imported_log import (
    NOT_SCORED,
    ImportedLog,
    ImportedSample,
    ReportedMetric,
    UnreadableSample,
)
from evalsi.datasets.imports.log_file import lines_of, read_document
from evalsi.datasets.imports.log_json import finite, read_log_json
from evalsi.datasets.imports.scorer_result import score_of, scored
from evalsi.datasets.rows import RowError
from evalsi.schema import Content, DatasetManifest, EvaluationResult, GitState, Record, RunManifest, RunStatus, Score

_NAME = re.compile(r"samples_(?P<task>.+?)_(?P<time>\d{4}-\d{2}-\d{2}T[0-9.:-]+)\.jsonl")
_OWN_FIELDS = frozenset(
    {
        "doc_id",
        "doc",
        "target",
        "arguments",
        "resps",
        "filtered_resps",
        "filter",
        "metrics",
        "doc_hash",
        "prompt_hash",
        "target_hash",
    }
)
_NO_FILTER = "none"
_FRACTION = re.compile(r"(acc|exact_match|em|f1|pass@|mc[12])")


class _Results(msgspec.Struct):
    """The wanted fields of results_<time>.json."""

    results: Any = None
    configs: Any = None
    higher_is_better: Any = None
    model_name: Any = None
    config: Any = None
    git_hash: Any = None
    date: Any = None
    lm_eval_version: Any = None
    task_hashes: Any = None


@dataclass(slots=True)
class _Filtered:
    """The lines of one document, one per filter."""

    place: str
    lines: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])


def read_lm_eval_log(path: Path) -> list[ImportedLog]:
    """The log of one task: `path` is its samples file; the results are looked for beside it.

    Raises:
        NotFoundError: there is no such file.
        InvalidDataError: it is no samples file, or it is empty.
    """
    match = _NAME.fullmatch(path.name)
    task = match["task"] if match else path.stem.removeprefix("samples_")
    results = _results_beside(path, match["time"] if match else "")
    _check(path)
    version = text_of(results.lm_eval_version)
    config, task_config = object_of(results.config), object_of(object_of(results.configs).get(task))
    model = text_of(results.model_name) or text_of(config.get("model"))
    started = number_of(results.date)
    settings = object_of(object_of(results.higher_is_better).get(task))
    return [
        ImportedLog(
            label=task,
            path=path,
            tool="lm-eval",
            tool_version=version,
            manifest=RunManifest(
                name=task,
                packages={"lm_eval": version} if version else {},
                started_at=_moment(started),
                dataset=DatasetManifest(
                    source=text_of(task_config.get("dataset_path")) or str(path),
                    revision=text_of(object_of(results.task_hashes).get(task)),
                ),
                git=GitState(commit=commit) if (commit := text_of(results.git_hash)) else None,
                status=RunStatus.SUCCEEDED,
                labels={"model": model} if model else {},
            ),
            read_samples=lambda: _samples(path),
            is_fraction=lambda name: _FRACTION.match(name) is not None,
            higher_is_better={name: better for name, better in settings.items() if isinstance(better, bool)},
            reported=list(_reported(object_of(object_of(results.results).get(task)))),
        )
    ]


def is_lm_eval_log(path: Path) -> bool:
    """Whether a file of a folder is one of samples."""
    return _NAME.fullmatch(path.name) is not None


def _check(path: Path) -> None:
    for place, line in lines_of(path):
        try:
            first = read_log_json(line, dict[str, Any])
        except RowError as fault:
            raise InvalidDataError(fault.reason, where=place) from None
        if "doc_id" not in first:
            raise InvalidDataError(
                "is no samples file of lm-eval: the line has no doc_id",
                where=place,
                hint="name samples_<task>_<time>.jsonl, which lm_eval writes with --log_samples",
            )
        return
    raise InvalidDataError("the log holds no samples", where=str(path), hint="run lm_eval with --log_samples")


def _results_beside(path: Path, time: str) -> _Results:
    """The results of the same run; nothing is known but the samples where there are none."""
    if not time:
        return _Results()
    try:
        return read_document(path.with_name(f"results_{time}.json"), _Results)
    except EvalsiError:
        return _Results()


def _reported(metrics: Mapping[str, Any]) -> Iterator[ReportedMetric]:
    count = number_of(metrics.get("sample_len"))
    for key, value in metrics.items():
        name, comma, chosen = key.partition(",")
        mean = number_of(value)
        if comma and mean is not None and not name.endswith("_stderr"):
            output = "" if chosen == _NO_FILTER else chosen
            yield ReportedMetric(evaluator=name, output=output, mean=mean, n=int(count or 0))


def _moment(seconds: float | None) -> Any:
    from datetime import UTC, datetime

    if seconds is None or not 0 <= seconds < 1e11:
        return None
    return datetime.fromtimestamp(seconds, UTC)


# ---- samples


def _samples(path: Path) -> Iterator[ImportedSample | UnreadableSample]:
    documents: dict[str, _Filtered] = {}
    broken: list[UnreadableSample] = []
    for place, line in lines_of(path):
        try:
            fields = read_log_json(line, dict[str, Any])
            identifier = _identifier(fields)
        except RowError as fault:
            broken.append(UnreadableSample(place, fault.reason))
            continue
        documents.setdefault(identifier, _Filtered(place)).lines.append(fields)
    yield from broken
    for identifier, document in documents.items():
        try:
            yield _sample(identifier, document)
        except RowError as fault:
            yield UnreadableSample(document.place, fault.reason)


def _identifier(fields: dict[str, Any]) -> str:
    found = fields.get("doc_id")
    if isinstance(found, bool) or not isinstance(found, int | str) or found == "":
        raise RowError("the line has no doc_id")
    return str(found)


def _sample(identifier: str, document: _Filtered) -> ImportedSample:
    first = document.lines[0]
    prompt, choices = _arguments(first.get("arguments"))
    responses = list_of(first.get("resps"))
    metadata = dict(object_of(first.get("doc")))
    if len(choices) > 1 and len(responses) == len(choices):
        likelihoods = [_likelihood(response) for response in responses]
        output = _likeliest(choices, likelihoods)
        metadata["choices"] = [
            {"text": choice, "log_likelihood": likelihood}
            for choice, likelihood in zip(choices, likelihoods, strict=True)
        ]
    else:
        output = _first_text(responses)
    filtered = {
        text_of(line.get("filter")): _unwrapped(line.get("filtered_resps"))
        for line in document.lines
        if line.get("filter") not in (None, _NO_FILTER)
    }
    if filtered:
        metadata["filtered"] = filtered
    record = Record(
        id=identifier,
        input=Content(text=prompt) if prompt else None,
        output=Content(text=output) if output is not None else None,
        reference=_target(first.get("target"), choices),
        metadata=finite(metadata),
    )
    return ImportedSample(document.place, record, list(_results(document.lines)), NOT_SCORED)


def _arguments(value: Any) -> tuple[str, list[str]]:
    """The prompt and, where the model was only asked how likely texts are, these texts.

    `{"gen_args_0": {"arg_0": prompt, "arg_1": text or settings}}` today, `[[prompt, text or settings]]` in older files.
    """
    requests = list(object_of(value).values()) if isinstance(value, dict) else list_of(value)
    parts: list[list[Any]] = [
        list(object_of(request).values()) if isinstance(request, dict) else list_of(request) for request in requests
    ]
    prompts = [part[0] for part in parts if part]
    choices = [part[1].strip() for part in parts if len(part) > 1 and isinstance(part[1], str)]
    return (text_of(prompts[0]) if prompts else ""), choices


def _likelihood(response: Any) -> float | None:
    """The log likelihood in [[value, is greedy]] or [value, is greedy], which today's files write as text."""
    value = _unwrapped(response)
    value = value[0] if isinstance(value, list) and value else value  # pyright: ignore[reportUnknownVariableType]
    if isinstance(value, str):
        try:
            value = float(value)
        except ValueError:
            return None
    return number_of(value)


def _likeliest(choices: list[str], likelihoods: list[float | None]) -> str | None:
    known = [(likelihood, -number) for number, likelihood in enumerate(likelihoods) if likelihood is not None]
    return choices[-max(known)[1]] if known else None


def _unwrapped(value: Any) -> Any:
    items = list_of(value)
    return items[0] if len(items) == 1 else value


def _first_text(responses: list[Any]) -> str | None:
    value: Any = responses
    while isinstance(value, list) and value:
        value = value[0]  # pyright: ignore[reportUnknownVariableType]
    return None if value is None or isinstance(value, list) else text_of(value)


def _target(value: Any, choices: list[str]) -> Content | None:
    """The wanted answer; of a multiple choice, the text of the choice whose number the target is."""
    if len(choices) > 1 and str(value).isdecimal() and int(str(value)) < len(choices):
        return Content(text=choices[int(str(value))])
    if isinstance(value, list):
        return Content(json=finite(value))
    return Content(text=text_of(value)) if value is not None else None


def _results(lines: list[dict[str, Any]]) -> Iterator[EvaluationResult]:
    """One result per metric, with an output per filter."""
    found: dict[str, list[Score]] = {}
    for line in lines:
        chosen = text_of(line.get("filter")) or _NO_FILTER
        for name in _metrics(line):
            value = line.get(name)
            if isinstance(value, bool | int | float):
                output = "" if chosen == _NO_FILTER else chosen
                found.setdefault(name, []).append(score_of(output, value))
    for name, scores in found.items():
        yield scored(name, scores)


def _metrics(line: dict[str, Any]) -> list[str]:
    """The names the line lists; older files list none, and there every other field with a number is one."""
    named = [name for name in list_of(line.get("metrics")) if isinstance(name, str)]
    return named or [name for name in line if name not in _OWN_FIELDS]
