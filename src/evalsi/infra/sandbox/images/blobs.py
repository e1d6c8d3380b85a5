"""Where the parts of an image come from: manifests by tag or digest, and blobs by digest, each checked before it is used.

A source may be hostile or broken: what does not have the digest it was asked by never reaches anybody.
"""

import hashlib
import lzma
import os
import shutil
import tarfile
import tempfile
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import IO, Protocol, Self

import msgspec

from evalsi.core.errors import ImageError
from evalsi.infra.sandbox.images.documents import Descriptor, Manifest, SavedImage, read
from evalsi.infra.sandbox.images.reference import is_digest

LARGEST_MANIFEST = 4 << 20
LARGEST_BLOB = 32 << 30


class Source(Protocol):
    """Methods raise ImageError for what is not there or not what was asked for."""

    async def manifest(self, version: str) -> bytes:
        """The manifest of a tag or digest. Only the digest's is checked."""
        ...

    async def blob(self, digest: str) -> Path:
        """A file with these bytes, which belongs to whoever keeps blobs."""
        ...


class BlobFolder:
    """Blobs on disk, each under the digest that it was seen to have."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        folder.mkdir(parents=True, exist_ok=True)

    def find(self, digest: str) -> Path | None:
        """The blob, if it is here; being asked for counts as being used."""
        path = self._path(digest)
        try:
            os.utime(path)
        except FileNotFoundError:
            return None
        return path

    def keep(self, digest: str, write: Callable[[Callable[[bytes], object]], object]) -> Path:
        """Keeps what `write` passes to its argument. Raises: ImageError: its digest is another."""
        blob = NewBlob(self._folder, self._path(digest), digest)
        with blob:
            write(blob.write)
            return blob.finish()

    def begin(self, digest: str) -> "NewBlob":
        return NewBlob(self._folder, self._path(digest), digest)

    def _path(self, digest: str) -> Path:
        return self._folder / _checked(digest).removeprefix("sha256:")


class NewBlob:
    """A blob while it is written: it gets its name when it is whole and right, and goes away otherwise."""

    def __init__(self, folder: Path, target: Path, digest: str) -> None:
        self._target, self._digest = target, digest
        self._file = tempfile.NamedTemporaryFile(dir=folder, delete=False)  # noqa: SIM115 - a context of its own
        self._hash = hashlib.sha256()
        self._size = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()
        Path(self._file.name).unlink(missing_ok=True)

    def write(self, data: bytes) -> None:
        """Raises: ImageError: it grows too large."""
        self._size += len(data)
        if self._size > LARGEST_BLOB:
            raise ImageError(f"{self._digest} is larger than {LARGEST_BLOB >> 30} GiB")
        self._hash.update(data)
        self._file.write(data)

    def finish(self) -> Path:
        """Raises: ImageError: what was written has another digest."""
        found = f"sha256:{self._hash.hexdigest()}"
        if found != self._digest:
            raise ImageError(f"what came as {self._digest} is {found}")
        self._file.flush()
        return Path(self._file.name).replace(self._target)


def digest_of(data: bytes) -> str:
    return f"sha256:{hashlib.sha256(data).hexdigest()}"


def _checked(digest: str) -> str:
    if not is_digest(digest):
        raise ImageError(f"the image names {digest[:100]!r}, which is no sha256 digest")
    return digest


class LayoutSource:
    """A folder in the OCI image layout, or as skopeo's `dir:` writes it."""

    def __init__(self, folder: Path, blobs: BlobFolder, *, is_layout: bool) -> None:
        self._folder, self._blobs, self._is_layout = folder, blobs, is_layout

    async def manifest(self, version: str) -> bytes:
        if not self._is_layout:
            return self._read(self._folder / "manifest.json")
        if is_digest(version):
            data = self._read(self._folder / "blobs/sha256" / version.removeprefix("sha256:"))
            if digest_of(data) != version:
                raise ImageError(f"what lies as {version} is {digest_of(data)}")
            return data
        index = read(self._read(self._folder / "index.json"), Manifest, "index of the layout")
        entries = index.manifests or []
        names = [(each.annotations or {}).get("org.opencontainers.image.ref.name", "") for each in entries]
        if version in names:
            return await self.manifest(_checked(entries[names.index(version)].digest))
        if version or len(entries) != 1:
            raise ImageError(
                f"{self._folder} holds no image {version!r}", hint=f"it holds: {', '.join(names) or 'none'}"
            )
        return await self.manifest(_checked(entries[0].digest))

    async def blob(self, digest: str) -> Path:
        found = self._blobs.find(digest)
        if found is not None:
            return found
        name = _checked(digest).removeprefix("sha256:")
        path = self._folder / ("blobs/sha256" if self._is_layout else "") / name
        try:
            with path.open("rb") as file:
                return self._blobs.keep(digest, lambda write: _copy(file, write))
        except OSError as error:
            raise ImageError(f"{path}: {error.strerror}") from error

    def _read(self, path: Path) -> bytes:
        try:
            with path.open("rb") as file:
                return file.read(LARGEST_MANIFEST)
        except FileNotFoundError as error:
            form = "the OCI image layout" if self._is_layout else "the form that skopeo's dir: writes"
            raise ImageError(
                f"{self._folder} is no image in {form}: it has no {path.relative_to(self._folder)}"
            ) from error
        except OSError as error:
            raise ImageError(f"{path}: {error.strerror}") from error


