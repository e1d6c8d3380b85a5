"""A method of the schema together with the code that serves it.

Its own module because every protocol starts from this list. What always holds: a method of a service that is served is
served in every protocol; one that its class lacks answers that it is not implemented.
"""

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import msgspec

import evalsi.schema
from evalsi.schema.method import METHODS, Method
from evalsi.server.late_service import LateService


class ServedMethod(NamedTuple):
    method: Method
    request: type[msgspec.Struct]
    response: type[msgspec.Struct]
    call: Callable[..., Any] | None
    """`async def (request, caller)`; with a stream of requests an async iterator stands for the request, and with a
    stream of answers it is an async generator. None when nobody serves it.
    """
    short_name: str
    """Name in metrics and in the action table: "RunService.CreateRun"."""


def served_methods(services: Iterable[Any], methods: Iterable[Method] = METHODS) -> list[ServedMethod]:
    """The methods of the services that are there, in the order of the schema.

    Args:
        services: Objects whose `service` is the name of a service without its package, and whose methods bear the names
            of its methods in snake_case.
        methods: Those of the protocol that is served.
    """
    by_name = {service.service: service for service in services}
    found: list[ServedMethod] = []
    for method in methods:
        name = method.service.rpartition(".")[2]
        service = by_name.get(name)
        if service is None:
            continue
        request = getattr(evalsi.schema, method.request)
        response = getattr(evalsi.schema, method.response)
        if isinstance(service, LateService):
            call = service.code_of(method)
        else:
            call = getattr(service, method.python_name, None)
        found.append(ServedMethod(method, request, response, call, f"{name}.{method.name}"))
    return found
