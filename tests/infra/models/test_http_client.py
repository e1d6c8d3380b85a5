"""The HTTP client against a real server that says exactly what each test writes, byte for byte."""

import asyncio
import contextlib
import gzip
import shutil
import ssl
import subprocess
import zlib
from collections.abc import AsyncGenerator, Awaitable, Callable
from pathlib import Path

import pytest

from evalsi.core.address_fence import AddressFence
from evalsi.core.errors import ProviderError
from evalsi.infra.models import http_client, http_connection
from evalsi.infra.models.http_client import HttpClient
from evalsi.infra.models.http_connection import Failing, HttpError, Response

Serve = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


class Server:
    """Answers the n-th request of a connection with the n-th answer, then waits; None closes the connection."""

    def __init__(self, *answers: bytes | None, tls: ssl.SSLContext | None = None) -> None:
        self._answers = answers
        self._tls = tls
        self.heads: list[str] = []
        self.connections = 0
        self.port = 0
        self._tasks: list[asyncio.Task[None]] = []

    @property
    def url(self) -> str:
        return f"{'http' if self._tls is None else 'https'}://127.0.0.1:{self.port}"

    @contextlib.asynccontextmanager
    async def running(self) -> AsyncGenerator["Server"]:
        server = await asyncio.start_server(self._take, "127.0.0.1", 0, ssl=self._tls)
        self.port = server.sockets[0].getsockname()[1]
        try:
            yield self
        finally:
            server.close()
            for task in self._tasks:
                task.cancel()
            await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _take(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.append(task)
        with contextlib.suppress(asyncio.CancelledError, ConnectionError):
            await self._serve(reader, writer)
        writer.transport.abort()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        with contextlib.suppress(ConnectionError, asyncio.IncompleteReadError):
            for answer in self._answers:
                head = (await reader.readuntil(b"\r\n\r\n")).decode()
                self.heads.append(head)
                for line in head.lower().splitlines():
                    if line.startswith("content-length:"):
                        await reader.readexactly(int(line.split(":")[1]))
                if answer is None:
                    break
                writer.write(answer)
                await writer.drain()
            else:
                await reader.read()
        writer.close()
        await writer.wait_closed()


@contextlib.asynccontextmanager
async def asking(*, proxy: str | None = None, ca_file: str | None = None) -> AsyncGenerator[HttpClient]:
    ours = HttpClient(headers={"User-Agent": "test"}, proxy=proxy, ca_file=ca_file)
    try:
        yield ours
    finally:
        await ours.close()


async def send(ours: HttpClient, url: str, body: bytes | None = b"{}", **more: float) -> Response:
    return await ours.send("POST", url, body, timeout_s=more.get("timeout_s", 5), connect_s=more.get("connect_s", 2))


async def answers(server: Server, times: int = 1) -> list[bytes]:
    """The bodies of that many questions, one after the other."""
    async with server.running(), asking() as ours:
        bodies: list[bytes] = []
        for _ in range(times):
            response = await send(ours, server.url + "/v1/ask")
            bodies.append(await response.read())
            response.release()
    return bodies


def whole(body: bytes, *headers: str) -> bytes:
    lines = "".join(f"{header}\r\n" for header in headers)
    return f"HTTP/1.1 200 OK\r\n{lines}Content-Length: {len(body)}\r\n\r\n".encode() + body


def failure(server: Server) -> HttpError:
    with pytest.raises(HttpError) as caught:
        asyncio.run(answers(server))
    return caught.value


@pytest.mark.parametrize(
    "answer",
    [
        whole(b"hello"),
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nhel\r\n2;x=y\r\nlo\r\n0\r\nTrailer: 1\r\n\r\n",
        b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n" + whole(b"hello"),
        whole(gzip.compress(b"hello"), "Content-Encoding: gzip"),
        whole(zlib.compress(b"hello"), "Content-Encoding: deflate"),
        b"HTTP/1.1 200 OK\r\ncontent-length:5\r\nX-A: 1\r\nX-A: 2\r\n\r\nhello",
    ],
    ids=["length", "chunked", "early hints", "gzip", "deflate", "odd spelling"],
)
def test_every_form_of_a_body_is_read_and_the_connection_is_used_again(answer: bytes) -> None:
    server = Server(answer, answer, answer)
    assert asyncio.run(answers(server, 3)) == [b"hello"] * 3
    assert server.connections == 1


def test_a_body_may_end_with_the_connection_which_is_not_used_again() -> None:
    class Closing(Server):
        async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            self.connections += 1
            await reader.readuntil(b"{}")
            writer.write(b"HTTP/1.0 200 OK\r\n\r\nhel")
            await writer.drain()
            await asyncio.sleep(0.02)
            writer.write(b"lo")
            writer.close()

    server = Closing()
    assert asyncio.run(answers(server, 2)) == [b"hello"] * 2
    assert server.connections == 2


def test_what_a_server_wants_to_close_is_not_used_again() -> None:
    server = Server(whole(b"a", "Connection: close"))
    assert asyncio.run(answers(server, 2)) == [b"a", b"a"]
    assert server.connections == 2


def test_what_comes_behind_an_answer_belongs_to_nobody() -> None:
    server = Server(whole(b"mine") + whole(b"somebody else's"))
    assert asyncio.run(answers(server, 2)) == [b"mine", b"mine"]
    assert server.connections == 2


def test_headers_are_found_by_their_lower_case_names_and_repeated_ones_are_joined() -> None:
    async def ask() -> dict[str, str]:
        async with Server(whole(b"", "X-Request-ID: r-1", "Vary: a", "vary: b")).running() as server, asking() as ours:
            response = await send(ours, server.url)
            return response.headers

    headers = asyncio.run(ask())
    assert (headers["x-request-id"], headers["vary"]) == ("r-1", "a, b")


def test_a_request_has_one_host_and_the_length_of_its_body() -> None:
    async def ask() -> list[str]:
        async with Server(whole(b""), whole(b""), whole(b"")).running() as server, asking() as ours:
            for method, body in (("POST", b"{}"), ("POST", None), ("GET", None)):
                response = await ours.send(method, f"{server.url}/ä b?q=%C3%A4 ö", body, timeout_s=5, connect_s=2)
                await response.read()
                response.release()
            return [head.replace(str(server.port), "PORT") for head in server.heads]

    target, same = "/%C3%A4%20b?q=%C3%A4%20%C3%B6", "Host: 127.0.0.1:PORT\r\nUser-Agent: test\r\n"
    assert asyncio.run(ask()) == [
        f"POST {target} HTTP/1.1\r\n{same}Content-Length: 2\r\n\r\n",
        f"POST {target} HTTP/1.1\r\n{same}Content-Length: 0\r\n\r\n",
        f"GET {target} HTTP/1.1\r\n{same}\r\n",
    ]


def test_an_answer_to_head_has_no_body_whatever_its_length_says() -> None:
    async def ask() -> bytes:
        async with Server(b"HTTP/1.1 200 OK\r\nContent-Length: 7\r\n\r\n").running() as server, asking() as ours:
            response = await ours.send("HEAD", server.url, None, timeout_s=5, connect_s=2)
            body = await response.read()
            response.release()
            return body

    assert asyncio.run(ask()) == b""


@pytest.mark.parametrize(
    ("answer", "failing", "says"),
    [
        (None, Failing.DROPPED, "closed"),
        (b"SSH-2.0-OpenSSH_9\r\n\r\n", Failing.BROKEN_OFF, "no valid HTTP"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\n", Failing.BROKEN_OFF, "no valid HTTP"),
        (b"HTTP/1.1 101 Switching\r\nConnection: upgrade\r\nUpgrade: h2c\r\n\r\n", Failing.BROKEN_OFF, "another protocol"),
        (whole(b"x", "Content-Encoding: br"), Failing.BROKEN_OFF, "encoded as br"),
        (whole(b"no gzip", "Content-Encoding: gzip"), Failing.BROKEN_OFF, "cannot be undone"),
        (whole(gzip.compress(b"x" * 999)[:-9], "Content-Encoding: gzip"), Failing.BROKEN_OFF, "cut off"),
        (b"HTTP/1.1 200 OK\r\n" + b"X: " + b"y" * 2_000_000 + b"\r\n\r\n", Failing.BROKEN_OFF, "headers are larger"),
    ],
    ids=["closed", "another protocol", "odd length", "upgrade", "brotli", "no gzip", "cut gzip", "huge head"],
)  # fmt: skip
def test_what_is_no_answer_says_where_it_failed(answer: bytes | None, failing: Failing, says: str) -> None:
    error = failure(Server(answer))
    assert error.failing is failing
    assert says in str(error)


def test_an_answer_that_ends_too_early_is_no_answer() -> None:
    class Cutting(Server):
        async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await reader.readuntil(b"{}")
            writer.write(whole(b"hello")[:-2])
            writer.close()

    error = failure(Cutting())
    assert error.failing is Failing.BROKEN_OFF


def test_a_small_body_that_unfolds_without_end_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http_connection, "LARGEST_BODY_BYTES", 100_000)
    packed = gzip.compress(b"\0" * 100_001)
    with pytest.raises(ValueError, match="a body of more than"):
        asyncio.run(answers(Server(whole(packed, "Content-Encoding: gzip"))))


def test_a_body_that_nobody_reads_is_not_taken_into_memory() -> None:
    async def ask() -> tuple[int, int]:
        async with Server(whole(b"x" * 30_000_000)).running() as server, asking() as ours:
            response = await send(ours, server.url)
            await asyncio.sleep(0.3)
            waiting = response.size
            size = sum([len(piece) async for piece in response.pieces()])
            return waiting, size

    waiting, size = asyncio.run(ask())
    assert waiting < 3_000_000
    assert size == 30_000_000


def test_time_is_up_for_the_head_and_for_the_body_alike() -> None:
    for answer in (b"", whole(b"hello")[:-2]):
        with pytest.raises(TimeoutError):
            asyncio.run(_answer_within(Server(answer), 0.1))


async def _answer_within(server: Server, timeout_s: float) -> bytes:
    async with server.running(), asking() as ours:
        return await (await send(ours, server.url, timeout_s=timeout_s)).read()


def test_a_question_that_is_cancelled_takes_its_connection_along() -> None:
    async def ask() -> int:
        async with Server(b"", whole(b"late")).running() as server, asking() as ours:
            first = asyncio.create_task(send(ours, server.url))
            await asyncio.sleep(0.05)
            first.cancel()
            await asyncio.gather(first, return_exceptions=True)
            other = asyncio.create_task(send(ours, server.url))
            await asyncio.sleep(0.05)
            other.cancel()
            await asyncio.gather(other, return_exceptions=True)
            return server.connections

    assert asyncio.run(ask()) == 2


def test_a_connection_that_was_idle_for_long_is_not_used_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http_client, "KEPT_S", 0.0)
    server = Server(whole(b"a"), whole(b"b"))
    assert asyncio.run(answers(server, 2)) == [b"a", b"a"]
    assert server.connections == 2


