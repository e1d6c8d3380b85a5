"""Reads `proto/` into plain values that the renderers turn into code and pages.

The one place that knows protobuf descriptors. Everything after it sees files, messages, fields and enums with their
comments, in the order of the source.
"""

import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from google.protobuf.descriptor_pb2 import (
    DescriptorProto,
    FieldDescriptorProto,
    FileDescriptorProto,
    FileDescriptorSet,
    MethodDescriptorProto,
    MethodOptions,
)
from google.protobuf.descriptor_pool import DescriptorPool
from google.protobuf.message_factory import GetMessageClass

Kind = Literal[
    "string",
    "bytes",
    "bool",
    "int32",
    "uint32",
    "int64",
    "double",
    "enum",
    "message",
    "value",
    "object",
    "duration",
    "timestamp",
]
Shape = Literal["plain", "optional", "list", "map"]

SCALARS: dict[int, Kind] = {
    FieldDescriptorProto.TYPE_STRING: "string",
    FieldDescriptorProto.TYPE_BYTES: "bytes",
    FieldDescriptorProto.TYPE_BOOL: "bool",
    FieldDescriptorProto.TYPE_INT32: "int32",
    FieldDescriptorProto.TYPE_UINT32: "uint32",
    FieldDescriptorProto.TYPE_INT64: "int64",
    FieldDescriptorProto.TYPE_DOUBLE: "double",
    FieldDescriptorProto.TYPE_ENUM: "enum",
    FieldDescriptorProto.TYPE_MESSAGE: "message",
}
WELL_KNOWN: dict[str, Kind] = {
    ".google.protobuf.Value": "value",
    ".google.protobuf.Struct": "object",
    ".google.protobuf.Duration": "duration",
    ".google.protobuf.Timestamp": "timestamp",
}
# Times that are measured rather than set. Files have always carried them as numbers of milliseconds, `latency_ms`.
MEASURED_TIMES = ("latency", "duration")
PACKAGE = "evalsi.v1alpha1"
"""The package of the server. Others are protocols of their own: their names are exported with the name of the package before
them, and their methods stand in a table of their own."""
OPTIONS = "evalsi.options.v1alpha1"
"""What methods say about themselves; read here, and no part of the types."""
# Numbers of fields inside descriptor.proto, by which comments are addressed.
MESSAGE, ENUM, SERVICE, MESSAGE_FIELD, ENUM_VALUE, SERVICE_METHOD, MESSAGE_ONEOF = 4, 5, 6, 2, 2, 2, 8


@dataclass(frozen=True, kw_only=True)
class Field:
    name: str
    json_name: str
    number: int
    kind: Kind
    shape: Shape
    type_name: str
    """Name of the message or enum; empty for other kinds."""
    oneof: str
    """Name of the oneof the field belongs to, or empty."""
    doc: str
    measured: bool
    """True for a time that was measured; files write it in milliseconds."""


@dataclass(frozen=True, kw_only=True)
class MessageType:
    name: str
    full_name: str
    fields: tuple[Field, ...]
    oneofs: dict[str, str]
    """Comment of each oneof by its name."""
    doc: str


@dataclass(frozen=True, kw_only=True)
class EnumMember:
    name: str
    proto_name: str
    number: int
    doc: str


@dataclass(frozen=True, kw_only=True)
class EnumType:
    name: str
    members: tuple[EnumMember, ...]
    doc: str


@dataclass(frozen=True, kw_only=True)
class Route:
    """REST address of a method, as `evalsi/options/v1alpha1/options.proto` describes it."""

    verb: str
    path: str
    body: str
    raw: str
    raw_type: str
    also: str
    """Another path with the same verb; empty for none."""


@dataclass(frozen=True, kw_only=True)
class Method:
    name: str
    request: str
    response: str
    client_streams: bool
    server_streams: bool
    safe: bool
    """True when calling it changes nothing."""
    route: Route | None
    action: str
    doc: str


@dataclass(frozen=True, kw_only=True)
class Service:
    name: str
    full_name: str
    methods: tuple[Method, ...]
    doc: str


@dataclass(frozen=True, kw_only=True)
class SchemaFile:
    path: str
    """Path below `proto/`, for example "evalsi/v1alpha1/record.proto"."""
    module: str
    """Name of the Python module, for example "record"."""
    package: str
    imports: tuple[str, ...]
    """Modules of the schema files this one imports."""
    doc: str
    messages: tuple[MessageType, ...]
    enums: tuple[EnumType, ...]
    services: tuple[Service, ...]


