"""One call from the command line to a server: a request message out, a response message or a typed error back.

Its own module because every command that speaks to a server goes this way. What always holds: the key is sent to the server
that was named and nowhere else (redirects are refused), and an error of the server is the same error here.
"""

import json
import urllib.error
import urllib.request
from http.client import HTTPException
from typing import IO, Any, TypeVar, cast
from urllib.parse import urlsplit

import msgspec

from evalsi.cli.kept_keys import kept_key
from evalsi.core.errors import (
    AlreadyExistsError,
    EvalsiError,
    ForbiddenError,
    NotFoundError,
    StoreError,
    UnauthenticatedError,
    UnimplementedError,
    UsageError,
)
from evalsi.schema.json_codec import decode, encode_file
from evalsi.settings import Settings

ResponseT = TypeVar("ResponseT", bound=msgspec.Struct)

TIMEOUT_S = 30.0
_LARGEST_ANSWER = 64 << 20
_ERRORS: dict[int, type[EvalsiError]] = {
    400: UsageError,
    401: UnauthenticatedError,
    403: ForbiddenError,
    404: NotFoundError,
    409: AlreadyExistsError,
    501: UnimplementedError,
    503: StoreError,
}


def server_of(named: str, settings: Settings) -> str:
    """The address of the server: the one named, else that of EVALSI_SERVER.

    Raises: UsageError: there is none, or it is no http address.
    """
    server = (named or settings.server).rstrip("/")
    if not server:
        raise UsageError("no server is named", hint="say --server https://…, or set EVALSI_SERVER")
    parts = urlsplit(server)
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.username or parts.password:
        raise UsageError(
            f"{parts.hostname or server!r} is no address of a server", hint="write http:// or https:// before it"
        )
    return server


def call(method: str, request: msgspec.Struct, kind: type[ResponseT], server: str, settings: Settings) -> ResponseT:
    """Calls a method such as `AuthService/WhoAmI`. Raises: EvalsiError: what the server said, or that there is none."""
    headers = {"Content-Type": "application/json", "Accept": "application/json", "User-Agent": "evalsi"}
    key = settings.api_key or kept_key(server, settings)
    if key:
        headers["Authorization"] = f"Bearer {key}"
    address = f"{server}/evalsi.v1alpha1.{method}"
    sent = urllib.request.Request(address, data=encode_file(request), headers=headers, method="POST")  # noqa: S310
    opener = urllib.request.build_opener(_NoRedirects)
    try:
        with opener.open(sent, timeout=TIMEOUT_S) as answer:
            content = cast("bytes", answer.read(_LARGEST_ANSWER))
    except urllib.error.HTTPError as error:
        with error:
            raise _told(error.code, error.read(_LARGEST_ANSWER), server) from None
    except (OSError, HTTPException) as error:
        reason = getattr(error, "reason", error)
        raise NotFoundError(f"no server answers at {server}: {reason}", hint="start one with: evalsi serve") from None
    return decode(content, kind)


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, req: Any, fp: IO[bytes], code: int, msg: str, headers: Any, newurl: str) -> None:  # noqa: ARG002
        return None


def _told(status: int, content: bytes, server: str) -> EvalsiError:
    try:
        body = json.loads(content)
        message = str(body["message"])
    except (ValueError, TypeError, KeyError):
        return EvalsiError(
            f"{server} answered with HTTP status {status} and no reason", hint="is it a server of evalsi?"
        )
    return _ERRORS.get(status, EvalsiError)(message)
