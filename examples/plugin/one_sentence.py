# /// script
# requires-python = ">=3.11"
# dependencies = ["grpcio>=1.80", "grpcio-tools>=1.80"]
# ///
"""A program that grades for evalsi, and needs nothing of evalsi but its `proto` folder.

`one-sentence` passes where an answer is at most `most` sentences long. `uv run one_sentence.py` gives it an environment
of its own; any other language with gRPC would do as well.
"""

import argparse
import re
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import grpc
import grpc_tools
from google.protobuf.descriptor_pb2 import FileDescriptorSet
from google.protobuf.message_factory import GetMessages
from grpc_tools import protoc

PROTO = Path(__file__).parents[2] / "proto"
SOURCE = "evalsi/plugin/v1alpha1/evaluator_plugin.proto"
SERVICE = "evalsi.plugin.v1alpha1.EvaluatorPluginService"


def messages() -> dict[str, Any]:
    """The classes of the protocol by their full names, from its source."""
    with tempfile.NamedTemporaryFile() as compiled:
        folders = [f"-I{PROTO}", f"-I{Path(grpc_tools.__file__).parent / '_proto'}"]
        output = ["--include_imports", f"--descriptor_set_out={compiled.name}"]
        assert protoc.main(["protoc", *folders, *output, SOURCE]) == 0
        return dict(GetMessages(FileDescriptorSet.FromString(Path(compiled.name).read_bytes()).file))


TYPES = messages()
DescribeRequest = TYPES["evalsi.plugin.v1alpha1.DescribeRequest"]
DescribeResponse = TYPES["evalsi.plugin.v1alpha1.DescribeResponse"]
EvaluateRequest = TYPES["evalsi.plugin.v1alpha1.EvaluateRequest"]
EvaluateResponse = TYPES["evalsi.plugin.v1alpha1.EvaluateResponse"]
EvaluationResult = TYPES["evalsi.v1alpha1.EvaluationResult"]
EvaluatorManifest = TYPES["evalsi.v1alpha1.EvaluatorManifest"]

MANIFEST = EvaluatorManifest(
    name="one-sentence",
    version="1.0.0",
    description="Whether the answer is at most a sentence long, or as many as `most` says.",
    scope="SCOPE_RECORD",
    requires={"output": True},
    outputs=[{"name": "one-sentence", "type": "SCORE_TYPE_PASSED", "higher_is_better": True}],
    scheduling={"batchable": True, "max_batch": 64},
)
MANIFEST.params_schema.update(
    {"type": "object", "properties": {"most": {"type": "integer", "minimum": 1}}, "additionalProperties": False}
)


def describe(request: Any, context: Any) -> Any:  # noqa: ARG001 - gRPC's signature
    """Says what the program has."""
    return DescribeResponse(evaluators=[MANIFEST])


def evaluate(batches: Iterator[Any], context: Any) -> Iterator[Any]:  # noqa: ARG001
    """Answers each batch with one result for each of its records."""
    for batch in batches:
        most = int(batch.params["most"]) if "most" in batch.params else 1
        yield EvaluateResponse(batch_id=batch.batch_id, results=[grade(record, most) for record in batch.records])


def grade(record: Any, most: int) -> Any:
    """The result for one record. What cannot be judged is skipped, never failed."""
    if record.output.WhichOneof("kind") != "text":
        return EvaluationResult(record_id=record.id, outcome="OUTCOME_SKIPPED", reason="the output is no text")
    sentences = [part for part in re.split(r"[.!?]+(?:\s+|$)", record.output.text) if part.strip()]
    score = {"name": "one-sentence", "passed": len(sentences) <= most, "explanation": f"{len(sentences)} sentences"}
    return EvaluationResult(record_id=record.id, outcome="OUTCOME_SCORED", scores=[score])


def main() -> None:
    """Serves until the process is ended."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--listen", required=True, help="unix:///path/of/a/socket")
    server = grpc.server(ThreadPoolExecutor(4))
    handlers = {
        "Describe": grpc.unary_unary_rpc_method_handler(
            describe, DescribeRequest.FromString, DescribeResponse.SerializeToString
        ),
        "Evaluate": grpc.stream_stream_rpc_method_handler(
            evaluate, EvaluateRequest.FromString, EvaluateResponse.SerializeToString
        ),
    }
    server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler(SERVICE, handlers),))
    server.add_insecure_port(parser.parse_args().listen)
    server.start()
    server.wait_for_termination()


if __name__ == "__main__":
    main()
