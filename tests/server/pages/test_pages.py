"""What each page says, read as a browser without a script reads it."""

import re
import shlex
import subprocess
import sys
from html import escape
from html.parser import HTMLParser
from urllib.parse import parse_qs, quote, urlencode

import msgspec
import pytest

from tests.server.pages.page_server import PageServer, links, words
from tests.server.pages.stored_runs import opened


def test_the_list_opens_with_verdicts_means_and_their_intervals(pages: PageServer) -> None:
    page = pages.get("/ui/runs")
    first = words(page)
    assert "✕ FAIL support-birch" in first
    assert "0.835 [0.780, 0.890]" in first.replace("correctness ", "").replace("correctness", "")
    assert page.count('class="whisker"') > 40
    assert page.count('class="sparkline"') > 10


def test_filters_of_the_list_are_those_of_the_api(pages: PageServer) -> None:
    assert words(pages.get("/ui/runs?status=failed")).count("✕ FAIL") == 1
    labelled = words(pages.get("/ui/runs?label=branch%3Dtone-of-voice"))
    assert "branch main" not in labelled
    assert "support-birch" in labelled
    assert "No run meets these filters" in pages.get("/ui/runs?search=nothing-has-this-name")
    assert "is no label" in pages.get("/ui/runs?label=branch", status=400)


def test_further_pages_of_the_list_follow_its_links(pages: PageServer) -> None:
    page = pages.get("/ui/runs")
    assert len(re.findall(r"<tr data-row", page)) == len(re.findall(r'name="run" value=', page)) > 20


def test_a_run_says_its_verdict_its_gates_and_its_metrics(pages: PageServer) -> None:
    text = words(pages.get(f"/ui/runs/{pages.ids['candidate']}"))
    assert "✕ FAIL correctness mean 0.835 [0.780, 0.890]; the gate asks for ≥ 0.9. 1 of 2 gates met." in text
    assert "token-overlap mean ≥ 0.2 0.310" in text
    assert "plain 136 85%" in text
    assert "✕ 13" in text


def test_a_run_without_a_scored_value_is_never_a_pass(pages: PageServer) -> None:
    assert "✕ ERROR" in words(pages.get(f"/ui/runs/{pages.ids['error']}"))
    assert "The run holds no record." in pages.get(f"/ui/runs/{pages.ids['error']}")


def test_records_are_filtered_sorted_and_paged_on_the_server(pages: PageServer) -> None:
    run = f"/ui/runs/{pages.ids['baseline']}"
    everything = pages.get(run)
    assert everything.count("<tr data-row") == 30
    following = links(everything, "page_token=")
    second = pages.get(following[0])
    assert "tariffs-01<" not in second
    assert second.count("<tr data-row") == 30
    worst = pages.get(f"{run}?evaluator=token-overlap&order=score")
    values = [float(found) for found in re.findall(r"</svg><bdi>([0-9.]+)</bdi>", worst)]
    assert values == sorted(values)
    assert len(values) == 30
    errors = words(pages.get(f"{run}?evaluator=correctness&outcome=error"))
    assert "judge_parse" in errors
    assert "0.000" not in errors.partition("Records")[2].partition("Manifest")[0]
    assert "1 of 1" not in errors
    flipped = pages.get(f"{run}?evaluator=holds-reference&flipped={pages.ids['candidate']}")
    assert flipped.count("<tr data-row") == 30


def test_a_filter_that_makes_no_sense_is_said_where_the_table_would_be(pages: PageServer) -> None:
    page = pages.get(f"/ui/runs/{pages.ids['baseline']}?evaluator=correctnes")
    assert "correctness" in re.findall(r'class="problem">([^<]+)<', page)[0]
    assert "Metrics" in page
    pages.get(f"/ui/runs/{pages.ids['baseline']}?min=high", status=400)


def test_slices_are_drawn_for_the_key_that_was_chosen(pages: PageServer) -> None:
    text = words(pages.get(f"/ui/runs/{pages.ids['baseline']}?metric=token-overlap&by=topic"))
    assert "ev-charging 20 0.452 [0.280, 0.624]" in text


def test_an_observation_reads_like_a_conversation_with_the_failing_step_marked(pages: PageServer) -> None:
    address = f"/ui/runs/{pages.ids['awkward']}/record?id={quote('حالة-1')}"
    text = words(pages.get(address))
    assert text.partition("Raw JSON")[0].count("What do I owe, and when is it due?") == 1
    assert "calls get_balance" in text
    assert "✕ failed get_balance · 30.0 s timed out after 30 s" in text
    assert "the reference stands in the output" in text
    assert "constant ✓ pass" in text


