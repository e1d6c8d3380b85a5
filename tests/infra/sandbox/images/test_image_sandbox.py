"""Sandboxes with an image: programs find its tree and none of ours, write to a copy, and a snapshot holds what differs."""

import asyncio
import tempfile
from collections.abc import Awaitable, Callable, Generator
from pathlib import Path

import pytest

from evalsi.core.errors import ImageError, SandboxUnavailableError
from evalsi.infra.sandbox import DRIVERS, Ladder, LadderOptions
from evalsi.infra.sandbox.images import ImageOptions
from evalsi.ports.sandbox import (
    AccessPolicy,
    Execution,
    Sandbox,
    SandboxCommand,
    SandboxFile,
    SandboxLimits,
    SandboxOutcome,
    SandboxSpec,
)
from tests.infra.sandbox.images.made_image import BUSYBOX, Layout, busybox_layer, entry, layer
from tests.infra.sandbox.machines import MACHINES, kept_packages
from tests.infra.sandbox.test_escapes import missing

pytestmark = [
    pytest.mark.slow,
    pytest.mark.xdist_group("sandbox"),
    pytest.mark.skipif(BUSYBOX is None, reason="busybox is not installed"),
]
LIMITS = SandboxLimits(wall_s=20.0, disk_mib=16)


@pytest.fixture
def place() -> Generator[Path]:
    """A folder that every user may enter, as pytest's own are not."""
    with tempfile.TemporaryDirectory(prefix="evalsi-images-") as name:
        Path(name).chmod(0o711)
        yield Path(name)


@pytest.fixture(params=[name for name in DRIVERS if name != "landlock"])
def driver(request: pytest.FixtureRequest) -> str:
    name: str = request.param
    reason = missing((name,))
    if reason:
        pytest.skip(reason)
    return name


def on(driver: str, place: Path, use: Callable[[Ladder, str], Awaitable[None]]) -> None:
    layout = Layout(place / "layout")
    layout.image("tiny", [busybox_layer()])

    async def main() -> None:
        ladder = Ladder(
            LadderOptions(drivers=(driver,), machines=MACHINES, images=ImageOptions(folder=place / "store"))
        )
        try:
            await use(ladder, f"oci-layout:{layout.path}:tiny")
        finally:
            await ladder.close()

    asyncio.run(main())


async def run(sandbox: Sandbox, script: str, policy: AccessPolicy = AccessPolicy.WORKSPACE_WRITE) -> Execution:
    return await sandbox.execute(SandboxCommand(argv=("sh", "-c", script), policy=policy))


def test_programs_find_the_image_and_nothing_of_the_machine(driver: str, place: Path) -> None:
    async def use(ladder: Ladder, image: str) -> None:
        sandbox = await ladder.create(
            SandboxSpec(
                image=image, limits=LIMITS, environment={"OWN": "1"}, files=(SandboxFile(path="in", content=b"given"),)
            )
        )
        assert sandbox.image_digest.startswith("sha256:")
        said = await run(
            sandbox, "cat in /etc/motd; echo $FROM$OWN; test -e /usr/bin || echo bare; echo x > made; echo y > /tmp/y"
        )
        assert said.succeeded, said
        assert said.stdout == b"givenof the image\nimage1\nbare\n"
        assert (await sandbox.read_files(["made"])).files[0].content == b"x\n"

    on(driver, place, use)


def test_what_is_written_stays_in_a_copy_that_a_snapshot_carries_on(driver: str, place: Path) -> None:
    change = (
        "echo new > /etc/new; rm /etc/motd; mkdir -p /opt/a; ln -s a /opt/link; chmod 700 /opt/a; echo w > work;"
        "rm -r /bin/ls; mkdir /var/lib; echo kept > /var/lib/kept"
    )
    look = (
        "cat /etc/new /opt/link/../../var/lib/kept work; test -e /etc/motd || echo gone; test -e /bin/ls || echo gone"
    )

    async def use(ladder: Ladder, image: str) -> None:
        first = await ladder.create(SandboxSpec(image=image, limits=LIMITS))
        changed = await run(first, change, AccessPolicy.FULL)
        assert changed.succeeded, changed
        kept = await first.snapshot()
        again = await ladder.restore(kept)
        for sandbox in (first, again):
            assert (await run(sandbox, look)).stdout == b"new\nkept\nw\ngone\ngone\n"
        fresh = await ladder.create(SandboxSpec(image=image, limits=LIMITS))
        assert (
            await run(fresh, "cat /etc/motd; test -e /etc/new || echo as made")
        ).stdout == b"of the image\nas made\n"

    on(driver, place, use)


