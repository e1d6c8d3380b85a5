"""Runs to report on: the shipped demonstration graded by small evaluators, and runs made up to be awkward."""

import json
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any

from evalsi.core.errors import ScoreError, SkipRecord
from evalsi.engine.columns import EvaluatorColumns, pack, unpack
from evalsi.engine.evaluate import Evaluation, RecordBatch
from evalsi.engine.panel import Panel
from evalsi.engine.summary import SummaryBuilder, SummaryPlan
from evalsi.evaluators.api import Definition, EvalContext, evaluator, output
from evalsi.evaluators.binding import BoundEvaluator, bind
from evalsi.results.graded_run import GradedRun
from evalsi.results.stored_rows import GradedRows, encode_records
from evalsi.schema import (
    BoundRunEvaluator,
    Content,
    DatasetManifest,
    ErrorKind,
    EvaluatorManifest,
    Fault,
    Gate,
    GateResult,
    GateStat,
    JudgeManifest,
    Record,
    RunManifest,
    RunStatus,
    Score,
    Unpinned,
    Usage,
)

DATA = Path(__file__).parents[1] / "examples" / "demo" / "data"
BATCH_ROWS = 1024
MADE_AT = datetime(2026, 11, 29, 9, 30, tzinfo=UTC)


def graded_run(
    records: Sequence[Record], definitions: Sequence[Definition], *, plan: SummaryPlan | None = None, **facts: Any
) -> GradedRun:
    """Grades `records` with the engine and keeps the batches packed, as a store would."""
    bound = tuple(bind(definition, context=EvalContext()) for definition in definitions)
    evaluation = Evaluation(Panel(evaluators=bound))
    summary = SummaryBuilder(bound, plan or SummaryPlan())
    held: list[tuple[int, bytes, bytes]] = []
    starts = range(0, len(records), BATCH_ROWS)
    batches = [RecordBatch(start, list(records[start : start + BATCH_ROWS])) for start in starts]
    # Everything is measured in this process, whatever the evaluators promise: they are ours.
    for graded in _here(evaluation, bound).grade_now(batches):
        summary.add(graded.first_row, len(graded.records), graded.columns, lambda graded=graded: graded.records)
        held.append((graded.first_row, encode_records(graded.records), pack(graded.columns)))
    whole = evaluation.finish_now()
    return GradedRun(
        source="demo",
        manifest=facts.pop("manifest", None) or manifest(bound, len(records), **facts.pop("about", {})),
        summaries=summary.finish(whole),
        read_rows=reader(held),
        whole=whole,
        **facts,
    )


def _here(evaluation: Evaluation, bound: tuple[BoundEvaluator, ...]) -> Evaluation:
    assert all(one.bounded and not one.is_async for one in bound if one.call is not None)
    return evaluation


def reader(held: Sequence[tuple[int, bytes, bytes]]) -> Callable[[], Iterator[GradedRows]]:
    def read() -> Iterator[GradedRows]:
        for first_row, records, results in held:
            yield GradedRows(first_row, records, unpack(results))

    return read


def manifest(bound: Sequence[BoundEvaluator], records: int, **facts: Any) -> RunManifest:
    given = {
        "run_id": "0m3k8x2p7q4rabcdefgh",
        "name": "support assistant",
        "evalsi_version": "0.1.0",
        "python_version": "3.11.7",
        "platform": "Linux-6.1-x86_64",
        "packages": {"numpy": "2.3.1", "sacrebleu": "2.6.0"},
        "argv": ["evalsi", "eval", "--data", "aster.jsonl", "--evaluators", "correctness,token-overlap"],
        "started_at": MADE_AT,
        "finished_at": MADE_AT.replace(second=42),
        "dataset": DatasetManifest(source="aster.jsonl", sha256="5b1c" * 16, records=records),
        "evaluators": [
            BoundRunEvaluator(
                name=one.name,
                manifest=EvaluatorManifest(
                    name=one.definition.name,
                    version=one.definition.version,
                    pack="demo",
                    outputs=list(one.definition.outputs),
                ),
            )
            for one in bound
        ],
        "seeds": {"bootstrap": 0},
        "price_table_version": "2026-11",
        "settings_sha256": "9f2e" * 16,
        "status": RunStatus.SUCCEEDED,
    }
    return RunManifest(**(given | facts))


