"""A program that grades, and does on request what a program must not do. Run with `--listen unix:///…`."""

import os
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import grpc
from msgspec.structs import replace

from evalsi import schema
from evalsi.schema import proto_codec

PASSED = [schema.Score(name="odd", passed=True)]


def manifest(name: str, **more: Any) -> schema.EvaluatorManifest:
    return schema.EvaluatorManifest(
        name=name,
        version="1.0.0",
        scope=more.pop("scope", schema.Scope.RECORD),
        outputs=[schema.MetricSpec(name="odd", type=schema.ScoreType.PASSED)],
        scheduling=schema.Scheduling(batchable=True),
        **more,
    )


MANIFESTS = [
    manifest("odd"),
    manifest("judging", requires=schema.Requirements(judge=True)),
    manifest("whole", scope=schema.Scope.DATASET),
    manifest("no name"),
    manifest("typed", params_schema={"type": "nonsense"}),
]


def graded(record: schema.Record) -> list[schema.EvaluationResult]:
    """What the output asks for."""
    word = record.output.text if record.output is not None else ""
    result = schema.EvaluationResult(record_id=record.id, outcome=schema.Outcome.SCORED, scores=PASSED)
    match word:
        case "crash":
            os._exit(3)
        case "hang":
            time.sleep(60)
        case "silence":
            return []
        case "another":
            result = replace(result, record_id="nobody")
        case "undeclared":
            result = replace(result, scores=[schema.Score(name="more", number=1.0)])
        case "nothing":
            result = replace(result, scores=[])
        case "failure":
            result = replace(result, outcome=schema.Outcome.ERROR, scores=[], reason="no model")
        case "environment":
            seen = " ".join(sorted(os.environ))
            result = replace(result, scores=[schema.Score(name="odd", passed=True, explanation=seen)])
        case _:
            pass
    return [result]


def describe(_request: Any, _context: Any) -> schema.PluginDescribeResponse:
    return schema.PluginDescribeResponse(evaluators=MANIFESTS)


def evaluate(batches: Iterator[Any], _: Any) -> Iterator[schema.PluginEvaluateResponse]:
    for batch in batches:
        results = [result for record in batch.records for result in graded(record)]
        yield schema.PluginEvaluateResponse(batch_id=batch.batch_id, results=results)


def main() -> None:
    if "--broken" in sys.argv:
        sys.exit(5)
    if "--slow" in sys.argv:
        time.sleep(60)
    server = grpc.server(ThreadPoolExecutor(4))
    handlers = {
        "Describe": grpc.unary_unary_rpc_method_handler(
            describe, lambda data: proto_codec.decode(data, schema.PluginDescribeRequest), proto_codec.encode
        ),
        "Evaluate": grpc.stream_stream_rpc_method_handler(
            evaluate, lambda data: proto_codec.decode(data, schema.PluginEvaluateRequest), proto_codec.encode
        ),
    }
    name = "evalsi.plugin.v1alpha1.EvaluatorPluginService"
    server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler(name, handlers),))
    server.add_insecure_port(sys.argv[sys.argv.index("--listen") + 1])
    server.start()
    server.wait_for_termination()


if __name__ == "__main__":
    main()
