"""`POST /get_reward`: OpenRLHF's remote reward protocol, for the one spec that `evalsi rewards serve` was started with.

Its own module because it is no part of the schema: the trainer decides its form. The trainer sends no key, so it stands
beside the gate, and is served by `evalsi rewards serve` alone; on loopback it answers to names of this machine alone, also
where everything else asks for a key.
"""

import msgspec

from evalsi.access.gate import DEFAULT_PROJECT
from evalsi.core.errors import UsageError
from evalsi.reward.openrlhf_protocol import OpenRlhfRequest, reply_of, rollouts_of
from evalsi.schema import RewardSpec
from evalsi.server.exchange import ClientGoneError, Exchange, Receive, Scope, Send, while_there
from evalsi.server.fault import Fault, fault_of
from evalsi.server.own_pages import OwnPages
from evalsi.server.rest import answer_fault
from evalsi.server.services.reward_service import RewardService

PATH = "/get_reward"
_MOST_BYTES = 64 << 20


class OpenRlhfRoute:
    """An ASGI application for the one path.

    Args:
        pages: Which web pages may ask it.
    """

    def __init__(self, service: RewardService, spec: RewardSpec, pages: OwnPages) -> None:
        self._service = service
        self._pages = pages
        self._spec = spec

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        exchange = Exchange(scope, receive, send, most_bytes=_MOST_BYTES)
        if exchange.path != PATH or exchange.method != "POST":
            fault = Fault(http_status=405, grpc_status=12, code="usage", message=f"{PATH} takes POST")
            await answer_fault(exchange, fault, [("allow", "POST")])
            return
        try:
            self._pages.check(exchange.method, scope["headers"])
            body = await while_there(exchange, self._answer(await exchange.body()))
        except ClientGoneError:
            return
        except Exception as error:
            await answer_fault(exchange, fault_of(error))
            return
        await exchange.answer(200, body)

    async def _answer(self, body: bytes) -> bytes:
        try:
            request = msgspec.json.decode(body, type=OpenRlhfRequest)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            raise UsageError(
                f"the body is no batch of OpenRLHF: {error}", hint='send {"query": […], "prompts": […], "labels": […]}'
            ) from None
        rollouts = rollouts_of(request, self._spec.reference_field)
        return msgspec.json.encode(reply_of(await self._service.scored(self._spec, rollouts, DEFAULT_PROJECT)))
