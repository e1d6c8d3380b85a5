"""The shipped demonstration data says what its README says.

The demo's printed conclusions (a modest real difference, flips in both directions, three unreadable judge replies) are
properties of these files, so they are pinned here and not in the demo's own test.
"""

import json
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

DEMO = Path(__file__).parents[2] / "examples" / "demo"
DATA = DEMO / "data"
RECORDING = DATA / "judge_recording.jsonl"
ASSISTANTS = ("aster", "birch")
JUDGES = ("correctness", "faithfulness")

COMPUTED = {
    "tariffs-09": {6.2 - 5.9},
    "tariffs-13": {20 + 30 - 49},
    "tariffs-16": {2700 * 0.254},
    "tariffs-20": {1450 * 0.125, 1450 * 0.125 / 4},
    "billing-08": {84 * 1.02264 * 39.5 / 3.6},
    "billing-12": {142 * 0.9},
    "heat-pumps-02": {3400 * 0.2},
    "heat-pumps-07": {12 * 14.5, 12 * 14.5 - 165},
    "heat-pumps-15": {3 + 30 - 30},
    "heat-pumps-19": {2300 - 150},
    "ev-charging-02": {949 + 7 * 12},
    "ev-charging-05": {38 * 0.07},
    "ev-charging-08": {(35 - 20) * 0.3},
    "ev-charging-18": {2 * 8},
    "ev-charging-20": {7 * 0.302, 7 * 0.07, 7 * 0.302 - 7 * 0.07},
    "app-12": {120 * 0.8},
    "refunds-02": {318 - 96},
    "refunds-06": {4 + 14},
    "refunds-17": {14 - 11, 40},
}
"""Numbers in references that are worked out from the article and the question rather than quoted."""


def refuse_constant(name: str) -> Any:
    raise AssertionError(f"{name} is not JSON")


def read_rows(name: str) -> list[dict[str, Any]]:
    text = (DATA / name).read_text(encoding="utf-8")
    assert text.endswith("\n")
    return [json.loads(line, parse_constant=refuse_constant) for line in text.removesuffix("\n").split("\n")]


@pytest.fixture(scope="module")
def records() -> dict[str, dict[str, dict[str, Any]]]:
    """Each assistant's records by id."""
    return {assistant: {row["id"]: row for row in read_rows(f"{assistant}.jsonl")} for assistant in ASSISTANTS}


@pytest.fixture(scope="module")
def articles() -> dict[str, dict[str, Any]]:
    return {row["id"]: row for row in read_rows("articles.jsonl")}


def read_reply(reply: str) -> dict[str, Any] | None:
    """The object in a reply, fenced or bare; None when there is none to read."""
    fenced = re.fullmatch(r"```json\n(.*)\n```", reply, re.DOTALL)
    try:
        return json.loads(fenced[1] if fenced else reply)
    except json.JSONDecodeError:
        return None


def find_right_answers(assistant: str) -> set[str]:
    """The ids of the answers the judge scored 0.75 or more."""
    rows = [row for row in read_rows("judge_replies.jsonl") if row["assistant"] == assistant]
    verdicts = {row["record_id"]: read_reply(row["reply"]) for row in rows if row["judge"] == "correctness"}
    return {record_id for record_id, verdict in verdicts.items() if verdict is not None and verdict["score"] >= 0.75}


def test_the_recording_of_the_judge_is_made_of_the_composed_replies_and_the_prompts_of_today(tmp_path: Path) -> None:
    again = tmp_path / "recording.jsonl"
    subprocess.run([sys.executable, DEMO / "record_judge.py", again], check=True)
    assert again.read_bytes() == RECORDING.read_bytes()


def test_running_the_script_again_leaves_no_difference(tmp_path: Path) -> None:
    subprocess.run([sys.executable, DEMO / "make_data.py", tmp_path], check=True)
    shipped = {path.name: path.read_bytes() for path in DATA.glob("*.jsonl") if path != RECORDING}
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == shipped


