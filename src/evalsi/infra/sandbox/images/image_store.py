"""Images of this machine: fetched once, unpacked once, and found again by digest.

A tree is made under another name and gets its own when it is whole, so what is found is complete. Trees are only ever
read: what a sandbox writes lies in a layer of its own.
"""

import asyncio
import fcntl
import os
import platform
import shutil
import tempfile
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

from evalsi.core.errors import ImageError
from evalsi.infra.sandbox.held_place import Hold
from evalsi.infra.sandbox.images.allowed_images import AllowedImages
from evalsi.infra.sandbox.images.blobs import ArchiveSource, BlobFolder, LayoutSource, Source, digest_of
from evalsi.infra.sandbox.images.documents import Configuration, Descriptor, Manifest, Platform, read
from evalsi.infra.sandbox.images.reference import LocalReference, parse_reference
from evalsi.infra.sandbox.images.registry import open_registry, read_credentials
from evalsi.infra.sandbox.images.signature import check_signature
from evalsi.infra.sandbox.images.tree_use import make_room, use_tree
from evalsi.infra.sandbox.images.unpack import Tree

_MACHINES = {"x86_64": "amd64", "aarch64": "arm64"}
_MOST_LAYERS = 500


def default_image_folder() -> Path:
    """Where images are kept when nobody says. Root's own folder is out of reach of whom sandboxes run as."""
    return Path("/var/cache/evalsi/images" if os.geteuid() == 0 else "~/.cache/evalsi/images").expanduser()


@dataclass(frozen=True, kw_only=True)
class ImageOptions:
    """An operator's words.

    Args:
        folder: Where images are kept.
        credentials: A file as `docker login` writes it; None for none.
        key: A public key in PEM; only images that were signed with its other half are used.
        allowed: Which images may be used at all.
        most_bytes: What all images together may take; those unused for longest go first. 0 for no limit.
    """

    folder: Path
    credentials: Path | None = None
    key: Path | None = None
    allowed: AllowedImages = field(default_factory=AllowedImages)
    most_bytes: int = 0


@dataclass(frozen=True, kw_only=True)
class Image:
    """A tree that is ready, and stays until `use` is released. `digest` is that of its manifest."""

    digest: str
    tree: Path
    environment: Mapping[str, str]
    use: Hold

    def has_python(self, version: str) -> bool:
        """Whether there is an interpreter of this version ("3.12") at one of the usual places."""
        return any((self.tree / above / f"python{version}").is_dir() for above in ("usr/lib", "usr/local/lib"))


class ImageStore:
    """Args:
    owner: Whose the trees' files are; None for ourselves.
    mount_points: Folders that every tree must have.
    """

    def __init__(self, options: ImageOptions, owner: int | None, mount_points: tuple[str, ...]) -> None:
        self._options, self._owner, self._mount_points = options, owner, mount_points

    async def fetch(self, text: str) -> Image:
        """The image that a reference names.

        Raises: UsageError: it names none; ForbiddenError: it may not be used; ImageError: it cannot be had or trusted.
        """
        reference = parse_reference(text)
        self._options.allowed.check(text, reference)
        self._options.folder.mkdir(parents=True, exist_ok=True)
        self._options.folder.chmod(0o711)
        blobs = BlobFolder(self._options.folder / "blobs")
        async with self._source(text, blobs) as source:
            data = await source.manifest(reference.version)
            if self._options.key is not None:
                await check_signature(source, digest_of(data), self._options.key)
            manifest = read(data, Manifest, "manifest")
            if manifest.manifests is not None:
                data = await source.manifest(_of_this_machine(manifest.manifests, text))
                manifest = read(data, Manifest, "manifest")
            if manifest.config is None or len(manifest.layers) > _MOST_LAYERS:
                raise ImageError(f"{text} has no configuration, or more than {_MOST_LAYERS} layers")
            config = read((await source.blob(manifest.config.digest)).read_bytes(), Configuration, "configuration")
            files = [await source.blob(layer.digest) for layer in manifest.layers]
        digest = digest_of(data)
        tree, use = await asyncio.to_thread(self._unpacked, digest, files)
        return _image(digest, tree, config, use)

    @asynccontextmanager
    async def _source(self, text: str, blobs: BlobFolder) -> AsyncGenerator[Source]:
        reference = parse_reference(text)
        if not isinstance(reference, LocalReference):
            async with open_registry(reference, blobs, read_credentials(self._options.credentials)) as registry:
                yield registry
        elif reference.kind == "docker-archive":
            yield ArchiveSource(reference.path, blobs)
        else:
            yield LayoutSource(reference.path, blobs, is_layout=reference.kind == "oci-layout")

    def _unpacked(self, digest: str, layers: list[Path]) -> tuple[Path, Hold]:
        # Trees of one owner are of no use to another.
        trees = self._options.folder / f"trees-{self._owner if self._owner is not None else os.geteuid()}"
        trees.mkdir(exist_ok=True)
        trees.chmod(0o711)
        target = trees / digest.removeprefix("sha256:")
        with (trees / "lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not target.is_dir():
                self._unpack(layers, target)
            use = use_tree(target)
            if self._options.most_bytes:
                make_room(trees, self._options.folder / "blobs", self._options.most_bytes)
        return target, use

    def _unpack(self, layers: list[Path], target: Path) -> None:
        place = Path(tempfile.mkdtemp(dir=target.parent, prefix="new-"))
        try:
            place.chmod(0o755)
            tree = Tree(place, self._owner)
            for layer in layers:
                tree.add(layer)
            for folder in self._mount_points:
                tree.make_folder(folder)
            if self._owner is not None:
                os.chown(place, self._owner, self._owner)
            place.rename(target)
        except BaseException:
            shutil.rmtree(place, ignore_errors=True)
            raise


def _of_this_machine(manifests: list[Descriptor], text: str) -> str:
    wanted = Platform(architecture=_MACHINES.get(platform.machine(), platform.machine()))
    for entry in manifests:
        if entry.platform == wanted:
            return entry.digest
    found = ", ".join(f"{each.platform.os}/{each.platform.architecture}" for each in manifests if each.platform)
    raise ImageError(
        f"{text} is not made for linux/{wanted.architecture}", hint=f"it is for: {found or 'nothing it names'}"
    )


def _image(digest: str, tree: Path, config: Configuration, use: Hold) -> Image:
    words = (config.config.env if config.config is not None else None) or []
    pairs = [word.partition("=") for word in words if "=" in word]
    return Image(digest=digest, tree=tree, environment={name: value for name, _, value in pairs}, use=use)
