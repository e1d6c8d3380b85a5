"""The head of a request to a proxy has one reading or none."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalsi.infra.sandbox.egress.http_head import Head, HeadError, read_head


def test_connect_names_a_host_and_a_port() -> None:
    assert read_head(b"CONNECT a.org:443 HTTP/1.1\r\nHost: b.org") == Head(
        is_connect=True, host="a.org", port=443, passed_on=b""
    )
    assert read_head(b"CONNECT [::1]:8443 HTTP/1.1").host == "[::1]"


def test_what_is_passed_on_names_the_host_of_the_address_and_nothing_between_neighbours() -> None:
    head = read_head(
        b"POST http://a.org:8080/x?y=1 HTTP/1.0\r\nHost: evil.org\r\nConnection: close, X-Hop\r\nX-Hop: 1\r\nX-Kept:  2 \r\n"
        b"Proxy-Authorization: Basic c2VjcmV0\r\nUpgrade: h2c\r\nContent-Length: 3"
    )
    assert (head.host, head.port, head.length) == ("a.org", 8080, 3)
    assert head.passed_on == (
        b"POST /x?y=1 HTTP/1.1\r\nHost: a.org:8080\r\nConnection: close\r\nx-kept: 2\r\nContent-Length: 3\r\n\r\n"
    )
    chunked = read_head(b"PUT http://a.org HTTP/1.1\r\nTransfer-Encoding: Chunked")
    assert chunked.length is None
    assert b"PUT / HTTP/1.1\r\n" in chunked.passed_on
    assert chunked.passed_on.endswith(b"Transfer-Encoding: chunked\r\n\r\n")


@pytest.mark.parametrize(
    "head",
    [
        b"", b"GET", b"GET / HTTP/1.1", b"GET https://a.org/ HTTP/1.1", b"GET ftp://a.org/ HTTP/1.1", b"GET //a.org/ HTTP/1.1",
        b"GET http:///x HTTP/1.1", b"GET http://u:p@a.org/ HTTP/1.1", b"GET http://a.org/#x HTTP/1.1", b"GET http://a.org/ HTTP/2.0",
        b"GET  http://a.org/ HTTP/1.1", b"GET\thttp://a.org/ HTTP/1.1", b"GET http://a.org/ HTTP/1.1 x", b"G\xc4T http://a.org/ HTTP/1.1",
        b"GET http://a.org:99999/ HTTP/1.1", b"GET http://a.org:/ HTTP/1.1", b"CONNECT a.org HTTP/1.1", b"CONNECT :443 HTTP/1.1",
        b"CONNECT a.org:x HTTP/1.1", b"CONNECT a.org:0 HTTP/1.1", b"CONNECT a.org:443 HTTP/1.1\r\nContent-Length: 5",
        b"GET http://a.org/ HTTP/1.1\r\n Folded: x", b"GET http://a.org/ HTTP/1.1\r\nA : x", b"GET http://a.org/ HTTP/1.1\r\nA",
        b"GET http://a.org/ HTTP/1.1\r\nA: x\nB: y", b"GET http://a.org/ HTTP/1.1\r\nA: x\rB: y", b"GET http://a.org/ HTTP/1.1\r\nA: \0",
        b"GET http://a.org/ HTTP/1.1\r\nHost: a\r\nHost: b",
        b"POST http://a.org/ HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 1",
        b"POST http://a.org/ HTTP/1.1\r\nContent-Length: 1\r\nTransfer-Encoding: chunked",
        b"POST http://a.org/ HTTP/1.1\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: identity",
        b"POST http://a.org/ HTTP/1.1\r\nTransfer-Encoding: gzip, chunked", b"POST http://a.org/ HTTP/1.1\r\nTransfer-Encoding: xchunked",
        b"POST http://a.org/ HTTP/1.1\r\nContent-Length: +1", b"POST http://a.org/ HTTP/1.1\r\nContent-Length: 0x1",
        b"POST http://a.org/ HTTP/1.1\r\nContent-Length: 1, 1", b"POST http://a.org/ HTTP/1.1\r\nContent-Length: -1",
    ],
)  # fmt: skip
def test_what_could_be_read_in_two_ways_is_refused(head: bytes) -> None:
    with pytest.raises(HeadError):
        read_head(head)


@given(st.binary(max_size=200))
def test_whatever_comes_is_read_or_refused(data: bytes) -> None:
    for head in (data, b"GET http://a.org/ HTTP/1.1\r\n" + data, b"CONNECT " + data + b" HTTP/1.1"):
        try:
            found = read_head(head)
        except HeadError:
            continue
        assert 0 < found.port < 65536
        assert found.passed_on.count(b"\r\n\r\n") <= 1
