"""Replies from a file, and a model that writes such a file: judging without a network, the same every time.

A recording is JSON Lines, one question and its reply per line:

    {"key": "sha256:...", "reply": {"text": "GRADE: C", "usage": {...}}, "model": "judge-1"}

`key` is the digest of the messages and of everything else in the request that could change the reply, except the model's
name and address: what was recorded from one model can be replayed under another name. Of several lines with one key the
first counts; repeated questions get the same reply.
"""

import asyncio
from pathlib import Path

import msgspec

from evalsi.core.canonical import digest
from evalsi.core.errors import InvalidDataError, NotFoundError, ProviderError
from evalsi.ports.chat_model import ChatModel, ChatReply, ChatRequest
from evalsi.schema import ErrorKind

PROVIDER = "recorded"


class RecordedReply(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True):
    """One line of a recording. `note` is for people; so is `model`, the one that was asked."""

    key: str
    reply: ChatReply
    model: str = ""
    note: str = ""


def recording_key(request: ChatRequest) -> str:
    """Digest of a request without the model's name.

    Where the form was enforced by the provider or not changes nothing in what is asked, so `response_schema` is left out
    as well; the messages say which form is required.
    """
    plain = msgspec.to_builtins(request)
    return digest({name: value for name, value in plain.items() if name not in ("model", "response_schema")})


class RecordedModel:
    """Implements `ports.chat_model.ChatModel` from a recording.

    Raises:
        NotFoundError: there is no such file.
        InvalidDataError: a line is no recorded reply; names it.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._replies: dict[str, ChatReply] = {}
        for recorded in read_recording(path):
            self._replies.setdefault(recorded.key, recorded.reply)

    def __len__(self) -> int:
        return len(self._replies)

    @property
    def identity(self) -> dict[str, str]:
        """The provider, and the content of the recording: another recording is another model."""
        content = {key: msgspec.to_builtins(reply) for key, reply in self._replies.items()}
        return {"provider": PROVIDER, "recording": digest(content)}

    async def complete(self, request: ChatRequest) -> ChatReply:
        """See `ports.chat_model.ChatModel.complete`. Raises: ProviderError: the question was never recorded."""
        key = recording_key(request)
        reply = self._replies.get(key)
        if reply is None:
            error = ProviderError(
                f"the recording {self._path.name} has no answer to this question",
                kind=ErrorKind.PROVIDER_REJECTED,
                detail=key,
            )
            error.hint = "record again: the prompt, the record or the judge's settings have changed"
            raise error
        return reply

    async def close(self) -> None:
        """Nothing to release."""


class RecordingModel:
    """A `ChatModel` that asks another one and appends every new reply to a recording.

    Each line is on disk when the reply is handed on, so that a run that is stopped loses nothing it has paid for.
    """

    def __init__(self, model: ChatModel, path: Path) -> None:
        self._model = model
        self._path = path
        self._known = {recorded.key for recorded in read_recording(path)} if path.exists() else set[str]()
        self._turn = asyncio.Lock()

    @property
    def identity(self) -> dict[str, str]:
        """The one of the model that is asked."""
        return self._model.identity

    async def complete(self, request: ChatRequest) -> ChatReply:
        """See `ports.chat_model.ChatModel.complete`."""
        reply = await self._model.complete(request)
        key = recording_key(request)
        if key not in self._known:
            self._known.add(key)
            line = msgspec.json.encode(RecordedReply(key=key, reply=reply, model=request.model)) + b"\n"
            async with self._turn:
                await asyncio.to_thread(_append, self._path, line)
        return reply

    async def close(self) -> None:
        """Closes the model that is asked."""
        await self._model.close()


def read_recording(path: Path) -> list[RecordedReply]:
    """Every line of a recording. Raises: NotFoundError, InvalidDataError."""
    try:
        lines = path.read_bytes().split(b"\n")
    except OSError as error:
        raise NotFoundError(f"the recording cannot be read: {error.strerror}", where=str(path)) from error
    found: list[RecordedReply] = []
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            found.append(msgspec.json.decode(line, type=RecordedReply))
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            raise InvalidDataError(f"this line is no recorded reply: {error}", where=f"{path}:{number}") from error
    return found


def _append(path: Path, line: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("ab") as file:
        file.write(line)
