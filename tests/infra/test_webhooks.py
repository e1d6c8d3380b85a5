"""Messages reach a receiver signed and once under one key, and nowhere that the fence does not allow."""

import asyncio
import hashlib
import hmac
import ipaddress
import json

import pytest

from evalsi.core.address_fence import AddressFence
from evalsi.core.clock import SystemClock
from evalsi.core.errors import ForbiddenError
from evalsi.infra.webhooks import WebhookSender
from evalsi.ports.notice_sender import Sent
from evalsi.ports.policy_store import Delivery, Notice
from evalsi.watch.deliver_notices import next_attempt_ms
from tests.watch.webhook_receiver import receiver

OPEN = AddressFence(allow_networks=(ipaddress.ip_network("127.0.0.0/8"),))
SECRET = "s3cret-for-tests"


def a_delivery(url: str, **said: str) -> Delivery:
    notice = Notice(key="k1", policy="answers", event="alert.fired", url=url, body=b'{"firing":true}', **said)
    return Delivery(project="default", notice=notice, attempts=0, created_ms=0)


def sent(delivery: Delivery, fence: AddressFence = OPEN) -> Sent:
    def secret(project: str, variable: str) -> str:
        if variable != "HOOK_SECRET":
            raise ForbiddenError(f"the credential {variable} is not granted to project {project}")
        return SECRET

    return asyncio.run(WebhookSender(fence=fence, secret=secret, clock=SystemClock()).send(delivery))


def test_a_message_is_signed_with_its_time() -> None:
    with receiver() as heard:
        assert sent(a_delivery(f"http://127.0.0.1:{heard.port}/hook", secret_env="HOOK_SECRET")) == Sent(True)
    ((headers, body),) = heard.heard
    assert (headers["Evalsi-Delivery"], headers["Evalsi-Event"]) == ("k1", "alert.fired")
    stated, mac = headers["Evalsi-Signature"].removeprefix("t=").split(",v1=")
    expected = hmac.new(SECRET.encode(), f"{stated}.".encode() + body, hashlib.sha256).hexdigest()
    assert mac == expected
    assert json.loads(body) == {"firing": True}


def test_one_without_a_secret_is_not_signed() -> None:
    with receiver() as heard:
        assert sent(a_delivery(f"http://127.0.0.1:{heard.port}/hook")).delivered
    assert "Evalsi-Signature" not in heard.heard[0][0]


def test_the_routing_key_is_put_in_for_pagerduty_alone() -> None:
    with receiver() as heard:
        delivery = a_delivery(f"http://127.0.0.1:{heard.port}/v2/enqueue", form="pagerduty", secret_env="HOOK_SECRET")
        assert sent(delivery).delivered
    headers, body = heard.heard[0]
    assert json.loads(body)["routing_key"] == SECRET
    assert "Evalsi-Signature" not in headers


@pytest.mark.parametrize(
    ("status", "lasting"), [(500, False), (503, False), (429, False), (302, False), (404, True), (410, True)]
)
def test_other_answers_are_no_delivery_and_redirects_are_not_followed(status: int, lasting: bool) -> None:
    with receiver() as heard:
        heard.status = status
        found = sent(a_delivery(f"http://127.0.0.1:{heard.port}/hook"))
    assert (found.delivered, found.lasting) == (False, lasting)
    assert str(status) in found.error
    assert len(heard.heard) == 1


@pytest.mark.parametrize(
    "url",
    ["http://127.0.0.1:9/x", "http://169.254.169.254/latest/meta-data", "http://[::1]:9/x", "http://localhost:9/x"],
)
def test_an_address_beyond_the_fence_is_not_called_and_given_up(url: str) -> None:
    found = sent(a_delivery(url), fence=AddressFence())
    assert (found.delivered, found.lasting) == (False, True)
    assert "may not have it called" in found.error or "names this machine" in found.error


def test_a_credential_that_is_not_granted_gives_the_message_up() -> None:
    found = sent(a_delivery("http://127.0.0.1:9/x", secret_env="OTHER"))
    assert found.lasting
    assert "OTHER" in found.error


def test_nobody_listening_is_tried_again() -> None:
    with receiver() as heard:
        port = heard.port
    found = sent(a_delivery(f"http://127.0.0.1:{port}/hook"))
    assert (found.delivered, found.lasting) == (False, False)


def test_pauses_grow_and_end_after_three_days() -> None:
    def pause_s(attempts: int) -> float:
        delivery = Delivery(project="default", notice=a_delivery("http://x").notice, attempts=attempts, created_ms=0)
        until_ms = next_attempt_ms(delivery, 1_000, lasting=False)
        assert until_ms is not None
        return (until_ms - 1_000) / 1_000

    assert [pause_s(attempts) for attempts in (0, 1, 2, 9, 50)] == [5, 10, 20, 2560, 3600]
    old = a_delivery("http://x")
    assert next_attempt_ms(old, 4 * 86_400_000, lasting=False) is None
    assert next_attempt_ms(old, 1_000, lasting=True) is None
