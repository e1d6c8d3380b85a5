"""A history that is longer than a page shows is said to go on, and leads there."""

import random
import re
import time
from pathlib import Path

from evalsi.traces import default_tracing
from tests.server.pages.page_server import PageServer, links, words
from tests.server.pages.seen_traffic import TraceSketch, documents
from tests.server.pages.stored_traffic import opened_traffic, put_trace
from tests.server.running_server import running_server


def test_the_whole_history_of_a_failure_is_reached(tmp_path: Path) -> None:
    sketch = TraceSketch(chance=random.Random(5), begun_ns=time.time_ns(), service="docs-answers")
    documents(sketch)
    with opened_traffic(tmp_path / "store") as traces:
        put_trace(traces, sketch, default_tracing(), ())
    with running_server(tmp_path) as server:
        pages = PageServer(server)
        status, captured = server.post("/v1alpha1/failures", {"traceId": sketch.trace_id})
        assert status == 200
        name = captured["failure"]["id"]
        for revision in range(1, 131):
            body = f'{{"expectedRevision": {revision}, "title": "title {revision}"}}'
            sent = server.request("PUT", f"/v1alpha1/failures/{name}", body, {"content-type": "application/json"})
            assert sent[0] == 200, sent
        first = pages.get(f"/ui/failures/{name}")
        (later,) = links(first, "#events")
        last = pages.get(later.partition("#")[0])
        shown = [len(re.findall("(?:captured|updated) by", words(page))) for page in (first, last)]
        assert shown == [100, 31]
        assert not links(last, "#events")
        assert not [link for link in links(last, "/ui/failures") if "events=" in link]


def test_the_whole_history_of_a_dataset_is_reached(tmp_path: Path) -> None:
    with running_server(tmp_path) as server:
        pages = PageServer(server)
        status, _, answer = server.request("POST", "/v1/datasets/questions/upload", '{"id": "q1", "input": "one"}\n')
        assert status == 201, answer
        found = server.get("/v1alpha1/dataset-versions/questions/1")[1]
        revision, digest = int(found["dataset"]["revision"]), found["reference"]["sha256"]
        for number in range(60):
            decision = ("DATASET_VERSION_STATE_APPROVED", "DATASET_VERSION_STATE_RETIRED")[number % 2]
            message = {"sha256": digest, "expectedRevision": revision + number, "decision": decision}
            sent = server.post("/v1alpha1/dataset-versions/questions/1:review", message)
            assert sent[0] == 200, sent
        first = pages.get("/ui/datasets/questions/1")
        (later,) = links(first, "#events-title")
        last = pages.get(f"/ui/datasets/questions/1{later.partition('#')[0]}")
        numbers = [
            int(number)
            for page in (first, last)
            for number in re.findall(r'<td class="n">(\d+)</td>', page.partition('id="events-title"')[2])
        ]
        assert numbers == list(range(1, len(numbers) + 1))
        assert len(numbers) >= 60
        assert not links(last, "#events-title")
