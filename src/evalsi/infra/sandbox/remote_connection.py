"""The connection to a host of sandboxes: calls of `SandboxService`, and what it says as our own errors.

Its own module because a host and each of its sandboxes speak through the same one. What always holds: what the host raised is
raised here as the same class, and a host that cannot be reached is a `SandboxError`.
"""

import asyncio
import os
from collections.abc import AsyncGenerator, Callable
from dataclasses import dataclass
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec

from evalsi.core.errors import (
    EvalsiError,
    MissingExtraError,
    OverloadedError,
    SandboxError,
    UsageError,
    error_kind,
    told_error,
)
from evalsi.core.own_time import waiting_for_a_turn
from evalsi.schema.method import SANDBOX_METHODS
from evalsi.schema.schema_error import SchemaError

if TYPE_CHECKING:
    import grpc.aio

_METHODS = {method.name: method.full_name for method in SANDBOX_METHODS}

Message = TypeVar("Message", bound=msgspec.Struct)


@dataclass(frozen=True, kw_only=True)
class RemoteOptions:
    """Where the host is, and what is shown to it.

    Args:
        address: "host:port".
        authority: A file with the authority of its certificate; None speaks without TLS.
        certificate, key: Files with our own certificate, PEM.
        server_name: The name in its certificate, where the address is another.
    """

    address: str
    authority: Path | None = None
    certificate: Path | None = None
    key: Path | None = None
    server_name: str = ""


class RemoteConnection:
    """Opened when it is first needed; belongs to the running event loop."""

    def __init__(self, options: RemoteOptions) -> None:
        self._options = options
        self._channel: grpc.aio.Channel | None = None
        self._is_closed = False

    async def call(self, name: str, request: msgspec.Struct, kind: type[Message], wait_s: float) -> Message:
        """One call with one answer.

        Raises: what the host said; UsageError: the request cannot be sent; SandboxError: the host cannot be reached.
        """
        import grpc

        sent = _encoded(request)
        channel: Any = self._opened()
        try:
            return await channel.unary_unary(_METHODS[name], None, _decoder(kind))(sent, timeout=wait_s)
        except grpc.RpcError as error:
            raise self._told(error) from None

    async def call_in_turn(
        self, name: str, request: msgspec.Struct, kind: type[Message], wait_s: float, *, place_s: float
    ) -> Message:
        """As `call`, where the host has calls wait for a place behind others: no deadline of ours counts that wait.

        Args:
            wait_s: Seconds for the call itself.
            place_s: Seconds in which it must have its place.

        Raises: as `call`; SandboxError: it had none in time.
        """
        import grpc

        sent = _encoded(request)
        channel: Any = self._opened()
        # As a stream of one answer: of others, gRPC does not say before the answer that the host has begun.
        call = channel.unary_stream(_METHODS[name], None, _decoder(kind))(sent, timeout=wait_s + place_s)
        try:
            await self._turn_of(call, place_s)
            async for answer in call:
                return answer
        except grpc.RpcError as error:
            raise self._told(error) from None
        finally:
            call.cancel()
        raise SandboxError(f"the host of sandboxes at {self._options.address} ended a call without an answer")

    async def _turn_of(self, call: Any, place_s: float) -> None:
        """Returns when the host says that the call has its place, or has ended. Raises: SandboxError: it had none in time."""
        try:
            with waiting_for_a_turn():
                async with asyncio.timeout(place_s):
                    await call.initial_metadata()
        except TimeoutError:
            raise SandboxError(
                f"the host of sandboxes at {self._options.address} had no place for {place_s:g} s",
                hint="give it more processors, or ask less of it at once",
            ) from None

    async def listen(
        self, name: str, request: msgspec.Struct, kind: type[Message], wait_s: float
    ) -> AsyncGenerator[Message]:
        """A call with a stream of answers; leaving early cancels it. Raises: as `call`."""
        import grpc

        sent = _encoded(request)
        channel: Any = self._opened()
        answers = channel.unary_stream(_METHODS[name], None, _decoder(kind))(sent, timeout=wait_s)
        try:
            async for answer in answers:
                yield answer
        except grpc.RpcError as error:
            raise self._told(error) from None
        finally:
            answers.cancel()

    async def close(self) -> None:
        """Calling it twice is fine."""
        self._is_closed = True
        channel, self._channel = self._channel, None
        if channel is not None:
            await channel.close()

    def _opened(self) -> "grpc.aio.Channel":
        if self._is_closed:
            raise SandboxError("the host of sandboxes is closed")
        if self._channel is None:
            self._channel = _open(self._options)
        return self._channel

    def _told(self, error: Any) -> EvalsiError:
        """What the host said, as the error that it raised; SandboxError where it said nothing of the kind."""
        trailers: dict[str, Any] = dict(error.trailing_metadata() or ())
        kind = error_kind(str(trailers.get("evalsi-error", "")))
        message = str(error.details() or error.code().name)
        if kind is None:
            return SandboxError(f"the host of sandboxes at {self._options.address} cannot be used: {message}")
        field = trailers.get("evalsi-field-bin", b"")
        told = told_error(
            kind, message, where=field.decode(errors="replace") if isinstance(field, bytes) and field else None
        )
        if isinstance(told, OverloadedError):
            told.retry_after_s = _seconds_to_wait(trailers.get("retry-after"))
        return told


def _seconds_to_wait(told: Any) -> float:
    """What a host says, or a second: a host that is not ours may say nothing, no number, or have us ask without a pause."""
    try:
        seconds = float(told)
    except (TypeError, ValueError):
        return 1.0
    return max(1.0, seconds) if isfinite(seconds) else 1.0


def _open(options: RemoteOptions) -> "grpc.aio.Channel":
    """Raises: UsageError: a file of TLS cannot be read. MissingExtraError: gRPC is not installed."""
    # Evaluators run in forks of this process, which never speak gRPC; its own handlers would have forks end before they begin.
    os.putenv("GRPC_ENABLE_FORK_SUPPORT", "0")
    try:
        import grpc
        import grpc.aio
    except ImportError as error:
        raise MissingExtraError("a remote host of sandboxes", "server") from error
    settings: list[tuple[str, Any]] = [
        ("grpc.max_receive_message_length", -1),
        ("grpc.max_send_message_length", -1),
        ("grpc.enable_http_proxy", 0),
    ]
    if options.authority is None:
        return grpc.aio.insecure_channel(options.address, settings)
    if options.server_name:
        settings.append(("grpc.ssl_target_name_override", options.server_name))
    credentials = grpc.ssl_channel_credentials(
        _read(options.authority),
        _read(options.key) if options.key is not None else None,
        _read(options.certificate) if options.certificate is not None else None,
    )
    return grpc.aio.secure_channel(options.address, credentials, settings)


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise UsageError(f"the TLS file {path} cannot be read: {error.strerror}") from None


def _encoded(message: msgspec.Struct) -> bytes:
    """Not left to gRPC, which sends an empty message where this fails. Raises: UsageError."""
    from evalsi.schema.proto_codec import encode

    try:
        return encode(message)
    except SchemaError as error:
        raise UsageError(
            f"this cannot be sent to a host of sandboxes: {error}",
            hint="text must be valid Unicode and numbers in range",
        ) from error


def _decoder(kind: type[Message]) -> Callable[[bytes], Message]:
    def decoded(data: bytes) -> Message:
        from evalsi.schema.proto_codec import decode

        return decode(data, kind)

    return decoded
