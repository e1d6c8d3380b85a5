"""Writes everything that follows from `proto/`, or with `--check` says whether what is written is still true.

Reads `proto/` once through `schema_model`, then hands the model to one renderer per kind of file. Needs no network. The
result depends on nothing but the sources and the locked compiler, so running it twice leaves no difference.
"""

import argparse
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from render_checks import render_checks
from render_client import render_client
from render_json import render_json
from render_json_schema import render_json_schemas
from render_methods import render_methods
from render_openapi import render_openapi
from render_pages import render_pages
from render_structs import render_structs
from render_wire import render_wire
from schema_model import Schema, read_schema

ROOT = Path(__file__).resolve().parent.parent
STRUCTS = Path("src/evalsi/schema")
CLIENT = Path("src/evalsi/client/generated_calls.py")
JSON_SCHEMAS = STRUCTS / "jsonschema"
PAGES = Path("docs/reference/schema")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing; fail when the written files differ")
    check = parser.parse_args().check
    if not lint():
        return 1
    with tempfile.TemporaryDirectory() as scratch:
        files = render(read_schema(ROOT / "proto", Path(scratch)))
    stale = stale_files(files)
    changed = [path for path, content in files.items() if not same(ROOT / path, content)]
    if not check:
        for path in changed:
            (ROOT / path).parent.mkdir(parents=True, exist_ok=True)
            (ROOT / path).write_bytes(files[path])
        for path in stale:
            (ROOT / path).unlink()
        print(f"{len(files)} files, {len(changed)} written, {len(stale)} removed")
        return 0
    for path in sorted(changed):
        print(f"{path}: differs from proto/" if (ROOT / path).exists() else f"{path}: missing", file=sys.stderr)
    for path in sorted(stale):
        print(f"{path}: nothing in proto/ makes this file", file=sys.stderr)
    if changed or stale:
        print("Run `make generate` and commit what it writes.", file=sys.stderr)
        return 1
    return 0


def lint() -> bool:
    buf = shutil.which("buf", path=Path(sys.executable).parent) or shutil.which("buf")
    if buf is None:
        raise SystemExit("buf is missing; `make setup` installs it")
    return subprocess.run([buf, "lint"], cwd=ROOT, check=False).returncode == 0


def render(schema: Schema) -> dict[Path, bytes]:
    """Content of every generated file by its path below the root."""
    files: dict[Path, bytes] = {}
    for name, text in (
        render_structs(schema) | render_json(schema) | render_methods(schema) | render_checks(schema)
    ).items():
        files[STRUCTS / name] = text.encode()
    for name, content in render_wire(schema).items():
        files[STRUCTS / name] = content
    for name, text in render_json_schemas(schema).items():
        files[JSON_SCHEMAS / name] = text.encode()
    files[CLIENT] = render_client(schema).encode()
    files[STRUCTS / "openapi.json"] = render_openapi(schema, "v1alpha1").encode()
    for name, text in render_pages(schema).items():
        files[PAGES / name] = text.encode()
    return files


def stale_files(files: dict[Path, bytes]) -> list[Path]:
    """Generated files on disk that nothing generates any more: all else in a folder that is ours alone."""
    ours = (STRUCTS / "generated", STRUCTS / "wire", JSON_SCHEMAS, PAGES)
    found = [path for folder in ours for path in (ROOT / folder).glob("*.*")]
    return sorted(path.relative_to(ROOT) for path in found if path.relative_to(ROOT) not in files)


def same(path: Path, content: bytes) -> bool:
    return path.exists() and path.read_bytes() == content


if __name__ == "__main__":
    sys.exit(main())
