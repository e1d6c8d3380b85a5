"""Replies of the usual form are read quickly, and say exactly what careful reading finds in them."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalsi.infra.models.endpoint import Access, Unreadable, decode_json, object_of
from evalsi.infra.models.openai import OpenAICompatibleModel
from evalsi.infra.models.usual_reply import usual_reply

USUAL: dict[str, Any] = {
    "id": "chatcmpl-1",
    "object": "chat.completion",
    "model": "m-2026",
    "choices": [
        {
            "index": 0,
            "message": {"role": "assistant", "content": "Paris", "refusal": None, "tool_calls": []},
            "logprobs": None,
            "finish_reason": "stop",
        }
    ],
    "usage": {
        "prompt_tokens": 12,
        "completion_tokens": 3,
        "prompt_tokens_details": {"cached_tokens": 8, "audio_tokens": 0},
        "completion_tokens_details": {"reasoning_tokens": 0},
    },
}
_ODD = st.sampled_from(
    [None, "", "text", 0, 7, 7.0, 7.5, -1, True, [], {}, ["a"], [{"text": "b"}], 2**60, {"text": "c"}]
)
_CALL = {"id": "c1", "type": "function", "function": {"name": "look", "arguments": "{}"}}
_PROBABILITIES = {"content": [{"token": "a", "logprob": -0.5, "top_logprobs": []}]}
_PLACES = [
    *(
        ("choices", 0, "message", name)
        for name in ("content", "refusal", "reasoning", "reasoning_content", "tool_calls")
    ),
    *(("usage", name) for name in ("prompt_tokens", "completion_tokens", "cost", "prompt_cache_hit_tokens")),
    ("usage", "prompt_tokens_details", "cached_tokens"),
    ("usage", "completion_tokens_details"),
    ("choices", 0, "finish_reason"),
    ("choices", 0, "logprobs"),
    ("choices", 0, "message"),
    ("choices",),
    ("usage",),
    ("model",),
    ("id",),
]


def _with(changes: dict[tuple[Any, ...], Any]) -> bytes:
    body = json.loads(json.dumps(USUAL))
    for place, value in changes.items():
        at = body
        try:
            for step in place[:-1]:
                at = at[step]
            at[place[-1]] = json.loads(json.dumps(value))  # a copy: a later change may go into it
        except (TypeError, KeyError, IndexError):
            continue  # an earlier change has taken the place away
    return json.dumps(body).encode()


@given(
    st.dictionaries(
        st.sampled_from(_PLACES),
        _ODD | st.sampled_from(["length", "content_filter", [_CALL], _PROBABILITIES]),
        max_size=4,
    )
)
def test_what_is_read_quickly_says_what_careful_reading_says(changes: dict[tuple[Any, ...], Any]) -> None:
    content = _with(changes)
    quickly = usual_reply(content)
    if quickly is not None:
        model = OpenAICompatibleModel(Access(base_url="http://model.test/v1"))
        body = decode_json(content)
        assert quickly.read(0.5) == model.reply(body, 0.5)
        assert (quickly.id or "") == (body["id"] or "")


def test_the_usual_reply_is_read_quickly() -> None:
    assert usual_reply(json.dumps(USUAL).encode()) is not None


@pytest.mark.parametrize(
    ("place", "value"),
    [
        (("choices", 0, "message", "tool_calls"), [_CALL]),
        (("choices", 0, "logprobs"), _PROBABILITIES),
        (("choices", 0, "message", "content"), [{"type": "text", "text": "Paris"}]),
        (("usage", "cost"), 0.01),
        (("usage", "prompt_tokens"), -1),
        (("choices",), []),
        (("id",), 5),
    ],
)
def test_what_is_unusual_is_left_to_careful_reading(place: tuple[Any, ...], value: Any) -> None:
    assert usual_reply(_with({place: value})) is None


def test_a_half_of_a_surrogate_pair_is_left_to_careful_reading() -> None:
    assert usual_reply(json.dumps(USUAL).replace("Paris", "\\ud83d").encode()) is None


@pytest.mark.parametrize(
    "content",
    [b'{"choices":' + b"[" * 100_000 + b"]" * 100_000 + b"}", b"[" * 100_000, b'{"a":NaN,"b":' + b"[" * 100_000],
    ids=["an unknown field", "cut off", "after a word that is no JSON"],
)
def test_a_body_that_is_nested_too_deep_is_no_reply(content: bytes) -> None:
    assert usual_reply(content) is None
    with pytest.raises(Unreadable):
        object_of(content)
