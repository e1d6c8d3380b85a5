"""A web page of somebody else, in the browser of a developer, can do nothing with the server on their machine."""

import json
from pathlib import Path

import grpc
import pytest

from evalsi.core.errors import ForbiddenError
from evalsi.server.own_pages import OwnPages
from tests.server.running_server import EXACT, RunningServer, running_server

JSON = json.dumps(EXACT)
EVALUATE = "/evalsi.v1alpha1.EvaluationService/Evaluate"
FOREIGN = ["https://evil.example", "http://127.0.0.1:1", "http://localhost:3000", "null", "file://", "http://[", ""]


@pytest.mark.parametrize("origin", FOREIGN)
def test_a_page_of_another_origin_changes_nothing(server: RunningServer, origin: str) -> None:
    headers = {"Origin": origin, "Content-Type": "text/plain"}
    for path in ("/v1/evaluate", EVALUATE, "/v1alpha1/runs", "/nothing/here"):
        status, _, body = server.request("POST", path, JSON, headers)
        assert (status, json.loads(body)["error"]) == (403, "forbidden"), path
    for verb in ("DELETE", "PUT", "OPTIONS"):
        assert server.request(verb, "/v1alpha1/runs/x", None, headers)[0] == 403


def test_a_page_of_another_origin_reads_nothing(server: RunningServer) -> None:
    status, headers, _ = server.request("GET", "/v1alpha1/evaluators", None, {"Origin": "https://evil.example"})
    assert status == 200
    assert not [name for name in headers if name.startswith("access-control")]
    for credential in ({"Authorization": "Bearer x"}, {"Cookie": "session=x"}, {"X-Api-Key": "x"}):
        sent = {"Origin": "https://evil.example", **credential}
        assert server.request("GET", "/v1alpha1/evaluators", None, sent)[0] == 403


def test_a_browser_that_names_the_site_alone_is_believed(server: RunningServer) -> None:
    for site, status in (("cross-site", 403), ("same-site", 403), ("same-origin", 200), ("none", 200)):
        assert server.request("POST", "/v1/evaluate", JSON, {"Sec-Fetch-Site": site})[0] == status


def test_pages_of_the_server_and_programs_are_served(server: RunningServer) -> None:
    for name in ("127.0.0.1", "localhost"):
        headers = {"Origin": f"http://{name}:{server.port}", "Host": f"{name}:{server.port}"}
        assert server.request("POST", "/v1/evaluate", JSON, headers)[0] == 200
    assert server.post("/v1/evaluate", EXACT)[0] == 200
    with grpc.insecure_channel(server.address) as channel:
        assert channel.unary_unary("/evalsi.v1alpha1.CatalogService/ListEvaluators")(b"", timeout=10)


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:8080", "127.0.0.1.evil.example", "10.0.0.1", "localhost.evil.example:1"]
)
def test_a_name_that_was_made_to_lead_here_is_refused(server: RunningServer, host: str) -> None:
    for verb, path in (("GET", "/v1alpha1/evaluators"), ("POST", "/v1/evaluate"), ("GET", "/"), ("GET", "/metrics")):
        sent = {"Host": host, "Origin": f"http://{host}"}
        status, _, body = server.request(verb, path, JSON if verb == "POST" else None, sent)
        assert (status, json.loads(body)["error"]) == (403, "forbidden")
        assert "localhost" in json.loads(body)["message"]


@pytest.mark.parametrize(
    "host", ["localhost", "LOCALHOST:80", "localhost.", "127.0.0.1:8", "[::1]:8", "127.9.9.9", "a.localhost:8"]
)
def test_names_of_this_machine_are_right(host: str) -> None:
    OwnPages(this_machine_alone=True).check("POST", [(b"host", host.encode())])


def test_behind_a_proxy_the_servers_own_name_is_right() -> None:
    pages = OwnPages(this_machine_alone=False)
    for origin, host in (
        ("https://evals.example.com", "evals.example.com"),
        ("https://evals.example.com", "evals.example.com:443"),
        ("https://Evals.example.com:8443", "evals.example.com:8443"),
    ):
        pages.check("POST", [(b"host", host.encode()), (b"origin", origin.encode())])
    with pytest.raises(ForbiddenError, match=r"other\.example\.com"):
        pages.check("POST", [(b"host", b"evals.example.com"), (b"origin", b"https://other.example.com")])


def test_a_server_that_asks_who_is_calling_may_have_any_name(tmp_path: Path) -> None:
    (tmp_path / "evalsi.yaml").write_text("data_dir: store\nauth: {}\n")
    with running_server(tmp_path, ("--config", "evalsi.yaml")) as server:
        assert server.request("GET", "/healthz", None, {"Host": "evals.example.com"})[0] == 200
        assert server.request("GET", "/v1alpha1/evaluators", None, {"Host": "evals.example.com"})[0] == 401
