"""What the pages of traces, sessions and failures say, read as a browser without a script reads them."""

import asyncio
import random
import re
import time
from contextlib import closing
from datetime import UTC, datetime
from http.client import HTTPConnection
from typing import Any, cast
from urllib.parse import quote

from jinja2 import PackageLoader

from evalsi.report.page_environment import page_environment
from evalsi.schema import CountTracesRequest, CountTracesResponse, Feedback, TraceFacet
from evalsi.server.pages.traces_page import trace_facets
from evalsi.server.pages.visit import Query, Visit
from evalsi.traces import default_tracing
from tests.server.pages.page_server import PageServer, links, words
from tests.server.pages.seen_traffic import TraceSketch, documents
from tests.server.pages.stored_traffic import HOSTILE, LONG_STEPS, opened_traffic, put_trace
from tests.server.running_server import wait_until


def test_the_list_says_what_was_asked_what_was_answered_and_what_it_took(pages: PageServer) -> None:
    page = pages.get("/ui/traces?counts=yes")
    assert page.count("<tr data-row") == 40
    text = words(page)
    assert "123 traces" in text
    assert "faithfulness" in text
    assert re.search(r"support-agent \d\.\d\d", text)
    assert "$0.00" in text
    assert "Values of the newest" not in text


def test_values_that_were_counted_in_a_part_of_the_list_say_of_how_many_they_are() -> None:
    class Visitor:
        query = Query("")

        async def call(self, name: str, request: CountTracesRequest, answer: type[CountTracesResponse]) -> Any:
            del name, request
            failed = TraceFacet(field="error", counts={"true": 40, "false": 9_960})
            service = TraceFacet(field="service", counts={"shop": 700})
            return answer(total=25_000, capped=True, facets=[failed, service])

    page = asyncio.run(trace_facets(cast("Visit", Visitor())))
    templates = page_environment(PackageLoader("evalsi.server.pages", "templates"), {}, {"part": str, "json": str})
    shown = templates.get_template(page.template).render(page.values)
    assert "<b>25,000+</b> traces" in shown
    assert "Values of the newest 10,000." in shown


def test_facets_count_the_choice_and_lead_to_a_narrower_one(pages: PageServer) -> None:
    page = pages.get("/ui/traces?counts=yes")
    service = next(link for link in links(page, "service=research-desk"))
    narrowed = pages.get(service)
    assert "service research-desk" in words(narrowed)
    assert "docs-answers" not in words(narrowed).partition("Asked")[2]
    back = [link for link in links(narrowed, "/ui/traces?") if "service=" not in link and "live" not in link]
    assert back
    assert links(pages.get("/ui/traces/facets?service=research-desk"), "label=region")
    region = next(link for link in links(narrowed, "label=region"))
    assert "service=research-desk" in region
    assert "label region=" in words(pages.get(region))


def test_filters_are_those_of_the_api(pages: PageServer) -> None:
    def rows(query: str) -> int:
        return pages.get(f"/ui/traces?{query}").count("<tr data-row")

    assert rows(f"q={pages.ids['long'][:10]}") == 1
    assert rows("q=scratch") > 0
    assert rows("service=silent") == rows("service=silent&error=no") == 1
    assert rows("service=silent&error=yes") == 0
    assert rows("score=faithfulness%3C0.5") > 0
    assert rows("score=faithfulness%3E1") == 0
    assert rows("feedback=bad") > 0
    assert rows("min_s=30&service=research-desk") < rows("service=research-desk")
    assert rows(f"session={pages.ids['session']}") > 0
    assert rows("since=2030-01-01") == 0
    assert "No trace meets these filters" in pages.get("/ui/traces?service=nobody")
    for wrong in ("min_s=soon", "since=tomorrow", "score=a%3C%3Cb", "error=perhaps", "label=region"):
        assert "<!doctype html>" in pages.get(f"/ui/traces?{wrong}", status=400)


def test_traces_in_which_a_step_failed_are_counted_and_found_beside_those_that_failed_as_a_whole(
    pages: PageServer,
) -> None:
    page = pages.get("/ui/traces?counts=yes")
    failed, total = (
        int(found[1]) if (found := re.search(rf"{words_before} no [\d,]+ yes (\d+)", words(page))) else 0
        for words_before in ("the trace failed", "a step failed")
    )
    assert 0 < failed < total
    listed = pages.get("/ui/traces?failed_step=yes")
    assert listed.count("<tr data-row") == min(total, 40)
    assert "a step failed: yes" in words(listed)
    assert pages.get("/ui/traces?error=yes").count("<tr data-row") == failed


