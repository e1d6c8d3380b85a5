"""gRPC: every method, reflection and health, on a socket that only the port in front reaches, or on an address of its own.

Messages cross as bytes and become Structs through the generated wire code, so no runtime type of protobuf is seen by a
service. What always holds: a fault is told as the status of the error tree, with our sentence as its details.
"""

import asyncio
import errno
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Sequence
from contextlib import aclosing, asynccontextmanager, suppress
from typing import Any, TypeAlias, cast

import grpc
import grpc.aio
import msgspec
from google.protobuf.descriptor_pb2 import FileDescriptorProto
from google.protobuf.descriptor_pool import DescriptorPool
from grpc_health.v1 import health, health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha import reflection_pb2
from grpc_reflection.v1alpha._async import ReflectionServicer

from evalsi.core.own_time import told_of_its_turn
from evalsi.schema.json_codec import check_message
from evalsi.schema.proto_codec import compiled_files, decode, encode
from evalsi.server.answer import QuickAnswer, message_of
from evalsi.server.calls import Arrival, Door
from evalsi.server.exchange import request_id_of
from evalsi.server.fault import fault_of
from evalsi.server.served_method import ServedMethod

_Handler: TypeAlias = "grpc.RpcMethodHandler[Any, Any]"
_STATUS = {status.value[0]: status for status in grpc.StatusCode}
_REFLECTIONS = ("grpc.reflection.v1.ServerReflection", "grpc.reflection.v1alpha.ServerReflection")
_HEALTH = "grpc.health.v1.Health"
SERVING = health_pb2.HealthCheckResponse.SERVING
NOT_SERVING = health_pb2.HealthCheckResponse.NOT_SERVING


class GrpcService:
    """A gRPC server.

    Args:
        source_of: Who made a call, given gRPC's context of it: an address, or a name that was proven.
        most_bytes: Largest message that is taken.
        others: Handlers of methods that are not of the schema.
    """

    def __init__(
        self,
        door: Door,
        served: Sequence[ServedMethod],
        source_of: Callable[[Any], str],
        *,
        most_bytes: int,
        others: Sequence[grpc.GenericRpcHandler] = (),
    ) -> None:
        self._door = door
        self._source_of = source_of
        self._names = sorted({one.method.service for one in served})
        self._server = grpc.aio.server(
            options=[
                ("grpc.max_receive_message_length", most_bytes),
                ("grpc.max_send_message_length", -1),
                ("grpc.so_reuseport", 0),
                # Windows that grow by themselves would let every client of a flood have megabytes in flight.
                ("grpc.http2.bdp_probe", 0),
                ("grpc.http2.lookahead_bytes", 1 << 20),
            ]
        )
        self._health: Any = cast("Any", health).aio.HealthServicer()
        cast("Any", health_pb2_grpc).add_HealthServicer_to_server(self._health, self._server)
        for name in self._names:
            handlers = {one.method.name: self._handler(one) for one in served if one.method.service == name}
            self._add(name, handlers)
        self._server.add_generic_rpc_handlers(tuple(others))
        self._add_reflection()

    async def start(self, address: str, credentials: "grpc.ServerCredentials | None" = None) -> int:
        """Listens; the port, where there is one.

        Args:
            address: "unix:path" or "host:port".
            credentials: For TLS; None for none.
        Raises: OSError: the address cannot be listened on.
        """
        try:
            if credentials is None:
                port = self._server.add_insecure_port(address)
            else:
                port = self._server.add_secure_port(address, credentials)
        except RuntimeError as error:
            raise OSError(errno.EADDRNOTAVAIL, str(error)) from None
        await self._server.start()
        for name in ("", *self._names):
            await self._health.set(name, SERVING)
        return port

    async def stop(self, grace_s: float) -> None:
        """Takes no more calls and waits `grace_s` seconds for those under way."""
        await self._health.enter_graceful_shutdown()
        await self._server.stop(grace_s)

    def _add(self, name: str, handlers: dict[str, _Handler]) -> None:
        self._server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler(name, handlers),))

    def _add_reflection(self) -> None:
        """Both versions of reflection: their messages are the same on the wire."""
        pool = DescriptorPool()
        known: set[str] = set()
        reflection = _file_of(reflection_pb2)
        for file in (*compiled_files(), _file_of(health_pb2), reflection, _version_one(reflection)):
            if file.name not in known:
                pool.Add(file)
                known.add(file.name)
        servicer: Any = ReflectionServicer([*self._names, _HEALTH, *_REFLECTIONS], pool)
        handler = grpc.stream_stream_rpc_method_handler(
            servicer.ServerReflectionInfo,
            request_deserializer=reflection_pb2.ServerReflectionRequest.FromString,
            response_serializer=reflection_pb2.ServerReflectionResponse.SerializeToString,
        )
        for name in _REFLECTIONS:
            self._add(name, {"ServerReflectionInfo": handler})

    def _handler(self, served: ServedMethod) -> _Handler:
        match served.method.client_streams, served.method.server_streams:
            case False, False:
                return grpc.unary_unary_rpc_method_handler(self._unary(served))
            case True, False:
                return grpc.stream_unary_rpc_method_handler(self._gather(served))
            case False, True:
                return grpc.unary_stream_rpc_method_handler(self._stream(served))
            case _:
                return grpc.stream_stream_rpc_method_handler(self._stream(served))

    def _unary(self, served: ServedMethod) -> Any:
        async def answer(sent: bytes, context: Any) -> bytes:
            arrival = self._arrival(context)
            try:
                async with _telling_of_its_turn(context):
                    return _written(await self._door.answer(served, _read(sent, served), arrival))
            except Exception as error:
                return await _tell(context, error, arrival)

        return answer

    def _gather(self, served: ServedMethod) -> Any:
        async def answer(sent: AsyncIterator[bytes], context: Any) -> bytes:
            arrival = self._arrival(context)
            try:
                return _written(await self._door.gather(served, _read_all(sent, served), arrival))
            except Exception as error:
                return await _tell(context, error, arrival)

        return answer

    def _stream(self, served: ServedMethod) -> Any:
        async def answers(sent: Any, context: Any) -> AsyncGenerator[bytes]:
            arrival = self._arrival(context)
            try:
                request = _read_all(sent, served) if served.method.client_streams else _read(sent, served)
                async with aclosing(self._door.stream(served, request, arrival)) as stream:
                    async for one in stream:
                        yield encode(one)
            except Exception as error:
                await _tell(context, error, arrival)

        return answers

    def _arrival(self, context: Any) -> Arrival:
        headers = {name: value for name, value in (context.invocation_metadata() or ()) if isinstance(value, str)}
        return Arrival(
            headers=headers,
            request_id=request_id_of(headers),
            protocol="grpc",
            source=self._source_of(context),
            deadline_s=context.time_remaining(),
        )


