"""The proxy lets through what is allowed, connects to what it has judged, passes on one request, and writes everything down."""

import asyncio
import ipaddress
import socket
import time
from collections.abc import Awaitable, Callable, Sequence

import msgspec
import pytest

from evalsi.core.address_fence import IpAddress
from evalsi.infra.sandbox.egress import Allowlist, EgressOptions, EgressProxy
from evalsi.ports.sandbox import EgressEvent

LOOPBACK = (ipaddress.ip_network("127.0.0.0/8"),)


class StreamClient:
    """A program at one end of a pair of sockets, as the proxy sees it."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader, self._writer = reader, writer

    async def read(self) -> bytes:
        return await self._reader.read(1 << 15)

    async def write(self, data: bytes) -> None:
        self._writer.write(data)
        await self._writer.drain()

    async def end(self) -> None:
        self._writer.write_eof()


class Upstream:
    """A server that keeps what it was told and answers with `answer` once it has heard enough."""

    def __init__(self, answer: bytes = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok") -> None:
        self.answer = answer
        self.heard: list[bytes] = []
        self.port = 0

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.heard.append(b"")
        place = len(self.heard) - 1
        try:
            async with asyncio.timeout(0.2):
                while data := await reader.read(1 << 16):
                    self.heard[place] += data
        except TimeoutError:
            pass
        writer.write(self.answer)
        writer.close()


def leading_to(*addresses: str) -> Callable[[str, int], Awaitable[Sequence[IpAddress]]]:
    async def resolve(_host: str, _port: int) -> Sequence[IpAddress]:
        return [ipaddress.ip_address(each) for each in addresses]

    return resolve


def talk(
    asked: bytes,
    *,
    upstream: Upstream | None = None,
    allow: tuple[str, ...] = ("good.test:{port}",),
    options: EgressOptions | None = None,
    ends: bool = True,
) -> tuple[bytes, list[EgressEvent], Upstream]:
    """What a program that says `asked` is told, what was written down, and the server there was. {port} is the server's."""
    server = upstream or Upstream()
    chosen = options or EgressOptions(networks=LOOPBACK, resolve=leading_to("127.0.0.1"), head_s=2.0, idle_s=2.0)

    async def main() -> tuple[bytes, list[EgressEvent]]:
        listening = await asyncio.start_server(server.serve, "127.0.0.1", 0)
        server.port = listening.sockets[0].getsockname()[1]
        port = str(server.port)
        proxy = EgressProxy(Allowlist.of(each.replace("{port}", port) for each in allow), chosen)
        ours, theirs = socket.socketpair()
        reader, writer = await asyncio.open_unix_connection(sock=theirs)
        program, saying = await asyncio.open_unix_connection(sock=ours)
        serving = asyncio.ensure_future(proxy.serve(StreamClient(reader, writer)))
        saying.write(asked.replace(b"{port}", port.encode()))
        if ends:
            saying.write_eof()
        await serving
        writer.close()
        told = await program.read()
        saying.close()
        listening.close()
        await listening.wait_closed()
        return told, proxy.events

    told, events = asyncio.run(main())
    return told, events, server


def status(told: bytes) -> int:
    return int(told.split(b" ", 2)[1])


def test_a_request_by_its_whole_address_is_passed_on_and_written_down() -> None:
    before = time.time()
    told, (event,), server = talk(b"GET http://good.test:{port}/a?b HTTP/1.1\r\nX: y\r\n\r\n")
    assert told == server.answer
    port = server.port
    assert server.heard == [
        f"GET /a?b HTTP/1.1\r\nHost: good.test:{port}\r\nConnection: close\r\nx: y\r\n\r\n".encode()
    ]
    assert before <= event.time_s <= time.time()
    assert msgspec.structs.replace(event, time_s=0) == EgressEvent(
        time_s=0, host="good.test", port=port, allowed=True, address="127.0.0.1", bytes_received=len(server.answer)
    )


def test_connect_carries_whatever_is_said_both_ways() -> None:
    told, (event,), server = talk(
        b"CONNECT good.test:{port} HTTP/1.1\r\n\r\n\x16\x03\x01 hello", upstream=Upstream(b"\0\1\2")
    )
    assert told == b"HTTP/1.1 200 Connection established\r\n\r\n\0\1\2"
    assert server.heard == [b"\x16\x03\x01 hello"]
    assert (event.allowed, event.bytes_sent, event.bytes_received) == (True, 9, 3)


