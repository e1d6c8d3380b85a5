"""What a caller is told about a call that failed: one fault, in the words of each protocol.

Its own module because REST, Connect and gRPC must tell the same. What always holds: the statuses come from the error
tree; no path of this machine and no advice for its command line is told; and what is no error of the tree is told as our
own fault without its text, which may hold anything.
"""

from typing import Any

import msgspec

from evalsi.core.errors import NO_ROOM, EvalsiError, OverloadedError, StoreError, UsageError
from evalsi.core.outward_words import outward_words, without_paths
from evalsi.schema.schema_error import SchemaError

CONNECT_CODES = {
    1: ("canceled", 499),
    2: ("unknown", 500),
    3: ("invalid_argument", 400),
    4: ("deadline_exceeded", 504),
    5: ("not_found", 404),
    6: ("already_exists", 409),
    7: ("permission_denied", 403),
    8: ("resource_exhausted", 429),
    9: ("failed_precondition", 400),
    10: ("aborted", 409),
    11: ("out_of_range", 400),
    12: ("unimplemented", 501),
    13: ("internal", 500),
    14: ("unavailable", 503),
    15: ("data_loss", 500),
    16: ("unauthenticated", 401),
}
"""Connect's name of a gRPC status, and the HTTP status that carries it."""


OUR_FAULT = "the server failed on this call; its log says more under the id of the request"


class Fault(msgspec.Struct, frozen=True, kw_only=True):
    """Why a call failed."""

    http_status: int
    grpc_status: int
    code: str
    """Code of the error tree: the name of its page in the docs."""
    message: str
    """One sentence for a person, the hint included."""
    field: str = ""
    """Path of the field of the request that is wrong."""
    retry_after_s: float | None = None

    def rest_body(self, request_id: str) -> bytes:
        """The body of a REST answer: the shape that clients of the interface parse, and what helps a person."""
        body: dict[str, Any] = {"code": self.grpc_status, "message": self.message, "details": [], "error": self.code}
        if self.field:
            body["field"] = self.field
        body["requestId"] = request_id
        return msgspec.json.encode(body)

    def connect_body(self) -> dict[str, Any]:
        return {"code": CONNECT_CODES[self.grpc_status][0], "message": self.message}

    @property
    def connect_status(self) -> int:
        """HTTP status of a Connect answer. Ours where it means more than Connect's own for the code."""
        return self.http_status if self.http_status in (413, 503) else CONNECT_CODES[self.grpc_status][1]


def _field_of(error: EvalsiError) -> str:
    """The field of the request that an error is about; what is not there is often named by one, and else by its own place."""
    where = error.where or ""
    return without_paths(where) if isinstance(error, UsageError) or where.startswith("spec.") else ""


def fault_of(error: BaseException) -> Fault:
    """What to tell about an error."""
    match error:
        case SchemaError():
            return Fault(http_status=400, grpc_status=3, code="invalid-spec", message=error.problem, field=error.path)
        case OverloadedError():
            return Fault(
                http_status=error.http_status,
                grpc_status=error.grpc_status(),
                code=error.code,
                message=outward_words(error),
                retry_after_s=error.retry_after_s,
            )
        case EvalsiError():
            return Fault(
                http_status=error.http_status,
                grpc_status=error.grpc_status(),
                code=error.code,
                message=outward_words(error),
                field=_field_of(error),
                retry_after_s=1.0 if error.http_status == 503 else None,
            )
        case OSError() if error.errno in NO_ROOM:
            return fault_of(
                StoreError("the server has no room left on its disk", hint="try again when its operator made room")
            )
        case _:
            return Fault(
                http_status=500,
                grpc_status=13,
                code="error",
                message=OUR_FAULT,
            )
