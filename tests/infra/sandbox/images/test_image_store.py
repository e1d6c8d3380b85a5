"""Images are had from every kind of place, are what they say, and are only used when they are trusted."""

import asyncio
import base64
import contextlib
import gzip
import hashlib
import json
import shutil
import socket
import subprocess
import tarfile
import time
from collections.abc import AsyncGenerator, Generator
from pathlib import Path

import pytest
from aiohttp import web
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from evalsi.core.errors import ImageError, UsageError
from evalsi.infra.sandbox.images import Image, ImageOptions, ImageStore
from tests.infra.sandbox.images.made_image import Layout, entry, folder, layer

LAYERS = (layer([folder("etc"), entry("etc/one", b"1")]), layer([entry("etc/two", b"2"), entry("etc/.wh.one")]))


def fetch(name: str, store: Path, *, key: Path | None = None, credentials: Path | None = None) -> Image:
    options = ImageOptions(folder=store, key=key, credentials=credentials)
    return asyncio.run(ImageStore(options, None, ("proc", "sandbox/disk")).fetch(name))


def check_tree(image: Image) -> None:
    assert [path.name for path in (image.tree / "etc").iterdir()] == ["two"]
    assert (image.tree / "sandbox/disk").is_dir()
    assert image.environment == {"PATH": "/bin", "FROM": "image"}


def save(layout: Layout, file: Path) -> None:
    """What `docker save` would write."""
    config = json.dumps({"config": {"Env": ["PATH=/bin", "FROM=image"]}}).encode()
    listing = [{"Config": "config.json", "RepoTags": ["tiny:1"], "Layers": ["a/layer.tar", "b/layer.tar"]}]
    parts = {
        "manifest.json": json.dumps(listing).encode(),
        "config.json": config,
        "a/layer.tar": LAYERS[0],
        "b/layer.tar": LAYERS[1],
    }
    file.write_bytes(layer([entry(name, data) for name, data in parts.items()]))


def as_folder(layout: Layout, digest: str, place: Path) -> None:
    """What skopeo's `dir:` would write."""
    shutil.copytree(layout.blobs, place)
    shutil.copyfile(layout.blobs / digest.removeprefix("sha256:"), place / "manifest.json")


def test_an_image_is_had_from_files_and_folders_and_unpacked_once(tmp_path: Path) -> None:
    layout = Layout(tmp_path / "layout")
    digest = layout.image("one", LAYERS)
    save(layout, tmp_path / "saved.tar")
    as_folder(layout, digest, tmp_path / "folder")
    store = tmp_path / "store"
    image = fetch(f"oci-layout:{layout.path}:one", store)
    assert image.digest == digest
    check_tree(image)
    for name in (f"oci-layout:{layout.path}", f"dir:{tmp_path}/folder"):
        again = fetch(name, store)
        assert (again.digest, again.tree) == (digest, image.tree)
    check_tree(fetch(f"docker-archive:{tmp_path}/saved.tar:1", store))
    assert len([path for path in image.tree.parent.iterdir() if path.is_dir()]) == 2


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("oci-layout:{}/layout:two", "holds no image 'two'"),
        ("oci-layout:{}/nowhere", "nowhere is no image in the OCI image layout: it has no index.json"),
        ("docker-archive:{}/saved.tar:9", "holds no image '9'"),
        ("docker-archive:{}/layout/index.json", "no archive of an image as docker save writes it: it is no tar file"),
        ("docker-archive:{}/cut.tar.gz", "cut off$"),
        ("docker-archive:{}/other.tar", "manifest.json' not found"),
        ("dir:{}/layout", "it has no manifest.json"),
    ],
)
def test_an_image_that_is_not_there_says_so(tmp_path: Path, name: str, said: str) -> None:
    layout = Layout(tmp_path / "layout")
    layout.image("one", LAYERS)
    save(layout, tmp_path / "saved.tar")
    (tmp_path / "cut.tar.gz").write_bytes(gzip.compress((tmp_path / "saved.tar").read_bytes())[:200])
    with tarfile.open(tmp_path / "other.tar", "w") as other:
        other.add(tmp_path / "cut.tar.gz")
    with pytest.raises(ImageError, match=said):
        fetch(name.format(tmp_path), tmp_path / "store")


@pytest.mark.parametrize("name", ["", "UPPER", "a b", "host.example/", "name@sha256:12", "name:-tag", "x@y"])
def test_what_names_no_image_is_a_usage_mistake(tmp_path: Path, name: str) -> None:
    with pytest.raises(UsageError, match="names no image"):
        fetch(name, tmp_path / "store")


