"""Live traffic comes in: OpenTelemetry's protocol over HTTP and gRPC, to the store and back, answered when it is stored."""
