"""`tool://path` as logs: which tools there are, and which files of a folder are logs of one.

A path ending in `#label` chooses one log where a source holds several.
"""

import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from evalsi.core.errors import EvalsiError, InvalidDataError, NotFoundError, UnknownNameError
from evalsi.datasets.imports.deepeval_log import is_deepeval_log, read_deepeval_log
from evalsi.datasets.imports.imported_log import ImportedLog
from evalsi.datasets.imports.inspect_log import is_inspect_log, read_inspect_log
from evalsi.datasets.imports.lm_eval_log import is_lm_eval_log, read_lm_eval_log
from evalsi.datasets.imports.log_file import head_of
from evalsi.datasets.imports.openai_evals_log import is_openai_evals_log, read_openai_evals_log
from evalsi.datasets.imports.own_results import refuse_own_results
from evalsi.datasets.imports.promptfoo_log import is_promptfoo_log, read_promptfoo_log
from evalsi.datasets.imports.trace_log import is_atif, is_otlp, read_atif_file, read_otlp_file

_ADDRESS = re.compile(r"(?P<scheme>[a-z][a-z0-9-]*)://(?P<path>.+)", re.DOTALL)


@dataclass(frozen=True)
class _Tool:
    read: Callable[[Path], list[ImportedLog]]
    is_log: Callable[[Path], bool]
    """Whether a file of a folder is a log. A file that a user names is read whatever it is called."""
    suffixes: tuple[str, ...]


_TOOLS = {
    "inspect": _Tool(
        read_inspect_log, lambda path: path.suffix == ".eval" or is_inspect_log(head_of(path)), (".eval", ".json")
    ),
    "lm-eval": _Tool(read_lm_eval_log, is_lm_eval_log, (".jsonl",)),
    "promptfoo": _Tool(read_promptfoo_log, lambda path: is_promptfoo_log(head_of(path)), (".json", ".jsonl")),
    "deepeval": _Tool(read_deepeval_log, lambda path: is_deepeval_log(head_of(path)), (".json",)),
    "openai-evals": _Tool(read_openai_evals_log, lambda path: is_openai_evals_log(head_of(path)), (".jsonl",)),
    "otlp": _Tool(read_otlp_file, lambda path: is_otlp(head_of(path)), (".json", ".jsonl")),
    "atif": _Tool(read_atif_file, lambda path: is_atif(head_of(path)), (".json", ".jsonl")),
}
SCHEMES = tuple(_TOOLS)
"""The tools whose logs are read, as the schemes of their addresses."""


def is_log_address(source: str) -> bool:
    """Whether `source` is `tool://…` of a tool that is known."""
    match = _ADDRESS.fullmatch(source)
    return match is not None and match["scheme"] in _TOOLS


def open_logs(source: str) -> list[ImportedLog]:
    """The logs that `tool://path` names, each with a label of its own; at least one.

    Args:
        source: The path is a file or a folder, which is searched with all folders below it.

    Raises:
        NotFoundError: there is no such file or folder.
        UnknownNameError: no tool or no log is called so.
        InvalidDataError: a file is no log of that tool, is damaged, or a folder holds none.
    """
    match = _ADDRESS.fullmatch(source)
    if match is None:
        raise InvalidDataError(f"{source!r} is no address of a log", hint=f"write one of {_FORMS}")
    tool = _TOOLS.get(match["scheme"])
    if tool is None:
        raise UnknownNameError("tool", match["scheme"], SCHEMES)
    path, wanted = Path(match["path"]), ""
    if "\0" in match["path"]:
        raise InvalidDataError(f"{match['path']!r} is no path")
    if not path.exists() and "#" in match["path"]:
        name, _, wanted = match["path"].rpartition("#")
        path = Path(name)
    files = _files(path, tool, match["scheme"])
    logs = _labelled([log for file in files for log in _read(file, match["scheme"])])
    if not wanted:
        return logs
    chosen = [log for log in logs if log.label == wanted]
    if not chosen:
        raise UnknownNameError("log", wanted, [log.label for log in logs], where=str(path))
    return chosen


def _read(file: Path, scheme: str) -> list[ImportedLog]:
    """The logs of a file; one that the tool did not write is told as what it is, where that can be seen."""
    tool = _TOOLS[scheme]
    refuse_own_results(head_of(file), path=str(file), scheme=scheme)
    try:
        return tool.read(file)
    except InvalidDataError as error:
        others = [name for name, other in _TOOLS.items() if other is not tool and _looks_like(file, other)]
        if others and not _looks_like(file, tool):
            error.hint = f"it looks like a log of {others[0]}, so name it as {others[0]}://{file}"
        raise


_FORMS = ", ".join(f"{scheme}://path" for scheme in SCHEMES)


def _files(path: Path, tool: _Tool, scheme: str) -> list[Path]:
    if not path.is_dir():
        if not path.exists():
            raise NotFoundError("there is no such file", where=str(path))
        return [path]
    files = sorted(
        file
        for file in path.rglob("*")
        if file.suffix in tool.suffixes
        and file.is_file()
        and not any(part.startswith(".") for part in file.relative_to(path).parts)
        and _looks_like(file, tool)
    )
    if not files:
        raise InvalidDataError(f"the folder holds no log of {scheme}", where=str(path))
    return files


def _looks_like(file: Path, tool: _Tool) -> bool:
    try:
        return tool.is_log(file)
    except EvalsiError:
        return False


def _labelled(logs: list[ImportedLog]) -> list[ImportedLog]:
    """The logs with labels that differ: of equal ones, with the names of the files, then with numbers."""
    logs = _distinguished(logs, [log.path.stem for log in logs])
    return _distinguished(logs, [str(number) for number in range(1, len(logs) + 1)])


def _distinguished(logs: list[ImportedLog], additions: list[str]) -> list[ImportedLog]:
    counts = Counter(log.label for log in logs)
    return [
        replace(log, label=f"{log.label} {addition}") if counts[log.label] > 1 else log
        for log, addition in zip(logs, additions, strict=True)
    ]