@asynccontextmanager
async def _telling_of_its_turn(context: Any) -> AsyncGenerator[None]:
    """Sends the initial metadata when the call has waited for its turn and begins, so that its caller can count from there."""
    sending: list[asyncio.Task[None]] = []

    def begin() -> None:
        if not sending:
            sending.append(asyncio.get_running_loop().create_task(context.send_initial_metadata(())))

    try:
        with told_of_its_turn(begin):
            yield
    finally:
        for task in sending:  # it must not be under way when the answer is sent, which would bring the metadata again
            await asyncio.wait([task])
            with suppress(Exception):  # the caller has hung up
                task.result()


def _file_of(module: Any) -> FileDescriptorProto:
    return FileDescriptorProto.FromString(module.DESCRIPTOR.serialized_pb)


def _version_one(alpha: FileDescriptorProto) -> FileDescriptorProto:
    """The description of reflection v1, which differs from v1alpha in its name alone."""
    file = FileDescriptorProto.FromString(alpha.SerializeToString())
    file.name, file.package = "grpc/reflection/v1/reflection.proto", "grpc.reflection.v1"
    types = [field for message in file.message_type for field in message.field if field.type_name]
    for field in types:
        field.type_name = field.type_name.replace(".v1alpha.", ".v1.")
    for method in file.service[0].method:
        method.input_type = method.input_type.replace(".v1alpha.", ".v1.")
        method.output_type = method.output_type.replace(".v1alpha.", ".v1.")
    return file


def _read(sent: bytes, served: ServedMethod) -> msgspec.Struct:
    request = decode(sent, served.request)
    check_message(request)
    return request


async def _read_all(sent: AsyncIterator[bytes], served: ServedMethod) -> AsyncGenerator[msgspec.Struct]:
    async for one in sent:
        yield _read(one, served)


def _written(answer: msgspec.Struct | QuickAnswer) -> bytes:
    return encode(message_of(answer))


async def _tell(context: Any, error: Exception, arrival: Arrival) -> Any:
    fault = fault_of(error)
    trailers: list[tuple[str, str | bytes]] = [("x-request-id", arrival.request_id), ("evalsi-error", fault.code)]
    if fault.field:
        trailers.append(("evalsi-field-bin", fault.field.encode()))
    if fault.retry_after_s is not None:
        trailers.append(("retry-after", str(max(1, round(fault.retry_after_s)))))
    await context.abort(_STATUS[fault.grpc_status], fault.message, tuple(trailers))
