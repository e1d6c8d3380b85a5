# pyright: basic, reportMissingImports=false
"""Makes one golden file: `python scenario.py CONVENTION FILE`, in an environment that has the convention's library.

Every scenario has the same conversation with the same model, so that every mapper has to find the same steps in it.
"""

import importlib.metadata
import json
import os
import sys
from pathlib import Path
from typing import Any

import collector

VERSIONS: dict[str, str] = {}
"""Of packages that are not Python's."""
QUESTION = "Is the hall lamp on?"
SYSTEM = "You control lamps."
TOOL = {
    "type": "function",
    "function": {
        "name": "lamp_state",
        "description": "State of a lamp",
        "parameters": {"type": "object", "properties": {"room": {"type": "string"}}, "required": ["room"]},
    },
}


def lamp_state(room: str) -> dict[str, bool]:
    """State of the lamp of a room."""
    return {"on": bool(room)}


def ask(client: Any, tool: Any = lamp_state) -> str:
    """The conversation with OpenAI's client: question, tool call, result, answer."""
    messages: list[Any] = [{"role": "system", "content": SYSTEM}, {"role": "user", "content": QUESTION}]
    first = client.chat.completions.create(model="small-1", messages=messages, tools=[TOOL])
    call = first.choices[0].message.tool_calls[0]
    result = tool(**json.loads(call.function.arguments))
    messages.append(first.choices[0].message.model_dump(exclude_none=True))
    messages.append({"role": "tool", "tool_call_id": call.id, "content": json.dumps(result)})
    return client.chat.completions.create(model="small-1", messages=messages, tools=[TOOL]).choices[0].message.content


def provider() -> Any:
    """A provider that exports to the collector as soon as a span ends, set for the process."""
    from opentelemetry import trace
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
    from opentelemetry.sdk.resources import Resource
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import SimpleSpanProcessor

    made = TracerProvider(resource=Resource({"service.name": "lamp-app"}))
    made.add_span_processor(SimpleSpanProcessor(OTLPSpanExporter(ADDRESS + "/v1/traces")))
    trace.set_tracer_provider(made)
    return made


def client() -> Any:
    import openai

    return openai.OpenAI(base_url=ADDRESS + "/v1", api_key="none")


def openinference() -> list[str]:
    from openinference.instrumentation import using_attributes
    from openinference.instrumentation.openai import OpenAIInstrumentor

    made = provider()
    OpenAIInstrumentor().instrument(tracer_provider=made)
    tracer = made.get_tracer("lamp-app")
    attributes = using_attributes(session_id="conv-1", user_id="user-1", tags=["beta"])
    with attributes, tracer.start_as_current_span("ask") as span:
        span.set_attributes(
            {
                "openinference.span.kind": "AGENT",
                "agent.name": "lamp-helper",
                "session.id": "conv-1",
                "input.value": QUESTION,
            }
        )

        def tool(room: str) -> Any:
            with tracer.start_as_current_span("lamp_state") as inner:
                result = lamp_state(room)
                inner.set_attributes(
                    {
                        "openinference.span.kind": "TOOL",
                        "tool.name": "lamp_state",
                        "input.value": json.dumps({"room": room}),
                        "output.value": json.dumps(result),
                    }
                )
                return result

        span.set_attribute("output.value", ask(client(), tool))
    return ["openinference-instrumentation-openai", "openai"]


def genai_events() -> list[str]:
    """As `genai`, with what was said in log records."""
    from opentelemetry._logs import set_logger_provider
    from opentelemetry.exporter.otlp.proto.http._log_exporter import OTLPLogExporter
    from opentelemetry.sdk._logs import LoggerProvider
    from opentelemetry.sdk._logs.export import SimpleLogRecordProcessor
    from opentelemetry.sdk.resources import Resource

    logs = LoggerProvider(resource=Resource({"service.name": "lamp-app"}))
    logs.add_log_record_processor(SimpleLogRecordProcessor(OTLPLogExporter(ADDRESS + "/v1/logs")))
    set_logger_provider(logs)
    return genai("EVENT_ONLY")


def genai_message_events() -> list[str]:
    """As `genai_events`, in the events that are sent where nobody asks for the newest names: one for each message."""
    os.environ["OTEL_SEMCONV_STABILITY_OPT_IN"] = ""
    return genai_events()


def genai(content: str = "SPAN_ONLY") -> list[str]:
    older = os.environ.get("OTEL_SEMCONV_STABILITY_OPT_IN") == ""
    os.environ["OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"] = "true" if older else content
    os.environ.setdefault("OTEL_SEMCONV_STABILITY_OPT_IN", "gen_ai_latest_experimental")
    from opentelemetry.instrumentation.openai_v2 import OpenAIInstrumentor

    made = provider()
    OpenAIInstrumentor().instrument(tracer_provider=made)
    tracer = made.get_tracer("lamp-app")
    with tracer.start_as_current_span("invoke_agent lamp-helper") as span:
        span.set_attributes(
            {
                "gen_ai.operation.name": "invoke_agent",
                "gen_ai.agent.name": "lamp-helper",
                "gen_ai.conversation.id": "conv-1",
            }
        )

        def tool(room: str) -> Any:
            with tracer.start_as_current_span("execute_tool lamp_state") as inner:
                result = lamp_state(room)
                inner.set_attributes(
                    {
                        "gen_ai.operation.name": "execute_tool",
                        "gen_ai.tool.name": "lamp_state",
                        "gen_ai.tool.call.id": "call_1",
                        "gen_ai.tool.call.arguments": json.dumps({"room": room}),
                        "gen_ai.tool.call.result": json.dumps(result),
                    }
                )
                return result

        ask(client(), tool)
    return ["opentelemetry-instrumentation-openai-v2", "openai"]