def test_an_address_where_nobody_listens_is_passed_over_for_the_next(monkeypatch: pytest.MonkeyPatch) -> None:
    async def ask() -> bytes:
        async with Server(whole(b"here")).running() as server, asking() as ours:

            async def two(*_: object, **__: object) -> list[tuple[object, ...]]:
                return [(10, 1, 6, "", ("::1", server.port, 0, 0)), (2, 1, 6, "", ("127.0.0.1", server.port))]

            monkeypatch.setattr(asyncio.get_running_loop(), "getaddrinfo", two)
            return await (await send(ours, f"http://somewhere.test:{server.port}")).read()

    assert asyncio.run(ask()) == b"here"


def test_behind_a_fence_a_name_is_judged_by_every_address_it_leads_to(monkeypatch: pytest.MonkeyPatch) -> None:
    async def ask(fence: AddressFence) -> bytes:
        async with Server(whole(b"inner")).running() as server:

            async def rebound(*_: object, **__: object) -> list[tuple[object, ...]]:
                return [(2, 1, 6, "", (address, server.port)) for address in ("127.0.0.1", "93.184.215.14")]

            monkeypatch.setattr(asyncio.get_running_loop(), "getaddrinfo", rebound)
            ours = HttpClient(headers={}, fence=fence)
            try:
                return await (await send(ours, f"http://public.example:{server.port}")).read()
            finally:
                await ours.close()
                assert server.connections == (1 if fence.allow_hosts else 0)

    with pytest.raises(ProviderError, match=r"public\.example leads to 127\.0\.0\.1") as caught:
        asyncio.run(ask(AddressFence()))
    assert not caught.value.may_retry
    assert asyncio.run(ask(AddressFence(allow_hosts=frozenset({"public.example"})))) == b"inner"