def test_a_score_says_whether_it_is_good_or_bad_news(graded: PageServer) -> None:
    address = "/ui/traces?score=tool-errors&service=support-agent"
    # The catalog is read when it is first asked for, and no page waits for it.
    assert wait_until(lambda: "higher is better" in graded.get(address), 30)
    page = graded.get(address)
    assert "loop-detection, higher is better" in re.sub(r"\s+", " ", words(page)).replace(" ↑ ,", ",")
    assert re.search(r'data-name="loop-detection">\s*<span class="bad"><span aria-hidden="true">✕ </span>fail', page)
    assert re.search(r'data-name="loop-detection">\s*<span class="good"><span aria-hidden="true">✓ </span>pass', page)
    assert re.search(r'data-name="faithfulness">\s*<span class="bad"><span class="sr">bad: </span>0\.', page)
    assert re.search(r'data-name="faithfulness">0\.[6-9]', page)


def test_the_calls_of_a_filtered_list_find_the_same_traces(pages: PageServer) -> None:
    page = pages.get("/ui/traces?label=region%3Deu&label=channel%3Dweb&error=no&min_s=0.5&since=2020-01-01")
    address = re.findall(r"curl &#39;(http://[^&]+/v1alpha1/traces\?.*?)&#39;", page)[0].replace("&amp;", "&")
    assert "filter.labels=region%3Deu&filter.labels=channel%3Dweb&filter.error=false" in address
    status, found = pages.server.get("/" + address.split("/", 3)[3])
    assert status == 200
    assert 0 < len(found["traces"]) == page.count("<tr data-row")


def test_further_pages_follow_each_other_to_the_end(pages: PageServer) -> None:
    seen: list[str] = []
    address = "/ui/traces?service=support-agent"
    while address:
        page = pages.get(address)
        seen += re.findall(r'name="trace" value="([0-9a-f]{32})"', page)
        address = next(iter(links(page, "page_token=")), "")
        assert "page_token=&" not in address
        if 'rel="next"' not in page:
            break
    assert len(seen) == len(set(seen)) > 60


def test_a_trace_reads_as_a_conversation_with_the_failing_step_named_and_scores_beside_their_steps(
    pages: PageServer,
) -> None:
    page = f"/ui/traces/{pages.ids['support-agent-wrong']}"
    # Until the catalog is read, nobody knows what passes.
    assert wait_until(lambda: "numeric-match ✕ fail" in words(pages.get(page)), 30)
    text = words(pages.get(page))
    assert "lookup_order failed: TimeoutError: orders.internal did not answer within 5 s" in text
    assert text.count("tool-errors 1") >= 3
    assert "refusal no" in text
    assert "try 3" in text
    assert "policy support-quality · rag/faithfulness@1" in text
    assert "skipped" in text
    assert "thumbs bad that is not what I asked" in text
    assert "tokens in" in text


def test_a_trace_is_found_by_the_begin_of_its_id_and_one_that_is_not_there_is_no_page(pages: PageServer) -> None:
    trace_id = pages.ids["research-desk"]
    assert trace_id in pages.get(f"/ui/traces/{trace_id[:9]}")
    assert "Nothing here" in words(pages.get(f"/ui/traces/{'0' * 32}", status=404))


def test_the_timeline_has_every_step_and_shows_one_with_its_attributes(pages: PageServer) -> None:
    trace = f"/ui/traces/{pages.ids['research-desk']}"
    page = pages.get(f"{trace}?view=timeline")
    assert page.count("<tr data-row") == page.count('class="bar-of-time"')
    step = next(link for link in links(page, "step="))
    shown = pages.get(step.partition("#")[0])
    assert "gen_ai.operation.name" in shown
    raw = pages.get(f"{trace}?view=raw")
    assert "&#34;trajectory&#34;" in raw


def test_the_step_that_is_named_is_the_one_that_failed_by_itself(pages: PageServer) -> None:
    text = words(pages.get(f"/ui/traces/{pages.ids['research-desk-wrong']}"))
    assert "claude-haiku-4-5 failed: RateLimitError: 429, try again in 60 s" in text


def test_neighbours_are_those_of_the_list_that_the_trace_was_opened_from(pages: PageServer) -> None:
    listed = pages.get("/ui/traces?service=docs-answers")
    rows = [link for link in links(listed, "/ui/traces/") if "service=docs-answers" in link]
    first = pages.get(rows[0])
    assert 'rel="prev"' not in first
    onward = re.findall(r'rel="next" href="([^"]+)"', first)[0].replace("&amp;", "&")
    assert onward == rows[1]
    assert "/ui/traces?service=docs-answers" in pages.get(onward)