def test_a_record_says_what_fenced_in_the_programs_that_graded_it(pages: PageServer) -> None:
    (record, *_) = links(pages.get(f"/ui/runs/{pages.ids['one']}"), "/record?")
    text = words(pages.get(record))
    assert re.search(
        r"programs of \S+ bubblewrap: level namespaced, enforcement partial \(the kernel has no Landlock\)", text
    )


def test_neighbours_are_those_of_the_table_it_was_opened_from(pages: PageServer) -> None:
    table = pages.get(f"/ui/runs/{pages.ids['baseline']}?evaluator=token-overlap&order=score")
    rows = links(table, "/record?")
    second = pages.get(rows[1])
    before, after = links(second, "/record?")
    assert re.search(r"[?&]id=([^&]+)", before)[1] == re.search(r"[?&]id=([^&]+)", rows[0])[1]  # type: ignore[index]
    assert re.search(r"[?&]id=([^&]+)", after)[1] == re.search(r"[?&]id=([^&]+)", rows[2])[1]  # type: ignore[index]
    last = pages.get(rows[-1])
    assert "page_token=" in links(last, "/record?")[-1]
    pages.get(links(last, "/record?")[-1])


def test_a_comparison_opens_with_its_verdict_and_shows_both_answers_of_what_flipped(pages: PageServer) -> None:
    address = f"/ui/compare?candidate={pages.ids['candidate']}&baseline={pages.ids['baseline']}"
    page = pages.get(address)
    text = words(page)
    assert "▼ REGRESSED token-overlap −0.200 [−0.248, −0.151] over 160 shared records." in text
    assert "Electricity on Meadow costs 24.1p per kWh." in text
    assert "On Meadow you currently pay 25.4p per kWh" in text
    assert page.count('class="case flip"') == 10
    assert pages.get(links(page, "page_token=")[0]).count('class="case flip"') == 10


def test_a_metric_that_has_no_better_end_is_not_said_to_be_better(pages: PageServer) -> None:
    address = f"/ui/compare?candidate={pages.ids['candidate']}&baseline={pages.ids['baseline']}&evaluator=words"
    assert 'class="value "' in pages.get(address)


def test_a_comparison_without_two_runs_asks_for_them(pages: PageServer) -> None:
    assert "Choose a candidate" in pages.get("/ui/compare")
    form = pages.get("/ui/compare")
    assert f'<option value="{pages.ids["candidate"]}">' in form
    assert form.count('list="recent-runs"') == 2


@pytest.mark.parametrize(
    "name", ["support-aster", "smoke", "latest", "latest~2", "latest(branch=main)", "latest( branch = tone-of-voice )"]
)
def test_a_comparison_takes_whatever_the_command_takes_for_a_run(pages: PageServer, name: str) -> None:
    with opened(pages.store) as stores:
        named = stores.of("default").find(name).id
    other = pages.ids["baseline"]
    for sides in ((name, other), (other[:9], name), (name, name)):
        asked = urlencode({"baseline": sides[0], "candidate": sides[1], "cluster_by": "topic"})
        status, headers = pages.head(f"/ui/compare?{asked}")
        assert status == 303
        address = headers["location"]
        shown = parse_qs(address.partition("?")[2])
        assert shown == {
            "baseline": [named if sides[0] == name else other],
            "candidate": [named if sides[1] == name else other],
            "cluster_by": ["topic"],
        }
    assert f"evalsi compare {named} {named}" in pages.get(f"/ui/compare?candidate={named}&baseline={named}")


def test_a_run_that_is_not_there_is_said_above_the_form_with_the_nearest_one(pages: PageServer) -> None:
    other = pages.ids["baseline"]
    for wrong, said, status in (
        ("suport-aster", "support-aster", 404),
        ("latest~100000", "the oldest of", 404),
        ("latest(branch=none)", "no run is labelled branch=none", 404),
        ("latest(branch)", "is no label", 400),
        ("<b>", "no run", 404),
    ):
        page = pages.get(f"/ui/compare?candidate={other}&baseline={quote(wrong, safe='')}", status=status)
        assert said in words(page)
        assert f'value="{escape(wrong)}"' in page


def test_datasets_their_versions_and_what_differs(pages: PageServer) -> None:
    assert "Asked by people" in words(pages.get("/ui/datasets"))
    assert "Asked by people" in words(pages.get("/ui/datasets?search=EST"))
    assert "No version meets these filters" in words(pages.get("/ui/datasets?search=question_"))
    text = words(pages.get("/ui/datasets/questions/2?project=default&against=1"))
    assert "+ 1 added − 0 removed ~ 1 changed = 1 the same" in text
    assert "<b>third</b>" in text


