"""Specs for these tests: a right one that says little, and ways to change it."""

from pathlib import Path

from evalsi.core.errors import InvalidSpecError
from evalsi.run.spec import RunDocument, read_run_spec

HEAD = "apiVersion: evals.si/v1alpha1\nkind: EvalRun\nmetadata: {name: small}\n"
BODY = """\
spec:
  target: {connector: openai-compatible, model: m-1, base_url: "http://127.0.0.1:1/v1"}
  dataset: {path: cases.jsonl}
  evaluators: [exact-match]
"""
SMALL = HEAD + BODY


def read(text: str, *overrides: str, environment: dict[str, str] | None = None) -> RunDocument:
    return read_run_spec(text, overrides=overrides, environment=environment or {})


def mistakes(text: str, *overrides: str, environment: dict[str, str] | None = None) -> list[str]:
    """Every mistake as it is printed; [] for a right spec."""
    try:
        read(text, *overrides, environment=environment)
    except InvalidSpecError as error:
        return [str(problem) for problem in error.problems]
    return []


def with_lines(*lines: str) -> str:
    """The small spec with further lines in `spec`."""
    return SMALL + "".join(f"  {line}\n" for line in lines)


def spec_file(folder: Path, text: str = SMALL, name: str = "run.yaml") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path
