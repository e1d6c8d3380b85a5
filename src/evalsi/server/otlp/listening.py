"""Ports for OTLP alone, beside the main one: collectors and SDKs look for 4318 and 4317 where they are told nothing else.

Its own module because what is reachable there must be nothing but OTLP, also where the main port is for this machine only.
What always holds: each of them speaks both of OTLP's protocols, with the certificates of the main port.
"""

import os
import ssl
from collections.abc import AsyncGenerator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import grpc.aio

from evalsi.core.errors import EvalsiError
from evalsi.server.calls import Door
from evalsi.server.one_port import OnePort
from evalsi.server.otlp.grpc_export import OWN_FETCHES, GrpcExport
from evalsi.server.otlp.http_route import OtlpRoute
from evalsi.server.otlp.receiver import Receiver
from evalsi.server.pipe_names import PipeNames


@dataclass(frozen=True, kw_only=True)
class OtlpPlan:
    """What receives traces, and where besides the main port."""

    receiver: Receiver
    listens: Sequence[tuple[str, int]] = ()
    """Hosts and ports."""


@asynccontextmanager
async def otlp_ports(
    plan: OtlpPlan, door: Door, tls: ssl.SSLContext | None, folder: Path, stop_s: float
) -> AsyncGenerator[list[tuple[str, int]]]:
    """The ports, open; gives their addresses, and closes them within `stop_s` seconds.

    Args:
        folder: One that nobody else may enter.

    Raises: EvalsiError: an address cannot be listened on.
    """
    async with AsyncExitStack() as stack:
        found: list[tuple[str, int]] = []
        if plan.listens:
            inner = folder / "otlp"
            inner.mkdir()
            names = PipeNames(inner)
            server = grpc.aio.server(
                options=[("grpc.max_receive_message_length", plan.receiver.most_bytes), ("grpc.so_reuseport", 0)]
            )
            server.add_generic_rpc_handlers(GrpcExport(door, plan.receiver, names, OWN_FETCHES).handlers())
            server.add_insecure_port(f"unix:{inner / 'grpc'}")
            await server.start()
            stack.push_async_callback(server.stop, stop_s)
            for host, number in plan.listens:
                port = OnePort(OtlpRoute(door, plan.receiver), str(inner / "grpc"), names)
                try:
                    found.append(await port.listen(host, number, tls))
                except OSError as error:
                    raise EvalsiError(
                        f"{host}:{number} cannot be listened on for OTLP: {os.strerror(error.errno or 0)}",
                        hint="another collector may have the port; change otlp.http_listen or otlp.grpc_listen",
                    ) from None
                stack.push_async_callback(port.close, stop_s)
        yield found
