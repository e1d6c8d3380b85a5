"""A host of sandboxes that is not ours: whatever it says becomes an error of ours, and never a program's."""

import asyncio
from typing import Any

import grpc.aio
import pytest

from evalsi import schema
from evalsi.core.errors import OverloadedError
from evalsi.infra.sandbox.remote_connection import RemoteConnection, RemoteOptions


@pytest.mark.parametrize(
    ("told", "wait_s"),
    [("7", 7.0), ("soon", 1.0), ("-5", 1.0), ("0", 1.0), ("nan", 1.0), ("inf", 1.0), ("", 1.0), (None, 1.0)],
)
def test_a_host_that_is_full_decides_no_wait_that_makes_no_sense(told: str | None, wait_s: float) -> None:
    trailers: list[tuple[str, Any]] = [("evalsi-error", "overloaded"), ("evalsi-field-bin", b"\xff")]
    if told is not None:
        trailers.append(("retry-after", told))

    class Full(grpc.GenericRpcHandler):
        def service(self, handler_call_details: Any) -> Any:
            async def answer(_sent: bytes, context: Any) -> bytes:
                await context.abort(grpc.StatusCode.RESOURCE_EXHAUSTED, "full", trailing_metadata=tuple(trailers))
                return b""

            return grpc.unary_unary_rpc_method_handler(answer)

    async def main() -> None:
        server = grpc.aio.server()
        server.add_generic_rpc_handlers((Full(),))
        port = server.add_insecure_port("127.0.0.1:0")
        await server.start()
        connection = RemoteConnection(RemoteOptions(address=f"127.0.0.1:{port}"))
        try:
            with pytest.raises(OverloadedError) as refused:
                await connection.call("Create", schema.SandboxCreateRequest(), schema.SandboxCreateResponse, 30)
            assert refused.value.retry_after_s == wait_s
        finally:
            await connection.close()
            await server.stop(None)

    asyncio.run(main())
