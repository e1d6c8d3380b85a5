"""The form that changes a failure changes what a person changed, and nothing that a browser did to the rest."""

import json
import random
import time
from pathlib import Path
from typing import Any

from evalsi.traces import default_tracing
from tests.server.pages.page_server import PageServer
from tests.server.pages.seen_traffic import TraceSketch, documents
from tests.server.pages.stored_traffic import opened_traffic, put_trace
from tests.server.running_server import running_server


def as_browsers_send(text: str) -> str:
    return text.replace("\n", "\r\n")


def test_texts_of_several_lines_stay_as_they_are_where_only_the_title_is_changed(tmp_path: Path) -> None:
    sketch = TraceSketch(chance=random.Random(5), begun_ns=time.time_ns(), service="docs-answers")
    documents(sketch)
    with opened_traffic(tmp_path / "store") as traces:
        put_trace(traces, sketch, default_tracing(), ())
    with running_server(tmp_path) as server:
        pages = PageServer(server)
        name = server.post("/v1alpha1/failures", {"traceId": sketch.trace_id})[1]["failure"]["id"]
        place = f"/ui/failures/{name}"
        before = server.get(f"/v1alpha1/failures/{name}")[1]["failure"]["record"]

        def saved(revision: int, **fields: str) -> Any:
            status, _, answer = pages.send(f"{place}/update", {"revision": str(revision), **fields}, page=place)
            assert status == 303, answer
            return server.get(f"/v1alpha1/failures/{name}")[1]["failure"]

        asked, wanted, why = "  first line\nsecond line\n", "one\n\ntwo", "wrong\nand late"
        typed = {"input": asked, "reference": wanted, "reason": why}
        sent = {field: as_browsers_send(text) for field, text in typed.items()}
        first = saved(1, **sent)
        assert first["record"]["input"]["text"] == asked.strip()
        assert (first["record"]["reference"]["text"], first["reason"]) == (wanted, why)

        record = {**before, "input": {"text": asked}, "reference": {"text": wanted}}
        status, put = server.request(
            "PUT",
            f"/v1alpha1/failures/{name}",
            json.dumps({"expectedRevision": 2, "record": record}),
            {"content-type": "application/json"},
        )[::2]
        assert status == 200, put
        after = saved(3, **sent, title="another title")
        assert (after["title"], after["reason"]) == ("another title", why)
        assert (after["record"]["input"]["text"], after["record"]["reference"]["text"]) == (asked, wanted)
