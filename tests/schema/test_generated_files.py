"""What is generated agrees with its source, and the source with the published names and numbers."""

import pickle
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from google.protobuf.descriptor import EnumDescriptor

import evalsi.schema
from evalsi.schema import Content, Outcome, Record
from evalsi.schema.proto_codec import pool
from evalsi.schema.wire.to_wire import FULL_NAMES

ROOT = Path(__file__).parents[2]
TREES = ("proto", "tools", "src/evalsi/schema", "docs/reference/schema")
KINDS = {
    "google.protobuf.Value": "Value",
    "google.protobuf.Struct": "Struct",
    "google.protobuf.Duration": "Duration",
    "google.protobuf.Timestamp": "Timestamp",
}
SCALARS = {1: "double", 3: "int64", 5: "int32", 8: "bool", 9: "string", 12: "bytes", 13: "uint32"}


def check(root: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(root / "tools" / "generate_schema.py"), "--check"]
    return subprocess.run(command, cwd=root, capture_output=True, text=True, check=False)


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    for tree in TREES:
        shutil.copytree(ROOT / tree, tmp_path / tree)
    shutil.copy(ROOT / "buf.yaml", tmp_path)
    return tmp_path


def test_what_is_written_follows_from_the_source() -> None:
    done = check(ROOT)
    assert done.returncode == 0, done.stdout + done.stderr


def test_a_change_by_hand_a_missing_file_and_a_left_over_are_found(copy: Path) -> None:
    (copy / "src/evalsi/schema/generated/record.py").write_text("# changed\n")
    (copy / "docs/reference/schema/score.md").unlink()
    (copy / "src/evalsi/schema/jsonschema/left-over.json").write_text("{}")
    done = check(copy)
    assert done.returncode == 1
    assert "src/evalsi/schema/generated/record.py: differs" in done.stderr
    assert "docs/reference/schema/score.md: missing" in done.stderr
    assert "src/evalsi/schema/jsonschema/left-over.json: nothing in proto/ makes this file" in done.stderr


def test_a_field_without_a_comment_does_not_pass(copy: Path) -> None:
    source = copy / "proto/evalsi/v1alpha1/record.proto"
    text = source.read_text()
    comment = "  // Identifier that the tool's answer repeats.\n"
    assert comment in text
    source.write_text(text.replace(comment, ""))
    done = check(copy)
    assert done.returncode == 1
    assert "should have a non-empty comment" in done.stdout + done.stderr


def test_names_and_numbers_are_those_that_were_published() -> None:
    published = (Path(__file__).parent / "interface_fields.txt").read_text().splitlines()
    assert len(published) > 400
    present = set(described_schema())
    assert [line for line in published if line not in present] == []


def described_schema() -> list[str]:
    """Every field as "Message name number type" and every enum member as "Enum NAME number"."""
    lines: list[str] = []
    for name in evalsi.schema.__all__:
        if name in FULL_NAMES:
            message = pool().FindMessageTypeByName(FULL_NAMES[name])
        else:
            enum = enum_named(name)
            lines += [f"{name} {value.name} {value.number}" for value in enum.values]
            continue
        for field in message.fields:
            typed, prefix, suffix = field, "", ""
            if field.message_type is not None and field.message_type.GetOptions().map_entry:
                typed = field.message_type.fields_by_name["value"]
                prefix, suffix = "map<string, ", ">"
            elif field.is_repeated:
                prefix = "repeated "
            oneof = field.containing_oneof
            if oneof is not None and oneof.name.startswith("_"):
                prefix = "optional "
            elif oneof is not None:
                suffix = f" oneof:{oneof.name}"
            composed = typed.message_type or typed.enum_type
            kind = (
                SCALARS[typed.type]
                if composed is None
                else KINDS.get(composed.full_name, composed.full_name.split(".")[-1])
            )
            lines.append(f"{name} {field.name} {field.number} {prefix}{kind}{suffix}")
    return lines


def enum_named(name: str) -> EnumDescriptor:
    """An enum by its name in Python: that of the server, or one of another package, whose name stands before it."""
    try:
        return pool().FindEnumTypeByName(f"evalsi.v1alpha1.{name}")
    except KeyError:
        return pool().FindEnumTypeByName(f"evalsi.sandbox.v1alpha1.{name.removeprefix('Sandbox')}")


def test_every_exported_name_exists_and_no_other() -> None:
    for name in evalsi.schema.__all__:
        assert getattr(evalsi.schema, name).__name__ == name
    assert dir(evalsi.schema) == sorted(evalsi.schema.__all__)
    with pytest.raises(AttributeError, match="no attribute 'Recrod'"):
        evalsi.schema.Recrod  # noqa: B018  # pyright: ignore[reportAttributeAccessIssue]


def test_structs_are_frozen_comparable_and_survive_a_process_boundary() -> None:
    record = Record(id="a", input=Content(json=None), metadata={"a": 1})
    assert pickle.loads(pickle.dumps(record)) == record
    assert pickle.loads(pickle.dumps(Outcome.ERROR)) is Outcome.ERROR
    with pytest.raises(AttributeError):
        record.id = "b"  # pyright: ignore[reportAttributeAccessIssue]


def test_importing_the_types_loads_only_what_is_used() -> None:
    code = (
        "import sys, evalsi.schema; evalsi.schema.Record; print([m for m in sys.modules if 'schema.generated.' in m])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "['evalsi.schema.generated.record']"
