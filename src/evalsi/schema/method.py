"""What the server has to know about one method. Written by hand over a generated table.

gRPC, gRPC-Web, Connect, REST, the gate and the OpenAPI document are all built from `METHODS`, so a method that stands in
`proto/` can be reached, and is guarded, in every way at once.
"""

from typing import NamedTuple

from evalsi.schema.generated.method_table import METHODS as TABLE
from evalsi.schema.generated.method_table import SANDBOX_METHODS as SANDBOX_TABLE


class Method(NamedTuple):
    service: str
    """Full name of the service, for example "evalsi.v1alpha1.RunService"."""
    name: str
    """Name of the method, for example "CreateRun"."""
    python_name: str
    """Name of the method in Python: "create_run"."""
    request: str
    """Name of the request's Struct in `evalsi.schema`."""
    response: str
    """Name of the response's Struct in `evalsi.schema`."""
    client_streams: bool
    server_streams: bool
    safe: bool
    """True when a call changes nothing, so that it may be repeated and sent as a GET."""
    verb: str
    """REST verb; empty when the method has no REST address."""
    path: str
    """REST path, in which a part in braces is a field of the request: "/v1alpha1/runs/{id}:cancel"."""
    body: str
    """What a REST body is: "*" for the whole request, else the field that it fills; empty for none."""
    raw: str
    """For a stream of bytes: the field whose pieces are the body of the REST request or answer."""
    raw_type: str
    """The media type of such an answer; empty for JSON Lines."""
    also: str
    """Another path that leads here with the same verb; empty for none."""
    action: str
    """What a caller must be allowed to do: "runs.create"."""

    @property
    def is_upload(self) -> bool:
        """Whether its request over REST is a file; what comes of it is answered as made, 201."""
        return self.client_streams and bool(self.raw)

    @property
    def full_name(self) -> str:
        """Name in logs, metrics and the audit log: "/evalsi.v1alpha1.RunService/CreateRun"."""
        return f"/{self.service}/{self.name}"


METHODS = tuple(Method(*entry) for entry in TABLE)
"""Every method of the server, in the order of the source."""
SANDBOX_METHODS = tuple(Method(*entry) for entry in SANDBOX_TABLE)
"""Every method of a host of sandboxes, which is a protocol and a program of its own."""