@dataclass(frozen=True, kw_only=True)
class Schema:
    files: tuple[SchemaFile, ...]
    """Every file, each after the files it imports."""
    image: bytes
    """The serialized `FileDescriptorSet` of all files and their imports, without comments."""
    home: dict[str, str] = field(default_factory=dict[str, str])
    """Python module of each message and enum by its name."""

    def messages(self) -> dict[str, MessageType]:
        return {message.name: message for file in self.files for message in file.messages}

    def enums(self) -> dict[str, EnumType]:
        return {enum.name: enum for file in self.files for enum in file.enums}


def read_schema(proto_root: Path, scratch: Path) -> Schema:
    """Compiles every file below `proto_root`; `scratch` takes the compiler's output."""
    sources = sorted(str(path.relative_to(proto_root)) for path in proto_root.rglob("*.proto"))
    image_path = scratch / "image.binpb"
    command = [sys.executable, "-m", "grpc_tools.protoc", f"--proto_path={proto_root}"]
    command += ["--include_imports", "--include_source_info", f"--descriptor_set_out={image_path}", *sources]
    subprocess.run(command, check=True)
    image = FileDescriptorSet.FromString(image_path.read_bytes())
    options = OptionsReader(image)
    files = tuple(
        read_file(file, (proto_root / file.name).read_text(encoding="utf-8"), options)
        for file in image.file
        if file.package.startswith("evalsi") and file.package != OPTIONS
    )
    home: dict[str, str] = {}
    for file in files:
        for name in [message.name for message in file.messages] + [enum.name for enum in file.enums]:
            if name in home:
                raise SystemExit(f"{file.path}: {name} is already defined in {home[name]}.proto; names must be unique")
            home[name] = file.module
    for file in image.file:
        file.ClearField("source_code_info")
    return Schema(files=files, image=image.SerializeToString(deterministic=True), home=home)


class OptionsReader:
    """Reads what methods say about themselves; the extensions it needs are described by the image itself."""

    def __init__(self, image: FileDescriptorSet) -> None:
        pool = DescriptorPool()
        for file in image.file:
            pool.Add(file)
        self._options = GetMessageClass(pool.FindMessageTypeByName("google.protobuf.MethodOptions"))
        self._route = pool.FindExtensionByName(f"{OPTIONS}.route")
        self._action = pool.FindExtensionByName(f"{OPTIONS}.action")

    def read(self, service: str, method: MethodDescriptorProto) -> tuple[Route | None, str]:
        """Address and action of a method. A method without an action could be called by everybody, so it must have one."""
        options: Any = self._options.FromString(method.options.SerializeToString())
        action = options.Extensions[self._action]
        if not action:
            raise SystemExit(f"{service}.{method.name} names no action; give it the option {OPTIONS}.action")
        if not options.HasExtension(self._route):
            return None, action
        route = options.Extensions[self._route]
        verb = route.WhichOneof("address")
        address = getattr(route, verb)
        shape = {"body": route.body, "raw": route.raw, "raw_type": route.raw_type, "also": route.also}
        return Route(verb=verb.upper(), path=address, **shape), action


def read_file(file: FileDescriptorProto, source: str, options: OptionsReader) -> SchemaFile:
    comments = {
        tuple(location.path): clean_comment(location.leading_comments) for location in file.source_code_info.location
    }
    services = tuple(
        Service(
            name=service.name,
            full_name=f"{file.package}.{service.name}",
            doc=comments.get((SERVICE, index), ""),
            methods=tuple(
                read_method(service.name, method, comments.get((SERVICE, index, SERVICE_METHOD, position), ""), options)
                for position, method in enumerate(service.method)
            ),
        )
        for index, service in enumerate(file.service)
    )
    enums = tuple(
        EnumType(
            name=python_name(f"{file.package}.{enum.name}"),
            doc=comments.get((ENUM, index), ""),
            members=tuple(
                EnumMember(
                    name=value.name.removeprefix(upper_snake(enum.name) + "_"),
                    proto_name=value.name,
                    number=value.number,
                    doc=comments.get((ENUM, index, ENUM_VALUE, position), ""),
                )
                for position, value in enumerate(enum.value)
            ),
        )
        for index, enum in enumerate(file.enum_type)
    )
    return SchemaFile(
        path=file.name,
        module=Path(file.name).stem,
        package=file.package,
        imports=tuple(
            Path(name).stem
            for name in file.dependency
            if name.startswith("evalsi/") and not name.startswith("evalsi/options/")
        ),
        doc=clean_comment("\n".join(header_comment(source))),
        messages=tuple(read_message(file, index, comments) for index in range(len(file.message_type))),
        enums=enums,
        services=services,
    )


