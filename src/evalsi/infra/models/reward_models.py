"""Reward models behind HTTP: OpenRLHF's own protocol, vLLM's pooling and SGLang's classification.

Implements `ports.reward_model.RewardModels`. What always holds: a number belongs to the conversation that it was asked for,
and an answer with another count of numbers, or with numbers that are none, is an error and never a score.

Sources: OpenRLHF `cli/serve_rm.py` (request and answer); vLLM "Pooling API" (`data[].data`, a list for each token where the
model pools all of them; the last one counts); SGLang "Reward Models" (`embedding` of each text).
"""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import isfinite
from typing import Any, cast

import msgspec

from evalsi.core.address_fence import AddressFence
from evalsi.infra.models.endpoint import Access, Endpoint, Incoming, Outgoing, Unreadable, decode_json
from evalsi.infra.models.payload import inner
from evalsi.infra.models.retries import RetryPolicy
from evalsi.ports.reward_model import RewardModelService, RewardQuestion

_PATHS = {"openrlhf": "", "vllm": "/pooling", "sglang": "/classify"}
_ATTEMPTS = 4


@dataclass(frozen=True, kw_only=True)
class RewardModelAccess:
    """How services are reached."""

    secret: Callable[[str], str]
    """The value of an environment variable. Raises: UsageError: it is not set."""
    proxy: str | None = None
    fence: AddressFence | None = None


class RewardModelClients:
    """See `ports.reward_model.RewardModels`. One for an event loop."""

    def __init__(self, access: RewardModelAccess) -> None:
        self._access = access
        self._clients: dict[RewardModelService, _Client] = {}

    def check(self, service: RewardModelService) -> None:
        self._client(service)

    async def score(self, service: RewardModelService, question: RewardQuestion) -> float:
        return await self._client(service).score(question)

    async def close(self) -> None:
        clients = list(self._clients.values())
        self._clients.clear()
        for client in clients:
            await client.close()

    def _client(self, service: RewardModelService) -> "_Client":
        client = self._clients.get(service)
        if client is None:
            client = self._clients[service] = _Client(service, self._access)
        return client


class _Client:
    """One service. Questions gather for a moment and go together."""

    def __init__(self, service: RewardModelService, access: RewardModelAccess) -> None:
        key = access.secret(service.api_key_env) if service.api_key_env else ""
        self._service = service
        # vLLM takes one conversation in a request, and puts those that are there together itself.
        self._most = 1 if service.api == "vllm" else service.max_batch
        self._endpoint = Endpoint(
            Access(
                base_url=service.url,
                api_key=key or None,
                proxy=access.proxy,
                fence=access.fence,
                retries=RetryPolicy(attempts=_ATTEMPTS, attempt_s=service.timeout_s),
            ),
            provider="reward model",
            path=_PATHS[service.api],
            headers={"Authorization": f"Bearer {key}"} if key else {},
        )
        self._gathered: list[tuple[RewardQuestion, asyncio.Future[float]]] = []
        self._timer: asyncio.TimerHandle | None = None
        self._sending: set[asyncio.Task[None]] = set()

    async def score(self, question: RewardQuestion) -> float:
        loop = asyncio.get_running_loop()
        answer: asyncio.Future[float] = loop.create_future()
        self._gathered.append((question, answer))
        if len(self._gathered) >= self._most:
            self._send()
        elif self._timer is None:
            self._timer = loop.call_later(self._service.wait_ms / 1000, self._send)
        return await answer

    async def close(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        for task in self._sending:
            task.cancel()
        await self._endpoint.close()

    def _send(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        # Whoever no longer waits is not asked for.
        batch = [(question, answer) for question, answer in self._gathered if not answer.done()]
        self._gathered = []
        if batch:
            task = asyncio.get_running_loop().create_task(self._ask(batch))
            self._sending.add(task)
            task.add_done_callback(self._sending.discard)

    async def _ask(self, batch: Sequence[tuple[RewardQuestion, asyncio.Future[float]]]) -> None:
        questions = [question for question, _ in batch]

        async def read(incoming: Incoming) -> list[float]:
            return _read(await incoming.content(), self._service.api, len(questions))

        body = msgspec.json.encode(self._body(questions))
        try:
            found = (await self._endpoint.ask(Outgoing(model=self._service.model, body=body), read)).body
        except Exception as error:
            for _, answer in batch:
                if not answer.done():
                    answer.set_exception(error)
            return
        for (_, answer), value in zip(batch, found, strict=True):
            if not answer.done():
                answer.set_result(value)

    def _body(self, questions: Sequence[RewardQuestion]) -> dict[str, Any]:
        named = {"model": self._service.model} if self._service.model else {}
        match self._service.api:
            case "openrlhf":
                return {
                    **named,
                    "query": [question.text for question in questions],
                    "prompts": [question.prompt for question in questions],
                }
            case "vllm":
                return {
                    **named,
                    "messages": [{"role": role, "content": content} for role, content in questions[0].messages],
                    "encoding_format": "float",
                }
            case "sglang":
                return {**named, "text": [question.text for question in questions]}


def _read(content: bytes, api: str, count: int) -> list[float]:
    """The numbers of an answer. Raises: Unreadable."""
    try:
        body: Any = decode_json(content)
    except ValueError:
        raise Unreadable("answered with what is no JSON", content) from None
    match api:
        case "openrlhf":
            values = inner(body, "rewards")
            values = inner(body, "scores") if values is None else values
        case "vllm":
            values = [inner(body, "data", 0, "data")]
        case _:
            answers = cast("list[Any]", body) if isinstance(body, list) else [body]
            values = [inner(answer, "embedding") for answer in answers]
    if not isinstance(values, list):
        raise Unreadable("answered without rewards; is it a reward model?", content)
    found = cast("list[Any]", values)
    if len(found) != count:
        raise Unreadable(f"gave {len(found)} rewards for {count} completions", content)
    return [_number(value, content) for value in found]


def _number(value: Any, content: bytes) -> float:
    """A number, alone or in lists: of one number, or of the values at each token, of which the last counts."""
    if isinstance(value, list):
        values = cast("list[Any]", value)
        if values and (len(values) == 1 or isinstance(values[-1], list)):
            return _number(values[-1], content)
    elif isinstance(value, (int, float)) and not isinstance(value, bool) and isfinite(value):
        return float(value)
    raise Unreadable("gave something else than one number for a completion; is it a reward model?", content)