def test_rows_become_a_version_with_a_form_and_what_is_wrong_with_them_is_said_beside_it(pages: PageServer) -> None:
    rows = '{"id": "a", "input": "<b>one</b>"}\r\n{"id": "b", "input": "zwölf"}'
    fields = {"name": "typed", "description": "by hand", "rows": rows}
    status, where, _ = pages.send("/ui/datasets/upload", fields, "/ui/datasets")
    assert (status, where) == (303, "/ui/datasets/typed/1?project=default")
    text = words(pages.get(where))
    assert "by hand" in text
    assert "zwölf" in text
    status, _, page = pages.send("/ui/datasets/upload", {**fields, "rows": "id,input\na,x\na,y"}, "/ui/datasets")
    assert status == 400
    assert "typed:3" in words(page)
    assert "id,input" in page
    status, where, _ = pages.send("/ui/datasets/upload", {**fields, "rows": "id,input\na,x"}, "/ui/datasets")
    assert where == "/ui/datasets/typed/2?project=default"
    large = "id,input\n" + "".join(f"{number},{'x' * 1000}\n" for number in range(1000))
    status, where, _ = pages.send("/ui/datasets/upload", {**fields, "rows": large}, "/ui/datasets")
    assert "1,000" in words(pages.get(where))


def test_a_run_on_a_version_is_started_with_a_form_or_refused_beside_it(pages: PageServer) -> None:
    place, page = "/ui/datasets/questions/2/run?project=default", "/ui/datasets/questions/2?project=default"
    fields = {"project": "default", "evaluators": "exact-mach", "name": "from-a-page"}
    status, _, shown = pages.send(place, fields, page)
    assert status == 400
    assert "unknown evaluator 'exact-mach'; did you mean 'exact-match'?" in words(shown)
    assert 'value="from-a-page"' in shown
    for target, told in (("modl: x", "did you mean model?"), ("[", "target:2:1: the YAML is malformed")):
        status, _, shown = pages.send(place, {**fields, "evaluators": "exact-match", "target": target}, page)
        assert (status, told in words(shown)) == (400, True), words(shown)[:500]
    status, where, _ = pages.send(place, {**fields, "evaluators": "same=exact-match, contains"}, page)
    assert (status, where.rpartition("/")[0]) == (303, "/ui/runs")
    assert "from-a-page" in words(pages.get(where))
    run = pages.server.get(f"/v1/runs/{where.rpartition('/')[2]}")[1]["run"]
    asked = run["spec"]["dataset"]["catalog"]
    assert (asked["project"], asked["name"], asked["version"]) == ("default", "questions", "2")
    named = [(one["ref"], one.get("name", "")) for one in run["spec"]["evaluators"]]
    assert named == [("exact-match", "same"), ("contains", "")]


def test_a_decision_about_a_version_is_made_with_a_form(pages: PageServer) -> None:
    page = pages.get("/ui/datasets/questions/1?project=default")
    fields = dict(re.findall(r'name="(sha256|revision|project)" value="([^"]*)"', page))
    place = "/ui/datasets/questions/1/review"
    status, where, _ = pages.send(place, {**fields, "decision": "approved", "note": "read by two"})
    assert (status, where) == (303, "/ui/datasets/questions/1?project=default")
    assert "approved read by two" in words(pages.get(where))


def test_the_catalog_says_what_each_evaluator_needs_and_takes(pages: PageServer) -> None:
    assert "exact-match" in words(pages.get("/ui/catalog?search=equals+the+reference"))
    assert "contains-any" not in words(pages.get("/ui/catalog?search=equals+the+reference"))
    text = words(pages.get("/ui/catalog/core/exact-match"))
    assert "ignore_case boolean false" in text
    assert "did you mean" in pages.get("/ui/catalog/core/exact-mach", status=400)