def read_method(service: str, method: MethodDescriptorProto, doc: str, options: OptionsReader) -> Method:
    route, action = options.read(service, method)
    return Method(
        name=method.name,
        request=python_name(method.input_type),
        response=python_name(method.output_type),
        client_streams=method.client_streaming,
        server_streams=method.server_streaming,
        safe=method.options.idempotency_level == MethodOptions.NO_SIDE_EFFECTS,
        route=route,
        action=action,
        doc=doc,
    )


def header_comment(source: str) -> Iterator[str]:
    """The comment lines at the top of the file."""
    for line in source.splitlines():
        if not line.startswith("//"):
            return
        yield line.removeprefix("//")


def read_message(file: FileDescriptorProto, index: int, comments: dict[tuple[int, ...], str]) -> MessageType:
    message = file.message_type[index]
    entries = {nested.name: nested for nested in message.nested_type if nested.options.map_entry}
    if len(entries) != len(message.nested_type) or message.enum_type:
        raise SystemExit(f"{file.name}: {message.name} nests a type; put it beside the message")
    real_oneofs = {one.oneof_index for one in message.field if one.HasField("oneof_index") and not one.proto3_optional}
    return MessageType(
        name=python_name(f"{file.package}.{message.name}"),
        full_name=f"{file.package}.{message.name}",
        doc=comments.get((MESSAGE, index), ""),
        oneofs={message.oneof_decl[i].name: comments.get((MESSAGE, index, MESSAGE_ONEOF, i), "") for i in real_oneofs},
        fields=tuple(
            read_field(message, one, entries, comments.get((MESSAGE, index, MESSAGE_FIELD, position), ""))
            for position, one in enumerate(message.field)
        ),
    )


def read_field(
    message: DescriptorProto, one: FieldDescriptorProto, entries: dict[str, DescriptorProto], doc: str
) -> Field:
    typed = one
    in_oneof = one.HasField("oneof_index") and not one.proto3_optional
    shape: Shape = "plain"
    if one.label == FieldDescriptorProto.LABEL_REPEATED:
        entry = entries.get(last_part(one.type_name)) if one.type_name else None
        if entry is None:
            shape = "list"
        else:
            shape = "map"
            key, typed = entry.field
            if key.type != FieldDescriptorProto.TYPE_STRING:
                raise SystemExit(f"{message.name}.{one.name}: keys of maps are strings")
    kind = WELL_KNOWN.get(typed.type_name) or SCALARS.get(typed.type)
    if kind is None:
        raise SystemExit(f"{message.name}.{one.name}: this type of field has no Python type yet")
    if shape == "plain" and kind != "object" and (in_oneof or one.proto3_optional or is_message(kind)):
        shape = "optional"
    return Field(
        name=one.name,
        json_name=one.json_name,
        number=one.number,
        kind=kind,
        shape=shape,
        type_name=python_name(typed.type_name) if kind in ("enum", "message") else "",
        oneof=message.oneof_decl[one.oneof_index].name if in_oneof else "",
        doc=doc,
        measured=kind == "duration" and one.name in MEASURED_TIMES,
    )


def is_message(kind: Kind) -> bool:
    return kind in ("message", "value", "object", "duration", "timestamp")


def python_name(full_name: str) -> str:
    """What a message or enum is called in Python: its own name, after that of a package other than the server's."""
    *package, name = full_name.removeprefix(".").split(".")
    if package[0] != "evalsi" or ".".join(package) == PACKAGE:
        return name
    area = package[1].capitalize()
    return name if name.startswith(area) else area + name


def last_part(dotted: str) -> str:
    return dotted.rsplit(".", 1)[-1]


def upper_snake(name: str) -> str:
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", name).upper()


def clean_comment(comment: str) -> str:
    """The comment as flowing text; blank lines part paragraphs."""
    lines = [line.removeprefix(" ") for line in comment.strip("\n").splitlines()]
    return "\n".join(lines).strip()