def test_a_blob_that_is_not_what_its_digest_says_is_never_used(tmp_path: Path) -> None:
    layout = Layout(tmp_path / "layout")
    layout.image("one", LAYERS, compressed=False)
    (victim,) = [path for path in layout.blobs.iterdir() if path.read_bytes() == LAYERS[1]]
    victim.write_bytes(LAYERS[0])
    with pytest.raises(ImageError, match="what came as sha256:"):
        fetch(f"oci-layout:{layout.path}", tmp_path / "store")
    victim.write_bytes(LAYERS[1])
    check_tree(fetch(f"oci-layout:{layout.path}", tmp_path / "store"))


def sign(layout: Layout, digest: str, signed_digest: str, key: ec.EllipticCurvePrivateKey) -> None:
    payload = json.dumps({"critical": {"image": {"docker-manifest-digest": signed_digest}, "type": "cosign"}}).encode()
    signature = base64.b64encode(key.sign(payload, ec.ECDSA(hashes.SHA256()))).decode()
    part = {
        "mediaType": "application/vnd.dev.cosign.simplesigning.v1+json",
        **layout.put(payload),
        "annotations": {"dev.cosignproject.cosign/signature": signature},
    }
    layout.manifest(digest.replace(":", "-") + ".sig", {"layers": [part]})


def test_only_an_image_that_was_signed_with_the_key_is_used(tmp_path: Path) -> None:
    ours, theirs = (ec.generate_private_key(ec.SECP256R1()) for _ in range(2))
    public = tmp_path / "key.pem"
    public.write_bytes(
        ours.public_key().public_bytes(serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo)
    )
    layout = Layout(tmp_path / "layout")
    digest = layout.image("one", LAYERS)
    other = layout.image("two", LAYERS[:1])

    def use() -> Image:
        return fetch(f"oci-layout:{layout.path}:one", tmp_path / "store", key=public)

    with pytest.raises(ImageError, match="is not signed"):
        use()
    sign(layout, digest, digest, theirs)
    with pytest.raises(ImageError, match="no signature that was made with the key"):
        use()
    sign(layout, digest, other, ours)
    with pytest.raises(ImageError, match="no signature that was made with the key"):
        use()
    sign(layout, digest, digest, ours)
    check_tree(use())


