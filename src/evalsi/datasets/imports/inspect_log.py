"""Logs of Inspect (inspect_ai): `.eval`, a zip of one JSON document per sample, and `.json`, one document of everything.

Samples of a `.eval` are read one at a time, so memory does not grow with the log. A log whose run was killed has no
header at its end; its journal says what the run was, and the samples that were finished are all there.
"""

import re
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import msgspec

from evalsi.core.chat import messages_of
from evalsi.core.errors import InvalidDataError, NotFoundError
from evalsi.datasets.imports.agent_steps import steps_of
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
from evalsi.datasets.imports.imported_log import (
    NOT_SCORED,
    ImportedLog,
    ImportedSample,
    ReportedMetric,
    UnreadableSample,
)
from evalsi.datasets.imports.log_json import finite, read_log_json
from evalsi.datasets.imports.scorer_result import failed, score_of, scored, skipped
from evalsi.datasets.imports.zip_entries import open_zip
from evalsi.datasets.row_ids import text_of_id
from evalsi.datasets.rows import RowError
from evalsi.schema import (
    Content,
    DatasetManifest,
    ErrorKind,
    EvaluationResult,
    Fault,
    GitState,
    Message,
    Messages,
    Provenance,
    Record,
    RunManifest,
    RunProvenance,
    RunStatus,
    Score,
    Trajectory,
    Usage,
)

_HEADER, _JOURNAL_START = "header.json", "_journal/start.json"
_SAMPLE = re.compile(r"samples/(?P<id>.*)_epoch_(?P<epoch>[0-9]{1,9})\.json", re.DOTALL)
_ATTACHMENT = re.compile(r"attachment://([0-9a-f]{32,64})")
_MAX_ATTACHED_CHARACTERS = 64 * 1024 * 1024
"""Attachments may be quoted many times; all quotes together may not be longer than this."""

_STATUSES = {"success": RunStatus.SUCCEEDED, "error": RunStatus.ERROR, "cancelled": RunStatus.CANCELLED}
_LETTERS: dict[str, bool | float] = {"C": True, "I": False, "P": 0.5, "N": False}
"""Correct, incorrect, partially correct, no answer: what Inspect's own metrics make of them."""
_WORDS = {"yes": True, "true": True, "no": False, "false": False}
_MEANS = ("accuracy", "mean")
_PROVIDER_ERROR = re.compile(
    r"^(\w+\.)*(APIError|API\w*Error|RateLimitError|InternalServerError|ServiceUnavailable\w*|AuthenticationError"
    r"|PermissionDeniedError|OverloadedError|BadRequestError|ModelRetryError)\b"
)
_ENVIRONMENT_ERROR = re.compile(
    r"^(\w+\.)*(Sandbox\w*|Docker\w*|PrerequisiteError|ComposeError|OutputLimitExceededError)\b"
)


class _Header(msgspec.Struct):
    """The wanted fields of header.json, of the journal's start and of a whole `.json`."""

    eval: Any = None
    status: Any = None
    results: Any = None
    stats: Any = None
    error: Any = None


class _Document(_Header):
    samples: Any = None


class _Sample(msgspec.Struct):
    """The wanted fields of a sample; its event log, by far the greatest part, is not among them."""

    id: Any = None
    epoch: Any = 1
    input: Any = None
    choices: Any = None
    target: Any = None
    messages: Any = None
    output: Any = None
    scores: Any = None
    score: Any = None
    metadata: Any = None
    model_usage: Any = None
    error: Any = None
    limit: Any = None
    invalidation: Any = None
    attachments: Any = None
    total_time: Any = None
    uuid: Any = None


def read_inspect_log(path: Path) -> list[ImportedLog]:
    """The log at `path`.

    Raises:
        NotFoundError: there is no such file.
        InvalidDataError: it is no Inspect log, is damaged, or holds no samples.
    """
    try:
        with path.open("rb") as file:
            packed = file.read(2) == b"PK"
    except FileNotFoundError:
        raise NotFoundError("there is no such file", where=str(path)) from None
    except OSError as error:
        raise InvalidDataError(f"cannot be read: {error.strerror or error}", where=str(path)) from error
    return [_of_zip(path) if packed or path.suffix == ".eval" else _of_json(path)]


def is_inspect_log(head: bytes) -> bool:
    """Whether a JSON document that begins so may be such a log."""
    return b'"eval"' in head and b'"status"' in head


# ---- the two forms