def demo_records(assistant: str) -> list[Record]:
    return [demo_record(json.loads(line)) for line in (DATA / f"{assistant}.jsonl").read_text("utf-8").splitlines()]


def demo_record(row: dict[str, Any]) -> Record:
    usage = row["usage"]
    cost = usage["input_tokens"] * 0.4e-6 + usage["output_tokens"] * 1.6e-6
    return Record(
        id=row["id"],
        input=Content(text=row["input"]),
        output=Content(text=row["output"]),
        reference=Content(text=row["reference"]) if row.get("reference") else None,
        context=[Content(text=passage) for passage in row["context"]],
        usage=Usage(
            input_tokens=usage["input_tokens"],
            output_tokens=usage["output_tokens"],
            latency=usage["latency_ms"] / 1000,
            cost_usd=cost,
        ),
        metadata=row["metadata"],
    )


@cache
def replies(assistant: str) -> dict[tuple[str, str], dict[str, Any]]:
    rows = [json.loads(line) for line in (DATA / "judge_replies.jsonl").read_text("utf-8").splitlines()]
    return {(row["record_id"], row["judge"]): row for row in rows if row["assistant"] == assistant}


def demo_evaluators(assistant: str) -> list[Definition]:
    """A recorded judge that is sometimes unreadable, overlaps, a verdict, a label and a length."""

    def read_reply(record: Record, judge: str) -> tuple[dict[str, Any], Usage]:
        row = replies(assistant)[record.id, judge]
        usage = Usage(
            input_tokens=row["input_tokens"],
            output_tokens=row["output_tokens"],
            latency=0.2 + row["output_tokens"] * 0.011,
            cost_usd=row["input_tokens"] * 1e-6 + row["output_tokens"] * 5e-6,
        )
        try:
            return json.loads(row["reply"]), usage
        except json.JSONDecodeError as error:
            failed = ScoreError("the judge's reply holds no verdict", kind=ErrorKind.JUDGE_PARSE, fault=Fault.JUDGE)
            failed.detail = row["reply"]
            raise failed from error

    @evaluator(name="correctness", bounded=True, outputs=[output("correctness", low=0, high=1)])
    def correctness(record: Record) -> Score:
        reply, usage = read_reply(record, "correctness")
        return Score(name="correctness", number=reply["score"], explanation=reply["reasoning"], cost=usage)

    @evaluator(name="faithfulness", bounded=True, outputs=[output("faithfulness", low=0, high=1)])
    def faithfulness(record: Record) -> Score:
        reply, usage = read_reply(record, "faithfulness")
        claims = reply["claims"]
        if not claims:
            raise SkipRecord("the answer makes no claim")
        wrong = [claim["claim"] for claim in claims if not claim["supported"]]
        return Score(
            name="faithfulness",
            number=1 - len(wrong) / len(claims),
            explanation="; ".join(f"not in the context: {claim}" for claim in wrong),
            cost=usage,
        )

    @evaluator(
        name="token-overlap", bounded=True, requires=["reference"], outputs=[output("token-overlap", low=0, high=1)]
    )
    def token_overlap(record: Record) -> float:
        assert record.output is not None
        assert record.reference is not None
        ours, theirs = set((record.output.text or "").split()), set((record.reference.text or "").split())
        return len(ours & theirs) / max(1, len(ours | theirs))

    @evaluator(
        name="holds-reference", bounded=True, requires=["reference"], outputs=[output("holds-reference", "passed")]
    )
    def holds_reference(record: Record) -> bool:
        assert record.output is not None
        assert record.reference is not None
        return (record.reference.text or "").strip(" .") in (record.output.text or "")

    @evaluator(name="tone", bounded=True, outputs=[output("tone", "label")])
    def tone(record: Record) -> str:
        assert record.output is not None
        text = record.output.text or ""
        return "polite" if "please" in text.lower() else "terse" if len(text) < 60 else "plain"

    @evaluator(name="words", bounded=True, outputs=[output("words", low=0, higher_is_better=None)])
    def words(record: Record) -> int:
        assert record.output is not None
        return len((record.output.text or "").split())

    return [correctness, faithfulness, holds_reference, token_overlap, tone, words]


