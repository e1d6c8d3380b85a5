"""A language model under evaluation: a record becomes a request, the reply becomes an answer, and nothing is hidden.

A reply that was cut, refused or empty is an answer with a note. What the server refused and was therefore sent otherwise
is a note too. Tool calls are kept as the model wrote them and never carried out.
"""

from typing import Any

import msgspec

from evalsi.core.errors import ProviderError
from evalsi.infra.targets.answer_pieces import EMPTY_NOTE
from evalsi.infra.targets.questions import Conversation
from evalsi.ports.chat_model import ChatReply, ChatRequest, ReachableModel
from evalsi.ports.target import Answer, TargetTask
from evalsi.schema import Content, ErrorKind, Fault, Message, Messages, ToolCall


class ChatTarget:
    """Implements `ports.target.Target` on a chat model.

    Args:
        model: Whom to ask; it applies retries, limits and deadlines.
        request: Everything about a request but its messages and the seed of a repetition.
        conversation: Makes the messages of a record.
        identity: See `ports.target.Target.identity`.
    """

    def __init__(
        self,
        model: ReachableModel,
        request: ChatRequest,
        conversation: Conversation,
        *,
        identity: dict[str, Any],
        capabilities: frozenset[str],
    ) -> None:
        self._model = model
        self._request = request
        self._conversation = conversation
        self._identity = identity
        self._capabilities = capabilities

    @property
    def identity(self) -> dict[str, Any]:
        """Connector, address, model and every setting that is sent."""
        return self._identity

    @property
    def capabilities(self) -> frozenset[str]:
        """What the protocol offers and the spec asks for."""
        return self._capabilities

    @property
    def needs(self) -> frozenset[str]:
        """What the templates name, else the input."""
        return self._conversation.needs

    async def check(self) -> str:
        """See `ports.target.Target.check`."""
        try:
            return await self._model.check()
        except ProviderError as error:
            raise of_target(error) from error

    async def answer(self, task: TargetTask) -> Answer:
        """See `ports.target.Target.answer`."""
        request = msgspec.structs.replace(
            self._request,
            messages=self._conversation.messages(task.record),
            seed=task.seed if task.seed is not None else _counted(self._request.seed, task.trial),
        )
        try:
            reply = await self._model.complete(request)
        except ProviderError as error:
            raise of_target(error) from error
        return Answer(
            output=_output(reply),
            usage=msgspec.structs.replace(reply.usage, requests=reply.retries + 1),
            stop_reason=reply.finish_reason,
            model=reply.model,
            time_to_first_token_s=reply.time_to_first_token_s,
            retries=reply.retries,
            request_digest=reply.request_digest,
            request_id=reply.request_id,
            logprobs=reply.logprobs,
            reasoning=reply.reasoning,
            notes=_notes(reply, self._request.max_tokens),
        )

    async def close(self) -> None:
        """Closes the connections."""
        await self._model.close()


def of_target(error: ProviderError) -> ProviderError:
    """A provider's failure as one of the target: credentials that are not accepted are the settings' fault."""
    if error.kind is ErrorKind.PROVIDER_AUTH:
        error.kind = ErrorKind.TARGET_AUTH
        error.fault = Fault.SETTINGS
    return error


def _counted(seed: int | None, trial: int) -> int | None:
    return None if seed is None else seed + trial


def _output(reply: ChatReply) -> Content:
    if not reply.tool_calls:
        return Content(text=reply.text)
    message = Message(role="assistant", content=reply.text, tool_calls=list(reply.tool_calls))
    return Content(messages=Messages(messages=[message]))


def _notes(reply: ChatReply, max_tokens: int | None) -> tuple[str, ...]:
    if reply.finish_reason == "stop" and reply.text and not reply.notes and not reply.tool_calls:
        return ()
    notes = [f"{note} (the server refused it)" for note in reply.notes]
    if reply.finish_reason == "length":
        limit = f" of {max_tokens}" if max_tokens else ""
        notes.append(f"the answer was cut at the token limit{limit}")
    elif reply.finish_reason == "refusal":
        notes.append("the model refused to answer")
    if not reply.text.strip() and not reply.tool_calls:
        notes.append(f"{EMPTY_NOTE}; only thoughts came" if reply.reasoning else EMPTY_NOTE)
    for position, call in enumerate(reply.tool_calls):
        if not _is_object(call):
            notes.append(f"the arguments of tool call {position + 1} ({call.name}) are no JSON object")
    return tuple(notes)


def _is_object(call: ToolCall) -> bool:
    try:
        return isinstance(msgspec.json.decode(call.arguments), dict)
    except (msgspec.DecodeError, RecursionError):
        return False
