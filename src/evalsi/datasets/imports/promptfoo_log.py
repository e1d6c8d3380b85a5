"""Results of promptfoo: the JSON of `promptfoo eval -o results.json`, or its JSON Lines.

A file holds every prompt with every provider; each pair is one configuration and so a log of its own. A test keeps one
identifier in all of them, made from what the test says, so that configurations and files can be compared test by test;
a test that is there several times (`--repeat`) has as many trials.
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
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
    objects_of,
    text_of,
    usage_or_none,
)
from evalsi.datasets.imports.imported_log import NOT_SCORED, ImportedLog, ImportedSample, UnreadableSample
from evalsi.datasets.imports.log_file import lines_of, read_document
from evalsi.datasets.imports.log_json import finite, read_log_json
from evalsi.datasets.imports.scorer_result import as_float, failed, score_of, scored
from evalsi.datasets.row_ids import id_of_content
from evalsi.datasets.rows import RowError
from evalsi.schema import (
    Content,
    DatasetManifest,
    ErrorKind,
    EvaluationResult,
    Fault,
    Messages,
    Provenance,
    Record,
    RunManifest,
    RunProvenance,
    RunStatus,
    Usage,
)

OVERALL = "success"
"""The scorer of a test as a whole: whether it passed, and its score as a second output."""
_PROVIDER_FAILED = 2
"""`failureReason` of a result that is an error, not a failed assertion."""
_MARKS = frozenset({"prompt", "promptId", "promptIdx", "provider", "testCase", "testIdx", "vars", "gradingResult"})
"""Of these a result of promptfoo has some."""
_CRASHES = ("Custom function threw error:", "Python code execution failed:", "Ruby code execution failed:")
"""How promptfoo begins the reason of an assertion whose own code failed, and which it counts as a score of 0."""


class _Document(msgspec.Struct):
    results: Any = None
    config: Any = None
    metadata: Any = None
    evalId: Any = None  # noqa: N815


@dataclass(frozen=True, slots=True)
class _Found:
    """One result at its place, with its configuration and its test."""

    place: str
    fields: dict[str, Any]
    configuration: tuple[str, str]
    """Provider and prompt."""
    test: str


def read_promptfoo_log(path: Path) -> list[ImportedLog]:
    """One log per prompt and provider of the file at `path`.

    Raises:
        NotFoundError: there is no such file.
        InvalidDataError: it is no such file, or holds no results.
    """
    lines = path.suffix in (".jsonl", ".ndjson")
    document = _Document() if lines else read_document(path, _Document)
    summary, metadata = object_of(document.results), object_of(document.metadata)
    config = object_of(document.config)
    found = list(_read(path, lines=lines))
    if not found:
        raise InvalidDataError(
            "holds no results of promptfoo", where=str(path), hint="write it with: promptfoo eval -o results.json"
        )
    configurations = list(dict.fromkeys(each.configuration for each in found if isinstance(each, _Found)))
    version = text_of(metadata.get("promptfooVersion"))
    description = text_of(config.get("description")) or path.stem

    def log(configuration: tuple[str, str], label: str) -> ImportedLog:
        own = [each for each in found if isinstance(each, _Found) and each.configuration == configuration]
        provider, prompt = configuration
        return ImportedLog(
            label=label,
            path=path,
            tool="promptfoo",
            tool_version=version,
            manifest=RunManifest(
                name=description if len(configurations) == 1 else f"{description} · {label}",
                packages={"promptfoo": version} if version else {},
                started_at=moment_of(summary.get("timestamp")),
                dataset=DatasetManifest(source=str(path), records=len(own)),
                status=RunStatus.SUCCEEDED,
                labels={"provider": provider, "prompt": prompt[:200]},
            ),
            read_samples=lambda: _samples(path, lines=lines, configuration=configuration),
            is_fraction=lambda _: True,
        )

    return [log(*pair) for pair in zip(configurations, _labels(configurations), strict=True)] or _all_broken(found)


def is_promptfoo_log(head: bytes) -> bool:
    """Whether a file that begins so may be of promptfoo."""
    return b'"promptIdx"' in head or b'"gradingResult"' in head or b'"evalId"' in head


def _all_broken(found: list[Any]) -> list[ImportedLog]:
    first: UnreadableSample = found[0]
    raise InvalidDataError(first.reason, where=first.place)


def _labels(configurations: list[tuple[str, str]]) -> list[str]:
    """The provider alone, where the prompt is the same for all; both otherwise."""
    providers = Counter(provider for provider, _ in configurations)
    prompts = {prompt for _, prompt in configurations}
    if len(prompts) == 1:
        return [provider for provider, _ in configurations]
    if len(providers) == 1:
        return [prompt[:60] for _, prompt in configurations]
    return [f"{provider} {prompt[:60]}" for provider, prompt in configurations]


def _read(path: Path, *, lines: bool) -> Iterator[_Found | UnreadableSample]:
    """Every result of the file, of whatever configuration."""
    for place, fields in _of_lines(path) if lines else _of_document(path):
        if isinstance(fields, str):
            yield UnreadableSample(place, fields)
        elif not _MARKS & fields.keys():
            yield UnreadableSample(place, "is no result of promptfoo: it names no prompt, provider or test")
        else:
            yield _Found(place, fields, _configuration(fields), _test(fields))


def _of_lines(path: Path) -> Iterator[tuple[str, dict[str, Any] | str]]:
    for place, line in lines_of(path):
        try:
            yield place, read_log_json(line, dict[str, Any])
        except RowError as fault:
            yield place, fault.reason


def _of_document(path: Path) -> Iterator[tuple[str, dict[str, Any] | str]]:
    results = read_document(path, _Document).results
    inner = "results.results" if isinstance(results, dict) else "results"
    for number, item in enumerate(list_of(object_of(results).get("results") if isinstance(results, dict) else results)):
        fields: dict[str, Any] | str = object_of(item) if isinstance(item, dict) else "is not an object"
        yield f"{path}: {inner}[{number}]", fields


def _configuration(fields: dict[str, Any]) -> tuple[str, str]:
    provider = fields.get("provider")
    named = object_of(provider)
    name = (text_of(named.get("label")) or text_of(named.get("id"))) if named else text_of(provider)
    prompt = object_of(fields.get("prompt"))
    return name, text_of(prompt.get("label")) or text_of(fields.get("promptId"))


def _test(fields: dict[str, Any]) -> str:
    """The description of a test, else a digest of its variables and assertions."""
    case = object_of(fields.get("testCase"))
    said = {name: case.get(name) for name in ("vars", "assert") if case.get(name)} or {"vars": fields.get("vars")}
    made = id_of_content(finite(said)).removeprefix("sha-")[:12]
    description = text_of(case.get("description")) or text_of(fields.get("description"))
    return f"{description[:100]} ({made[:6]})" if description else f"test-{made}"


def _samples(path: Path, *, lines: bool, configuration: tuple[str, str]) -> Iterator[ImportedSample | UnreadableSample]:
    found: list[_Found] = []
    for each in _read(path, lines=lines):
        if isinstance(each, UnreadableSample):
            yield each
        elif each.configuration == configuration:
            found.append(each)
    # promptfoo writes results in the order they were finished.
    found.sort(key=lambda each: count_of(each.fields.get("testIdx")) or 0)
    trials: Counter[str] = Counter()
    for each in found:
        yield _sample(each, trials[each.test])
        trials[each.test] += 1


def _sample(found: _Found, trial: int) -> ImportedSample:
    fields = found.fields
    response = object_of(fields.get("response"))
    case = object_of(fields.get("testCase"))
    answer = response.get("output", fields.get("output"))
    metadata = {**object_of(case.get("metadata")), "vars": object_of(fields.get("vars"))}
    error = text_of(response.get("error")) or text_of(fields.get("error"))
    broken = fields.get("failureReason") == _PROVIDER_FAILED or (answer is None and bool(error))
    record = Record(
        id=found.test,
        input=_prompt(object_of(fields.get("prompt")).get("raw")),
        output=_answer(answer),
        usage=usage_or_none(_usage(fields, response)),
        metadata=finite(metadata),
        provenance=Provenance(run=RunProvenance(task_id=text_of(fields.get("id")), trial=trial)),
        notes=[f"the provider failed: {error}"] if broken and error else [],
        stop_reason=text_of(response.get("finishReason")),
    )
    if broken:
        reason = error or "the provider gave no answer"
        otherwise = failed("", reason, kind=ErrorKind.PROVIDER, fault=Fault.PROVIDER)
        return ImportedSample(found.place, record, (), otherwise)
    return ImportedSample(found.place, record, list(_results(fields)), NOT_SCORED)


def _prompt(raw: Any) -> Content | None:
    """The prompt as sent; a chat is kept by promptfoo as JSON text."""
    text = text_of(raw)
    if text.lstrip().startswith(("[", "{")):
        try:
            chat = read_log_json(
                text.encode("utf-8", "replace"), list[Any] if text.lstrip()[0] == "[" else dict[str, Any]
            )
            messages = messages_of(finite(chat))
        except RowError:
            messages = None
        if messages:
            return Content(messages=Messages(messages=messages))
    return Content(text=text) if text else None


def _answer(value: Any) -> Content | None:
    match value:
        case None:
            return None
        case str():
            return Content(text=value)
        case _:
            return Content(json=finite(value))


def _usage(fields: dict[str, Any], response: dict[str, Any]) -> Usage:
    tokens = object_of(response.get("tokenUsage")) or object_of(fields.get("tokenUsage"))
    details = object_of(tokens.get("completionDetails"))
    latency_ms, cost_usd = number_of(fields.get("latencyMs")), number_of(fields.get("cost"))
    return Usage(
        input_tokens=count_of(tokens.get("prompt")),
        output_tokens=count_of(tokens.get("completion")),
        reasoning_tokens=count_of(details.get("reasoning")) or None,
        cost_usd=cost_usd if cost_usd is not None and cost_usd >= 0 else None,
        latency=latency_ms / 1000 if latency_ms is not None and latency_ms >= 0 else None,
        cached=response.get("cached") is True,
    )


# ---- scores


def _results(fields: dict[str, Any]) -> Iterator[EvaluationResult]:
    """The test as a whole, then each named score, then the assertions that have no name, by their type."""
    grading = object_of(fields.get("gradingResult"))
    parts = objects_of(grading.get("componentResults"))
    crash = next((reason for part in parts if (reason := _crash(part))), "")
    success, reason = fields.get("success", grading.get("pass")), text_of(grading.get("reason"))
    if crash and success is not True:
        yield failed(OVERALL, crash)
    else:
        scores = [score_of("", success if isinstance(success, bool) else None, explanation=reason)]
        score = fields.get("score", grading.get("score"))
        if isinstance(score, int | float):
            scores.append(score_of("score", as_float(score)))
        yield scored(OVERALL, scores)
    named = object_of(fields.get("namedScores")) or object_of(grading.get("namedScores"))
    for name, value in named.items():
        own = [part for part in parts if _metric(part) == name]
        yield _named(name, value, own)
    for name, part in _unnamed(parts, set(named) | {OVERALL}):
        yield _assertion(name, part)


def _metric(part: dict[str, Any]) -> str:
    return text_of(object_of(part.get("assertion")).get("metric"))


def _crash(part: dict[str, Any]) -> str:
    reason = text_of(part.get("reason"))
    return reason.partition("\n")[0] if reason.startswith(_CRASHES) else ""


def _named(name: str, value: Any, parts: list[dict[str, Any]]) -> EvaluationResult:
    crash = next((reason for part in parts if (reason := _crash(part))), "")
    if crash:
        return failed(name, crash)
    explanation = "; ".join(dict.fromkeys(filter(None, (text_of(part.get("reason")) for part in parts))))
    number = value if isinstance(value, int | float) else None
    return scored(name, [score_of("", number, explanation=explanation)])


def _unnamed(parts: list[dict[str, Any]], taken: set[str]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Assertions without a name of their own; the second of one type is `type-2`."""
    seen: Counter[str] = Counter()
    for part in parts:
        kind = text_of(object_of(part.get("assertion")).get("type"))
        if not kind or _metric(part):
            continue
        seen[kind] += 1
        name = kind if seen[kind] == 1 else f"{kind}-{seen[kind]}"
        yield (name if name not in taken else f"{name}-assertion"), part


def _assertion(name: str, part: dict[str, Any]) -> EvaluationResult:
    if crash := _crash(part):
        return failed(name, crash)
    reason, passed, score = text_of(part.get("reason")), part.get("pass"), part.get("score")
    plain = isinstance(passed, bool) and (score is None or float(passed) == score)
    if plain or not isinstance(score, int | float):
        return scored(name, [score_of("", passed if isinstance(passed, bool) else None, explanation=reason)])
    return scored(name, [score_of("", as_float(score), explanation=reason)])
