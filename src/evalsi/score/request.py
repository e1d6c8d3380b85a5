"""What a caller of the Score door may ask for, before anything is built."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from math import inf
from typing import Any, Literal, get_type_hints

import msgspec

from evalsi.core.errors import InvalidSpecError, UnknownNameError
from evalsi.datasets import DatasetOptions
from evalsi.engine.summary import SummaryPlan
from evalsi.evaluators.api import Definition
from evalsi.schema import EvaluatorRef


def check_positive(name: str, value: Any) -> None:
    """Raises: InvalidSpecError: `value` is no finite number above 0."""
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 < value < inf:
        raise InvalidSpecError(f"a number above 0 is needed, not {value!r}", where=name)


@dataclass(frozen=True, kw_only=True)
class JudgeChoice:
    """Which model judges. Never carries a key, only the name of the variable that holds one."""

    name: str = ""
    """A judge of the server that scores, by its name there."""
    provider: str = ""
    """`openai-compatible`, `anthropic`, or `recorded` (replies from a file, no network)."""
    model: str = ""
    base_url: str = ""
    api_key_env: str = ""
    effort: str = ""
    max_tokens: int | None = None
    recording: str = ""
    """For `recorded`: the file of recorded replies."""
    temperature: float | None = None
    """0 when nothing is said, for verdicts that repeat."""
    top_p: float | None = None
    seed: int | None = None
    response_format: Literal["json_schema", "text"] = "json_schema"
    """Whether the provider is asked to enforce the form of a reply."""
    requests_per_minute: float | None = None
    tokens_per_minute: float | None = None
    max_concurrency: int | None = None
    timeout_s: float | None = None
    """Seconds one call may take."""
    max_retries: int | None = None
    max_usd: float | None = None
    """Budget of the run in US dollars; refused for a model whose price is unknown."""
    max_total_tokens: int | None = None
    """Budget of the run in tokens, in and out together."""

    def __post_init__(self) -> None:
        for name in ("max_tokens", "requests_per_minute", "tokens_per_minute", "max_usd", "max_total_tokens"):
            value = getattr(self, name)
            if value is not None:
                check_positive(f"judge.{name}", value)

    @property
    def is_named(self) -> bool:
        return bool(self.provider or self.model or self.recording)


def judge_of(options: Mapping[str, Any]) -> JudgeChoice:
    """A choice from a mapping.

    Raises: UnknownNameError, InvalidSpecError: a key that is no option of a judge, or a value of the wrong type.
    """
    known = [entry.name for entry in fields(JudgeChoice)]
    for key in options:
        if key not in known:
            raise UnknownNameError("option of the judge", key, known, where=f"judge.{key}")
    return JudgeChoice(
        **{key: _checked(JudgeChoice, key, value, f"judge.{key}")[key] for key, value in options.items()}
    )


@dataclass(frozen=True, kw_only=True)
class ScoreRequest:
    """Outputs, evaluators and limits."""

    data: Any
    """A path, `-`, a glob, a folder, `hf://…`, an iterable of rows or records, a data frame."""
    evaluators: Sequence[EvaluatorRef | Definition]
    dataset: DatasetOptions = field(default_factory=DatasetOptions)
    baseline: Any = None
    """For comparative evaluators: outputs to compare with, matched by id."""
    judge: JudgeChoice = field(default_factory=JudgeChoice)
    use_cache: bool = True
    """Reuse judge replies that were paid for before."""
    concurrency: int = 16
    deadline_s: float = 60.0
    plan: SummaryPlan = field(default_factory=SummaryPlan)
    name: str = ""
    labels: dict[str, str] = field(default_factory=dict[str, str])
    resume: bool = True
    argv: Sequence[str] = ()
    """The command line, for the manifest."""

    def __post_init__(self) -> None:
        check_positive("concurrency", self.concurrency)
        check_positive("deadline_s", self.deadline_s)
        level = self.plan.level
        check_positive("confidence", level)
        if level >= 1:
            raise InvalidSpecError(f"a fraction below 1 is needed, not {level!r}", where="confidence")
        if self.plan.method not in ("auto", "bootstrap"):
            raise UnknownNameError("way to compute intervals", self.plan.method, ("auto", "bootstrap"))


def with_settings(request: ScoreRequest, flags: Sequence[str]) -> ScoreRequest:
    """`request` with `path=value` settings applied, e.g. `deadline_s=30`, `dataset.seed=7`, `judge.max_usd=2`.

    Values are JSON where they can be read so, else text.

    Raises: UnknownNameError, InvalidSpecError: a path that names nothing, or a value of the wrong type.
    """
    for flag in flags:
        path, separator, text = flag.partition("=")
        if not separator:
            raise InvalidSpecError(f"{flag!r} is no setting", hint="write path=value, e.g. deadline_s=30")
        try:
            value = msgspec.json.decode(text)
        except (msgspec.DecodeError, RecursionError):
            value = text
        request = _replaced(request, path.strip().split("."), value, path.strip())
    return request


_GROUPS = {"dataset": DatasetOptions, "judge": JudgeChoice, "plan": SummaryPlan}
_SIMPLE = ("concurrency", "deadline_s", "name", "resume", "use_cache")


def _replaced(request: ScoreRequest, path: Sequence[str], value: Any, where: str) -> ScoreRequest:
    group = {"summary": "plan"}.get(path[0], path[0])
    if group in _GROUPS and len(path) == 2:
        kind = _GROUPS[group]
        changed = _checked(kind, path[1], value, where)
        return replace(request, **{group: replace(getattr(request, group), **changed)})
    if len(path) == 1 and path[0] in _SIMPLE:
        return replace(request, **_checked(ScoreRequest, path[0], value, where))
    if path[0] in _SIMPLE and len(path) > 1:
        raise InvalidSpecError(f"{path[0]} has no parts", where=where)
    known = [*_SIMPLE, *(f"{name}.{entry.name}" for name, kind in _GROUPS.items() for entry in fields(kind))]
    raise UnknownNameError("setting", where, known)


def _checked(kind: type[Any], name: str, value: Any, where: str) -> dict[str, Any]:
    types = get_type_hints(kind)
    if name not in types:
        raise UnknownNameError("setting", name, types, where=where)
    try:
        return {name: msgspec.convert(value, types[name])}
    except msgspec.ValidationError as error:
        raise InvalidSpecError(str(error), where=where) from error
