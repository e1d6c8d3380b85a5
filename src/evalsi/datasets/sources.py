"""What a user points at, as parts: a file, a folder, a pattern, standard input, the hub, or Python objects.

A dataset is named, never fetched: addresses of the web are refused, so that no spec can make a server ask for one.
"""

import glob
import re
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any, cast

import msgspec

from evalsi.core.errors import InvalidDataError, NotFoundError
from evalsi.core.nearest_file import nearest_file
from evalsi.datasets.byte_source import ByteSource
from evalsi.datasets.delimited_rows import Delimited
from evalsi.datasets.json_rows import JsonDocument, JsonLines
from evalsi.datasets.object_rows import of_frame, of_iterable, of_parquet
from evalsi.datasets.options import DatasetOptions, Format
from evalsi.datasets.rows import Part

_FORMATS: dict[str, Format | None] = {
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".json": None,  # told from the content: many a .json holds JSON Lines
    ".csv": "csv",
    ".tsv": "tsv",
    ".tab": "tsv",
    ".parquet": "parquet",
    ".pq": "parquet",
}
_PACKED = (".gz", ".zst", ".zstd")
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+://")
_PARQUET = b"PAR1"


def parts_of(source: Any, options: DatasetOptions) -> tuple[str, list[Part]]:
    """Name and parts of a source, in the order they are read; files of a folder or a pattern sorted by path.

    Raises:
        NotFoundError: there is no such file.
        InvalidDataError: the folder or pattern holds no dataset, or the source is none that we read.
    """
    if isinstance(source, str):
        return _of_text(source, options.format)
    if isinstance(source, Path):
        return str(source), _of_path(source, options.format)
    frame = of_frame(source)
    if frame is not None:
        return frame.name, [frame]
    kind = type(source).__name__
    if isinstance(source, bytes | bytearray | dict) or not isinstance(source, Iterable):
        raise InvalidDataError(f"{kind} is no dataset", hint="give a path, a list of dicts or records, or a DataFrame")
    most = options.limit if options.where is None and options.on_invalid == "stop" else None
    objects = of_iterable(cast("Iterable[Any]", source), most=most)
    return "records", [JsonLines(objects) if isinstance(objects, ByteSource) else objects]


def _of_text(source: str, file_format: str | None) -> tuple[str, list[Part]]:
    if source == "-":
        return "stdin", [_of_bytes(ByteSource.of_stream(sys.stdin.buffer, "stdin"), file_format)]
    if source.startswith("hf://"):
        from evalsi.datasets.hub import of_hub

        return source, [of_hub(source)]
    if (logs := _of_logs(source)) is not None:
        return source, logs
    if _SCHEME.match(source):
        raise InvalidDataError(
            f"{source!r} is an address, and datasets are not fetched", hint="download it and name the file"
        )
    if "\0" in source or not source:
        raise InvalidDataError(f"{source!r} is no path")
    path = Path(source)
    if not path.exists() and glob.has_magic(source):
        found = sorted(Path(name) for name in glob.glob(source, recursive=True))  # noqa: PTH207
        files = [file for file in found if file.is_file() and (file_format or _suffix(file) in _FORMATS)]
        if not files:
            raise InvalidDataError(
                "no dataset matches the pattern", where=source, hint=f"known endings: {', '.join(_FORMATS)}"
            )
        return source, [_of_file(file, file_format) for file in files]
    return source, _of_path(path, file_format)


def _of_logs(source: str) -> list[Part] | None:
    """The logs of another tool; None when `source` names none. Several logs may use the same ids for other cases."""
    if not _SCHEME.match(source):
        return None
    from evalsi.datasets.imports import LogRows, is_log_address, open_logs

    if not is_log_address(source):
        return None
    logs = open_logs(source)
    return [LogRows(log, prefix=f"{log.label}/" if len(logs) > 1 else "") for log in logs]


def _of_path(path: Path, file_format: str | None) -> list[Part]:
    if not path.is_dir():
        return [_of_file(path, file_format)]
    files = sorted(
        file
        for file in path.rglob("*")
        if file.is_file()
        and _suffix(file) in _FORMATS
        and not any(part.startswith(".") for part in file.relative_to(path).parts)
    )
    if not files:
        raise InvalidDataError(
            "the folder holds no dataset", where=str(path), hint=f"known endings: {', '.join(_FORMATS)}"
        )
    return [_of_file(file, file_format) for file in files]


def _of_file(path: Path, file_format: str | None) -> Part:
    if not path.exists():
        raise NotFoundError("there is no such file", where=str(path), hint=nearest_file(path))
    if path.is_fifo():  # `--data <(command)` of a shell: it can be read once, as standard input
        with path.open("rb") as stream:
            return _of_bytes(ByteSource.of_stream(stream, str(path)), file_format or _FORMATS.get(_suffix(path)))
    source = ByteSource(name=str(path), path=path)
    suffix = _suffix(path)
    if file_format is None and suffix == ".json":
        file_format = _json_format(source.head().lstrip())
    return _of_bytes(source, file_format or _FORMATS.get(suffix))


def _of_bytes(source: ByteSource, file_format: str | None) -> Part:
    match file_format or _sniffed(source.head()):
        case "jsonl":
            return JsonLines(source)
        case "json":
            return JsonDocument(source)
        case "tsv":
            return Delimited(source, "\t")
        case "parquet":
            return of_parquet(source)
        case _:
            return Delimited(source)


def _sniffed(head: bytes) -> Format:
    """The format told from the first bytes: JSON by its first character, a table otherwise."""
    if head.startswith(_PARQUET):
        return "parquet"
    text = head.lstrip()
    if text.startswith((b"[", b"{")):
        return _json_format(text)
    first_line = text.partition(b"\n")[0]
    return "tsv" if b"\t" in first_line and b"," not in first_line else "csv"


def _json_format(text: bytes) -> Format:
    """JSON Lines when the first line is a whole object that is not itself the document."""
    first, _, rest = text.partition(b"\n")
    try:
        value = msgspec.json.decode(first)
    except (msgspec.DecodeError, RecursionError):
        # A first line that is broken only by its content still begins with an object's first key.
        return "jsonl" if first.startswith(b"{") and first.rstrip().endswith(b"}") else "json"
    if not isinstance(value, dict):
        return "json"
    holds_list = any(isinstance(cast("dict[str, Any]", value).get(key), list) for key in ("records", "data"))
    return "json" if holds_list and not rest.strip() else "jsonl"


def _suffix(path: Path) -> str:
    name = path.name.casefold()
    for ending in _PACKED:
        name = name.removesuffix(ending)
    return Path(name).suffix
