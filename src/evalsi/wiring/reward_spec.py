"""Reads a reward spec from a file or text: YAML or JSON, with or without the envelope of a spec, every mistake with its place.

Its own module because people write forms that the schema does not know: `clip: [low, high]`, `sandbox: {minIsolation}`
and `cache: {enabled}` stand for fields that it does, and `breakdown` for what every reward has.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

from evalsi.core.errors import InvalidSpecError, NotFoundError
from evalsi.core.nearest_file import nearest_file
from evalsi.documents.json_tree import read_json
from evalsi.documents.placed_tree import PlacedTree
from evalsi.documents.spelling import first_spelling, worded
from evalsi.documents.yaml_tree import read_yaml
from evalsi.reward.check_spec import check_spec
from evalsi.run.spec.check_envelope import API_VERSIONS
from evalsi.schema import RewardSpec
from evalsi.schema.thorough_reader import read_thoroughly

KIND = "RewardSpec"
_MAX_BYTES = 4 << 20


@dataclass(frozen=True, kw_only=True)
class RewardDocument:
    """A reward spec that was read and found right, and where each of its values stands."""

    spec: RewardSpec
    tree: PlacedTree = field(repr=False)
    at: str
    """Where the spec is in the document: "spec" in an envelope, "" in a flat one."""

    def where(self, path: str) -> str:
        """`file:line:column` of the value at a path of the spec such as `judge`."""
        return self.tree.where(first_spelling(self.tree, f"{self.at}.{path}" if self.at else path))


def read_reward_spec(source: Path | str | Mapping[str, Any]) -> RewardSpec:
    """As `read_reward_document`, for who needs no places."""
    return read_reward_document(source).spec


def read_reward_document(source: Path | str | Mapping[str, Any]) -> RewardDocument:
    """The reward that `source` describes.

    Args:
        source: A file (a text of one line that ends like a file's name is one), the text of a spec, or a mapping.

    Raises:
        NotFoundError: there is no such file.
        InvalidSpecError: the spec is wrong; `problems` holds every mistake, each with its place.
    """
    tree = _tree(source)
    value: Any = tree.value
    if not isinstance(value, dict):
        raise InvalidSpecError("a reward spec is a mapping", where=tree.source)
    at = _open_envelope(tree)
    whole = cast("dict[str, Any]", value)
    body = _expanded(tree, whole[at] if at else whole, at)
    spec, mistakes = read_thoroughly(body, RewardSpec, at=at)
    for mistake in mistakes:
        tree.add(mistake.path, worded(tree, mistake), at_key=mistake.problem.startswith("unknown field"))
    wrong = [mistake.path for mistake in mistakes]
    try:
        check_spec(spec)
    except InvalidSpecError as error:
        for problem in error.problems:
            path = problem.message.partition(":")[0]
            written = first_spelling(tree, f"{at}.{path}" if at else path)
            if not tree.problems or _stands_by_itself(tree, written, wrong):
                tree.add(written, problem.message, hint=problem.hint)
    if tree.problems:
        raise InvalidSpecError.of(sorted(tree.problems, key=_place))
    return RewardDocument(spec=spec, tree=tree, at=at)


def _tree(source: Path | str | Mapping[str, Any]) -> PlacedTree:
    if isinstance(source, Mapping):
        return PlacedTree(source="<spec>", value=dict(source))
    if isinstance(source, str) and "\n" not in source and source.endswith((".yaml", ".yml", ".json")):
        source = Path(source)
    if isinstance(source, str):
        text, name = source, "<text>"
    else:
        name = str(source)
        try:
            text = source.read_bytes()[:_MAX_BYTES].decode("utf-8-sig")
        except FileNotFoundError:
            raise NotFoundError(
                f"there is no file {name!r}", hint=nearest_file(source) or "name a reward spec, e.g. reward.yaml"
            ) from None
        except OSError as error:
            raise NotFoundError(f"{name} cannot be read: {error.strerror or error}") from None
        except UnicodeDecodeError:
            raise InvalidSpecError("the file is not UTF-8", where=name) from None
    is_json = name.endswith(".json") or text.lstrip().startswith("{")
    return read_json(text, name) if is_json else read_yaml(text, name)


def _open_envelope(tree: PlacedTree) -> str:
    """Where the body is: "spec" in an envelope, "" in a flat spec."""
    whole = cast("dict[str, Any]", tree.value)
    if "kind" not in whole and "spec" not in whole:
        return ""
    version = whole.get("apiVersion", whole.get("api_version"))
    if version not in API_VERSIONS:
        tree.add(first_spelling(tree, "api_version"), f"unknown apiVersion {version!r}; known: {API_VERSIONS[0]}")
    if whole.get("kind") != KIND:
        tree.add("kind", f"kind is {whole.get('kind')!r}, and a reward needs {KIND}")
    for key in whole:
        if key not in ("apiVersion", "api_version", "kind", "metadata", "spec"):
            tree.add(key, f"unknown field {key}; known: apiVersion, kind, metadata, spec", at_key=True)
    body = whole.get("spec")
    if not isinstance(body, dict):
        tree.add("spec", "spec is missing or no mapping", hint="it lists the components of the reward")
        whole["spec"] = body = {}
    named = cast("dict[str, Any]", body)
    metadata = whole.get("metadata")
    if isinstance(metadata, dict) and "name" not in named and "name" in metadata:
        named["name"] = cast("dict[str, Any]", metadata)["name"]
    return "spec"


def _expanded(tree: PlacedTree, body: dict[str, Any], at: str) -> dict[str, Any]:
    """The body with what people write put into the fields of the schema."""
    found = dict(body)
    clip = found.get("clip")
    if isinstance(clip, list):
        bounds = cast("list[Any]", clip)
        if len(bounds) == 2:
            found["clip"] = {"low": bounds[0], "high": bounds[1]}
        else:
            tree.add(f"{at}.clip" if at else "clip", "clip has two bounds: [low, high]")
            del found["clip"]
    cache = found.pop("cache", None)
    if isinstance(cache, dict):
        found.setdefault("disable_cache", cast("dict[str, Any]", cache).get("enabled", True) is False)
    elif cache is not None:
        found.setdefault("disable_cache", cache is False)
    if not isinstance(found.pop("breakdown", True), bool):
        tree.add(
            f"{at}.breakdown" if at else "breakdown", "breakdown is true or false; every reward has one in any case"
        )
    components = found.get("components")
    if isinstance(components, list):
        found["components"] = [_component(one) for one in cast("list[Any]", components)]
    return found


def _component(written: Any) -> Any:
    if not isinstance(written, dict):
        return written
    component = dict(cast("dict[str, Any]", written))
    sandbox = component.get("sandbox")
    if isinstance(sandbox, dict) and sandbox.keys() <= {"minIsolation", "min_isolation"}:
        del component["sandbox"]
        for level in cast("dict[str, Any]", sandbox).values():
            component.setdefault("min_isolation", level)
    return component


def _stands_by_itself(tree: PlacedTree, path: str, wrong: Sequence[str]) -> bool:
    """Whether a problem is with something that is written and could be read, and so no mere consequence of another mistake."""
    return tree.has(path) and not any(each.startswith(path) or path.startswith(each) for each in wrong)


def _place(problem: InvalidSpecError) -> tuple[int, int]:
    parts = (problem.where or "").rsplit(":", 2)
    if len(parts) == 3 and parts[1].isdecimal() and parts[2].isdecimal():
        return int(parts[1]), int(parts[2])
    return 0, 0