def demo_run(assistant: str = "aster", *, limit: int | None = None, **facts: Any) -> GradedRun:
    records = demo_records(assistant)[:limit]
    about = {
        "name": f"support assistant {assistant}",
        "judges": [
            JudgeManifest(
                name="recorded", provider="openai-compatible", model="judge-large-2026-10", settings_sha256="77aa" * 16
            )
        ],
        "judge_usage": Usage(cost_usd=0.1243, requests=2 * len(records)),
        "unpinned": [
            Unpinned(what="judge model judge-large-2026-10", why="the provider may change what answers to this name")
        ],
        "labels": {"branch": "main"},
    }
    return graded_run(records, demo_evaluators(assistant), about=about | facts.pop("about", {}), **facts)


def gate(metric: str, *, least: float, value: float | None, stat: GateStat = GateStat.MEAN) -> GateResult:
    return GateResult(
        gate=Gate(metric=metric, stat=stat, min=least),
        passed=value is not None and value >= least,
        value=value,
        reason="" if value is not None and value >= least else "below the limit" if value is not None else "no data",
    )


def outcome_columns(name: str, outcomes: Sequence[tuple[int, float | None]]) -> EvaluatorColumns:
    """Columns of a verdict from (outcome code, value)."""
    from math import nan

    from evalsi.engine.columns import Column, Note

    columns = EvaluatorColumns(
        evaluator=name, ref=f"demo/{name}@1.0.0", primary=name, outcomes=bytearray(c for c, _ in outcomes)
    )
    columns.columns[name] = Column(name, "passed", [nan if value is None else value for _, value in outcomes])
    for row, (code, _) in enumerate(outcomes):
        if code != 1:
            columns.notes[row] = Note(
                reason={2: "no reference", 3: "boom", 4: "stopped"}[code],
                error_kind=ErrorKind.EXCEPTION if code == 3 else ErrorKind.UNSPECIFIED,
            )
    return columns


HOSTILE = (
    "<script>window.hit=1</script>",
    "<img src=x onerror=window.hit=1>",
    "</script><b>x",
    "</style><script>window.hit=1</script>",
    "javascript:window.hit=1",
    '" onmouseover="window.hit=1" x="',
    "' autofocus onfocus='window.hit=1",
    "\u202eabc",
    "=1+1",
    "\x1b[2J",
    "${7*7}",
    "{{7*7}}",
    "{% raw %}",
    "<svg onload=window.hit=1>",
    "<iframe src=http://127.0.0.1:9/x></iframe>",
    "--><!--",
    "a\x00b\u2028c\u200bd",
    "| x | `tick` ``` @somebody https://evil.example/ [a](javascript:window.hit=1) ![i](http://127.0.0.1:9/i.png) #1",
)
"""Texts that do something where they are not escaped; the first eleven are those of case M01."""


def hostile_records() -> list[Record]:
    """Records whose every field holds every hostile text in turn."""
    from evalsi.schema import Message, Messages, Step, StepType, ToolCall, Trajectory

    records: list[Record] = []
    for row, text in enumerate(HOSTILE * 2):
        said = Messages(
            messages=[
                Message(role=text, name=text, content=text),
                Message(role="assistant", tool_calls=[ToolCall(id=text, name=text, arguments=text)]),
                Message(role="tool", tool_call_id=text, name=text, content=text),
            ]
        )
        records.append(
            Record(
                id=f"{text}{row}",
                input=Content(messages=said) if row % 2 else Content(text=text),
                output=Content(text=text + " " + text),
                reference=Content(text=text),
                context=[Content(text=text), Content(json={text: [text]})],
                trajectory=Trajectory(
                    steps=[Step(span_id="1", type=StepType.TOOL, name=text, error=text, output=Content(text=text))]
                ),
                metadata={text: text, "group": HOSTILE[row % 4], "\u202ekey<b>": text},
                usage=Usage(latency=0.5, cost_usd=0.001, input_tokens=5),
                notes=[text],
                stop_reason=text,
            )
        )
    return records