def test_a_long_trace_is_shown_in_parts_and_says_how_much_there_is(pages: PageServer) -> None:
    trace = f"/ui/traces/{pages.ids['long']}"
    page = pages.get(trace)
    assert f"lines 1–200 of {LONG_STEPS - 1:,}" in words(page)
    assert "it is gone" in words(page)
    last = words(pages.get(f"{trace}?view=timeline&first={LONG_STEPS - 1}"))
    assert f"–{LONG_STEPS:,} of {LONG_STEPS:,}" in last
    assert len(page) < 600_000


def test_a_trace_that_says_nothing_says_so(pages: PageServer) -> None:
    assert "m 500 ms · 12 tokens" in words(pages.get(f"/ui/traces/{pages.ids['silent']}"))
    assert "silent" in words(pages.get(f"/ui/traces/{pages.ids['silent']}?view=timeline"))


def test_a_session_is_read_from_its_first_trace_to_its_last(pages: PageServer) -> None:
    page = pages.get(f"/ui/sessions/{quote(pages.ids['session'])}")
    starts = re.findall(r"· (\d\d:\d\d:\d\d)<", page)
    assert len(starts) > 1
    assert starts == sorted(starts)
    assert "Nothing here" in words(pages.get("/ui/sessions/nobody", status=404))


def test_what_a_policy_of_sessions_found_in_a_trace_stands_with_that_trace(pages: PageServer) -> None:
    policy = {"name": "talks", "scope": "session", "stages": [{"evaluators": [{"ref": "pii-leak"}]}]}
    session = f"/ui/sessions/{quote(pages.ids['session'])}"
    assert pages.server.post("/v1alpha1/policies", policy)[0] == 200
    try:
        backfill = "/v1alpha1/policies/talks:backfill"
        assert pages.server.post(backfill, {"since": "2020-01-01T00:00:00Z"})[0] == 200
        assert wait_until(lambda: "policy talks" in words(pages.get(session)), 60)
        turns, _, said = words(pages.get(session)).partition("Scores of the session")
        assert turns.count("pii-leak") == pages.get(session).count('class="turn session-turn')
        assert "pii-leak" not in said
        assert "It graded each trace by itself; its scores stand there. policy talks" in said
    finally:
        assert pages.server.request("DELETE", "/v1alpha1/policies/talks")[0] == 200


def test_two_traces_stand_side_by_side_with_their_calls_paired(pages: PageServer) -> None:
    one, other = pages.ids["support-agent-wrong"], pages.ids["support-agent"]
    text = words(pages.get(f"/ui/traces/compare?trace={one}&trace={other}"))
    assert "lookup_order" in text
    assert "failed spans 0 3" in text
    assert "two traces are compared" in pages.get(f"/ui/traces/compare?trace={one}", status=400)
    swapped = pages.get(f"/ui/traces/compare?trace={other}&trace={one}")
    assert "failed spans 0 3" in words(swapped), "the earlier one is on the left, whichever was named first"


def test_scores_of_two_traces_are_told_as_everywhere_else(pages: PageServer) -> None:
    one, other = pages.ids["support-agent-wrong"], pages.ids["support-agent"]
    text = words(pages.get(f"/ui/traces/compare?trace={one}&trace={other}"))
    assert "numeric-match ↑ , higher is better ✓ pass ✕ fail" in text
    assert "tool-errors ↓ , lower is better 0.00 bad: 1.00" in text


def test_what_people_said_without_a_name_begins_with_its_time(pages: PageServer) -> None:
    said = {"trace_id": pages.ids["support-agent"], "name": "thumbs", "passed": True}
    assert pages.server.post("/v1alpha1/feedback", {"feedback": [said]})[0] == 200
    text = words(pages.get(f"/ui/traces/{pages.ids['support-agent']}"))
    assert re.search(r"thumbs good \d{4}-\d\d-\d\d", text), text


def test_hostile_text_of_senders_stays_text(pages: PageServer) -> None:
    trace = f"/ui/traces/{pages.ids['hostile-trace']}"
    for address in (trace, f"{trace}?view=timeline", f"{trace}?view=raw", "/ui/traces?q=script", "/ui/traces"):
        page = pages.get(address)
        assert HOSTILE not in page
        assert "<script>window" not in page
        assert "onerror=window.hit=1>" not in page.replace("&gt;", "")
        assert len(page) < 700_000
    assert pages.get(f"/ui/sessions/{quote(HOSTILE, safe='')}")


