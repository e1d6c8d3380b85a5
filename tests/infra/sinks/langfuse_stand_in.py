"""Answers as Langfuse's API for scores does, for tests: it runs in an environment with Langfuse's published client, and takes
only what that client's own models of a request take, without any field that they do not know.

    python langfuse_stand_in.py (lists|single) PORT

"lists": as releases do that take a list of scores, with 202 or 207. "single": as those do that take one score at a time.
`GET /kept` shows the scores by id, `GET /asked` how many requests came.
"""

import base64
import http.server
import json
import sys
from typing import Any

from langfuse.api.core.pydantic_utilities import parse_obj_as  # pyright: ignore[reportMissingImports]
from langfuse.api.scores.types.create_score_request import CreateScoreRequest  # pyright: ignore[reportMissingImports]

PAIR = base64.b64encode(b"pk-test:sk-test").decode()
LISTS = sys.argv[1] == "lists"
KEPT: dict[str, Any] = {}
ASKED: list[int] = []
KNOWN = {
    next((mark.alias for mark in field.metadata if hasattr(mark, "alias")), name)
    for name, field in CreateScoreRequest.model_fields.items()
}


def mistake_in(score: Any) -> str:
    """What is wrong with a score; empty when nothing is."""
    if not isinstance(score, dict):
        return "no object"
    if unknown := set(score) - KNOWN:
        return f"unknown fields {sorted(unknown)}"
    try:
        read = parse_obj_as(CreateScoreRequest, score)
    except ValueError as error:
        return str(error)
    if bool(read.trace_id) == bool(read.session_id):
        return "needs either traceId or sessionId"
    if read.observation_id and not read.trace_id:
        return "observationId needs traceId"
    if read.timestamp is not None and read.timestamp.tzinfo is None:
        return "the timestamp has no offset"
    kind, value = str(read.data_type and read.data_type.value), read.value
    right = {"NUMERIC": isinstance(value, float), "CATEGORICAL": isinstance(value, str), "BOOLEAN": value in (0, 1)}
    if not right.get(kind, False):
        return f"{value!r} is no value of type {kind}"
    return "its name is refused" if read.name == "poison" else ""


def keep(score: Any) -> None:
    # As Langfuse does: by id and the day of the timestamp.
    KEPT[f"{score['id']} {score['timestamp'][:10]}"] = score


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        self.answer(200, KEPT if self.path == "/kept" else len(ASKED))

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        ASKED.append(1)
        if self.headers.get("Authorization") != f"Basic {PAIR}":
            return self.answer(401, {"message": "Invalid credentials"})
        if self.path != "/api/public/scores":
            return self.answer(404, {"message": "not found"})
        if isinstance(body, list) != LISTS:
            return self.answer(400, {"message": "Invalid request data"})
        scores = body if LISTS else [body]
        mistakes = [mistake_in(score) for score in scores]
        for score, mistake in zip(scores, mistakes, strict=True):
            if not mistake:
                keep(score)
        wrong = [mistake for mistake in mistakes if mistake]
        if not LISTS:
            return self.answer(400 if wrong else 200, {"message": wrong[0]} if wrong else {"id": body["id"]})
        if not wrong:
            return self.answer(202, {"message": "Accepted"})
        counts = {"accepted": len(scores) - len(wrong), "rejected": len(wrong)}
        return self.answer(207, {**counts, "errors": [{"message": mistake} for mistake in wrong]})

    def do_DELETE(self) -> None:
        ASKED.append(1)
        found = [key for key in KEPT if self.path == f"/api/public/scores/{key.split()[0]}"]
        for key in found:
            del KEPT[key]
        return self.answer(200 if found else 404, {"message": "deleted" if found else "not found"})

    def answer(self, status: int, said: Any) -> None:
        text = json.dumps(said).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the name of the library
        """Tests print nothing."""


if __name__ == "__main__":
    server = http.server.ThreadingHTTPServer(("127.0.0.1", int(sys.argv[2])), Handler)
    server.serve_forever()
