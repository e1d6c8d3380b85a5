"""From a file, or a text, to a placed tree; and from the mistakes in it to one error.

Its own module because every kind of document that people write begins so and ends so, and says the same about a file
that is missing, too large or not UTF-8.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from evalsi.core.errors import InvalidSpecError, NotFoundError, suggestion
from evalsi.documents.json_tree import read_json
from evalsi.documents.placed_tree import PlacedTree
from evalsi.documents.yaml_tree import read_yaml

MAX_BYTES = 32 << 20
"""Longest document that is read."""
MAX_PROBLEMS = 50
"""Mistakes that are listed; a file that has more is something else altogether."""


@dataclass(frozen=True, kw_only=True)
class DocumentKind:
    """What a kind of document is called in messages about files."""

    what: str
    """With its article left out: "run spec"."""
    page: str
    """The page that describes it."""
    example: str
    """Name of a file that would hold one."""
    remedy: str = ""
    """What to do about one that is too large."""


@dataclass(frozen=True, kw_only=True)
class DocumentFile:
    """What was read."""

    tree: PlacedTree
    name: str
    """The file as it was named, or "<text>"."""
    folder: Path
    """What relative paths in it are relative to."""


def read_file(source: Path | str, kind: DocumentKind) -> DocumentFile:
    """The document in a file (a text that is one line and ends like a file's name is one), or in a text.

    Raises: NotFoundError: there is no such file. InvalidSpecError: it cannot be parsed.
    """
    text, name, folder = _text_of(source, kind)
    return DocumentFile(tree=_tree_of(text, name, kind), name=name, folder=folder)


def listed(problems: Sequence[InvalidSpecError], name: str) -> InvalidSpecError:
    """One error of the first `MAX_PROBLEMS` mistakes in the order of the file, with how many more there are."""
    ordered = _in_order(problems)
    more = len(ordered) - MAX_PROBLEMS
    rest = [InvalidSpecError(f"at least {more} more mistakes are not listed", where=name)] if more > 0 else []
    return InvalidSpecError.of([*ordered[:MAX_PROBLEMS], *rest])


def _text_of(source: Path | str, kind: DocumentKind) -> tuple[str, str, Path]:
    if isinstance(source, str) and "\n" not in source and source.endswith((".yaml", ".yml", ".json")):
        source = Path(source)
    if isinstance(source, str):
        raw, name, folder = source.encode("utf-8", "surrogatepass"), "<text>", Path()
    else:
        name, folder = str(source), source.parent
        if source.is_dir():
            raise NotFoundError(
                f"{name} is a folder, not a {kind.what}", hint=f"name a file in it, e.g. {source / kind.example}"
            )
        try:
            with source.open("rb") as file:
                raw = file.read(MAX_BYTES + 1)
        except FileNotFoundError:
            raise NotFoundError(f"there is no file {name!r}", hint=_nearest_file(source, kind)) from None
        except OSError as error:
            raise NotFoundError(f"{name} cannot be read: {error.strerror or error}") from None
    if len(raw) > MAX_BYTES:
        raise InvalidSpecError(
            f"the {kind.what} is larger than {MAX_BYTES >> 20} MiB", where=name, hint=kind.remedy or None
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


def _tree_of(text: str, name: str, kind: DocumentKind) -> PlacedTree:
    """JSON where the file says so or the text can be nothing else, YAML otherwise."""
    if not text.strip():
        raise InvalidSpecError("the file is empty", where=name, hint=f"see {kind.page} for an example")
    if name.endswith(".json"):
        return read_json(text, name)
    if text.lstrip().startswith("{"):
        try:
            return read_json(text, name)
        except InvalidSpecError:
            return read_yaml(text, name)
    return read_yaml(text, name)


def _nearest_file(path: Path, kind: DocumentKind) -> str | None:
    try:
        names = [each.name for each in path.parent.iterdir() if each.suffix in (".yaml", ".yml", ".json")]
    except OSError:
        return f"there is no folder {str(path.parent)!r}"
    near = suggestion(path.name, names)
    return near if near is not None else f"see {kind.page} for an example"


def _in_order(problems: Sequence[InvalidSpecError]) -> list[InvalidSpecError]:
    """By place, each mistake once."""

    def place(problem: InvalidSpecError) -> tuple[int, int]:
        parts = (problem.where or "").rsplit(":", 2)
        if len(parts) == 3 and parts[1].isdecimal() and parts[2].isdecimal():
            return int(parts[1]), int(parts[2])
        return 0, 0

    unique = {(problem.where, problem.message): problem for problem in problems}
    return sorted(unique.values(), key=place)