@contextlib.contextmanager
def docker_registry(place: Path) -> Generator[str]:
    """The registry that Debian has, on a free port of this machine."""
    program = shutil.which("docker-registry")
    if program is None:
        pytest.skip("docker-registry is not installed")
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    config = place / "registry.yml"
    config.write_text(
        f"version: 0.1\nlog: {{level: error}}\nstorage: {{filesystem: {{rootdirectory: {place}/registry}}}}\n"
        f"http: {{addr: 127.0.0.1:{port}}}\n",
        encoding="utf-8",
    )
    process = subprocess.Popen([program, "serve", str(config)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        until = time.monotonic() + 20
        while time.monotonic() < until:
            with contextlib.suppress(OSError):
                socket.create_connection(("127.0.0.1", port), 1).close()
                break
            time.sleep(0.05)
        yield f"127.0.0.1:{port}"
    finally:
        process.kill()
        process.wait()


async def push(layout: Layout, host: str, repository: str, tag: str) -> None:
    import aiohttp

    index = json.loads((layout.path / "index.json").read_text(encoding="utf-8"))
    async with aiohttp.ClientSession(f"http://{host}") as session:
        for blob in layout.blobs.iterdir():
            data = blob.read_bytes()
            async with session.post(f"/v2/{repository}/blobs/uploads/") as begun:
                place = begun.headers["Location"]
            digest = f"sha256:{hashlib.sha256(data).hexdigest()}"
            async with session.put(place, params={"digest": digest}, data=data) as put:
                assert put.status == 201
        manifest = (layout.blobs / index["manifests"][0]["digest"].removeprefix("sha256:")).read_bytes()
        kind = {"Content-Type": "application/vnd.oci.image.manifest.v1+json"}
        async with session.put(f"/v2/{repository}/manifests/{tag}", data=manifest, headers=kind) as put:
            assert put.status == 201, await put.text()


def test_an_image_is_pulled_from_a_registry(tmp_path: Path) -> None:
    layout = Layout(tmp_path / "layout")
    digest = layout.image("one", LAYERS)
    with docker_registry(tmp_path) as host:
        asyncio.run(push(layout, host, "some/tiny", "1"))
        image = fetch(f"{host}/some/tiny:1", tmp_path / "store")
        assert image.digest == digest
        check_tree(image)
        assert fetch(f"{host}/some/tiny@{digest}", tmp_path / "store").tree == image.tree
        with pytest.raises(ImageError, match="has no image 2"):
            fetch(f"{host}/some/tiny:2", tmp_path / "store")


@contextlib.asynccontextmanager
async def guarded_registry(layout: Layout, seen: list[str]) -> AsyncGenerator[str]:
    """A registry that wants a token, and keeps its blobs elsewhere; as Docker Hub does."""
    index = json.loads((layout.path / "index.json").read_text(encoding="utf-8"))

    async def elsewhere(request: web.Request) -> web.Response:
        seen.append(request.headers.get("Authorization", ""))
        return web.Response(body=(layout.blobs / request.match_info["name"]).read_bytes())

    async def token(request: web.Request) -> web.Response:
        right = request.headers.get("Authorization") == "Basic " + base64.b64encode(b"me:secret").decode()
        if not right or request.query["scope"] != "repository:tiny:pull":
            return web.Response(status=403)
        return web.json_response({"token": "t0ken"})

    async def serve(request: web.Request) -> web.StreamResponse:
        if request.headers.get("Authorization") != "Bearer t0ken":
            challenge = f'Bearer realm="http://{request.host}/token",service="here"'
            return web.Response(status=401, headers={"WWW-Authenticate": challenge})
        kind, name = request.match_info["kind"], request.match_info["name"].removeprefix("sha256:")
        if kind == "blobs":
            raise web.HTTPTemporaryRedirect(f"http://localhost:{storage_port}/{name}")
        name = name if name != "1" else index["manifests"][0]["digest"].removeprefix("sha256:")
        return web.Response(body=(layout.blobs / name).read_bytes())

    application, storage = web.Application(), web.Application()
    application.router.add_get("/token", token)
    application.router.add_get("/v2/tiny/{kind}/{name}", serve)
    storage.router.add_get("/{name}", elsewhere)
    runners = [web.AppRunner(application), web.AppRunner(storage)]
    ports: list[int] = []
    for runner in runners:
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        ports.append(runner.addresses[0][1])
    storage_port = ports[1]
    try:
        yield f"127.0.0.1:{ports[0]}"
    finally:
        for runner in runners:
            await runner.cleanup()


def test_a_registry_that_wants_a_token_gets_one_and_where_blobs_lie_gets_none(tmp_path: Path) -> None:
    layout = Layout(tmp_path / "layout")
    layout.image("one", LAYERS)
    seen: list[str] = []

    async def main() -> None:
        async with guarded_registry(layout, seen) as host:
            login = tmp_path / "config.json"
            login.write_text(
                json.dumps({"auths": {host: {"auth": base64.b64encode(b"me:secret").decode()}}}), encoding="utf-8"
            )
            store = ImageStore(
                ImageOptions(folder=tmp_path / "store", credentials=login), None, ("proc", "sandbox/disk")
            )
            check_tree(await store.fetch(f"{host}/tiny:1"))
            nobody = ImageStore(ImageOptions(folder=tmp_path / "other"), None, ())
            with pytest.raises(ImageError, match="does not let us in") as refused:
                await nobody.fetch(f"{host}/tiny:1")
            assert "secret" not in str(refused.value)

    asyncio.run(main())
    assert set(seen) == {""}


def test_two_processes_that_want_the_same_image_unpack_it_once(tmp_path: Path) -> None:
    layout = Layout(tmp_path / "layout")
    layout.image("one", LAYERS)

    async def main() -> list[Image]:
        store = ImageStore(ImageOptions(folder=tmp_path / "store"), None, ("proc", "sandbox/disk"))
        return await asyncio.gather(*(store.fetch(f"oci-layout:{layout.path}") for _ in range(6)))

    images = asyncio.run(main())
    assert len({image.tree for image in images}) == 1
    check_tree(images[0])
    name = images[0].tree.name
    assert sorted(path.name for path in images[0].tree.parent.iterdir()) == sorted([name, f"{name}.use", "lock"])


def test_tar_of_this_test_is_what_docker_save_writes(tmp_path: Path) -> None:
    save(Layout(tmp_path / "layout"), tmp_path / "saved.tar")
    with tarfile.open(tmp_path / "saved.tar") as archive:
        assert "manifest.json" in archive.getnames()
