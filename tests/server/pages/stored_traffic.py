"""A store with traffic that was seen: three applications, scores, what people said, hostile text, and a very long trace."""

import random
import time
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from pathlib import Path

from evalsi.infra.store.database import StoreOptions
from evalsi.infra.store.trace_sqlite import SqliteTraceStore
from evalsi.ports.trace_store import TracePart, TraceStore, Waiting
from evalsi.schema import EvaluationResult, Feedback, Outcome, PolicyResults, Record, Score
from evalsi.traces import Tracing, decode_otlp_protobuf, default_tracing
from evalsi.traces.record_of_trace import record_of_trace
from evalsi.watch.summary_of_trace import completed_trace
from tests.server.pages.seen_traffic import TraceSketch, calls, says, system, told, traffic, user

BEGUN_S = float(int(time.time()) - 7_200)
"""When the oldest trace began; the rest follows within two hours, so that policies look back far enough."""
HOSTILE = "<script>window.hit=1</script><img src=x onerror=window.hit=1>"
LONG_STEPS = 10_000
POLICY = "support-quality"


@contextmanager
def opened_traffic(folder: Path) -> Iterator[TraceStore]:
    folder.mkdir(parents=True, exist_ok=True)
    options = StoreOptions(synchronous="normal")
    with closing(SqliteTraceStore(folder / "traces.db", options)) as store:
        yield store


def fill_traffic(store: TraceStore, amount: int = 120) -> dict[str, str]:
    """Puts it there; ids of the traces that tests look at, by a word."""
    tracing = default_tracing()
    chance = random.Random(5)
    ids: dict[str, str] = {}
    for sketch, wrong in traffic(amount, begun_s=BEGUN_S):
        put_trace(store, sketch, tracing, _results(sketch, wrong, chance))
        ids.setdefault(f"{sketch.service}{'-wrong' if wrong else ''}", sketch.trace_id)
        ids.setdefault("session", sketch.session_id)
        if wrong or chance.random() < 0.1:
            said = Feedback(
                id=sketch.trace_id,
                trace_id=sketch.trace_id,
                name="thumbs",
                passed=not wrong,
                comment="that is not what I asked" if wrong else "",
                author=sketch.user_id,
                time=datetime.fromtimestamp(BEGUN_S + 7_000, UTC),
            )
            store.add_feedback("default", [said], now_ms=_ms(sketch) + 1, reconsider=False)
    for word, sketch in (("hostile-trace", _hostile()), ("long", _long()), ("silent", _silent())):
        put_trace(store, sketch, tracing, _hostile_results(sketch) if word == "hostile-trace" else ())
        ids[word] = sketch.trace_id
    return ids


def put_trace(
    store: TraceStore,
    sketch: TraceSketch,
    tracing: Tracing,
    policies: Sequence[PolicyResults],
    project: str = "default",
) -> None:
    """Stores a trace as complete, with what policies found in it."""
    body = sketch.body()
    spans = decode_otlp_protobuf(body).spans
    part = TracePart(
        trace_id=bytes.fromhex(sketch.trace_id),
        span_ids=b"".join(bytes.fromhex(span.span_id) for span in spans),
        body=body,
        service=sketch.service,
        name=sketch.spans[0]["name"],
        start_ns=sketch.begun_ns,
        end_ns=sketch.now_ns,
        failed_spans=sum(span.is_error for span in spans),
        root_failed=spans[0].is_error,
        root_ended=True,
        session_id=sketch.session_id,
        user_id=sketch.user_id,
        labels=sketch.labels,
    )
    now_ms = _ms(sketch)
    store.append(project, [part], now_ms=now_ms, waiting=Waiting())
    record: Record = record_of_trace(spans, tracing)
    for due in store.claim(now_ms=now_ms + 10_000_000, limit=10, lease_ms=1000):
        done = completed_trace(due, spans, record, policies)
        assert store.complete([done], now_ms=now_ms + 10_000_001) == [sketch.trace_id]