class ArchiveSource:
    """A file as `docker save` writes it: a tar file of layers, and a list of which make up what."""

    def __init__(self, file: Path, blobs: BlobFolder) -> None:
        self._file, self._blobs = file, blobs

    async def manifest(self, version: str) -> bytes:
        """A manifest in the OCI form, made from the archive's own list; its blobs are kept by then."""
        try:
            with tarfile.open(self._file) as archive:
                return self._convert(archive, version)
        except OSError as error:
            raise ImageError(f"{self._file}: {error.strerror}") from error
        except (tarfile.TarError, KeyError, EOFError, zlib.error, lzma.LZMAError) as error:
            why = str(error.args[0]) if isinstance(error, KeyError) else "it is no tar file, or is cut off"
            raise ImageError(f"{self._file} is no archive of an image as docker save writes it: {why}") from error

    async def blob(self, digest: str) -> Path:
        found = self._blobs.find(digest)
        if found is None:
            raise ImageError(f"{self._file} has nothing with the digest {digest}")
        return found

    def _convert(self, archive: tarfile.TarFile, version: str) -> bytes:
        listing = read(
            _member(archive, "manifest.json").read(LARGEST_MANIFEST), list[SavedImage], "list of the archive"
        )
        tags = [tag for entry in listing for tag in entry.repo_tags or []]

        def fits(tag: str) -> bool:
            return tag == version or tag.endswith(f":{version}")

        chosen = [entry for entry in listing if not version or any(map(fits, entry.repo_tags or []))]
        if len(chosen) != 1:
            raise ImageError(f"{self._file} holds no image {version!r}", hint=f"it holds: {', '.join(tags) or 'none'}")
        config = Descriptor(digest=self._take(archive, chosen[0].config))
        layers = [Descriptor(digest=self._take(archive, name)) for name in chosen[0].layers]
        return msgspec.json.encode(Manifest(config=config, layers=layers))

    def _take(self, archive: tarfile.TarFile, name: str) -> str:
        member = _member(archive, name)
        hashed = hashlib.sha256()
        while data := member.read(1 << 20):
            hashed.update(data)
        digest = f"sha256:{hashed.hexdigest()}"
        if self._blobs.find(digest) is None:
            member.seek(0)
            self._blobs.keep(digest, lambda write: _copy(member, write))
        return digest


def _member(archive: tarfile.TarFile, name: str) -> IO[bytes]:
    file = archive.extractfile(name)
    if file is None:
        raise KeyError(name)
    return file


def _copy(source: IO[bytes], write: Callable[[bytes], object]) -> None:
    class Sink:
        def write(self, data: bytes) -> int:
            write(data)
            return len(data)

    shutil.copyfileobj(source, Sink(), 1 << 20)