@pytest.mark.parametrize(
    "asked",
    [
        b"GET http://evil.test:{port}/ HTTP/1.1\r\n\r\n",
        b"GET http://good.test/ HTTP/1.1\r\n\r\n",
        b"CONNECT good.test:22 HTTP/1.1\r\n\r\n",
        b"CONNECT good.test.evil.test:{port} HTTP/1.1\r\n\r\n",
        b"CONNECT 127.0.0.1:{port} HTTP/1.1\r\n\r\n",
        b"CONNECT 2130706433:{port} HTTP/1.1\r\n\r\n",
        b"CONNECT 0x7f.1:{port} HTTP/1.1\r\n\r\n",
        b"CONNECT [::1]:{port} HTTP/1.1\r\n\r\n",
        b"CONNECT [::ffff:127.0.0.1]:{port} HTTP/1.1\r\n\r\n",
        b"CONNECT localhost:{port} HTTP/1.1\r\n\r\n",
        b"GET http://good.test%2eevil.test:{port}/ HTTP/1.1\r\n\r\n",
        b"GET http://evil.test:{port}/ HTTP/1.1\r\nHost: good.test\r\n\r\n",
    ],
)
def test_what_is_not_among_the_allowed_is_refused_and_never_connected_to(asked: bytes) -> None:
    told, (event,), server = talk(asked)
    assert status(told) == 403
    assert server.heard == []
    assert not event.allowed
    assert event.reason


@pytest.mark.parametrize(
    "address",
    [
        "127.0.0.1", "127.8.8.8", "0.0.0.0", "10.0.0.1", "172.16.0.1", "192.168.1.1", "169.254.169.254", "100.100.100.200", "224.0.0.1",
        "::1", "::", "fe80::1", "fd00:ec2::254", "ff02::1", "::ffff:127.0.0.1", "::ffff:169.254.169.254", "64:ff9b::a9fe:a9fe",
        "2002:7f00:1::",
    ],
)  # fmt: skip
def test_a_name_that_leads_to_what_is_not_public_is_refused(address: str) -> None:
    told, (event,), server = talk(
        b"CONNECT good.test:{port} HTTP/1.1\r\n\r\n", options=EgressOptions(resolve=leading_to(address))
    )
    assert status(told) == 403
    assert str(ipaddress.ip_address(address)) in event.reason
    assert (event.allowed, event.address, server.heard) == (False, "", [])


def test_one_address_that_is_not_public_among_others_refuses_the_name() -> None:
    told, _, _ = talk(
        b"CONNECT good.test:{port} HTTP/1.1\r\n\r\n",
        options=EgressOptions(resolve=leading_to("93.184.216.34", "10.0.0.1")),
    )
    assert status(told) == 403


def test_a_name_that_changes_its_mind_is_judged_by_the_address_that_is_connected_to() -> None:
    answers = iter([["127.0.0.1"], ["169.254.169.254"], ["169.254.169.254"]])
    asked: list[str] = []

    async def resolve(host: str, _port: int) -> Sequence[IpAddress]:
        asked.append(host)
        return [ipaddress.ip_address(each) for each in next(answers)]

    told, (event,), _ = talk(
        b"GET http://good.test:{port}/ HTTP/1.1\r\n\r\n", options=EgressOptions(networks=LOOPBACK, resolve=resolve)
    )
    assert status(told) == 200
    assert asked == ["good.test"]
    assert event.address == "127.0.0.1"


def test_a_redirect_is_the_programs_to_follow_and_asked_for_anew() -> None:
    elsewhere = b"HTTP/1.1 302 Found\r\nLocation: http://169.254.169.254/latest\r\nContent-Length: 0\r\n\r\n"
    told, events, server = talk(b"GET http://good.test:{port}/ HTTP/1.1\r\n\r\n", upstream=Upstream(elsewhere))
    assert told == elsewhere
    assert len(events) == len(server.heard) == 1


SECOND = b"GET /admin HTTP/1.1\r\nHost: evil.test\r\n\r\n"


