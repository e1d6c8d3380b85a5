"""What a server said about a call that failed, as the error that the same mistake raises without a server.

Its own module because whoever catches `InvalidParamsError` must not care where the evaluator ran. What always holds: an
answer of any form gives an error of the tree, never a parsing failure.
"""

from typing import Any, cast

import msgspec

from evalsi.core.errors import (
    AlreadyExistsError,
    CallDeadlineError,
    EvalsiError,
    ForbiddenError,
    NotFoundError,
    OverloadedError,
    StoreError,
    TooLargeError,
    UnauthenticatedError,
    UnimplementedError,
    UsageError,
    error_kind,
    told_error,
)

_BY_STATUS: dict[int, type[EvalsiError]] = {
    400: UsageError,
    401: UnauthenticatedError,
    403: ForbiddenError,
    404: NotFoundError,
    409: AlreadyExistsError,
    413: TooLargeError,
    429: OverloadedError,
    501: UnimplementedError,
    503: StoreError,
    504: CallDeadlineError,
}
"""For answers that name no error of the tree: those of other writers, and of proxies between."""


def error_of_answer(status: int, body: bytes, server: str) -> EvalsiError:
    """The error in an answer.

    Args:
        status: HTTP status, 300 or more.
        server: Address of the server, for the message where the answer has none.
    """
    try:
        told: Any = msgspec.json.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        told = None
    return error_of_body(told, server, status)


def error_of_body(told: Any, server: str, status: int = 500) -> EvalsiError:
    """The error in the body of an answer, or in the last event of a stream."""
    fields = cast("dict[str, Any]", told) if isinstance(told, dict) else {}
    message = fields.get("message")
    if not isinstance(message, str) or not message:
        hint = "redirects are not followed: name the address itself" if status < 400 else "is it a server of evalsi?"
        return _BY_STATUS.get(status, EvalsiError)(
            f"{server} answered with HTTP status {status} and no reason", hint=hint
        )
    kind = error_kind(str(fields.get("error", ""))) or _BY_STATUS.get(status, EvalsiError)
    where = fields.get("field")
    if not isinstance(where, str) or not where:
        return told_error(kind, message)
    return told_error(kind, message.removeprefix(f"{where}: "), where=where)
