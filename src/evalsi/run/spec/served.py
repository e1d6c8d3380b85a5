"""What a specification that came over a network may not do on the machine of the server, and where its files lie.

Who runs `evalsi run` may read and start whatever they like; who sends a spec to a server may name datasets and
recordings below the root of datasets, but for the cases of other projects, and nothing else of that machine. All paths are
confined here, before anything is opened, and what is opened later is what was confined.
"""

from pathlib import Path
from typing import NamedTuple

import msgspec

from evalsi.core.errors import InvalidSpecError
from evalsi.datasets.promoted_path import confined_own_path
from evalsi.run.gates.baseline import baseline_reference
from evalsi.schema import DatasetSource, JudgeSpec, RunSpec, Target

_ADDRESSES = ("hf://",)


def served_spec(spec: RunSpec, root: Path, project: str) -> RunSpec:
    """The specification with every path absolute, below `root`, and open to `project`.

    Raises: InvalidSpecError: it names code, programs, files to write or paths outside; `where` is the field's path.
    """
    for place, name in ((row, ref.ref) for row, ref in enumerate(spec.evaluators)):
        if ":" in name:
            raise InvalidSpecError(
                f"the evaluator {name!r} is a file or a module, and a server runs no code that is sent to it",
                where=f"spec.evaluators[{place}].ref",
                hint="name one of the catalog, or install a plugin on the server",
            )
    for place, sink in enumerate(spec.sinks):
        if sink.name is None:
            raise InvalidSpecError(
                "a server writes no files for a run",
                where=f"spec.sinks[{place}]",
                hint="read the results with ListRunResults, or name a sink of the server",
            )
    _refuse_files("spec.baseline", spec.baseline)
    for place, gate in enumerate(spec.gates):
        _refuse_files(f"spec.gates[{place}].baseline", gate.baseline)
    files = _Place(root, project)
    return msgspec.structs.replace(
        spec,
        target=None if spec.target is None else _target(spec.target, files, "spec.target"),
        dataset=None if spec.dataset is None else _dataset(spec.dataset, files),
        judges={name: _judge(judge, files, f"spec.judges.{name}") for name, judge in spec.judges.items()},
    )


class _Place(NamedTuple):
    """What paths are seen from."""

    root: Path
    project: str


def _target(target: Target, files: _Place, where: str) -> Target:
    for name, given in (
        ("python", target.python),
        ("command", target.command),
        ("agent.cli", target.agent is not None and target.agent.cli),
    ):
        if given:
            raise InvalidSpecError(
                "a server starts no program that a specification names",
                where=f"{where}.{name}",
                hint="offer the agent over HTTP, or run it where it is with 'evalsi run'",
            )
    fallbacks = [_target(other, files, f"{where}.fallbacks[{place}]") for place, other in enumerate(target.fallbacks)]
    return msgspec.structs.replace(
        target, recording=_confined(files, target.recording, f"{where}.recording"), fallbacks=fallbacks
    )


def _dataset(source: DatasetSource, files: _Place) -> DatasetSource:
    if source.uri and not source.uri.startswith(_ADDRESSES):
        raise InvalidSpecError(
            f"a server reads no {source.uri.partition('://')[0]}:// address",
            where="spec.dataset.uri",
            hint="name hf://…, or upload the dataset",
        )
    if source.path is None:
        return source
    return msgspec.structs.replace(source, path=_confined(files, source.path, "spec.dataset.path"))


def _judge(judge: JudgeSpec, files: _Place, where: str) -> JudgeSpec:
    return msgspec.structs.replace(judge, recording=_confined(files, judge.recording, f"{where}.recording"))


def _confined(files: _Place, path: str, where: str) -> str:
    if not path:
        return path
    try:
        return str(confined_own_path(files.root, path, files.project))
    except InvalidSpecError as error:
        raise InvalidSpecError(error.message, where=where, hint=error.hint) from None


def _refuse_files(where: str, baseline: str) -> None:
    if baseline and baseline_reference(baseline).path:
        raise InvalidSpecError(
            f"{baseline!r} is a file, and a server compares with runs alone", where=where, hint="name a run"
        )