def _of_zip(path: Path) -> ImportedLog:
    with open_zip(path) as entries:
        name = _HEADER if _HEADER in entries.names else _JOURNAL_START
        if name not in entries.names:
            raise InvalidDataError("is no Inspect log: it has neither header.json nor a journal", where=str(path))
        try:
            header = read_log_json(entries.read(name), _Header)
        except RowError as fault:
            raise InvalidDataError(fault.reason, where=f"{path}: {name}") from None
        known = {text_of(each): number for number, each in enumerate(_sample_ids(header))}
        found = [match for match in map(_SAMPLE.fullmatch, entries.names) if match is not None]
    if not found:
        raise InvalidDataError("the log holds no samples", where=str(path), hint="run Inspect with --log-samples")
    # Entries come in the order samples happened to finish; the order of the dataset is the same every time.
    found.sort(key=lambda match: (int(match["epoch"]), known.get(match["id"], len(known))))
    names = [match[0] for match in found]

    def read_samples() -> Iterator[ImportedSample | UnreadableSample]:
        with open_zip(path) as entries:
            for name in names:
                place = f"{path}: {name}"
                try:
                    yield _sample(place, read_log_json(entries.read(name), _Sample))
                except KeyError:
                    yield UnreadableSample(place, "is no longer there")
                except RowError as fault:
                    yield UnreadableSample(place, fault.reason)

    return _log(path, header, len(names), read_samples)


def _of_json(path: Path) -> ImportedLog:
    document = _read_document(path)
    samples = document.samples
    if not isinstance(document.eval, dict):
        raise InvalidDataError("is no Inspect log: it has no `eval`", where=str(path))
    if not isinstance(samples, list) or not samples:
        raise InvalidDataError("the log holds no samples", where=str(path), hint="run Inspect with --log-samples")
    count = len(list_of(samples))

    def read_samples() -> Iterator[ImportedSample | UnreadableSample]:
        for number, each in enumerate(list_of(_read_document(path).samples)):
            place = f"{path}: samples[{number}]"
            try:
                yield _sample(place, msgspec.convert(each, _Sample))
            except msgspec.ValidationError:
                yield UnreadableSample(place, "is not an object")
            except RowError as fault:
                yield UnreadableSample(place, fault.reason)

    return _log(path, document, count, read_samples)


def _read_document(path: Path) -> _Document:
    try:
        return read_log_json(path.read_bytes(), _Document)
    except FileNotFoundError:
        raise NotFoundError("there is no such file", where=str(path)) from None
    except OSError as error:
        raise InvalidDataError(f"cannot be read: {error.strerror or error}", where=str(path)) from error
    except RowError as fault:
        raise InvalidDataError(fault.reason, where=str(path)) from None


# ---- the run


def _log(path: Path, header: _Header, samples: int, read_samples: Any) -> ImportedLog:
    spec, stats = object_of(header.eval), object_of(header.stats)
    version = text_of(object_of(spec.get("packages")).get("inspect_ai"))
    task = text_of(spec.get("task_display_name")) or text_of(spec.get("task")) or path.stem
    model = text_of(spec.get("model"))
    reported = list(_reported(header))
    scorers = [text_of(each.get("name")) for each in objects_of(spec.get("scorers"))]
    scorers += [metric.evaluator for metric in reported]
    status = text_of(header.status)
    return ImportedLog(
        label=task,
        path=path,
        tool="inspect",
        tool_version=version,
        manifest=RunManifest(
            name=task,
            packages={"inspect_ai": version} if version else {},
            git=_git_state(object_of(spec.get("revision"))),
            started_at=moment_of(stats.get("started_at")) or moment_of(spec.get("created")),
            finished_at=moment_of(stats.get("completed_at")),
            dataset=DatasetManifest(
                source=text_of(object_of(spec.get("dataset")).get("name")) or str(path), records=samples
            ),
            status=_STATUSES.get(status, RunStatus.CANCELLED),
            trials=count_of(object_of(spec.get("config")).get("epochs")) or 1,
            target_usage=usage_or_none(_usage(stats.get("model_usage"), None)),
            warnings=[f"the run ended with an error: {text_of(object_of(header.error).get('message'))}"]
            if status == "error"
            else [],
            labels={"model": model} if model else {},
        ),
        read_samples=read_samples,
        scorers=list(dict.fromkeys(name for name in scorers if name)),
        reported=reported,
    )


def _sample_ids(header: _Header) -> list[Any]:
    return list_of(object_of(object_of(header.eval).get("dataset")).get("sample_ids"))


def _git_state(revision: dict[str, Any]) -> GitState | None:
    commit = text_of(revision.get("commit"))
    return GitState(commit=commit, dirty=revision.get("dirty") is True) if commit else None


