"""REST as people use it: with curl, with half-right requests, and again when the first try was lost."""

import gzip
import json
import subprocess
from typing import Any

import msgspec
import pytest
import zstandard

from evalsi.schema import EvaluateResponse
from evalsi.schema.json_codec import decode
from tests.server.running_server import EXACT, RECORD, RunningServer, wait_until


def curl(server: RunningServer, *arguments: str) -> str:
    done = subprocess.run(["curl", "-sS", *arguments], capture_output=True, text=True, check=True, timeout=30)
    return done.stdout


def test_curl_without_a_content_type_is_answered(server: RunningServer) -> None:
    body = curl(server, "-d", json.dumps(EXACT), f"http://{server.address}/v1alpha1/evaluate")
    found = decode(body, EvaluateResponse)
    assert found.results[0].scores[0].passed is True
    assert found.summaries[0].n == 1


def test_the_short_version_in_a_path_stands_for_the_long_one(server: RunningServer) -> None:
    assert server.post("/v1/evaluate", EXACT)[0] == 200
    assert server.get("/v1/evaluators")[0] == 200


def test_zeros_and_false_are_printed_and_counts_are_numbers(server: RunningServer) -> None:
    wrong = {**RECORD, "output": {"text": "Lyon"}}
    _, found = server.post("/v1/evaluate", {**EXACT, "records": [wrong]})
    assert found["results"][0]["scores"][0]["passed"] is False
    summary = found["summaries"][0]
    assert (summary["n"], summary["mean"], summary["ci"]["low"], summary["errors"]) == (1, 0.0, 0.0, 0)


def test_names_may_be_written_in_either_spelling(server: RunningServer) -> None:
    for summary in ({"confidenceLevel": 0.9}, {"confidence_level": 0.9}):
        status, found = server.post("/v1/evaluate", {**EXACT, "summary": summary})
        assert status == 200
        assert found["summaries"][0]["ci"]["level"] == 0.9


@pytest.mark.parametrize(
    ("request_body", "code", "field", "words"),
    [
        ({**EXACT, "recrods": []}, "invalid-spec", "recrods", "did you mean records?"),
        ({"records": [{"id": 7}]}, "invalid-spec", "records[0].id", "must be"),
        ({**EXACT, "evaluators": [{"ref": "exact-mach"}]}, "unknown-name", "", "exact-match"),
        ({**EXACT, "records": [RECORD, RECORD]}, "duplicate-id", "records[1].id", "records[0] and records[1]"),
        ({**EXACT, "evaluators": []}, "usage", "", "no evaluator was named"),
        ({**EXACT, "evaluators": [{"ref": "./mine.py:f"}]}, "usage", "evaluators[0].ref", "installed"),
        ({**EXACT, "summary": {"confidenceLevel": 2}}, "usage", "summary.confidence_level", "0.95"),
        ({**EXACT, "judge": "nobody"}, "unknown-name", "judge", "nobody"),
        ({**EXACT, "evaluators": [{"ref": "contains", "params": {"substring": 2**70}}]}, "usage", "", "64 bits"),
        ([], "usage", "", "must be"),
    ],
)
def test_a_mistake_is_named_with_its_place_and_the_way_out(
    server: RunningServer, request_body: Any, code: str, field: str, words: str
) -> None:
    status, headers, body = server.request("POST", "/v1/evaluate", json.dumps(request_body))
    found = json.loads(body)
    assert status == 400, found
    assert (found["code"], found["details"]) == (3, [])
    assert words in found["message"]
    assert found.get("field", "") == field
    assert found["error"] in (code, "invalid-spec")
    assert found["requestId"] == headers["x-request-id"]


def test_malformed_json_is_named_with_line_and_column(server: RunningServer) -> None:
    status, _, body = server.request("POST", "/v1/evaluate", '{"records": [\n {"id": }]}')
    assert status == 400
    assert "line 2 column" in json.loads(body)["message"]


def test_the_wrong_verb_is_told_the_right_ones(server: RunningServer) -> None:
    status, headers, _ = server.request("GET", "/v1/evaluate")
    assert (status, headers["allow"]) == (405, "POST, OPTIONS")
    status, headers, _ = server.request("OPTIONS", "/v1/evaluators")
    assert (status, headers["allow"]) == (204, "GET, HEAD, OPTIONS")
    assert server.request("POST", "/healthz")[0] == 405


def test_an_unknown_path_is_told_the_nearest_one(server: RunningServer) -> None:
    status, found = server.get("/v1alpha1/evaluatorz")
    assert status == 404
    assert "/v1alpha1/evaluators" in found["message"]


def test_a_head_request_has_the_headers_and_no_body(server: RunningServer) -> None:
    status, headers, body = server.request("HEAD", "/v1/evaluators")
    assert (status, body) == (200, b"")
    assert int(headers["content-length"]) > 1000


@pytest.mark.parametrize("coding", ["gzip", "zstd"])
def test_bodies_are_taken_and_given_in_both_codings(server: RunningServer, coding: str) -> None:
    records = [{**RECORD, "id": str(number)} for number in range(50)]
    plain = json.dumps({**EXACT, "records": records}).encode()
    sent = gzip.compress(plain) if coding == "gzip" else zstandard.compress(plain)
    headers = {"content-encoding": coding, "accept-encoding": f"br, {coding};q=0.9"}
    status, got, body = server.request("POST", "/v1/evaluate", sent, headers)
    assert (status, got["content-encoding"]) == (200, coding)
    opened = gzip.decompress(body) if coding == "gzip" else zstandard.decompress(body)
    assert len(json.loads(opened)["results"]) == 50


