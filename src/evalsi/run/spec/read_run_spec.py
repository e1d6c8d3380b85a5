"""From a file to a run that can be started: read, overridden, filled in, checked. All mistakes are reported together.

The order is fixed: the text becomes a placed tree, `--set` changes it, environment variables are put in, the schema
reads it, and then the checks that no schema can express look at what was read, even where something else is wrong.
Nothing is called, asked or opened besides the file itself and the evaluators that it names.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

import msgspec

from evalsi.core.errors import InvalidSpecError, NotFoundError
from evalsi.run.spec.check_dataset import check_dataset
from evalsi.run.spec.check_envelope import API_VERSIONS, check_envelope
from evalsi.run.spec.check_evaluators import CheckedEvaluators, check_evaluators
from evalsi.run.spec.check_gates import check_gates
from evalsi.run.spec.check_judges import check_judges
from evalsi.run.spec.check_limits import check_limits
from evalsi.run.spec.check_target import check_target
from evalsi.run.spec.json_tree import read_json
from evalsi.run.spec.override import apply_overrides
from evalsi.run.spec.placed_tree import PlacedTree
from evalsi.run.spec.spelling import as_written, first_spelling, worded
from evalsi.run.spec.substitute import substitute
from evalsi.run.spec.yaml_tree import plain_value, read_yaml
from evalsi.schema import EvalRun, RunMetadata, RunSpec
from evalsi.schema.json_schema import json_schema
from evalsi.schema.thorough_reader import read_thoroughly

__all__ = ["MAX_BYTES", "RunDocument", "kept_run_spec", "read_run_spec", "run_spec_schema"]

MAX_BYTES = 32 << 20
"""Longest spec that is read; records belong into a file of their own."""
MAX_PROBLEMS = 50
"""Mistakes that are listed; a file that has more is no run spec."""


@dataclass(frozen=True, kw_only=True)
class RunDocument:
    """A run that was read and found right, and where each of its values stands."""

    run: EvalRun
    source: str
    """The file as it was named, or "<text>"."""
    folder: Path
    """What relative paths in the spec are relative to: the folder of the file."""
    evaluators: CheckedEvaluators
    """What the evaluators make and need, as far as the spec alone says."""
    warnings: list[str] = field(default_factory=list[str])
    tree: PlacedTree = field(repr=False, default_factory=lambda: PlacedTree(source=""))

    @property
    def spec(self) -> RunSpec:
        assert self.run.spec is not None
        return self.run.spec

    def where(self, path: str) -> str:
        """`file:line:column` of the value at a path such as `spec.gates[0].min`."""
        return self.tree.where(first_spelling(self.tree, path))


def read_run_spec(
    source: Path | str, *, overrides: Sequence[str] = (), environment: Mapping[str, str] | None = None
) -> RunDocument:
    """The run that `source` describes.

    Args:
        source: A file (a text that is one line and ends like a file's name is one), or the text of a spec. YAML or
            JSON, keys in snake_case or camelCase.
        overrides: Changes such as `spec.trials=3`, made before anything is checked.
        environment: What `${NAME}` stands for; empty by default.

    Raises:
        NotFoundError: there is no such file.
        InvalidSpecError: the spec is wrong; `problems` holds every mistake, each with its place.
    """
    text, name, folder = _text_of(source)
    tree = _tree_of(text, name)
    if type(tree.value) is not dict:
        raise InvalidSpecError.of([*tree.problems, InvalidSpecError("a run spec is a mapping", where=name)][:1])
    _expand(tree)
    apply_overrides(tree, overrides)
    substitute(tree, environment or {})
    _expand(tree)
    run, mistakes = read_thoroughly(_typed(tree), EvalRun)
    wrong = {mistake.path for mistake in mistakes} | tree.unresolved
    for mistake in mistakes:
        if mistake.path in tree.unresolved:
            continue
        unknown = mistake.problem.startswith(("unknown field", f"{mistake.path} is given twice"))
        tree.add(mistake.path, worded(tree, mistake), at_key=unknown)
    checked = _check(tree, run, wrong, folder)
    if tree.problems:
        raise InvalidSpecError.of(_listed(tree.problems, name))
    spec = run.spec or RunSpec()
    return RunDocument(
        run=_completed(run, checked.refs, spec), source=name, folder=folder, evaluators=checked, tree=tree
    )


def kept_run_spec(run: EvalRun, *, name: str, folder: Path) -> RunDocument:
    """A run whose spec was read before and kept, checked again: its evaluators may have gone since.

    Variables were put in when it was read, so a `${…}` that is in it now is plain text.

    Args:
        name: What the run is called where something is wrong with it.
        folder: What relative paths in the spec are relative to.
    Raises: InvalidSpecError: as `read_run_spec`.
    """
    # What a run is called on the command line need not be a name that a file may give.
    metadata = RunMetadata(name="kept")
    checked_run = msgspec.structs.replace(run, api_version=API_VERSIONS[0], kind="EvalRun", metadata=metadata)
    tree = read_json(msgspec.json.encode(_without_zeros(checked_run)).decode(), name)
    checked = _check(tree, checked_run, set(), folder)
    if tree.problems:
        raise InvalidSpecError.of(_in_order(tree.problems)[:MAX_PROBLEMS])
    return RunDocument(run=run, source=name, folder=folder, evaluators=checked, tree=tree)


def _without_zeros(value: Any) -> Any:
    """The message with every fraction that says what is meant anyway left out.

    A message that came as JSON or in binary form has a 0 where its writer said nothing, and what is left out when it is
    written is only the very object that stands for nothing.
    """
    if isinstance(value, list):
        return [_without_zeros(each) for each in cast("list[Any]", value)]
    if isinstance(value, dict):
        return {key: _without_zeros(each) for key, each in cast("dict[str, Any]", value).items()}
    if not isinstance(value, msgspec.Struct):
        return value
    changes: dict[str, Any] = {}
    for each in msgspec.structs.fields(value):
        held = getattr(value, each.name)
        changes[each.name] = each.default if held == each.default else _without_zeros(held)
    return msgspec.structs.replace(value, **changes)


def run_spec_schema() -> dict[str, Any]:
    """JSON Schema (draft 2020-12) of a run spec, for editors. Not to be changed by the caller."""
    return json_schema("eval-run")


def _check(tree: PlacedTree, run: EvalRun, wrong: set[str], folder: Path) -> CheckedEvaluators:
    check_envelope(tree, run, wrong)
    spec = run.spec or RunSpec()
    judges = check_judges(tree, spec)
    evaluators = check_evaluators(tree, spec, wrong, folder, judges)
    if tree.has("spec") and "spec" not in wrong:
        check_target(tree, spec)
        check_dataset(tree, spec, wrong)
        check_limits(tree, spec, wrong)
        check_gates(tree, spec, evaluators)
    return evaluators


def _completed(run: EvalRun, refs: list[Any], spec: RunSpec) -> EvalRun:
    """The run with the project from its label and evaluator files made absolute."""
    metadata = run.metadata
    if metadata is not None and not metadata.project and "evals.si/project" in metadata.labels:
        metadata = msgspec.structs.replace(metadata, project=metadata.labels["evals.si/project"])
    return msgspec.structs.replace(run, metadata=metadata, spec=msgspec.structs.replace(spec, evaluators=refs))


def _text_of(source: Path | str) -> tuple[str, str, Path]:
    if isinstance(source, str) and "\n" not in source and source.endswith((".yaml", ".yml", ".json")):
        source = Path(source)
    if isinstance(source, str):
        raw, name, folder = source.encode("utf-8", "surrogatepass"), "<text>", Path()
    else:
        name, folder = str(source), source.parent
        if source.is_dir():
            raise NotFoundError(
                f"{name} is a folder, not a run spec", hint=f"name a file in it, e.g. {source / 'run.yaml'}"
            )
        try:
            with source.open("rb") as file:
                raw = file.read(MAX_BYTES + 1)
        except FileNotFoundError:
            raise NotFoundError(f"there is no file {name!r}", hint=_nearest_file(source)) from None
        except OSError as error:
            raise NotFoundError(f"{name} cannot be read: {error.strerror or error}") from None
    if len(raw) > MAX_BYTES:
        raise InvalidSpecError(
            f"the spec is larger than {MAX_BYTES >> 20} MiB",
            where=name,
            hint="put the records into a file: dataset.path",
        )
    encoding = "utf-16" if raw[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig"
    try:
        text = raw.decode(encoding)
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        column = error.start - raw.rfind(b"\n", 0, error.start)
        raise InvalidSpecError(
            f"the file is not UTF-8: byte 0x{raw[error.start]:02x}", where=f"{name}:{line}:{column}"
        ) from None
    return text.replace("\r\n", "\n").replace("\r", "\n"), name, folder


def _tree_of(text: str, name: str) -> PlacedTree:
    """JSON where the file says so or the text can be nothing else, YAML otherwise."""
    if not text.strip():
        raise InvalidSpecError("the file is empty", where=name, hint="see docs/reference/run-spec.md for an example")
    if name.endswith(".json"):
        return read_json(text, name)
    if text.lstrip().startswith("{"):
        try:
            return read_json(text, name)
        except InvalidSpecError:
            return read_yaml(text, name)
    return read_yaml(text, name)


def _expand(tree: PlacedTree) -> None:
    """Puts in what short forms stand for: a text is an evaluator's reference, or a gate's condition."""
    spec: Any = tree.value.get("spec")
    if not isinstance(spec, dict):
        return
    for name, key in (("evaluators", "ref"), ("gates", "cel")):
        listed = cast("dict[str, Any]", spec).get(name)
        if not isinstance(listed, list):
            continue
        items = cast("list[Any]", listed)
        for index, item in enumerate(items):
            if isinstance(item, str):
                items[index] = {key: item}
                spot = tree.spots.get(f"spec.{name}[{index}]")
                if spot is not None:
                    tree.spots[f"spec.{name}[{index}].{key}"] = spot


def _typed(tree: PlacedTree) -> Any:
    """The values with texts from environment variables read as the schema wants them: `stream: ${STREAM}`."""
    value: Any = tree.value
    return as_written(tree, value, "EvalRun", "", plain_value) if tree.substituted else value


def _nearest_file(path: Path) -> str | None:
    from evalsi.core.errors import suggestion

    try:
        names = [each.name for each in path.parent.iterdir() if each.suffix in (".yaml", ".yml", ".json")]
    except OSError:
        return f"there is no folder {str(path.parent)!r}"
    near = suggestion(path.name, names)
    return near if near is not None else "see docs/reference/run-spec.md for an example"


def _listed(problems: list[InvalidSpecError], name: str) -> list[InvalidSpecError]:
    """The first `MAX_PROBLEMS` in the order of the file, and how many more there are."""
    ordered = _in_order(problems)
    more = len(ordered) - MAX_PROBLEMS
    rest = [InvalidSpecError(f"at least {more} more mistakes are not listed", where=name)] if more > 0 else []
    return [*ordered[:MAX_PROBLEMS], *rest]


def _in_order(problems: list[InvalidSpecError]) -> list[InvalidSpecError]:
    """By place, each mistake once."""

    def place(problem: InvalidSpecError) -> tuple[int, int]:
        parts = (problem.where or "").rsplit(":", 2)
        if len(parts) == 3 and parts[1].isdecimal() and parts[2].isdecimal():
            return int(parts[1]), int(parts[2])
        return 0, 0

    unique = {(problem.where, problem.message): problem for problem in problems}
    return sorted(unique.values(), key=place)