def _reported(header: _Header) -> Iterator[ReportedMetric]:
    """Means over samples, as Inspect computed them; of a score with several reducers, those that average."""
    for score in objects_of(object_of(header.results).get("scores")):
        scorer, name = text_of(score.get("scorer")), text_of(score.get("name"))
        if score.get("reducer") not in (None, "mean"):
            continue
        for metric, found in object_of(score.get("metrics")).items():
            mean = number_of(object_of(found).get("value"))
            if mean is not None and metric.rpartition("/")[2] in _MEANS:
                yield ReportedMetric(
                    evaluator=scorer or name,
                    output="" if name == scorer else name,
                    mean=mean,
                    n=count_of(score.get("scored_samples")) or 0,
                )


# ---- one sample


def _sample(place: str, sample: _Sample) -> ImportedSample:
    identifier = text_of_id(sample.id)
    if not identifier:
        raise RowError("the sample has no id")
    if sample.attachments:
        sample = _with_attachments(sample)
    epoch = count_of(sample.epoch) or 1
    messages, errors = _messages(sample.messages)
    output = object_of(sample.output)
    choice = next(iter(objects_of(output.get("choices"))), dict[str, Any]())
    answer = output.get("completion") if "completion" in output else _answer(choice)
    failure = _failure(sample)
    scores = object_of(sample.scores) or ({"score": sample.score} if sample.score else {})
    invalid = object_of(sample.invalidation)
    record = Record(
        id=identifier,
        input=_input(sample.input),
        output=Content(text=answer) if isinstance(answer, str) and (answer or choice) else None,
        reference=_target(sample.target),
        trajectory=_trajectory(messages, errors),
        usage=usage_or_none(_usage(sample.model_usage, number_of(sample.total_time))),
        metadata=finite(_metadata(sample)),
        provenance=Provenance(run=RunProvenance(task_id=text_of(sample.uuid), trial=epoch - 1)),
        notes=_notes(sample),
        stop_reason=text_of(choice.get("stop_reason")),
    )
    if invalid:
        reason = text_of(invalid.get("reason"))
        otherwise = skipped("", "invalidated" + (f": {reason}" if reason else ""))
        return ImportedSample(place, record, (), otherwise)
    results = [_result(name, object_of(found)) for name, found in scores.items()]
    return ImportedSample(place, record, results, failure or NOT_SCORED)


def _metadata(sample: _Sample) -> dict[str, Any]:
    metadata = dict(object_of(sample.metadata))
    if sample.choices:
        metadata.setdefault("choices", sample.choices)
    if len(object_of(sample.model_usage)) > 1:
        metadata.setdefault("model_usage", sample.model_usage)
    return metadata


def _notes(sample: _Sample) -> list[str]:
    limit, error = object_of(sample.limit), object_of(sample.error)
    notes: list[str] = []
    if limit:
        most = number_of(limit.get("limit"))
        of = f" of {most:g}" if most is not None else ""
        notes.append(f"stopped at its {text_of(limit.get('type'))} limit{of}")
    if error:
        notes.append(f"ended with an error: {text_of(error.get('message'))}")
    return notes


def _failure(sample: _Sample) -> EvaluationResult | None:
    """What a sample that ended with an error is at every scorer that said nothing."""
    if not sample.error:
        return None
    message = text_of(object_of(sample.error).get("message")) or "the sample ended with an error"
    if _PROVIDER_ERROR.match(message):
        return failed("", message, kind=ErrorKind.PROVIDER, fault=Fault.PROVIDER)
    if _ENVIRONMENT_ERROR.match(message):
        return failed("", message, kind=ErrorKind.ENVIRONMENT, fault=Fault.ENVIRONMENT)
    return failed("", message, kind=ErrorKind.TARGET, fault=Fault.UNSPECIFIED)


def _input(value: Any) -> Content | None:
    if isinstance(value, str):
        return Content(text=value)
    messages, _ = _messages(value)
    return Content(messages=Messages(messages=messages)) if messages else None


def _target(value: Any) -> Content | None:
    """One wanted answer as text, several as a list; Inspect writes "" where there is none."""
    targets = list_of(value)
    if len(targets) == 1:
        value = targets[0]
    elif targets:
        return Content(json=finite(targets))
    return Content(text=text_of(value)) if value not in (None, "", []) else None


def _answer(choice: dict[str, Any]) -> str | None:
    messages, _ = _messages([choice.get("message")])
    return messages[0].content if messages else None


def _trajectory(messages: list[Message], errors: dict[str, str]) -> Trajectory | None:
    """Steps where there is more than a question and its answer."""
    answers = sum(message.role == "assistant" for message in messages)
    if answers < 2 and not any(message.tool_calls or message.role == "tool" for message in messages):
        return None
    return Trajectory(steps=steps_of(messages, errors))


