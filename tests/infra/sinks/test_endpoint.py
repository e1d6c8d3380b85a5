"""What an answer of a sink means, and that no secret is in what is said about it."""

import asyncio
from collections.abc import Mapping

import msgspec
import pytest

from evalsi.core.address_fence import AddressFence
from evalsi.core.errors import UsageError
from evalsi.infra.sinks.endpoint import LARGEST_ANSWER_BYTES, SinkAnswer, SinkEndpoint
from evalsi.ports.score_sink import TAKEN
from tests.infra.sinks.told_scores import endpoint
from tests.watch.webhook_receiver import Answer, receiver

SECRET = "s3cret-for-tests"


def asked(made: SinkEndpoint) -> SinkAnswer:
    async def ask() -> SinkAnswer:
        try:
            return await made.ask("POST", "/x", b"{}")
        finally:
            await made.close()

    return asyncio.run(ask())


@pytest.mark.parametrize(
    ("status", "state"),
    [
        *((status, "taken") for status in (200, 202, 207)),
        *((status, "refused") for status in (400, 413, 415, 422)),
        *((status, "trouble") for status in (302, 401, 403, 404, 408, 429, 500, 503)),
    ],
)
def test_an_answer_says_whether_to_try_again(status: int, state: str) -> None:
    with receiver() as heard:
        heard.answer = lambda _: Answer(status, {"Retry-After": "7"}, SECRET.encode())
        found = asked(endpoint(heard.url)).receipt
    assert found.state == state
    assert found.after_s == (7.0 if state == "trouble" else None)
    assert SECRET not in found.error
    assert len(heard.heard) == 1


@pytest.mark.parametrize(
    "page", [b"<!doctype html><title>Sign in</title>", b"\n <html></html>", b"<?xml version='1.0'?>"]
)
def test_a_web_page_takes_nothing_whatever_its_status(page: bytes) -> None:
    with receiver() as heard:
        heard.answer = lambda _: Answer(200, {"Content-Type": "text/html"}, page)
        found = asked(endpoint(heard.url)).receipt
        own = asked(
            SinkEndpoint(url=heard.url, fence=AddressFence(allow_urls=frozenset({heard.url})), may_answer_pages=True)
        )
    assert found.state == "trouble"
    assert "web page" in found.error
    assert own.receipt == TAKEN


def test_a_credential_that_is_missing_is_told_by_its_name_and_used_once_it_is_there() -> None:
    values: dict[str, str] = {}

    def headers() -> Mapping[str, str]:
        if "SINK_TOKEN" not in values:
            raise UsageError("the environment variable SINK_TOKEN is not set")
        return {"Authorization": f"Bearer {values['SINK_TOKEN']}"}

    with receiver() as heard:

        async def twice() -> list[SinkAnswer]:
            made = endpoint(heard.url, headers=headers)
            first = await made.ask("POST", "/x", b"{}")
            values["SINK_TOKEN"] = SECRET
            second = await made.ask("POST", "/x", b"{}")
            values["SINK_TOKEN"] = f"{SECRET}\r\nX-Evil: 1"
            third = await made.ask("POST", "/x", b"{}")
            await made.close()
            return [first, second, third]

        first, second, third = asyncio.run(twice())
    assert (first.receipt.state, first.receipt.error) == ("trouble", "the environment variable SINK_TOKEN is not set")
    assert second.is_good
    assert [headers["Authorization"] for headers, _ in heard.heard] == [f"Bearer {SECRET}"]
    assert third.receipt.state == "trouble"
    assert SECRET not in third.receipt.error


@pytest.mark.parametrize("url", ["http://127.0.0.1:9", "http://169.254.169.254/latest", "http://localhost:9"])
def test_an_address_that_the_operator_did_not_name_is_fenced(url: str) -> None:
    found = asked(SinkEndpoint(url=url, fence=AddressFence())).receipt
    assert found.state == "trouble"
    assert "may not have it called" in found.error or "names this machine" in found.error
    named = asked(
        SinkEndpoint(url="http://127.0.0.1:9", fence=AddressFence(allow_urls=frozenset({"http://127.0.0.1:9"})))
    )
    assert "cannot be reached" in named.receipt.error


def test_an_answer_without_end_is_not_read_to_its_end() -> None:
    with receiver() as heard:
        heard.answer = lambda _: Answer(200, {}, b"x" * (LARGEST_ANSWER_BYTES + 1))
        assert "more than 4 MiB" in asked(endpoint(heard.url)).receipt.error


class _Said(msgspec.Struct):
    rejected: int = 0


@pytest.mark.parametrize(
    "body",
    [b'{"a":' * 100_000 + b"1" + b"}" * 100_000, b"[" * 100_000, b"\xff", b"", b'{"rejected":' + b"9" * 5000 + b"}"],
    ids=["nested", "lists", "bytes", "nothing", "huge number"],
)
def test_an_answer_that_is_garbage_is_read_as_none(body: bytes) -> None:
    assert SinkAnswer(200, body, TAKEN).read(_Said) is None
