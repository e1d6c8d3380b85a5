"""Turns the composed judge replies into a recording that `--judge-provider recorded` answers from.

    python examples/demo/record_judge.py [FILE]

A recording is keyed by the question, so each record is put to the evaluators through a model that gives the composed
reply, and every question with its reply is written down. Run it again when a judge's prompt changes.
"""

import asyncio
import json
import sys
from pathlib import Path

from evalsi.core.errors import MeasurementError, SkipRecord
from evalsi.datasets import open_dataset
from evalsi.evaluators.api import EvalContext
from evalsi.evaluators.binding import bind
from evalsi.evaluators.catalog import load
from evalsi.infra.models.recorded import RecordingModel
from evalsi.judges.judge import JudgeSettings, ModelJudge
from evalsi.ports.chat_model import ChatReply, ChatRequest
from evalsi.schema import Usage

DATA = Path(__file__).parent / "data"
ASSISTANTS = ("aster", "birch")
JUDGED = ("correctness", "faithfulness")
LATENCY_S = 0.9


class ComposedModel:
    """Implements `ChatModel` with one composed reply at a time."""

    identity = {"provider": "composed"}  # noqa: RUF012 - a constant

    def __init__(self) -> None:
        self.row: dict[str, object] = {}

    async def complete(self, _: ChatRequest) -> ChatReply:
        text = str(self.row["reply"])
        cut = text.lstrip("`json\n ").startswith("{") and not text.rstrip("`\n ").endswith("}")
        return ChatReply(
            text=text,
            finish_reason="length" if cut else "stop",
            model="composed-judge",
            usage=Usage(
                input_tokens=int(str(self.row["input_tokens"])),
                output_tokens=int(str(self.row["output_tokens"])),
                latency=LATENCY_S,
            ),
        )

    async def close(self) -> None:
        return


async def record(path: Path) -> None:
    """Writes the recording to `path`, which does not exist yet."""
    rows = [json.loads(line) for line in (DATA / "judge_replies.jsonl").read_text(encoding="utf-8").splitlines()]
    replies = {(row["assistant"], row["record_id"], row["judge"]): row for row in rows}
    composed = ComposedModel()
    judge = ModelJudge(RecordingModel(composed, path), JudgeSettings(provider="recorded", model="recorded"))
    evaluators = [bind(load(name), context=EvalContext(judge=judge)) for name in JUDGED]
    for assistant in ASSISTANTS:
        for case in open_dataset(DATA / f"{assistant}.jsonl").records():
            for evaluator in evaluators:
                composed.row = replies[assistant, case.id, evaluator.name]
                assert evaluator.call is not None
                try:
                    await evaluator.call(case)
                except (MeasurementError, SkipRecord):
                    continue


if __name__ == "__main__":
    recording = Path(sys.argv[1]) if len(sys.argv) > 1 else DATA / "judge_recording.jsonl"
    recording.unlink(missing_ok=True)
    asyncio.run(record(recording))
