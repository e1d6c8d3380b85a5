"""What a fence does where connections are made: names that lead inside, answers that change, redirects. Case M01."""

import asyncio
import http.server
import ipaddress
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from evalsi.core.address_fence import AddressFence
from evalsi.core.errors import InvalidSpecError, ProviderError
from evalsi.infra.models.endpoint import Access, Endpoint
from evalsi.infra.models.retries import RetryPolicy
from evalsi.schema import ErrorKind

HERE = AddressFence(allow_networks=(ipaddress.ip_network("127.0.0.1/32"),))


@contextmanager
def a_server(location: str = "") -> Iterator[tuple[int, list[str]]]:
    """A server that answers an empty object, or a redirect; its port and the paths that were asked for."""
    asked: list[str] = []

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            asked.append(self.path)
            self.rfile.read(int(self.headers["Content-Length"]))
            self.send_response(307 if location else 200)
            if location:
                self.send_header("Location", location)
            self.send_header("Content-Length", "2")
            self.end_headers()
            self.wfile.write(b"{}")

        def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield server.server_address[1], asked
        finally:
            server.shutdown()
            thread.join()


def ask(base_url: str, fence: AddressFence | None) -> dict[str, Any]:
    async def asking() -> dict[str, Any]:
        access = Access(base_url=base_url, fence=fence, retries=RetryPolicy(attempts=2, attempt_s=5, deadline_s=5))
        endpoint = Endpoint(access, provider="test", path="/ask", headers={})
        try:
            return (await endpoint.post("model", b"{}", tokens=1)).body
        finally:
            await endpoint.close()

    return asyncio.run(asking())


def names_lead_to(monkeypatch: pytest.MonkeyPatch, *answers: str) -> list[str]:
    """Every name leads to the first of `answers`, asked again to the second, and so on; the names that were asked for."""
    left = list(answers)
    looked_up: list[str] = []

    def getaddrinfo(host: str, port: int, *_: Any, **__: Any) -> list[Any]:
        looked_up.append(host)
        address = left.pop(0) if len(left) > 1 else left[0]
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, port))]

    monkeypatch.setattr(socket, "getaddrinfo", getaddrinfo)
    return looked_up


def test_a_name_that_leads_inside_is_refused_and_nothing_is_called(monkeypatch: pytest.MonkeyPatch) -> None:
    with a_server() as (port, asked):
        names_lead_to(monkeypatch, "127.0.0.1")
        assert ask(f"http://name.example:{port}", None) == {}
        del asked[:]
        with pytest.raises(ProviderError, match=r"name\.example leads to 127\.0\.0\.1") as refusal:
            ask(f"http://name.example:{port}", AddressFence())
    assert asked == []
    assert refusal.value.kind is ErrorKind.PROVIDER_REJECTED


def test_the_address_that_was_checked_is_the_one_connected_to(monkeypatch: pytest.MonkeyPatch) -> None:
    """A name that is public when it is checked and local when it is used gains nothing: it is looked up once."""
    with a_server() as (port, asked):
        looked_up = names_lead_to(monkeypatch, "127.0.0.1", "10.0.0.1")
        assert ask(f"http://name.example:{port}", HERE) == {}
    assert asked == ["/ask"]
    assert looked_up == ["name.example"]


def test_one_bad_address_among_good_ones_refuses_the_name(monkeypatch: pytest.MonkeyPatch) -> None:
    def getaddrinfo(_: str, port: int, *__: Any, **___: Any) -> list[Any]:
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (host, port)) for host in ("93.184.216.34", "10.0.0.1")]

    monkeypatch.setattr(socket, "getaddrinfo", getaddrinfo)
    with pytest.raises(ProviderError, match=r"10\.0\.0\.1"):
        ask("http://name.example:1", AddressFence())


def test_a_redirect_is_not_followed_wherever_it_leads() -> None:
    with a_server() as (inside, asked), a_server(f"http://127.0.0.1:{inside}/stolen") as (port, asked_first):
        with pytest.raises(ProviderError):
            ask(f"http://127.0.0.1:{port}", HERE)
        assert asked_first == ["/ask"]
        assert asked == []


@pytest.mark.parametrize("host", ["127.0.0.1", "2130706433", "0x7f.1", "[::1]", "localhost"])
def test_an_address_that_is_seen_to_lead_inside_is_refused_before_anything_starts(host: str) -> None:
    with pytest.raises(InvalidSpecError) as refusal:
        Access(base_url=f"http://{host}:9/v1", fence=AddressFence())
    assert refusal.value.where == "base_url"