@pytest.mark.parametrize(
    ("asked", "passed_on"),
    [
        (b"GET http://good.test:{port}/ HTTP/1.1\r\n\r\n" + SECOND, b""),
        (b"POST http://good.test:{port}/ HTTP/1.1\r\nContent-Length: 3\r\n\r\nabc" + SECOND, b"abc"),
        (
            b"POST http://good.test:{port}/ HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n3;x=y\r\nabc\r\n0\r\n\r\n" + SECOND,
            None,
        ),
        (b"POST http://good.test:{port}/ HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\nT: x\r\n\r\n" + SECOND, b"3\r\nabc\r\n0\r\n\r\n"),
    ],
)  # fmt: skip
def test_nothing_but_the_one_request_is_passed_on(asked: bytes, passed_on: bytes | None) -> None:
    told, (event,), server = talk(asked)
    (heard,) = server.heard
    assert b"admin" not in heard
    assert b"evil" not in heard
    if passed_on is None:
        assert "does not say its length" in event.reason
    else:
        assert heard.partition(b"\r\n\r\n")[2] == passed_on
        assert status(told) == 200


@pytest.mark.parametrize(
    "body", [b"zz\r\nabc", b"3\r\nabcd\r\n0\r\n\r\n", b"-1\r\n", b"3\nabc", b"123456789\r\n", b"3\r\nabc", b"5" * 5000]
)
def test_a_body_that_lies_about_itself_ends_the_connection(body: bytes) -> None:
    told, (event,), server = talk(
        b"POST http://good.test:{port}/ HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n" + body, upstream=Upstream(b"")
    )
    assert event.reason
    assert status(told) == 400
    assert all(b"0\r\n\r\n" not in heard for heard in server.heard)


@pytest.mark.parametrize("asked", [b"X" * 40000, b"GET http://good.test:{port}/ HTTP/1.1\r\n" + b"A: b\r\n" * 10000])
def test_a_head_without_end_is_cut_off(asked: bytes) -> None:
    told, (event,), server = talk(asked, ends=False)
    assert status(told) == 431
    assert "too long" in event.reason
    assert server.heard == []


def test_a_program_that_says_little_for_long_is_told_so() -> None:
    options = EgressOptions(networks=LOOPBACK, resolve=leading_to("127.0.0.1"), head_s=0.2)
    began = time.monotonic()
    told, (event,), _ = talk(b"GET http://good.test", options=options, ends=False)
    assert status(told) == 408
    assert "in time" in event.reason
    assert time.monotonic() - began < 8


def test_a_connection_that_carries_nothing_is_ended() -> None:
    options = EgressOptions(networks=LOOPBACK, resolve=leading_to("127.0.0.1"), idle_s=0.1)
    slow = Upstream(b"HTTP/1.1 200 OK\r\n\r\n")
    _, (event,), _ = talk(b"CONNECT good.test:{port} HTTP/1.1\r\n\r\n", upstream=slow, options=options, ends=False)
    assert event.allowed
    assert event.reason == "nothing was carried for too long"


@pytest.mark.parametrize(
    "asked", [b"", b"\r\n\r\n", b"GET http://good.test:{port}/ HTTP/1.1\r\n", b"\x05\x01\x00", b"\xff" * 100]
)
def test_what_is_no_request_is_written_down_too(asked: bytes) -> None:
    _, (event,), server = talk(asked)
    assert (event.host, event.allowed, server.heard) == ("", False, [])
    assert event.reason


def test_what_cannot_be_reached_or_found_is_the_proxys_to_say() -> None:
    async def nowhere(host: str, _port: int) -> Sequence[IpAddress]:
        raise socket.gaierror(socket.EAI_NONAME, f"{host} is unknown")

    closed = EgressOptions(networks=LOOPBACK, resolve=leading_to("127.0.0.1"))
    told, (event,), _ = talk(b"CONNECT good.test:1 HTTP/1.1\r\n\r\n", allow=("good.test:1",), options=closed)
    assert status(told) == 502
    assert not event.allowed
    told, (event,), _ = talk(b"CONNECT good.test:{port} HTTP/1.1\r\n\r\n", options=EgressOptions(resolve=nowhere))
    assert status(told) == 502
    assert "unknown" in event.reason


def test_what_can_no_longer_be_written_down_no_longer_happens() -> None:
    class Silent:
        async def read(self) -> bytes:
            return b""

        async def write(self, data: bytes) -> None:
            raise AssertionError(data)

        async def end(self) -> None:
            raise AssertionError

    async def main() -> EgressProxy:
        proxy = EgressProxy(Allowlist.of(("good.test",)), EgressOptions())
        for _ in range(1100):
            await proxy.serve(Silent())
        return proxy

    assert len(asyncio.run(main()).events) == 1000
