// The conversation of scenario.py with Vercel's AI SDK. Arguments: address of the model and collector.
import { generateText, stepCountIs, tool } from "ai";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { NodeTracerProvider, SimpleSpanProcessor } from "@opentelemetry/sdk-trace-node";
import { OTLPTraceExporter } from "@opentelemetry/exporter-trace-otlp-proto";
import { z } from "zod";

const address = process.argv[2];
const exporter = new OTLPTraceExporter({ url: `${address}/v1/traces` });
const provider = new NodeTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] });
provider.register();
const models = createOpenAICompatible({ name: "lamps", baseURL: `${address}/v1`, apiKey: "none" });
await generateText({
  model: models("small-1"),
  system: "You control lamps.",
  prompt: "Is the hall lamp on?",
  tools: {
    lamp_state: tool({
      description: "State of a lamp",
      inputSchema: z.object({ room: z.string() }),
      execute: async ({ room }) => ({ on: room.length > 0 }),
    }),
  },
  stopWhen: stepCountIs(5),
  experimental_telemetry: { isEnabled: true, functionId: "lamp-helper", metadata: { sessionId: "conv-1", userId: "user-1" } },
});
await provider.forceFlush();