def _messages(value: Any) -> tuple[list[Message], dict[str, str]]:
    """The messages of Inspect's own form, and the errors of tool calls by the id of the call."""
    turns: list[dict[str, Any]] = []
    errors: dict[str, str] = {}
    for message in objects_of(value):
        if not isinstance(message.get("role"), str):
            continue
        turn = {"role": message["role"], "content": finite(message.get("content")) or ""}
        turn["tool_calls"] = [
            {
                "id": text_of(call.get("id")),
                "name": text_of(call.get("function")),
                "arguments": finite(call.get("arguments")),
            }
            for call in objects_of(message.get("tool_calls"))
        ]
        if message["role"] == "tool":
            identifier = text_of(message.get("tool_call_id"))
            error = text_of(object_of(message.get("error")).get("message"))
            if error and identifier:
                errors[identifier] = error
            turn |= {
                "tool_call_id": identifier,
                "name": text_of(message.get("function")),
                "content": turn["content"] or error,
            }
        turns.append(turn)
    return messages_of(turns) or [] if turns else [], errors


def _usage(by_model: Any, latency_s: float | None) -> Usage:
    """All models together. Inspect counts cached tokens beside input tokens; ours are the whole input."""
    total: dict[str, int] = {}
    costs: list[float | None] = []
    for used in object_of(by_model).values():
        found = object_of(used)
        counts = {name: count_of(value) or 0 for name, value in found.items()}
        read, written = counts.get("input_tokens_cache_read", 0), counts.get("input_tokens_cache_write", 0)
        whole = counts.get("input_tokens", 0)
        beside = counts.get("total_tokens", 0) >= whole + read + written + counts.get("output_tokens", 0)
        costs.append(number_of(found.get("total_cost")))
        for name, value in (
            ("input_tokens", whole + read + written if beside else whole),
            ("output_tokens", counts.get("output_tokens", 0)),
            ("cached_input_tokens", read),
            ("cache_write_tokens", written),
            ("reasoning_tokens", counts.get("reasoning_tokens", 0)),
        ):
            if value or name in ("input_tokens", "output_tokens"):
                total[name] = total.get(name, 0) + value
    cost_usd = sum(cost for cost in costs if cost is not None and cost >= 0) if costs and None not in costs else None
    latency = latency_s if latency_s is not None and latency_s >= 0 else None
    return Usage(
        input_tokens=total.get("input_tokens"),
        output_tokens=total.get("output_tokens"),
        cached_input_tokens=total.get("cached_input_tokens"),
        cache_write_tokens=total.get("cache_write_tokens"),
        reasoning_tokens=total.get("reasoning_tokens"),
        cost_usd=cost_usd,
        latency=latency,
    )


# ---- one score


def _result(scorer: str, found: dict[str, Any]) -> EvaluationResult:
    value, explanation = found.get("value"), text_of(found.get("explanation"))
    metadata = dict(object_of(found.get("metadata")))
    if found.get("answer") is not None:
        metadata.setdefault("answer", found["answer"])
    if isinstance(value, dict):
        scores = [_score(name, inner, explanation, metadata) for name, inner in object_of(value).items()]
    else:
        scores = [_score("", value, explanation, metadata)]
    return scored(scorer, scores)


def _score(output: str, value: Any, explanation: str, metadata: dict[str, Any]) -> Score:
    """The number Inspect's metrics take a value for; any other text stays a name."""
    read: Any = value
    if isinstance(value, str):
        read = _LETTERS.get(value, _WORDS.get(value.casefold(), value))
        if read is value:
            with suppress(ValueError):
                read = float(value)
        metadata = {**metadata, "value": value}
    return score_of(output, read, explanation=explanation, metadata=metadata)


# ---- attachments


def _with_attachments(sample: _Sample) -> _Sample:
    """The sample with long texts that Inspect stores once put back where they are quoted."""
    attachments = {name: text for name, text in object_of(sample.attachments).items() if isinstance(text, str)}
    budget = [_MAX_ATTACHED_CHARACTERS]

    def put_back(value: Any) -> Any:
        if isinstance(value, str):
            return _ATTACHMENT.sub(quoted, value) if "attachment://" in value else value
        if isinstance(value, dict):
            return {name: put_back(inner) for name, inner in object_of(value).items()}
        return [put_back(inner) for inner in list_of(value)] if isinstance(value, list) else value

    def quoted(found: re.Match[str]) -> str:
        text = attachments.get(found[1], found[0])
        budget[0] -= len(text)
        if budget[0] < 0:
            raise RowError(f"its attachments make more than {_MAX_ATTACHED_CHARACTERS:,} characters")
        return text

    fields = {name: getattr(sample, name) for name in sample.__struct_fields__ if name != "attachments"}
    return _Sample(**{name: put_back(value) for name, value in fields.items()})
