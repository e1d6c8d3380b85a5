"""Kernels as distributions lay them out: which one is taken, and which modules in which order."""

import lzma
from pathlib import Path

import pytest

from evalsi.core.errors import SandboxError
from evalsi.infra.sandbox.machine.guest_kernel import find_kernel


def module(name: str, *needs: str) -> bytes:
    return b"\x7fELF name=" + name.encode() + b"\0depends=" + ",".join(needs).encode() + b"\0rest"


def package(folder: Path, version: str = "6.1.0-9-cloud-amd64") -> Path:
    modules = folder / "lib/modules" / version
    for name, needs in (
        ("virtio-ring", ()), ("virtio", ("virtio_ring",)), ("virtio_mmio", ("virtio", "virtio_ring")),
        ("virtio_console", ("virtio",)), ("virtio_blk", ("virtio",)), ("vsock", ()),
        ("vmw_vsock_virtio_transport", ("vsock", "virtio")),
    ):  # fmt: skip
        place = modules / "kernel" / f"{name}.ko"
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(module(name, *needs))
    (modules / "kernel/virtio_blk.ko").unlink()
    (modules / "kernel/virtio_blk.ko.xz").write_bytes(lzma.compress(module("virtio_blk", "virtio")))
    (modules / "modules.builtin").write_text("kernel/fs/overlayfs/overlay.ko\n", encoding="utf-8")
    (folder / "boot").mkdir(exist_ok=True)
    (folder / "boot" / f"vmlinuz-{version}").write_bytes(b"kernel")
    return folder


def test_modules_come_after_those_that_they_need_and_what_is_built_in_is_left_out(tmp_path: Path) -> None:
    kernel = find_kernel(package(tmp_path))
    assert kernel is not None
    names = [name for name, _ in kernel.load_order(sockets=False)]
    assert names == ["virtio_ring", "virtio", "virtio_mmio", "virtio_console", "virtio_blk"]
    assert dict(kernel.load_order(sockets=False))["virtio_blk"].startswith(b"\x7fELF")
    assert [name for name, _ in kernel.load_order(sockets=True)][-2:] == ["vsock", "vmw_vsock_virtio_transport"]


def test_a_kernel_with_everything_built_in_needs_no_modules(tmp_path: Path) -> None:
    (tmp_path / "vmlinux").write_bytes(b"\x7fELF")
    kernel = find_kernel(tmp_path / "vmlinux")
    assert kernel is not None
    assert kernel.load_order(sockets=True) == []


def test_the_newest_kernel_for_clouds_is_taken_before_others(tmp_path: Path) -> None:
    for version in ("6.1.0-9-cloud-amd64", "6.1.0-10-cloud-amd64", "6.12.0-1-amd64"):
        package(tmp_path, version)
    kernel = find_kernel(tmp_path)
    assert kernel is not None
    assert kernel.version == "6.1.0-10-cloud-amd64"
    assert find_kernel(tmp_path / "lib") is None


def test_a_module_that_is_missing_or_cannot_be_read_is_named(tmp_path: Path) -> None:
    place = next(package(tmp_path).rglob("virtio_console.ko"))
    place.rename(place.with_suffix(".ko.zst"))
    kernel = find_kernel(tmp_path)
    assert kernel is not None
    with pytest.raises(SandboxError, match="cannot be read here"):
        kernel.load_order(sockets=False)
    place.with_suffix(".ko.zst").unlink()
    with pytest.raises(SandboxError, match="has no module virtio_console"):
        kernel.load_order(sockets=False)
