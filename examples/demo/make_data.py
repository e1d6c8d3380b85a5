"""Expands the texts composed in `source/` into the JSON Lines files of `data/`.

The questions, answers, references and the judge's words are written once, next to each other, so that a person can
check them together; this script only adds what follows from them: the retrieved passages, token counts and latencies.
The output is a pure function of `source/`: running it twice leaves no difference, and a test holds it to that.

    uv run python examples/demo/make_data.py [FOLDER]
"""

from __future__ import annotations

import json
import math
import random
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

HERE = Path(__file__).parent
SOURCE = HERE / "source"
ASSISTANTS = ("aster", "birch")
ANNOTATORS = ("noor", "piet")
TOPICS = ("tariffs", "billing", "meters", "heat-pumps", "ev-charging", "app", "moving-home", "refunds")

SYSTEM_PROMPT_TOKENS = 118
"""What each assistant is told before the passages and the question."""
JUDGE_PROMPT_TOKENS = {"correctness": 212, "faithfulness": 247}
"""The judge's instructions without the texts it judges."""
FENCED_REPLIES = 0.08
"""Share of judge replies that come inside a Markdown code fence, as real judges send some."""


@dataclass(frozen=True, kw_only=True)
class Pace:
    """How long an assistant takes: the median wait for the first token, its spread, and the time for each token."""

    first_token_ms: float
    spread: float
    token_ms: float

    def draw_latency_ms(self, output_tokens: int, rng: random.Random) -> int:
        wait_ms = rng.lognormvariate(math.log(self.first_token_ms), self.spread)
        return round(wait_ms + output_tokens * self.token_ms * rng.lognormvariate(0, 0.15))


PACES = {
    "aster": Pace(first_token_ms=410, spread=0.38, token_ms=9.5),
    "birch": Pace(first_token_ms=640, spread=0.42, token_ms=14.0),
}


@dataclass(frozen=True, kw_only=True)
class Verdict:
    """What the judge said of one answer: a correctness score with its reason, and the claims it looked up."""

    score: float
    reason: str
    claims: list[dict[str, Any]]

    def write_reply(self, judge: str) -> str:
        body = {"reasoning": self.reason, "score": self.score} if judge == "correctness" else {"claims": self.claims}
        return json.dumps(body, ensure_ascii=False)


def count_tokens(text: str) -> int:
    """About four bytes of UTF-8 to a token: four letters of English, a little over one of Japanese."""
    return math.ceil(len(text.encode()) / 4)


def read_source(name: str) -> Any:
    return yaml.safe_load((SOURCE / f"{name}.yaml").read_text(encoding="utf-8"))


def read_verdict(text: str) -> Verdict:
    """Reads `SCORE reason` on the first line, then `+ claim` (supported by the passages) or `- claim` on the others."""
    first, *rest = text.strip().splitlines()
    matched = re.fullmatch(r"(0|0\.25|0\.5|0\.75|1) (.+)", first)
    if matched is None or any(line[:2] not in {"+ ", "- "} for line in rest):
        raise ValueError(f"not a verdict: {text!r}")
    claims = [{"claim": line[2:], "supported": line[0] == "+"} for line in rest]
    return Verdict(score=float(matched[1]), reason=matched[2], claims=claims)


def make_record(assistant: str, record_id: str, case: dict[str, Any], passages: dict[str, str]) -> dict[str, Any]:
    topic = record_id.rsplit("-", 1)[0]
    difficulty, answer_type, *language = case["is"].split()
    context = [passages[article] for article in case["got"]]
    output_tokens = count_tokens(case[assistant])
    rng = random.Random(f"latency of {assistant} on {record_id}")
    latency_ms = PACES[assistant].draw_latency_ms(output_tokens, rng)
    return {
        "id": record_id,
        "input": case["q"],
        "output": case[assistant],
        "reference": case["ref"],
        "context": context,
        "usage": {
            "input_tokens": SYSTEM_PROMPT_TOKENS + count_tokens("\n".join([*context, case["q"]])),
            "output_tokens": output_tokens,
            "latency_ms": case.get("latency_ms", {}).get(assistant, latency_ms),
        },
        "metadata": {
            "topic": topic,
            "difficulty": difficulty,
            "language": language[0] if language else "en",
            "answer_type": answer_type,
            "retrieved_ids": case["got"],
            "relevant_ids": case.get("from", case["got"][:1]),
        },
    }


def make_judge_rows(
    assistant: str, record: dict[str, Any], verdict: Verdict, unreadable: dict[tuple[str, str, str], str]
) -> Iterator[dict[str, Any]]:
    for judge, instructions_tokens in JUDGE_PROMPT_TOKENS.items():
        evidence = [record["reference"]] if judge == "correctness" else record["context"]
        reply = verdict.write_reply(judge)
        if random.Random(f"fence of {judge} for {assistant} on {record['id']}").random() < FENCED_REPLIES:
            reply = f"```json\n{reply}\n```"
        reply = unreadable.get((assistant, record["id"], judge), reply)
        shown = "\n".join([record["input"], record["output"], *evidence])
        yield {
            "assistant": assistant,
            "record_id": record["id"],
            "judge": judge,
            "reply": reply,
            "input_tokens": instructions_tokens + count_tokens(shown),
            "output_tokens": count_tokens(reply),
        }


def make_human_rows() -> Iterator[dict[str, Any]]:
    for assistant, marks_of in read_source("human-labels").items():
        for record_id, marks in marks_of.items():
            for annotator, mark in zip(ANNOTATORS, marks, strict=True):
                yield {
                    "assistant": assistant,
                    "record_id": record_id,
                    "annotator": annotator,
                    "passed": {"P": True, "F": False}[mark],
                }


def make_files() -> dict[str, list[dict[str, Any]]]:
    """The rows of every file, by file name."""
    articles = read_source("articles")
    passages = {article: body["text"] for article, body in articles.items()}
    cases = {record_id: case for topic in TOPICS for record_id, case in read_source(topic).items()}
    unreadable = {
        (row["assistant"], row["record_id"], row["judge"]): row["reply"] for row in read_source("unreadable-replies")
    }
    files: dict[str, list[dict[str, Any]]] = {
        "articles.jsonl": [{"id": article, **body} for article, body in articles.items()]
    }
    judge_rows: list[dict[str, Any]] = []
    for assistant in ASSISTANTS:
        records = [make_record(assistant, record_id, case, passages) for record_id, case in cases.items()]
        for record in records:
            verdict = read_verdict(cases[record["id"]][f"{assistant}_judge"])
            judge_rows += make_judge_rows(assistant, record, verdict, unreadable)
        files[f"{assistant}.jsonl"] = records
    files["judge_replies.jsonl"] = judge_rows
    files["human_labels.jsonl"] = list(make_human_rows())
    return files


def write_files(folder: Path) -> None:
    for name, rows in make_files().items():
        lines = [json.dumps(row, ensure_ascii=False) + "\n" for row in rows]
        (folder / name).write_text("".join(lines), encoding="utf-8", newline="\n")


if __name__ == "__main__":
    write_files(Path(sys.argv[1]) if len(sys.argv) > 1 else HERE / "data")
