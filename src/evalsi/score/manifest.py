"""What it takes to repeat a run: versions, params, digests, seeds, and what could not be held fast."""

import platform
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import msgspec

from evalsi.datasets import DatasetOptions
from evalsi.engine.summary import SummaryPlan
from evalsi.evaluators.binding import BoundEvaluator, manifest_of
from evalsi.schema import (
    BoundRunEvaluator,
    CiMethod,
    DatasetManifest,
    GitState,
    JudgeManifest,
    RunManifest,
    SummaryOptions,
    Unpinned,
)

MEASURING_PACKAGES = ("evalsi", "numpy", "sacrebleu", "google-re2", "jsonschema")
"""Packages whose version can change a score."""


@dataclass(frozen=True, kw_only=True)
class Circumstances:
    """What a manifest says about the world around a run."""

    evalsi_version: str
    argv: Sequence[str] = ()
    git: GitState | None = None
    price_table_version: str = ""
    judges: Sequence[JudgeManifest] = ()
    name: str = ""
    labels: Mapping[str, str] = field(default_factory=dict[str, str])
    project: str = "default"


def make_manifest(
    evaluators: Sequence[BoundEvaluator],
    *,
    source: str,
    dataset: DatasetOptions,
    plan: SummaryPlan,
    circumstances: Circumstances,
) -> RunManifest:
    """The manifest of a run that has not started: the run fills in its id, times and the dataset's digest."""
    seeds = {"summary": plan.seed, "evaluators": plan.seed}
    if dataset.sample is not None:
        seeds["sample"] = dataset.seed
    return RunManifest(
        name=circumstances.name,
        project=circumstances.project,
        evalsi_version=circumstances.evalsi_version,
        python_version=platform.python_version(),
        platform=f"{platform.system()}-{platform.release()}-{platform.machine()}",
        packages=installed_versions(MEASURING_PACKAGES),
        argv=[_as_unicode(argument) for argument in circumstances.argv],
        git=circumstances.git,
        dataset=DatasetManifest(
            source=_as_unicode(source),
            mapping=dict(dataset.mapping),
            where=dataset.where or "",
            limit=dataset.limit or 0,
            sample=dataset.sample or 0,
        ),
        evaluators=[_bound(evaluator, circumstances.judges) for evaluator in evaluators],
        judges=list(circumstances.judges),
        summary=SummaryOptions(
            confidence_level=plan.level,
            cluster_by=plan.cluster_by or "",
            ci_method=CiMethod.BOOTSTRAP if plan.method == "bootstrap" else CiMethod.AUTO,
        ),
        seeds=seeds,
        price_table_version=circumstances.price_table_version,
        unpinned=unpinned(evaluators, circumstances.judges),
        labels=dict(circumstances.labels),
    )


def installed_versions(packages: Sequence[str]) -> dict[str, str]:
    """Version by name of the packages that are installed."""
    found: dict[str, str] = {}
    for package in packages:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found


def unpinned(evaluators: Sequence[BoundEvaluator], judges: Sequence[JudgeManifest]) -> list[Unpinned]:
    """What can change although nothing in the manifest does."""
    found = [
        Unpinned(
            what=f"judge {judge.provider}/{judge.model}",
            why="a provider may change what stands behind a model's name, and sampling is not fully repeatable",
        )
        for judge in judges
        if judge.provider != "recorded"
    ]
    for evaluator in evaluators:
        code = evaluator.definition.code
        if not code.__module__.startswith("evalsi."):
            found.append(
                Unpinned(
                    what=f"evaluator {evaluator.name}",
                    why=f"its code is in {code.__module__}, whose version evalsi does not know",
                )
            )
    return found


def _bound(evaluator: BoundEvaluator, judges: Sequence[JudgeManifest]) -> BoundRunEvaluator:
    asked = _judge_of(evaluator, judges)
    params: dict[str, Any] = msgspec.to_builtins(evaluator.params)
    return BoundRunEvaluator(
        name=evaluator.name,
        manifest=manifest_of(evaluator.definition),
        params=params,
        prompt_sha256=dict(getattr(evaluator.instance, "prompt_digests", {})),
        judge=asked.name if asked is not None else "",
        judge_settings_sha256=asked.settings_sha256 if asked is not None else "",
        code_sha256=evaluator.code_digest().removeprefix("sha256:"),
    )


def _judge_of(evaluator: BoundEvaluator, judges: Sequence[JudgeManifest]) -> JudgeManifest | None:
    """The judge that an evaluator asks, of those of the run: where two are of one model, the one with its settings."""
    if evaluator.judge is None or not judges:
        return None
    settings = str(getattr(evaluator.judge, "fingerprint", "")).removeprefix("sha256:")
    fitting = [judge for judge in judges if judge.settings_sha256 == settings]
    named = [judge for judge in judges if judge.name == evaluator.judge.name]
    return next(iter((*fitting, *named, *judges)))


def _as_unicode(text: str) -> str:
    """`text` with the bytes of a file's name that are not in the encoding of the system read as UTF-8, or replaced."""
    return text.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


_SECRET_NAME = re.compile(r"(?:^|[-._])(?:token|secret|password|api[-_]?key)$", re.IGNORECASE)
_CREDENTIALS = re.compile(r"(?<=://)[^/@\s]+(?=@)")


def without_credentials(text: str) -> str:
    """`text` with the user and password of every address in it replaced."""
    return _CREDENTIALS.sub("***", text)


def redacted_argv(arguments: Sequence[str]) -> list[str]:
    """The command line with the value of anything that looks like a credential replaced."""
    shown: list[str] = []
    hide = False
    for argument in arguments:
        name, equals, _ = argument.partition("=")
        secret = _SECRET_NAME.search(name) is not None
        if hide:
            shown.append("***")
        elif secret and equals:
            shown.append(f"{name}=***")
        else:
            shown.append(without_credentials(argument))
        hide = secret and not equals and not hide and name.startswith("-")
    return shown
