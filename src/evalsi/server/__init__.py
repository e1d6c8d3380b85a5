"""The network face: every method of the schema over gRPC, gRPC-Web, Connect and REST on one port. Decides nothing."""