def test_a_folder_that_was_replaced_is_still_replaced_after_a_snapshot(place: Path) -> None:
    if missing(("bubblewrap",)):
        pytest.skip(missing(("bubblewrap",)))

    async def use(ladder: Ladder, image: str) -> None:
        sandbox = await ladder.create(SandboxSpec(image=image, limits=LIMITS))
        await run(sandbox, "rm -r /etc; mkdir /etc; echo 1 > /etc/only", AccessPolicy.FULL)
        again = await ladder.restore(await sandbox.snapshot())
        assert (await run(again, "ls /etc")).stdout == b"only\n"

    on("bubblewrap", place, use)


def test_programs_write_to_their_own_folder_unless_more_is_asked_for(place: Path) -> None:
    if missing(("bubblewrap",)):
        pytest.skip(missing(("bubblewrap",)))

    async def use(ladder: Ladder, image: str) -> None:
        sandbox = await ladder.create(SandboxSpec(image=image, limits=LIMITS))
        for script in ("echo x > /etc/x", "rm /etc/motd", "mkdir /opt", "echo x > /bin/busybox"):
            assert not (await run(sandbox, script)).succeeded, script
            assert (await run(sandbox, f"{script} 2>&1; true", AccessPolicy.READ_ONLY)).succeeded
        assert (await run(sandbox, "cat /etc/motd && test ! -e /etc/x")).stdout == b"of the image\n"

    on("bubblewrap", place, use)


def test_the_copy_is_of_limited_size_and_the_store_is_never_written(driver: str, place: Path) -> None:
    async def use(ladder: Ladder, image: str) -> None:
        sandbox = await ladder.create(SandboxSpec(image=image, limits=LIMITS))
        filled = await run(
            sandbox, "i=0; while cat /bin/busybox > /f$i; do i=$((i+1)); done; echo stopped at $i", AccessPolicy.FULL
        )
        assert filled.outcome is SandboxOutcome.EXIT, filled
        assert int(filled.stdout.split()[-1]) < 16, filled
        store = place / "store"
        (tree,) = [path for trees in store.glob("trees-*") for path in trees.iterdir() if path.is_dir()]
        assert not list(tree.glob("f*"))

    on(driver, place, use)


def test_programs_find_the_operators_packages_where_the_images_python_is_one_for_them(driver: str, place: Path) -> None:
    packages = kept_packages()
    versions = (entry(f"usr/lib/python3.{minor}/os.py", b"") for minor in range(8, 30))
    layout = Layout(place / "layout")
    layout.image("with-python", [busybox_layer(), layer([*versions])])
    layout.image("without", [busybox_layer()])
    look = "echo $PYTHONPATH; cat /.evalsi/packages/chosen_package/__init__.py"
    spoil = "echo > /.evalsi/packages/chosen_package/__init__.py; echo > /.evalsi/packages/new; ls /.evalsi/packages"

    async def main() -> None:
        ladder = Ladder(
            LadderOptions(
                drivers=(driver,), machines=MACHINES, images=ImageOptions(folder=place / "store"), packages=packages
            )
        )
        try:
            expected = {"with-python": b"own:/.evalsi/packages", "without": b"own"}
            if driver == "qemu":
                del expected["without"]  # for every image a machine has to be started
            for tag, path in expected.items():
                spec = SandboxSpec(
                    image=f"oci-layout:{layout.path}:{tag}", limits=LIMITS, environment={"PYTHONPATH": "own"}
                )
                sandbox = await ladder.create(spec)
                assert (await run(sandbox, look)).stdout == path + b"\nVALUE = 41\n"
                assert (await run(sandbox, spoil, AccessPolicy.FULL)).stdout == b"chosen_package\n"
                again = await ladder.restore(await sandbox.snapshot())
                assert (await run(again, look)).stdout == path + b"\nVALUE = 41\n"
        finally:
            await ladder.close()

    asyncio.run(main())
    assert (packages / "chosen_package/__init__.py").read_text(encoding="utf-8") == "VALUE = 41\n"


def test_a_snapshot_goes_on_no_other_image(place: Path) -> None:
    if missing(("bubblewrap",)):
        pytest.skip(missing(("bubblewrap",)))

    async def use(ladder: Ladder, image: str) -> None:
        sandbox = await ladder.create(SandboxSpec(image=image, limits=LIMITS))
        kept = await sandbox.snapshot()
        Layout(place / "layout").image("tiny", [busybox_layer(), layer([entry("etc/more", b"x")])])
        with pytest.raises(ImageError, match="was made over"):
            await ladder.restore(kept)

    on("bubblewrap", place, use)


def test_a_kind_that_takes_no_images_is_not_used_for_one(place: Path) -> None:
    if missing(("landlock",)):
        pytest.skip(missing(("landlock",)))

    async def use(ladder: Ladder, image: str) -> None:
        with pytest.raises(SandboxUnavailableError, match="landlock takes no images"):
            await ladder.create(SandboxSpec(image=image))

    on("landlock", place, use)
