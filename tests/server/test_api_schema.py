"""What `/openapi.json` promises is what the server does, on requests nobody thought of."""

from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from schemathesis.checks import not_a_server_error

from tests.server.running_server import RunningServer

SERVED = ("/v1alpha1/evaluate", "/v1alpha1/evaluators", "/v1alpha1/credentials")


@pytest.mark.slow
@pytest.mark.parametrize("path", SERVED)
def test_no_request_that_fits_the_description_breaks_the_server(server: RunningServer, path: str) -> None:
    schema: Any = schemathesis.openapi.from_url(f"http://{server.address}/openapi.json")
    (operation,) = [one.ok() for one in schema.include(path=path).get_all_operations()]

    @given(case=operation.as_strategy())
    @settings(
        max_examples=40,
        deadline=None,
        suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow, HealthCheck.filter_too_much],
        phases=[Phase.generate],
    )
    def check(case: Any) -> None:
        case.call_and_validate(base_url=f"http://{server.address}", checks=[not_a_server_error])

    check()


@pytest.mark.slow
@given(
    body=st.binary(max_size=200),
    kind=st.sampled_from(
        ["application/json", "application/proto", "application/connect+json", "application/grpc-web+proto",
         "application/grpc-web-text", "text/plain"]
    ),
    path=st.sampled_from(
        ["/v1/evaluate", "/v1/evaluate:stream", "/evalsi.v1alpha1.EvaluationService/Evaluate",
         "/evalsi.v1alpha1.EvaluationService/EvaluateStream"]
    ),
)  # fmt: skip
@settings(
    max_examples=150,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow, HealthCheck.filter_too_much],
)
def test_no_bytes_break_the_server(server: RunningServer, body: bytes, kind: str, path: str) -> None:
    status, _, _ = server.request("POST", path, body, {"content-type": kind})
    assert status < 500
    assert not [line for line in server.lines if line["event"] == "crash"]