def traceloop() -> list[str]:
    os.environ["TRACELOOP_TRACE_CONTENT"] = "true"
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
    from traceloop.sdk import Traceloop
    from traceloop.sdk.decorators import tool, workflow

    Traceloop.init(
        app_name="lamp-app",
        disable_batch=True,
        exporter=OTLPSpanExporter(ADDRESS + "/v1/traces"),
        telemetry_enabled=False,
    )
    Traceloop.set_association_properties({"session_id": "conv-1", "user_id": "user-1"})

    @workflow(name="ask")
    def asked(question: str) -> str:
        return ask(client(), tool(name="lamp_state")(lamp_state)) if question else ""

    asked(QUESTION)
    return ["traceloop-sdk", "opentelemetry-instrumentation-openai", "openai"]


def traceloop_twice() -> list[str]:
    """Two libraries on the same client: every call makes two spans."""
    from openinference.instrumentation.openai import OpenAIInstrumentor as Second
    from opentelemetry.instrumentation.openai import OpenAIInstrumentor as First

    made = provider()
    First().instrument(tracer_provider=made)
    Second().instrument(tracer_provider=made)
    with made.get_tracer("lamp-app").start_as_current_span("ask"):
        ask(client())
    return ["opentelemetry-instrumentation-openai", "openinference-instrumentation-openai", "openai"]


def logfire() -> list[str]:
    os.environ["OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"] = ADDRESS + "/v1/traces"
    import logfire as library

    library.configure(send_to_logfire=False, console=False, service_name="lamp-app", metrics=False)
    opened = client()
    library.instrument_openai(opened)
    with library.span("ask"):
        ask(opened)
    library.force_flush()
    return ["logfire", "openai"]


def pydantic_ai() -> list[str]:
    os.environ["OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"] = ADDRESS + "/v1/traces"
    import logfire as library
    from pydantic_ai import Agent
    from pydantic_ai.models.openai import OpenAIChatModel
    from pydantic_ai.providers.openai import OpenAIProvider

    library.configure(send_to_logfire=False, console=False, service_name="lamp-app", metrics=False)
    library.instrument_pydantic_ai()
    model = OpenAIChatModel("small-1", provider=OpenAIProvider(base_url=ADDRESS + "/v1", api_key="none"))
    agent = Agent(model, instructions=SYSTEM, name="lamp-helper", tools=[lamp_state])
    agent.run_sync(QUESTION)
    library.force_flush()
    return ["pydantic-ai-slim", "logfire"]


def litellm() -> list[str]:
    os.environ["OTEL_EXPORTER"] = "otlp_http"
    os.environ["OTEL_ENDPOINT"] = ADDRESS + "/v1/traces"
    import litellm as library

    library.callbacks = ["otel"]
    library.suppress_debug_info = True

    class Client:
        class chat:
            class completions:
                @staticmethod
                def create(model: str, **rest: Any) -> Any:
                    return library.completion(model=f"openai/{model}", api_base=ADDRESS + "/v1", api_key="none", **rest)

    import time

    ask(Client)
    time.sleep(4)
    return ["litellm"]


def mlflow() -> list[str]:
    import time

    os.environ["OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"] = ADDRESS + "/v1/traces"
    os.environ["OTEL_EXPORTER_OTLP_TRACES_PROTOCOL"] = "http/protobuf"
    import mlflow as library

    library.openai.autolog()
    opened = client()

    @library.trace(name="ask", span_type="AGENT")
    def asked(question: str) -> str:
        library.update_current_trace(metadata={"mlflow.trace.session": "conv-1", "mlflow.trace.user": "user-1"})
        return ask(opened, library.trace(lamp_state, span_type="TOOL")) if question else ""

    asked(QUESTION)
    library.flush_trace_async_logging()
    time.sleep(7)
    return ["mlflow-tracing", "openai"]


def vercel_ai() -> list[str]:
    """In Node; the working folder has the packages."""
    import shutil
    import subprocess

    script = Path(__file__).with_suffix(".mjs")
    local = Path(shutil.copy(script, Path.cwd()))
    subprocess.run(["node", str(local), ADDRESS], check=True)
    VERSIONS["ai (npm)"] = json.loads(Path("node_modules/ai/package.json").read_text())["version"]
    return []


SCENARIOS = (
    openinference,
    genai,
    genai_events,
    genai_message_events,
    traceloop,
    traceloop_twice,
    logfire,
    pydantic_ai,
    litellm,
    mlflow,
    vercel_ai,
)

if __name__ == "__main__":
    ADDRESS = collector.start()
    chosen = next(scenario for scenario in SCENARIOS if scenario.__name__ == sys.argv[1])
    packages = chosen()
    from opentelemetry import trace

    flush = getattr(trace.get_tracer_provider(), "force_flush", None)
    if flush:
        flush()
    made_by = {name: importlib.metadata.version(name) for name in packages} | VERSIONS
    document: dict[str, Any] = {"madeBy": made_by, "resourceSpans": collector.Collector.groups}
    if collector.Collector.logs:
        document["resourceLogs"] = collector.Collector.logs
    Path(sys.argv[2]).write_text(json.dumps(document, indent=1, ensure_ascii=False) + "\n")
    sys.stdout.write(f"{sys.argv[1]}: {len(collector.Collector.groups)} exports, {made_by}\n")
    sys.stdout.flush()
    os._exit(0)  # some libraries keep threads that never end
