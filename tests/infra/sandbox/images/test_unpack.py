"""Layers become the tree that the specification says, and nothing outside it, whatever a layer holds."""

import contextlib
import gzip
import tarfile
from pathlib import Path

import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from evalsi.core.errors import ImageError
from evalsi.infra.sandbox.images.unpack import Tree
from tests.infra.sandbox.images.made_image import Entry, entry, folder, layer


def unpacked(place: Path, *layers: list[Entry]) -> Path:
    root = place / "tree"
    root.mkdir()
    tree = Tree(root, None)
    for number, entries in enumerate(layers):
        file = place / f"layer-{number}"
        file.write_bytes(layer(entries))
        tree.add(file)
    return root


def names(root: Path) -> list[str]:
    return sorted(str(path.relative_to(root)) for path in root.rglob("*"))


def test_a_later_layer_replaces_adds_and_takes_away(tmp_path: Path) -> None:
    first = [
        folder("a"),
        entry("a/one", b"1"),
        entry("a/two", b"2"),
        folder("b"),
        entry("b/old", b"x"),
        entry("c", b"c"),
    ]
    second = [entry("a/.wh.one"), entry("a/two", b"new"), entry("b/new", b"y"), entry("b/.wh..wh..opq"), folder("c")]
    root = unpacked(tmp_path, first, second)
    assert names(root) == ["a", "a/two", "b", "b/new", "c"]
    assert (root / "a/two").read_bytes() == b"new"
    assert (root / "c").is_dir()


def test_paths_lead_through_links_as_they_would_inside(tmp_path: Path) -> None:
    first = [folder("usr/lib"), entry("lib", kind=tarfile.SYMTYPE, target="usr/lib")]
    up = [entry("abs", kind=tarfile.SYMTYPE, target="/usr"), entry("up", kind=tarfile.SYMTYPE, target="../../usr")]
    root = unpacked(tmp_path, first, [*up, entry("lib/x", b"1"), entry("abs/y", b"2"), entry("up/z", b"3")])
    assert [path.name for path in sorted((root / "usr").rglob("*")) if path.is_file()] == ["x", "y", "z"]
    assert (root / "lib").is_symlink()


@pytest.mark.parametrize("packed", [gzip.compress, zstandard.compress, bytes])
def test_layers_are_read_in_every_form_that_they_come_in(tmp_path: Path, packed: "type[bytes]") -> None:
    (tmp_path / "root").mkdir()
    (tmp_path / "layer").write_bytes(packed(layer([entry("a", b"1")])))
    Tree(tmp_path / "root", None).add(tmp_path / "layer")
    assert (tmp_path / "root/a").read_bytes() == b"1"


def test_setuid_bits_and_devices_are_left_out(tmp_path: Path) -> None:
    root = unpacked(
        tmp_path,
        [entry("su", b"x", mode=0o6755), entry("disk", kind=tarfile.BLKTYPE), entry("pipe", kind=tarfile.FIFOTYPE)],
    )
    assert names(root) == ["su"]
    assert (root / "su").stat().st_mode & 0o7777 == 0o755


@pytest.mark.parametrize(
    "entries",
    [
        [entry("../out", b"x")],
        [entry("a/../../out", b"x")],
        [entry("link", kind=tarfile.LNKTYPE, target="../../../etc/passwd")],
        [folder("d"), entry("link", kind=tarfile.LNKTYPE, target="d")],
        [entry("d/.wh...", b"")],
        [
            entry("a", kind=tarfile.SYMTYPE, target="b"),
            entry("b", kind=tarfile.SYMTYPE, target="a"),
            entry("a/x", b"1"),
        ],
    ],
)
def test_what_no_honest_layer_holds_is_refused(tmp_path: Path, entries: list[Entry]) -> None:
    with pytest.raises(ImageError):
        unpacked(tmp_path, entries)


def test_what_is_no_layer_is_refused(tmp_path: Path) -> None:
    (tmp_path / "root").mkdir()
    for content in (b"nonsense" * 200, gzip.compress(layer([entry("a", b"1" * 5000)]))[:-40]):
        (tmp_path / "layer").write_bytes(content)
        with pytest.raises(ImageError):
            Tree(tmp_path / "root", None).add(tmp_path / "layer")


_PARTS = st.sampled_from(["a", "b", "..", ".", "/", ".wh.a", ".wh..wh..opq", "outside", "etc"])
_PATHS = st.lists(_PARTS, min_size=1, max_size=5).map("/".join)
_KINDS = st.sampled_from([tarfile.REGTYPE, tarfile.DIRTYPE, tarfile.SYMTYPE, tarfile.LNKTYPE])


@given(st.lists(st.tuples(_PATHS, _KINDS, _PATHS), max_size=12))
def test_no_layer_touches_what_is_outside(
    tmp_path_factory: pytest.TempPathFactory, made: list[tuple[str, bytes, str]]
) -> None:
    place = tmp_path_factory.mktemp("unpack")
    (place / "outside").mkdir()
    (place / "outside/kept").write_bytes(b"kept")
    entries = [entry(name, b"new" if kind == tarfile.REGTYPE else b"", kind, target) for name, kind, target in made]
    with contextlib.suppress(ImageError):
        unpacked(place, entries)
    assert [path.name for path in place.iterdir() if not path.name.startswith("layer-")].count("outside") == 1
    assert sorted(path.name for path in place.iterdir()) == ["layer-0", "outside", "tree"]
    assert [path.name for path in (place / "outside").iterdir()] == ["kept"]
    assert (place / "outside/kept").read_bytes() == b"kept"