def test_both_assistants_answer_the_same_160_questions_from_the_same_passages(
    records: dict[str, dict[str, dict[str, Any]]],
) -> None:
    assert all(len(read_rows(f"{assistant}.jsonl")) == len(records[assistant]) == 160 for assistant in ASSISTANTS)
    shared = ("id", "input", "reference", "context", "metadata")
    asked = [[[row[key] for key in shared] for row in records[assistant].values()] for assistant in ASSISTANTS]
    assert asked[0] == asked[1]
    assert len({row["input"] for row in records["aster"].values()}) == 160


def test_every_record_has_a_question_a_reference_and_one_to_three_known_passages(
    records: dict[str, dict[str, dict[str, Any]]], articles: dict[str, dict[str, Any]]
) -> None:
    for row in records["aster"].values():
        assert row["input"].strip()
        assert row["reference"].strip()
        assert 1 <= len(row["context"]) <= 3
        assert row["context"] == [articles[article]["text"] for article in row["metadata"]["retrieved_ids"]]
        assert set(row["metadata"]["relevant_ids"]) <= set(articles)


def read_numbers(text: str) -> set[float]:
    """The numbers in a text; a comma is a decimal point unless exactly three digits follow it."""
    found = re.findall(r"\d{1,3}(?:,\d{3})+(?!\d)|\d+(?:[.,]\d+)?", text)
    return {float(re.sub(r",(?=\d{3})", "", number).replace(",", ".")) for number in found}


def test_every_number_in_a_reference_follows_from_the_articles(
    records: dict[str, dict[str, dict[str, Any]]], articles: dict[str, dict[str, Any]]
) -> None:
    for record_id, row in records["aster"].items():
        quoted = read_numbers(" ".join(articles[article]["text"] for article in row["metadata"]["relevant_ids"]))
        known = quoted | read_numbers(row["input"]) | COMPUTED.get(record_id, set())
        for number in read_numbers(row["reference"]):
            assert any(number == pytest.approx(value, rel=1e-4, abs=0.005) for value in known), (record_id, number)


def test_articles_are_short_and_each_is_the_answer_to_something(
    records: dict[str, dict[str, dict[str, Any]]], articles: dict[str, dict[str, Any]]
) -> None:
    assert all(60 <= len(article["text"].split()) <= 120 for article in articles.values())
    used = {article for row in records["aster"].values() for article in row["metadata"]["relevant_ids"]}
    assert used == set(articles)


def test_records_spread_over_eight_topics_and_five_languages(records: dict[str, dict[str, dict[str, Any]]]) -> None:
    metadata = [row["metadata"] for row in records["aster"].values()]
    assert set(Counter(row["topic"] for row in metadata).values()) == {20}
    assert len({row["topic"] for row in metadata}) == 8
    assert {row["language"] for row in metadata} == {"en", "de", "es", "ja", "ar"}
    assert {row["difficulty"] for row in metadata} == {"easy", "medium", "hard"}


def test_birch_is_right_more_often_and_each_wins_some() -> None:
    aster, birch = find_right_answers("aster"), find_right_answers("birch")
    assert (len(aster), len(birch)) == (114, 128)
    assert (len(birch - aster), len(aster - birch)) == (28, 14)


def test_exact_match_tells_the_opposite_story(records: dict[str, dict[str, dict[str, Any]]]) -> None:
    def bare(text: str) -> str:
        return re.sub(r"[^\w ]", "", text.lower()).strip()

    equal = [
        sum(bare(row["output"]) == bare(row["reference"]) for row in records[each].values()) for each in ASSISTANTS
    ]
    assert equal == [29, 3]


def test_birch_gains_on_tariffs_and_bills_and_loses_on_meters() -> None:
    aster, birch = (Counter(record.rsplit("-", 1)[0] for record in find_right_answers(each)) for each in ASSISTANTS)
    gain = {topic: birch[topic] - aster[topic] for topic in birch}
    assert gain["tariffs"] == gain["billing"] == 6
    assert gain["meters"] == -4


def test_birch_is_slower_and_says_more(records: dict[str, dict[str, dict[str, Any]]]) -> None:
    def total(assistant: str, key: str) -> float:
        return sum(row["usage"][key] for row in records[assistant].values())

    assert total("birch", "latency_ms") > 1.5 * total("aster", "latency_ms")
    assert total("birch", "output_tokens") > 1.5 * total("aster", "output_tokens")
    assert total("birch", "input_tokens") == total("aster", "input_tokens")


