"""The files that a run writes: those of the flags and those of the specification's sinks."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from evalsi.documents.named_outside import named_at, nowhere


def check_paths(
    flags: dict[str, Any],
    sinks: Sequence[Any] = (),
    inputs: Sequence[str | Path] = (),
    *,
    where: Callable[[str], str] = nowhere,
) -> None:
    """Refuses, before any work, paths that would be refused after it, and those that would replace one of `inputs`.

    Args:
        where: The place of a field of the specification, by its path, where it is one that somebody wrote.
    """
    from evalsi.core.whole_file import check_place
    from evalsi.results.save import check_path

    for path in filter(None, (flags.get(flag) for flag in _OF_FLAGS)):
        check_place(Path(path), inputs)
    for number, sink in enumerate(sinks):
        for name in _OF_SINKS:
            path = getattr(sink, name)
            if not path:
                continue
            with named_at(where, f"spec.sinks[{number}].{name}"):
                check_place(Path(path), inputs)
                if name in ("json", "csv"):
                    check_path(Path(path))
    if flags["output"] is not None:
        check_path(Path(flags["output"]))
    if flags["report_path"] is not None:
        from evalsi.report.write import check_report_path

        check_report_path(Path(flags["report_path"]))


def write_files(run: Any, sinks: Sequence[Any], flags: dict[str, Any], comparison: Any = None) -> None:
    """Writes every file that was asked for; reports show `comparison`, the run against its baseline."""
    wanted = [(write, flags[flag]) for flag, write in _OF_FLAGS.items()]
    wanted += [(write, getattr(sink, name)) for sink in sinks for name, write in _OF_SINKS.items()]
    for write, path in wanted:
        if path is not None:
            Path(path).parent.mkdir(parents=True, exist_ok=True)
            write(run, Path(path), comparison)


def _save(run: Any, path: Path, _: Any) -> None:
    from evalsi.results.save import save

    save(run, path)


def _report(run: Any, path: Path, comparison: Any) -> None:
    from evalsi.report.report_options import ReportOptions
    from evalsi.report.write import write_report

    write_report(run, path, options=ReportOptions(comparison=comparison))


def _junit(run: Any, path: Path, comparison: Any) -> None:
    from evalsi.report.junit import write_junit

    write_junit(run, path, comparison=comparison)


_Write = Callable[[Any, Path, Any], None]
_OF_FLAGS: dict[str, _Write] = {"output": _save, "report_path": _report, "junit_path": _junit}
_OF_SINKS: dict[str, _Write] = {
    "json": _save,
    "csv": _save,
    "html": _report,
    "markdown": _report,
    "junit": _junit,
}