@pytest.mark.parametrize("url", ["http://127.0.0.1:9", "http://no-such-host.invalid"])
def test_where_nobody_is_says_so(url: str) -> None:
    async def ask() -> None:
        async with asking() as ours:
            await send(ours, url)

    with pytest.raises(HttpError) as caught:
        asyncio.run(ask())
    assert caught.value.failing is Failing.UNREACHABLE


def test_a_header_cannot_bring_another_along() -> None:
    with pytest.raises(ValueError, match="line break"):
        HttpClient(headers={"X-Key": "a\r\nX-Other: b"})


class Proxy(Server):
    """Lets a CONNECT through to where it points; answers anything else itself."""

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        self.heads.append(head)
        if not head.startswith("CONNECT"):
            writer.write(self._answers[0] or b"")
            return
        if self._answers:
            writer.write(self._answers[0] or b"")
            writer.close()
            return
        host, port = head.split()[1].split(":")
        far_reader, far_writer = await asyncio.open_connection(host, int(port))
        writer.write(b"HTTP/1.1 200 Connection established\r\n\r\n")
        await asyncio.gather(_pass(reader, far_writer), _pass(far_reader, writer))


async def _pass(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    try:
        with contextlib.suppress(ConnectionError):
            while data := await reader.read(65536):
                writer.write(data)
    finally:
        writer.transport.abort()


def test_a_proxy_is_told_the_whole_address_and_its_own_password() -> None:
    async def ask() -> str:
        async with Proxy(whole(b"from the proxy")).running() as proxy:
            async with asking(proxy=f"http://us%40er:pass@127.0.0.1:{proxy.port}") as ours:
                response = await send(ours, "http://model.test/v1")
                assert await response.read() == b"from the proxy"
            return proxy.heads[0]

    head = asyncio.run(ask())
    assert head.startswith("POST http://model.test/v1 HTTP/1.1\r\nHost: model.test\r\n")
    assert "Proxy-Authorization: Basic dXNAZXI6cGFzcw==\r\n" in head


def test_a_proxy_that_refuses_is_named() -> None:
    async def ask() -> None:
        refusing = Proxy(b"HTTP/1.1 407 Proxy Authentication Required\r\n\r\n")
        async with refusing.running(), asking(proxy=f"http://127.0.0.1:{refusing.port}") as ours:
            await send(ours, "https://model.test/v1")

    with pytest.raises(HttpError, match="the proxy answered 407") as caught:
        asyncio.run(ask())
    assert caught.value.failing is Failing.UNREACHABLE


@pytest.fixture
def certificate(tmp_path: Path) -> tuple[Path, ssl.SSLContext]:
    """A certificate for 127.0.0.1 that signs itself, and a server's context with it."""
    program = shutil.which("openssl")
    if program is None:
        pytest.skip("needs openssl")
    path, key = tmp_path / "here.pem", tmp_path / "key.pem"
    subprocess.run(
        [program, "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2", "-subj", "/CN=127.0.0.1",
         "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", key, "-out", path],
        check=True, capture_output=True,
    )  # fmt: skip
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(path, key)
    return path, context


def test_tls_is_spoken_with_whom_the_certificates_name(certificate: tuple[Path, ssl.SSLContext]) -> None:
    path, context = certificate

    async def ask() -> list[bytes]:
        async with (
            Server(whole(b"safe"), whole(b"still"), tls=context).running() as server,
            asking(ca_file=str(path)) as ours,
        ):
            bodies: list[bytes] = []
            for _ in range(2):
                response = await send(ours, server.url)
                bodies.append(await response.read())
                response.release()
            assert server.connections == 1
            return bodies

    assert asyncio.run(ask()) == [b"safe", b"still"]


def test_a_certificate_that_nobody_vouches_for_is_not_trusted(certificate: tuple[Path, ssl.SSLContext]) -> None:
    _, context = certificate

    async def ask() -> None:
        async with Server(whole(b"trap"), tls=context).running() as server, asking() as ours:
            await send(ours, server.url)

    with pytest.raises(HttpError) as caught:
        asyncio.run(ask())
    assert caught.value.failing is Failing.UNTRUSTED


def test_tls_goes_through_a_proxy_that_sees_nothing_of_it(certificate: tuple[Path, ssl.SSLContext]) -> None:
    path, context = certificate

    async def ask() -> tuple[list[bytes], list[str]]:
        async with Server(whole(b"one"), whole(b"two"), tls=context).running() as server, Proxy().running() as proxy:
            bodies: list[bytes] = []
            async with asking(ca_file=str(path), proxy=f"http://127.0.0.1:{proxy.port}") as ours:
                for _ in range(2):
                    response = await send(ours, f"{server.url}/v1")
                    bodies.append(await response.read())
                    response.release()
            return bodies, [head.replace(str(server.port), "PORT") for head in proxy.heads]

    bodies, heads = asyncio.run(ask())
    assert bodies == [b"one", b"two"]
    assert heads == ["CONNECT 127.0.0.1:PORT HTTP/1.1\r\nHost: 127.0.0.1:PORT\r\n\r\n"]