def test_a_trace_becomes_a_failure_that_is_worked_on_decided_and_stored_in_a_dataset(pages: PageServer) -> None:
    trace = f"/ui/traces/{pages.ids['support-agent-wrong']}"
    status, failure, _ = pages.send(f"{trace}/capture", {"reason": "it made the delivery up"}, page=trace)
    assert status == 303
    page = pages.get(failure)
    assert "it made the delivery up" in words(page)
    assert "try 3" in words(page)
    status, again, _ = pages.send(f"{trace}/capture", {}, page=trace)
    assert again == failure
    assert '<textarea name="input"' in page
    fields = {"revision": "1", "assignee": "ann", "status": "in-review", "reference": "I cannot see it just now."}
    fields["input"] = "Where is my parcel, please?"
    status, there, _ = pages.send(f"{failure}/update", fields, page=failure)
    assert (status, there) == (303, failure)
    page = words(pages.get(failure))
    assert "in review" in page
    assert "input Where is my parcel, please?" in page
    assert "reference I cannot see it just now." in page
    status, _, answer = pages.send(f"{failure}/review", {"revision": "1", "decision": "approved"}, page=failure)
    assert status == 409
    assert "is at revision 2, not 1" in answer
    status, there, _ = pages.send(
        f"{failure}/review", {"revision": "2", "decision": "approved", "note": "clear"}, page=failure
    )
    assert (status, there) == (303, failure)
    listed = pages.get("/ui/failures?status=approved")
    assert "✓ approved" in words(listed)
    chosen = re.findall(r'name="failure" value="([^"]+)"', listed)
    status, version, _ = pages.send(
        "/ui/failures/publish",
        {"project": "default", "dataset": "refund-cases", "failure": chosen[0]},
        page="/ui/failures?status=approved",
    )
    assert status == 303
    assert "refund-cases" in pages.get(version)
    status, there, _ = pages.send(f"{failure}/update", {"revision": "3", "status": "open"}, page=failure)
    assert status == 303
    status, there, _ = pages.send(f"{failure}/delete", {"revision": "4"}, page=failure)
    assert (status, there.rstrip("?")) == (303, "/ui/failures")
    assert "there is no failure" in pages.get(failure, status=404)


def test_a_form_of_somebody_else_captures_nothing(pages: PageServer) -> None:
    trace = f"/ui/traces/{pages.ids['docs-answers']}"
    status, _, _ = pages.send(f"{trace}/capture", {}, page=trace, origin="http://elsewhere.example")
    assert status == 403


def test_much_feedback_is_shown_in_parts_the_newest_first(pages: PageServer) -> None:
    said = [
        Feedback(
            id=f"{number} {trace_id}",
            comment=f"remark {number}.",
            time=_moment(number),
            trace_id=trace_id,
            session_id="" if trace_id else "talked-about",
        )
        for number in range(120)
        for trace_id in (pages.ids["silent"], "")
    ]
    with opened_traffic(pages.store) as store:
        store.add_feedback("default", said, now_ms=0, reconsider=False)
    for place in (f"/ui/traces/{pages.ids['silent']}", "/ui/sessions/talked-about"):
        address, seen = place, list[int]()
        while True:
            page = pages.get(address)
            seen += [int(number) for number in re.findall(r"remark (\d+)\.", words(page))]
            older = links(page, "#said")[-1]
            if "Older feedback" not in page:
                break
            assert "of 120" in words(page)
            address = older.partition("#")[0]
        assert seen == list(range(119, -1, -1))
        assert "remark 119." in words(pages.get(older.partition("#")[0]))


def _moment(number: int) -> datetime:
    return datetime.fromtimestamp(1_700_000_000 + number, UTC)


def test_a_list_that_is_followed_hears_of_what_becomes_complete(pages: PageServer) -> None:
    assert "data-live" not in pages.get("/ui/traces")
    address = links(pages.get("/ui/traces?service=docs-answers"), "live=yes")[0]
    live = re.findall(r'data-live="([^"]+)"', pages.get(address))[0].replace("&amp;", "&")
    connection = HTTPConnection("127.0.0.1", pages.server.port, timeout=20)
    with closing(connection):
        connection.request("GET", live)
        answer = connection.getresponse()
        assert answer.getheader("content-type", "").startswith("text/event-stream")
        assert answer.readline() == b": here\n"
        time.sleep(1)  # until the stream has taken its mark
        sketch = TraceSketch(chance=random.Random(77), begun_ns=time.time_ns(), service="docs-answers")
        documents(sketch)
        with opened_traffic(pages.store) as store:
            put_trace(store, sketch, default_tracing(), ())
        while (line := answer.readline()) != b"event: changed\n":
            assert line
    assert sketch.trace_id in pages.get(address)