class _Markup(HTMLParser):
    """The elements of a page and their attributes."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))


@pytest.mark.parametrize("page", ["/ui/runs", "/ui/runs/{hostile}", "/ui/runs/{hostile}?outcome=error&evaluator=label"])
def test_text_of_others_becomes_no_markup(pages: PageServer, page: str) -> None:
    text = pages.get(page.format(**pages.ids))
    markup = _Markup()
    markup.feed(text)
    assert {tag for tag, _ in markup.found}.isdisjoint({"img", "iframe", "object", "base", "embed"})
    assert sum(tag == "script" for tag, _ in markup.found) == 1
    for _, attributes in markup.found:
        assert not any(name.startswith("on") or name == "style" for name in attributes)
        assert not (attributes.get("href") or "").startswith("javascript:")
    assert "\u202e" not in text
    assert "\x00" not in text


def test_every_page_forbids_what_it_does_not_bring(pages: PageServer) -> None:
    for path in ("/ui/runs", "/ui/settings", "/ui/nothing", "/ui/assets/pages.js"):
        _, headers = pages.head(path)
        policy = headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "unsafe" not in policy
        assert headers["x-content-type-options"] == "nosniff"
    page = pages.get("/ui/runs")
    assert "<style" not in page
    assert " style=" not in page
    assert re.findall(r"<script(?![^>]*src=)", page) == []


def test_assets_are_small_and_kept_for_ever_under_the_name_of_their_content(pages: PageServer) -> None:
    found = links(pages.get("/ui/runs"), "/ui/assets/") + re.findall(r'src="(/ui/assets/[^"]+)"', pages.get("/ui/runs"))
    total = 0
    for address in found:
        status, headers, body = pages.server.request("GET", address)
        assert status == 200
        assert "immutable" in headers["cache-control"]
        total += len(body)
    assert len(found) == 4
    assert total < 150_000


def test_pages_are_not_kept_by_caches(pages: PageServer) -> None:
    assert pages.head("/ui/runs")[1]["cache-control"] == "no-store"


def test_what_a_page_shows_is_what_its_commands_answer(pages: PageServer) -> None:
    page = pages.get(f"/ui/runs/{pages.ids['candidate']}?evaluator=correctness&outcome=error")
    commands = [
        text.replace("&#39;", "'").replace("&amp;", "&") for text in re.findall(r'"command">(curl [^<]+)<', page)
    ]
    assert len(commands) == 3
    results = next(command for command in commands if "/results" in command)
    answer = subprocess.run(shlex.split(results), capture_output=True, check=True).stdout
    assert all(one["outcome"] == "OUTCOME_ERROR" for one in msgspec.json.decode(answer)["results"])
    programs = [
        text.replace("&#34;", '"').replace("&#39;", "'") for text in re.findall(r'"command">(import json[^<]+)<', page)
    ]
    subprocess.run([sys.executable, "-c", programs[0] + "\nassert answer['run']"], check=True)


def test_a_form_of_another_site_is_refused(pages: PageServer) -> None:
    key = {"name": "mine", "role": "owner"}
    assert pages.send("/ui/settings/keys", key, origin="http://evil.example")[0] == 403
    assert pages.send("/ui/settings/keys", key, **{"sec-fetch-site": "cross-site"})[0] == 403
    assert pages.send("/ui/settings/keys", {**key, "form_token": "guessed"})[0] == 403
    assert "mine" not in words(pages.get("/ui/settings"))


def test_a_key_is_made_shown_once_and_revoked(pages: PageServer) -> None:
    status, _, page = pages.send("/ui/settings/keys", {"name": "ci", "role": "runner", "lifetime": "30 days"})
    assert status == 200
    secret = re.findall(r'"command">(evk_[^<]+)<', page)[0]
    after = pages.get("/ui/settings")
    assert secret not in after
    assert "ci " in words(after)
    assert pages.send("/ui/settings/keys/revoke", {"name": "ci"})[:2] == (303, "/ui/settings")
    assert "revoked" in words(pages.get("/ui/settings"))
    assert pages.send("/ui/settings/keys", {"name": "No Name", "role": "runner"})[0] == 400


def test_a_run_is_put_away_and_taken_out_again(pages: PageServer) -> None:
    place = f"/ui/runs/{pages.ids['twelve']}"
    assert pages.send(f"{place}/archive", {}, page=place)[:2] == (303, place)
    assert place not in pages.get("/ui/runs")
    assert place in pages.get("/ui/runs?archived=yes")
    pages.send(f"{place}/archive", {"restore": "yes"}, page=place)
    assert place in pages.get("/ui/runs")


def test_what_is_not_there_is_said_on_a_page(pages: PageServer) -> None:
    assert "Nothing here" in pages.get("/ui/runs/nothing", status=404)
    assert "Nothing here" in pages.get("/ui/elsewhere", status=404)
    assert "no record" in pages.get(f"/ui/runs/{pages.ids['one']}/record?id=nothing", status=404)
    assert pages.server.request("PUT", "/ui/runs")[0] == 405


def test_a_name_of_a_domain_that_leads_here_opens_nothing(pages: PageServer) -> None:
    for path in ("/ui/runs", "/v1/runs"):
        assert pages.server.request("GET", path, headers={"host": "evil.example"})[0] == 403
    for host in ("localhost:1", "127.0.0.1", "[::1]:80"):
        assert pages.server.request("GET", "/ui/runs", headers={"host": host})[0] == 200
