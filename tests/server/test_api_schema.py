"""What `/openapi.json` promises is what the server does, on requests nobody thought of, for every method."""

import json
from collections.abc import Generator, Mapping
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from evalsi.schema.method import METHODS
from tests.server.running_server import RunningServer, running_server, wait_until

QUIET = {"deadline": None, "suppress_health_check": list(HealthCheck), "phases": [Phase.generate]}
ENDLESS = "/evalsi.v1alpha1.TraceService/WatchTraces"
"""It needs nothing to be found, so one drawn body in thousands is right, and its answer has no end."""
STREAMED = {method.path for method in METHODS if method.client_streams}
"""Their bodies are lines of JSON or files, which the generator of requests cannot write; other tests do."""
SERVICES = sorted({method.service.rpartition(".")[2] for method in METHODS})
KINDS = ["application/json", "application/proto", "application/connect+json", "application/connect+proto",
         "application/grpc-web+proto", "application/grpc-web-text", "text/plain"]  # fmt: skip


@pytest.fixture(scope="module")
def attacked(tmp_path_factory: pytest.TempPathFactory) -> Generator[RunningServer]:
    """A server of its own: what these tests ask for, others must not find."""
    with running_server(tmp_path_factory.mktemp("attacked")) as server:
        yield server
        assert [line for line in server.lines if line["event"] in ("crash", "no JSON")] == []


def is_deliberate(status: int, headers: Mapping[str, str]) -> bool:
    """A method that this version does not serve, or a server that is busy and says when to come back."""
    return status < 500 or status == 501 or (status == 503 and "retry-after" in headers)


@pytest.mark.slow
@pytest.mark.parametrize("service", SERVICES)
def test_no_request_that_fits_the_description_breaks_the_server(attacked: RunningServer, service: str) -> None:
    import schemathesis  # takes longer to import than all of evalsi, in every process that collects tests

    schema: Any = schemathesis.openapi.from_url(f"http://{attacked.address}/openapi.json")
    mine = {(method.verb, method.path) for method in METHODS if method.service.endswith(f".{service}")}
    operations = [one.ok() for one in schema.get_all_operations()]
    chosen = [one for one in operations if (one.method.upper(), one.path) in mine]
    assert len(chosen) == len(mine)
    for operation in chosen:
        if operation.path in STREAMED or operation.path.endswith(":watch"):
            continue  # one that is found does not end; those that are not are in the tests of bodies

        @given(case=operation.as_strategy())
        @settings(max_examples=12, **QUIET)
        def check(case: Any) -> None:
            answer = case.call(base_url=f"http://{attacked.address}", timeout=30)
            names = {name.lower(): "" for name in answer.headers}
            assert is_deliberate(answer.status_code, names), (case.as_curl_command(), answer.content[:500])

        check()


@pytest.mark.slow
@pytest.mark.parametrize("service", SERVICES)
def test_no_body_breaks_any_method(attacked: RunningServer, service: str) -> None:
    of_service = [method.full_name for method in METHODS if method.service.endswith(f".{service}")]
    names = [name for name in of_service if name != ENDLESS]
    values = st.recursive(
        st.none() | st.booleans() | st.floats() | st.integers() | st.text(max_size=20),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(FIELDS) | st.text(max_size=5), inner, max_size=4),
        max_leaves=12,
    )  # fmt: skip

    @given(
        name=st.sampled_from(names),
        body=st.binary(max_size=300) | values.map(json.dumps).map(str.encode),
        kind=st.sampled_from(KINDS),
        framed=st.booleans(),
    )
    @settings(max_examples=40 * len(names), **QUIET)
    def check(name: str, body: bytes, kind: str, framed: bool) -> None:
        sent = b"\x00" + len(body).to_bytes(4, "big") + body if framed else body
        status, headers, answer = attacked.request("POST", name, sent, {"content-type": kind})
        assert is_deliberate(status, headers), (name, kind, body, answer[:500])

    check()
    assert wait_until(lambda: attacked.metric("evalsi_calls_in_flight") == 0)
    assert attacked.get("/readyz") == (200, {"ready": True})


FIELDS = ["id", "runId", "records", "evaluators", "project", "name", "spec", "dataset", "inline", "output", "text", "labels",
          "config", "record", "content", "version", "pageSize", "pageToken", "ref", "params", "trials", "gates", "ttl", "roles",
          "beforeVersion", "afterVersion", "when", "by", "metric", "limit", "results", "summaries", "startedAt"]  # fmt: skip
