"""Small images, written by hand: a layout of the OCI form whose programs are busybox alone, and layers of any content."""

import gzip
import hashlib
import io
import json
import shutil
import tarfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

BUSYBOX = shutil.which("busybox")
_APPLETS = (
    "sh",
    "cat",
    "ls",
    "ln",
    "mkdir",
    "rm",
    "sleep",
    "true",
    "find",
    "touch",
    "mkfifo",
    "id",
    "chmod",
    "rmdir",
    "test",
)
Entry = tuple[tarfile.TarInfo, bytes]
_REF = "org.opencontainers.image.ref.name"


def entry(name: str, content: bytes = b"", kind: bytes = tarfile.REGTYPE, target: str = "", mode: int = 0o644) -> Entry:
    """A member of a layer and its content."""
    info = tarfile.TarInfo(name)
    info.type, info.linkname, info.mode, info.size = kind, target, mode, len(content)
    return info, content


def folder(name: str) -> Entry:
    return entry(name, kind=tarfile.DIRTYPE, mode=0o755)


def layer(entries: Iterable[Entry]) -> bytes:
    """An uncompressed layer."""
    held = io.BytesIO()
    with tarfile.open(fileobj=held, mode="w") as archive:
        for info, content in entries:
            archive.addfile(info, io.BytesIO(content) if content else None)
    return held.getvalue()


def busybox_layer() -> bytes:
    assert BUSYBOX is not None
    programs = [entry("bin/busybox", Path(BUSYBOX).read_bytes(), mode=0o755)]
    links = [entry(f"bin/{name}", kind=tarfile.SYMTYPE, target="busybox") for name in _APPLETS]
    return layer([folder("bin"), *programs, *links, folder("etc"), entry("etc/motd", b"of the image\n")])


class Layout:
    """A folder in the OCI image layout."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.blobs = path / "blobs/sha256"
        self.blobs.mkdir(parents=True, exist_ok=True)
        self.entries: list[dict[str, Any]] = []
        (path / "oci-layout").write_text('{"imageLayoutVersion": "1.0.0"}', encoding="utf-8")

    def put(self, data: bytes) -> dict[str, Any]:
        name = hashlib.sha256(data).hexdigest()
        (self.blobs / name).write_bytes(data)
        return {"digest": f"sha256:{name}", "size": len(data)}

    def image(self, tag: str, layers: Iterable[bytes], *, compressed: bool = True) -> str:
        """The digest of its manifest."""
        described = [
            {"mediaType": "application/vnd.oci.image.layer.v1.tar+gzip", **self.put(gzip.compress(each, 1, mtime=0))}
            if compressed
            else {"mediaType": "application/vnd.oci.image.layer.v1.tar", **self.put(each)}
            for each in layers
        ]
        config = {"architecture": "amd64", "os": "linux", "config": {"Env": ["PATH=/bin", "FROM=image"]}}
        return self.manifest(
            tag,
            {
                "config": {
                    "mediaType": "application/vnd.oci.image.config.v1+json",
                    **self.put(json.dumps(config).encode()),
                },
                "layers": described,
            },
        )

    def manifest(self, tag: str, document: dict[str, Any]) -> str:
        kind = "application/vnd.oci.image.manifest.v1+json"
        data = json.dumps({"schemaVersion": 2, "mediaType": kind, **document}).encode()
        described = {"mediaType": kind, **self.put(data), "annotations": {_REF: tag}}
        self.entries = [each for each in self.entries if each["annotations"][_REF] != tag] + [described]
        index = {"schemaVersion": 2, "manifests": self.entries}
        (self.path / "index.json").write_text(json.dumps(index), encoding="utf-8")
        return str(described["digest"])
