"""Which images may be used, and which are kept: never one that is in use is removed."""

import asyncio
import os
import time
from pathlib import Path

import pytest

from evalsi.core.errors import ForbiddenError
from evalsi.infra.sandbox.images import AllowedImages, Image, ImageOptions, ImageStore
from evalsi.infra.sandbox.images.reference import parse_reference
from tests.infra.sandbox.images.made_image import Layout, entry, layer

DIGEST = "sha256:" + "a" * 64


@pytest.mark.parametrize(
    ("pattern", "allowed", "refused"),
    [
        (
            "ghcr.io/acme/*",
            ["ghcr.io/acme/tool:1", "ghcr.io/acme/a/b:2", f"ghcr.io/acme/tool@{DIGEST}"],
            ["ghcr.io/acme-evil/tool:1", "ghcr.io/other/tool", "tool:1", "evil.io/ghcr.io/acme/tool"],
        ),
        (
            "python:3.12",
            ["python:3.12", "registry-1.docker.io/library/python:3.12"],
            ["python:3.13", "python", "acme/python:3.12", f"python@{DIGEST}"],
        ),
        (f"python@{DIGEST}", [f"python@{DIGEST}"], ["python:3.12", f"acme/python@{DIGEST}"]),
        (DIGEST, [f"python@{DIGEST}", f"ghcr.io/any/thing@{DIGEST}"], ["python:3.12"]),
        ("docker.io/library/python:3.*", ["python:3.12"], ["python:2.7", "python"]),
    ],
)
def test_a_pattern_allows_what_it_means_and_nothing_else(pattern: str, allowed: list[str], refused: list[str]) -> None:
    images = AllowedImages(patterns=(pattern,), local=False)
    for name in allowed:
        images.check(name, parse_reference(name))
    for name in (*refused, "dir:/tmp/tree", "oci-layout:here", "docker-archive:here.tar"):
        with pytest.raises(ForbiddenError):
            images.check(name, parse_reference(name))


def test_a_refusal_comes_before_anything_is_fetched_and_names_what_may_be_used(tmp_path: Path) -> None:
    options = ImageOptions(folder=tmp_path / "store", allowed=AllowedImages(patterns=("ghcr.io/acme/*",), local=False))
    store = ImageStore(options, None, ())
    for name in ("python:3.12", f"dir:{tmp_path}"):
        with pytest.raises(ForbiddenError) as told:
            asyncio.run(store.fetch(name))
        assert repr(name) in told.value.message
    assert not (tmp_path / "store").exists()
    with pytest.raises(ForbiddenError, match="these may: none"):
        AllowedImages(patterns=()).check("python", parse_reference("python"))


def test_images_unused_for_longest_go_first_and_none_that_is_in_use(tmp_path: Path) -> None:
    layout = Layout(tmp_path / "layout")
    names = ("first", "second", "third")
    for name in names:
        layout.image(name, (layer([entry(f"file-{name}", os.urandom(300_000))]),))
    store = tmp_path / "store"

    def fetch(name: str, most_bytes: int = 0) -> Image:
        options = ImageOptions(folder=store, most_bytes=most_bytes)
        return asyncio.run(ImageStore(options, None, ("proc",)).fetch(f"oci-layout:{layout.path}:{name}"))

    old_s = time.time() - 7200
    first, second = fetch("first"), fetch("second")
    second.use.release()
    for path in (store / "blobs").iterdir():
        os.utime(path, (old_s, old_s))
    third = fetch("third", most_bytes=2 << 20)
    assert (first.tree.is_dir(), second.tree.is_dir(), third.tree.is_dir()) == (True, True, True), "they fit"
    third.use.release()
    os.utime(second.tree.with_name(second.tree.name + ".use"), (old_s, old_s))
    again = fetch("third", most_bytes=400_000)
    assert not second.tree.exists(), "unused, and for longest"
    assert first.tree.is_dir(), "in use, whatever the limit"
    assert again.tree.is_dir(), "just asked for"
    assert not [path for path in first.tree.parent.iterdir() if path.name.startswith("new-") or ".gone-" in path.name]
    blobs = [path.stat().st_size for path in (store / "blobs").iterdir()]
    assert sum(blobs) < 700_000, "layers that nobody reads go too"
    first.use.release()
    again.use.release()
    back = fetch("second")
    assert (back.tree / "file-second").stat().st_size == 300_000, "what was given up is fetched again"
    back.use.release()
