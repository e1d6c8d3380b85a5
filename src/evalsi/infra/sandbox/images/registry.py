"""A registry as a source of images: the distribution protocol over HTTP, read only.

Secrets go to the host that they belong to and, as the protocol has it, to the token service that this host names; never
to where a blob is stored. Plain HTTP is spoken with this machine itself only.
"""

import base64
import re
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from evalsi.core.errors import ImageError
from evalsi.infra.sandbox.images.blobs import LARGEST_MANIFEST, BlobFolder, digest_of
from evalsi.infra.sandbox.images.documents import Logins, Token, read
from evalsi.infra.sandbox.images.reference import RegistryReference, is_digest

if TYPE_CHECKING:
    import aiohttp

_ACCEPTED = (
    "application/vnd.oci.image.index.v1+json, application/vnd.oci.image.manifest.v1+json, "
    "application/vnd.docker.distribution.manifest.list.v2+json, application/vnd.docker.distribution.manifest.v2+json"
)
_WORDS = re.compile(r'(\w+)="([^"]*)"')
_PATIENCE_S = 60.0
_OK, _UNAUTHORIZED, _NOT_FOUND = 200, 401, 404


def read_credentials(file: Path | None) -> Mapping[str, str]:
    """Host to "user:password" of a file as `docker login` writes it. Raises: ImageError: it cannot be read."""
    if file is None:
        return {}
    try:
        logins = read(file.read_bytes(), Logins, "file of credentials").auths
        return {host: base64.b64decode(login.auth).decode() for host, login in logins.items() if login.auth}
    except (OSError, ValueError) as error:
        raise ImageError(f"{file} holds no credentials for registries") from error


class RegistrySource:
    """One repository. Belongs to the running event loop; made by `open_registry`."""

    def __init__(
        self,
        session: "aiohttp.ClientSession",
        reference: RegistryReference,
        blobs: BlobFolder,
        credentials: Mapping[str, str],
    ) -> None:
        self._session, self._reference, self._blobs = session, reference, blobs
        self._secret = credentials.get(reference.host, "")
        name = reference.host.rpartition(":")[0] or reference.host
        scheme = "http" if name in ("localhost", "127.0.0.1", "[::1]") else "https"
        self._address = f"{scheme}://{reference.host}/v2/{reference.repository}"
        self._authorization = ""

    async def manifest(self, version: str) -> bytes:
        async with self._get(f"manifests/{version}") as response:
            data = await _read_document(response)
        if is_digest(version) and digest_of(data) != version:
            raise ImageError(f"what {self._reference.host} gave as {version} is {digest_of(data)}")
        return data

    async def blob(self, digest: str) -> Path:
        found = self._blobs.find(digest)
        if found is not None:
            return found
        with self._blobs.begin(digest) as blob:
            async with self._get(f"blobs/{digest}") as response:
                async for data in response.content.iter_chunked(1 << 20):
                    blob.write(data)
            return blob.finish()

    @asynccontextmanager
    async def _get(self, path: str) -> "AsyncGenerator[aiohttp.ClientResponse]":
        import aiohttp

        address = f"{self._address}/{path}"
        try:
            response = await self._request(address)
            if response.status == _UNAUTHORIZED:
                challenge = response.headers.get("WWW-Authenticate", "")
                response.release()
                await self._authorize(challenge)
                response = await self._request(address)
            async with response:
                self._check(response, path)
                yield response
        except (aiohttp.ClientError, TimeoutError) as error:
            raise ImageError(
                f"{self._reference.host} cannot be reached: {str(error) or 'no answer in time'}"
            ) from error

    async def _request(self, address: str) -> "aiohttp.ClientResponse":
        headers = {"Accept": _ACCEPTED}
        if self._authorization:
            headers["Authorization"] = self._authorization
        # aiohttp drops the authorization where a redirection leaves the host.
        return await self._session.get(address, headers=headers)

    async def _authorize(self, challenge: str) -> None:
        kind, _, rest = challenge.partition(" ")
        basic = f"Basic {base64.b64encode(self._secret.encode()).decode()}" if self._secret else ""
        if kind.lower() == "basic":
            self._authorization = basic
            return
        words = dict(_WORDS.findall(rest))
        realm = words.get("realm", "")
        if kind.lower() != "bearer" or not realm.startswith(self._address.partition("://")[0] + "://"):
            raise ImageError(f"{self._reference.host} asks for {kind or 'nothing that is known'} to let us in")
        asked = {"scope": f"repository:{self._reference.repository}:pull"}
        if "service" in words:
            asked["service"] = words["service"]
        headers = {"Authorization": basic} if basic else {}
        async with self._session.get(realm, params=asked, headers=headers) as response:
            if response.status != _OK:
                raise ImageError(f"{self._reference.host} does not let us in (status {response.status} for a token)")
            answer = read(await _read_document(response), Token, "token")
        self._authorization = f"Bearer {answer.token or answer.access_token}"

    def _check(self, response: "aiohttp.ClientResponse", path: str) -> None:
        if response.status == _OK:
            return
        what = f"{self._reference.host}/{self._reference.repository}"
        if response.status == _NOT_FOUND:
            raise ImageError(f"{what} has no {path.replace('/', ' ').replace('manifests', 'image')}")
        if response.status == _UNAUTHORIZED:
            raise ImageError(f"{what} does not let us in", hint="log in, and set EVALSI_SANDBOX_REGISTRY_CREDENTIALS")
        raise ImageError(f"{what} answered {response.status} for {path}")


async def _read_document(response: "aiohttp.ClientResponse") -> bytes:
    parts: list[bytes] = []
    left = LARGEST_MANIFEST
    async for data in response.content.iter_any():
        left -= len(data)
        if left < 0:
            raise ImageError(f"{response.url.host} sent a document of more than {LARGEST_MANIFEST >> 20} MiB")
        parts.append(data)
    return b"".join(parts)


@asynccontextmanager
async def open_registry(
    reference: RegistryReference, blobs: BlobFolder, credentials: Mapping[str, str]
) -> AsyncGenerator[RegistrySource]:
    """A source whose connections end with the block."""
    import aiohttp

    timeout = aiohttp.ClientTimeout(total=None, connect=_PATIENCE_S, sock_read=_PATIENCE_S)
    async with aiohttp.ClientSession(timeout=timeout, auto_decompress=False) as session:
        yield RegistrySource(session, reference, blobs, credentials)
