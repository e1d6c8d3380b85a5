"""The model behind the guides for frameworks: a stand-in that knows one conversation, in whichever protocol a framework speaks.

Its own module because tests and the making of golden traces must record the same conversation: a question, one call of
`lamp_state`, its result, an answer.
"""

from collections.abc import Iterator
from typing import Any, cast

from evalsi.schema import ToolCall
from evalsi.testing.stand_in_model import Behaviour, Question, Reply, StandInModel

QUESTION = "Is the hall lamp on?"
ANSWER = "Yes, it is on."
TOOL = "lamp_state"
ARGUMENTS = '{"room": "hall"}'
ASKED, ANSWERED = (120, 15), (150, 15)
"""Tokens in and out, of the call that asks for the tool and of the one that answers."""
CACHED = 100


def lamp_model() -> StandInModel:
    """The model, not yet started."""
    return StandInModel(Behaviour(replies=_reply))


def addresses_of(model: StandInModel) -> dict[str, str]:
    """The variables by which frameworks find the model in place of OpenAI's and Anthropic's."""
    return {
        "OPENAI_API_KEY": "none",
        "OPENAI_BASE_URL": model.base_url,
        "OPENAI_API_BASE": model.base_url,
        "ANTHROPIC_API_KEY": "none",
        "ANTHROPIC_BASE_URL": model.root_url,
        "ENABLE_TOOL_SEARCH": "false",  # Claude Code would hide tools until the model searches for them, which this one does not
    }


def _reply(question: Question) -> Reply:
    """A call of the tool where it is offered and has given nothing yet, else the answer."""
    tool = next((name for name in _tools(question) if name.endswith(TOOL)), None)
    if tool is None or _has_result(question):
        return Reply(text=ANSWER, usage=_usage(question, *ANSWERED))
    call = ToolCall(id=f"call_{question.number}", name=tool, arguments=ARGUMENTS)
    return Reply(tool_calls=(call,), usage=_usage(question, *ASKED))


def _tools(question: Question) -> Iterator[str]:
    for tool in question.body.get("tools") or []:
        yield str(tool.get("name") or tool.get("function", {}).get("name", ""))


def _has_result(question: Question) -> bool:
    body: dict[str, Any] = question.body
    if question.protocol == "responses":
        items: Any = body.get("input", [])
        return isinstance(items, list) and any(
            item.get("type") == "function_call_output" for item in cast("list[dict[str, Any]]", items)
        )
    messages: list[dict[str, Any]] = body.get("messages", [])
    return any(message.get("role") == "tool" or _holds_result(message.get("content")) for message in messages)


def _holds_result(content: Any) -> bool:
    blocks = cast("list[Any]", content) if isinstance(content, list) else []
    return any(isinstance(block, dict) and cast("Any", block).get("type") == "tool_result" for block in blocks)


def _usage(question: Question, read: int, written: int) -> dict[str, Any]:
    """The tokens in the words of the protocol; every one of them tells how many came from a cache."""
    match question.protocol:
        case "responses":
            return {
                "input_tokens": read,
                "output_tokens": written,
                "total_tokens": read + written,
                "input_tokens_details": {"cached_tokens": CACHED},
                "output_tokens_details": {"reasoning_tokens": 0},
            }
        case "anthropic":
            return {
                "input_tokens": read - CACHED,
                "output_tokens": written,
                "cache_read_input_tokens": CACHED,
                "cache_creation_input_tokens": 0,
            }
        case _:
            return {
                "prompt_tokens": read,
                "completion_tokens": written,
                "total_tokens": read + written,
                "prompt_tokens_details": {"cached_tokens": CACHED},
                "completion_tokens_details": {"reasoning_tokens": 0},
            }
