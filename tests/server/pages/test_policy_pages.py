"""The pages of policies over traffic that a policy has really evaluated."""

import html
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.command_line import Ended, evalsi
from tests.server.pages.page_server import PageServer, links, words
from tests.server.running_server import running_server

pytestmark = pytest.mark.slow


def test_the_list_says_how_each_policy_stands_with_its_interval(graded: PageServer) -> None:
    page = graded.get("/ui/policies")
    text = words(page)
    assert "agent-health" in text
    assert re.search(r"loop-detection \+\d+ \d+ 0\.\d{3} \[0\.\d{3}, [01]\.\d{3}\]", text)
    assert page.count('class="whisker"') >= 3
    assert "/ui/policies/agent-health" in links(page, "agent-health")


def test_a_policy_shows_its_alerts_figures_trend_and_sample(graded: PageServer) -> None:
    page = graded.get("/ui/policies/agent-health")
    text = words(page)
    assert re.search(r"\d+ seen \d+ matched \d+ sampled \d+ evaluated", text)
    assert "above 0.5" in text
    assert "FIRING" in text
    assert page.count('class="trend-chart"') >= 2
    assert re.search(r"latest 0\.\d{3} \[0\.\d{3}, [01]\.\d{3}\] n \d+", text)
    assert "Now over its window of " in text
    assert re.search(r"above 0\.5 \d+ 0\.\d{3} \[0\.\d{3}, 1(\.000)?\]", text)
    assert 'class="bound"' in page
    assert "applies to service == 'support-agent'" in text
    assert "samples 99% of them" in text
    assert "<b>care</b>" not in page
    sample = [link for link in links(page, "/ui/traces/") if re.fullmatch(r"/ui/traces/[0-9a-f]{32}", link)]
    assert len(sample) == 12
    assert "policy support-quality" in words(graded.get(sample[0]))


def test_a_trend_can_be_split_and_look_back_further(graded: PageServer) -> None:
    text = words(graded.get("/ui/policies/agent-health?period=week&by=version"))
    assert "2026.11.1" in text
    assert "2026.11.2" in text


def test_two_versions_are_compared_with_a_verdict(graded: PageServer) -> None:
    text = words(graded.get("/ui/policies/agent-health?baseline=2026.11.1&candidate=2026.11.2"))
    assert re.search(r"(IMPROVED|REGRESSED|UNCHANGED|INCONCLUSIVE) loop-detection", text)
    page = graded.get("/ui/policies/agent-health?baseline=9.9&candidate=2026.11.2")
    known = re.search(r"no evaluated traces with version 9\.9; there are (2026[\d., ]+\d)", words(page))
    assert known is not None
    # Which goes first depends on whether the hour has changed between them.
    assert {"2026.11.1", "2026.11.2"} <= set(known[1].split(", "))
    assert '<option value="2026.11.1">' in page
    assert '<option value="9.9" selected>' in page


def test_the_command_compares_versions_and_names_those_there_are_when_one_is_misspelt(
    graded: PageServer, tmp_path: Path
) -> None:
    def compared(baseline: str, candidate: str) -> Ended:
        sides = ("--baseline", baseline, "--candidate", candidate)
        return evalsi(
            "policy", "compare", "agent-health", *sides, "--server", f"http://{graded.server.address}", cwd=tmp_path
        )

    found = compared("version=2026.11.1", "version=2026.11.2")
    assert found.status == 0, found.err
    assert re.search(r"tool-errors .*[+-]0\.\d{3} \[-0\.\d{3}, [+-]0\.\d{3}\] .*INCONCLUSIVE", found.out)
    for misspelt, told in (
        ("version=9.9", "no evaluated traces with version=9.9; there are 2026.11."),
        ("label.region=mars", "no evaluated traces with label.region=mars; there are "),
    ):
        ended = compared("version=2026.11.1", misspelt)
        assert ended.status == 1
        assert f"--candidate: {told}" in ended.err
    early = compared("version=2026.11.1,until=2020-01-01T00:00:00Z", "version=2026.11.2")
    assert early.status == 0, early.err
    assert "nothing was evaluated in the baseline" in early.err


def test_the_command_names_groups_only_where_figures_are_split(graded: PageServer, tmp_path: Path) -> None:
    asked = ("policy", "stats", "agent-health", "--server", f"http://{graded.server.address}")
    whole, split = evalsi(*asked, cwd=tmp_path), evalsi(*asked, "--by", "version", cwd=tmp_path)
    assert "metric mean n" in " ".join(whole.out.split())
    assert "metric group mean n" in " ".join(split.out.split())


def test_the_command_shows_the_traces_that_a_policy_would_take(graded: PageServer, tmp_path: Path) -> None:
    text = '{"name": "tried", "selector": "service == \'support-agent\'", "stages": [{"evaluators": ["tool-errors"]}]}'
    (tmp_path / "policy.json").write_text(text)
    ended = evalsi("policy", "test", "-f", "policy.json", "--server", f"http://{graded.server.address}", cwd=tmp_path)
    assert ended.status == 0, ended.err
    assert re.search(r"[0-9a-f]{8}  .*support.* faithfulness 0\.\d", ended.out)


def test_an_empty_list_gives_a_first_policy_that_can_be_applied_as_it_stands(tmp_path: Path) -> None:
    with running_server(tmp_path) as server:
        first_page = words(server.request("GET", "/ui/runs")[2].decode())
        assert "Live traffic is under Traces" in first_page
        page = server.request("GET", "/ui/policies")[2].decode()
        command, *_ = re.findall(r'<code class="command">(.*?)</code>', page)
        script = f"PATH={Path(sys.executable).parent}:$PATH; {html.unescape(command)}"
        subprocess.run(["bash", "-c", script], cwd=tmp_path, check=True, timeout=60)
        assert "/ui/policies/first" in server.request("GET", "/ui/policies")[2].decode()


def test_a_policy_that_is_not_there_is_no_page(graded: PageServer) -> None:
    assert "has no policy 'nobody'" in words(graded.get("/ui/policies/nobody", status=404))
