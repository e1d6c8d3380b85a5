"""Messages of policies to addresses that people named: signed, behind the fence of the server. Implements `NoticeSender`.

What always holds: an address is called only where the fence lets users lead a server; no redirect is followed; no secret
is in a message, a header or an error but the signature made with it, and PagerDuty's routing key in the message to it.
"""

import hashlib
import hmac
from collections.abc import Callable
from dataclasses import dataclass

import msgspec

from evalsi.core.address_fence import AddressFence
from evalsi.core.clock import Clock
from evalsi.core.errors import EvalsiError
from evalsi.core.version import __version__
from evalsi.infra.models.http_client import HttpClient
from evalsi.infra.models.http_connection import HttpError
from evalsi.ports.notice_sender import Sent
from evalsi.ports.policy_store import Delivery

TIMEOUT_S = 10.0
_LASTING = frozenset({400, 401, 403, 404, 405, 410, 413, 415, 422})
"""Answers after which the same message is refused again."""


@dataclass(frozen=True, kw_only=True)
class WebhookSender:
    """Implements `NoticeSender`.

    Args:
        fence: Where addresses may lead.
        secret: The value of an environment variable that a project may name: (project, variable). Raises EvalsiError.
        proxy: Address of a proxy for an address; empty to connect directly.
    """

    fence: AddressFence
    secret: Callable[[str, str], str]
    clock: Clock
    proxy: Callable[[str], str] = lambda _url: ""

    async def send(self, delivery: Delivery) -> Sent:
        notice = delivery.notice
        try:
            self.fence.check_url(notice.url)
            secret = self.secret(delivery.project, notice.secret_env) if notice.secret_env else ""
        except EvalsiError as error:
            return Sent(False, error.message, lasting=True)
        body = _with_routing_key(notice.body, secret) if notice.form == "pagerduty" else notice.body
        headers = {
            "Content-Type": "application/json",
            "User-Agent": f"evalsi/{__version__}",
            "Evalsi-Delivery": notice.key,
            "Evalsi-Event": notice.event,
            "Idempotency-Key": notice.key,
        }
        if secret and notice.form != "pagerduty":
            headers["Evalsi-Signature"] = signature(body, secret, int(self.clock.now().timestamp()))
        client = HttpClient(headers=headers, proxy=self.proxy(notice.url) or None, fence=self.fence)
        try:
            answer = await client.send("POST", notice.url, body, timeout_s=TIMEOUT_S, connect_s=TIMEOUT_S)
            status = answer.status
            answer.close()
        except TimeoutError:
            return Sent(False, f"no answer within {TIMEOUT_S:g} s")
        except HttpError as error:
            return Sent(False, str(error))
        except EvalsiError as error:  # the fence refuses what the name leads to
            return Sent(False, error.message, lasting=True)
        finally:
            await client.close()
        if 200 <= status < 300:
            return Sent(True)
        return Sent(False, f"answered with HTTP status {status}", lasting=status in _LASTING)


def signature(body: bytes, secret: str, at_s: int) -> str:
    """`t=<seconds since 1970>,v1=<HMAC-SHA256 of "t.body", in hexadecimal>`: the receiver checks both age and content."""
    mac = hmac.new(secret.encode(), b"%d." % at_s + body, hashlib.sha256)
    return f"t={at_s},v1={mac.hexdigest()}"


def _with_routing_key(body: bytes, key: str) -> bytes:
    return msgspec.json.encode({"routing_key": key, **msgspec.json.decode(body)})
