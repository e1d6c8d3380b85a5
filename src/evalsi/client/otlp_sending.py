"""Spans sent to a server's OTLP receiver. Its own module because OTLP is no method of ours, so that no generated call sends it."""

import urllib.error
import urllib.request
from collections.abc import Sequence

import msgspec

from evalsi.client.server_address import ServerAddress
from evalsi.client.told_error import error_of_answer
from evalsi.core.errors import InvalidDataError, StoreError
from evalsi.schema.otlp_wire import otlp_messages
from evalsi.traces import Span, by_trace
from evalsi.traces.otlp_writing import encode_otlp_protobuf

SPANS_AT_ONCE = 2000
TIMEOUT_S = 60.0


def send_spans(server: ServerAddress, spans: Sequence[Span]) -> int:
    """Sends the spans, those of a trace together; how many the server accepted.

    Raises: EvalsiError: the server cannot be reached, or refuses. What was accepted before stays, and sending it again
        changes nothing.
    """
    sent: list[Span] = []
    accepted = 0
    for trace in by_trace(spans).values():
        sent += trace
        if len(sent) >= SPANS_AT_ONCE:
            accepted += _send(server, sent)
            sent = []
    return accepted + (_send(server, sent) if sent else 0)


def _send(server: ServerAddress, spans: Sequence[Span]) -> int:
    headers = {"content-type": "application/x-protobuf"}
    if server.api_key:
        headers["authorization"] = f"Bearer {server.api_key}"
    resource = {"evalsi.project": server.project} if server.project else {}
    body = encode_otlp_protobuf(_of_project(spans, resource))
    request = urllib.request.Request(f"{server.url}/v1/traces", body, headers)  # noqa: S310 - http or https, checked
    proxies = {"http": server.proxy, "https": server.proxy} if server.proxy else {}
    opener = urllib.request.build_opener(urllib.request.ProxyHandler(proxies))
    try:
        with opener.open(request, timeout=TIMEOUT_S) as answer:
            told = otlp_messages().Response.FromString(answer.read())
    except urllib.error.HTTPError as error:
        raise error_of_answer(error.code, error.read(), server.url) from None
    except OSError as error:
        raise StoreError(f"the server {server.url} cannot be reached: {error}", hint="check that it runs") from None
    rejected = told.partial_success.rejected_spans
    if rejected == len(spans):
        raise InvalidDataError(f"the server took none of {rejected} spans: {told.partial_success.error_message}")
    return len(spans) - rejected


def _of_project(spans: Sequence[Span], resource: dict[str, str]) -> list[Span]:
    if not resource:
        return list(spans)
    return [msgspec.structs.replace(span, resource={**span.resource, **resource}) for span in spans]