def test_a_body_that_is_not_in_its_coding_is_refused(server: RunningServer) -> None:
    for coding, body in (("gzip", b"no"), ("zstd", b"no"), ("br", b"no"), ("gzip", gzip.compress(b"{}" * 9)[:-9])):
        assert server.request("POST", "/v1/evaluate", body, {"content-encoding": coding})[0] == 400


@pytest.mark.slow
def test_a_body_that_is_or_unpacks_to_too_much_is_refused(server: RunningServer) -> None:
    bomb = gzip.compress(b" " * (65 << 20), compresslevel=1)
    assert server.request("POST", "/v1/evaluate", bomb, {"content-encoding": "gzip"})[0] == 413
    bomb = zstandard.compress(b" " * (65 << 20))
    assert server.request("POST", "/v1/evaluate", bomb, {"content-encoding": "zstd"})[0] == 413
    out = curl(
        server, "-o", "/dev/null", "-w", "%{http_code}", "-H", f"content-length: {1 << 33}", "-d", "{}",
        f"http://{server.address}/v1/evaluate",
    )  # fmt: skip
    assert out == "413"


def test_the_id_of_a_request_is_kept_in_answer_and_log(server: RunningServer) -> None:
    _, headers, _ = server.request("POST", "/v1/evaluate", json.dumps(EXACT), {"x-request-id": "mine-1"})
    assert headers["x-request-id"] == "mine-1"
    assert wait_until(lambda: any(line.get("request_id") == "mine-1" for line in server.lines))
    _, headers, _ = server.request("GET", "/v1/evaluators", headers={"x-request-id": "two words\t"})
    assert headers["x-request-id"] != "two words\t"


def test_one_key_makes_one_call_and_stands_for_one_request(server: RunningServer) -> None:
    key = {"idempotency-key": "first"}
    first = server.request("POST", "/v1/evaluate", json.dumps(EXACT), key)
    again = server.request("POST", "/v1/evaluate", json.dumps(EXACT), key)
    assert first[2] == again[2]
    other = server.request("POST", "/v1/evaluate", json.dumps({**EXACT, "project": "p"}), key)
    assert other[0] == 409


def test_results_are_in_the_order_of_records_and_evaluators(server: RunningServer) -> None:
    records = [{**RECORD, "id": f"r{number}", "output": {"text": "Paris " * number}} for number in range(250)]
    refs = ["exact-match", "length", "corpus-bleu", "chrf"]
    _, found = server.post("/v1/evaluate", {"records": records, "evaluators": [{"ref": ref} for ref in refs]})
    rows = [(one["recordId"], one["evaluator"]) for one in found["results"]]
    each = [ref for ref in refs if ref != "corpus-bleu"]
    assert rows[:-1] == [(record["id"], ref) for record in records for ref in each]
    assert rows[-1] == ("", "corpus-bleu")
    assert [one["evaluator"] for one in found["summaries"]] == refs


def test_a_stream_over_rest_is_read_as_lines_and_answered_as_events_or_lines(server: RunningServer) -> None:
    lines = [
        {"config": {"evaluators": [{"ref": "exact-match"}]}},
        *({"record": {**RECORD, "id": str(n)}} for n in range(3)),
    ]
    body = "\n".join(map(json.dumps, lines))
    _, headers, got = server.request("POST", "/v1/evaluate:stream", body)
    assert headers["content-type"] == "text/event-stream"
    events = [json.loads(part.removeprefix("data: ")) for part in got.decode().strip().split("\n\n")]
    assert [next(iter(event)) for event in events] == ["result", "result", "result", "summaries"]
    _, headers, got = server.request("POST", "/v1/evaluate:stream", body, {"accept": "application/x-ndjson"})
    assert headers["content-type"] == "application/x-ndjson"
    assert len(got.splitlines()) == 4
    status, _, got = server.request("POST", "/v1/evaluate:stream", body.replace('"exact-match"', '"exact-mach"'))
    assert (status, b"exact-match" in got) == (400, True)


def test_a_stream_tells_a_mistake_in_its_midst_and_ends(server: RunningServer) -> None:
    lines = [{"config": {"evaluators": [{"ref": "exact-match"}]}}, {"record": RECORD}, {"record": RECORD}]
    _, _, got = server.request("POST", "/v1/evaluate:stream", "\n".join(map(json.dumps, lines)))
    assert b"duplicate-id" in got


def test_the_answer_equals_what_the_library_says(server: RunningServer) -> None:
    import evalsi

    records = [
        {"id": str(n), "output": {"text": "Paris" if n % 3 else "Rome"}, "reference": {"text": "Paris"}}
        for n in range(40)
    ]
    _, found = server.post("/v1/evaluate", {"records": records, "evaluators": [{"ref": "exact-match"}]})
    local = evalsi.evaluate([dict(one) for one in records], ["exact-match"])
    assert msgspec.convert(found["summaries"][0]["mean"], float) == local["exact-match"].mean
    low = local["exact-match"].ci
    assert low is not None
    assert found["summaries"][0]["ci"]["low"] == low.low