def hostile_run() -> GradedRun:
    """A run in which everything that can be text is hostile: records, names, reasons, labels, manifest, gates."""
    name = "<img src=x onerror=window.hit=1>"

    @evaluator(name=name, bounded=True, outputs=[output("value", low=0, high=1)])
    def value(record: Record) -> Score:
        text = record.metadata["group"]
        if text == HOSTILE[3]:
            raise ScoreError(text, kind=ErrorKind.JUDGE_PARSE)
        if text == HOSTILE[2]:
            raise SkipRecord(text)
        return Score(
            name="value", number=len(record.id) % 3 / 2, explanation=text + "\n" + "\u202e", metadata={text: text}
        )

    @evaluator(name="label", bounded=True, outputs=[output("label", "label")])
    def label(record: Record) -> str:
        return record.metadata["group"]

    text = "".join(HOSTILE)
    return graded_run(
        hostile_records(),
        [value, label],
        about={
            "name": text,
            "run_id": text,
            "evalsi_version": text,
            "platform": text,
            "packages": {text: text},
            "argv": ["evalsi", *HOSTILE],
            "dataset": DatasetManifest(source=text, sha256=text, records=36, where=text, mapping={text: text}),
            "judges": [JudgeManifest(name=text, provider=text, model=text, base_url=text, settings={text: text})],
            "unpinned": [Unpinned(what=text, why=text)],
            "labels": {text: text},
            "warnings": [text],
            "seeds": {text: 1},
        },
        gates=[GateResult(gate=Gate(metric=text, min=0.5), passed=False, value=0.25, reason=text)],
    )


def awkward_run() -> GradedRun:
    """Long words, right-to-left and CJK text, conversations with tools, a failing step, odd scales."""
    from evalsi.schema import Message, Messages, Step, StepType, ToolCall, Trajectory

    texts = (
        ("Pneumonoultramicroscopicsilicovolcanoconiosis" * 12, "A short word"),
        ("ما هو سعر الكيلوواط ساعة؟ السعر هو 25.4 بنسًا لكل كيلوواط ساعة.", "25.4 بنس"),
        ("סעיף זה חל רק על לקוחות English mixed עם מונה חכם.", "מונה חכם"),
        ("電気料金は一キロワット時あたり二十五ペンスです。" * 8, "二十五ペンス"),
        ("전기 요금은 킬로와트시당 25.4펜스입니다.", "25.4펜스"),
        ("👩‍👩‍👧‍👦 done — naïve café ﬁn", "👩‍👩‍👧‍👦"),
    )
    records: list[Record] = []
    for row in range(60):
        out, wanted = texts[row % len(texts)]
        conversation = Messages(
            messages=[
                Message(role="system", content="You are a careful assistant for an energy supplier. " * 6),
                Message(role="user", content="What do I owe, and when is it due?"),
                Message(
                    role="assistant",
                    content="Let me look that up.",
                    tool_calls=[ToolCall(id="c1", name="get_balance", arguments='{"account": "LK00012345"}')],
                ),
                Message(role="tool", tool_call_id="c1", name="get_balance", content='{"balance_pence": -4210}' * 9),
                Message(role="assistant", content=out),
            ]
        )
        steps = [
            Step(
                span_id="1", type=StepType.LLM, name="gpt", duration=0.81, output=Content(text="Let me look that up.")
            ),
            Step(span_id="2", type=StepType.TOOL, name="get_balance", duration=30.0, error="timed out after 30 s"),
        ]
        records.append(
            Record(
                id=f"{'very-long-identifier-' * 6}{row}" if row % 3 == 0 else f"حالة-{row}",
                input=Content(messages=Messages(messages=conversation.messages[:2])),
                output=Content(messages=conversation) if row % 2 else Content(text=out),
                reference=Content(text=wanted),
                trajectory=Trajectory(steps=steps) if row % 2 else None,
                metadata={
                    "語": ["日本語", "العربية", "עברית"][row % 3],
                    "tier": row % 2 == 0,
                    "key-" * 20: "v" * (40 + row % 2),
                },
            )
        )

    @evaluator(
        name="a-very-long-evaluator-name-that-somebody-generated-from-a-sentence",
        bounded=True,
        outputs=[output("x", low=0, high=1)],
    )
    def long_name(record: Record) -> float:
        return len(record.id) % 7 / 6

    @evaluator(name="milliseconds", bounded=True, outputs=[output("milliseconds", low=0, higher_is_better=False)])
    def milliseconds(record: Record) -> float:
        return float(len(record.id) * 1731.5)

    @evaluator(name="sentiment", bounded=True, outputs=[output("sentiment", low=-1, high=1)])
    def sentiment(record: Record) -> float:
        return (len(record.id) % 5 - 2) / 2

    @evaluator(name="constant", bounded=True, outputs=[output("constant", "passed")])
    def constant(record: Record) -> bool:
        return True

    return graded_run(records, [long_name, milliseconds, sentiment, constant])
