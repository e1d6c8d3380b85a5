"""A large body goes another way than a small one, through one thread: it is answered, counted and stored the same."""

import re
from collections.abc import Callable, Generator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from evalsi.schema.otlp_wire import otlp_messages
from evalsi.traces import Span
from evalsi.traces.span import SpanEvent
from tests.command_line import evalsi
from tests.server.otlp.sending import a_trace, body_of, partial_success, post, status_of, stored
from tests.server.running_server import RunningServer, running_server

CONFIGURATION = """
data_dir: store
auth: {}
projects: {shop: {}, billing: {}}
otlp: {max_trace_spans: 30, max_request_spans: 90, projects: {shop: {max_trace_spans: 20}}}
"""
COUNTED = (
    *("evalsi_traces_ingested_total", "evalsi_spans_ingested_total", "evalsi_traces_dropped_total"),
    "evalsi_otlp_requests_refused_total",
    *(
        f'evalsi_spans_dropped_total{{reason="{reason}"}}'
        for reason in ("damaged", "invalid_id", "trace_full", "request_full", "forbidden")
    ),
)
KEYS = {
    "root": ["*=owner"],
    "shop": ["shop=ingest"],
    "both": ["shop=ingest", "billing=ingest"],
    "reader": ["shop=viewer"],
}


class Asking:
    """A server that asks for keys, and the keys by name."""

    def __init__(self, server: RunningServer, keys: dict[str, str]) -> None:
        self.server = server
        self.keys = keys

    def counts(self) -> list[float]:
        _, _, body = self.server.request("GET", "/metrics", None, {"authorization": f"Bearer {self.keys['root']}"})
        lines = body.decode().splitlines()
        return [sum(float(line.rsplit(" ", 1)[1]) for line in lines if line.startswith(name)) for name in COUNTED]

    def places(self, trace_ids: list[str]) -> list[dict[str, tuple[int, int]]]:
        """By trace, the projects that have it, with the number of its spans and of what is said about it."""
        return [
            {
                project: (found["summary"]["spans"], len(found.get("feedback", ())))
                for project in ("default", "shop", "billing")
                if (found := stored(self.server, trace_id, project, self.keys["root"])) is not None
            }
            for trace_id in trace_ids
        ]


@pytest.fixture(scope="module")
def asking(tmp_path_factory: pytest.TempPathFactory) -> Generator[Asking]:
    folder: Path = tmp_path_factory.mktemp("asking")
    (folder / "evalsi.yaml").write_text(CONFIGURATION, encoding="utf-8")
    env = {"EVALSI_DIR": str(folder / "store")}
    keys: dict[str, str] = {}
    for name, roles in KEYS.items():
        options = [word for role in roles for word in ("--role", role)]
        keys[name] = evalsi("auth", "keys", "create", name, *options, "--local", cwd=folder, env=env).out.strip()
    with running_server(folder, ["--config", "evalsi.yaml"]) as running:
        yield Asking(running, keys)


def of(project: str, spans: int = 4) -> list[Span]:
    return a_trace(spans, resource={"evalsi.project": project} if project else None)


def judged(spans: list[Span]) -> list[Span]:
    said = {"gen_ai.evaluation.name": "tone", "gen_ai.evaluation.score.value": 0.25}
    spans[1].events.append(SpanEvent(name="gen_ai.evaluation.result", time_ns=spans[1].end_ns, attributes=said))
    return spans


def in_two_projects() -> list[Span]:
    """One trace, of which a resource names the project that the other one is for without naming it."""
    first = a_trace(4)
    return [*first, *a_trace(4, first[0].trace_id, {"evalsi.project": "shop"})]


def in_many_scopes() -> list[Span]:
    first, second = a_trace(8), a_trace(8)
    mixed = [span for pair in zip(first, second, strict=True) for span in pair]
    return [
        msgspec.structs.replace(
            span,
            scope_name=f"scope {number // 3 % 2}",
            resource={"service.name": f"service {number // 5 % 2}"},
        )
        for number, span in enumerate(mixed)
    ]


def with_odd_spans(body: bytes) -> bytes:
    messages = otlp_messages()
    request = messages.Request.FromString(body)
    spans = request.resource_spans[0].scope_spans[0].spans
    kept = list(spans)
    del spans[:]
    bad = messages.Span(trace_id=b"\1" * 5, span_id=b"\2" * 8, name="bad").SerializeToString()
    spans.extend([kept[0], b"\xff", bad, *kept[1:]])
    return request.SerializeToString()


def as_it_is(body: bytes) -> bytes:
    return body


SENT: dict[str, tuple[str, Callable[[], list[Span]], Callable[[bytes], bytes]]] = {
    "what names no project": ("shop", lambda: of(""), as_it_is),
    "what names its own": ("shop", lambda: of("shop"), as_it_is),
    "what names another": ("both", lambda: of("billing"), as_it_is),
    "what names one of two and another": ("both", lambda: [*of("shop"), *of("billing")], as_it_is),
    "what names none of two": ("both", lambda: of(""), as_it_is),
    "what names a project of others": ("shop", lambda: of("billing"), as_it_is),
    "what names a project that is not there": ("root", lambda: of("nowhere"), as_it_is),
    "its own beside that of others": ("shop", lambda: [*of(""), *of("billing"), *of("shop")], as_it_is),
    "its own beside one that is not there": ("root", lambda: [*of(""), *of("nowhere")], as_it_is),
    "one trace with and without a name": ("shop", in_two_projects, as_it_is),
    "what judges": ("shop", lambda: judged(of("")), as_it_is),
    "what judges at others": ("shop", lambda: [*of(""), *judged(of("billing"))], as_it_is),
    "scopes and resources by turns": ("shop", in_many_scopes, as_it_is),
    "odd spans in the middle": ("shop", lambda: of(""), with_odd_spans),
    "a trace that is full": ("shop", lambda: [*of("", 22), *of("")], as_it_is),
    "a trace that its project has full": ("both", lambda: [*of("shop", 22), *of("billing", 32)], as_it_is),
    "a request that is full": ("shop", lambda: [span for _ in range(25) for span in of("")], as_it_is),
    "who may only read": ("reader", lambda: of(""), as_it_is),
    "what ends early": ("shop", lambda: of(""), lambda body: body[:-3]),
}


def outcome(asking: Asking, sent: str, letters: int) -> list[Any]:
    """What a request is answered with, what it changes in the counts, and where its traces are; sent twice."""
    key, make, change = SENT[sent]
    spans = make()
    for span in spans:
        span.attributes["gen_ai.input.messages"] = "x" * letters
    body = change(body_of(*spans))
    assert (len(body) > 32 << 10) == (letters > 1000)
    found: list[Any] = []
    for _ in range(2):
        before = asking.counts()
        status, _, content = post(asking.server, body, key=asking.keys[key])
        told = partial_success(content) if status == 200 else status_of(content).message
        found += [status, re.sub(r"key:\w+", "somebody", str(told))]
        found.append([now - then for now, then in zip(asking.counts(), before, strict=True)])
        found.append(asking.places(list(dict.fromkeys(span.trace_id for span in spans))))
    return found


@pytest.mark.parametrize("sent", SENT)
def test_a_large_body_has_the_same_outcome_as_a_small_one(asking: Asking, sent: str) -> None:
    assert outcome(asking, sent, 12_000) == outcome(asking, sent, 5)