def _results(sketch: TraceSketch, wrong: bool, chance: random.Random) -> list[PolicyResults]:
    value = chance.betavariate(2, 5) if wrong else chance.betavariate(9, 1.5)
    why = "The delivery date rests on nothing a tool gave." if wrong else "Every claim rests on what a tool gave."
    results = [
        EvaluationResult(
            evaluator="faithfulness",
            evaluator_ref="rag/faithfulness@1",
            outcome=Outcome.SCORED,
            scores=[Score(name="faithfulness", number=value, explanation=why)],
        ),
        EvaluationResult(
            evaluator="refusal",
            evaluator_ref="safety/refusal@1",
            outcome=Outcome.SCORED,
            scores=[Score(name="refusal", passed=False)],
        ),
        EvaluationResult(
            evaluator="numeric-match",
            evaluator_ref="core/numeric-match@1",
            outcome=Outcome.SCORED,
            scores=[Score(name="numeric-match", passed=not wrong)],
        ),
        EvaluationResult(evaluator="tone", outcome=Outcome.SKIPPED, reason="the judge was not asked this time"),
    ]
    results += [
        EvaluationResult(
            evaluator="tool-errors",
            evaluator_ref="agent/tool-errors@1",
            span_id=span["spanId"],
            outcome=Outcome.SCORED,
            scores=[Score(name="tool-errors", number=float(span["status"].get("code") == 2))],
        )
        for span in sketch.spans
        if span["name"].startswith("execute_tool")
    ]
    return [PolicyResults(policy=POLICY, results=results, revision=1, time=datetime.fromtimestamp(BEGUN_S, UTC))]


def _hostile_results(sketch: TraceSketch) -> list[PolicyResults]:
    score = Score(name=HOSTILE, label=HOSTILE, explanation=HOSTILE * 50)
    results = [
        EvaluationResult(evaluator=HOSTILE, span_id=span_id, outcome=Outcome.SCORED, scores=[score])
        for span_id in ("", sketch.spans[-1]["spanId"])
    ]
    return [PolicyResults(policy=HOSTILE, results=results, revision=2)]


def _hostile() -> TraceSketch:
    """HTML, overrides of direction, one very long word and a megabyte, in every place that a sender writes."""
    sketch = TraceSketch(
        chance=random.Random(11),
        begun_ns=int((BEGUN_S + 6_000) * 1e9),
        service=HOSTILE,
        version=HOSTILE,
        session_id=HOSTILE,
        user_id="\u202euser" + HOSTILE,
        labels={"<b>key": HOSTILE, "direction": "\u202etxt.exe"},
    )
    root = sketch.agent(HOSTILE)
    call = {"id": HOSTILE, "name": HOSTILE, "arguments": {"<b>": HOSTILE, "long": "x" * 5000}}
    heard = [system(HOSTILE), user("W" * 3000 + HOSTILE)]
    sketch.ask(root, HOSTILE, heard, calls(call), 1.0)
    sketch.tool(root, call, {HOSTILE: "y" * 1_000_000}, 0.2, error=HOSTILE)
    heard.append(told(call, HOSTILE))
    sketch.ask(root, HOSTILE, heard, says("\u202e\u0007" + HOSTILE + "语" * 4000), 1.0)
    search = sketch.open(HOSTILE, root, gen_ai__operation__name="retrieval", gen_ai__retrieval__query__text=HOSTILE)
    sketch.close(search, 0.1)
    sketch.close(root, error=HOSTILE)
    return sketch


def _long() -> TraceSketch:
    sketch = TraceSketch(
        chance=random.Random(12), begun_ns=int((BEGUN_S + 5_500) * 1e9), service="crawler", version="1", user_id="u"
    )
    root = sketch.agent("crawler")
    for number in range(LONG_STEPS - 1):
        call = {"id": f"c{number}", "name": "fetch_page", "arguments": {"number": number}}
        sketch.tool(root, call, {"state": "ok"}, 0.01, "it is gone" if number == 7_000 else "")
    sketch.close(root)
    return sketch


def _silent() -> TraceSketch:
    """An application that does not capture what is said."""
    sketch = TraceSketch(
        chance=random.Random(13), begun_ns=int((BEGUN_S + 5_000) * 1e9), service="silent", version="", user_id=""
    )
    root = sketch.agent("silent")
    asked = sketch.open("chat m", root, gen_ai__operation__name="chat", gen_ai__request__model="m")
    sketch.close(asked, 0.5, gen_ai__usage__input_tokens=12)
    sketch.close(root)
    return sketch


def _ms(sketch: TraceSketch) -> int:
    return sketch.now_ns // 1_000_000