def test_usage_fits_the_text(records: dict[str, dict[str, dict[str, Any]]]) -> None:
    for row in (row for assistant in ASSISTANTS for row in records[assistant].values()):
        size = len(row["output"].encode())
        assert size / 4 <= row["usage"]["output_tokens"] < size / 4 + 1
        assert row["usage"]["input_tokens"] > sum(map(len, row["context"])) / 4
        assert 100 < row["usage"]["latency_ms"] <= 30_000


def test_each_way_of_going_wrong_that_the_demo_shows_is_there(records: dict[str, dict[str, dict[str, Any]]]) -> None:
    outputs = {assistant: [row["output"] for row in rows.values()] for assistant, rows in records.items()}
    assert [outputs[assistant].count("") for assistant in ASSISTANTS] == [2, 1]
    assert all(any("<think>" in output for output in outputs[assistant]) for assistant in ASSISTANTS)
    assert sum("<li>" in output for output in outputs["birch"]) == 1
    assert sum("kim@example.org" in output for output in outputs["birch"]) == 1
    assert all(any("can't" in output and "sorry" in output for output in outputs[each]) for each in ASSISTANTS)


def test_both_judges_replied_once_to_every_answer(records: dict[str, dict[str, dict[str, Any]]]) -> None:
    seen = Counter((row["assistant"], row["record_id"], row["judge"]) for row in read_rows("judge_replies.jsonl"))
    wanted = {
        (assistant, record, judge) for assistant in ASSISTANTS for record in records[assistant] for judge in JUDGES
    }
    assert set(seen) == wanted
    assert set(seen.values()) == {1}


def test_all_but_three_judge_replies_can_be_read() -> None:
    verdicts: dict[str, list[dict[str, Any] | None]] = {judge: [] for judge in JUDGES}
    for row in read_rows("judge_replies.jsonl"):
        verdicts[row["judge"]].append(read_reply(row["reply"]))
    assert {judge: replies.count(None) for judge, replies in verdicts.items()} == {"correctness": 1, "faithfulness": 2}

    correctness = [verdict for verdict in verdicts["correctness"] if verdict is not None]
    assert {verdict["score"] for verdict in correctness} == {0, 0.25, 0.5, 0.75, 1}
    assert min(len(verdict["reasoning"].split()) for verdict in correctness) >= 6
    assert len({verdict["reasoning"] for verdict in correctness}) == len(correctness)

    claims = [claim for verdict in verdicts["faithfulness"] if verdict is not None for claim in verdict["claims"]]
    assert all(set(claim) == {"claim", "supported"} for claim in claims)
    assert {claim["supported"] for claim in claims} == {True, False}


def test_two_people_labelled_sixty_answers_and_disagree_on_eight(
    records: dict[str, dict[str, dict[str, Any]]],
) -> None:
    marks: dict[tuple[str, str], dict[str, bool]] = {}
    for row in read_rows("human_labels.jsonl"):
        assert row["record_id"] in records[row["assistant"]]
        marks.setdefault((row["assistant"], row["record_id"]), {})[row["annotator"]] = row["passed"]
    assert Counter(assistant for assistant, _ in marks) == {"aster": 30, "birch": 30}
    assert all(set(pair) == {"noor", "piet"} for pair in marks.values())
    assert sum(len(set(pair.values())) == 2 for pair in marks.values()) == 8

    right = {assistant: find_right_answers(assistant) for assistant in ASSISTANTS}
    agreed = {key: pair["noor"] for key, pair in marks.items() if len(set(pair.values())) == 1}
    assert sum(passed != (record in right[assistant]) for (assistant, record), passed in agreed.items()) == 5


def test_nobody_real_can_be_reached_through_the_data() -> None:
    text = "\n".join(path.read_text(encoding="utf-8") for path in DATA.glob("*.jsonl") if path != RECORDING)
    assert set(re.findall(r"@([\w.-]*\w)", text)) == {"example.org", "larkspur.example"}
    assert set(re.findall(r"\+?\d[\d -]{8,}\d", text)) == {"0808 157 0123", "+1 202-555-0143"}
