"""Models behind OpenAI's older text completions: base models, which continue a text and know no roles.

The messages of a request become one text, blank lines between them; there are no tools and no reply forms here.
"""

from collections.abc import Mapping
from typing import Any, cast

from evalsi.infra.models.openai import OpenAIProtocol, usage_of
from evalsi.infra.models.payload import inner, text_of_parts
from evalsi.infra.models.streams import StreamedBody
from evalsi.ports.chat_model import ChatReply, ChatRequest, TokenAlternatives

_FINISH_REASONS = {"stop": "stop", "length": "length", "content_filter": "refusal"}


class OpenAICompletionsModel(OpenAIProtocol):
    """Implements `ports.chat_model.ChatModel` over `POST {base_url}/completions`."""

    path = "/completions"
    limit_names = ("max_tokens",)

    def body(self, request: ChatRequest, given_up: Mapping[str, str]) -> dict[str, Any]:
        """See `OpenAIProtocol.body`."""
        body: dict[str, Any] = {
            "model": request.model,
            "prompt": "\n\n".join(message.content for message in request.messages),
        }
        options: dict[str, Any] = {
            "max_tokens": request.max_tokens,
            "temperature": request.temperature,
            "top_p": request.top_p,
            "seed": request.seed,
            "stop": list(request.stop) or None,
            "logprobs": request.top_logprobs if request.logprobs or request.top_logprobs else None,
            "stream_options": {"include_usage": True} if self._stream else None,
        }
        body.update({name: value for name, value in options.items() if value is not None and name not in given_up})
        return body

    def reply(self, body: dict[str, Any], latency_s: float) -> ChatReply | None:
        """See `OpenAIProtocol.reply`."""
        choice = inner(body, "choices", 0)
        text = inner(choice, "text")
        if not isinstance(text, str):
            return None
        finish = str(inner(choice, "finish_reason") or "stop")
        return ChatReply(
            text=text,
            finish_reason=_FINISH_REASONS.get(finish, finish),
            usage=usage_of(body.get("usage"), latency_s),
            model=text_of_parts(body.get("model")),
            logprobs=_tokens(inner(choice, "logprobs")),
        )

    def take_event(self, streamed: StreamedBody, event: dict[str, Any]) -> None:
        """See `OpenAIProtocol.take_event`."""
        body = streamed.body
        for name in ("id", "model", "usage"):
            if event.get(name):
                body[name] = event[name]
        choice = inner(event, "choices", 0)
        if choice is None:
            return
        whole = body.setdefault("choices", [{"text": ""}])[0]
        if piece := text_of_parts(inner(choice, "text")):
            streamed.generated()
            whole["text"] += piece
        if isinstance(probabilities := inner(choice, "logprobs"), dict):
            known = whole.setdefault("logprobs", {})
            for name, values in cast("dict[str, Any]", probabilities).items():
                if isinstance(values, list):
                    known[name] = known.get(name, []) + values
        if finish := inner(choice, "finish_reason"):
            whole["finish_reason"] = finish
            streamed.finished = True


def _tokens(given: Any) -> tuple[TokenAlternatives, ...]:
    tokens, logprobs = inner(given, "tokens"), inner(given, "token_logprobs")
    if not isinstance(tokens, list) or not isinstance(logprobs, list):
        return ()
    found: list[TokenAlternatives] = []
    for position, (token, logprob) in enumerate(
        zip(cast("list[Any]", tokens), cast("list[Any]", logprobs), strict=False)
    ):
        if not isinstance(token, str) or not isinstance(logprob, (int, float)):
            continue  # The first token of an echoed prompt has no probability.
        top = inner(given, "top_logprobs", position)
        alternatives = cast("dict[str, Any]", top) if isinstance(top, dict) else {}
        numbers = {name: float(value) for name, value in alternatives.items() if isinstance(value, (int, float))}
        found.append(TokenAlternatives(token=token, logprob=float(logprob), top=numbers))
    return tuple(found)
